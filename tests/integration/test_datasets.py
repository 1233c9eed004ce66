"""Datasets on a real server: versions, races, transactions, names, and a restart."""

import json
import threading
from datetime import datetime, timezone

import pytest
from dataset_client import client_of, tar_of
from s3_node import Node


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("datasets") / "data"


@pytest.fixture(scope="module")
def node(start_for_module, folder):
    return Node(start_for_module("serve", folder, "--cores", "2"), folder)


@pytest.fixture(scope="module")
def module_client(node, folder):
    with client_of(node.server, folder) as one:
        one.make_bucket("sets")
        yield one


@pytest.fixture
def client(module_client):
    return module_client


@pytest.fixture
def name(request, client):
    """A dataset of the test's own, empty."""
    name = "sets/" + request.node.name.replace("[", "-").replace("]", "")
    client.dataset("PUT", name, status=201)
    return name


def put_shard(client, name, number, count=2):
    """A shard of samples that nobody else has; its key."""
    bucket, _, below = name.partition("/")
    key = f"{below}/{number:04}.tar"
    client.put(bucket, key, tar_of([(f"{number:04}-{i}.{field}", b"%d" % i)
                                    for i in range(count) for field in ("cls", "txt")]))
    return key


def test_versions_are_all_there(client, name):
    shards = [put_shard(client, name, number) for number in range(4)]
    assert client.commit(name, add=shards[:1], message="first")["version"] == 1
    assert client.commit(name, add=shards[1:])["samples"] == 8
    assert client.commit(name, delete=["0001-0"], remove=[shards[3]])["samples"] == 5
    assert client.commit(name, restore=1)["version"] == 4
    keys = {number: client.keys(f"{name}@{number}") for number in (1, 2, 3, 4)}
    assert keys[1] == keys[4] == ["0000-0", "0000-1"]
    assert len(keys[2]) == 8
    assert keys[3] == ["0000-0", "0000-1", "0001-1", "0002-0", "0002-1"]
    log = client.dataset("GET", name, "?log")["versions"]
    assert [one["version"] for one in log] == [4, 3, 2, 1]
    assert log[-1]["message"] == "first"
    diff = client.dataset("GET", f"{name}@3", "?diff=2")
    assert (diff["removed"], diff["added"], diff["changed"]) == (3, 0, 0)


def test_where_a_sample_is_can_be_read(client, name):
    key = put_shard(client, name, 7)
    client.commit(name, add=[key])
    found = client.dataset("GET", name, "?sample=0007-1")
    place = found["fields"]["txt"]
    begin, end = place["offset"], place["offset"] + place["size"] - 1
    assert client.get("sets", found["shard"], fields=[f"Range: bytes={begin}-{end}"]).body == b"1"
    assert client.dataset("GET", name, "?sample=none", status=404)["error"] == "not_found"


def test_a_snapshot_is_fetched_once(client, name):
    client.commit(name, add=[put_shard(client, name, 0)])
    whole = client.ask("GET", f"/_/v1/datasets/{name}?snapshot")
    assert whole.body.startswith(b"\x01\0\0\0LEATSNAP")
    same = client.ask("GET", f"/_/v1/datasets/{name}?snapshot",
                      fields=[f"If-None-Match: {whole.field('etag')}"])
    assert same.status == 304
    tail = client.ask("GET", f"/_/v1/datasets/{name}?snapshot", fields=["Range: bytes=-80"])
    assert (tail.status, tail.body) == (206, whole.body[-80:])


def test_names_of_versions(client, name):
    first = client.commit(name, add=[put_shard(client, name, 0)])
    client.commit(name, add=[put_shard(client, name, 1)])
    client.dataset("POST", f"{name}@1", "?tag=best")
    assert client.dataset("GET", f"{name}@best")["version"] == 1
    assert client.dataset("GET", name, "?tags")["tags"] == {"best": 1}
    client.dataset("POST", f"{name}@2", "?tag=best")
    assert client.dataset("GET", f"{name}@best")["version"] == 2
    client.dataset("DELETE", name, "?tag=best", status=204)
    client.dataset("GET", f"{name}@best", status=404)
    today = datetime.fromtimestamp(first["committed_ms"] / 1000, timezone.utc)
    assert client.dataset("GET", f"{name}@{today:%Y-%m-%d}")["version"] == 2
    client.dataset("GET", f"{name}@2020-01-01", status=404)
    client.dataset("GET", f"{name}@3", status=404)
    client.dataset("GET", f"{name}@0", status=404)
    for tag in ("7", "2026-01-01", "a/b", "", "x" * 101):
        client.dataset("POST", f"{name}@1", f"?tag={tag}", status=400)


def test_a_transaction_is_done_once(client, name):
    keys = [put_shard(client, name, number) for number in range(2)]
    first = client.commit(name, add=keys[:1], transaction="run-1")
    client.commit(name, add=keys[1:])
    again = client.commit(name, add=keys[:1], transaction="run-1")
    assert again == first
    assert client.dataset("GET", name)["version"] == 2


def run_all(folder, node, works):
    """Each work in a thread with a client of its own; their results, in order."""
    results = [None] * len(works)
    barrier = threading.Barrier(len(works))

    def run(number, work):
        with client_of(node.server, folder) as own:
            barrier.wait()
            results[number] = work(own)

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_of_commits_that_collide_exactly_one_wins(client, name, node, folder):
    keys = [put_shard(client, name, number) for number in range(8)]
    client.commit(name, add=keys)
    answers = run_all(folder, node, [
        lambda own, key=key: own.ask("POST", f"/_/v1/datasets/{name}?commit",
                                     {"remove": [key], "base": 1}) for key in keys])
    statuses = [one.status for one in answers]
    assert sorted(statuses) == [200] + [409] * 7
    assert client.dataset("GET", name)["version"] == 2
    assert client.dataset("GET", name)["shards"] == 7
    lost = json.loads(next(one.body for one in answers if one.status == 409))
    assert "is at version 2 now" in lost["message"]


def test_appends_that_collide_all_win(client, name, node, folder):
    keys = [put_shard(client, name, number) for number in range(12)]
    client.commit(name, add=[put_shard(client, name, 99)])
    answers = run_all(folder, node, [
        lambda own, key=key: own.commit(name, add=[key], base=1) for key in keys])
    assert sorted(one["version"] for one in answers) == list(range(2, 14))
    assert len(client.keys(name)) == 26
    # What the losers of each race wrote is gone: two objects a version.
    assert len(client.told("GET", f"/_/v1/list/sets?prefix={name[5:]}/_leat/&max=1000")
               ["objects"]) == 26


def test_the_same_transaction_from_many_is_done_once(client, name, node, folder):
    key = put_shard(client, name, 0)
    answers = run_all(folder, node, [
        lambda own: own.commit(name, add=[key], transaction="only-once")] * 8)
    assert {one["version"] for one in answers} == {1}
    assert client.dataset("GET", name)["version"] == 1


def test_several_datasets_move_together(client, name):
    other = f"{name}-other"
    client.dataset("PUT", other, status=201)
    key, others = put_shard(client, name, 0), put_shard(client, other, 0)

    def both(first, second, status=200, **more):
        return client.told("POST", "/_/v1/datasets?commit", {"commits": [
            {"dataset": name, "add": first, **more},
            {"dataset": other, "add": second, **more}]}, status)

    both([key], ["none"], status=404)
    assert client.dataset("GET", name)["version"] == 0
    done = both([key], [others], transaction="t")
    assert [one["version"] for one in done["commits"]] == [1, 1]
    assert both([key], [others], transaction="t") == done
    both([key], [key], status=409)
    # One of the two was committed under this id before, the other was not.
    client.commit(name, add=[put_shard(client, name, 1)], transaction="half")
    both([put_shard(client, name, 2)], [put_shard(client, other, 2)], status=409,
         transaction="half")


def test_everything_is_there_after_a_restart(client, name, node, folder, start, tmp_path):
    own = tmp_path / "data"
    server = start("serve", own)
    with client_of(server, own) as first:
        first.make_bucket("sets")
        first.dataset("PUT", "sets/a", status=201)
        first.commit("sets/a", add=[put_shard(first, "sets/a", 0)], transaction="t")
        first.dataset("POST", "sets/a@1", "?tag=best")
        before = first.dataset("GET", "sets/a")
    server.stop()
    server = start("serve", own)
    with client_of(server, own) as second:
        assert second.dataset("GET", "sets/a") == before
        assert second.keys("sets/a@best") == ["0000-0", "0000-1"]
        assert second.commit("sets/a", add=["a/0000.tar"], transaction="t")["version"] == 1


@pytest.mark.parametrize("method, path, body, status", [
    ("GET", "/_/v1/datasets/sets/none", b"", 404),
    ("GET", "/_/v1/datasets/none/x", b"", 404),
    ("PUT", "/_/v1/datasets/none/x", b"", 404),
    ("PUT", "/_/v1/datasets/sets/x@1", b"", 400),
    ("PUT", "/_/v1/datasets/sets", b"", 400),
    ("PUT", "/_/v1/datasets/sets//x", b"", 400),
    ("PUT", "/_/v1/datasets/sets/%00", b"", 400),
    ("PUT", "/_/v1/datasets/sets/%FF", b"", 400),
    ("PUT", "/_/v1/datasets/sets/x/_leat/y", b"", 400),
    ("POST", "/_/v1/datasets/sets/none?commit", b"{}", 400),
    ("POST", "/_/v1/datasets/sets/none?commit", b'{"add": ["x"]}', 404),
    ("POST", "/_/v1/datasets/sets/none?commit", b"{", 400),
    ("POST", "/_/v1/datasets/sets/none?commit", b'{"add": "x"}', 400),
    ("POST", "/_/v1/datasets/sets/none?commit", b'{"what": []}', 400),
    ("POST", "/_/v1/datasets/sets/none@1?commit", b'{"add": ["x"]}', 400),
    ("POST", "/_/v1/datasets?commit", b"{}", 400),
    ("PATCH", "/_/v1/datasets/sets/none", b"", 501),
    ("DELETE", "/_/v1/datasets/sets/none", b"", 404),
    ("DELETE", "/_/v1/datasets/sets/none@1", b"", 400),
    ("GET", "/_/v1/datasets/sets/none?what", b"", 400),
])
def test_what_makes_no_sense_is_refused(client, method, path, body, status):
    answer = client.ask(method, path, body)
    assert answer.status == status, answer.body


def test_rights_of_keys_hold_for_datasets(node, client, name):
    client.commit(name, add=[put_shard(client, name, 0)])
    reader = node.make_key("--read", name)
    stranger = node.make_key("--read", "elsewhere")
    for key, statuses in ((reader, (200, 403)), (stranger, (403, 403))):
        reading = signed(node, key, "GET", f"/_/v1/datasets/{name}")
        writing = signed(node, key, "DELETE", f"/_/v1/datasets/{name}")
        assert (reading.status, writing.status) == statuses
    client.dataset("POST", name, "?tag=best")
    for query, status in (("pin=x&tag=best", 400), ("tag=best", 403), ("pin=x", 404)):
        removing = signed(node, reader, "DELETE", f"/_/v1/datasets/{name}?{query}")
        assert removing.status == status, query
    assert client.dataset("GET", f"{name}@best")["version"] == 1
    assert signed(node, stranger, "GET", "/_/v1/datasets").body == b'{"datasets":[]}\n'
    assert node.server.ask(f"GET /_/v1/datasets/{name}").status == 403


def signed(node, key, method, path, body=b""):
    """A request as botocore signs it."""
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    request = AWSRequest(method, node.url + path, data=body)
    S3SigV4Auth(Credentials(*key), "s3", "leat").add_auth(request)
    fields = [f"{name}: {value}" for name, value in request.headers.items()]
    return node.server.ask(f"{method} {path}", fields, body)
