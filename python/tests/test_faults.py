"""When something goes wrong: servers die, users press Ctrl-C, epochs go on for days."""

import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import jobs
import pytest
from leat_process import wait_until
from store import Store, numbered_samples

import leat
from leat import _native

HERE = Path(__file__).resolve().parent


@pytest.fixture
def own_store(tmp_path):
    """A server that a test may hurt."""
    made = Store(tmp_path / "own")
    made.make_bucket("data")
    yield made
    made.server.kill()


def test_a_killed_server_that_comes_back_leaves_the_epoch_exact(own_store):
    samples = numbered_samples(400, size=60 << 10)
    name = own_store.make_dataset(samples, per_shard=50)
    own_store.connect(retry_seconds=60)
    loader = leat.DataLoader(name, 8, seed=1, keys=True, window="4MiB", memory="16MiB")
    rows = []
    for number, batch in enumerate(loader):
        for row, key, data in zip(batch.rows, batch["__key__"], batch["bin"]):
            assert (key, bytes(data)) == (samples[row][0], samples[row][1]["bin"])
            rows.append(row)
        if number in (3, 20):
            own_store.server.kill()
            own_store.restart_on_the_same_port()
    assert sorted(rows) == list(range(400))


def test_a_server_that_stays_away_is_an_error_that_says_so(own_store):
    name = own_store.make_dataset(numbered_samples(50))
    session = own_store.connect(retry_seconds=1)
    ds = leat.Dataset(name, session=session)
    own_store.server.kill()
    with pytest.raises(ConnectionError) as caught:
        ds[0]
    assert isinstance(caught.value, leat.Unavailable)
    with pytest.raises(leat.Unavailable):
        list(leat.DataLoader(ds, 10, retry_seconds=1))


def test_a_job_that_was_killed_goes_on_where_its_last_state_was(store, numbered):
    command = [sys.executable, HERE / "jobs.py", "an_epoch_until_killed", numbered]
    environment = {**os.environ, **store.environment()}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as job:
        got = []
        for _ in range(17):
            rows, state = json.loads(job.stdout.readline())
            got += rows
            job.stdin.write("\n")
            job.stdin.flush()
        job.send_signal(signal.SIGKILL)
    resumed = leat.DataLoader(numbered, 30, seed=4)
    resumed.load_state_dict(state)
    got += [row for batch in resumed for row in batch.rows]
    whole = [row for batch in leat.DataLoader(numbered, 30, seed=4) for row in batch.rows]
    assert got == whole


ADD_FOR_EVER = "while True: writer.add('a', {'bin': bytes(1 << 20)})"


@pytest.mark.parametrize("wait", ["list(loader)", ADD_FOR_EVER])
def test_ctrl_c_ends_a_wait_at_once(own_store, wait):
    name = own_store.make_dataset(numbered_samples(50))
    code = (
        "import sys, leat\n"
        f"leat.connect(retry_seconds=600)\n"
        f"loader = leat.DataLoader({name!r}, 10)\n"
        f"writer = leat.Writer({name!r}, shard_bytes=1 << 20, mix_bytes=0)\n"
        "print('opened', flush=True)\n"
        "sys.stdin.readline()\n"
        "print('waits', flush=True)\n"
        "try:\n"
        f"    {wait}\n"
        "except KeyboardInterrupt: print('interrupted', flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **own_store.environment()},
    ) as job:
        assert job.stdout.readline() == "opened\n"
        own_store.server.kill()
        job.stdin.write("\n")
        job.stdin.flush()
        assert job.stdout.readline() == "waits\n"
        wait_until(lambda: is_waiting(job.pid), "the job waits for the server")
        job.send_signal(signal.SIGINT)
        assert job.stdout.readline() == "interrupted\n"
        assert job.wait(20) == 0


def is_waiting(pid):
    """Whether all its threads sleep, in this or the kernel's words."""
    threads = Path(f"/proc/{pid}/task").glob("*/stat")
    return all(one.read_text().rpartition(") ")[2][0] == "S" for one in threads)


def measured():
    gc.collect()
    status = Path("/proc/self/status").read_text()
    resident = int(status.partition("VmRSS:")[2].split()[0]) * 1024
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")), resident


def test_epochs_do_not_accumulate_anything(numbered):
    files_before, own_before = places_of_others(), files_of_this_process()

    def epochs(count):
        for _ in range(count):
            loader = leat.DataLoader(numbered, 20, num_workers=2)
            list(loader)
            for _ in loader:
                break
            list(leat.StreamingDataset(numbered, batch_size=20))
            del loader

    epochs(5)
    descriptors, threads, resident = measured()
    epochs(25)
    wait_until(lambda: measured()[1] <= threads, "threads are given back")
    after = measured()
    assert after[0] <= descriptors
    assert after[2] - resident < 16 << 20
    assert [one for one in files_of_this_process() if one not in own_before] == []
    left = places_of_others() - files_before
    assert not [path for path in left if "leat" in path.name or "lock" in path.name], left


def places_of_others():
    """What other processes could stumble over: shared memory with a name, and temporary files."""
    folders = (tempfile.gettempdir(), "/dev/shm", "/run/lock", "/run/shm")
    return {path for folder in folders if os.path.isdir(folder) for path in Path(folder).iterdir()}


def files_of_this_process():
    """Files with a name in such folders that it has open or mapped, and locks that it holds."""
    mapped = [line.partition("/")[2] for line in Path("/proc/self/maps").read_text().splitlines()]
    names = [*(f"/{name}" for name in mapped), *open_files()]
    shared = [name for name in names if name.startswith(("/dev/shm/", "/run/lock/"))]
    locks = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return shared + [words for words in locks if str(os.getpid()) in words[:6]]


def open_files():
    names = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the one of the listing itself
            names.append(os.readlink(f"/proc/self/fd/{number}"))
    return names


def test_a_loader_that_is_dropped_gives_its_threads_back(numbered):
    list(leat.DataLoader(numbered, 20))
    gc.collect()
    before = len(os.listdir("/proc/self/task"))
    for _ in range(10):
        next(iter(leat.DataLoader(numbered, 20)))
    gc.collect()
    wait_until(lambda: len(os.listdir("/proc/self/task")) <= before, "threads are given back")


def test_a_handle_of_the_parent_is_refused_in_a_child_and_stays_good(numbered):
    batches = iter(leat.DataLoader(numbered, 100, shuffle=False))
    next(batches)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            next(batches)
        except leat.Forked:
            code = 0 if leat.Dataset(numbered)[3]["cls"] == b"3" else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sum(batch.size for batch in batches) == 900


def test_an_interpreter_that_ends_in_the_middle_ends(store, numbered):
    code = f"import leat; loader = iter(leat.DataLoader({numbered!r}, 10)); next(loader)"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        timeout=60,
        capture_output=True,
        text=True,
        env={**os.environ, **store.environment()},
    )
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("count", [1, 3])
def test_a_loader_that_is_closed_ends_the_loops_of_other_threads(own_store, count):
    name = own_store.make_dataset(numbered_samples(50))
    own_store.connect(retry_seconds=600)
    loader = leat.DataLoader(name, 10)
    batches = iter(loader)
    own_store.server.kill()
    ended = []

    def loop():
        try:
            next(batches)
        except (leat.Cancelled, StopIteration) as error:  # the latter, if it comes afterwards
            ended.append(type(error))

    threads = [threading.Thread(target=loop) for _ in range(count)]
    for thread in threads:
        thread.start()
    wait_until(lambda: batches._feed._handle._owned._users > 0, "a thread waits for a batch")
    loader.close()
    for thread in threads:
        thread.join()
    assert len(ended) == count
    assert leat.Cancelled in ended
    assert next(batches, None) is None


@pytest.fixture
def calls_at_once(monkeypatch):
    """How many threads were inside the library for a batch, call by call."""
    inside, found = [], []
    following = _native.next_batch

    def noted(handle):
        inside.append(handle)
        found.append(len(inside))
        try:
            return following(handle)
        finally:
            inside.pop()

    monkeypatch.setattr(_native, "next_batch", noted)
    return found


@pytest.mark.parametrize("transform", [None, jobs.key])
def test_threads_share_the_batches_of_one_loop(numbered, calls_at_once, transform):
    loader = leat.DataLoader(numbered, 2, keys=True, transform=transform, to="memory")
    batches = iter(loader)
    found = taken_by_threads(batches)
    keys = [key for batch in found for key in (batch["__key__"] if transform is None else batch)]
    assert sorted(keys) == sorted(leat.Dataset(numbered).keys())
    assert set(calls_at_once) == {1}
    assert loader.state_dict()["epoch"] == 1


def test_threads_share_the_samples_of_one_stream(numbered, calls_at_once):
    ds = leat.StreamingDataset(numbered, batch_size=2, transform=jobs.key)
    assert sorted(taken_by_threads(iter(ds))) == sorted(leat.Dataset(numbered).keys())
    assert set(calls_at_once) == {1}
    assert ds.epoch == 1


def taken_by_threads(iterator):
    found, errors = [], []

    def take():
        try:
            found.extend(iterator)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    return found


def test_a_forked_child_does_not_wait_for_a_thread_of_its_parent(numbered):
    """The thread that has the next batch is not there to let go of the turn."""
    batches = iter(leat.DataLoader(numbered, 100))
    with batches._one_thread.turn():
        child = os.fork()
        if child == 0:
            code = 1
            try:
                next(batches)
            except leat.Forked:
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_loader_works_in_another_thread(numbered):
    found = []
    thread = threading.Thread(
        target=lambda: found.extend(
            row for batch in leat.DataLoader(numbered, 50) for row in batch.rows
        )
    )
    thread.start()
    thread.join()
    assert sorted(found) == list(range(1000))
