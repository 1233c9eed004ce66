#!/usr/bin/python3
"""Writes requests.jsonl: requests that botocore signed, for leat_sigv4_golden_test.

Everything is drawn from one seed and signed at one instant, so any version of botocore writes the
same file: tests/integration/test_sigv4_golden.py compares.
"""

import argparse
import datetime
import json
import random
import sys
from pathlib import Path
from urllib.parse import urlsplit

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.utils import percent_encode, percent_encode_sequence

SEED = 4
REQUESTS = 240
NOW = datetime.datetime(2026, 2, 3, 4, 5, 6, tzinfo=datetime.timezone.utc)
ACCESS_KEY, SECRET = "AKIDEXAMPLE", "se/cr+et=" + "x" * 31
KEY_PIECES = ["a", "B", "7", "-", "_", ".", "~", "/", "//", "/./", "/../", " ", "+", "=", "%",
              "%41",
              "&", "?", "#", ":", ";", ",", "@", "!", "$", "'", "(", ")", "*", "\"", "<", ">", "\\",
              "^", "`", "{", "|", "}", "[", "]", "é", "漢", "😀", "\x7f", "\x01", "\t", "\n"]
VALUE_PIECES = ["a", "Z", "0", " ", "  ", "\t", ",", ";", "=", "\"", "/", "é", "%20", "+", "a b"]
QUERY_NAMES = ["prefix", "delimiter", "marker", "uploads", "uploadId", "partNumber", "versionId",
               "list-type", "x-id", "A", "a", "é", "a b", "a+b", "a-b", "a.b", "X-Amz-Meta"]


class FixedClock(datetime.datetime):
    """Old versions of botocore ask datetime, new ones a function of their own."""

    @classmethod
    def utcnow(cls):
        return NOW.replace(tzinfo=None)


def stop_the_clock():
    if hasattr(botocore.auth, "get_current_datetime"):
        botocore.auth.get_current_datetime = lambda *_, **__: NOW
    else:
        botocore.auth.datetime = argparse.Namespace(datetime=FixedClock)


def text_from(rng, pieces, most):
    return "".join(rng.choice(pieces) for _ in range(rng.randint(0, most)))


def draw_request(rng):
    key = text_from(rng, KEY_PIECES, 12)
    host = rng.choice(["s3.example.com", "bucket.s3.local:9000", "127.0.0.1:8080"])
    url = "http://" + host + "/" + percent_encode("bucket/" + key, safe="/~")
    names = rng.sample(QUERY_NAMES, rng.randint(0, 5))
    query = {name: text_from(rng, KEY_PIECES, 6) for name in names}
    if query:
        url += "?" + percent_encode_sequence(query)
    request = AWSRequest(method=rng.choice(["GET", "PUT", "HEAD", "DELETE", "POST"]), url=url)
    request.headers["Host"] = host
    for number in range(rng.randint(0, 4)):
        value = "v" + text_from(rng, VALUE_PIECES, 8) + "v"
        request.headers[rng.choice(["X-Amz-Meta-", "x-amz-meta-"]) + str(number)] = value
        if rng.random() < 0.2:
            request.headers.add_header("x-amz-meta-" + str(number), value[::-1])
    if rng.random() < 0.3:
        request.headers["Range"] = "bytes=0-9"
    if rng.random() < 0.3:
        request.headers["Content-Type"] = "text/plain; charset=utf-8"
    return request


def signer_of(rng, presigned, region):
    token = text_from(rng, ["a", "/", "+", "="], 20) or None
    credentials = Credentials(ACCESS_KEY, SECRET, token if rng.random() < 0.5 else None)
    if presigned:
        expires = rng.choice([1, 3600, 604800])
        return botocore.auth.S3SigV4QueryAuth(credentials, "s3", region, expires=expires)
    return botocore.auth.S3SigV4Auth(credentials, "s3", region)


def line_of(rng):
    presigned = rng.random() < 0.4
    region = rng.choice(["us-east-1", "leat"])
    request = draw_request(rng)
    signer = signer_of(rng, presigned, region)
    if not presigned and request.method in ("PUT", "POST"):
        request.data = text_from(rng, VALUE_PIECES, 20).encode()
    signer.add_auth(request)
    parts = urlsplit(request.url)
    target = parts.path + ("?" + parts.query if parts.query else "")
    # Fields in another order and with other fields among them than they were signed in.
    fields = [[name, str(value)] for name, value in request.headers.items()]
    fields += [["User-Agent", "any"], ["Accept-Encoding", "identity"]]
    fields.sort(key=lambda field: field[0].lower()[::-1])
    return {"method": request.method, "target": target, "headers": fields}


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("output", nargs="?", type=Path, help="default: standard output")
    output = options.parse_args().output
    stop_the_clock()
    rng = random.Random(SEED)
    head = {"access_key": ACCESS_KEY, "secret": SECRET, "region": "leat",
            "now": NOW.strftime("%Y%m%dT%H%M%SZ")}
    rows = [head] + [line_of(rng) for _ in range(REQUESTS)]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if output:
        output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.buffer.write(text.encode())


if __name__ == "__main__":
    main()
