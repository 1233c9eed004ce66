"""From the start of a training program to its first batch, imports included, and its memory."""

from dataclasses import dataclass
from functools import partial

from harness import feed, machine, store
from harness.context import Context
from harness.errors import BenchmarkError
from harness.feed import Fed
from harness.feeder import Feeder, quick_note
from harness.loader_data import HTTP, LABELS, PACKAGES, LoaderData
from harness.report import Cell, Report
from harness.rounds import interleave
from harness.shards import Samples
from harness.stats import median
from harness.store import MIB

TARGETS = ["leat", "leat_shared"]
BATCH = 256
SIZE = 100


@dataclass(frozen=True)
class Work:
    name: str
    count: int
    per_shard: int
    peers: tuple[str, ...]

    @property
    def samples(self) -> Samples:
        return Samples(self.count, {"bin": SIZE}, self.per_shard)


def works(quick: bool) -> list[Work]:
    """A file for each of a million samples is what nobody waits for: the folder is in quick runs.
    Ten million are read from tars, which need no second copy for a peer."""
    if quick:
        return [Work("20k samples", 20_000, 5000, ("webdataset", HTTP, "folder"))]
    return [
        Work("1M samples", 1_000_000, 5000, ("webdataset", HTTP, "streaming", "litdata", "hf")),
        Work("10M samples", 10_000_000, 50_000, ("webdataset", HTTP)),
    ]


def measure(feeder: Feeder, data: LoaderData, leg: str) -> Fed:
    return feeder.run(leg, data, batch=BATCH, epochs=1, samples_max=BATCH, sample_bytes=SIZE)


def cells_of(work: Work, taken: dict[str, list[Fed]]) -> list[Cell]:
    def middle(leg: str, value) -> float:
        return median(value(one) for one in taken[leg])

    def pair(leg: str, value, form: str) -> str:
        return " / ".join(format(middle(of, value), form) for of in ("leat", leg))

    return [
        Cell(
            work.name,
            middle("leat", lambda one: one.first_batch_s),
            LABELS[peer],
            middle(peer, lambda one: one.first_batch_s),
            smaller_is_better=True,
            columns={
                "until the loader was made s": pair(peer, lambda one: one.made_s, ".2f"),
                "memory MiB": pair(peer, lambda one: one.memory_bytes / MIB, ".0f"),
            },
        )
        for peer in work.peers
    ]


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("loader_first_batch has no self-test: its legs are loops")
    chosen = context.choose(works(context.quick))
    cells = []
    pace = context.pace(len(chosen))
    with Feeder(context) as feeder:
        for work in chosen:
            copies = 2 + len([peer for peer in work.peers if peer not in ("webdataset", HTTP)])
            store.need_space(context.work, copies * work.count * work.samples.stride())
            context.say(f"writing {work.count} samples")
            data = feeder.make(work.name.replace(" ", "-"), work.samples)
            for peer in work.peers:
                data.source(peer, feeder.share)
            legs = {leg: partial(measure, feeder, data, leg) for leg in ("leat", *work.peers)}
            context.say("first batches")
            taken = interleave(legs, context.rounds_or(quick=2, full=5), pace)
            cells += cells_of(work, taken)
            data.remove()
        facts = machine.facts(
            context.work, {"leat": feeder.store.version(), **feed.versions(PACKAGES)}
        )
    notes = [
        "From the first line of the program: imports (torch in every leg), opening, shuffling, the",
        f"first batch of {BATCH}. Samples of {SIZE} bytes, warm. Pairs: leat / peer. Memory: all",
        "processes of the loop after that batch, without the server.",
        *quick_note(context),
    ]
    return Report("loader_first_batch", "s", facts, cells, notes)
