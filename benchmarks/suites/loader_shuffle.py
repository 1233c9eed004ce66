"""How well loaders mix a data set that is sorted by class, all with the same memory."""

import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from harness import feed, machine, store
from harness.clients import Clients
from harness.context import Context
from harness.errors import BenchmarkError
from harness.feed import Fed
from harness.feeder import Feeder, must_be_exact, peers_of, quick_note
from harness.loader_data import BUCKET, HTTP, LABELS, PACKAGES, LoaderData
from harness.report import Cell, Report
from harness.rounds import interleave
from harness.s3 import Session
from harness.shards import Samples
from harness.stats import median
from harness.store import KIB, MIB

TARGETS = ["leat", "leat_shared"]
BATCH = 256
SIZE = 4 * KIB
BOUND = 1.2
INGESTED = "ingested"
UNMIXED = "leat, tars as they are"


def write_folder(root: Path, samples: Samples, per_class: int) -> None:
    """A folder for each class, as people have them."""
    for number in range(samples.count):
        folder = root / f"class-{number // per_class:05}"
        if number % per_class == 0:
            folder.mkdir(parents=True)
        (folder / f"{samples.key(number)}.bin").write_bytes(samples.content(number, "bin"))
    os.sync()


def ingest(context: Context, feeder: Feeder, samples: Samples, per_class: int) -> None:
    """By `leat put`, which mixes."""
    root = context.work / "by-class"
    write_folder(root, samples, per_class)
    Clients(context, feeder.store).leat("put", "--quiet", root, f"{BUCKET}/{INGESTED}")
    with Session(feeder.store) as session:
        info = session.json("GET", f"/_/v1/datasets/{BUCKET}/{INGESTED}")
    if info["samples"] != samples.count:
        raise BenchmarkError(f"{info['samples']} of {samples.count} samples were ingested")
    store.remove(root)


@dataclass(frozen=True)
class Work:
    samples: Samples
    per_class: int
    memory: int


def measure(feeder: Feeder, data: LoaderData, leg: str, work: Work) -> Fed:
    is_ours = leg in ("leat", UNMIXED)
    source = replace(data, name=INGESTED) if leg == "leat" else data
    fed = feeder.run(
        "leat" if is_ours else leg, source, batch=BATCH, epochs=1, sample_bytes=SIZE,
        memory_bytes=work.memory, per_class=work.per_class,
    )
    if is_ours:
        must_be_exact(fed.epochs[0], work.samples.count)
    return fed


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("loader_shuffle has no self-test: its legs are loops")
    classes, per_class, memory = (200, 50, 8 * MIB) if context.quick else (1000, 60, 16 * MIB)
    samples = Samples(classes * per_class, {"bin": SIZE}, 2000)
    store.need_space(context.work, 8 * samples.count * samples.stride())
    peers = [peer for peer in peers_of(context) if peer != HTTP]
    with Feeder(context) as feeder:
        context.say(f"writing {samples.count} samples")
        data = feeder.make("sorted", samples)
        ingest(context, feeder, samples, per_class)
        for peer in peers:
            data.source(peer, feeder.share)
        legs = {
            leg: partial(measure, feeder, data, leg, Work(samples, per_class, memory))
            for leg in ("leat", UNMIXED, *peers)
        }
        context.say("shuffling")
        taken = interleave(legs, context.rounds_or(quick=1, full=3), context.pace(1))
        facts = machine.facts(
            context.work, {"leat": feeder.store.version(), **feed.versions(PACKAGES)}
        )
    # Two samples of a perfect shuffle have one class so often.
    ideal = (per_class - 1) / (samples.count - 1)
    inflation = {leg: median(one.epochs[0].same_class for one in all_of) / ideal
                 for leg, all_of in taken.items()}
    rate = {leg: median(one.epochs[0].samples_per_s for one in all_of)
            for leg, all_of in taken.items()}
    held = {leg: median(one.memory_bytes / MIB for one in all_of)
            for leg, all_of in taken.items()}
    cells = [
        Cell(
            "same class in a batch", inflation["leat"], LABELS.get(peer, peer), inflation[peer],
            bound=BOUND, smaller_is_better=True,
            columns={
                "samples/s": f"{rate['leat']:.0f} / {rate[peer]:.0f}",
                "memory MiB": f"{held['leat']:.0f} / {held[peer]:.0f}",
            },
        )
        for peer in (UNMIXED, *peers)
    ]
    notes = [
        "× perfect: how often two samples of a batch have one class, against a perfect shuffle.",
        f"{classes} classes of {per_class} samples of {SIZE} bytes, sorted; each loader may",
        f"hold {memory // MIB} MiB for shuffling, {memory / samples.count / SIZE:.0%} of the data.",
        "leat was ingested by `leat put`, which mixes; peers read what their writers were given.",
        "WebDataset's documentation advises to shuffle before that.",
        "Memory: all processes of a loop, Python and torch included. Pairs: leat / peer.",
        "LitData shuffles inside chunks of 64 MB, whatever memory it may have. A folder and HF",
        "datasets draw at random from all, by random reads.",
        *quick_note(context),
    ]
    return Report("loader_shuffle", "× perfect", facts, cells, notes)
