"""kill -9 at every call that changes the disk: nothing acknowledged is lost, nothing is half there.

For each change of a workload and each kind of call it makes, the server is killed at the first call
of that kind, started again and checked, killed at the second one, and so on until the change
survives. What the first kills leave behind is what the next ones begin with.
"""

import shutil
from collections import Counter

import pytest

from node import Node
from oracle import Change
from store_client import Gone
from tracer import injection, under
from workload import Workload

# What changes the disk. A file is made by openat2; what is between that and its first bytes is hit
# by the pwrite64 that brings them, so it has its own turns in the full run only.
CHANGING = ["pwrite64", "pwritev2", "write", "fdatasync", "fsync", "sync_file_range", "renameat",
            "renameat2", "unlinkat", "ftruncate", "mkdirat", "fallocate"]
OPENING = ["openat2"]
KILL = "signal=SIGKILL"
CALLS_MAX = 200


class Killer:
    def __init__(self, node, seed):
        self.node = node
        self.workload = Workload(node.oracle, seed)
        self.kills = Counter()

    def hit_everywhere(self, kinds):
        """One change of the workload, killed at each of its calls; then made once more in peace."""
        node = self.node
        with node.trace("seen", kinds) as tracer:
            change = self.workload.next()
            node.oracle.make(node.client, change)
            self._let_it_rest()
        used = sorted({name for name, _ in tracer.calls()})
        for kind in used:
            for number in range(1, CALLS_MAX):
                change = self._again(change)
                if not self._hit(change, kind, number):
                    break

    def _again(self, change):
        """The same change again, after what is needed for it to have something to do."""
        node, where = self.node, (change.bucket, change.key)
        if change.kind in ("put", "parts"):
            return self.workload.put(*where, len(change.data), change.kind)
        state = node.oracle.certain(*where)
        if change.kind == "delete" and state.current is None:
            node.oracle.make(node.client, self.workload.put(*where, 100))
        if change.kind == "copy" and state.current == change.data:
            node.oracle.make(node.client, self.workload.put(*where, 100))
        if change.kind == "undelete" and not state.trash:
            node.oracle.make(node.client, self.workload.put(*where, 100))
            node.oracle.make(node.client, Change("delete", *where))
        return change

    def _let_it_rest(self):
        """The list waits its turn behind whatever the last change left for the I/O thread to do."""
        self.node.client.list("plain")

    def _hit(self, change, kind, number):
        node = self.node
        was_hit = False
        with node.trace("hit", [kind], injection(kind, KILL, number)):
            try:
                node.oracle.make(node.client, change)
                self._let_it_rest()
            except Gone:
                was_hit = True
        # What a commit writes behind its answer may be hit as late as strace lets go.
        if not was_hit and node.is_alive():
            return False
        node.wait_killed()
        self.kills[kind] += 1
        node.restart_and_check()
        return True


def kill_chain(folder, seed, changes, kinds):
    with Node(folder) as node:
        node.start_new()
        killer = Killer(node, seed)
        for _ in range(changes):
            killer.hit_everywhere(kinds)
        node.oracle.check(node.client)
        node.stop_and_fsck()
        return killer.kills, node


def test_killed_at_every_call_of_a_workload(tmp_path, seed, full, side_by_side, report):
    chains, changes = (4, 50) if full else (2, 30)
    kinds = CHANGING + (OPENING if full else [])
    done = side_by_side(
        lambda i: kill_chain(tmp_path / f"d{i}", f"{seed}/{i}", changes, kinds), range(chains))
    kills = sum((kills for kills, _ in done), Counter())
    slowest = max(max(node.starts) for _, node in done)
    report(f"{chains * changes} changes, {kills.total()} kills {dict(kills)}, slowest start "
           f"{slowest:.2f} s")
    assert {"pwrite64", "fdatasync", "fsync", "renameat"} <= kills.keys()


@pytest.mark.parametrize("directory", ["empty", "crashed"])
def test_killed_at_every_call_of_a_start(tmp_path, seed, full, side_by_side, report, directory):
    """The first start makes the directory; a later one reads the changes after the last flush, cuts
    a torn end, and removes what was being written. Most mkdirat find their folder there: unless all
    are asked for, some of them stand for the others."""
    with Node(tmp_path / "left") as left:
        if directory == "crashed":
            leave_crashed(left, seed)

    def kill_starts(kind):
        step = 8 if kind == "mkdirat" and not full else 1
        kills = 0
        for when in range(1 + seed % step, CALLS_MAX, step):
            folder = tmp_path / f"{kind}{when}"
            if directory == "crashed":
                shutil.copytree(left.folder, folder)
            if not kill_a_start(folder, left.oracle, kind, when):
                break
            kills += 1
            shutil.rmtree(folder)
        return kills

    kinds = CHANGING + (OPENING if full else [])
    kills = {kind: count for kind, count in zip(kinds, side_by_side(kill_starts, kinds)) if count}
    report(f"{directory}: {sum(kills.values())} kills {kills}")
    assert {"pwrite64", "fdatasync", "fsync"} <= kills.keys()


def kill_a_start(folder, oracle, kind, when):
    with Node(folder) as node:
        node.oracle = oracle.copy()
        log = folder.with_suffix(".strace")
        try:
            node.start(under(log, [kind], injection(kind, KILL, when)))
        except AssertionError as error:
            assert "ended with -9 before" in str(error), error
            killed = True
        else:
            node.kill()  # before another thread gets to its own call of that number
            killed = False
        node.start()
        if not oracle.states:
            node.oracle.make_buckets(node.client)
        node.oracle.check(node.client)
        node.stop()
        return killed


def leave_crashed(node, seed):
    """A directory with changes beyond the last flush, a torn end and a file that was on its way."""
    node.start_new()
    workload = Workload(node.oracle, seed)
    for size in (100, 200_000, 1_200_000, 1_200_000):
        node.oracle.make(node.client, workload.put(size=size))
    node.stop()
    node.start()
    for _ in range(6):
        node.oracle.make(node.client, workload.next())
    with node.trace("torn", ["renameat"], injection("renameat", KILL, 1)):
        with pytest.raises(Gone):
            node.oracle.make(node.client, workload.put(size=1_200_000))
        node.wait_killed()
    segment = max((node.folder / "segments").iterdir())
    with open(segment, "ab") as file:
        file.write(b"torn" * 10)


@pytest.mark.parametrize("who", ["leat-io", "rocksdb"])
def test_killed_at_every_call_of_a_stop(tmp_path, seed, full, report, who):
    """A stop flushes the index: new tables, a new MANIFEST, a new CURRENT."""
    kills = Counter()
    with Node(tmp_path / "d") as node:
        node.start_new()
        workload = Workload(node.oracle, seed)
        for kind in CHANGING + (OPENING if full else []):
            for when in range(1, CALLS_MAX):
                for _ in range(3):
                    node.oracle.make(node.client, workload.next())
                with node.trace("stop", [kind], injection(kind, KILL, when), threads_named=(who,)):
                    node.client.close()
                    node.server.signal(15)
                    code = node.server.wait()
                assert code in (0, -9), f"ended with {code}: {node.server.log()}"
                node.restart_and_check()
                if code == 0:
                    break
                kills[kind] += 1
        node.stop_and_fsck()
    report(f"{who}: {kills.total()} kills {dict(kills)}")
    assert kills["fdatasync"] > 0


def test_killed_while_removing_what_nobody_needs(tmp_path, seed, full, report):
    """Files of replaced objects go some seconds later, after the change that gave them up."""
    kills = 0
    with Node(tmp_path / "d") as node:
        node.start_new()
        workload = Workload(node.oracle, seed)
        for when in range(1, 6 if full else 2):
            for _ in range(when):
                node.oracle.make(node.client, workload.put("plain", "replaced", 1_100_000))
            node.oracle.make(node.client, workload.put("plain", "replaced", 1_100_001))
            with node.trace("tidy", ["unlinkat"], injection("unlinkat", KILL, when)):
                node.server.wait(30)
                node.wait_killed()
            kills += 1
            node.restart_and_check()
        node.stop_and_fsck()
    report(f"{kills} kills")
