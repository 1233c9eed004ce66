"""Versions of datasets as tars, for readers that know nothing of Leat."""

import json
import random
import subprocess

import pytest
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from dataset_client import client_of, members_of, tar_of
from leat_process import need
from s3_client import installed
from s3_node import Node

NAME = "sets/train"
SHARDS = 3
SAMPLES = 40


def member(shard, number, field):
    data = random.Random(f"{shard} {number} {field}").randbytes(7000 if field == "jpg" else 2)
    return f"{shard}-{number:03}.{field}", data


CONTENT = [[member(shard, number, field) for number in range(SAMPLES) for field in ("cls", "jpg")]
           for shard in range(SHARDS)]
DELETED = {"0-000", "1-005", "1-006", "2-039"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("virtual") / "data"


@pytest.fixture(scope="module")
def node(start_for_module, folder):
    return Node(start_for_module("serve", folder), folder)


@pytest.fixture(scope="module")
def client(node, folder):
    with client_of(node.server, folder) as one:
        one.make_bucket("sets")
        for shard, members in enumerate(CONTENT):
            one.put("sets", f"train/{shard}.tar", tar_of(members))
        one.dataset("PUT", NAME, status=201)
        one.commit(NAME, add=[f"train/{shard}.tar" for shard in range(SHARDS)])
        one.commit(NAME, delete=sorted(DELETED))
        yield one


def path(version, shard):
    return f"/_/v1/datasets/{NAME}@{version}/shards/{shard:06}.tar"


@pytest.mark.parametrize("version, left_out", [(1, set()), (2, DELETED)])
def test_a_version_as_it_was(client, version, left_out):
    for shard, members in enumerate(CONTENT):
        answer = client.ask("GET", path(version, shard))
        assert answer.status == 200
        wanted = [one for one in members if one[0].split(".")[0] not in left_out]
        assert members_of(answer.body) == wanted
        assert answer.field("content-type") == "application/x-tar"
        again = client.ask("GET", path(version, shard))
        assert (again.body, again.field("etag")) == (answer.body, answer.field("etag"))
        head = client.ask("HEAD", path(version, shard))
        assert head.field("content-length") == str(len(answer.body))


def test_ranges_are_cut_from_the_whole(client):
    whole = client.ask("GET", path(2, 1))
    dice = random.Random(3)
    size = len(whole.body)
    for _ in range(60):
        begin = dice.randrange(size)
        end = dice.randrange(begin, size)
        part = client.ask("GET", path(2, 1), fields=[f"Range: bytes={begin}-{end}"])
        assert (part.status, part.body) == (206, whole.body[begin:end + 1])
    assert client.ask("GET", path(2, 1), fields=["Range: bytes=-1024"]).body == bytes(1024)
    assert client.ask("GET", path(2, 1), fields=[f"Range: bytes={size}-"]).status == 416
    same = client.ask("GET", path(2, 1), fields=[f"If-None-Match: {whole.field('etag')}"])
    assert same.status == 304


def test_tags_and_times_name_versions_here_too(client):
    client.dataset("POST", f"{NAME}@1", "?tag=whole")
    assert client.ask("GET", path("whole", 0)).body == client.ask("GET", path(1, 0)).body
    client.dataset("DELETE", NAME, "?tag=whole", status=204)


@pytest.mark.parametrize("inside", ["shards/000003.tar", "shards/0.tar", "shards/0000000.tar",
                                    "shards/x.tar", "shards/", "other", "shards/-00001.tar"])
def test_what_is_not_there(client, inside):
    assert client.ask("GET", f"/_/v1/datasets/{NAME}@1/{inside}").status == 404


def test_presigned_urls_work_with_curl(node, client, tmp_path):
    request = AWSRequest("GET", node.url + path(2, 0).replace("@", "%40"))
    S3SigV4QueryAuth(Credentials(*node.key), "s3", "leat", expires=60).add_auth(request)
    target = tmp_path / "out.tar"
    subprocess.run([need("curl"), "-fsS", "-o", target, request.url], check=True, timeout=60)
    assert target.read_bytes() == client.ask("GET", path(2, 0)).body
    assert node.server.ask("GET " + path(2, 0)).status in (401, 403), "nobody without a policy"


def test_stock_webdataset_reads_a_version(node, client):
    """By its URLs, where a policy lets everybody read."""
    policy = {"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject",
         "Resource": "arn:aws:s3:::sets/train/*"}]}
    node.client().put_bucket_policy(Bucket="sets", Policy=json.dumps(policy))
    script = """
import json, sys, webdataset
found = [(s["__key__"], s["cls"].hex(), len(s["jpg"]))
         for s in webdataset.WebDataset(sys.argv[1], shardshuffle=False)]
print(json.dumps(found))
"""
    urls = f"{node.url}/_/v1/datasets/{NAME}@2/shards/{{000000..{SHARDS - 1:06}}}.tar"
    said = subprocess.run([installed("python", "bin", "python"), "-c", script, urls],
                          capture_output=True, text=True, timeout=120)
    node.client().delete_bucket_policy(Bucket="sets")
    assert said.returncode == 0, said.stderr
    wanted = []
    for members in CONTENT:
        for (name, cls), (_, jpg) in zip(members[::2], members[1::2]):
            if name.split(".")[0] not in DELETED:
                wanted.append([name.split(".")[0], cls.hex(), len(jpg)])
    assert json.loads(said.stdout) == wanted


def test_a_shard_that_was_replaced_is_not_served(client):
    client.dataset("PUT", "sets/other", status=201)
    client.put("sets", "other/0.tar", tar_of([("a.txt", b"1")]))
    client.commit("sets/other", add=["other/0.tar"])
    client.put("sets", "other/0.tar", tar_of([("a.txt", b"2")]))
    own = "/_/v1/datasets/sets/other@1/shards/000000.tar"
    assert client.ask("GET", own).status == 412
    assert client.ask("DELETE", "/sets/other/0.tar").status == 204
    assert client.ask("GET", own).status == 404
