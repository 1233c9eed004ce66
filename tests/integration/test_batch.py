"""Batches beside single GETs: order, bytes, failures, ends."""

import json
import random
import signal

import pytest
from dataset_client import Incomplete, client_of, members_of, read_frames, tar_of
from s3_node import Node
from store_client import Gone

SEED = 20261117
SAMPLES = 400


def payload_of(number, field):
    dice = random.Random(f"{SEED} {number} {field}")
    return dice.randbytes(dice.choice([0, 1, 700, 4096, 40_000]) if field == "jpg" else 2)


SHARDS = {
    f"train/{part}.tar": [
        (f"{part}-{number:04}.{field}", payload_of(number + 1000 * part, field))
        for number in range(SAMPLES // 4) for field in ("jpg", "cls")]
    for part in range(4)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("batch") / "data"


@pytest.fixture(scope="module")
def node(start_for_module, folder):
    return Node(start_for_module("serve", folder), folder)


@pytest.fixture(scope="module")
def client(node, folder):
    with client_of(node.server, folder) as one:
        one.make_bucket("sets")
        for key, members in SHARDS.items():
            one.put("sets", key, tar_of(members))
        one.put("sets", "plain", bytes(range(256)) * 20)
        one.dataset("PUT", "sets/train", status=201)
        one.commit("sets/train", add=sorted(SHARDS))
        yield one


def items_of(dice, count):
    """Items of every kind, and what each must bring: bytes, or a list of fields."""
    items, wanted = [], []
    plain = bytes(range(256)) * 20
    for _ in range(count):
        key = dice.choice(sorted(SHARDS))
        name, data = dice.choice(SHARDS[key])
        stem = name.split(".")[0]
        fields = [(one.split(".")[1], own) for one, own in SHARDS[key] if one.startswith(stem)]
        kind = dice.randrange(6)
        if kind == 0:
            offset, length = dice.randrange(6000), dice.randrange(6000)
            items.append({"object": "sets/plain", "range": [offset, length]})
            wanted.append(plain[offset:offset + length])
        elif kind == 1:
            items.append({"object": f"sets/{key}", "member": name})
            wanted.append(data)
        elif kind == 2:
            items.append({"object": f"sets/{key}", "member": name, "range": [1, 600]})
            wanted.append(data[1:601])
        elif kind == 3:
            items.append({"object": f"sets/{key}", "sample": stem})
            wanted.append(fields)
        elif kind == 4:
            items.append({"dataset": "sets/train@1", "sample": stem, "fields": ["cls", "jpg"]})
            wanted.append(fields[::-1])
        else:
            row = dice.randrange(SAMPLES)
            key = sorted(SHARDS)[row // (SAMPLES // 4)]
            own = SHARDS[key][2 * (row % (SAMPLES // 4)):][:2]
            items.append({"dataset": "sets/train@1", "row": row})
            wanted.append([(one.split(".")[1], data) for one, data in own])
    return items, wanted


def brought(frame):
    return sorted(frame.fields()) if frame.kind == "sample" else frame.payload


@pytest.mark.parametrize("seed", range(4))
def test_a_batch_brings_what_single_reads_bring(client, seed):
    items, wanted = items_of(random.Random(f"{SEED} {seed}"), 300)
    frames = client.frames(items)
    assert len(frames) == len(items) + 1
    for frame, item, one in zip(frames, items, wanted):
        if item.get("fields"):
            assert frame.fields() == one, item  # in the order that was asked for
        else:
            assert brought(frame) == (sorted(one) if isinstance(one, list) else one), item
    end = json.loads(frames[-1].payload)
    assert end["complete"] and end["items"] == len(items) and end["failed"] == 0


def test_a_hundred_thousand_items(client):
    dice = random.Random(SEED)
    rows = [dice.randrange(SAMPLES) for _ in range(100_000)]
    answer = client.batch([{"row": row} for row in rows], dataset="sets/train@1", fields=["cls"])
    frames = read_frames(answer.body, check=False)
    assert len(frames) == 100_001
    assert json.loads(frames[-1].payload) == {"bytes": 200_000, "complete": True, "failed": 0,
                                              "items": 100_000}
    for frame, row in zip(frames, rows):
        key = sorted(SHARDS)[row // (SAMPLES // 4)]
        assert frame.payload[-2:] == SHARDS[key][2 * (row % (SAMPLES // 4)) + 1][1]
    too_many = client.batch([{"row": 0}] * 100_001, dataset="sets/train@1")
    assert too_many.status == 400


def test_a_tar_of_a_batch(client):
    items, wanted = items_of(random.Random(f"{SEED} tar"), 100)
    members = members_of(client.batch(items, format="tar").body)
    assert members[-1][0] == "__leat__/batch"
    assert json.loads(members[-1][1])["complete"]
    flat = []
    for item, one in zip(items, wanted):
        if isinstance(one, list):
            one = one if item.get("fields") else sorted(one, key=lambda own: own[0] != "jpg")
            flat += [data for _, data in one]
        else:
            flat.append(one)
    assert sorted(data for _, data in members[:-1]) == sorted(flat)


MISSING = [{"object": "sets/no"}, {"object": "none/no"},
           {"object": "sets/train/0.tar", "member": "no"},
           {"object": "sets/train/0.tar", "sample": "no"},
           {"object": "sets/train/0.tar", "sample": "0-0000", "fields": ["no"]},
           {"dataset": "sets/train", "sample": "no"}, {"dataset": "sets/train", "row": 10 ** 9}]


@pytest.mark.parametrize("item", MISSING, ids=str)
def test_what_is_missing_says_so(client, item):
    good = {"object": "sets/plain"}
    refused = client.batch([good, item, good])
    assert refused.status == 404 and b"item 1" in refused.body
    frames = client.frames([good, item, good], on_error="skip")
    assert [one.kind for one in frames] == ["bytes", "error", "bytes", "end"]
    assert frames[1].status == 404
    assert json.loads(frames[1].payload)["error"] == "not_found"
    assert json.loads(frames[3].payload) == {"bytes": 10_240, "complete": False, "failed": 1,
                                             "items": 3}
    last = members_of(client.batch([good, item], on_error="skip", format="tar").body)[-1]
    assert [one["item"] for one in json.loads(last[1])["errors"]] == [1]


def test_a_late_failure_ends_the_answer_and_says_so(client):
    items = [{"object": f"sets/{key}"} for key in SHARDS] + [{"object": "sets/no"},
                                                             {"object": "sets/plain"}]
    frames = client.frames(items)
    assert [one.kind for one in frames] == ["bytes"] * 4 + ["error", "end"]
    assert not json.loads(frames[-1].payload)["complete"]


def test_a_late_failure_of_a_tar_breaks_it_off(client):
    items = [{"object": f"sets/{key}"} for key in SHARDS] + [{"object": "sets/no"}]
    with pytest.raises(Gone):
        client.batch(items, format="tar")


def test_what_is_forbidden_is_said_item_by_item(node, client):
    import botocore.auth
    import botocore.awsrequest
    import botocore.credentials

    access, secret = node.make_key("--read", "sets/plain")
    body = json.dumps({"on_error": "skip", "items": [
        {"object": "sets/plain"}, {"object": "sets/train/0.tar"}, {"object": "sets/no"}]}).encode()
    request = botocore.awsrequest.AWSRequest("POST", node.url + "/_/v1/batch", data=body)
    credentials = botocore.credentials.Credentials(access, secret)
    botocore.auth.S3SigV4Auth(credentials, "s3", "leat").add_auth(request)
    fields = [f"{name}: {value}" for name, value in request.headers.items()]
    answer = node.server.ask("POST /_/v1/batch", fields, body)
    frames = read_frames(answer.body)
    assert [(one.kind, one.status) for one in frames[:3]] == [
        ("bytes", 200), ("error", 403), ("error", 403)]


@pytest.mark.parametrize("body", [
    "", "{", "[]", "{}", '{"items": 1}', '{"items": [1]}', '{"items": [{}]}',
    '{"items": [{"object": "sets"}]}', '{"items": [], "what": 1}',
    '{"items": [{"object": "sets/a", "range": [-1, 2]}]}',
    '{"items": [{"object": "sets/a", "member": "a", "sample": "b"}]}',
    '{"items": [{"object": "sets/a", "fields": ["a"]}]}',
    '{"items": [{"dataset": "sets/train", "sample": "a", "range": [0, 1]}]}',
    '{"items": [{"dataset": "sets/@", "row": 1}]}', '{"items": [], "format": "zip"}',
    "[" * 100_000])
def test_requests_that_mean_nothing_are_refused(client, body):
    assert client.ask("POST", "/_/v1/batch", body.encode()).status == 400


def test_an_empty_batch_is_complete(client):
    (end,) = client.frames([])
    assert json.loads(end.payload) == {"bytes": 0, "complete": True, "failed": 0, "items": 0}


def test_large_items_stream_through(client):
    big = random.Random(SEED).randbytes(20 << 20)
    client.put("sets", "big", big)
    client.put("sets", "big.tar", tar_of([("a.bin", big), ("a.txt", b"t")]))
    frames = read_frames(client.batch([
        {"object": "sets/plain"}, {"object": "sets/big"}, {"object": "sets/big.tar", "sample": "a"},
        {"object": "sets/plain"}]).body, check=False)
    assert frames[1].payload == big
    assert frames[2].fields() == [("bin", big), ("txt", b"t")]
    assert frames[3].payload == frames[0].payload


def test_damage_of_one_item_is_its_own(start, tmp_path):
    """The bytes of one sample are changed on the disk: it fails, its neighbours do not."""
    folder = tmp_path / "data"
    server = start("serve", folder)
    client = client_of(server, folder)
    client.make_bucket("sets")
    marks = [b"mark-%04d-" % number * 20_000 for number in range(8)]
    client.put("sets", "a.tar", tar_of([(f"{i}.bin", data) for i, data in enumerate(marks)]))
    server.stop()
    hits = 0
    for path in folder.rglob("*"):
        if path.is_file() and marks[3] in (data := path.read_bytes()):
            middle = data.index(marks[3]) + len(marks[3]) // 2  # in a block of its own
            path.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1:])
            hits += 1
    assert hits == 1
    server = start("serve", folder)
    client = client_of(server, folder)
    items = [{"object": "sets/a.tar", "sample": str(i)} for i in range(8)]
    frames = read_frames(client.batch(items, on_error="skip").body, check=False)
    assert [one.kind for one in frames] == ["sample"] * 3 + ["error"] + ["sample"] * 4 + ["end"]
    assert json.loads(frames[3].payload)["error"] == "corrupt"
    assert [frame.fields()[0][1] for frame in frames[:3] + frames[4:8]] == marks[:3] + marks[4:]


def test_an_answer_that_is_cut_never_looks_complete(start, tmp_path):
    """The server is killed while it answers: whatever came has no end."""
    folder = tmp_path / "data"
    server = start("serve", folder)
    client = client_of(server, folder)
    client.make_bucket("sets")
    client.put("sets", "big", random.Random(SEED).randbytes(32 << 20))
    body = json.dumps({"items": [{"object": "sets/big"}] * 20}).encode()
    with server.connect(receive_buffer=65536) as connection:
        server.connections.remove(connection)
        connection.send(connection.head("POST /_/v1/batch", [
            f"Authorization: Bearer {client.token}", f"Content-Length: {len(body)}"]), body)
        connection.answer_head()
        server.signal(signal.SIGKILL)
        server.wait()
        got = bytearray()
        try:
            while True:  # what came with the head, then the rest
                got += connection.take(1)
        except (ConnectionError, AssertionError):
            pass
    with pytest.raises(Incomplete):
        read_frames(unchunked(bytes(got)), check=False)


def unchunked(data):
    out, at = b"", 0
    while (end := data.find(b"\r\n", at)) >= 0:
        size = int(data[at:end], 16)
        assert size > 0, "the last chunk came"
        out += data[end + 2:end + 2 + size]
        at = end + 4 + size
    return out
