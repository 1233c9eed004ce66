"""Fixtures: a real `leat serve`, and sessions with it.

LEAT_BINARY and LEAT_LIBRARY name the program and the library; those of build/dev unless set.
"""

import os
import signal
import sys
from pathlib import Path

# A shell starts what runs in its background deaf to ^C: so would be the jobs that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
os.environ["PYTHONPATH"] = str(HERE.parent)  # for processes that tests start
sys.path[:0] = [str(HERE.parent), str(HERE), str(ROOT / "tests/support")]
if "LEAT_LIBRARY" not in os.environ:
    os.environ["LEAT_LIBRARY"] = str(
        next((ROOT / "build/dev").glob("src/**/libleat.so"), "missing")
    )

import pytest  # noqa: E402
from leat_process import binary  # noqa: E402
from store import Store, numbered_samples  # noqa: E402


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """One server for all tests that do not hurt it."""
    if not binary().exists():
        pytest.exit(f"{binary()} is not there: build it with `make`, or set LEAT_BINARY", 1)
    made = Store(tmp_path_factory.mktemp("store"))
    made.make_bucket("data")
    yield made
    made.server.stop()


@pytest.fixture(autouse=True)
def _default_session(request):
    """Tests that use the store use it as the default session, whatever others did to it."""
    if "store" in request.fixturenames:
        request.getfixturevalue("store").connect()


@pytest.fixture(scope="session")
def samples():
    """What `numbered` holds: 1000 samples in ten shards."""
    return numbered_samples(1000)


@pytest.fixture(scope="session")
def numbered(store, samples):
    """The name of a dataset with `samples`."""
    return store.make_dataset(samples, name="data/numbered")
