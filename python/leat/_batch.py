"""Batches: some samples, field by field, in memory that the library filled and nobody copies.

A view (a tensor, an array, a memoryview) keeps its whole batch alive; drop or copy what you keep
for long.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from ctypes import byref
from itertools import repeat
from typing import Any

from leat import _native
from leat.errors import BadRequest

# What a batch is handed out as.
FRAMEWORKS = ("torch", "numpy", "jax", "memory")


class Ragged(Sequence[Any]):
    """One field of a batch whose values differ in length: a sequence of memoryviews.

    ``data`` is all of it in one piece and ``offsets[i] … offsets[i + 1]`` where value i lies in it,
    for code that works on the whole. A sample that lacks the field has None.
    """

    __slots__ = ("data", "offsets", "present")

    def __init__(
        self, data: memoryview, offsets: memoryview, present: memoryview | None = None
    ) -> None:
        self.data = data
        self.offsets = offsets
        self.present = present

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"value {index} of {len(self)}")
        if self.present is not None and not self.present[index]:
            return None
        return self.data[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def tolist(self) -> list[bytes | None]:
        """The values as bytes of their own."""
        data, offsets = self.data, self.offsets
        values: list[bytes | None] = [
            bytes(data[offsets[i] : offsets[i + 1]]) for i in range(len(self))
        ]
        if self.present is not None:
            return [value if here else None for value, here in zip(values, self.present)]
        return values

    def __repr__(self) -> str:
        return f"<{len(self)} values, {len(self.data)} bytes>"


class Batch(dict[str, Any]):
    """Fields by name, and where they come from.

    ``batch["jpg"]`` is a Ragged, or a tensor or array if the field was decoded. ``__key__`` holds
    the samples' keys if the loader was asked for them. ``present`` tells, of each field that the
    library decoded, which samples have it: all, unless it is optional. Others have zeros.
    """

    rows: memoryview  # of each sample, in its dataset
    sources: memoryview | None = None  # of each sample of a Mix: which dataset
    position: int = 0  # of the first sample, in the order of the epoch over all ranks
    epoch: int = 0
    size: int = 0  # samples

    def __init__(self) -> None:
        super().__init__()
        self.present: dict[str, Any] = {}  # masks


class Memory:
    """A native batch: its numbers, and its columns as views."""

    __slots__ = ("handle", "size")

    def __init__(self, handle: _native.Handle) -> None:
        self.handle = handle
        self.size: int = _native.library().leat_batch_size(handle.pointer)

    def columns(self) -> Iterator[tuple[str, _native.Column]]:
        for number in range(_native.library().leat_batch_columns(self.handle.pointer)):
            column = _native.Column()
            _native.check("leat_batch_column", self.handle.pointer, number, byref(column))
            yield _native.shown(column.name or b""), column

    def words(self, address: int | None, count: int) -> memoryview:
        """`count` numbers of 8 bytes."""
        return _native.view(self.handle, address, count * 8).cast("Q")

    @property
    def epoch(self) -> int:
        found: int = _native.library().leat_batch_epoch(self.handle.pointer)
        return found

    def rows(self) -> memoryview:
        return self.words(_native.library().leat_batch_rows(self.handle.pointer), self.size)

    def sources(self) -> memoryview | None:
        found = _native.library().leat_batch_sources(self.handle.pointer)
        if found is None:
            return None
        return _native.view(self.handle, found, self.size * 4).cast("I")

    def ragged(self, column: _native.Column) -> Ragged:
        present = None
        if column.present is not None:
            present = _native.view(self.handle, column.present, self.size)
        return Ragged(
            _native.view(self.handle, column.data, column.size),
            self.words(column.offsets, self.size + 1),
            present,
        )

    def _mask(self, column: _native.Column) -> memoryview:
        """Which samples have a decoded field: 1 or 0 each."""
        if column.present is None:
            return memoryview(bytearray(b"\1" * self.size))
        return _native.view(self.handle, column.present, self.size)

    def keys(self) -> list[str]:
        column = _native.Column()
        _native.check("leat_batch_keys", self.handle.pointer, byref(column))
        return [_native.shown(key) for key in self.ragged(column).tolist() if key is not None]

    def samples(self, framework: str, nchw: frozenset[str] = frozenset()) -> list[dict[str, Any]]:
        """One dict a sample, as WebDataset has it: fields that it has, bytes unless decoded."""
        samples: list[dict[str, Any]] = [{"__key__": key} for key in self.keys()]
        batch = self.batch(framework, keys=False, nchw=nchw)
        for name, values in batch.items():
            mask = batch.present.get(name, repeat(True))
            for sample, value, is_there in zip(samples, _each(values), mask):
                if value is not None and is_there:
                    sample[name] = value
        return samples

    def batch(self, framework: str, *, keys: bool, nchw: frozenset[str] = frozenset()) -> Batch:
        """All of it, as the framework has it."""
        check_layout(framework, nchw)
        loaded = _native.library()
        made = Batch()
        if keys:
            made["__key__"] = self.keys()
        for name, column in self.columns():
            if column.dtype == _native.BYTES:
                made[name] = self.ragged(column)
                continue
            shape = tuple(column.shape[i] for i in range(column.dims))
            value = _DENSE[framework](
                _native.view(self.handle, column.data, column.size), column.dtype, shape
            )
            made[name] = _channels_first(value) if name in nchw else value
            made.present[name] = _DENSE[framework](self._mask(column), _native.BOOL, (self.size,))
        made.rows = self.rows()
        made.sources = self.sources()
        made.position = loaded.leat_batch_position(self.handle.pointer)
        made.epoch = self.epoch
        made.size = self.size
        return made


def _each(values: Any) -> Any:
    """A field, sample by sample."""
    if isinstance(values, Ragged):
        return values.tolist()
    if not isinstance(values, memoryview) or values.ndim < 2:
        return values
    # memoryview does not do this by itself.
    letter: Any = values.format
    count, *shape = values.shape or ()
    flat, step = values.cast("B"), values.nbytes // count
    return [flat[i * step : (i + 1) * step].cast(letter, shape) for i in range(count)]


def chosen_framework(asked: str | None) -> str:
    """What was asked for; else torch if the program has imported it, else NumPy if it is there."""
    if asked is not None:
        if asked not in FRAMEWORKS:
            raise BadRequest(f"to={asked!r}: one of {', '.join(FRAMEWORKS)}")
        return asked
    if "torch" in sys.modules:
        return "torch"
    return "numpy" if importlib.util.find_spec("numpy") is not None else "memory"


def check_layout(framework: str, nchw: frozenset[str]) -> None:
    """Whether the framework can have channels first without a copy."""
    if nchw and framework == "memory":
        raise BadRequest(
            f"layout='nchw' of {', '.join(sorted(nchw))}: a memoryview cannot be turned; take "
            "layout='nhwc', or to='numpy' or 'torch'"
        )


def _channels_first(value: Any) -> Any:
    """[batch, height, width, channels] as [batch, channels, height, width], without a copy."""
    return value.permute(0, 3, 1, 2) if hasattr(value, "permute") else value.transpose(0, 3, 1, 2)


def _torch(data: memoryview, dtype: int, shape: tuple[int, ...]) -> Any:
    torch = importlib.import_module("torch")
    kind = getattr(torch, _native.DTYPES[dtype][0])
    return (
        torch.frombuffer(data, dtype=kind).view(shape) if data else torch.empty(shape, dtype=kind)
    )


def _numpy(data: memoryview, dtype: int, shape: tuple[int, ...]) -> Any:
    numpy = importlib.import_module("numpy")
    return numpy.frombuffer(data, dtype=_native.DTYPES[dtype][0]).reshape(shape)


def _jax(data: memoryview, dtype: int, shape: tuple[int, ...]) -> Any:
    return importlib.import_module("jax.numpy").asarray(_numpy(data, dtype, shape))


def _memory(data: memoryview, dtype: int, shape: tuple[int, ...]) -> Any:
    letter: Any = _native.DTYPES[dtype][1]
    if letter == "e":
        raise BadRequest("a memoryview cannot be of float16: take to='numpy' or 'torch'")
    return data.cast(letter, shape) if data else data.cast(letter)


_DENSE: dict[str, Callable[[memoryview, int, tuple[int, ...]], Any]] = {
    "torch": _torch,
    "numpy": _numpy,
    "jax": _jax,
    "memory": _memory,
}
