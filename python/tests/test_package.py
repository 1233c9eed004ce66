"""What holds without a server: imports, names, versions, sizes, errors."""

import os
import pickle
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import leat
from leat import _aside, _feed, _native, _state, decode

ROOT = Path(__file__).resolve().parents[2]


def run_python(code, **environment):
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


def test_the_import_brings_neither_torch_nor_numpy_nor_a_thread():
    code = (
        "import sys, threading, leat; "
        "print([m for m in ('torch', 'numpy', 'fsspec', 'PIL') if m in sys.modules], "
        "threading.active_count(), len(__import__('os').listdir('/proc/self/task')))"
    )
    assert run_python(code, LEAT_LIBRARY="/nowhere/libleat.so") == "[] 1 1"


def test_a_missing_library_says_what_to_do():
    code = "import leat\ntry: leat.ls()\nexcept ImportError as error: print(error)"
    assert "pip install ./python" in run_python(code, LEAT_LIBRARY="/nowhere/libleat.so")


def test_package_and_program_have_one_version():
    cmake = (ROOT / "CMakeLists.txt").read_text()
    assert re.search(r"project\(leat VERSION (\S+)", cmake)[1] == leat.__version__


def test_every_public_name_is_there_and_documented():
    for name in leat.__all__:
        assert getattr(leat, name).__doc__, name


class Library:
    """Stands for libleat.so: calls wait until they are told to go on."""

    def __init__(self):
        self.said = []
        self.is_inside = threading.Event()
        self.may_return = threading.Event()

    def leat_loader_next_within(self, pointer, *_):
        self.is_inside.set()
        assert self.may_return.wait(60)
        self.said.append(f"next {pointer:d}")
        return 0

    leat_loader_report = leat_loader_next_within

    def leat_loader_cancel(self, pointer):
        self.said.append(f"cancel {pointer}")

    def leat_loader_free(self, pointer):
        self.said.append(f"free {pointer}")


@pytest.fixture
def fake(monkeypatch):
    made = Library()
    monkeypatch.setattr(_native, "library", lambda: made)
    return made


def test_a_handle_that_was_closed_is_not_given_to_the_library_again(fake):
    handle = _native.Handle(1, "leat_loader_free")
    assert handle.pointer == 1
    kept = handle.pointer
    handle.close()
    handle.close()
    assert fake.said == ["free 1"]
    with pytest.raises(leat.Cancelled):
        _ = handle.pointer
    with pytest.raises(leat.Cancelled):
        _native.check("leat_loader_report", kept)
    assert not handle.is_open


@pytest.mark.parametrize(
    "call", [_native.next_batch, lambda loader: _native.check("leat_loader_report", loader.pointer)]
)
def test_a_handle_that_is_closed_in_use_is_freed_by_the_last_user(fake, call):
    handle = _native.Handle(7, "leat_loader_free")
    user = threading.Thread(target=call, args=(handle,))
    user.start()
    assert fake.is_inside.wait(60)
    handle.close()
    assert fake.said == ["cancel 7"], "who waits is woken, and nothing is freed"
    fake.may_return.set()
    user.join()
    assert fake.said == ["cancel 7", "next 7", "free 7"]


def test_the_end_of_the_interpreter_frees_nothing_that_is_in_use():
    code = (
        "import sys, threading\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_package import Library, _native\n"
        "fake = Library()\n"
        "fake.leat_loader_free, fake.leat_loader_cancel = print, int\n"
        "_native.library = lambda: fake\n"
        "idle, used = [_native.Handle(n, 'leat_loader_free') for n in (1, 2)]\n"
        "threading.Thread(target=_native.next_batch, args=(used,), daemon=True).start()\n"
        "fake.is_inside.wait()\n"
    )
    assert run_python(code) == "1"


@pytest.mark.parametrize("error", leat.errors.BY_STATUS.values())
def test_errors_survive_worker_processes(error):
    sent = pickle.loads(pickle.dumps(error("why", place={"row": 7})))
    assert type(sent) is error
    assert str(sent) == "why"


@pytest.mark.parametrize(
    ("text", "size"),
    [(17, 17), ("17", 17), ("4KiB", 4096), ("1.5 MB", 1_500_000), ("2gib", 2 << 30)],
)
def test_sizes_are_numbers_or_texts(text, size):
    assert _feed.size_bytes(text) == size


@pytest.mark.parametrize("text", ["", "MiB", "1 parsec", "-"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(leat.BadRequest, match="is no size"):
        _feed.size_bytes(text)


def test_ranks_come_from_arguments_then_the_environment(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    assert leat.rank_and_world() == (0, 1)
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "8")
    assert leat.rank_and_world() == (3, 8)
    assert leat.rank_and_world(1, 2) == (1, 2)
    with pytest.raises(leat.BadRequest):
        leat.rank_and_world(2, 2)
    with pytest.raises(leat.BadRequest):
        leat.rank_and_world(rank=0)


def test_decoders_are_sorted_into_native_and_python():
    sorted_out = decode.sorted_out(
        {
            "jpg": leat.Image((32, 48), crop="random_resized", flip=True, layout="nchw"),
            "cls": "int64",
            "txt": bytes.decode,
        }
    )
    assert sorted_out.native["jpg"]["size"] == [32, 48]
    assert sorted_out.native["cls"] == {"to": "int64"}
    assert sorted_out.nchw == {"jpg"}
    sample = {"__key__": "a", "txt": b"meow", "jpg": b"kept"}
    assert sorted_out.apply(sample) == {"__key__": "a", "txt": "meow", "jpg": b"kept"}


def test_automatic_decoders_go_by_the_last_part_of_a_field():
    auto = decode.sorted_out("auto")
    sample = {"__key__": "a", "cls": b" 7\n", "meta.json": b'{"a": 1}', "txt": b"x", "bin": b"\0"}
    assert auto.apply(sample) == {
        "__key__": "a",
        "cls": 7,
        "meta.json": {"a": 1},
        "txt": "x",
        "bin": b"\0",
    }


def test_a_state_of_other_data_is_refused_with_the_reason():
    identity = {
        "dataset": "a/b",
        "version": 2,
        "fingerprint": "f2",
        "seed": 1,
        "order": 1,
        "shuffle": "block",
        "window_bytes": 4,
    }
    state = _state.new(identity, 3, 17)
    _state.check(state, identity)
    with pytest.raises(leat.StateError, match=r"a/b@2.*not of a/b@5"):
        _state.check(state, {**identity, "version": 5, "fingerprint": "f5"})
    with pytest.raises(leat.StateError, match="the seed was 1 and is 9"):
        _state.check(state, {**identity, "seed": 9})
    with pytest.raises(leat.StateError, match="format"):
        _state.check({"epoch": 1}, identity)


def test_an_interruptible_call_gives_answers_and_errors():
    assert _aside.interruptible(lambda: 6 * 7) == 42
    with pytest.raises(ZeroDivisionError):
        _aside.interruptible(lambda: 1 / 0)
    assert _aside.interruptible(threading.current_thread) is not threading.main_thread()


def test_ctrl_c_does_not_wait_for_the_call_that_it_interrupts():
    code = (
        "import _thread, signal, threading, os\n"
        "from leat._aside import interruptible\n"
        "never = threading.Event()\n"
        "def call():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    never.wait()\n"
        "try: interruptible(call)\n"
        "except KeyboardInterrupt: print('at once')\n"
        "print(interruptible(lambda: 'and on'))"
    )
    assert run_python(code) == "at once\nand on"
