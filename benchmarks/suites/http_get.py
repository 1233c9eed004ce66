"""GET of files in the page cache against nginx (sendfile, open_file_cache), one server core."""

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness import files, load, machine
from harness.cells import rate_cell
from harness.context import Context
from harness.load import Sample
from harness.report import Report
from harness.rounds import interleave
from harness.servers import Server

KIB, MIB = 1 << 10, 1 << 20
# Distinct files for each size: enough that no single page is hit alone, few enough to stay warm.
FILES = {4 * KIB: 1000, 128 * KIB: 256, MIB: 64, 10 * MIB: 16, 64 * MIB: 4}
CONNECTIONS = (1, 16, 64)


@dataclass(frozen=True)
class Work:
    name: str
    size: int
    connections: int


def target(size: int) -> float:
    return 1.2 if size <= MIB else 1.0


def measure(context: Context, server: Server, work: Work, listing: Path) -> Sample:
    seconds = context.seconds_or(quick=0.3, full=2.0)
    return context.load(
        server,
        connections=work.connections,
        seconds=seconds,
        warmup=min(0.3, seconds / 4),
        paths_file=listing,
        random=True,
        seed=1,
        expect_bytes=work.size,
    )


def works() -> list[Work]:
    return [
        Work(f"{files.size_name(size)}/{connections}", size, connections)
        for size in FILES
        for connections in CONNECTIONS
    ]


def make_listing(context: Context, root: Path, size: int, legs: dict[str, Server]) -> Path:
    """Files of one size, on disk and in the page cache, which both servers are seen to serve."""
    made = files.make_files(root, "get", FILES[size], size)
    os.sync()
    files.warm(made)
    for server in legs.values():
        files.verify_get(server, made[-1])
    return load.write_paths(context.work, files.size_name(size), made)


def run(context: Context) -> Report:
    root = context.work / "files"
    root.mkdir()
    cells, all_samples = [], []
    legs = context.servers(root)
    chosen = context.choose(works())
    pace = context.pace(len(chosen))
    with legs["leat"], legs["nginx"]:
        listings = {
            size: make_listing(context, root, size, legs)
            for size in sorted({work.size for work in chosen})
        }
        for work in chosen:
            context.say(work.name)
            runs = {
                leg: partial(measure, context, server, work, listings[work.size])
                for leg, server in legs.items()
            }
            samples = interleave(runs, context.rounds_or(quick=3, full=7), pace)
            cells.append(rate_cell(work.name, work.size, samples, "nginx", target(work.size)))
            all_samples += samples["leat"] + samples["nginx"]
    facts = machine.facts(context.work, {leg: server.version() for leg, server in legs.items()})
    notes = [
        "Pairs are leat / nginx. Medians of interleaved rounds.",
        "Each server has one core, the client another.",
        *load.disturbance_notes(all_samples),
    ]
    return Report("http_get", "MB/s", facts, cells, notes, context.self_test)
