#!/usr/bin/python3
"""Writes uploads.jsonl: uploads as boto3 puts them on the wire, for leat_sigv4_golden_test.

Needs boto3 1.36 or later, which frames bodies as aws-chunked; Debian 12 has an older one, so the
file was written once, with 1.43.11. Nothing is sent: the requests are caught before the socket.
"""

import base64
import datetime
import hashlib
import json
import sys
from pathlib import Path
from urllib.parse import urlsplit

import boto3
import botocore.auth
from botocore.awsrequest import AWSResponse
from botocore.config import Config

NOW = datetime.datetime(2026, 2, 3, 4, 5, 6, tzinfo=datetime.timezone.utc)
ACCESS_KEY, SECRET, REGION = "AKIDEXAMPLE", "se/cr+et=" + "x" * 31, "leat"
BODIES = [b"", b"hello", bytes(range(256)) * 33]


class NoBody:
    """What AWSResponse wants of a raw response."""

    def stream(self):
        return iter(())


class Catcher:
    """Keeps the last request of a client, and answers it as an empty 200."""

    def __init__(self, scheme):
        self.request = None
        self.client = boto3.client(
            "s3", endpoint_url=f"{scheme}://s3.example.com:9000", region_name=REGION,
            aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET,
            config=Config(s3={"addressing_style": "path"}))
        self.client.meta.events.register("before-send.s3", self.catch)

    def catch(self, request, **_):
        self.request = request
        return AWSResponse(request.url, 200, {}, NoBody())

    def row(self, body):
        request = self.request
        wire = request.body if isinstance(request.body, bytes) else request.body.read()
        parts = urlsplit(request.url)
        target = parts.path + ("?" + parts.query if parts.query else "")
        fields = [["Host", parts.netloc]]
        for name, value in request.headers.items():
            if name == "User-Agent":  # it describes the machine
                continue
            fields.append([name, value.decode() if isinstance(value, bytes) else str(value)])
        return {"method": request.method, "target": target, "headers": fields,
                "body": base64.b64encode(wire).decode(), "md5": hashlib.md5(body).hexdigest()}


def rows():
    for scheme in ("http", "https"):
        catcher = Catcher(scheme)
        for body in BODIES:
            for algorithm in ("CRC32", "SHA1", "SHA256") if len(body) < 100 else ("CRC32",):
                catcher.client.put_object(Bucket="b", Key="k é+", Body=body,
                                          ChecksumAlgorithm=algorithm)
                yield catcher.row(body)
            catcher.client.upload_part(Bucket="b", Key="k", UploadId="u/1", PartNumber=2, Body=body)
            yield catcher.row(body)


def main():
    botocore.auth.get_current_datetime = lambda *_, **__: NOW
    head = {"access_key": ACCESS_KEY, "secret": SECRET, "region": REGION,
            "now": NOW.strftime("%Y%m%dT%H%M%SZ")}
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in [head, *rows()])
    Path(sys.argv[1]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
