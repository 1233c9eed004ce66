"""Adoption, vacuum, pins, lint and rebuilding with the real program."""

import json

import pytest
from dataset_client import client_of, members_of, tar_of
from leat_process import run_leat
from s3_node import Node
from store_client import Gone

NAME = "sets/train"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def client(start, folder):
    with client_of(start("serve", folder), folder) as one:
        one.make_bucket("sets")
        yield one


def put_shard(client, key, *samples):
    client.put("sets", key, tar_of([(f"{name}.txt", name.encode()) for name in samples]))
    return key


def objects(client, prefix=""):
    return [one["key"] for one in
            client.told("GET", f"/_/v1/list/sets?prefix={prefix}&max=10000")["objects"]]


def test_tars_are_adopted_where_they_are(client):
    for number in range(3):
        put_shard(client, f"raw/{number}.tar", f"{number}-a", f"{number}-b")
    client.put("sets", "raw/notes.txt", b"no shard")
    before = {key: client.get("sets", key).field("etag") for key in objects(client, "raw/")}
    made = client.dataset("POST", NAME, "?adopt", {"prefix": "raw/", "message": "mine"})
    assert (made["adopted"], made["samples"], made["version"]) == (3, 6, 1)
    assert {key: client.get("sets", key).field("etag") for key in before} == before
    assert client.dataset("POST", NAME, "?adopt", {"prefix": "raw/"})["adopted"] == 0
    put_shard(client, "raw/9.tar", "9-a")
    assert client.dataset("POST", NAME, "?adopt", {"prefix": "raw/"})["version"] == 2
    virtual = client.ask("GET", f"/_/v1/datasets/{NAME}@2/shards/000003.tar")
    assert members_of(virtual.body) == [("9-a.txt", b"9-a")]
    client.put("sets", "raw/broken.tar", tar_of([("1.txt", b"x" * 3000)])[:2000])
    refused = client.ask("POST", f"/_/v1/datasets/{NAME}?adopt", {"prefix": "raw/"})
    assert refused.status == 400 and b"raw/broken.tar" in refused.body


def test_plain_objects_are_adopted_where_they_are(client):
    content = {f"{kind}/{number:02}.{field}": bytes([number]) * size
               for kind in ("cat", "dog") for number in range(20)
               for field, size in (("cls", 1), ("jpg", number * 4000))}
    for key, data in content.items():
        client.put("sets", f"raw/{key}", data)
    client.put("sets", "raw/README", b"of no sample")
    made = client.dataset("POST", NAME, "?adopt",
                          {"prefix": "raw/", "kind": "objects", "shard_bytes": 200_000})
    assert (made["adopted"], made["passed_over"], made["samples"]) == (80, 1, 40)
    assert made["shards"] > 3
    found = {}
    for number in range(made["shards"]):
        path = f"/_/v1/datasets/{NAME}@1/shards/{number:06}.tar"
        whole = client.ask("GET", path)
        assert whole.field("content-length") == str(len(whole.body))
        found |= dict(members_of(whole.body))
        for begin in range(0, len(whole.body), 77_777):
            part = client.ask("GET", path, fields=[f"Range: bytes={begin}-{begin + 999}"])
            assert part.body == whole.body[begin:begin + 1000]
    assert found == content
    keys = sorted({name.split(".")[0] for name in content})
    assert client.keys(NAME) == keys
    for options in ({"dataset": f"{NAME}@1"}, {"dataset": f"{NAME}@1", "fields": ["jpg", "cls"]}):
        frames = client.frames([{"sample": key} for key in keys], **options)
        for key, frame in zip(keys, frames):
            assert dict(frame.fields()) == {field: content[f"{key}.{field}"]
                                            for field in ("cls", "jpg")}
    again = client.dataset("POST", NAME, "?adopt", {"prefix": "raw/", "kind": "objects"})
    assert (again["adopted"], again["version"]) == (0, 1)
    client.commit(NAME, delete=["cat/03"])
    left = dict(members_of(client.ask(
        "GET", f"/_/v1/datasets/{NAME}@2/shards/000000.tar").body))
    assert "cat/03.jpg" not in left and "cat/02.jpg" in left
    # An object that is another one now: its own item fails, and the tar is cut off.
    client.put("sets", "raw/cat/05.jpg", b"changed")
    frames = client.frames([{"sample": "cat/05"}, {"sample": "cat/06"}], dataset=f"{NAME}@2",
                           on_error="skip")
    assert [one.status for one in frames[:2]] == [412, 200]
    with pytest.raises(Gone):
        client.ask("GET", f"/_/v1/datasets/{NAME}@2/shards/000000.tar")
    assert client.dataset("GET", NAME, "?lint")["counts"]["shard_replaced"] == 1


def test_vacuum_respects_tags_and_pins(client):
    client.dataset("PUT", NAME, status=201)
    for number in range(4):
        key = put_shard(client, f"train/{number}.tar", str(number))
        client.commit(NAME, add=[key])
        client.commit(NAME, remove=[key])
    client.dataset("POST", f"{NAME}@1", "?tag=best")
    client.dataset("POST", f"{NAME}@3", "?pin=job&seconds=600")
    assert client.dataset("GET", NAME, "?pins")["pins"] == {"job": 3}
    assert client.dataset("POST", NAME, "?vacuum")["versions"] == [], "a week is kept"
    dry = client.dataset("POST", NAME, "?vacuum", {"keep_ms": 0, "dry_run": True})
    assert len(objects(client, "train/0")) == 1
    done = client.dataset("POST", NAME, "?vacuum", {"keep_ms": 0})
    assert done["versions"] == dry["versions"] == [7, 6, 5, 4, 2]
    assert objects(client, "train/0") + objects(client, "train/1") == [
        "train/0.tar", "train/1.tar"]
    assert objects(client, "train/2") + objects(client, "train/3") == []
    assert client.keys(f"{NAME}@best") == ["0"]
    client.dataset("GET", f"{NAME}@5", "?samples", status=404)
    client.dataset("POST", f"{NAME}@5", "?tag=late", status=404)
    client.dataset("DELETE", NAME, "?pin=job", status=204)
    assert client.dataset("POST", NAME, "?vacuum", {"keep_ms": 0})["versions"] == [3]
    client.commit(NAME, add=["train/0.tar"])
    assert client.keys(NAME) == ["0"]


def test_lint_says_what_is_wrong(client):
    client.dataset("PUT", NAME, status=201)
    client.put("sets", "train/a.tar", tar_of([("1.JPG", b"x"), ("2.jpg", b"y"), ("README", b"")]))
    client.commit(NAME, add=["train/a.tar", put_shard(client, "train/b.tar", "3")])
    client.put("sets", "train/b.tar", b"something else")
    report = client.dataset("GET", NAME, "?lint")
    assert report["counts"] == {"field_missing": 1, "member_ignored": 1, "name_differs": 1,
                                "shard_replaced": 1}
    odd = next(one for one in report["problems"] if one["problem"] == "name_differs")
    assert (odd["shard"], odd["name"]) == ("train/a.tar", "1.JPG")


@pytest.mark.parametrize("lost", ["control", "snapshots", "records"])
def test_datasets_are_found_again(start, folder, lost):
    server = start("serve", folder)
    client = client_of(server, folder)
    client.make_bucket("sets")
    client.dataset("PUT", NAME, status=201)
    for sequence in (1, 2):
        client.told("POST", f"/_/v1/datasets/{NAME}?append&producer=w&sequence={sequence}&commit",
                    tar_of([(f"{sequence}.txt", b"x")]))
    if lost != "control":
        for key in objects(client, "train/_leat/"):
            if lost == "records" or key.endswith(".snapshot"):
                assert client.ask("DELETE", f"/sets/{key}").status == 204
    client.close()
    server.stop()
    for path in folder.rglob("control.db*"):
        path.unlink()
    server = start("serve", folder)
    client = client_of(server, folder)
    client.dataset("GET", NAME, status=404)
    assert client.told("GET", "/_/v1/datasets")["datasets"] == []
    done = run_leat("fsck", "--rebuild-datasets", "--json", "--listen", server.url.split("//")[1],
                    "--token-file", folder / "admin-token")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["datasets"]
    assert found["found_by"] == {"control": "record", "snapshots": "log", "records": "shards"}[lost]
    assert found["unknown"]
    assert client.keys(NAME) == ["1", "2"]
    assert client.dataset("GET", NAME)["version"] == {"control": 2, "snapshots": 3,
                                                      "records": 1}[lost]
    client.close()


def test_only_operators_rebuild(start, folder):
    node = Node(start("serve", folder), folder)
    with client_of(node.server, folder) as client:
        client.make_bucket("sets")
        assert client.told("POST", "/_/v1/datasets?rebuild", {"bucket": "sets"})["datasets"] == []
        client.told("POST", "/_/v1/datasets?rebuild", {"bucket": "none"}, status=404)
    from test_datasets import signed

    assert signed(node, node.key, "POST", "/_/v1/datasets?rebuild", b"{}").status == 403
