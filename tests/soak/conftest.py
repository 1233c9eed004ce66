"""Options of the soak tests, all from the environment: LEAT_BINARY, LEAT_SOAK_SECONDS (of mixed
load per binary; small unless set), LEAT_SOAK_PRESETS (which sanitizer builds; asan and tsan unless
set), LEAT_SOAK_REQUIRE=1 (one that is missing is a failure)."""

import os
import resource
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from leat_process import ROOT, stopping_starter  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def all_descriptors():
    """Tens of thousands of connections need as many descriptors, here and in the server."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def pytest_generate_tests(metafunc):
    if "preset" in metafunc.fixturenames:
        chosen = os.environ.get("LEAT_SOAK_PRESETS", "asan,tsan")
        metafunc.parametrize("preset", chosen.split(","))


@pytest.fixture
def soak_seconds():
    return float(os.environ.get("LEAT_SOAK_SECONDS", "20"))


@pytest.fixture
def sanitized():
    """sanitized("asan") → the program of that build; the test is skipped if it was not built."""
    def find(preset):
        program = ROOT / "build" / preset / "src/programs/leat"
        if not program.exists():
            if os.environ.get("LEAT_SOAK_REQUIRE") == "1":
                pytest.fail(f"{program} is not there")
            pytest.skip(f"no {preset} build: tools/build.sh {preset} leat")
        return program
    return find


@pytest.fixture
def start():
    yield from stopping_starter(seconds=60)
