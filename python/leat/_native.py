"""libleat.so, function by function: the one module that speaks ctypes.

``include/leat/leat.h`` is the contract. A call releases the GIL for its whole length. The library
is looked for when the first call is made, not at import: LEAT_LIBRARY, then beside this file.

Handles are freed once, by the process that made them, and never while a call uses them: a forked
child owns none of its parent's (ownership goes by process id), and connects anew.
"""

from __future__ import annotations

import ctypes
import json
import os
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

from leat.errors import BY_STATUS, Cancelled, LeatError

ABI_VERSION = 1
BYTES = 0
# leat_dtype of dense columns: the name that NumPy and torch have for it, and struct's letter.
DTYPES = {
    1: ("uint8", "B"),
    2: ("int64", "q"),
    3: ("float32", "f"),
    4: ("float64", "d"),
    5: ("int8", "b"),
    6: ("int16", "h"),
    7: ("int32", "i"),
    8: ("uint16", "H"),
    9: ("uint32", "I"),
    10: ("uint64", "Q"),
    11: ("float16", "e"),
    12: ("bool", "?"),
}
BOOL = 12
TO_THE_END = 2**64 - 1


class Column(ctypes.Structure):
    """leat_column."""

    _fields_ = (
        ("name", c_char_p),
        ("dtype", c_int),
        ("data", c_void_p),
        ("size", c_uint64),
        ("offsets", c_void_p),
        ("dims", c_uint32),
        ("shape", POINTER(c_uint64)),
        ("present", c_void_p),
    )


_OUT = POINTER(c_void_p)
_TEXT = c_char_p
_HANDLE = c_void_p

# Functions that answer with a leat_status; each takes a leat_error** at the end.
_FALLIBLE: dict[str, tuple[Any, ...]] = {
    "leat_connect": (_TEXT, _OUT),
    "leat_call": (_HANDLE, _TEXT, _TEXT, c_char_p, c_size_t, _OUT),
    "leat_get": (_HANDLE, _TEXT, c_uint64, c_uint64, _OUT),
    "leat_get_if": (_HANDLE, _TEXT, _TEXT, c_uint64, c_uint64, _OUT),
    "leat_put": (_HANDLE, _TEXT, c_void_p, c_size_t, _TEXT, _OUT),
    "leat_stat": (_HANDLE, _TEXT, _OUT),
    "leat_remove": (_HANDLE, _TEXT),
    "leat_make_bucket": (_HANDLE, _TEXT),
    "leat_list": (_HANDLE, _TEXT, _TEXT, _OUT),
    "leat_dataset_open": (_HANDLE, _TEXT, _OUT),
    "leat_dataset_key": (_HANDLE, c_uint64, _OUT),
    "leat_dataset_find": (_HANDLE, c_char_p, c_size_t, POINTER(c_uint64)),
    "leat_dataset_select": (_HANDLE, c_char_p, c_size_t, _OUT),
    "leat_batch_column": (_HANDLE, c_uint32, POINTER(Column)),
    "leat_batch_keys": (_HANDLE, POINTER(Column)),
    "leat_read_rows": (_HANDLE, _HANDLE, c_void_p, c_size_t, _TEXT, _OUT),
    "leat_loader_open": (_HANDLE, _HANDLE, _TEXT, _OUT),
    "leat_loader_open_mix": (_HANDLE, c_void_p, c_size_t, _TEXT, _OUT),
    "leat_loader_next_within": (_HANDLE, c_uint64, _OUT),
    "leat_loader_report": (_HANDLE, _OUT),
    "leat_plan_rows": (_HANDLE, _TEXT, c_uint64, c_uint64, _OUT),
    "leat_writer_open": (_HANDLE, _TEXT, _TEXT, _OUT),
    "leat_writer_add": (_HANDLE, c_char_p, c_size_t, c_void_p, c_void_p, c_void_p, c_size_t),
    "leat_writer_commit": (_HANDLE, _OUT),
}

_PLAIN: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "leat_abi_version": (c_int, ()),
    "leat_version": (c_char_p, ()),
    "leat_error_status": (c_int, (_HANDLE,)),
    "leat_error_message": (c_char_p, (_HANDLE,)),
    "leat_error_place": (c_char_p, (_HANDLE,)),
    "leat_error_free": (None, (_HANDLE,)),
    "leat_buffer_data": (c_void_p, (_HANDLE,)),
    "leat_buffer_size": (c_size_t, (_HANDLE,)),
    "leat_buffer_free": (None, (_HANDLE,)),
    "leat_session_free": (None, (_HANDLE,)),
    "leat_dataset_free": (None, (_HANDLE,)),
    "leat_dataset_size": (c_uint64, (_HANDLE,)),
    "leat_dataset_info": (c_char_p, (_HANDLE,)),
    "leat_batch_size": (c_uint64, (_HANDLE,)),
    "leat_batch_columns": (c_uint32, (_HANDLE,)),
    "leat_batch_rows": (c_void_p, (_HANDLE,)),
    "leat_batch_sources": (c_void_p, (_HANDLE,)),
    "leat_batch_position": (c_uint64, (_HANDLE,)),
    "leat_batch_epoch": (c_uint64, (_HANDLE,)),
    "leat_batch_free": (None, (_HANDLE,)),
    "leat_loader_batches": (c_uint64, (_HANDLE,)),
    "leat_loader_samples": (c_uint64, (_HANDLE,)),
    "leat_loader_cancel": (None, (_HANDLE,)),
    "leat_loader_free": (None, (_HANDLE,)),
    "leat_writer_free": (None, (_HANDLE,)),
}

_loaded: ctypes.CDLL | None = None


def library_path() -> Path:
    """Where libleat.so is taken from."""
    given = os.environ.get("LEAT_LIBRARY")
    return Path(given) if given else Path(__file__).with_name("libleat.so")


def library() -> ctypes.CDLL:
    """The library, loaded on first use.

    Raises ImportError, with what to do, if it is not there or is of another time.
    """
    global _loaded
    if _loaded is None:
        _loaded = _load(library_path())
    return _loaded


def _load(path: Path) -> ctypes.CDLL:
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError(
            f"libleat.so cannot be loaded: {error}. Install the package with "
            "`pip install ./python` from the source tree, or set LEAT_LIBRARY to a built one."
        ) from error
    # An older library has all but what was added since: that is missed where it is used.
    for name, arguments in _FALLIBLE.items():
        if hasattr(loaded, name):
            function = getattr(loaded, name)
            function.restype, function.argtypes = c_int, (*arguments, _OUT)
    for name, (result, arguments) in _PLAIN.items():
        if hasattr(loaded, name):
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
    found = loaded.leat_abi_version()
    if found != ABI_VERSION:
        raise ImportError(f"{path} has ABI {found}, this package needs {ABI_VERSION}: reinstall it")
    return loaded


def version() -> str:
    """The library's own version."""
    return bytes(library().leat_version()).decode()


class Handle:
    """A pointer of the library, freed when nobody refers to it any more.

    A call uses it as long as the call takes: what is closed meanwhile, by another thread or at the
    end of the interpreter, is freed when the last call returns, and not before.
    """

    __slots__ = ("__weakref__", "_finalizer", "_owned", "pid")

    def __init__(self, address: int, free: str, *, at_exit: bool = True) -> None:
        self.pid = os.getpid()
        self._owned = _Owned(address, free, self.pid)
        self._finalizer = weakref.finalize(self, self._owned.close)
        self._finalizer.atexit = at_exit

    @property
    def pointer(self) -> Pointer:
        """For the library. Raises Cancelled if it was freed, closed or at the end of all."""
        if self._owned.is_closed:
            raise Cancelled("this was closed")
        return Pointer(self._owned.address, self)

    @property
    def is_open(self) -> bool:
        """Whether it is there, and was made by this process, not by the one it was forked from."""
        return not self._owned.is_closed and self.pid == os.getpid()

    def close(self) -> None:
        """Frees it now, or as soon as no call uses it; who waits in one is woken, if it is a
        loader's. Harmless the second time."""
        self._finalizer()


class Pointer(int):
    """The address of a handle, which check() marks as used while it calls."""

    handle: Handle

    def __new__(cls, address: int, handle: Handle) -> Pointer:
        made = super().__new__(cls, address)
        made.handle = handle
        return made


# What wakes those who wait in a call.
_CANCEL = {"leat_loader_free": "leat_loader_cancel"}


class _Owned:
    """What a handle points to, and how many calls use it.

    A forked child frees nothing of its parent's, so it counts nothing: the lock may be held by a
    thread that it does not have.
    """

    __slots__ = ("_free", "_lock", "_pid", "_users", "address", "is_closed")

    def __init__(self, address: int, free: str, pid: int) -> None:
        self.address = address
        self.is_closed = False
        self._free = free
        self._pid = pid
        self._lock = threading.Lock()
        self._users = 0

    def enter(self) -> None:
        """Raises Cancelled if it was closed."""
        if os.getpid() != self._pid:
            return
        with self._lock:
            if self.is_closed:
                raise Cancelled("this was closed")
            self._users += 1

    def leave(self) -> None:
        """The last one frees it, once it was closed."""
        if os.getpid() != self._pid:
            return
        with self._lock:
            self._users -= 1
            is_last = self.is_closed and self._users == 0
        if is_last:
            getattr(library(), self._free)(self.address)

    def close(self) -> None:
        if os.getpid() != self._pid:
            self.is_closed = True
            return
        with self._lock:
            self.is_closed = True
            is_used = self._users > 0
            self._users += 1  # so that it is there for what wakes the others
        if is_used and self._free in _CANCEL:
            getattr(library(), _CANCEL[self._free])(self.address)
        self.leave()


@contextmanager
def in_use(handles: Iterable[Handle]) -> Iterator[None]:
    """None of them is freed meanwhile. Raises Cancelled if one was closed."""
    entered: list[_Owned] = []
    try:
        for handle in handles:
            handle._owned.enter()
            entered.append(handle._owned)
        yield
    finally:
        for owned in entered:
            owned.leave()


def check(name: str, *arguments: Any) -> None:
    """Calls a function that can fail; its failure is raised."""
    error = c_void_p()
    with in_use(one.handle for one in arguments if isinstance(one, Pointer)):
        status = getattr(library(), name)(*arguments, byref(error))
    if status != 0:
        raise _taken(error.value)


def _taken(pointer: int | None) -> LeatError:
    loaded = library()
    try:
        kind = BY_STATUS.get(loaded.leat_error_status(pointer), LeatError)
        message = loaded.leat_error_message(pointer).decode(errors="replace")
        place = json.loads(loaded.leat_error_place(pointer) or b"{}")
    finally:
        loaded.leat_error_free(pointer)
    sample = place.get("sample")
    if sample is not None and sample not in message:
        message += f" (sample {sample!r} of {place.get('shard', 'a shard')})"
    return kind(message, place=place)


def made(free: str, name: str, *arguments: Any, at_exit: bool = True) -> Handle | None:
    """Calls a function whose last result is a handle; None if it gave none."""
    out = c_void_p()
    check(name, *arguments, byref(out))
    return None if out.value is None else Handle(out.value, free, at_exit=at_exit)


# How long signals may have to wait.
_SLICE_MS = 100
_TIMEOUT = 6


def next_batch(loader: Handle) -> Handle | None:
    """The next batch of a loader, None at the end. Ctrl-C interrupts the wait for it."""
    following = library().leat_loader_next_within
    batch, error = c_void_p(), c_void_p()
    while True:
        with in_use([loader]):
            status = following(loader.pointer, _SLICE_MS, byref(batch), byref(error))
        if status == 0:
            break
        raised = _taken(error.value)
        if status != _TIMEOUT:
            raise raised
    return None if batch.value is None else Handle(batch.value, "leat_batch_free", at_exit=False)


def answered(name: str, *arguments: Any) -> bytes:
    """Calls a function whose last result is a buffer; its bytes."""
    out = c_void_p()
    check(name, *arguments, byref(out))
    loaded = library()
    try:
        size: int = loaded.leat_buffer_size(out)
        return ctypes.string_at(loaded.leat_buffer_data(out), size) if size else b""
    finally:
        loaded.leat_buffer_free(out)


def answered_json(name: str, *arguments: Any) -> Any:
    """As answered(), parsed; None for an empty answer."""
    text = answered(name, *arguments)
    return json.loads(text) if text else None


def text(value: str) -> bytes:
    """A text as the library wants it; names that are not UTF-8 came with surrogates."""
    return value.encode("utf-8", "surrogateescape")


def shown(value: bytes) -> str:
    """The opposite of text()."""
    return value.decode("utf-8", "surrogateescape")


def options(values: dict[str, Any]) -> bytes | None:
    """Options as JSON, without those that were not given."""
    given = {name: value for name, value in values.items() if value is not None}
    return json.dumps(given).encode() if given else None


# One array type for all sizes: ctypes would make, and keep, a type for each. Nothing is touched
# beyond the slice that is taken.
_Memory = ctypes.c_char * (1 << 46)


def view(owner: object, address: int | None, size: int) -> memoryview:
    """Memory of the library without a copy. `owner` lives as long as the view or a slice of it."""
    if not size or address is None:
        return memoryview(b"")
    memory = _Memory.from_address(address)
    memory.owner = owner  # type: ignore[attr-defined]
    return memoryview(memory)[:size].cast("B")
