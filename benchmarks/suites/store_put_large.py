"""Durable PUT of large objects into a store by HTTP against dd conv=fsync (the disk's limit)."""

import json
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness import files, machine, store
from harness.context import Context
from harness.errors import BenchmarkError
from harness.local import seconds_of_dd
from harness.report import Cell, Report
from harness.rounds import interleave
from harness.servers import Server
from harness.stats import median
from harness.store import MIB

SIZE = 256 * MIB
PEER = "dd+fsync"
TARGET = 0.9


@dataclass(frozen=True)
class Work:
    name: str
    connections: int


def works() -> list[Work]:
    return [Work(f"{files.size_name(SIZE)}/{connections}", connections) for connections in (1, 4)]


def check(server: Server, work: Work) -> None:
    """All bytes must have arrived."""
    listed = json.loads(store.request(server, "GET", f"/_/v1/list/{server.bucket}"))
    sizes = [one["size"] for one in listed["objects"]]
    if sizes != [SIZE] * work.connections:
        raise BenchmarkError(f"{work.name}: the store has objects of {sizes} bytes")


def put(context: Context, work: Work) -> float:
    """MB/s of one round into a new store."""
    root = context.work / "store"
    root.mkdir()
    server = context.store(root)
    listing = context.work / "put.paths"
    names = [f"{server.url_prefix}put-{number}\n" for number in range(work.connections)]
    listing.write_text("".join(names))
    try:
        with server:
            store.request(server, "PUT", f"/_/v1/buckets/{server.bucket}")
            sample = context.load(
                server,
                method="PUT",
                connections=work.connections,
                requests=work.connections,
                paths_file=listing,
                body_bytes=SIZE,
                field=store.FIELD,
            )
            check(server, work)
    finally:
        store.remove(root)
    return sample.mb_per_s


def copy(context: Context, work: Work, source: Path) -> float:
    root = context.work / "copies"
    root.mkdir()
    targets = [root / f"put-{number}" for number in range(work.connections)]
    try:
        seconds = seconds_of_dd(source, targets, SIZE, context.cores.server)
    finally:
        store.remove(root)
    return SIZE * work.connections / 1e6 / seconds


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("store_put_large has no self-test: its peer is no server")
    store.need_space(context.work, 8 * SIZE)
    source = files.make_files(context.work, "source", 1, SIZE)[0]
    os.sync()
    files.warm([source])
    cells = []
    chosen = context.choose(works())
    pace = context.pace(len(chosen))
    for work in chosen:
        context.say(work.name)
        legs = {
            "leat": partial(put, context, work),
            PEER: partial(copy, context, work, source),
        }
        samples = interleave(legs, context.rounds_or(quick=5, full=9), pace)
        middle = {leg: median(values) for leg, values in samples.items()}
        cells.append(
            Cell(
                name=work.name,
                leat=middle["leat"],
                peer=PEER,
                peer_value=middle[PEER],
                target=TARGET,
            )
        )
    facts = machine.facts(context.work, {"leat": context.store(context.work).version()})
    notes = [
        f"By HTTP into a new store on {facts['disk']}; checksums, data and names are durable",
        f"before the answer. '{PEER}' copies a cached file, as many at a time as there are",
        "connections, on the core that the server has.",
    ]
    return Report("store_put_large", "MB/s", facts, cells, notes)
