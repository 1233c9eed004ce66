"""Latency of commits to a dataset as its versions grow to 10 000, beside a synced SQLite row."""

import sqlite3
import time
from dataclasses import dataclass

from harness import machine
from harness.context import Context
from harness.errors import BenchmarkError
from harness.report import Cell, Report
from harness.rounds import Pace, interleave
from harness.s3 import Session
from harness.shards import Samples
from harness.stats import median

TARGETS = ["leat"]
BUCKET = "bench"
BASE, EXTRA = "base.tar", "extra.tar"
# Commits around each version whose median is taken.
WINDOW = 20
# A commit to an old dataset may take so much longer than one to a young one and still be flat.
FLAT = 0.8
YOUNG = 10
PEER = "SQLite, synced"


@dataclass(frozen=True)
class Window:
    version: int
    commit_ms: float
    open_ms: float
    young_commit_ms: float
    young_open_ms: float
    sqlite_ms: float


class Rows:
    """The limit: one durable row in a database of one's own."""

    def __init__(self, path) -> None:
        self.database = sqlite3.connect(path, isolation_level=None)
        self.database.execute("pragma journal_mode = wal")
        self.database.execute("pragma synchronous = full")
        self.database.execute("create table versions (n integer primary key, record blob)")

    def insert_ms(self) -> float:
        start = time.perf_counter()
        self.database.execute("insert into versions (record) values (zeroblob(500))")
        return (time.perf_counter() - start) * 1000


class Versions:
    """A dataset whose versions add one shard and take it away again: the number of versions grows,
    the dataset does not."""

    def __init__(self, session: Session, name: str) -> None:
        self.session = session
        self.dataset = f"{BUCKET}/{name}"
        self.version = session.make_dataset(self.dataset, [BASE])["version"]

    def grow(self, version: int) -> None:
        while self.version < version:
            self.commit_ms()

    def commit_ms(self) -> float:
        change = "add" if self.version % 2 else "remove"
        start = time.perf_counter()
        info = self.session.commit(self.dataset, {change: [EXTRA]})
        elapsed = (time.perf_counter() - start) * 1000
        self.version += 1
        if info["version"] != self.version or info["samples"] != 1000 + (change == "add"):
            raise BenchmarkError(f"version {self.version} is not what was committed: {info}")
        return elapsed

    def open_ms(self) -> float:
        start = time.perf_counter()
        self.session.json("GET", f"/_/v1/datasets/{self.dataset}")
        return (time.perf_counter() - start) * 1000


def put_shards(session: Session) -> None:
    session.make_bucket(BUCKET)
    base = Samples(count=1000, fields={"bin": 100, "cls": 3}, per_shard=1000)
    session.put(BUCKET, BASE, base.shard_bytes(0))
    extra = Samples(count=1, fields={"png": 100}, per_shard=1)
    session.put(BUCKET, EXTRA, extra.shard_bytes(0))


def measure(context: Context, versions: Versions, rows: Rows, target: int) -> Window:
    """Around version `target`, in turn with a dataset that is young: the disk's moods hit both."""
    context.say(f"up to version {target}")
    versions.grow(target - WINDOW // 2)
    young = Versions(versions.session, f"young-{target}")
    young.grow(max(1, YOUNG - WINDOW // 2))
    acts = {
        "commit_ms": versions.commit_ms,
        "young_commit_ms": young.commit_ms,
        "open_ms": versions.open_ms,
        "young_open_ms": young.open_ms,
        "sqlite_ms": rows.insert_ms,
    }
    taken = interleave(acts, WINDOW, Pace(None, 1))
    return Window(target, **{name: median(values) for name, values in taken.items()})


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("dataset_commit has no self-test: no other server has datasets")
    targets = [10, 100, 1000] if context.quick else [10, 1000, 10_000]
    rows = Rows(context.work / "rows.sqlite")
    with context.store(context.work / "store") as server, Session(server) as session:
        put_shards(session)
        versions = Versions(session, "old")
        windows = [measure(context, versions, rows, target) for target in targets]
        rss = server.rss_bytes() / (1 << 20)
        facts = machine.facts(
            context.work, {"leat": server.version(), "sqlite": sqlite3.sqlite_version}
        )
    cells = []
    for one in windows:
        name, young = f"version {one.version}", f"a dataset at version {YOUNG}"
        cells += [
            Cell(name, one.commit_ms, young, one.young_commit_ms, target=FLAT,
                 smaller_is_better=True),
            Cell(name, one.commit_ms, PEER, one.sqlite_ms, smaller_is_better=True),
            Cell(f"open of {name}", one.open_ms, young, one.young_open_ms, target=FLAT,
                 smaller_is_better=True),
        ]
    notes = [
        "One client after the other; each commit adds a shard of one sample to a dataset of a",
        "thousand or takes it away, and is answered when its snapshot and its pointer are durable.",
        f"Medians of {WINDOW} commits around the version, in turn with those to a young dataset.",
        f"'{PEER}': one row of 500 bytes in WAL mode with synchronous = full, in process.",
        f"The server has {rss:.0f} MiB at the end.",
    ]
    return Report("dataset_commit", "ms", facts, cells, notes)
