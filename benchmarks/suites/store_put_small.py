"""Durable PUT of small objects into a store against one file per object and against RocksDB."""

from dataclasses import dataclass
from functools import partial

from harness import files, machine, store
from harness.context import Context
from harness.errors import BenchmarkError
from harness.report import Cell, Report
from harness.rounds import interleave
from harness.store import KIB
from harness.stats import median

TARGETS = ["store_bench", "leat"]
SIZES = (4 * KIB, 112 * KIB)
WRITERS = (1, 16, 64)
LEGS = {"leat": "put", "files": "files-put", "RocksDB": "rocksdb-put"}
# At this many writers the issue asks for five times the rate of files.
TARGET_WRITERS = 16
TARGET = 5.0


@dataclass(frozen=True)
class Work:
    name: str
    size: int
    writers: int


def works() -> list[Work]:
    return [
        Work(f"{files.size_name(size)}/{writers}", size, writers)
        for size in SIZES
        for writers in WRITERS
    ]


def measure(context: Context, leg: str, work: Work) -> store.Figures:
    seconds = context.seconds_or(quick=0.4, full=3.0)
    return store.fresh(
        context, leg, LEGS[leg], size=work.size, tasks=work.writers, seconds=seconds
    )


def cells_of(work: Work, samples: dict[str, list[store.Figures]]) -> list[Cell]:
    def middle(leg: str, value) -> float:
        return median(value(sample) for sample in samples[leg])

    rate = {leg: middle(leg, lambda sample: sample.per_s) for leg in LEGS}
    p50 = {leg: middle(leg, lambda sample: sample.latency_us["p50"] / 1000) for leg in LEGS}
    p99 = {leg: middle(leg, lambda sample: sample.latency_us["p99"] / 1000) for leg in LEGS}
    return [
        Cell(
            name=work.name,
            leat=rate["leat"],
            peer=peer,
            peer_value=rate[peer],
            target=TARGET if peer == "files" and work.writers == TARGET_WRITERS else None,
            columns={
                "p50 ms": f"{p50['leat']:.2f} / {p50[peer]:.2f}",
                "p99 ms": f"{p99['leat']:.2f} / {p99[peer]:.2f}",
            },
            extra={"p50_ms": p50["leat"], "p99_ms": p99["leat"]},
        )
        for peer in ("files", "RocksDB")
    ]


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("store_put_small has no self-test: its peers are no servers")
    store.need_space(context.work, 2 * store.GIB)
    cells = []
    chosen = context.choose(works())
    pace = context.pace(len(chosen))
    for work in chosen:
        context.say(work.name)
        legs = {leg: partial(measure, context, leg, work) for leg in LEGS}
        samples = interleave(legs, context.rounds_or(quick=3, full=5), pace)
        cells += cells_of(work, samples)
    version = context.store(context.work).version()
    facts = machine.facts(context.work, {"leat": version})
    notes = [
        "In process, without HTTP; every side may use both cores. Pairs are leat / peer.",
        "All answer when durable. 'files': temporary name, write, fdatasync, rename, fsync",
        "of the folder. 'RocksDB': its log with sync, large values in blob files, no compression.",
        f"On {facts['disk']}, a new directory for each measurement.",
    ]
    return Report("store_put_small", "PUT/s", facts, cells, notes)
