"""A client of Leat's own API (/_/v1/): buckets, objects, listings and disks.

Every call gives the Answer, whatever its status. Gone means that no whole answer came: the server
died, or it cut the connection because it could not go on.
"""

import json
import re
from urllib.parse import quote

from http_wire import Connection


class Gone(Exception):
    """No whole answer came."""


class StoreClient:
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

    def ask(self, request_line, body=b""):
        """One request on a connection that is kept."""
        fields = [f"Authorization: Bearer {self.token}"]
        if request_line.startswith("POST ") and not body:
            fields.append("Content-Length: 0")
        try:
            if self._connection is None:
                self._connection = Connection(self.address)
            answer = self._connection.ask(request_line, fields, body)
        except OSError as error:  # ConnectionError and timeouts are
            self.close()
            raise Gone(f"{request_line}: {error!r}") from error
        if answer.field("connection") == "close":
            self.close()
        return answer

    # Buckets.

    def make_bucket(self, name, **options):
        return self.ask(f"PUT /_/v1/buckets/{name}", json.dumps(options).encode())

    def buckets(self):
        """{name: what the server says of it}"""
        return {one["name"]: one for one in self._told("GET /_/v1/buckets")["buckets"]}

    def disks(self):
        return self._told("GET /_/v1/disks")["disks"]

    def list(self, bucket, page=1000):
        """{key: size} of a bucket, page by page; RuntimeError when a page is refused."""
        found, after = {}, ""
        while True:
            page_of = self._told(f"GET /_/v1/list/{bucket}?max={page}&after={after}")
            for one in page_of["objects"]:
                assert one["key"] not in found, f"{one['key']} is listed twice"
                found[one["key"]] = one["size"]
            if not page_of["is_truncated"]:
                assert list(found) == sorted(found), f"{bucket} is not listed in order"
                return found
            after = page_of["next_after"]

    def _told(self, request_line):
        answer = self.ask(request_line)
        if answer.status != 200:
            raise RuntimeError(f"{request_line}: {answer.status} {answer.body!r}")
        return json.loads(answer.body)

    # Objects.

    def get(self, bucket, key):
        return self.ask(f"GET {_path(bucket, key)}")

    def put(self, bucket, key, data):
        return self.ask(f"PUT {_path(bucket, key)}", data)

    def delete(self, bucket, key):
        return self.ask(f"DELETE {_path(bucket, key)}")

    def undelete(self, bucket, key):
        return self.ask(f"POST {_path(bucket, key)}?undelete")

    def copy(self, bucket, key, source):
        return self.ask(f"POST {_path(bucket, key)}?copy={source[0]}/{quote(source[1])}")

    def put_in_parts(self, bucket, key, parts):
        """An upload in parts, by S3: that of its completion, or the answer that kept it from it."""
        path = f"/{bucket}/{quote(key)}"
        begun = self.ask(f"POST {path}?uploads")
        if begun.status != 200:
            return begun
        upload = re.search(b"<UploadId>(.*)</UploadId>", begun.body)[1].decode()
        named = ""
        for number, data in enumerate(parts, 1):
            answer = self.ask(f"PUT {path}?uploadId={upload}&partNumber={number}", data)
            if answer.status != 200:
                break
            named += (f"<Part><PartNumber>{number}</PartNumber>"
                      f"<ETag>{answer.field('etag')}</ETag></Part>")
        else:
            body = f"<CompleteMultipartUpload>{named}</CompleteMultipartUpload>".encode()
            answer = self.ask(f"POST {path}?uploadId={upload}", body)
        if answer.status != 200:
            self.ask(f"DELETE {path}?uploadId={upload}")
        return answer


def _path(bucket, key):
    return f"/_/v1/objects/{bucket}/{quote(key)}"
