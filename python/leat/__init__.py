"""Leat: training data at the hardware's speed, and exact resume.

    import leat
    loader = leat.DataLoader("imagenet/train", batch_size=256, seed=42,
                             decode={"jpg": leat.Image(224, crop="random_resized", flip=True),
                                     "cls": "int64"})
    for batch in loader:
        train(batch["jpg"], batch["cls"])
        if time_to_save():
            torch.save({"model": model.state_dict(), "data": loader.state_dict()}, path)

Which service to talk to comes from the environment (``eval "$(leat env DIR)"``) or ``connect()``.
Nothing is started by the import; torch and NumPy are used where they are there, and never needed.
"""

from __future__ import annotations

from collections.abc import Iterator as _Iterator
from typing import IO as _IO
from typing import Any as _Any

from leat._batch import Batch, Ragged
from leat._dataset import Dataset
from leat._images import ImageFolder
from leat._loader import DataLoader
from leat._mix import Mix
from leat._ranks import rank_and_world
from leat._session import Data as _Data
from leat._session import Session, Stat, connect
from leat._session import current as _current
from leat._shuffle import ShuffleReport, shuffle_report
from leat._source import Sample
from leat._stream import StreamingDataset
from leat._version import __version__
from leat._writer import Committed, Writer
from leat.decode import Array, Image, Int64
from leat.errors import (
    BadRequest,
    Cancelled,
    Conflict,
    Corrupt,
    DecodeError,
    Denied,
    Forked,
    InternalError,
    LeatError,
    NotFound,
    StateError,
    StorageError,
    Timeout,
    TooLarge,
    Unavailable,
)
from leat.report import Report

__all__ = [
    "Array",
    "BadRequest",
    "Batch",
    "Cancelled",
    "Committed",
    "Conflict",
    "Corrupt",
    "DataLoader",
    "Dataset",
    "DecodeError",
    "Denied",
    "Forked",
    "Image",
    "ImageFolder",
    "Int64",
    "InternalError",
    "LeatError",
    "Mix",
    "NotFound",
    "Ragged",
    "Report",
    "Sample",
    "Session",
    "ShuffleReport",
    "Stat",
    "StateError",
    "StorageError",
    "StreamingDataset",
    "Timeout",
    "TooLarge",
    "Unavailable",
    "Writer",
    "__version__",
    "connect",
    "get",
    "ls",
    "mb",
    "open",
    "put",
    "rank_and_world",
    "rm",
    "scan",
    "shuffle_report",
    "stat",
]


def put(name: str, data: _Data, **options: _Any) -> str:
    """``Session.put()`` of the default session."""
    return _current().put(name, data, **options)


def get(name: str, offset: int = 0, length: int | None = None) -> bytes:
    """``Session.get()`` of the default session."""
    return _current().get(name, offset, length)


def open(name: str, mode: str = "rb", **text: _Any) -> _IO[_Any]:
    """``Session.open()`` of the default session."""
    return _current().open(name, mode, **text)


def ls(name: str = "", *, recursive: bool = False) -> list[str]:
    """``Session.ls()`` of the default session."""
    return _current().ls(name, recursive=recursive)


def scan(name: str = "", *, recursive: bool = False) -> _Iterator[Stat]:
    """``Session.scan()`` of the default session."""
    return _current().scan(name, recursive=recursive)


def stat(name: str) -> Stat:
    """``Session.stat()`` of the default session."""
    return _current().stat(name)


def mb(bucket: str) -> None:
    """``Session.mb()`` of the default session."""
    _current().mb(bucket)


def rm(name: str) -> None:
    """``Session.rm()`` of the default session."""
    _current().rm(name)
