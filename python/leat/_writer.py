"""Writer: samples in, one new version of a dataset out."""

from __future__ import annotations

import ctypes
import io
import json
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple

from leat import _native
from leat._aside import interruptible
from leat._session import Session, current, plain_name
from leat.errors import BadRequest


class Committed(NamedTuple):
    """What a commit made."""

    version: int
    samples: int
    shards: int


class Writer:
    """Packs samples into shards and commits them as one version.

    >>> with leat.Writer("photos/train", message="first crawl") as writer:   # doctest: +SKIP
    ...     writer.write({"__key__": "cats/tom", "jpg": data, "cls": 3})
    >>> writer.version                                                       # doctest: +SKIP
    1

    Nothing is to be seen before the commit, which a ``with`` block makes at its end; an exception
    in it leaves nothing behind. Samples are mixed with a seed on their way, so that training needs
    only a small window (``mix_bytes=0`` keeps the order). With a ``transaction`` name of your own,
    a run that is repeated after a crash commits once.
    """

    version: int | None = None

    def __init__(
        self,
        dataset: str,
        *,
        message: str | None = None,
        transaction: str | None = None,
        shard_bytes: int | None = None,
        mix_bytes: int | None = None,
        seed: int | None = None,
        create: bool = True,
        session: Session | None = None,
    ) -> None:
        self.session = session or current()
        self.dataset = plain_name(dataset)
        options = _native.options(
            {
                "message": message,
                "transaction": transaction,
                "shard_bytes": shard_bytes,
                "mix_bytes": mix_bytes,
                "seed": seed,
                "create": create,
            }
        )
        self._handle = interruptible(lambda: self._opened(options))
        # The library's writers take one call at a time, also of one that Ctrl-C interrupted.
        self._turn = threading.Lock()

    def _opened(self, options: bytes | None) -> _native.Handle:
        handle = _native.made(
            "leat_writer_free",
            "leat_writer_open",
            self.session.handle.pointer,
            _native.text(self.dataset),
            options,
        )
        assert handle is not None
        return handle

    def write(self, sample: Mapping[str, Any]) -> None:
        """One sample as WebDataset has it: ``__key__``, and a value for each field."""
        fields = {name: value for name, value in sample.items() if not name.startswith("__")}
        if "__key__" not in sample:
            raise BadRequest("a sample has a '__key__'")
        self.add(sample["__key__"], fields)

    def add(self, key: str, fields: Mapping[str, Any]) -> None:
        """One sample. Values are bytes, or what encode() turns into bytes."""
        raw = _native.text(key)
        values = [encode(name, value) for name, value in fields.items()]
        count = len(values)
        names = (ctypes.c_char_p * count)(*(_native.text(name) for name in fields))
        pointers = (ctypes.c_char_p * count)(*values)
        sizes = (ctypes.c_size_t * count)(*(len(value) for value in values))

        def added() -> None:
            arguments = (raw, len(raw), names, pointers, sizes, count)
            with self._turn:
                _native.check("leat_writer_add", self._handle.pointer, *arguments)

        # It waits when shards cannot be sent as fast as they are filled.
        interruptible(added)

    def commit(self) -> Committed:
        """One new version with all samples."""

        def committed() -> Any:
            with self._turn:
                return _native.answered_json("leat_writer_commit", self._handle.pointer)

        found = interruptible(committed)
        self._handle.close()
        self.version = int(found["version"])
        return Committed(self.version, int(found["samples"]), int(found["shards"]))

    def abort(self) -> None:
        """Gives up: nothing of it stays."""
        interruptible(self._handle.close)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is not None:
            self.abort()
        elif self.version is None:
            self.commit()


def encode(field: str, value: Any) -> bytes:
    """The bytes of a value: texts as UTF-8, numbers as text, ``json`` by json, ``npy`` by NumPy,
    images (PIL) by the format that the field names."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    extension = field.rpartition(".")[2].lower()
    if extension in ("json", "jsn"):
        return json.dumps(value).encode()
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bool, int, float)):
        return str(value).encode()
    target = io.BytesIO()
    if extension == "npy":
        import numpy

        numpy.save(target, value, allow_pickle=False)
    elif hasattr(value, "save"):
        value.save(target, format="JPEG" if extension == "jpg" else extension.upper())
    else:
        raise BadRequest(f"no bytes for field {field!r}: encode {type(value).__name__} yourself")
    return target.getvalue()
