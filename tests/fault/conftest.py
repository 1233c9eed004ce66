"""Options of the fault tests, from the environment: LEAT_BINARY; LEAT_FAULT_FULL=1 (every place
instead of some of them); LEAT_FAULT_SEED (which of them; the number of the day unless set)."""

import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from leat_process import binary  # noqa: E402

FULL = os.environ.get("LEAT_FAULT_FULL") == "1"
SEED = int(os.environ.get("LEAT_FAULT_SEED", time.time() // 86_400))
AT_ONCE = max(2, os.cpu_count() or 2)


def pytest_report_header():
    return f"faults: LEAT_FAULT_SEED={SEED} LEAT_FAULT_FULL={int(FULL)}"


@pytest.fixture(scope="session", autouse=True)
def tools_are_there():
    if not binary().exists():
        pytest.exit(f"{binary()} is not there: build it with `make`, or set LEAT_BINARY", 1)
    if shutil.which("strace") is None:
        pytest.exit("strace is not there: make setup", 1)


@pytest.fixture
def full():
    return FULL


@pytest.fixture
def seed():
    return SEED


@pytest.fixture
def side_by_side():
    """side_by_side(function, inputs) → results; as many at once as there are cores. The first
    failure is raised when all have ended."""
    def run(function, inputs):
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return [one.result() for one in [pool.submit(function, item) for item in inputs]]
    return run


@pytest.fixture
def report(capsys):
    """report(text): shown also when the test passes."""
    def show(text):
        with capsys.disabled():
            print(f"\n  {text} ", end="", flush=True)
    return show
