"""Fixtures of the integration tests: servers that are stopped, and checked, when a test ends."""

import sys
from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE / "clients")]

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


def pytest_terminal_summary(terminalreporter):
    """Which S3 clients were there, in which versions, and how each of them did."""
    counts = {}
    for outcome in ("passed", "failed", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, value in getattr(report, "user_properties", []):
                if name == "s3 client" and (report.when == "call" or outcome != "passed"):
                    counts.setdefault(value, Counter())[outcome] += 1
    if counts:
        terminalreporter.section("S3 clients")
    for client, outcomes in sorted(counts.items()):
        said = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
        terminalreporter.line(f"{client}: {said}")
