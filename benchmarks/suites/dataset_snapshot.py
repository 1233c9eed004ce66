"""Opening, searching and the size of snapshots of 100 k to 10 M samples, beside SQLite."""

import json
import random
import sqlite3
import subprocess
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness import build, machine
from harness.context import Context
from harness.errors import BenchmarkError
from harness.load import flags
from harness.report import Cell, Report
from harness.rounds import interleave
from harness.servers import pin_child
from harness.stats import median

TARGETS = ["leat", "snapshot_bench"]
SAMPLES_PER_CLASS = 1300
SAMPLES_PER_SHARD = 10_000
LOOKUPS = 100_000
OPEN_MS = 100
# "O(1) memory before first use": what opening may make resident, whatever the size.
OPENED_MIB = 8
PEER = "SQLite"


@dataclass(frozen=True)
class Work:
    name: str
    count: int


def works(quick: bool) -> list[Work]:
    counts = {"100k": 100_000, "1M": 1_000_000, "10M": 10_000_000}
    return [Work(name, count) for name, count in counts.items() if not (quick and name == "10M")]


@dataclass(frozen=True)
class Search:
    first_ms: float
    lookups_per_s: float
    opened_mib: float = 0.0
    open_ms: float = 0.0
    remote_reads: int = 0
    remote_kib: float = 0.0


def snapshot_bench(context: Context, command: str, **options: object) -> dict:
    line = [build.binary(build.SNAPSHOT_BENCH), command, *flags(**options)]
    done = subprocess.run(
        line, capture_output=True, text=True, preexec_fn=pin_child(context.cores.client)
    )
    if done.returncode != 0:
        raise BenchmarkError(done.stderr.strip())
    return json.loads(done.stdout)


def key_of(number: int) -> str:
    """As snapshot_bench has it."""
    group = number // SAMPLES_PER_CLASS
    return f"n{group:05}/n{group:05}_{number:08}"


def image_bytes_of(number: int) -> int:
    return 20_000 + number * 7919 % 180_000


def rows(count: int):
    """Key, shard, and where the two fields are, as the snapshot holds them."""
    for number in range(count):
        if number % SAMPLES_PER_SHARD == 0:
            offset = 0
        image = image_bytes_of(number)
        label = offset + 512 + -(-image // 512) * 512 + 512
        yield (key_of(number), number // SAMPLES_PER_SHARD, offset + 512, image, label, 3)
        offset = label + 512


def make_sqlite(path: Path, count: int) -> None:
    database = sqlite3.connect(path)
    database.execute("pragma journal_mode = off")
    database.execute(
        "create table samples (key text primary key, shard int, jpg_offset int, jpg_size int,"
        " cls_offset int, cls_size int) without rowid"
    )
    database.executemany("insert into samples values (?, ?, ?, ?, ?, ?)", rows(count))
    database.commit()
    database.close()


def search_snapshot(context: Context, path: Path) -> Search:
    found = snapshot_bench(context, "search", file=path, lookups=LOOKUPS)
    return Search(
        first_ms=found["first_ms"],
        lookups_per_s=found["lookups_per_s"],
        opened_mib=found["opened_bytes"] / (1 << 20),
        open_ms=found["open_ms"],
        remote_reads=found["remote_reads"],
        remote_kib=found["remote_bytes"] / 1024,
    )


def search_sqlite(path: Path, count: int) -> Search:
    query = "select shard, jpg_offset, jpg_size, cls_offset, cls_size from samples where key = ?"
    numbers = random.Random(1)
    wanted = [numbers.randrange(count) for _ in range(LOOKUPS // 4)]
    keys = [key_of(number) for number in wanted]
    start = time.perf_counter()
    database = sqlite3.connect(path)
    database.execute("pragma mmap_size = 4294967296")
    database.execute(query, (key_of(0),)).fetchone()
    first = time.perf_counter()
    sizes = [database.execute(query, (key,)).fetchone()[2] for key in keys]
    end = time.perf_counter()
    database.close()
    if sizes != [image_bytes_of(number) for number in wanted]:
        raise BenchmarkError("SQLite gave wrong rows")
    return Search(first_ms=(first - start) * 1000, lookups_per_s=len(keys) / (end - first))


def measure(context: Context, work: Work, pace) -> list[Cell]:
    ours, theirs = context.work / f"{work.name}.snapshot", context.work / f"{work.name}.sqlite"
    made = snapshot_bench(context, "build", file=ours, count=work.count)
    make_sqlite(theirs, work.count)
    legs = {
        "leat": partial(search_snapshot, context, ours),
        PEER: partial(search_sqlite, theirs, work.count),
    }
    samples = interleave(legs, context.rounds_or(quick=5, full=7), pace)

    def middle(leg: str, field: str) -> float:
        return median(getattr(one, field) for one in samples[leg])

    cells = [
        Cell(f"{work.name}, open and first look-up", middle("leat", "first_ms"), PEER,
             middle(PEER, "first_ms"), unit="ms", bound=OPEN_MS, smaller_is_better=True,
             columns={"open alone ms": f"{middle('leat', 'open_ms'):.3f}"}),
        Cell(f"{work.name}, memory after open", middle("leat", "opened_mib"), "bound", OPENED_MIB,
             unit="MiB", bound=OPENED_MIB, smaller_is_better=True),
        Cell(f"{work.name}, look-up by key", middle("leat", "lookups_per_s"), PEER,
             middle(PEER, "lookups_per_s"), unit="1/s"),
        Cell(f"{work.name}, remote look-up", middle("leat", "remote_reads"), "bound", 2.0,
             target=1.0, unit="reads", smaller_is_better=True,
             columns={"KiB": f"{middle('leat', 'remote_kib'):.0f}"}),
        Cell(f"{work.name}, size", made["bytes"] / work.count, PEER,
             theirs.stat().st_size / work.count, unit="B/sample", smaller_is_better=True,
             columns={"build s": f"{made['seconds']:.2f}"}),
    ]
    ours.unlink()
    theirs.unlink()
    return cells


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("dataset_snapshot has no self-test: it has no server")
    chosen = context.choose(works(context.quick))
    pace = context.pace(len(chosen))
    cells = []
    for work in chosen:
        context.say(work.name)
        cells += measure(context, work, pace)
    versions = {"leat": context.store(context.work).version(), "sqlite": sqlite3.sqlite_version}
    facts = machine.facts(context.work, versions)
    notes = [
        "Samples of jpg and cls, keys like n00001/n00001_00001300, warm files. The snapshot is",
        "mapped by a C++ program of its own each round, and every page is verified at first touch.",
        "SQLite (mmap, a table by key without rowid) is called from Python: some of its time for a",
        "look-up is Python's.",
        "Sizes include keys, which the snapshot shortens. A remote look-up reads whole pages.",
    ]
    return Report("dataset_snapshot", "ms", facts, cells, notes)
