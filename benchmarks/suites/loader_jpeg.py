"""JPEGs to uint8 batches of 224 × 224 (random resized crop) against other loaders."""

import json
import os
import subprocess
from functools import partial
from pathlib import Path

from harness import build, feed, files, machine, store
from harness.context import Context
from harness.errors import BenchmarkError
from harness.feeder import NOTES, Feeder, Taken, peers_of, quick_note, rate_cells
from harness.loader_data import PACKAGES, LoaderData
from harness.report import Cell, Report
from harness.rounds import interleave
from harness.shards import tar_of
from harness.stats import median

TARGETS = ["leat", "leat_shared", "jpeg_loop"]
BATCH = 128
CLASSES = 10
PER_SHARD = 500
OVER_PEERS = 1.5
DECODER = "libjpeg-turbo alone"


def make_images(context: Context, count: int) -> list[bytes]:
    folder = context.work / "images"
    line = [feed.python(), str(feed.PEERS / "images.py"), str(count), str(folder)]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchmarkError(f"cannot make images: {done.stderr[-500:]}")
    return [path.read_bytes() for path in sorted(folder.glob("*.jpg"))]


def write_tars(folder: Path, images: list[bytes], count: int) -> list[Path]:
    """`count` samples that go round the images, sorted by class as folders of classes are."""
    folder.mkdir(parents=True)
    paths = []
    for first in range(0, count, PER_SHARD):
        numbers = range(first, min(count, first + PER_SHARD))
        members = []
        for number in numbers:
            label = b"%d" % (number * CLASSES // count)
            members.append((f"{number:08}.cls", label))
            members.append((f"{number:08}.jpg", images[number % len(images)]))
        paths.append(folder / f"shard-{first // PER_SHARD:06}.tar")
        paths[-1].write_bytes(tar_of(members))
    os.sync()
    files.warm(paths)
    return paths


def decode_alone(context: Context) -> float:
    """Full decodes in a second of CPU, without crop and resize."""
    line = [build.binary(build.JPEG_LOOP), str(context.work / "images")]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchmarkError(f"jpeg_loop: {done.stderr[-500:]}")
    return json.loads(done.stdout)["images_per_s"]


def measure(feeder: Feeder, data: LoaderData, leg: str, count: int, is_cold: bool) -> Taken:
    """Warm are the epochs behind the first, cold is the first one of data that is not in memory."""
    if is_cold:
        feeder.make_cold(leg, data)
    fed = feeder.run(leg, data, batch=BATCH, epochs=1 if is_cold else 3, images=True)
    if leg == "leat" and {epoch.samples for epoch in fed.epochs} != {count}:
        raise BenchmarkError(f"leat gave {fed.epochs[-1].samples} of {count} images")
    return Taken(feed.merged(fed.epochs if is_cold else fed.epochs[1:]), fed.memory_bytes)


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("loader_jpeg has no self-test: its legs are loops, not servers")
    count, distinct = (600, 32) if context.quick else (4000, 200)
    store.need_space(context.work, 8 * count * 120_000)
    context.say("making images")
    images = make_images(context, distinct)
    with Feeder(context) as feeder:
        data = LoaderData(context, "jpeg", write_tars(feeder.tars / "jpeg", images, count))
        data.put(feeder.store)
        for peer in peers_of(context):
            data.source(peer, feeder.share)
        states = ("warm",) if context.quick else ("warm", "cold")
        taken = {}
        for state in states:
            context.say(f"{count} images, {state}")
            legs = {
                leg: partial(measure, feeder, data, leg, count, state == "cold")
                for leg in ("leat", *peers_of(context))
            }
            pace = context.pace(len(states))
            taken[state] = interleave(legs, context.rounds_or(quick=1, full=3), pace)
        alone = median(decode_alone(context) for _ in range(3))
        facts = machine.facts(
            context.work, {"leat": feeder.store.version(), **feed.versions([*PACKAGES, "pillow"])}
        )
    cells = [
        cell
        for state, of_state in taken.items()
        for cell in rate_cells(f"224×224, {state}", of_state, OVER_PEERS, None)
    ]
    warm = taken["warm"]["leat"]
    per_core = median(one.epoch.samples / one.epoch.cpu_seconds for one in warm)
    cells.append(Cell("224×224, for each second of CPU", per_core, DECODER, alone))
    size = sum(len(image) for image in images) / len(images)
    notes = [
        *NOTES,
        f"Batches of {BATCH}; {count} images of 500 × 375 pixels, {size / 1000:.0f} KB.",
        "Peers decode by Pillow, at a reduced scale where the crop allows it, as Leat does. Cold:",
        "one epoch of data that is not in memory.",
        f"'{DECODER}': whole images at full scale, nothing else (load/jpeg_loop.cc).",
        *quick_note(context),
    ]
    return Report("loader_jpeg", "images/s", facts, cells, notes)
