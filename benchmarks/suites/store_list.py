"""Listing all keys of a store in pages of 1000 on one core, and how that grows with the store."""

from functools import partial

from harness import machine, store
from harness.context import Context
from harness.errors import BenchmarkError
from harness.report import Cell, Report
from harness.rounds import interleave
from harness.stats import median

TARGETS = ["store_bench", "leat"]
SIZE = 100
KEYS_PER_S = 500_000
# A key may cost this much more in a store of ten times the size and still be called flat.
FLAT = 0.9


def count_name(count: int) -> str:
    return f"{count // 1_000_000}M" if count >= 1_000_000 else f"{count // 1000}k"


def list_once(context: Context, count: int) -> store.Figures:
    return store.run(
        "list", [context.cores.server], dir=context.work / count_name(count), count=count
    )


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("store_list has no self-test: it has no server")
    counts = [20_000, 200_000] if context.quick else [1_000_000, 10_000_000]
    judged = counts[-1] if context.quick else counts[0]
    for count in counts:
        context.say(f"writing {count} objects")
        store.fill(context, context.work / count_name(count), count, SIZE)
    legs = {count_name(count): partial(list_once, context, count) for count in counts}
    samples = interleave(legs, context.rounds_or(quick=5, full=5), context.pace(1))
    rate = {name: median(one.per_s for one in taken) for name, taken in samples.items()}
    p99 = {
        name: median(one.latency_us["p99"] / 1000 for one in taken)
        for name, taken in samples.items()
    }
    rss = {
        name: median(one.rss_bytes / store.MIB for one in taken) for name, taken in samples.items()
    }
    cells = [
        Cell(
            name=f"{count_name(count)} keys",
            leat=rate[count_name(count)],
            peer="limit",
            peer_value=KEYS_PER_S,
            target=1.0 if count == judged else None,
            columns={
                "page p99 ms": f"{p99[count_name(count)]:.2f}",
                "RSS MiB": f"{rss[count_name(count)]:.0f}",
            },
        )
        for count in counts
    ]
    small, large = (count_name(count) for count in counts)
    cells.append(
        Cell(
            name=f"{large} against {small}",
            leat=rate[large],
            peer=f"leat, {small}",
            peer_value=rate[small],
            target=FLAT,
        )
    )
    facts = machine.facts(context.work, {"leat": context.store(context.work).version()})
    notes = [
        f"In process, all threads on one core; objects of {SIZE} bytes, written in random order.",
        "Each round opens the store anew: its index comes from the page cache, not from its own.",
    ]
    return Report("store_list", "keys/s", facts, cells, notes)
