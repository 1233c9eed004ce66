"""Fixtures of the integration tests: servers that are stopped, and checked, when a test ends."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from leat_process import binary, stopping_starter  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def program_is_built():
    if not binary().exists():
        pytest.exit(f"{binary()} is not there: build it with `make`, or set LEAT_BINARY", 1)


@pytest.fixture
def start():
    """start("share", folder, "--writable", …) → LeatProcess, stopped after the test."""
    yield from stopping_starter()


@pytest.fixture(scope="module")
def start_for_module():
    """As start(), for servers that all tests of a file share."""
    yield from stopping_starter()
