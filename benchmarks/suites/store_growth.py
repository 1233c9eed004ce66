"""PUT and GET rates as a store grows to 10 M objects; its memory, space and recovery at 1 M."""

import json
import signal
import time
from pathlib import Path

from harness import machine, store
from harness.context import Context
from harness.errors import BenchmarkError
from harness.report import Cell, Report
from harness.stats import median
from harness.store import KIB, MIB
from suites.store_list import count_name

TARGETS = ["http_load", "leat", "store_bench"]
GROWTH_SIZE = 100
TASKS = 16
SIZE = 4 * KIB
RSS_BOUND_MIB = 500
SPACE_BOUND_PERCENT = 5
RECOVERY_BOUND_S = 5
# Just below what makes the store flush its index by itself, by bytes and by number of changes: the
# longest that a recovery gets.
UNFLUSHED = {SIZE: 60_000, GROWTH_SIZE: 190_000}


def bounded(name: str, value: float, bound: float, unit: str) -> Cell:
    return Cell(
        name=name,
        leat=value,
        peer="limit",
        peer_value=bound,
        bound=bound,
        unit=unit,
        smaller_is_better=True,
    )


def rates(context: Context, root: Path, count: int) -> dict[str, float]:
    """Durable PUTs and random GETs in a store of `count` objects; medians of some rounds."""
    seconds = context.seconds_or(quick=0.5, full=3.0)
    options = {"dir": root, "size": GROWTH_SIZE, "tasks": TASKS, "seconds": seconds}
    taken: dict[str, list[float]] = {"PUT": [], "GET": []}
    cores = store.both(context)
    for number in range(context.rounds_or(quick=3, full=5)):
        put = store.run("put", cores, prefix=f"more-{count}-{number}-", **options)
        get = store.run("get", cores, count=count, **options)
        taken["PUT"].append(put.per_s)
        taken["GET"].append(get.per_s)
    return {kind: median(values) for kind, values in taken.items()}


def growth_cells(context: Context) -> list[Cell]:
    root = context.work / "growth"
    counts = [10_000, 100_000] if context.quick else [10_000, 100_000, 1_000_000, 10_000_000]
    base: dict[str, float] = {}
    cells = []
    there = 0
    for count in counts:
        context.say(f"growing to {count} objects")
        filled = store.fill(context, root, count - there, GROWTH_SIZE, first=there)
        there = count
        measured = rates(context, root, count)
        base = base or measured
        cells += [
            Cell(
                name=f"{kind} at {count_name(count)}",
                leat=rate,
                peer=f"leat, {count_name(counts[0])}",
                peer_value=base[kind],
                columns={"fill/s": f"{filled.per_s:.0f}"},
            )
            for kind, rate in measured.items()
        ]
    store.remove(root)
    return cells


def memory(context: Context, root: Path, count: int) -> float:
    """MiB of the server after it has served every object once and listed all."""
    server = context.store(root)
    with server:
        context.load(
            server,
            connections=16,
            requests=count,
            path=server.url_prefix,
            objects=count,
            expect_bytes=SIZE,
            field=store.FIELD,
        )
        listed, after = 0, ""
        while listed < count:
            page = store.request(server, "GET", f"/_/v1/list/{server.bucket}?max=10000{after}")
            answer = json.loads(page)
            listed += len(answer["objects"])
            if not answer["is_truncated"]:
                break
            after = f"&after={answer['next_after']}"
        if listed != count:
            raise BenchmarkError(f"{listed} of {count} objects were listed")
        return server.rss_bytes() / MIB


def recovery(context: Context, root: Path, count: int, size: int) -> float:
    """Seconds until the server listens again after a kill -9 with changes in no file of the
    index. All objects must be there."""
    all_objects = count + UNFLUSHED[size]
    store.run(
        "crash",
        store.both(context),
        expect_code=-signal.SIGKILL,
        dir=root,
        count=UNFLUSHED[size],
        size=size,
        first=count,
        tasks=128,
    )
    server = context.store(root)
    start = time.monotonic()
    with server:
        seconds = time.monotonic() - start
        buckets = json.loads(store.request(server, "GET", "/_/v1/buckets"))["buckets"]
        disks = json.loads(store.request(server, "GET", "/_/v1/disks"))["disks"]
    if buckets[0]["objects"] != all_objects:
        raise BenchmarkError(f"{buckets[0]['objects']} of {all_objects} objects came back")
    context.say(f"{disks[0]['replayed_changes']} changes replayed in {seconds:.2f} s")
    return seconds


def bound_cells(context: Context) -> list[Cell]:
    root = context.work / "bounds"
    count = 100_000 if context.quick else 1_000_000
    context.say(f"{count} objects of {SIZE} bytes")
    store.fill(context, root, count, SIZE)
    space = store.allocated_bytes(root)
    rss = memory(context, root, count)
    name = count_name(count)
    cells = [
        bounded(f"memory at {name}×4KiB", rss, RSS_BOUND_MIB, "MiB"),
        bounded(
            f"space over {name}×4KiB",
            (space / (count * SIZE) - 1) * 100,
            SPACE_BOUND_PERCENT,
            "%",
        ),
        bounded(
            f"recovery at {name}×4KiB",
            recovery(context, root, count, SIZE),
            RECOVERY_BOUND_S,
            "s",
        ),
    ]
    store.remove(root)
    if context.quick:
        return cells
    store.fill(context, root, count, GROWTH_SIZE)
    seconds = recovery(context, root, count, GROWTH_SIZE)
    store.remove(root)
    return [
        *cells,
        bounded(f"recovery at {name}×{GROWTH_SIZE}B", seconds, RECOVERY_BOUND_S, "s"),
    ]


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("store_growth has no self-test: Leat is its own peer here")
    cells = [*bound_cells(context), *growth_cells(context)]
    facts = machine.facts(context.work, {"leat": context.store(context.work).version()})
    notes = [
        f"Rates in process, {TASKS} at a time, both cores, objects of {GROWTH_SIZE} bytes: 10 M of",
        "4 KiB would ask more of the page cache than of the store. PUTs are durable.",
        "Each measurement opens the store anew. Memory is the server's after reading and listing",
        "everything; space is what du says; recovery is the time from start to listening after a",
        "kill -9 with nearly as many changes in no file of the index as there can be.",
    ]
    return Report("store_growth", "1/s", facts, cells, notes)
