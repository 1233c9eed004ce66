"""``leat://`` for fsspec, and so for pandas, pyarrow, HF datasets, torch checkpoints and Dask.

>>> pandas.read_parquet("leat://tables/day=1/part.parquet")              # doctest: +SKIP
>>> fs = fsspec.filesystem("leat", endpoint="http://127.0.0.1:9000")     # doctest: +SKIP

Found by its entry point: nothing needs to be imported. Options are those of ``leat.connect()``.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fsspec import AbstractFileSystem
from fsspec.spec import AbstractBufferedFile

from leat._files import TransactionWriter, read_range
from leat._session import Session, Stat, current, plain_name
from leat.errors import NotFound

# Of leat.connect(); others are fsspec's own.
_OPTIONS = (
    "access_key",
    "secret_key",
    "region",
    "profile",
    "ca_file",
    "retry_seconds",
    "io_threads",
    "local",
)
_RANGES_AT_ONCE = 16
_BLOCK_BYTES = 4 << 20


class LeatFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """Buckets are the folders of the root; other folders are the common beginnings of keys.

    A file that is written appears, whole, when it is closed; one that is opened in a block ``with
    fs.transaction:``, when the block ends, and not at all if it ends by an exception. They appear
    one after the other. Instances are cached by their options, picklable and good after a fork.
    """

    protocol = "leat"
    root_marker = ""
    cachable = True

    def __init__(self, endpoint: str | None = None, **options: Any) -> None:
        given = {name: options.pop(name) for name in _OPTIONS if name in options}
        super().__init__(endpoint=endpoint, **given, **options)
        self._own = Session(endpoint, **given) if endpoint or given else None

    @property
    def session(self) -> Session:
        return self._own or current()

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        return plain_name(str(path)).strip("/")

    def unstrip_protocol(self, name: str) -> str:
        return f"leat://{self._strip_protocol(name)}"

    # What is there.

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        path = self._strip_protocol(path)
        below = path + "/" if path else ""
        found = [_entry(one) for one in self.session.scan(below) if one.name != below]
        if not found and path and "/" in path:
            found = [self._object(path)]
        return found if detail else [one["name"] for one in found]

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        path = self._strip_protocol(path)
        if "/" in path:
            try:
                return self._object(path)
            except NotFound:
                pass
        # A folder is there if something is below it; a bucket, if it can be listed.
        if not path or next(self.session.scan(path + "/"), None) is not None:
            return {"name": path, "size": 0, "type": "directory"}
        if "/" not in path and path + "/" in self.session.ls():
            return {"name": path, "size": 0, "type": "directory"}
        raise NotFound(f"there is no {path}")

    def _object(self, path: str) -> dict[str, Any]:
        return _entry(self.session.stat(path))

    def find(
        self,
        path: str,
        maxdepth: int | None = None,
        withdirs: bool = False,
        detail: bool = False,
        **more: Any,
    ) -> Any:
        if maxdepth is not None or withdirs:
            return super().find(path, maxdepth, withdirs, detail=detail, **more)
        path = self._strip_protocol(path)
        if not path:
            return super().find(path, detail=detail, **more)
        found = {one.name: _entry(one) for one in self.session.scan(path + "/", recursive=True)}
        if not found and "/" in path:
            try:
                found = {path: self._object(path)}
            except NotFound:
                found = {}
        return found if detail else sorted(found)

    def created(self, path: str) -> Any:
        return self.info(path)["LastModified"]

    modified = created

    def checksum(self, path: str) -> Any:
        return self.info(path).get("ETag")

    def ukey(self, path: str) -> str:
        return str(self.checksum(path))

    # Bytes.

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: Any
    ) -> bytes:
        path = self._strip_protocol(path)
        if (start or 0) < 0 or (end or 0) < 0:
            size = self.info(path)["size"]
            start = max(0, size + start) if start and start < 0 else start
            end = max(0, size + end) if end and end < 0 else end
        first = start or 0
        if end is not None and end <= first:
            return b""
        return self.session.get(path, first, None if end is None else end - first)

    def cat_ranges(
        self,
        paths: Sequence[str],
        starts: Any,
        ends: Any,
        max_gap: int | None = None,
        on_error: str = "return",
        **_: Any,
    ) -> list[Any]:
        starts = starts if isinstance(starts, (list, tuple)) else [starts] * len(paths)
        ends = ends if isinstance(ends, (list, tuple)) else [ends] * len(paths)

        def one(number: int) -> Any:
            try:
                return self.cat_file(paths[number], starts[number], ends[number])
            except Exception as error:
                if on_error != "return":
                    raise
                return error

        with ThreadPoolExecutor(_RANGES_AT_ONCE) as pool:
            return list(pool.map(one, range(len(paths))))

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **_: Any) -> None:
        is_new = mode == "create"
        if self._intrans:
            with self.open(path, "xb" if is_new else "wb") as file:
                file.write(value)
            return
        self.session.put(self._strip_protocol(path), value, if_absent=is_new or None)

    def _open(self, path: str, mode: str = "rb", autocommit: bool = True, **more: Any) -> Any:
        path = self._strip_protocol(path)
        if mode == "rb":
            more.setdefault("block_size", _BLOCK_BYTES)
            return LeatFile(self, path, mode, **more)
        if mode in ("wb", "xb") and not autocommit:
            return TransactionWriter(self.session, path, if_absent=mode == "xb")
        return self.session.open(path, mode)

    # Changes.

    def _rm(self, path: str) -> None:
        self.session.rm(self._strip_protocol(path))

    def rm_file(self, path: str) -> None:
        self._rm(path)

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:
        if not self.isdir(path1):
            self.pipe_file(path2, self.cat_file(path1))

    def mkdir(self, path: str, create_parents: bool = True, **_: Any) -> None:
        """Nothing: folders are beginnings of keys."""

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Nothing, as mkdir()."""

    def rmdir(self, path: str) -> None:
        """Nothing: a folder without objects is not there."""


class LeatFile(AbstractBufferedFile):  # type: ignore[misc]
    """An object that is read in ranges, by fsspec's read-ahead, as it was when it was opened."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        etag = self.details["ETag"]
        return read_range(self.fs.session, self.path, etag, start, end - start)


def _entry(one: Stat) -> dict[str, Any]:
    if one.name.endswith("/"):
        return {"name": one.name.rstrip("/"), "size": 0, "type": "directory"}
    return {
        "name": one.name,
        "size": one.size,
        "type": "file",
        "ETag": one.etag,
        "LastModified": one.modified,
    }


__all__ = ["LeatFile", "LeatFileSystem"]
