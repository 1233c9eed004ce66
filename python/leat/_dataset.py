"""Dataset: one version of a dataset, sample by sample."""

from __future__ import annotations

import copy
import ctypes
import fnmatch
import json
import random
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from leat import _native
from leat._aside import interruptible
from leat._batch import Memory, chosen_framework
from leat._feed import open_loader
from leat._session import Session, current, plain_name
from leat._source import Sample, Source, Transform
from leat._state import State, rows_digest
from leat.decode import Decode, sorted_out


class Dataset(Source):
    """A dataset version as a sequence of samples.

    >>> ds = leat.Dataset("imagenet/train@7", fields=["jpg", "cls"])     # doctest: +SKIP
    >>> len(ds), ds[5]["cls"]                                            # doctest: +SKIP
    (1281167, b'0')

    A sample is a dict as WebDataset has it: ``__key__`` and a value for each field it has. Values
    are bytes unless ``decode`` says otherwise (see ``leat.decode``); ``transform`` gets the sample
    last.

    Map-style for torch: ``__getitems__`` fetches a whole batch in one request. Random access for
    Grain and others. Thread-safe. Opening reads the version's index once; without ``@version`` the
    latest is taken, and stays: also in worker processes, where it is opened again by its number.
    """

    def __init__(
        self,
        name: str,
        *,
        fields: Sequence[str] | None = None,
        decode: Decode = None,
        transform: Transform | None = None,
        session: Session | None = None,
    ) -> None:
        self.session = session or current()
        self.reference = plain_name(name)
        self.is_pinned = "@" in self.reference  # whether a version was asked for, not the latest
        self.transform = transform
        self._fields = list(fields) if fields is not None else None
        self._decoders = sorted_out(decode)
        self._rows: array[int] | None = None
        self._rows_digest = ""
        self._handle: _native.Handle | None = None
        self._open()

    def _open(self) -> _native.Handle:
        self._handle = _opened(self.session, self.reference)
        found = _native.library().leat_dataset_info(self._handle.pointer)
        self.info: dict[str, Any] = json.loads(found)
        self._size: int = _native.library().leat_dataset_size(self._handle.pointer)
        return self._handle

    @property
    def handle(self) -> _native.Handle:
        """The native dataset, opened again where this object was unpickled."""
        return self._handle or self._open()

    # What it is.

    @property
    def name(self) -> str:
        """``bucket/name``, without a version."""
        return str(self.info["dataset"])

    @property
    def version(self) -> int:
        return int(self.info["version"])

    @property
    def fingerprint(self) -> str:
        """Names the content of this version: the same for the same samples in the same place."""
        return str(self.info["fingerprint"])

    @property
    def has_number(self) -> bool:
        return self.reference.rpartition("@")[2].isdecimal()

    @property
    def fields(self) -> list[str]:
        """The fields that samples come with."""
        return list(self.info["fields"]) if self._fields is None else list(self._fields)

    @property
    def rows(self) -> Sequence[int] | None:
        """Which rows of the version a subset has; None: all."""
        return self._rows

    def __repr__(self) -> str:
        return f"<leat.Dataset {self.name}@{self.version}: {len(self)} samples of {self.fields}>"

    # Samples.

    def __len__(self) -> int:
        return self._size if self._rows is None else len(self._rows)

    def __getitem__(self, index: int) -> Any:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """These samples, in this order, in one request."""
        rows = [self._row(index) for index in indices]
        return [self.finished(sample) for sample in self._read_decoded(rows)]

    get_many = __getitems__
    _getitems = __getitems__  # what Grain calls where it reads a batch

    def get_by_key(self, key: str) -> Any:
        """The first sample with that key; NotFound if there is none."""
        return self.finished(self._read_decoded([self.find(key)])[0])

    def __iter__(self) -> Iterator[Any]:
        """All samples as stored, fetched by the hundred, or fewer if they are large.
        ``leat.DataLoader`` is for training."""
        page = self._at_once(_PAGE)
        for begin in range(0, len(self), page):
            yield from self.__getitems__(range(begin, min(begin + page, len(self))))

    def read(self, rows: Sequence[int], fields: Sequence[str] | None = None) -> list[Sample]:
        """Samples by their row in the version, as bytes, untouched by decode and transform."""
        return self.read_batch(rows, fields=fields, keys=True).samples("memory")

    def read_batch(
        self,
        rows: Sequence[int],
        *,
        fields: Sequence[str] | None = None,
        keys: bool = False,
        decode: dict[str, Any] | None = None,
        seed: int = 0,
    ) -> Memory:
        """Rows of the version as one native batch. ``seed`` is of what decoding draws at random."""
        wanted = array("Q", rows)
        chosen = list(fields) if fields is not None else self._fields
        options = _native.options(
            {"fields": chosen, "keys": keys, "decode": decode or None, "seed": seed}
        )
        address, count = wanted.buffer_info()

        def read() -> Memory:
            handle = _native.made(
                "leat_batch_free",
                "leat_read_rows",
                self.session.handle.pointer,
                self.handle.pointer,
                address,
                count,
                options,
                at_exit=False,
            )
            assert handle is not None
            assert wanted.buffer_info()[0] == address
            return Memory(handle)

        return interruptible(read)

    def _read_decoded(self, rows: Sequence[int]) -> list[Sample]:
        # Other crops every time, by Python's own generator: torch seeds it in each of its workers.
        seed = random.getrandbits(63)
        memory = self.read_batch(rows, keys=True, decode=self._decoders.native, seed=seed)
        return memory.samples(chosen_framework(None), self._decoders.nchw)

    def _row(self, index: int) -> int:
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"sample {index} of {len(self)} in {self.name}@{self.version}")
        return index if self._rows is None else self._rows[index]

    # Keys.

    def find(self, key: str) -> int:
        """The row of the first sample with that key; NotFound."""
        raw = _native.text(key)
        row = ctypes.c_uint64()
        _native.check("leat_dataset_find", self.handle.pointer, raw, len(raw), ctypes.byref(row))
        return row.value

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        try:
            self.find(key)
        except FileNotFoundError:
            return False
        return True

    def key(self, index: int) -> str:
        """The key of a sample. No request is made: keys are in the index."""
        return self._key(self._row(index))

    def _key(self, row: int) -> str:
        return _native.shown(_native.answered("leat_dataset_key", self.handle.pointer, row))

    def keys(self) -> Iterator[str]:
        """All keys, in the order of samples."""
        return (self.key(index) for index in range(len(self)))

    def select(self, prefix: str = "") -> array[int]:
        """The rows whose keys begin with ``prefix``, in the order of keys."""
        raw = _native.text(prefix)
        found = _native.answered("leat_dataset_select", self.handle.pointer, raw, len(raw))
        return array("Q", found)

    def subset(self, rows: Sequence[int]) -> Dataset:
        """The same dataset with these rows alone, in this order: a split, a filter, a fold.

        Loaders have an order of their own, and take each row once.

        >>> cats = ds.subset(ds.select("cats/"))                         # doctest: +SKIP
        """
        made = copy.copy(self)
        made._rows = array("Q", rows)
        made._rows_digest = rows_digest(sorted(rows))
        if len(made._rows) and max(made._rows) >= self._size:
            raise IndexError(f"row {max(made._rows)} of {self._size}")
        return made

    def filter(
        self,
        key: str | re.Pattern[str] | Callable[[str], object] | None = None,
        *,
        where: Mapping[str, Callable[[Any], object]] | None = None,
    ) -> Dataset:
        """The same dataset with the samples alone that all conditions hold for.

        ``key``: a glob of the whole key (``"cats/*"``; ``*`` also stands for slashes), a compiled
        regular expression that is looked for in it, or a function of it. No request is made: keys
        are in the index. ``where``: functions of the bytes of fields, None where a sample lacks
        one; these bytes alone are fetched.

        >>> day = ds.filter("*/2026-11-*", where={"cls": lambda cls: int(cls) < 10})
        ... # doctest: +SKIP
        """
        kept = self._rows_with(key)
        for field, holds in (where or {}).items():
            found = zip(kept, self._values(kept, field))
            kept = array("Q", (row for row, value in found if holds(value)))
        return self.subset(kept)

    def _rows_with(self, key: str | re.Pattern[str] | Callable[[str], object] | None) -> array[int]:
        rows = array("Q", range(self._size)) if self._rows is None else self._rows
        if key is None:
            return rows
        if isinstance(key, str):
            # Keys are in order: those that begin otherwise need not be looked at.
            beginning = set(self.select(_GLOB_SIGN.split(key, maxsplit=1)[0]))
            rows = array("Q", (row for row in rows if row in beginning))
            key = re.compile(fnmatch.translate(key))
        holds = key.search if isinstance(key, re.Pattern) else key
        return array("Q", (row for row in rows if holds(self._key(row))))

    def values(self, field: str) -> Iterator[bytes | None]:
        """The bytes of one field, sample by sample, fetched alone and by the thousand, or fewer if
        samples are large."""
        return self._values(range(self._size) if self._rows is None else self._rows, field)

    def _values(self, rows: Sequence[int], field: str) -> Iterator[bytes | None]:
        page = self._at_once(_VALUES_AT_ONCE)
        for begin in range(0, len(rows), page):
            batch = self.read_batch(rows[begin : begin + page], fields=[field])
            yield from batch.batch("memory", keys=False)[field].tolist()

    def _at_once(self, most: int) -> int:
        """How many samples of this dataset's mean size are read with one request."""
        mean = int(self.info["bytes"]) // max(1, self._size)
        return max(1, min(most, _PAGE_BYTES // max(1, mean)))

    # For loaders.

    @property
    def order_options(self) -> dict[str, Any]:
        """What the library must know to order it: a subset's rows, as they are stored."""
        return {} if self._rows is None else {"rows": sorted(self._rows)}

    def identity(self) -> dict[str, Any]:
        identity = {"dataset": self.name, "version": self.version, "fingerprint": self.fingerprint}
        return identity if self._rows is None else {**identity, "rows": self._rows_digest}

    def open_loader(self, options: dict[str, Any]) -> _native.Handle:
        return open_loader(self.session, self.handle, {**options, **self.order_options})

    def at_state(self, state: State) -> Dataset:
        if self.is_pinned or state.get("dataset") != self.name:
            return self
        if state.get("version") == self.version:
            return self
        return self.at_version(int(state["version"]))

    # Copies and worker processes.

    def at_version(self, version: int) -> Dataset:
        """This dataset as of another version."""
        made = copy.copy(self)
        made.reference = f"{self.name}@{version}"
        made._open()
        return made

    def __copy__(self) -> Dataset:
        made: Dataset = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "reference": f"{self.name}@{self.version}", "_handle": None}


_PAGE = 256
_VALUES_AT_ONCE = 4096
_PAGE_BYTES = 64 << 20
_GLOB_SIGN = re.compile(r"[*?\[]")


def _opened(session: Session, reference: str) -> _native.Handle:
    def opened() -> _native.Handle:
        handle = _native.made(
            "leat_dataset_free",
            "leat_dataset_open",
            session.handle.pointer,
            _native.text(reference),
        )
        assert handle is not None
        return handle

    return interruptible(opened)
