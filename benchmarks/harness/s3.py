"""S3 and the training API of a `leat serve`, asked by signed requests: for making what a benchmark
measures, and for recording requests that http_load then sends."""

import http.client
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.errors import BenchmarkError
from harness.servers import Server
from harness.sigv4 import Key, Request, head, sha256, signed_fields

PATIENCE_S = 120
XML_NAMES = "{http://s3.amazonaws.com/doc/2006-03-01/}"


@dataclass(frozen=True)
class Answer:
    status: int
    fields: dict[str, str]
    content: bytes


class Session:
    """One keep-alive connection with the first key of the server. Not safe for several threads."""

    def __init__(self, server: Server) -> None:
        self.label = server.label
        self.host = f"127.0.0.1:{server.port}"
        made = json.loads((server.root / "keys.json").read_text())["keys"][0]
        self.key = Key(made["id"], made["secret"])
        self.connection = http.client.HTTPConnection(self.host, timeout=PATIENCE_S)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def ask(self, method: str, path: str, query: dict[str, str] | None = None, body: bytes = b"",
            fields: dict[str, str] | None = None) -> Answer:
        """The answer, which must be a good one."""
        request = Request(method, path, query or {}, fields or {}, sha256(body))
        all_fields = signed_fields(request, self.host, self.key)
        try:
            self.connection.request(method, request.target(), body or None, all_fields)
            answer = self.connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise BenchmarkError(f"{self.label}: {method} {path}: {error}") from error
        if answer.status // 100 != 2:
            told = content[:500].decode(errors="replace")
            raise BenchmarkError(f"{self.label}: {method} {path} answered {answer.status}: {told}")
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()},
                      content)

    def json(self, method: str, path: str, query: dict[str, str] | None = None,
             document: object | None = None) -> dict:
        body = b"" if document is None else json.dumps(document).encode()
        return json.loads(self.ask(method, path, query, body).content or b"{}")

    def make_bucket(self, name: str) -> None:
        self.ask("PUT", f"/{name}")

    def put(self, bucket: str, name: str, body: bytes) -> Answer:
        return self.ask("PUT", f"/{bucket}/{name}", body=body)

    def put_file(self, bucket: str, name: str, path: Path) -> Answer:
        return self.put(bucket, name, path.read_bytes())

    def get(self, bucket: str, name: str, query: dict[str, str] | None = None) -> bytes:
        return self.ask("GET", f"/{bucket}/{name}", query).content

    def list_page(self, bucket: str, after: str | None) -> tuple[bytes, str | None]:
        """The document of a page of 1000 keys, and the token of the next one."""
        query = {"list-type": "2", "max-keys": "1000"}
        if after is not None:
            query["continuation-token"] = after
        document = self.ask("GET", f"/{bucket}", query).content
        return document, next_token(document)

    def make_dataset(self, name: str, shards: list[str]) -> dict:
        """`name` is BUCKET/NAME; the shards are in the bucket already."""
        self.ask("PUT", f"/_/v1/datasets/{name}")
        return self.commit(name, {"add": shards})

    def commit(self, name: str, change: dict) -> dict:
        return self.json("POST", f"/_/v1/datasets/{name}", {"commit": ""}, change)

    def record(self, request: Request, body: bytes = b"",
               shared_body_bytes: int = 0) -> tuple[bytes, bytes]:
        """A signed request for http_load; with `shared_body_bytes` http_load has its body."""
        return head(request, self.host, self.key, shared_body_bytes or len(body)), body


def next_token(document: bytes) -> str | None:
    """Found without reading the whole document, so that the client is not what is measured."""
    tag = b"<NextContinuationToken>"
    start = document.find(tag)
    if start < 0:
        return None
    text = document[start + len(tag) : document.index(b"<", start + len(tag))]
    return ElementTree.fromstring(b"<a>" + text + b"</a>").text


def keys_of_page(document: bytes) -> list[str]:
    root = ElementTree.fromstring(document)
    return [one.findtext(f"{XML_NAMES}Key", "") for one in root.iter(f"{XML_NAMES}Contents")]


def write_recorded(path: Path, records: Iterable[tuple[bytes, bytes]]) -> Path:
    """The file of `http_load --recorded`."""
    with path.open("wb") as file:
        for request_head, body in records:
            file.write(b"%d %d\n" % (len(request_head), len(body)) + request_head + body)
    return path
