"""Sessions: which service, as whom; and the objects in it.

A session connects when it is first used and again after a fork, so it can be made before worker
processes are, and travels to spawned ones by pickling what it was made of.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import IO, Any, Union

from leat import _native
from leat._aside import interruptible
from leat.errors import BadRequest

Data = Union[bytes, bytearray, memoryview, str, "os.PathLike[str]", IO[bytes]]

_SCHEMES = ("leat://", "s3://")


def plain_name(name: str) -> str:
    """``bucket/key`` of ``bucket/key`` or ``leat://bucket/key``."""
    for scheme in _SCHEMES:
        if name.startswith(scheme):
            return name[len(scheme) :]
    return name


@dataclass(frozen=True)
class Stat:
    """What is known of an object without its bytes."""

    name: str
    size: int
    etag: str = ""
    modified: datetime | None = None
    content_type: str = ""
    metadata: dict[str, str] = field(default_factory=dict)


def _stat(name: str, found: dict[str, Any]) -> Stat:
    milliseconds = found.get("modified_ms")
    moment = None
    if milliseconds is not None:
        moment = datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
    return Stat(
        name=name,
        size=int(found.get("size", 0)),
        etag=found.get("etag", ""),
        modified=moment,
        content_type=found.get("content_type") or "",
        metadata=found.get("metadata") or {},
    )


class Session:
    """A connection to one service. ``leat.connect()`` makes one.

    Safe to use from many threads, in forked and in spawned processes. A pickled session carries the
    keys that it was given; those of the environment stay there.
    """

    def __init__(self, endpoint: str | None = None, **options: Any) -> None:
        self._options = {"endpoint": endpoint, **options}
        self._handles: dict[int, _native.Handle] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self._options

    def __setstate__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._handles = {}

    def __repr__(self) -> str:
        return f"leat.Session({self._options['endpoint'] or ''!r})"

    @property
    def handle(self) -> _native.Handle:
        """The native session of this process."""
        pid = os.getpid()
        found = self._handles.get(pid)
        if found is None:
            made = _native.made("leat_session_free", "leat_connect", _native.options(self._options))
            assert made is not None
            # Of two threads that come first, one wins; the other's session is freed unused.
            found = self._handles.setdefault(pid, made)
        return found

    def call(self, method: str, target: str, body: Any = None) -> Any:
        """One request to the native API, for instance ``call("GET", "datasets/a/b?log")``.

        ``body`` is sent as JSON; the answer is parsed.
        """
        sent = b"" if body is None else _native.options(body) or b"{}"
        return interruptible(
            lambda: _native.answered_json(
                "leat_call",
                self.handle.pointer,
                method.encode(),
                _native.text(target),
                sent,
                len(sent),
            )
        )

    def put(
        self,
        name: str,
        data: Data,
        *,
        content_type: str | None = None,
        metadata: dict[str, str] | None = None,
        if_absent: bool | None = None,
    ) -> str:
        """Stores an object, durable and verified when this returns; its ETag.

        ``data``: bytes, a text (as UTF-8), a path or an open binary file.

        >>> leat.put("photos/cats/tom.jpg", Path("tom.jpg"))      # doctest: +SKIP
        '5d2f93d5…'
        """
        content = _content(data)
        options = _native.options(
            {"content_type": content_type, "metadata": metadata, "if_absent": if_absent}
        )
        answer = interruptible(
            lambda: _native.answered_json(
                "leat_put",
                self.handle.pointer,
                _native.text(plain_name(name)),
                content,
                len(content),
                options,
            )
        )
        return str(answer["etag"])

    def get(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """The bytes of an object, or ``length`` of them from ``offset``."""
        wanted = _native.TO_THE_END if length is None else length
        if offset < 0 or wanted < 0:
            raise BadRequest(f"get({name!r}): offset and length are not negative")
        return interruptible(
            lambda: _native.answered(
                "leat_get", self.handle.pointer, _native.text(plain_name(name)), offset, wanted
            )
        )

    def get_if(self, name: str, etag: str, offset: int, length: int) -> bytes:
        """As get(), of the object with this ETag alone; Conflict if it was replaced."""
        return interruptible(
            lambda: _native.answered(
                "leat_get_if",
                self.handle.pointer,
                _native.text(plain_name(name)),
                etag.encode(),
                offset,
                length,
            )
        )

    def stat(self, name: str) -> Stat:
        """Size, ETag and so on; NotFound if it is not there."""
        found = interruptible(
            lambda: _native.answered_json(
                "leat_stat", self.handle.pointer, _native.text(plain_name(name))
            )
        )
        return _stat(plain_name(name), found)

    def rm(self, name: str) -> None:
        """Removes an object."""
        interruptible(
            lambda: _native.check(
                "leat_remove", self.handle.pointer, _native.text(plain_name(name))
            )
        )

    def mb(self, bucket: str) -> None:
        """Makes a bucket; Conflict if it is there."""
        interruptible(
            lambda: _native.check(
                "leat_make_bucket",
                self.handle.pointer,
                _native.text(plain_name(bucket).rstrip("/")),
            )
        )

    def ls(self, name: str = "", *, recursive: bool = False) -> list[str]:
        """Names below ``bucket/prefix``; of all buckets without a name.

        What ends in ``/`` has more below it, unless ``recursive``.
        """
        return [one.name for one in self.scan(name, recursive=recursive)]

    def scan(self, name: str = "", *, recursive: bool = False) -> Iterator[Stat]:
        """As ls(), page by page and with sizes; groups and buckets have size 0."""
        name = plain_name(name)
        bucket = name.partition("/")[0]
        continuation: str | None = None
        while True:
            page = self._page(name, recursive, continuation)
            for one in page.get("buckets", []):
                yield Stat(name=(one if isinstance(one, str) else one["name"]) + "/", size=0)
            for prefix in page.get("prefixes", []):
                yield Stat(name=f"{bucket}/{prefix}", size=0)
            for one in page.get("objects", []):
                yield _stat(f"{bucket}/{one['key']}", one)
            continuation = page.get("continuation")
            if not continuation:
                return

    def _page(self, name: str, recursive: bool, continuation: str | None) -> dict[str, Any]:
        options = _native.options({"recursive": recursive, "continuation": continuation})
        page: dict[str, Any] = interruptible(
            lambda: _native.answered_json(
                "leat_list", self.handle.pointer, _native.text(name), options
            )
        )
        return page

    def open(self, name: str, mode: str = "rb", **text: Any) -> IO[Any]:
        """An object as a file: ``rb``, ``wb``, ``r`` or ``w``.

        Reads are ranged and buffered. What is written appears, whole, when the file is closed; an
        exception in a ``with`` block stores nothing.
        """
        from leat._files import open_object

        return open_object(self, plain_name(name), mode, **text)


def _content(data: Data) -> Any:
    if isinstance(data, str):
        return data.encode()
    if isinstance(data, bytes):
        return data
    if isinstance(data, (bytearray, memoryview)):
        return bytes(data)
    if isinstance(data, os.PathLike):
        with open(data, "rb") as file:
            return file.read()
    if isinstance(data, io.TextIOBase):
        raise BadRequest("put() takes a file that was opened for bytes ('rb')")
    return data.read()


_default: Session | None = None


def connect(
    endpoint: str | None = None,
    *,
    access_key: str | None = None,
    secret_key: str | None = None,
    region: str | None = None,
    profile: str | None = None,
    ca_file: str | None = None,
    retry_seconds: float | None = None,
    io_threads: int | None = None,
    local: bool | None = None,
) -> Session:
    """Says which service to use, and as whom; from then on it is the default of this process.

    Nothing needs to be said when the environment says it (``eval "$(leat env DIR)"``): the endpoint
    comes from LEAT_ENDPOINT or AWS_ENDPOINT_URL, keys from where AWS tools have them. Nobody is
    reached before the first call that needs it.

    >>> session = leat.connect("http://127.0.0.1:9000", access_key="…", secret_key="…")
    ... # doctest: +SKIP
    """
    global _default
    _default = Session(
        endpoint,
        access_key=access_key,
        secret_key=secret_key,
        region=region,
        profile=profile,
        ca_file=ca_file,
        retry_seconds=retry_seconds,
        io_threads=io_threads,
        local=local,
    )
    return _default


def current() -> Session:
    """The session that is used where none is given."""
    return _default or connect()
