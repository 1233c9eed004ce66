"""leat put of a folder into a dataset against tar cf with fsync and against a PUT a file."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness import files, machine, store
from harness.clients import JOBS, Clients, version_of
from harness.context import Context
from harness.errors import BenchmarkError
from harness.report import Cell, Report
from harness.rounds import interleave
from harness.s3 import Session
from harness.servers import pin_child
from harness.stats import median
from harness.store import KIB, MIB

TARGETS = ["leat"]
BUCKET, DATASET = "ingest", "ingest/train"
TAR = "tar cf + fsync"
OBJECTS = ("leat put --objects", "rclone", "awscli")
# One object for each file is slow: those legs send a part of the folder, and files/s are compared.
PART = 10
PER_FOLDER = 1000
OVER_TAR = 0.8
SPACE_TARGET = 1 / 1.02


@dataclass(frozen=True)
class Work:
    name: str
    count: int
    size: int
    over_objects: float | None

    @property
    def folder(self) -> str:
        return f"{self.count}x{self.size}"


def works(quick: bool) -> list[Work]:
    small, large = (5000, 1000) if quick else (100_000, 20_000)
    return [
        Work(f"{small}×4KiB", small, 4 * KIB, 20.0),
        Work(f"{large}×112KiB", large, 112 * KIB, None),
    ]


@dataclass(frozen=True)
class Ingest:
    files_per_s: float
    stored_bytes: int = 0


class Folders:
    """The files to send: all of them, and a part for the slow legs. Warm, in folders of 1000."""

    def __init__(self, context: Context, work: Work) -> None:
        self.root = context.work / work.folder
        self.part = context.work / f"{work.folder}-part"
        self.part_count = max(100, work.count // PART)
        for root, count in ((self.root, work.count), (self.part, self.part_count)):
            for first in range(0, count, PER_FOLDER):
                folder = root / f"{first // PER_FOLDER:04}"
                folder.mkdir(parents=True)
                few = min(PER_FOLDER, count - first)
                for path in files.make_files(folder, "sample", few, work.size, seed=first + 1):
                    path.rename(path.with_name(f"{first:06}-{path.name[-6:]}.bin"))
        os.sync()
        files.warm([path for path in self.root.rglob("*.bin")])

    def remove(self) -> None:
        store.remove(self.root)
        store.remove(self.part)


def with_store(context: Context, act: Callable[[Clients, Session], float]) -> tuple[float, int]:
    """Runs `act` on a new store, which is gone afterwards: seconds, and the space it took."""
    root = context.work / "store"
    try:
        with context.store(root) as server, Session(server) as session:
            session.make_bucket(BUCKET)
            before = store.allocated_bytes(root)
            seconds = act(Clients(context, server), session)
        return seconds, store.allocated_bytes(root) - before
    finally:
        store.remove(root)


def put_dataset(context: Context, folders: Folders, work: Work) -> Ingest:
    def act(clients: Clients, session: Session) -> float:
        seconds = clients.leat("put", "--quiet", folders.root, DATASET)
        info = session.json("GET", f"/_/v1/datasets/{DATASET}")
        if info["samples"] != work.count:
            raise BenchmarkError(f"{info['samples']} of {work.count} samples were ingested")
        return seconds

    seconds, stored = with_store(context, act)
    return Ingest(work.count / seconds, stored)


def put_objects(context: Context, folders: Folders, leg: str) -> Ingest:
    def act(clients: Clients, session: Session) -> float:
        target = f"{BUCKET}/objects"
        if leg == "leat put --objects":
            seconds = clients.leat(
                "put", "--objects", "--quiet", "--jobs", JOBS, folders.part, target
            )
        else:
            seconds = clients.copy(leg, folders.part, target)
        document, _ = session.list_page(BUCKET, None)
        if document.count(b"<Key>") != min(1000, folders.part_count):
            raise BenchmarkError(f"{leg}: not all files arrived")
        return seconds

    return Ingest(folders.part_count / with_store(context, act)[0])


def tar_folder(context: Context, folders: Folders, work: Work) -> Ingest:
    """Both commands on the client's core, as the client of the other legs."""
    target = context.work / "plain.tar"
    start = time.monotonic()
    for line in (["tar", "cf", str(target), "-C", str(folders.root), "."], ["sync", str(target)]):
        done = subprocess.run(
            line, capture_output=True, text=True, preexec_fn=pin_child(context.cores.client)
        )
        if done.returncode != 0:
            raise BenchmarkError(f"{line[0]}: {done.stderr[-300:]}")
    seconds = time.monotonic() - start
    size = target.stat().st_size
    target.unlink()
    os.sync()
    return Ingest(work.count / seconds, size)


def cells_of(work: Work, samples: dict[str, list[Ingest]]) -> list[Cell]:
    rate = {leg: median(one.files_per_s for one in taken) for leg, taken in samples.items()}
    space = {leg: median(one.stored_bytes for one in samples[leg]) for leg in ("leat", TAR)}
    targets = {TAR: OVER_TAR} | dict.fromkeys(OBJECTS, work.over_objects)
    cells = [
        Cell(
            work.name, rate["leat"], peer, rate[peer], targets[peer],
            columns={
                "MB/s": " / ".join(f"{rate[leg] * work.size / 1e6:.1f}" for leg in ("leat", peer))
            },
        )
        for peer in (TAR, *OBJECTS)
    ]
    cells.append(
        Cell(f"{work.name}, space", space["leat"] / MIB, "plain tar", space[TAR] / MIB,
             SPACE_TARGET, unit="MiB", smaller_is_better=True)
    )
    return cells


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("dataset_ingest has no self-test: its legs are commands, not servers")
    for peer in ("aws", "rclone"):
        if shutil.which(peer) is None:
            raise BenchmarkError(f"the peer {peer} is not installed; nothing was measured")
    chosen = context.choose(works(context.quick))
    store.need_space(context.work, 3 * max(work.count * (work.size + KIB) for work in chosen))
    cells = []
    pace = context.pace(len(chosen))
    for work in chosen:
        context.say(f"{work.name}: writing the files")
        folders = Folders(context, work)
        context.say(work.name)
        legs = {
            "leat": partial(put_dataset, context, folders, work),
            TAR: partial(tar_folder, context, folders, work),
            **{leg: partial(put_objects, context, folders, leg) for leg in OBJECTS},
        }
        cells += cells_of(work, interleave(legs, context.rounds_or(quick=1, full=3), pace))
        folders.remove()
    version = context.store(Path(context.work)).version()
    versions = {"leat": version, "aws": version_of("aws"), "rclone": version_of("rclone")}
    facts = machine.facts(context.work, versions)
    notes = [
        "Files are warm. leat reads, mixes, packs, uploads with checksums and commits; the dataset",
        "is durable when it ends, as the tar is after fsync. One core for the node, the other for",
        f"the client; tar has the client's. Legs with an object for each file send 1/{PART} of the",
        f"files, {JOBS} at a time, and their files/s are compared. Every leg has a new store.",
        f"Files on {facts['disk']}.",
    ]
    return Report("dataset_ingest", "files/s", facts, cells, notes)
