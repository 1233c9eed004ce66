"""A client of datasets and batches (/_/v1/datasets, /_/v1/batch), and a reader of frames that was
written from docs/formats/batch.md alone."""

import io
import json
import struct
import tarfile
from dataclasses import dataclass
from urllib.parse import quote

from http_wire import Connection
from store_client import Gone

_CRC = []
for _byte in range(256):
    for _ in range(8):
        _byte = (_byte >> 1) ^ (0x82F63B78 if _byte & 1 else 0)
    _CRC.append(_byte)


def crc32c(data):
    sum_ = 0xFFFFFFFF
    for byte in data:
        sum_ = (sum_ >> 8) ^ _CRC[(sum_ ^ byte) & 0xFF]
    return sum_ ^ 0xFFFFFFFF


class Incomplete(Exception):
    """The answer is not what a server that succeeded sends."""


@dataclass
class Frame:
    item: int
    kind: str
    status: int
    payload: bytes

    def fields(self):
        """[(name, data)…] of a sample, in its order."""
        assert self.kind == "sample"
        (count,) = struct.unpack_from("<I", self.payload)
        at, heads = 4, []
        for _ in range(count):
            size, length = struct.unpack_from("<QI", self.payload, at)
            heads.append((self.payload[at + 12:at + 12 + length].decode(), size))
            at += 12 + length
        found = []
        for name, size in heads:
            found.append((name, self.payload[at:at + size]))
            at += size
        assert at == len(self.payload)
        return found


def read_frames(data, check=True):
    """All frames; Incomplete when there is no end frame, or something is out of order."""
    frames, at = [], 0
    while at + 20 <= len(data):
        item, kind, zero, status, length = struct.unpack_from("<IBBHQ", data, at)
        end = at + 16 + length
        if end + 4 > len(data):
            break
        if kind > 3 or zero or item != len(frames):
            raise Incomplete(f"frame {len(frames)} is item {item}, kind {kind}")
        if check and struct.unpack_from("<I", data, end)[0] != crc32c(data[at:end]):
            raise Incomplete(f"item {item} fails its checksum")
        kind = ("bytes", "sample", "error", "end")[kind]
        frames.append(Frame(item, kind, status, data[at + 16:end]))
        at = end + 4
        if kind == "end":
            if at != len(data):
                raise Incomplete("something follows the end")
            return frames
    raise Incomplete(f"no end after {len(frames)} frames")


def tar_of(members, form=tarfile.PAX_FORMAT):
    """The bytes of a tar of [(name, data)…]."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, data in members:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def members_of(data):
    """[(name, data)…] of a tar, as Python reads it."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return [(one.name, archive.extractfile(one).read()) for one in archive if one.isreg()]


class DatasetClient:
    """One connection; every call gives the Answer, or with told() its JSON."""

    def __init__(self, address, token):
        self.address = address
        self.token = token
        self._connection = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def ask(self, method, path, body=b"", fields=()):
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        fields = [f"Authorization: Bearer {self.token}", *fields]
        if method in ("POST", "PUT"):
            fields.append(f"Content-Length: {len(body)}")
        try:
            if self._connection is None:
                self._connection = Connection(self.address)
            answer = self._connection.ask(f"{method} {path}", fields, body)
        except OSError as error:
            self.close()
            raise Gone(f"{method} {path}: {error!r}") from error
        if answer.field("connection") == "close":
            self.close()
        return answer

    def told(self, method, path, body=b"", status=200):
        answer = self.ask(method, path, body)
        assert answer.status == status, f"{method} {path}: {answer.status} {answer.body!r}"
        return json.loads(answer.body) if answer.body else None

    # Objects.

    def make_bucket(self, name):
        self.told("PUT", f"/_/v1/buckets/{name}", status=201)

    def put(self, bucket, key, data):
        answer = self.ask("PUT", f"/{bucket}/{quote(key)}", data)
        assert answer.status == 200, answer.body
        return answer

    def get(self, bucket, key, query="", fields=()):
        return self.ask("GET", f"/{bucket}/{quote(key)}{query}", fields=fields)

    # Datasets.

    def dataset(self, method, name, query="", body=b"", status=200):
        return self.told(method, f"/_/v1/datasets/{name}{query}", body, status)

    def commit(self, name, status=200, **changes):
        return self.dataset("POST", name, "?commit", changes, status)

    def keys(self, name):
        """The keys of all samples, page by page."""
        found, after = [], ""
        while after is not None:
            page = self.dataset("GET", name, f"?samples&max=1000&after={quote(after)}")
            found += [one["sample"] for one in page["page"]]
            after = page["next"]
        return found

    def batch(self, items, **options):
        return self.ask("POST", "/_/v1/batch", {"items": items, **options})

    def frames(self, items, **options):
        answer = self.batch(items, **options)
        assert answer.status == 200, answer.body
        return read_frames(answer.body)


def client_of(server, folder):
    return DatasetClient(server.address, (folder / "admin-token").read_text().strip())
