"""Raw samples to batches: leat.DataLoader against other loaders and a C++ loop of preads."""

import random
from dataclasses import dataclass
from functools import partial

from harness import feed, machine, store
from harness.context import Context
from harness.errors import BenchmarkError
from harness.feeder import (
    NOTES,
    Feeder,
    Taken,
    peers_of,
    quick_note,
    rate_cells,
)
from harness.loader_data import LABELS, LIMIT, PACKAGES, LoaderData
from harness.report import Report
from harness.rounds import interleave
from harness.shards import Samples
from harness.store import KIB, MIB

TARGETS = ["leat", "leat_shared", "pread_loop"]
BATCH = 256
OVER_LIMIT = 0.6
WARM_EPOCHS = 4


@dataclass(frozen=True)
class Work:
    name: str
    size: int
    count: int
    is_cold: bool
    over_peers: float

    @property
    def samples(self) -> Samples:
        return Samples(self.count, {"bin": self.size}, max(1, 32 * MIB // self.size))


def works(quick: bool) -> list[Work]:
    small, large = (16_000, 2000) if quick else (100_000, 4000)
    warm = [
        Work("4KiB, warm", 4 * KIB, small, False, 3.0),
        Work("112KiB, warm", 112 * KIB, large, False, 1.5),
    ]
    cold = [
        Work("4KiB, cold", 4 * KIB, small, True, 3.0),
        Work("112KiB, cold", 112 * KIB, large, True, 1.5),
    ]
    return warm if quick else warm + cold


def measure(feeder: Feeder, data: LoaderData, work: Work, leg: str) -> Taken:
    """Warm are the epochs behind the first, cold is the first one of data that is not in memory."""
    order = list(range(work.count))
    random.Random(1).shuffle(order)
    if work.is_cold:
        feeder.make_cold(leg, data)
    if leg == LIMIT:
        return Taken(feeder.limit(data, work.samples, order, BATCH))
    epochs = 1 if work.is_cold else 1 + WARM_EPOCHS
    fed = feeder.run(leg, data, batch=BATCH, epochs=epochs, sample_bytes=work.size)
    inexact = [epoch for epoch in fed.epochs if not feed.is_exact(epoch, work.count)]
    if leg == "leat" and inexact:
        raise BenchmarkError(f"leat gave {inexact[0].samples} of {work.count}, or some twice")
    measured = feed.merged(fed.epochs[-1:] if work.is_cold else fed.epochs[1:])
    return Taken(measured, fed.memory_bytes, is_exact=not inexact)


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("loader_raw has no self-test: its legs are loops, not servers")
    chosen = context.choose(works(context.quick))
    store.need_space(context.work, 8 * max(work.count * work.samples.stride() for work in chosen))
    cells, inexact = [], set()
    pace = context.pace(len(chosen))
    with Feeder(context) as feeder:
        for size in sorted({work.size for work in chosen}):
            of_size = [work for work in chosen if work.size == size]
            data = feeder.make(str(size), of_size[0].samples)
            for peer in peers_of(context):
                data.source(peer, feeder.share)  # writes its format
            for work in of_size:
                context.say(work.name)
                legs = {
                    leg: partial(measure, feeder, data, work, leg)
                    for leg in ("leat", *peers_of(context), LIMIT)
                }
                taken = interleave(legs, context.rounds_or(quick=1, full=3), pace)
                inexact |= {
                    LABELS[leg]
                    for leg, all_of in taken.items()
                    for one in all_of
                    if not one.is_exact
                }
                cells += rate_cells(work.name, taken, work.over_peers, OVER_LIMIT)
            data.remove()
        facts = machine.facts(
            context.work, {"leat": feeder.store.version(), **feed.versions(PACKAGES)}
        )
    notes = [
        *NOTES,
        f"Batches of {BATCH}, shuffled; samples are counted and their numbers added up.",
        f"Not every sample once: {', '.join(sorted(inexact)) or 'none'}.",
        *quick_note(context),
    ]
    return Report("loader_raw", "samples/s", facts, cells, notes)
