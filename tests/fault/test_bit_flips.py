"""Flipped bits in every kind of file: what is read is right, or it is an error; it is never wrong
and never silently gone. A start that is refused says which disk it is and how to go on.
"""

import random
import re
import shutil
import string
from collections import Counter

import pytest

from leat_process import run_leat
from node import Node
from oracle import Wrong
from store_client import Gone
from test_kills import leave_crashed
from workload import Workload

PER_KIND = {
    "segment": "segments/*.seg",
    "object file": "files/*/*",
    "table": "index/*.sst",
    "MANIFEST": "index/MANIFEST-*",
    "CURRENT": "index/CURRENT",
    "IDENTITY": "index/IDENTITY",
    "identity": "leat-disk",
    "copy of the identity": "leat-disk.copy",
    "members": "leat-members",
    "keys": "keys.json",
    "control store": "control.db",
    "log of the control store": "control.db-wal",
    "token": "admin-token",
}
# Kinds that may be missing: what was flushed has no log, what crashed may have no table yet.
SOMETIMES = ("table", "log of the control store")


def fill(node, seed):
    """A directory with everything in it, flushed by an orderly end."""
    node.start_new()
    workload = Workload(node.oracle, seed, keys=8)
    for size in (0, 100, 4096, 70_000, 200_000, 1_100_000, 1_400_000):
        node.oracle.make(node.client, workload.put(size=size))
    for _ in range(40):
        node.oracle.make(node.client, workload.next())
    # Long keys, so that the table of the index has many blocks.
    names = random.Random(f"names {seed}")
    for _ in range(100):
        key = "".join(names.choices(string.ascii_letters, k=900))
        node.oracle.make(node.client, workload.put("group", key, 10))


def places(folder, chance, count):
    """`count` (kind, file, bit), as many for each kind as for any other."""
    for number in range(count):
        kind = list(PER_KIND)[number % len(PER_KIND)]
        files = [one for one in sorted(folder.glob(PER_KIND[kind])) if one.stat().st_size]
        if not files:
            continue
        file = chance.choice(files)
        size = file.stat().st_size
        # Half of them near an end, where headers and footers are.
        at = chance.randrange(size)
        if chance.random() < 0.5:
            near = chance.randrange(min(size, 128))
            at = near if chance.random() < 0.5 else size - 1 - near
        yield kind, file.relative_to(folder), at * 8 + chance.randrange(8)


def flip(path, bit):
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def read_all(node):
    """Reads every object; gives how many reads ended in an error. Wrong for any other answer."""
    errors = 0
    for bucket, key in list(node.oracle.states):
        try:
            answer = node.client.get(bucket, key)
        except Gone:
            assert node.is_alive(), f"GET {bucket}/{key} ended the server: {node.server.log()}"
            errors += 1
            continue
        if answer.status in (500, 503):
            errors += 1
            continue
        node.oracle.saw(bucket, key, answer.status, answer.body, decides=False)
    return errors


def check_listings(node):
    """A listing is complete, or it is refused."""
    for bucket in node.oracle.BUCKETS:
        held = {key: len(state.current) for (name, key), states in node.oracle.states.items()
                for state in states if name == bucket and state.current is not None}
        try:
            listed = node.client.list(bucket)
        except RuntimeError:
            continue
        if listed != held:
            raise Wrong(f"{bucket} lists {listed} instead of {held}")


def live_with_damage(folder, oracle, options):
    """Starts and reads; gives what came of it: "refused", "error" or "right"."""
    with Node(folder, *options) as node:
        node.oracle = oracle
        try:
            node.start()
        except AssertionError as failure:
            check_refusal(folder, str(failure))
            return "refused"
        errors = read_all(node) + read_all(node)  # the second time from memory
        check_listings(node)
        node.kill()
        return "error" if errors else "right"


def check_refusal(folder, failure):
    ended = re.search(r"ended with (-?\d+) before it said .*?\): (.*)", failure, re.S)
    assert ended, failure
    told = [line for line in ended[2].splitlines() if line.startswith("leat: ")]
    assert int(ended[1]) > 0 and len(told) == 1, failure
    assert str(folder) in told[0], failure
    # How to go on: what has no other copy on the disk must come from a backup.
    cures = ("leat fsck", "in its place", "remove it")
    assert any(cure in ended[2] for cure in cures), failure


@pytest.mark.parametrize("left", ["stopped", "crashed"])
def test_flipped_bits_are_never_served(tmp_path, seed, full, side_by_side, report, left):
    flips = 1000 if full else 160
    chance = random.Random(f"flips {seed} {left}")
    with Node(tmp_path / "whole") as node:
        if left == "crashed":
            leave_crashed(node, seed)
        else:
            fill(node, seed)
            node.stop()
        node.start()
        node.oracle.check(node.client)  # decides what the crash left open
        node.kill()
        whole, oracle = node.folder, node.oracle
    cases = list(enumerate(places(whole, chance, flips)))

    def damage(case):
        number, (kind, name, bit) = case
        folder = tmp_path / f"flip{number}"
        shutil.copytree(whole, folder)
        flip(folder / name, bit)
        try:
            outcome = live_with_damage(folder, oracle, ("--io", ["psync", "uring"][number % 2]))
            found = run_leat("fsck", folder).returncode if number % 10 == 0 else 8
        except BaseException as failure:
            failure.add_note(f"bit {bit} of {name} ({left}, seed {seed})")
            raise
        shutil.rmtree(folder)
        assert found in (0, 8), f"fsck of bit {bit} of {name}: {found}"
        return kind, outcome

    outcomes = Counter(side_by_side(damage, cases))
    report(f"{left}: {outcomes.total()} flips")
    for (kind, outcome), count in sorted(outcomes.items()):
        report(f"  {kind}: {count} {outcome}")
    assert all(any(one == kind for one, _ in outcomes) for kind in PER_KIND
               if kind not in SOMETIMES)
    assert outcomes["keys", "refused"] > 0
    assert outcomes["object file", "error"] > 0
