"""EIO and ENOSPC at every kind of call: the server lives on, acknowledges nothing it cannot keep,
and a failed sync is the end of that disk until a new start (docs/adr/0007-durable-by-default.md).
"""

import re
import shutil

from node import COUNTABLE, Node
from oracle import Wrong
from store_client import Gone
from test_kills import leave_crashed
from tracer import injection, read_calls, under
from workload import Workload

SYNCS = ["fdatasync", "fsync"]
WRITING = ["pwrite64", *SYNCS, "renameat", "unlinkat", "ftruncate", "mkdirat", "openat2"]
READING = ["pread64", "preadv2", "getdents64", "newfstatat", "fstatfs", "fcntl", "mlock"]
RUNNING = [(kind, "EIO") for kind in WRITING + READING] + [(kind, "ENOSPC") for kind in WRITING]
# Takes the lock of the directory, and nothing else.
STARTING = [*RUNNING, ("flock", "EIO")]
FIRST = 50


def numbers(full, seed, count):
    """All of the first calls, or the very first ones and some of the others, others every day."""
    return range(1, FIRST + 1) if full else [1, 2, *range(3 + seed % 9, FIRST + 1, 9)][:count]


def failed_sync(calls):
    """The sync among the calls of one change that was made to fail and that the change needed. Its
    record is durable by the first sync of the segment; one after that is a group's, which was due
    in the meantime."""
    is_recorded = False
    for text in calls:
        if "(INJECTED)" in text and not (is_recorded and "/segments/" in text):
            return text
        is_recorded |= "/segments/" in text
    return None


class Afflicted:
    """A node whose server has a call that fails."""

    def __init__(self, node, seed):
        self.node = node
        self.workload = Workload(node.oracle, seed)
        self.answers_failed = 0

    def suffer(self, kind, error, when, changes):
        """One run of the server with that call failing; gives whether it came to that."""
        node = self.node
        node.start()
        with node.trace("error", [kind], injection(kind, f"error={error}", when),
                        threads_named=("leat-io", "shard", "rocksdb")) as tracer:
            for number in range(changes):
                self._change(tracer, kind)
                self._read()
                if number % 4 == 0:
                    self._leave_in_the_middle()
            failed = tracer.injected()
        if failed:
            self._check_state(kind, error, failed)
        node.oracle.check(node.client, decides=False)
        node.stop()
        node.start()
        node.oracle.check(node.client)
        node.stop()
        return bool(failed)

    def _change(self, tracer, kind):
        node, change = self.node, self.workload.next()
        before = len(tracer.calls())
        try:
            status = node.oracle.make(node.client, change)
        except Gone:
            assert node.is_alive(), f"{change}: the server ended: {node.server.log()}"
            return
        self.answers_failed += status >= 500
        failed = kind in SYNCS and failed_sync([text for _, text in tracer.calls()[before:]])
        # A group's sync comes when its changes have been answered.
        if failed and status < 300 and change.bucket != "group":
            raise Wrong(f"{change} was acknowledged though {failed}")

    def _read(self):
        node, (bucket, key) = self.node, next(reversed(self.node.oracle.states))
        try:
            answer = node.client.get(bucket, key)
        except Gone:
            assert node.is_alive(), f"the server ended: {node.server.log()}"
            return
        if answer.status not in (500, 503, 507):
            node.oracle.saw(bucket, key, answer.status, answer.body, decides=False)

    def _leave_in_the_middle(self):
        """A client that goes away while it sends a large object: what came of it is removed."""
        with self.node.server.connect() as connection:
            self.node.server.connections.remove(connection)
            fields = [f"Authorization: Bearer {self.node.client.token}", "Content-Length: 3000000"]
            head = connection.head("PUT /_/v1/objects/plain/never", fields)
            connection.send_until_refused(head + bytes(1_200_000))

    def _check_state(self, kind, error, failed):
        """What the node says of its disk afterwards, and whether it takes changes."""
        node = self.node
        disk = node.client.disks()[0]
        change = self.workload.put("plain", size=5000)
        status = node.oracle.make(node.client, change)
        told = f"{failed}: disk {disk}, PUT {status}"
        if kind in SYNCS:
            assert disk["state"] == "failed", told
        if disk["state"] == "failed":
            assert disk["error"] and status == 503, told
        else:
            assert status == 201, told
        if error == "ENOSPC" and kind == "pwrite64" and "/index/" not in failed[0]:
            assert disk["state"] != "failed", told


def suffer_all(folder, seed, kind_and_error, whens, changes):
    kind, error = kind_and_error
    with Node(folder) as node:
        node.start_new()
        node.stop()
        afflicted = Afflicted(node, f"{seed} {kind} {error}")
        for done, when in enumerate(whens):
            try:
                if not afflicted.suffer(kind, error, when, changes):
                    return done
            except BaseException as failure:
                failure.add_note(f"{kind} number {when} failing with {error}, seed {seed}")
                raise
        return len(whens)


def test_errors_while_serving(tmp_path, seed, full, side_by_side, report):
    changes = 150 if full else 25
    whens = numbers(full, seed, 4)
    counts = side_by_side(
        lambda pair: suffer_all(tmp_path / "_".join(pair), seed, pair, whens, changes), RUNNING)
    done = {f"{kind} {error}": count for (kind, error), count in zip(RUNNING, counts)}
    report(f"{sum(counts)} errors {done}")
    assert all(done[f"{kind} EIO"] > 0 for kind in ["pwrite64", "pread64", "openat2", *SYNCS])


def test_errors_while_starting(tmp_path, seed, full, side_by_side, report):
    """A start that fails says why in one line and ends by itself; the next one finds everything."""
    with Node(tmp_path / "left") as left:
        leave_crashed(left, seed)
    kinds = sorted({kind for kind, _ in STARTING})
    log = tmp_path / "seen.strace"
    with Node(shutil.copytree(left.folder, tmp_path / "seen")) as node:
        node.start(under(log, kinds))
        node.kill()
    made = calls_of_main(log, tmp_path / "seen")
    cases = [(kind, error, when) for kind, error in STARTING
             for when in sample(made.get(kind, []), full, seed)]

    def start(case):
        folder = tmp_path / "{}_{}_{}".format(*case)
        shutil.copytree(left.folder, folder)
        refused = fail_a_start(folder, left.oracle, *case)
        shutil.rmtree(folder)
        return refused

    refused = side_by_side(start, cases)
    report(f"{len(cases)} starts, {sum(refused)} refused")
    assert 0 < sum(refused)


def sample(whens, full, seed):
    """At most the first ones in the full run; some of them otherwise."""
    whens = whens[:FIRST]
    step = 1 if full else max(1, len(whens) // 3)
    return whens[seed % step::step]


def calls_of_main(log, folder):
    """{kind: the numbers of the calls that concern the folder}, of the thread that starts."""
    lines = log.read_text().splitlines()
    main = lines[0].split()[0]
    made, counts = {}, {}
    for kind, line in read_calls(log):
        if line.split()[0] != main:
            continue
        counts[kind] = counts.get(kind, 0) + 1
        if str(folder) in line:
            made.setdefault(kind, []).append(counts[kind])
    return made


def fail_a_start(folder, oracle, kind, error, when):
    with Node(folder) as node:
        node.oracle = oracle.copy()
        log = folder.with_suffix(".strace")
        try:
            node.start(under(log, [kind], injection(kind, f"error={error}", when)))
            refused = False
        except AssertionError as failure:
            refused = True
            ended = re.search(r"ended with (-?\d+) before it said .*?\): (.*)", str(failure), re.S)
            assert ended, failure
            told = [line for line in ended[2].splitlines() if line.startswith("leat: ")]
            assert int(ended[1]) > 0 and len(told) == 1, f"{kind} {when} {error}: {failure}"
            assert str(folder) in told[0], f"{kind} {when} {error}: {told[0]}"
        if not refused:
            node.kill()  # what comes after the start is another test's
        node.start()
        node.oracle.check(node.client)
        node.stop()
        return refused


def test_a_segment_that_cannot_be_cut_fails_the_disk(tmp_path, seed):
    """A batch that found no room must not stay behind the end of its segment."""
    with Node(tmp_path / "d") as node:
        node.start_new()
        workload = Workload(node.oracle, seed)
        for _ in range(10):
            node.oracle.make(node.client, workload.next())
        with node.trace("cut", ["pwrite64", "ftruncate"], injection("pwrite64", "error=ENOSPC", 1),
                        injection("ftruncate", "error=EIO", 1)):
            assert node.oracle.make(node.client, workload.put("plain", size=3000)) == 503
        assert node.client.disks()[0]["state"] == "failed"
        node.oracle.check(node.client, decides=False)
        node.stop()
        node.restart_and_check()
        node.stop_and_fsck()


def test_a_disk_that_failed_gets_no_new_objects(tmp_path, seed):
    """Of two disks one fails: new objects go to the other one, and everything can still be read."""
    folders = [tmp_path / "d0", tmp_path / "d1"]
    with Node(folders[0], folders[1], *COUNTABLE) as node:
        node.start_new()
        workload = Workload(node.oracle, seed)
        for number in range(20):
            node.oracle.make(node.client, workload.put("plain", f"before {number}", 3000))
        with node.trace("failing", ["fdatasync"], injection("fdatasync", "error=EIO", 1)):
            assert node.oracle.make(node.client, workload.put("plain", "hit", 3000)) == 503
        states = sorted(disk["state"] for disk in node.client.disks())
        assert states == ["failed", "ok"]
        for number in range(20):
            change = workload.put("plain", f"after {number}", 3000)
            assert node.oracle.make(node.client, change) == 201
        node.oracle.check(node.client, decides=False)
        node.stop()
        node.restart_and_check()
        assert [disk["state"] for disk in node.client.disks()] == ["ok", "ok"]
        node.stop()
