"""GET through S3, every signature verified, against the unauthenticated file path of leat share."""

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness import files, load, machine
from harness.cells import rate_cell
from harness.context import Context
from harness.errors import BenchmarkError
from harness.load import Sample
from harness.report import Report
from harness.rounds import interleave
from harness.s3 import Session, write_recorded
from harness.servers import Leat
from harness.sigv4 import Request, sha256

KIB, MIB = 1 << 10, 1 << 20
# Distinct objects for each size: enough that no single page is hit alone, few enough to stay warm.
OBJECTS = {4 * KIB: 1000, 128 * KIB: 256, MIB: 64, 10 * MIB: 16, 64 * MIB: 4}
CONNECTIONS = (1, 16, 64)
BUCKET = "bench"
PEER = "leat share"
TARGET, TARGET_FROM = 0.9, 128 * KIB
NO_BODY = sha256(b"")


@dataclass(frozen=True)
class Work:
    name: str
    size: int
    connections: int


def works() -> list[Work]:
    return [
        Work(f"{files.size_name(size)}/{connections}", size, connections)
        for size in OBJECTS
        for connections in CONNECTIONS
    ]


class Pair:
    """The same bytes as objects of a store and as files of a folder."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.root = context.work / "files"
        self.root.mkdir()
        self.store = context.store(context.work / "store")
        self.share = Leat(self.root, context.work, context.cores.server, writable=False)
        self.share.log = context.work / "share.log"
        self.made: dict[int, list[Path]] = {}

    def make(self, sizes: list[int]) -> None:
        with Session(self.store) as session:
            session.make_bucket(BUCKET)
            for size in sizes:
                self.made[size] = files.make_files(self.root, "get", OBJECTS[size], size)
                for path in self.made[size]:
                    session.put_file(BUCKET, path.name, path)
                    if session.get(BUCKET, path.name) != path.read_bytes():
                        raise BenchmarkError(f"GET of {path.name} through S3 gave wrong bytes")
        os.sync()
        for size in sizes:
            files.warm(self.made[size])
            files.verify_get(self.share, self.made[size][-1])
            load.write_paths(self.context.work, files.size_name(size), self.made[size])

    def sign(self, size: int) -> Path:
        """Anew for each measurement: a signature holds for fifteen minutes."""
        with Session(self.store) as session:
            records = [
                session.record(Request("GET", f"/{BUCKET}/{path.name}", payload=NO_BODY))
                for path in self.made[size]
            ]
        return write_recorded(self.context.work / "get.recorded", records)

    def measure(self, leg: str, work: Work) -> Sample:
        seconds = self.context.seconds_or(quick=0.3, full=2.0)
        if leg == "leat":
            server, requests = self.store, {"recorded": self.sign(work.size)}
        else:
            listing = self.context.work / f"{files.size_name(work.size)}.paths"
            server, requests = self.share, {"paths_file": listing}
        return self.context.load(
            server,
            connections=work.connections,
            seconds=seconds,
            warmup=min(0.3, seconds / 4),
            random=True,
            seed=1,
            expect_bytes=work.size,
            **requests,
        )


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("s3_get has no self-test: both of its sides are Leat; see http_get")
    chosen = context.choose(works())
    pair = Pair(context)
    cells, all_samples = [], []
    with pair.store, pair.share:
        context.say("storing the objects")
        pair.make(sorted({work.size for work in chosen}))
        pace = context.pace(len(chosen))
        for work in chosen:
            context.say(work.name)
            legs = {leg: partial(pair.measure, leg, work) for leg in ("leat", PEER)}
            samples = interleave(legs, context.rounds_or(quick=3, full=7), pace)
            target = TARGET if work.size >= TARGET_FROM else None
            cells.append(rate_cell(work.name, work.size, samples, PEER, target))
            all_samples += samples["leat"] + samples[PEER]
        facts = machine.facts(context.work, {"leat": pair.store.version()})
    notes = [
        f"Pairs are S3 / {PEER}, which serves the same bytes as files and asks nobody for a key.",
        "Every request has its own signature over its own path, and the server verifies each; they",
        "are made before a measurement, by the harness, because the client must not be the limit.",
        *load.disturbance_notes(all_samples),
    ]
    return Report("s3_get", "MB/s", facts, cells, notes)
