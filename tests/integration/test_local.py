"""Open files for clients of the same machine: tickets over HTTP, files over the Unix socket.

The client here is written from docs/formats/handover.md, in Python; that of C++ is run by
tests/support/local_read.cc.
"""

import array
import json
import os
import re
import signal
import socket
import struct
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from file_content import content
from leat_process import ROOT, WAIT_SECONDS, clean_environment, run_leat, wait_until
from s3_node import REGION, Node, make_bucket

MIB = 1 << 20
BLOCK = 64 << 10
HEAD = struct.Struct("<8sIIIIQ")


def crc32c(data):
    """Slow; for a few blocks."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _table():
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        yield value


_CRC = list(_table())


@pytest.fixture(scope="module")
def node(start_for_module, tmp_path_factory):
    folder = tmp_path_factory.mktemp("local") / "data"
    return Node(start_for_module("serve", folder), folder)


@pytest.fixture(scope="module")
def bucket(node):
    return make_bucket(node, "shards")


def post(node, body, key=None):
    """(status, JSON) of POST /_/v1/local, signed."""
    request = AWSRequest("POST", f"{node.url}/_/v1/local", data=json.dumps(body))
    S3SigV4Auth(Credentials(*(key or node.key)), "s3", REGION).add_auth(request)
    sent = urllib.request.Request(request.url, request.data.encode(), dict(request.headers))
    try:
        with urllib.request.urlopen(sent, timeout=WAIT_SECONDS) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def admit(node, key, etag=None, signer=None):
    """The name of the socket, and what is said of one object."""
    wanted = {"object": f"shards/{key}"} | ({"etag": etag} if etag else {})
    status, said = post(node, {"objects": [wanted]}, signer)
    assert status == 200, said
    return said["socket"], said["objects"][0]


def connect(name):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(WAIT_SECONDS)
    client.connect("\0" + name[1:] if name.startswith("@") else name)
    return client


def receive(client):
    """(status, [(descriptor, size, checksums)]) or (status, message); (None, None) at the end."""
    passed = array.array("i")
    text = b""
    wanted = HEAD.size
    while len(text) < wanted:
        piece, control, flags, _ = client.recvmsg(wanted - len(text),
                                                  socket.CMSG_SPACE(253 * passed.itemsize))
        assert not flags & socket.MSG_CTRUNC
        for level, kind, data in control:
            assert (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
            passed.frombytes(data)
        if not piece and not text:
            return None, None
        assert piece, "cut"
        text += piece
        if len(text) == HEAD.size:
            magic, status, count, block, zero, length = HEAD.unpack(text)
            assert (magic, block, zero, count) == (b"LEATHND1", BLOCK, 0, len(passed))
            wanted += length
    assert struct.unpack("<I", text[-4:])[0] == crc32c(text[:-4])
    body = text[HEAD.size:-4]
    if status != 200:
        assert not passed
        return status, body.decode()
    files = []
    for descriptor in passed:
        size, = struct.unpack_from("<Q", body)
        blocks = -(-size // BLOCK)
        files.append((descriptor, size, struct.unpack_from(f"<{blocks}I", body, 8)))
        body = body[8 + 4 * blocks:]
    assert not body
    return 200, files


def redeem(name, ticket):
    with connect(name) as client:
        client.sendall(bytes.fromhex(ticket))
        return receive(client)


def open_files(node, key):
    name, said = admit(node, key)
    status, files = redeem(name, said["ticket"])
    assert status == 200, files
    return files


def read_all(files):
    return b"".join(os.pread(descriptor, size, 0) for descriptor, size, _ in files)


def close_all(files):
    for descriptor, _, _ in files:
        os.close(descriptor)


def test_a_large_object_is_read_from_its_files(node, bucket):
    body = content(150 * MIB + 12345)
    etag = bucket.put("large", body)["ETag"].strip('"')
    name, said = admit(node, "large", etag)
    assert (said["status"], said["size"], said["etag"]) == (200, len(body), etag)
    status, files = redeem(name, said["ticket"])
    assert status == 200
    assert [size for _, size, _ in files] == [64 * MIB, 64 * MIB, 22 * MIB + 12345]
    assert read_all(files) == body
    for descriptor, size, sums in files:
        for block in (0, len(sums) - 1):
            data = os.pread(descriptor, min(BLOCK, size - block * BLOCK), block * BLOCK)
            assert crc32c(data) == sums[block]
    close_all(files)


def test_a_descriptor_is_for_reading_and_nobody_elses(node, bucket):
    bucket.put("ours", content(2 * MIB))
    first, second = open_files(node, "ours"), open_files(node, "ours")
    with pytest.raises(OSError):
        os.write(first[0][0], b"x")
    with pytest.raises(OSError):
        os.ftruncate(first[0][0], 0)
    os.lseek(first[0][0], 1000, os.SEEK_SET)
    assert os.lseek(second[0][0], 0, os.SEEK_CUR) == 0
    assert bucket.read("ours") == content(2 * MIB)
    close_all(first + second)


def test_a_ticket_is_good_once(node, bucket):
    bucket.put("once", content(2 * MIB))
    name, said = admit(node, "once")
    with connect(name) as client:
        client.sendall(bytes.fromhex(said["ticket"]))
        status, files = receive(client)
        assert status == 200
        close_all(files)
        client.sendall(bytes.fromhex(said["ticket"]))
        assert receive(client) == (404, "the ticket is unknown, used or too old")
        assert receive(client) == (None, None), "the node hangs up"


def test_forged_tickets_get_nothing(node, bucket):
    bucket.put("wanted", content(2 * MIB))
    name, said = admit(node, "wanted")
    forged = bytes.fromhex(said["ticket"])
    forged = forged[:-1] + bytes([forged[-1] ^ 1])
    for ticket in (forged, bytes(16), b"GET / HTTP/1.1\r\n"):
        assert redeem(name, ticket.hex())[0] == 404
    refused = node.server.metric("leat_local_tickets_refused_total")
    assert refused >= 3
    assert '"user":' in node.server.log()


def test_without_the_right_there_is_no_ticket(node, bucket):
    bucket.put("secret", content(2 * MIB))
    other = node.make_key("--read", "shards/public/")
    _, said = admit(node, "secret", signer=other)
    assert said["status"] == 403 and "ticket" not in said
    assert post(node, {"objects": []}, key=(node.key[0], "guess"))[0] == 403
    assert node.server.ask("POST /_/v1/local", body=b'{"objects":[]}').status == 401


def test_small_and_missing_objects_are_said_to_be(node, bucket):
    bucket.put("small", b"few")
    assert admit(node, "small")[1]["error"] == "not_implemented"
    assert admit(node, "missing")[1]["status"] == 404
    bucket.put("large-2", content(2 * MIB))
    assert admit(node, "large-2", "another")[1]["status"] == 412


def test_a_replaced_version_is_read_to_its_end(node, bucket):
    old, new = content(3 * MIB), content(3 * MIB, seed=7)
    bucket.put("replaced", old)
    files = open_files(node, "replaced")
    name, unused = admit(node, "replaced")
    bucket.put("replaced", new)
    assert read_all(files) == old
    again = open_files(node, "replaced")
    assert read_all(again) == new
    bucket.client.delete_object(Bucket="shards", Key="replaced")
    assert read_all(files) == old
    path = os.readlink(f"/proc/self/fd/{files[0][0]}")
    wait_until(lambda: not Path(path.removesuffix(" (deleted)")).exists(), "the file to be removed")
    assert os.fstat(files[0][0]).st_nlink == 0, "its space is free when it is closed"
    assert redeem(name, unused["ticket"])[0] == 404, "it was for the version that is gone"
    assert read_all(files) == old
    close_all(files + again)


def test_parts_of_an_upload_are_files(node, bucket):
    parts = [content(5 * MIB + i, seed=i) for i in range(3)]
    made = bucket.client.create_multipart_upload(Bucket="shards", Key="parts")
    done = []
    for number, part in enumerate(parts, 1):
        etag = bucket.client.upload_part(Bucket="shards", Key="parts", UploadId=made["UploadId"],
                                         PartNumber=number, Body=part)["ETag"]
        done.append({"PartNumber": number, "ETag": etag})
    bucket.client.complete_multipart_upload(Bucket="shards", Key="parts",
                                            UploadId=made["UploadId"],
                                            MultipartUpload={"Parts": done})
    files = open_files(node, "parts")
    assert len(files) == 3 and read_all(files) == b"".join(parts)
    close_all(files)


def test_the_node_keeps_no_descriptor_of_what_it_passed(node, bucket):
    bucket.put("kept", content(2 * MIB))
    close_all(open_files(node, "kept"))
    before = node.server.descriptors()
    for _ in range(50):
        close_all(open_files(node, "kept"))
    wait_until(lambda: node.server.descriptors() <= before + 2, "descriptors to be closed")
    assert node.server.metric("leat_local_connections") == 0


def test_a_client_that_does_not_read_holds_up_nobody(node, bucket):
    bucket.put("stuck", content(2 * MIB))
    wanted = {"objects": [{"object": "shards/stuck"}] * 1000}
    said = post(node, wanted)[1]
    with connect(said["socket"]) as stuck:
        stuck.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody listens to it any more
            for one in said["objects"]:
                assert stuck.send(bytes.fromhex(one["ticket"])) == 16
        close_all(open_files(node, "stuck"))
    wait_until(lambda: node.server.metric("leat_local_connections") == 0, "it to be let go")


def test_stopping_cuts_connections_and_what_was_passed_stays_good(start, tmp_path):
    node = Node(start("serve", tmp_path / "data"), tmp_path / "data")
    body = content(2 * MIB)
    make_bucket(node, "shards").put("kept", body)
    name, said = admit(node, "kept")
    files = open_files(node, "kept")
    with connect(name) as idle:
        node.server.signal(signal.SIGTERM)
        assert receive(idle) == (None, None)
        assert node.server.wait() == 0
    assert read_all(files) == body
    with pytest.raises(ConnectionRefusedError):
        connect(name)
    again = Node(start("serve", tmp_path / "data"), tmp_path / "data")
    fresh, _ = admit(again, "kept")
    assert fresh != name
    assert redeem(fresh, said["ticket"])[0] == 404, "tickets end with the process"
    close_all(files)


def test_a_path_can_be_chosen_and_is_taken_over_after_a_crash(start, tmp_path):
    path = tmp_path / "socket"
    options = ("serve", tmp_path / "data", "--local-socket", path)
    node = Node(start(*options), tmp_path / "data")
    make_bucket(node, "shards").put("big", content(2 * MIB))
    assert admit(node, "big")[0] == str(path)
    assert path.stat().st_mode & 0o777 == 0o666
    node.server.signal(signal.SIGKILL)
    node.server.wait()
    assert path.exists()
    again = Node(start(*options), tmp_path / "data")
    files = open_files(again, "big")
    assert read_all(files) == content(2 * MIB)
    close_all(files)
    again.server.stop()
    assert not path.exists()


def test_it_can_be_turned_off(start, tmp_path):
    node = Node(start("serve", tmp_path / "data", "--local-socket", "off"), tmp_path / "data")
    status, said = post(node, {"objects": []})
    assert (status, said["error"]) == (501, "not_implemented")
    assert not any("leat-" in line and "@" in line for line in node.server.open_files())


def test_a_setting_that_is_no_name_is_refused(tmp_path):
    for name in ("relative", "/" + "x" * 200):
        ended = run_leat("serve", tmp_path / "data", "--local-socket", name,
                         "--listen", "127.0.0.1:0")
        assert ended.returncode == 2 and "local.socket" in ended.stderr, ended


# The client of C++.

def local_read(node, *words):
    program = Path(os.environ.get("LEAT_LOCAL_READ",
                                  ROOT / "build/dev/tests/support/leat_local_read"))
    environment = clean_environment(AWS_ACCESS_KEY_ID=node.key[0],
                                    AWS_SECRET_ACCESS_KEY=node.key[1])
    return subprocess.run([program, node.url, *map(str, words)], env=environment,
                          capture_output=True, timeout=WAIT_SECONDS)


def test_the_loaders_client_reads_the_same_bytes(node, bucket):
    body = content(70 * MIB + 321)
    etag = bucket.put("loader", body)["ETag"].strip('"')
    ended = local_read(node, "cat", "shards/loader", etag)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == body
    assert b"not_implemented" in local_read(node, "cat", "shards/small", "").stderr
    refused = local_read(node, "cat", "shards/loader", "another")
    assert refused.returncode == 1 and b"precondition_failed" in refused.stderr


def test_the_loaders_client_never_hands_on_a_wrong_byte(node, bucket):
    body = content(3 * MIB)
    bucket.put("damaged", body)
    files = open_files(node, "damaged")
    path = os.readlink(f"/proc/self/fd/{files[0][0]}")
    close_all(files)
    with open(path, "r+b") as file:
        file.seek(MIB + 5)
        byte = file.read(1)
        file.seek(MIB + 5)
        file.write(bytes([byte[0] ^ 1]))
    ended = local_read(node, "cat", "shards/damaged", "")
    assert ended.returncode == 1
    assert re.search(rb"corrupt: file 1 of 1, from offset 1048576", ended.stderr), ended.stderr
    assert body.startswith(ended.stdout), "what came before the damage"
