"""leat put and get of many small and few large files against awscli, rclone and cp -r."""

import os
import shutil
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
from harness.stats import median
from harness.store import GIB, KIB, MIB

TARGETS = ["leat"]
BUCKET = "transfer"
PEERS = ("awscli", "rclone", "cp -r")

Leg = Callable[[], float]


@dataclass(frozen=True)
class Work:
    name: str
    way: str
    count: int
    size: int

    @property
    def folder(self) -> str:
        return f"{self.count}x{self.size}"

    def rate(self, seconds: float) -> float:
        return self.count * self.size / 1e6 / seconds


def works(quick: bool) -> list[Work]:
    small, large = ((200, 112 * KIB), (2, 64 * MIB)) if quick else ((10_000, 112 * KIB), (4, GIB))
    return [
        Work(f"{way} {count}×{files.size_name(size)}", way, count, size)
        for count, size in (small, large)
        for way in ("put", "get")
    ]


def check_files(folder: Path, work: Work) -> None:
    found = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    if found != [work.size] * work.count:
        raise BenchmarkError(f"{work.name}: {len(found)} files arrived, or some are cut")


def put(context: Context, clients: Clients, leg: str, work: Work) -> float:
    source = context.work / "source" / work.folder
    local = leg == "cp -r"
    target = context.work / "target" if local else f"{BUCKET}/put"
    seconds = clients.copy(leg, source, target)
    if local:
        check_files(target, work)
        store.remove(target)
    else:
        # Fetched back by another client than the one that sent it.
        back = context.work / "back"
        clients.leat("get", "-r", "--quiet", f"{BUCKET}/put", back)
        check_files(back, work)
        store.remove(back)
        clients.leat("rm", "-r", "--yes", "--quiet", f"{BUCKET}/put")
    os.sync()
    return work.rate(seconds)


def get(context: Context, clients: Clients, leg: str, work: Work) -> float:
    target = context.work / "target"
    local = leg == "cp -r"
    source = context.work / "source" / work.folder if local else f"{BUCKET}/{work.folder}"
    if not local:
        target.mkdir()
    seconds = clients.copy(leg, source, target)
    check_files(target, work)
    store.remove(target)
    os.sync()
    return work.rate(seconds)


def prepare(context: Context, clients: Clients, chosen: list[Work]) -> None:
    """The files to send, warm, and for the legs that fetch the same as objects, warm as well."""
    clients.leat("mb", BUCKET)
    for work in chosen:
        folder = context.work / "source" / work.folder
        if not folder.exists():
            folder.mkdir(parents=True)
            files.make_files(folder, "file", work.count, work.size)
            os.sync()
        files.warm(sorted(folder.iterdir()))
        if work.way == "get":
            clients.leat("put", "--objects", "--quiet", folder, f"{BUCKET}/{work.folder}")


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("s3_transfer has no self-test: its legs are commands, not servers")
    for peer in ("aws", "rclone"):
        if shutil.which(peer) is None:
            raise BenchmarkError(f"the peer {peer} is not installed; nothing was measured")
    chosen = context.choose(works(context.quick))
    most = max(work.count * work.size for work in chosen)
    store.need_space(context.work, 5 * most)
    cells = []
    with context.store(context.work / "store") as server:
        clients = Clients(context, server)
        prepare(context, clients, chosen)
        pace = context.pace(len(chosen))
        for work in chosen:
            context.say(work.name)
            measure = put if work.way == "put" else get
            legs: dict[str, Leg] = {
                leg: partial(measure, context, clients, leg, work) for leg in ("leat", *PEERS)
            }
            samples = interleave(legs, context.rounds_or(quick=1, full=3), pace)
            middle = {leg: median(values) for leg, values in samples.items()}
            cells += [
                Cell(
                    name=work.name,
                    leat=middle["leat"],
                    peer=peer,
                    peer_value=middle[peer],
                    columns={
                        "files/s": " / ".join(
                            f"{middle[leg] * 1e6 / work.size:.0f}" for leg in ("leat", peer)
                        )
                    },
                )
                for peer in PEERS
            ]
        version = server.version()
    versions = {"leat": version, "aws": version_of("aws"), "rclone": version_of("rclone")}
    facts = machine.facts(context.work, versions)
    notes = [
        "The node has one core, the client the other; all clients talk to the same node and have",
        f"{JOBS} transfers at once. From the start of the command to its end. Pairs: leat / peer.",
        "Objects are durable when a PUT is answered; 'cp -r' copies on the same disk within the",
        "page cache and is not durable. leat verifies checksums both ways; rclone by MD5.",
        f"Files on {facts['disk']}, warm.",
    ]
    return Report("s3_transfer", "MB/s", facts, cells, notes)
