"""256 random samples of a dataset in one batch against 256 GETs and against pread of local tars."""

import json
import os
import random
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness import files, frames, load, machine, pread, store
from harness.context import Context
from harness.errors import BenchmarkError
from harness.report import Cell, Report
from harness.rounds import interleave
from harness.s3 import Session, write_recorded
from harness.servers import Server
from harness.shards import Samples, write_places
from harness.sigv4 import Request, sha256
from harness.stats import median
from harness.store import KIB, MIB

TARGETS = ["http_load", "leat", "pread_loop"]
BUCKET = "bench"
FIELD = "bin"
BATCH = 256
# Distinct batches; http_load goes round them.
BATCHES = 16
GETS, PREAD = "single GETs", "pread of tars"
SPACE_TARGET = 1 / 1.02


@dataclass(frozen=True)
class Work:
    name: str
    size: int
    count: int
    over_gets: float
    over_pread: float

    @property
    def samples(self) -> Samples:
        return Samples(self.count, {FIELD: self.size}, max(1, 64 * MIB // self.size))

    @property
    def dataset(self) -> str:
        return f"{BUCKET}/{self.size}"


def works(quick: bool) -> list[Work]:
    small, large = (10_000, 1000) if quick else (100_000, 8000)
    return [
        Work("256×4KiB", 4 * KIB, small, 10.0, 0.5),
        Work("256×112KiB", 112 * KIB, large, 3.0, 0.5),
    ]


@dataclass(frozen=True)
class Rate:
    samples_per_s: float
    cpu_us: float  # of the server, for each sample; without a server of the reader


class Legs:
    def __init__(self, context: Context, server: Server, work: Work) -> None:
        self.context = context
        self.server = server
        self.work = work
        self.samples = work.samples
        self.paths = self.samples.write(context.work / "tars" / str(work.size))
        rows = random.Random(1)
        self.draws = [[rows.randrange(work.count) for _ in range(BATCH)] for _ in range(BATCHES)]

    def shard_key(self, shard: int) -> str:
        return f"{self.work.size}/{self.samples.shard_name(shard)}"

    def make(self) -> None:
        with Session(self.server) as session:
            for path in self.paths:
                session.put_file(BUCKET, f"{self.work.size}/{path.name}", path)
            keys = [self.shard_key(shard) for shard in range(self.samples.shards)]
            info = session.make_dataset(self.work.dataset, keys)
            if info["samples"] != self.work.count:
                raise BenchmarkError(f"the dataset has {info['samples']} samples")
        os.sync()
        files.warm(self.paths)

    def body(self, draw: list[int]) -> bytes:
        items = [{"row": row} for row in draw]
        return json.dumps({"dataset": self.work.dataset, "items": items}).encode()

    def verify(self) -> int:
        """Both ways give the right bytes of a draw. Gives the size of a batch's answer."""
        with Session(self.server) as session:
            answer = session.ask("POST", "/_/v1/batch", body=self.body(self.draws[0])).content
            for row, frame in zip(self.draws[0], frames.parse(answer), strict=True):
                if frame.fields()[FIELD] != self.samples.content(row, FIELD):
                    raise BenchmarkError(f"sample {row} of a batch has wrong bytes")
            for row in self.draws[0][:20]:
                place = self.samples.place(row, FIELD)
                member = {"member": f"{self.samples.key(row)}.{FIELD}"}
                if session.get(BUCKET, self.shard_key(place.shard), member) != \
                        self.samples.content(row, FIELD):
                    raise BenchmarkError(f"GET of sample {row} gave wrong bytes")
        return len(answer)

    def batches(self, answer_bytes: int) -> Rate:
        """Signed anew each time, as single GETs are."""
        with Session(self.server) as session:
            bodies = [self.body(draw) for draw in self.draws]
            records = [
                session.record(Request("POST", "/_/v1/batch", payload=sha256(body)), body)
                for body in bodies
            ]
        recorded = write_recorded(self.context.work / "batch.recorded", records)
        # The last frame counts bytes in decimals, which are as many for every draw of one size.
        return self.load(recorded, BATCH, answer_bytes)

    def gets(self) -> Rate:
        with Session(self.server) as session:
            records = []
            for row in (row for draw in self.draws for row in draw):
                path = f"/{BUCKET}/{self.shard_key(self.samples.place(row, FIELD).shard)}"
                query = {"member": f"{self.samples.key(row)}.{FIELD}"}
                records.append(session.record(Request("GET", path, query, payload=sha256(b""))))
        recorded = write_recorded(self.context.work / "gets.recorded", records)
        return self.load(recorded, 1, self.work.size)

    def load(self, recorded: Path, samples_per_request: int, answer_bytes: int) -> Rate:
        seconds = self.context.seconds_or(quick=1.0, full=4.0)
        taken = self.context.load(
            self.server, connections=1, seconds=seconds, warmup=seconds / 4, recorded=recorded,
            expect_bytes=answer_bytes,
        )
        # Bytes are counted as they come; of whole batches few complete in a short window.
        requests_per_s = taken.mb_per_s * 1e6 / answer_bytes
        cpu_us = taken.cpu_s_per_gib * 1e6 * answer_bytes / load.GIB / samples_per_request
        return Rate(requests_per_s * samples_per_request, cpu_us)

    def preads(self) -> Rate:
        places = write_places(
            self.context.work / "places",
            [self.samples.place(row, FIELD) for draw in self.draws for row in draw],
        )
        seconds = self.context.seconds_or(quick=1.0, full=4.0)
        cores = [self.context.cores.client]
        read = pread.run(self.paths, places, cores, batch=BATCH, seconds=seconds)
        return Rate(read.samples_per_s, read.cpu_s_per_million)


def measure(context: Context, server: Server, work: Work, pace) -> list[Cell]:
    legs = Legs(context, server, work)
    before = store.allocated_bytes(server.root)
    legs.make()
    space = store.allocated_bytes(server.root) - before
    answer_bytes = legs.verify()
    samples = interleave(
        {"leat": partial(legs.batches, answer_bytes), GETS: legs.gets, PREAD: legs.preads},
        context.rounds_or(quick=3, full=5),
        pace,
    )
    middle = {leg: median(one.samples_per_s for one in taken) for leg, taken in samples.items()}
    cpu = {leg: median(one.cpu_us for one in taken) for leg, taken in samples.items()}

    def columns(peer: str) -> dict[str, str]:
        both = ("leat", peer)
        return {
            "MB/s": " / ".join(f"{middle[leg] * work.size / 1e6:.0f}" for leg in both),
            "CPU µs/sample": " / ".join(f"{cpu[leg]:.1f}" for leg in both),
        }

    tars = sum(path.stat().st_size for path in legs.paths)
    for path in legs.paths:
        path.unlink()
    return [
        Cell(work.name, middle["leat"], GETS, middle[GETS], work.over_gets, columns=columns(GETS)),
        Cell(work.name, middle["leat"], PREAD, middle[PREAD], work.over_pread,
             columns=columns(PREAD)),
        Cell(f"{work.name}, space", space / MIB, "plain tar", tars / MIB, SPACE_TARGET, unit="MiB",
             smaller_is_better=True),
    ]


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("dataset_batch has no self-test: no other server has batches")
    chosen = context.choose(works(context.quick))
    store.need_space(context.work, 2 * sum(work.count * (work.size + 1024) for work in chosen))
    cells = []
    pace = context.pace(len(chosen))
    with context.store(context.work / "store") as server:
        with Session(server) as session:
            session.make_bucket(BUCKET)
        for work in chosen:
            context.say(work.name)
            cells += measure(context, server, work, pace)
        facts = machine.facts(context.work, {"leat": server.version()})
    notes = [
        f"Batches of {BATCH} random rows by POST /_/v1/batch, one after another, one connection;",
        "single GETs of ?member= one after the other on one connection that is kept. Every request",
        "is signed and verified. The client drops what it gets; pread copies into one buffer for",
        "each batch, from the same tars, on one core. All warm. Space: what the store grew",
        "by, against the tars that were put. CPU is the server's; of pread its own.",
    ]
    return Report("dataset_batch", "samples/s", facts, cells, notes)
