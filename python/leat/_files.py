"""Objects as files."""

from __future__ import annotations

import io
from typing import IO, TYPE_CHECKING, Any

from leat.errors import BadRequest, Conflict

if TYPE_CHECKING:
    from leat._session import Session

_READ_BYTES = 4 << 20


def open_object(session: Session, name: str, mode: str, **text: Any) -> IO[Any]:
    """Session.open()."""
    kind = mode.replace("b", "").replace("t", "")
    is_text = "b" not in mode
    if kind not in ("r", "w", "x"):
        raise BadRequest(f"objects are opened to read or to write (rb, wb, xb, r, w), not {mode!r}")
    if text and not is_text:
        raise BadRequest("encoding and newline are for text modes")
    if kind == "r":
        reader = io.BufferedReader(ObjectReader(session, name), _READ_BYTES)
        return io.TextIOWrapper(reader, **text) if is_text else reader
    writer = ObjectWriter(session, name, if_absent=kind == "x")
    return TextObjectWriter(writer, **text) if is_text else writer


def read_range(session: Session, name: str, etag: str, offset: int, length: int) -> bytes:
    """Bytes of an object whose ETag was this; Conflict if it was replaced since."""
    try:
        return session.get_if(name, etag, offset, length)
    except Conflict as error:
        raise Conflict(f"{name} was replaced while it was read: open it again") from error


class ObjectReader(io.RawIOBase):
    """Ranges of one object, as it was when it was opened. Wrapped in a BufferedReader, which asks
    for megabytes at a time."""

    def __init__(self, session: Session, name: str) -> None:
        self._session = session
        self.name = name
        found = session.stat(name)
        self.size, self._etag = found.size, found.etag
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.size}[whence]
        if base + offset < 0:
            raise BadRequest(f"{self.name}: no place {base + offset} in it")
        self._position = base + offset
        return self._position

    def readinto(self, target: Any) -> int:
        wanted = min(len(target), max(0, self.size - self._position))
        if wanted:
            memoryview(target).cast("B")[:wanted] = self._next(wanted)
        return wanted

    def readall(self) -> bytes:
        rest = max(0, self.size - self._position)
        return self._next(rest) if rest else b""

    def _next(self, length: int) -> bytes:
        data = read_range(self._session, self.name, self._etag, self._position, length)
        self._position += len(data)
        return data


class ObjectWriter(io.BytesIO):
    """Collects an object in memory and stores it when it is closed."""

    def __init__(self, session: Session, name: str, *, if_absent: bool = False) -> None:
        super().__init__()
        self._session = session
        self.name = name
        self._if_absent = if_absent

    def close(self) -> None:
        if not self.closed:
            data = self.getvalue()
            super().close()
            self._session.put(self.name, data, if_absent=self._if_absent or None)

    def discard(self) -> None:
        """Closes it; nothing is stored."""
        super().close()

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def __del__(self) -> None:
        # A file that was forgotten, not closed, is not whole for sure.
        self.discard()


class TransactionWriter(ObjectWriter):
    """A file of fsspec's transactions: what was written is stored by commit(), not by close()."""

    _written: bytes | None = None

    def close(self) -> None:
        if not self.closed:
            self._written = self.getvalue()
            io.BytesIO.close(self)

    def commit(self) -> None:
        """Stores it, unless it was discarded."""
        self.close()
        written, self._written = self._written, None
        if written is not None:
            self._session.put(self.name, written, if_absent=self._if_absent or None)

    def discard(self) -> None:
        """Closes it; nothing is stored, now or later."""
        super().discard()
        self._written = None


class TextObjectWriter(io.TextIOWrapper):
    """An ObjectWriter that takes text."""

    def __init__(self, writer: ObjectWriter, **text: Any) -> None:
        super().__init__(writer, **text)
        self._writer = writer

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is not None:
            self._writer.discard()
            return
        self.close()

    def __del__(self) -> None:
        self._writer.discard()
