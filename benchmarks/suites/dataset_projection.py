"""The labels of all samples without their images: bytes that the server reads and sends."""

import json
import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness import files, frames, machine, proc, store
from harness.context import Context
from harness.errors import BenchmarkError
from harness.report import Cell, Report
from harness.rounds import interleave
from harness.s3 import Session
from harness.servers import Server
from harness.shards import Samples
from harness.stats import median

TARGETS = ["leat"]
BUCKET, DATASET = "bench", "bench/labels"
LABEL, IMAGE = "cls", "jpg"
PER_SHARD = 10_000
# Rows of one batch request; 100 000 is the most that a server takes.
ROWS = 50_000
BATCH, FIELDS, WHOLE = "leat", "GET ?fields=cls", "GET of whole shards"


@dataclass(frozen=True)
class Reading:
    seconds: float
    disk_bytes: int  # fetched from the disk for the server
    sent_bytes: int  # bodies of the answers


def samples_of(quick: bool) -> Samples:
    count, image = (50_000, 4096) if quick else (1_000_000, 1024)
    return Samples(count, {IMAGE: image, LABEL: 4}, PER_SHARD)


class Labels:
    def __init__(self, context: Context, server: Server, samples: Samples) -> None:
        self.context = context
        self.server = server
        self.samples = samples

    def make(self) -> int:
        """Stores the shards, one in memory at a time. Gives the bytes of the snapshot."""
        with Session(self.server) as session:
            session.make_bucket(BUCKET)
            names = [self.samples.shard_name(shard) for shard in range(self.samples.shards)]
            for shard, name in enumerate(names):
                session.put(BUCKET, name, self.samples.shard_bytes(shard))
            session.make_dataset(DATASET, names)
            info = session.json("GET", f"/_/v1/datasets/{DATASET}")
        return info["snapshot_bytes"]

    def by_batch(self, session: Session) -> int:
        sent = 0
        for first in range(0, self.samples.count, ROWS):
            rows = range(first, min(self.samples.count, first + ROWS))
            items = [{"row": row} for row in rows]
            request = {"dataset": DATASET, "fields": [LABEL], "items": items}
            body = json.dumps(request).encode()
            answer = session.ask("POST", "/_/v1/batch", body=body).content
            sent += len(answer)
            taken = frames.parse(answer)
            for row in (rows[0], rows[len(rows) // 2], rows[-1]):
                if taken[row - first].fields() != {LABEL: self.samples.content(row, LABEL)}:
                    raise BenchmarkError(f"the label of sample {row} is wrong")
        return sent

    def by_shards(self, query: dict[str, str], session: Session) -> int:
        sent = 0
        for shard in range(self.samples.shards):
            answer = session.get(BUCKET, self.samples.shard_name(shard), query)
            sent += len(answer)
            last = self.samples.numbers_in(shard)[-1]
            if b"%s.%s" % (self.samples.key(last).encode(), LABEL.encode()) not in answer:
                raise BenchmarkError(f"the answer of shard {shard} lacks sample {last}")
        return sent

    def measure(self, ask) -> Reading:
        """With everything out of the page cache, and the server started anew: nothing it holds in
        memory helps."""
        with self.server, Session(self.server) as session:
            files.make_cold(list_files(self.server.root))
            before = proc.disk_read_bytes(self.server.pids())
            start = time.monotonic()
            sent = ask(session)
            seconds = time.monotonic() - start
            disk = proc.disk_read_bytes(self.server.pids()) - before
        return Reading(seconds, disk, sent)


def list_files(root: Path) -> list[Path]:
    """What holds the bytes of objects. The index stays as it is."""
    found = [path for path in root.rglob("*") if path.is_file() and path.stat().st_size > 0]
    return [path for path in found if "segments" in path.parts or "files" in path.parts]


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("dataset_projection has no self-test: no other server has datasets")
    samples = samples_of(context.quick)
    store.need_space(context.work, 2 * samples.count * samples.stride())
    server = context.store(context.work / "store")
    labels = Labels(context, server, samples)
    context.say(f"storing {samples.count} samples")
    with server:
        index_bytes = labels.make()
    os.sync()
    legs = {
        BATCH: partial(labels.measure, labels.by_batch),
        FIELDS: partial(labels.measure, partial(labels.by_shards, {"fields": LABEL})),
        WHOLE: partial(labels.measure, partial(labels.by_shards, {})),
    }
    taken = interleave(legs, context.rounds_or(quick=3, full=3), context.pace(1))

    def middle(leg: str, field: str) -> float:
        return median(getattr(one, field) for one in taken[leg])

    label_bytes = samples.count * samples.fields[LABEL]
    limit = 2 * label_bytes + index_bytes
    name = f"{samples.count // 1000}k labels"
    cells = [
        Cell(f"{name}, read from disk", middle(leg, "disk_bytes") / 1e6, "2 × labels + index",
             limit / 1e6, target=1.0, unit="MB", smaller_is_better=True,
             columns={"way": "batch" if leg == BATCH else leg})
        for leg in (BATCH, FIELDS)
    ]
    cells += [
        Cell(f"{name}, {what}", middle(BATCH, field) / scale, peer, middle(peer, field) / scale,
             unit=unit, smaller_is_better=True)
        for what, field, scale, unit in (
            ("read from disk", "disk_bytes", 1e6, "MB"),
            ("sent", "sent_bytes", 1e6, "MB"),
            ("time", "seconds", 1.0, "s"),
        )
        for peer in (FIELDS, WHOLE)
    ]
    facts = machine.facts(context.work, {"leat": server.version()})
    notes = [
        f"{samples.count} samples: images of {samples.fields[IMAGE]} bytes, labels of 4; the tars",
        f"have {samples.count * samples.stride() / 1e6:.0f} MB, the index {index_bytes / 1e6:.1f}.",
        "Cold: bytes of objects are out of the page cache, and the server was just started.",
        "Read from disk is what the kernel fetched for the server (/proc/PID/io), in whole pages.",
        "leat: POST /_/v1/batch of 50 000 rows with fields [cls].",
        f"'{WHOLE}' is what a reader of plain tars does.",
    ]
    return Report("dataset_projection", "MB", facts, cells, notes)
