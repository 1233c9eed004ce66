"""Reads into shards: members, samples, projections, beside what Python and tar make of the tar."""

import io
import json
import random
import subprocess
import tarfile
from urllib.parse import quote

import pytest
from dataset_client import client_of, members_of, tar_of
from leat_process import need
from s3_client import installed
from s3_node import Node

SEED = 20261117


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("shards") / "data"


@pytest.fixture(scope="module")
def node(start_for_module, folder):
    return Node(start_for_module("serve", folder), folder)


@pytest.fixture(scope="module")
def client(node, folder):
    with client_of(node.server, folder) as one:
        one.make_bucket("sets")
        yield one


def samples(dice, count, largest):
    """Members of samples with some of the fields jpg, cls and json, and a member of none."""
    members = [("README", b"of no sample")]
    for number in range(count):
        for field in ("jpg", "cls", "seg.png"):
            if field == "jpg" or dice.random() < 0.8:
                data = dice.randbytes(dice.choice([0, 1, 511, 512, 513, dice.randrange(largest)]))
                members.append((f"d/{number:05}.{field}", data))
    return members


# A small shard lies in a segment, a large one in files with its index behind it.
SIZES = {"small": (20, 2_000), "large": (300, 40_000)}


@pytest.fixture(scope="module", params=SIZES)
def shard(request, client):
    dice = random.Random(f"{SEED} {request.param}")
    members = samples(dice, *SIZES[request.param])
    data = tar_of(members)
    client.put("sets", f"{request.param}.tar", data)
    return f"{request.param}.tar", members, data


def test_every_member_is_what_tarfile_reads(client, shard):
    key, _, data = shard
    for name, wanted in members_of(data):
        answer = client.get("sets", key, f"?member={quote(name)}")
        assert (answer.status, answer.body) == (200, wanted), name
    assert client.get("sets", key, "?member=none").status == 404


def test_every_sample_is_a_tar_of_its_members(client, shard):
    key, members, _ = shard
    wanted = {}
    for name, data in members:
        if "." in name:
            wanted.setdefault(name.split(".")[0], []).append((name, data))
    for sample, own in wanted.items():
        assert members_of(client.get("sets", key, f"?sample={quote(sample)}").body) == own


@pytest.mark.parametrize("fields", [["cls"], ["jpg"], ["seg.png", "cls"],
                                    ["cls", "jpg", "seg.png"]])
def test_a_projection_is_what_tar_reads(client, shard, fields, tmp_path):
    key, members, _ = shard
    answer = client.get("sets", key, f"?fields={','.join(fields)}")
    wanted = [(name, data) for name, data in members
              if "." in name and name.split(".", 1)[1] in fields]
    assert members_of(answer.body) == wanted
    listed = subprocess.run([need("tar"), "tf", "-"], input=answer.body, capture_output=True,
                            check=True).stdout.decode().split()
    assert listed == [name for name, _ in wanted]


def test_a_projection_is_what_webdataset_reads(node, client, shard):
    key, members, _ = shard
    script = """
import json, sys, webdataset
found = [(s["__key__"], sorted(k for k in s if not k.startswith("__")), s.get("cls", b"").hex())
         for s in webdataset.WebDataset(sys.argv[1:], shardshuffle=False)]
print(json.dumps(found))
"""
    python = installed("python", "bin", "python")
    answer = client.get("sets", key, "?fields=cls,seg.png")
    path = node.folder.parent / f"{key}.projected.tar"
    path.write_bytes(answer.body)
    said = subprocess.run([python, "-c", script, str(path)], capture_output=True, text=True,
                          check=True, timeout=120).stdout
    wanted = {}
    for name, data in members:
        stem, _, field = name.partition(".")
        if field in ("cls", "seg.png"):
            wanted.setdefault(stem, {})[field] = data
    assert json.loads(said) == [[stem, sorted(own), own.get("cls", b"").hex()]
                                for stem, own in wanted.items()]


@pytest.mark.parametrize("query", ["?member=d/00001.jpg", "?fields=cls", "?sample=d/00002",
                                   "?sample=d/00003&fields=jpg"])
def test_ranges_are_cut_from_the_whole(client, shard, query):
    key = shard[0]
    dice = random.Random(f"{SEED} {key} {query}")
    whole = client.get("sets", key, query)
    assert int(whole.field("content-length")) == len(whole.body)
    for _ in range(30):
        if not whole.body:
            break
        begin = dice.randrange(len(whole.body))
        end = dice.randrange(begin, len(whole.body))
        part = client.get("sets", key, query, [f"Range: bytes={begin}-{end}"])
        assert (part.status, part.body) == (206, whole.body[begin:end + 1])
        assert part.field("etag") == whole.field("etag")
    assert client.get("sets", key, query, [f"Range: bytes={len(whole.body)}-"]).status == 416
    again = client.get("sets", key, query, [f"If-None-Match: {whole.field('etag')}"])
    assert again.status == 304


def test_head_tells_how_many_samples(client, shard):
    key, members, data = shard
    answer = client.ask("HEAD", f"/sets/{key}")
    wanted = len({name.split(".")[0] for name, _ in members if "." in name})
    assert answer.field("x-leat-shard-samples") == str(wanted)
    assert answer.field("x-leat-shard-members") == str(len(members))
    assert answer.field("content-length") == str(len(data))


def test_members_are_listed_in_pages_with_places(client, shard):
    key, members, data = shard
    found, start = [], 0
    while start is not None:
        page = json.loads(client.get("sets", key, f"?members&start={start}&max-members=7").body)
        found += [(one["name"], data[one["offset"]:one["offset"] + one["size"]])
                  for one in page["page"]]
        start = page["next"]
    assert found == members


def test_what_came_in_parts_is_indexed_too(node, client):
    members = [(f"{i:04}.bin", bytes([i % 256]) * 20_000) for i in range(600)]
    data = tar_of(members)
    node.client().upload_fileobj(io.BytesIO(data), "sets", "parts.tar")
    assert client.ask("HEAD", "/sets/parts.tar").field("x-leat-shard-samples") == "600"
    assert client.get("sets", "parts.tar", "?member=0599.bin").body == members[-1][1]


@pytest.mark.parametrize("name, data, status", [
    ("plain", b"no tar at all" * 100, 400),
    ("cut.tar", tar_of([("1.txt", b"x" * 5000)])[:3000], 400),
    ("twice.tar", tar_of([("1.txt", b"a"), ("1.txt", b"b")]), 200),
])
def test_odd_archives_say_what_they_are(client, name, data, status):
    client.put("sets", name, data)
    answer = client.get("sets", name, "?member=1.txt")
    assert answer.status == status, answer.body
    if status == 200:
        assert answer.body == b"b"  # what tar leaves behind


def test_gnu_and_pax_names_of_any_length(client):
    for form, label in ((tarfile.GNU_FORMAT, "gnu"), (tarfile.PAX_FORMAT, "pax")):
        members = [("d/" + "n" * length + ".txt", b"%d" % length) for length in (1, 90, 200, 700)]
        client.put("sets", f"{label}.tar", tar_of(members, form))
        for name, wanted in members:
            assert client.get("sets", f"{label}.tar", f"?member={name}").body == wanted


def test_a_key_without_rights_reads_nothing_of_it(node, shard):
    stranger = node.client(node.make_key("--read", "other"))
    url = stranger.generate_presigned_url("get_object", Params={"Bucket": "sets", "Key": shard[0]})
    answer = node.server.ask("GET " + url.split(node.url)[1])
    assert answer.status == 403
