"""Durable PUT to a file against dd conv=fsync (the disk's limit) and nginx WebDAV PUT."""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness import files, machine
from harness.context import Context
from harness.errors import BenchmarkError
from harness.local import seconds_of_dd
from harness.report import Cell, Report
from harness.rounds import interleave
from harness.servers import PUT_FIELD, Server
from harness.stats import median

MIB = 1 << 20
DURABLE = "dd+fsync"
LOCAL = "write+fsync"
VOLATILE = "nginx, not durable"
SYNCED = "nginx+fsync"

Leg = Callable[[], float]


@dataclass(frozen=True)
class Work:
    name: str
    size: int
    count: int
    connections: int

    @property
    def names(self) -> list[str]:
        return [f"put-{number:06}" for number in range(self.count)]

    def rate(self, seconds: float) -> float:
        return self.size * self.count / 1e6 / seconds


def works(quick: bool) -> list[Work]:
    size = (64 if quick else 256) * MIB
    count = 250 if quick else 1000
    return [
        Work(f"{files.size_name(size)}/1", size, 1, 1),
        Work(f"{files.size_name(size)}/4", size, 4, 4),
        Work(f"{count}×1MiB/16", MIB, count, 16),
    ]


def check_and_remove(root: Path, work: Work) -> None:
    """All bytes must have arrived. The deletions reach the disk before the next leg starts."""
    for name in work.names:
        path = root / name
        if not path.exists() or path.stat().st_size != work.size:
            raise BenchmarkError(f"{work.name}: {name} is missing or has the wrong size")
        path.unlink()
    os.sync()


def fsync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def put(context: Context, server: Server, work: Work, then_fsync: bool = False) -> float:
    """MB/s of one round through a server; `then_fsync` adds the time to make files durable."""
    listing = context.work / "put.paths"
    listing.write_text("".join(f"/{name}\n" for name in work.names))
    with server:
        sample = context.load(
            server,
            method="PUT",
            connections=work.connections,
            requests=work.count,
            paths_file=listing,
            body_bytes=work.size,
            field=": ".join(PUT_FIELD),
        )
    seconds = sample.seconds
    if then_fsync:
        start = time.monotonic()
        with ThreadPoolExecutor(work.connections) as pool:
            list(pool.map(fsync_file, [server.root / name for name in work.names]))
        seconds += time.monotonic() - start
    check_and_remove(server.root, work)
    return work.rate(seconds)


def copy_with_dd(root: Path, core: int, work: Work, source: Path) -> float:
    seconds = seconds_of_dd(source, [root / name for name in work.names], work.size, core)
    check_and_remove(root, work)
    return work.rate(seconds)


def write_locally(root: Path, work: Work, source: Path) -> float:
    """What dd would do for many small files, without a process for each."""
    body = source.read_bytes()[: work.size]

    def write(name: str) -> None:
        descriptor = os.open(root / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            if os.write(descriptor, body) != len(body):
                raise BenchmarkError(f"short write of {name}")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    start = time.monotonic()
    with ThreadPoolExecutor(work.connections) as pool:
        list(pool.map(write, work.names))
    seconds = time.monotonic() - start
    check_and_remove(root, work)
    return work.rate(seconds)


def local_leg(context: Context, root: Path, work: Work, source: Path) -> tuple[str, Leg]:
    """The limit without a server: dd for streams, threads for many small files."""
    if work.count > work.connections:
        return LOCAL, partial(write_locally, root, work, source)
    return DURABLE, partial(copy_with_dd, root, context.cores.server, work, source)


def run(context: Context) -> Report:
    root = context.work / "files"
    root.mkdir()
    leat, nginx = context.leat(root, writable=True), context.nginx(root, writable=True)
    for server in (leat, nginx):
        with server:
            files.verify_put(server, "verify", 3 * MIB + 17)
    chosen = context.choose(works(context.quick))
    source = files.make_files(context.work, "source", 1, max(work.size for work in chosen))[0]
    os.sync()
    files.warm([source])
    cells = []
    pace = context.pace(len(chosen))
    for work in chosen:
        context.say(work.name)
        local, write = local_leg(context, root, work, source)
        legs: dict[str, Leg] = {
            "leat": partial(put, context, leat, work),
            local: write,
            VOLATILE: partial(put, context, nginx, work),
            SYNCED: partial(put, context, nginx, work, then_fsync=True),
        }
        samples = interleave(legs, context.rounds_or(quick=3, full=5), pace)
        middle = {leg: median(values) for leg, values in samples.items()}
        cells += [
            Cell(name=work.name, leat=middle["leat"], peer=peer, peer_value=middle[peer])
            for peer in (local, VOLATILE, SYNCED)
        ]
    facts = machine.facts(context.work, {"leat": leat.version(), "nginx": nginx.version()})
    notes = [
        f"Files on {facts['disk']}. Leat answers after fsync.",
        f"'{DURABLE}' copies a cached file; '{LOCAL}' is as many threads as connections.",
        f"nginx answers before its bytes are durable ('{VOLATILE}');",
        f"'{SYNCED}' adds an fsync of every file after the last answer.",
    ]
    return Report("http_put", "MB/s", facts, cells, notes, context.self_test)
