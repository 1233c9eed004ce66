"""Appends: many producers, lost answers, kills; each body is in the dataset once."""

import json
import random
import threading

import pytest
from dataset_client import client_of, tar_of
from store_client import Gone

NAME = "sets/train"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def client(start, folder):
    with client_of(start("serve", folder), folder) as one:
        make(one)
        yield one


def make(client):
    client.make_bucket("sets")
    client.dataset("PUT", NAME, status=201)


def body(producer, sequence, samples=2):
    return tar_of([(f"{producer}-{sequence:03}-{i}.txt", b"%d" % i) for i in range(samples)])


def append(client, producer, sequence, data=None, more="", status=200):
    answer = client.ask("POST", f"/_/v1/datasets/{NAME}?append&producer={producer}"
                        f"&sequence={sequence}{more}", data or body(producer, sequence))
    assert answer.status == status, answer.body
    return json.loads(answer.body)


def keys_of(pairs):
    return sorted(f"{producer}-{sequence:03}-{i}" for producer, sequence in pairs
                  for i in range(2))


def test_bodies_wait_for_a_commit(client):
    first = append(client, "w1", 1)
    assert (first["samples"], first["committed"], first["repeated"]) == (2, False, False)
    assert client.dataset("GET", NAME)["version"] == 0
    append(client, "w2", 1)
    assert client.commit(NAME, appended=True)["samples"] == 4
    assert client.keys(NAME) == keys_of([("w1", 1), ("w2", 1)])
    assert client.commit(NAME, appended=True)["version"] == 1
    done = append(client, "w1", 2, more="&commit")
    assert (done["committed"], done["version"]) == (True, 2)
    assert client.get("sets", done["key"], "?member=w1-002-1.txt").body == b"1"


def test_what_is_sent_again_is_there_once(client):
    append(client, "w", 1)
    assert append(client, "w", 1)["repeated"]
    append(client, "w", 1, data=body("x", 9), status=409)
    client.commit(NAME, appended=True)
    again = append(client, "w", 1)
    assert again["repeated"] and again["committed"]
    append(client, "w", 1, data=body("x", 9), status=409)
    client.commit(NAME, remove=[again["key"]])
    assert append(client, "w", 1, more="&commit")["repeated"]
    assert client.keys(NAME) == []


def test_what_is_behind_a_gap_waits(client):
    append(client, "w", 2)
    append(client, "w", 3)
    assert client.commit(NAME, appended=True)["version"] == 0
    append(client, "w", 1)
    assert client.commit(NAME, appended=True)["samples"] == 6


@pytest.mark.parametrize("data, why", [
    (b"no tar" * 200, "no tar"), (tar_of([("README", b"x")]), "no samples"),
    (tar_of([("1.a", b"x"), ("1.a", b"y")]), "1.a"), (body("w", 1)[:700], "tar"), (b"", "no tar")])
def test_what_is_no_tar_of_samples_is_not_stored(client, data, why):
    answer = client.ask("POST", f"/_/v1/datasets/{NAME}?append&producer=w&sequence=1", data)
    assert answer.status == 400 and why in answer.body.decode(), answer.body
    append(client, "w", 1, more="&commit")
    assert client.dataset("GET", NAME)["samples"] == 2


@pytest.mark.parametrize("query", ["", "producer=w", "producer=w&sequence=0", "sequence=1",
                                   "producer=a/b&sequence=1", "producer=w&sequence=-1",
                                   "producer=w&sequence=1&what=1", "producer=&sequence=1",
                                   f"producer=w&sequence={10 ** 13}"])
def test_what_makes_no_sense_is_refused(client, query):
    answer = client.ask("POST", f"/_/v1/datasets/{NAME}?append&{query}", body("w", 1))
    assert answer.status == 400


def test_a_large_body_has_its_index(client):
    data = tar_of([(f"{i:04}.bin", bytes([i % 256]) * 5000) for i in range(1000)])
    append(client, "w", 1, data=data, more="&commit")
    assert client.dataset("GET", NAME)["samples"] == 1000
    found = client.dataset("GET", NAME, "?sample=0777")
    place = found["fields"]["bin"]
    part = client.get("sets", found["shard"], fields=[
        f"Range: bytes={place['offset']}-{place['offset'] + place['size'] - 1}"])
    assert part.body == bytes([777 % 256]) * 5000


def produce(server, folder, producer, count, dice, sent):
    """Sends bodies until each was acknowledged; some of them twice, some committed at once."""
    with client_of(server, folder) as own:
        for sequence in range(1, count + 1):
            more = "&commit" if dice.random() < 0.2 else ""
            for _ in range(2 if dice.random() < 0.3 else 1):
                append(own, producer, sequence, more=more)
            sent.append((producer, sequence))


def test_many_producers_at_once(start, folder):
    server = start("serve", folder, "--cores", "2")
    sent = []
    with client_of(server, folder) as client:
        make(client)
        threads = [threading.Thread(target=produce, args=(server, folder, f"w{i}", 12,
                                                          random.Random(i), sent))
                   for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(sent) == 72
        client.commit(NAME, appended=True)
        assert client.keys(NAME) == keys_of(sent)


def test_nothing_acknowledged_is_lost_or_doubled_by_kills(start, folder):
    """The server is killed again and again while bodies come in and are committed."""
    dice = random.Random(20261117)
    server = start("serve", folder)
    client = client_of(server, folder)
    make(client)
    acknowledged, sequence, kills = [], 1, 0
    while kills < 8:
        killer = threading.Timer(dice.random() * 0.12, server.kill)
        killer.start()
        try:
            while True:
                append(client, "w", sequence, more="&commit" if dice.random() < 0.5 else "")
                acknowledged.append(("w", sequence))
                sequence += 1
        except Gone:
            pass
        killer.join()
        client.close()
        kills += 1
        server = start("serve", folder)
        client = client_of(server, folder)
    append(client, "w", sequence)  # what was on its way is sent again
    acknowledged.append(("w", sequence))
    client.commit(NAME, appended=True)
    assert client.keys(NAME) == keys_of(acknowledged)
    shards = client.dataset("GET", NAME, "?shards&max=10000")["shards"]
    assert [one["key"].split("/")[-1] for one in shards] == [
        f"{number:012}.tar" for _, number in acknowledged]
    client.close()
