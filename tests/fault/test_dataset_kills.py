"""kill -9 at every call of a commit that changes the disk: the old version or the new one, whole.

A commit writes a snapshot and a record, then moves the pointer in the control store. The server is
killed at the first call of a kind, started again and checked, then at the second one, and so on
until a commit survives. Sent again with its transaction, each commit is there once.
"""

import json
from collections import Counter

from dataset_client import DatasetClient, read_frames, tar_of
from node import Node
from store_client import Gone
from test_kills import CALLS_MAX, CHANGING, KILL
from tracer import injection

NAME = "sets/train"
SAMPLES = 3


class Committer:
    def __init__(self, node):
        self.node = node
        self.version = 0
        self.kills = Counter()

    def client(self):
        return DatasetClient(self.node.server.address, self.node.client.token)

    def put_shard(self, client):
        number = self.version + 1
        key = f"train/{number:04}.tar"
        client.put("sets", key, tar_of([(f"{number:04}-{i}.txt", b"%d" % number)
                                        for i in range(SAMPLES)]))
        return key

    def check(self, client, versions):
        """It is at one of the versions, and all of that is there."""
        info = client.dataset("GET", NAME)
        assert info["version"] in versions
        assert info["samples"] == info["version"] * SAMPLES
        if info["version"] == 0:
            return
        wanted = [f"{number:04}-{i}" for number in range(1, info["version"] + 1)
                  for i in range(SAMPLES)]
        assert client.keys(NAME) == wanted
        frames = read_frames(client.batch([{"sample": key} for key in wanted],
                                          dataset=f"{NAME}@{info['version']}").body)
        assert json.loads(frames[-1].payload)["complete"]
        if info["version"] > 1:
            assert client.dataset("GET", f"{NAME}@1")["samples"] == SAMPLES

    def hit(self, kind, number):
        """A commit that is killed at that call; False if it did not come to it."""
        with self.client() as client:
            key = self.put_shard(client)
            with self.node.trace("hit", [kind], injection(kind, KILL, number)):
                try:
                    client.commit(NAME, add=[key], transaction=key)
                    self.node.client.list("sets")  # waits behind what the commit left to do
                    was_killed = False
                except Gone:
                    self.node.wait_killed()
                    was_killed = True
        if was_killed:
            self.kills[kind] += 1
            self.node.start()
        with self.client() as client:
            self.check(client, (self.version, self.version + 1))
            done = client.commit(NAME, add=[key], transaction=key)
            self.version += 1
            assert done["version"] == self.version
            self.check(client, (self.version,))
        return was_killed


def test_killed_at_every_call_of_a_commit(tmp_path, full, report):
    with Node(tmp_path / "d") as node:
        node.start()
        committer = Committer(node)
        with committer.client() as client:
            client.make_bucket("sets")
            client.dataset("PUT", NAME, status=201)
        for kind in CHANGING:
            for number in range(1, CALLS_MAX if full else 12):
                if not committer.hit(kind, number):
                    break
        report(f"{committer.kills.total()} kills {dict(committer.kills)}")
        assert committer.kills["fdatasync"] + committer.kills["fsync"] > 0
        node.stop_and_fsck()
