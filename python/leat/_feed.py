"""Feed: one run of the native loader, from a position to the end of an epoch.

What DataLoader and StreamingDataset have in common: which samples, in which order, from where on.
"""

from __future__ import annotations

import ctypes
import os
import threading
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from leat import _native, _state
from leat._aside import interruptible
from leat._batch import Memory
from leat._session import Session
from leat._source import Source
from leat.errors import BadRequest, Cancelled, Forked

WINDOW_BYTES = 256 << 20
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}

Size = int | str


def size_bytes(size: Size) -> int:
    """Bytes of ``268435456`` or ``"256MiB"``."""
    if isinstance(size, int):
        return size
    digits = size.rstrip("BbKkMmGgTtIi ")
    try:
        return int(float(digits) * _UNITS[size[len(digits) :].strip().upper()])
    except (KeyError, ValueError):
        raise BadRequest(f"{size!r} is no size: say 268435456 or '256MiB'") from None


def shuffle_name(shuffle: bool | str) -> str:
    """True, False, "block", "full", "none", as the library says it."""
    if shuffle is True:
        return "block"
    if shuffle is False:
        return "none"
    if shuffle not in ("block", "full", "none"):
        raise BadRequest(f"shuffle={shuffle!r}: True, False, 'block', 'full' or 'none'")
    return shuffle


def tail_rule(drop_last: bool, tail: str | None, world: int) -> str:
    """What becomes of samples that do not fill a batch on every rank."""
    if tail is None:
        tail = "drop" if drop_last else "uneven" if world == 1 else "pad"
    if tail not in ("drop", "pad", "uneven"):
        raise BadRequest(f"tail={tail!r}: 'drop', 'pad' or 'uneven'")
    return tail


def repeat_rule(repeat: bool | int) -> int | None:
    """How many epochs a loop takes; None: it has no end."""
    if repeat is True:
        return None
    if repeat is False:
        return 1
    if repeat < 1:
        raise BadRequest(f"repeat={repeat!r}: True, or at least 1")
    return repeat


@dataclass
class Plan:
    """Which samples this rank gets, in which order."""

    source: Source
    batch_size: int
    rank: int
    world: int
    shuffle: str = "block"
    seed: int = 0
    window_bytes: int = WINDOW_BYTES
    tail: str = "uneven"
    repeat: int | None = 1  # epochs that a loop takes; None: without end
    first_epoch: int = 0  # where loops are counted from
    options: dict[str, Any] = field(default_factory=dict)  # of the pipeline: threads, memory, …

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise BadRequest(f"batch_size={self.batch_size}: at least 1")
        if not 0 <= self.seed < 2**64:
            raise BadRequest(f"seed={self.seed}: 0 … 2**64 - 1")

    @property
    def global_batch(self) -> int:
        """Samples that all ranks together are handed at a time."""
        return self.batch_size * self.world

    def identity(self) -> dict[str, Any]:
        """What positions depend on; what they do not (ranks, batches, threads) is not in it."""
        order = {"shuffle": self.shuffle, "window_bytes": self.window_bytes, "seed": self.seed}
        return _state.identity_of(self.source, order)

    def at_state(self, state: _state.State) -> Plan:
        """The plan at the version of a state. Errors: StateError if positions mean others here."""
        _state.check_format(state)
        plan = replace(self, source=self.source.at_state(state))
        _state.check(state, plan.identity())
        return plan

    def batches(self, position: int = 0) -> int:
        """Batches that this rank gets from a position to the end of the epoch."""
        whole, rest = self._divided(position)
        before = self.rank * self.batch_size if self.tail == "uneven" else 0
        return whole + (1 if rest > before and self.tail != "drop" else 0)

    def samples(self, position: int = 0) -> int:
        """Samples in these batches."""
        whole, rest = self._divided(position)
        if self.tail != "uneven":
            return self.batches(position) * self.batch_size
        last = min(max(0, rest - self.rank * self.batch_size), self.batch_size)
        return whole * self.batch_size + last

    def is_over(self, position: int) -> bool:
        """Whether no rank gets anything from there on."""
        whole, rest = self._divided(position)
        return whole == 0 and (rest == 0 or self.tail == "drop")

    def epochs_of_loop(self) -> int:
        """Of a whole one. Errors: TypeError if it has no end, as len() wants it."""
        if self.repeat is None:
            raise TypeError("with repeat=True a loop has no end, and so no length")
        return self.repeat

    def is_last(self, epoch: int) -> bool:
        """Whether a loop ends with this epoch. Resumed or not, it ends at the same one."""
        return self.repeat is not None and self._following(epoch) == 0

    def after_loop(self, epoch: int) -> int:
        """The epoch that the next loop begins with."""
        return epoch + 1 + self._following(epoch)

    def batches_of_loop(self, epoch: int, position: int) -> int | None:
        """Batches that this rank gets from there to the end of the loop; None: without end."""
        if self.repeat is None:
            return None
        return self.batches(position) + self._following(epoch) * self.batches()

    def _following(self, epoch: int) -> int:
        """Epochs of a loop with an end that come after one of its epochs."""
        return 0 if self.repeat is None else (self.first_epoch - epoch - 1) % self.repeat

    def _divided(self, position: int) -> tuple[int, int]:
        """How many batches all ranks get, and the samples that are left then."""
        return divmod(max(0, len(self.source) - position), self.global_batch)

    def open(self, epoch: int, position: int) -> Feed:
        """The epoch from `position` on, and those that the loop takes after it."""
        return self._opened(epoch, position, {"repeat": None if self.is_last(epoch) else True})

    def open_epoch(self, epoch: int, position: int, worker: tuple[int, int]) -> Feed:
        """The epoch from `position` on; of a worker, every W-th batch."""
        return self._opened(epoch, position, {"workers": list(worker)})

    def _opened(self, epoch: int, position: int, more: dict[str, Any]) -> Feed:
        options = {
            "batch_size": self.batch_size,
            "shuffle": self.shuffle,
            "seed": self.seed,
            "epoch": epoch,
            "window_bytes": self.window_bytes,
            "rank": self.rank,
            "world": self.world,
            "position": position,
            "tail": self.tail,
            **self.options,
            **more,
        }
        return Feed(self.source.open_loader(options))


class OneThread:
    """Lets one thread at a time have the next batch; the library allows no more.

    Who closes a feed takes no part: he wakes the one who is inside. Nor does a forked child: the
    lock may be held by a thread that it does not have, and the library refuses it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def turn(self) -> AbstractContextManager[Any]:
        """For a with block."""
        return self._lock if os.getpid() == self._pid else nullcontext()


class Feed:
    """Native batches, one after the other, for one thread at a time."""

    def __init__(self, handle: _native.Handle) -> None:
        self._handle = handle

    def next(self) -> Memory | None:
        """The next batch, in memory of its own; None at the end."""
        found = _native.next_batch(self._handle)
        return None if found is None else Memory(found)

    def report(self) -> dict[str, Any]:
        """Where time went, so far: docs/reference/python.md."""
        try:
            found = _native.answered_json("leat_loader_report", self._handle.pointer)
        except (Cancelled, Forked):
            return {}  # another thread closed it, or it is the parent's
        return dict(found)

    def close(self) -> None:
        """Ends its threads, and wakes who waits for a batch. Harmless the second time."""
        self._handle.close()


def open_loader(
    session: Session, handle: _native.Handle, options: dict[str, Any]
) -> _native.Handle:
    """A native loader over one dataset."""

    def opened() -> _native.Handle:
        made = _native.made(
            "leat_loader_free",
            "leat_loader_open",
            session.handle.pointer,
            handle.pointer,
            _native.options(options),
        )
        assert made is not None
        return made

    return interruptible(opened)


def open_mix(
    session: Session, handles: list[_native.Handle], options: dict[str, Any]
) -> _native.Handle:
    """A native loader over several datasets."""
    pointers = (ctypes.c_void_p * len(handles))(*(handle.pointer for handle in handles))

    def opened() -> _native.Handle:
        with _native.in_use(handles):
            made = _native.made(
                "leat_loader_free",
                "leat_loader_open_mix",
                session.handle.pointer,
                pointers,
                len(handles),
                _native.options(options),
            )
        assert made is not None
        return made

    return interruptible(opened)
