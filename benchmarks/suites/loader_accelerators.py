"""Emulated accelerators (a sleep for each step): how busy loaders keep them, from a cold start."""

from dataclasses import dataclass
from functools import partial

from harness import feed, machine, store
from harness.context import Context
from harness.errors import BenchmarkError
from harness.feeder import Feeder
from harness.loader_data import LABELS, PACKAGES, LoaderData
from harness.report import Cell, Report
from harness.rounds import interleave
from harness.shards import Samples
from harness.stats import median
from harness.store import MIB

TARGETS = ["leat", "leat_shared"]
PLANNED, RANDOM = "leat", "leat, random order"
PEERS = ("webdataset", "folder")


@dataclass(frozen=True)
class Work:
    """A training of MLPerf Storage: bytes of a sample, samples of a step, seconds of a step, and
    the share of its time that an accelerator has to be busy."""

    name: str
    model: str
    size: int
    batch: int
    step_s: float
    minimum: float
    count: int
    accelerators: int

    @property
    def samples(self) -> Samples:
        return Samples(self.count, {"bin": self.size}, max(1, 64 * MIB // self.size))

    @property
    def demand_mb_per_s(self) -> float:
        return self.batch * self.size / self.step_s / 1e6 * self.accelerators


def works(quick: bool) -> list[Work]:
    numbers = (1,) if quick else (1, 2, 4)
    share = 2 if quick else 1
    retina = ("retinanet", 322_957, 24, 0.04755, 0.85, 1536 // share)
    resnet = ("resnet50", 114_660, 400, 0.224, 0.90, 4000 // share)
    return [
        Work(f"{model}/{number}", model, size, batch, step, minimum, count, number)
        for model, size, batch, step, minimum, count in (retina, resnet)
        for number in numbers
    ]


def measure(feeder: Feeder, data: LoaderData, work: Work, leg: str) -> float:
    """Utilisation: mean over the accelerators, each of which is a process with its own loader."""
    loop = "leat" if leg == RANDOM else leg
    feeder.make_cold(loop, data)
    loops = [
        feeder.start(
            loop, data, batch=work.batch, epochs=1, sample_bytes=work.size,
            step_seconds=work.step_s, rank=rank, world=work.accelerators,
            workers=max(1, 2 // work.accelerators), order="full" if leg == RANDOM else "block",
        )
        for rank in range(work.accelerators)
    ]
    fed = [one.wait() for one in loops]
    return sum(one.epochs[0].utilisation for one in fed) / len(fed)


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("loader_accelerators has no self-test: its legs are loops")
    chosen = context.choose(works(context.quick))
    store.need_space(context.work, 4 * max(work.count * work.size for work in chosen))
    cells = []
    pace = context.pace(len(chosen))
    with Feeder(context) as feeder:
        for model in dict.fromkeys(work.model for work in chosen):
            of_model = [work for work in chosen if work.model == model]
            data = feeder.make(model, of_model[0].samples)
            for peer in PEERS:
                data.source(peer, feeder.share)
            for work in of_model:
                context.say(work.name)
                legs = {
                    leg: partial(measure, feeder, data, work, leg)
                    for leg in (PLANNED, RANDOM, *PEERS)
                }
                taken = interleave(legs, context.rounds_or(quick=1, full=5), pace)
                busy = {leg: median(values) * 100 for leg, values in taken.items()}
                demand = {"demand MB/s": f"{work.demand_mb_per_s:.0f}"}
                cells.append(Cell(work.name, busy[PLANNED], "MLPerf Storage's minimum",
                                  work.minimum * 100, target=1.0, columns=demand))
                cells += [
                    Cell(work.name, busy[PLANNED], LABELS.get(peer, peer), busy[peer])
                    for peer in (RANDOM, *PEERS)
                ]
            data.remove()
        facts = machine.facts(
            context.work, {"leat": feeder.store.version(), **feed.versions(PACKAGES)}
        )
    notes = [
        "MLPerf-Storage-style emulation, not an MLPerf result. Model/accelerators; an accelerator",
        "is a process with a loader of its own that sleeps for each step (RetinaNet on B200 and",
        "ResNet-50 on H100 by their published step times). Utilisation is sleep over time, without",
        "the wait for the first step. One epoch from a cold start: data is out of the page cache,",
        "and the store was started anew. No barrier between accelerators. All share two cores.",
        "leat: planned order (shuffle=block); random order is shuffle=full.",
    ]
    return Report("loader_accelerators", "% busy", facts, cells, notes)
