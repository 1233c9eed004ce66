"""Cases of the abuse list against the real program, and that the list names tests that are there.

tests/abuse_cases.md has all cases; most are unit tests beside the code.
"""

import hashlib
import json
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import pytest

from http_wire import Connection
from leat_process import ROOT, run_leat, wait_until
from s3_node import REGION, Bucket, Node, make_bucket, refused

CASES = 62
MIB = 1 << 20


@pytest.fixture(scope="module")
def node(start_for_module, tmp_path_factory):
    folder = tmp_path_factory.mktemp("s3abuse") / "data"
    return Node(start_for_module("serve", folder), folder)


@pytest.fixture
def bucket(node, request):
    """A bucket of this test's own, with a client for it."""
    return make_bucket(node, f"t-{hashlib.md5(request.node.name.encode()).hexdigest()[:20]}")


def signed(node, method, path, body=b"", secret=None, **more):
    """The head of a request as botocore signs it; `more` are fields."""
    fields = {name.replace("_", "-"): value for name, value in more.items()}
    request = botocore.awsrequest.AWSRequest(method, node.url + path, data=body, headers=fields)
    credentials = botocore.credentials.Credentials(node.key[0], secret or node.key[1])
    botocore.auth.S3SigV4Auth(credentials, "s3", REGION).add_auth(request)
    lines = [f"{method} {path} HTTP/1.1", f"Host: {urlsplit(node.url).netloc}"]
    lines += [f"{name}: {value}" for name, value in request.headers.items()
              if name.lower() != "host"]
    return lines


def head(*lines):
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def descriptors(node):
    return len(os.listdir(f"/proc/{node.server.pid}/fd"))


def test_abuse_24_a_put_without_length_and_without_chunks(node, bucket):
    with Connection(node.server.address) as connection:
        connection.send(head(*signed(node, "PUT", f"/{bucket.name}/k")))
        answer = connection.answer()
    assert answer.status == 411
    assert bucket.keys() == []


@pytest.mark.parametrize("secret", [None, "wrong"])
def test_abuse_31_continue_is_for_good_credentials(node, bucket, secret):
    body = b"x" * 100_000
    with Connection(node.server.address) as connection:
        connection.send(head(*signed(node, "PUT", f"/{bucket.name}/k", body, secret),
                             f"Content-Length: {len(body)}", "Expect: 100-continue"))
        if secret is None:
            connection.send(body)
        answer = connection.answer()
    assert (answer.status, answer.interim) == ((200, [100]) if secret is None else (403, []))
    assert bucket.keys() == (["k"] if secret is None else [])


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_abuse_32_clients_that_leave_keep_nothing_open(node, bucket, method):
    bucket.put("there", b"x" * 8 * MIB)
    before = descriptors(node)
    for number in range(200):
        with Connection(node.server.address, receive_buffer=4096) as connection:
            if method == "GET":
                connection.send(head(*signed(node, "GET", f"/{bucket.name}/there")))
                connection.socket.recv(1)
            else:
                body = b"x" * MIB
                connection.send(head(*signed(node, "PUT", f"/{bucket.name}/gone", body),
                                     f"Content-Length: {len(body)}"), body[:number * 1000])
    # What the store keeps open for itself may grow by a few.
    wait_until(lambda: descriptors(node) <= before + 8, "descriptors of clients that left")
    assert bucket.keys() == ["there"]


def test_abuse_36_names_of_buckets(node):
    client = node.client()
    # botocore has a pattern of its own, which these pass.
    for name in ("192.168.5.4", "xn--abc", "abc-s3alias", "a..b", "Upper"):
        assert refused(client.create_bucket, Bucket=name) == (400, "InvalidBucketName"), name
    assert refused(client.create_bucket, Bucket="metrics")[0] == 401, "a page of Leat's own"


def test_abuse_37_a_key_is_no_path_on_the_disk(node, bucket):
    for key in ("../../../escaped", "/etc/passwd", "a/../../b", "..%2f..%2fc"):
        bucket.put(key, key.encode())
        assert bucket.read(key) == key.encode()
    outside = node.folder.parent
    assert [one.name for one in outside.iterdir()] == [node.folder.name]
    names = [Path(name) for _, _, files in os.walk(node.folder) for name in files]
    assert not [name for name in names if "escaped" in name.name or "passwd" in name.name]


def test_abuse_39_there_is_no_mount():
    """Nothing takes keys for names of files but `leat get`, which has tests of its own."""
    for words in (["mount"], ["fuse"], ["mount", "photos", "/mnt"]):
        ended = run_leat(*words)
        assert ended.returncode == 2 and "unknown command" in ended.stderr, ended


# What other stores have for their nodes, and what Leat may have one day.
BETWEEN_NODES = ["/minio/storage/v1/readall", "/minio/peer/v1/getlocks", "/minio/grid/v1",
                 "/_/v1/rpc", "/_/v1/nodes", "/_/v1/internal/read", "/_/v1/peer", "/_/internal",
                 "/_/v1/../../etc/passwd", "/_/v2/nodes", "/rustfs/rpc/read_file_stream"]


def test_abuse_40_and_53_there_is_nothing_between_nodes(node):
    for path in BETWEEN_NODES:
        for method in ("GET", "POST", "PUT", "DELETE"):
            for fields in ([], signed(node, method, path)[2:]):
                with Connection(node.server.address) as connection:
                    connection.send(head(f"{method} {path} HTTP/1.1",
                                         f"Host: {urlsplit(node.url).netloc}",
                                         *([] if method == "GET" else ["Content-Length: 0"]),
                                         *[one for one in fields
                                           if not one.lower().startswith("content-length")]))
                    assert connection.answer().status in (400, 401, 403, 404, 405, 501), (
                        method, path, fields)
    assert node.client().list_buckets()["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_abuse_53_a_node_listens_once(node):
    """No second port that other nodes would come to."""
    links = [os.readlink(one) for one in Path(f"/proc/{node.server.pid}/fd").iterdir()]
    sockets = {one[len("socket:["):-1] for one in links if one.startswith("socket:[")}
    listening = set()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{node.server.pid}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            is_open = words[3] == "0A" or table.startswith("udp")
            if is_open and words[9] in sockets:
                listening.add(int(words[1].rsplit(":", 1)[1], 16))
    assert listening == {node.server.address[1]}


def test_documents_take_memory_as_they_arrive(node, bucket):
    """A length that is only announced costs nothing."""
    upload = bucket.client.create_multipart_upload(Bucket=bucket.name, Key="k")["UploadId"]
    path = f"/{bucket.name}/k?uploadId={upload}"
    count, announced = 64, 2 * MIB - 1
    lines = signed(node, "POST", path, b"x" * announced)
    lines = [one for one in lines if not one.lower().startswith("content-length")]
    before = node.server.rss_bytes()
    connections = [Connection(node.server.address) for _ in range(count)]
    try:
        for connection in connections:
            connection.send(head(*lines, f"Content-Length: {announced}", "Expect: 100-continue"))
        for connection in connections:
            # It waits for the body now.
            assert connection.socket.recv(100).startswith(b"HTTP/1.1 100")
        assert node.server.rss_bytes() - before < count * announced / 4
    finally:
        for connection in connections:
            connection.close()


def test_abuse_51_and_54_secrets_are_made_once_and_never_written(node, bucket):
    bucket.put("k", b"x", Metadata={"a": "b"})
    other = node.make_key("--read", bucket.name)
    wrong = Bucket(node.client((node.key[0], "wrong-secret-of-a-client")), bucket.name)
    assert refused(wrong.get, key="k") == (403, "SignatureDoesNotMatch")
    url = bucket.client.generate_presigned_url("get_object",
                                               Params={"Bucket": bucket.name, "Key": "none"})
    signature = re.search("X-Amz-Signature=([0-9a-f]+)", url)[1]
    with Connection(node.server.address) as connection:
        parts = urlsplit(url)
        connection.send(head(f"GET {parts.path}?{parts.query} HTTP/1.1", f"Host: {parts.netloc}"))
        assert connection.answer().status == 404
    token = (node.folder / "admin-token").read_text().strip()
    log = node.server.log()
    for secret in (node.key[1], other[1], token, signature, "wrong-secret-of-a-client"):
        assert secret not in log
    seal = json.loads((node.folder / "keys.json").read_text())["seal"]
    assert seal not in log
    shown = run_leat("config", "show")
    assert shown.returncode == 0 and token not in shown.stdout


def core_limits(pid):
    limits = Path(f"/proc/{pid}/limits").read_text()
    return re.search(r"Max core file size +(\S+) +(\S+)", limits).groups()


def test_abuse_08_and_54_a_server_that_is_told_to_be_strict(node, start, tmp_path):
    assert core_limits(node.server.pid) == ("0", "0")
    folder = tmp_path / "data"
    strict = Node(start("serve", folder, "--s3-require-signed-payload", "true",
                        "--core-dumps", "true"), folder)
    assert core_limits(strict.server.pid) == core_limits("self")
    bucket = make_bucket(strict, "strict")
    bucket.put("k", b"signed")
    where = {"Bucket": bucket.name, "Key": "k"}
    url = bucket.client.generate_presigned_url("put_object", Params=where)
    for body, status in ((b"changed on its way", 403), (b"", 200)):
        with Connection(strict.server.address) as connection:
            parts = urlsplit(url)
            connection.send(head(f"PUT {parts.path}?{parts.query} HTTP/1.1",
                                 f"Host: {parts.netloc}", f"Content-Length: {len(body)}"), body)
            assert connection.answer().status == status


def test_abuse_52_access_keys_open_s3_and_nothing_else(node):
    for path in ("/_/v1/keys", "/_/v1/disks", "/_/v1/buckets"):
        with Connection(node.server.address) as connection:
            connection.send(head(*signed(node, "GET", path)))
            assert connection.answer().status in (401, 403), path
    with Connection(node.server.address) as connection:
        connection.send(head("GET /metrics HTTP/1.1", f"Host: {urlsplit(node.url).netloc}",
                             "X-Forwarded-For: 203.0.113.9"))
        assert connection.answer().status in (401, 403)


def test_abuse_57_who_guesses_learns_nothing(node):
    """There is no login; a wrong token is told neither what is right nor what is there."""
    answers = set()
    for path in ("/_/v1/keys", "/_/v1/objects/none/none", "/_/v1/none"):
        for token in ("wrong", "x" * 64):
            with Connection(node.server.address) as connection:
                connection.send(head(f"GET {path} HTTP/1.1", "Host: s",
                                     f"Authorization: Bearer {token}"))
                answer = connection.answer()
                answers.add((answer.status, answer.body))
    assert len(answers) == 1, answers


def rows():
    text = (ROOT / "tests/abuse_cases.md").read_text()
    return re.findall(r"^\| (\d+) \| ([^|]*) \| ([^|]*) \|$", text, re.MULTILINE)


def named_tests():
    names = set()
    for file in (ROOT / "src").rglob("*_test.cc"):
        for suite, name in re.findall(r"^TEST(?:_[FP])?\((\w+), (\w+)\)", file.read_text(), re.M):
            names.add(f"{suite}.{name}")
    for file in (ROOT / "tests").rglob("test_*.py"):
        names |= {f"{file.name}::{name}" for name in
                  re.findall(r"^def (test_\w+)\(", file.read_text(), re.M)}
    return names


def test_every_abuse_case_has_tests_or_a_reason():
    listed = rows()
    assert [int(number) for number, _, _ in listed] == list(range(1, CASES + 1))
    there = named_tests()
    for number, _, answer in listed:
        named = re.findall(r"`([^`]+)`", answer)
        assert named or "not there" in answer, f"case {number} has neither test nor reason"
        missing = [name for name in named if name not in there]
        assert not missing, f"case {number} names tests that are not there: {missing}"


def test_every_test_that_names_a_case_is_listed():
    table = {int(number): answer for number, _, answer in rows()}
    for name in named_tests():
        short = name.split("::")[-1]
        numbers = re.findall(r"(?:\.Abuse|And|abuse_|and_)(\d\d)(?=[A-Z_])", short)
        for number in map(int, numbers if "buse" in short else []):
            assert f"`{name}`" in table[number], f"{name} is not listed under {number}"
