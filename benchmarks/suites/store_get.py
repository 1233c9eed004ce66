"""GET from a warm store by HTTP against nginx with the same objects as files, one server core."""

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness import files, load, machine, store
from harness.cells import rate_cell
from harness.context import Context
from harness.errors import BenchmarkError
from harness.load import Sample
from harness.report import Report
from harness.rounds import interleave
from harness.servers import Nginx, Server
from harness.store import KIB, MIB

TARGETS = ["http_load", "leat", "store_bench"]
SMALL, LARGE = 4 * KIB, 64 * MIB
LARGE_FILES = 4
TARGET = {SMALL: 1.0, LARGE: 0.95}
CONNECTIONS = {SMALL: (1, 16, 64), LARGE: (1, 16)}


class ManyFilesNginx(Nginx):
    """Of so many files few can be kept open; without the cache it is faster than with one that
    nearly always misses."""

    file_cache = "open_file_cache off;"


@dataclass(frozen=True)
class Work:
    name: str
    size: int
    connections: int


def small_count(context: Context) -> int:
    return 50_000 if context.quick else 1_000_000


def works(context: Context) -> list[Work]:
    of = {SMALL: f" of {small_count(context) // 1000}k", LARGE: ""}
    return [
        Work(f"{files.size_name(size)}{of[size]}/{connections}", size, connections)
        for size, all_connections in CONNECTIONS.items()
        for connections in all_connections
    ]


def measure(context: Context, server: Server, work: Work) -> Sample:
    seconds = context.seconds_or(quick=0.5, full=2.0)
    if work.size == SMALL:
        paths = {"path": server.url_prefix, "objects": small_count(context)}
    else:
        paths = {"paths_file": context.work / f"{server.label}.paths"}
    return context.load(
        server,
        connections=work.connections,
        seconds=seconds,
        warmup=min(0.3, seconds / 4),
        random=True,
        seed=os.getpid(),
        expect_bytes=work.size,
        field=store.FIELD,
        **paths,
    )


def put_large(context: Context, root: Path, legs: dict[str, Server]) -> None:
    """The same large objects in the store and as files, warm on both sides."""
    made = files.make_files(root, "large", LARGE_FILES, LARGE)
    for path in made:
        store.request(legs["leat"], "PUT", legs["leat"].url_prefix + path.name, path.read_bytes())
    os.sync()
    for server in legs.values():
        urls = [server.url_prefix + path.name for path in made]
        (context.work / f"{server.label}.paths").write_text("".join(f"{url}\n" for url in urls))
        if store.request(server, "GET", urls[-1]) != made[-1].read_bytes():
            raise BenchmarkError(f"{server.label}: GET of a large object gave wrong bytes")


def read_all(context: Context, server: Server) -> None:
    """Every small object once: what can be in memory is, and all are there."""
    context.load(
        server,
        connections=16,
        requests=small_count(context),
        path=server.url_prefix,
        objects=small_count(context),
        expect_bytes=SMALL,
        field=store.FIELD,
    )
    store.verify_numbers(server, small_count(context), SMALL)


def run(context: Context) -> Report:
    data, root = context.work / "store", context.work / "files"
    root.mkdir()
    count = small_count(context)
    context.say(f"writing {count} objects, and as many files")
    store.need_space(context.work, 2 * count * SMALL)
    if not context.self_test:
        store.fill(context, data, count, SMALL)
    store.run("files-fill", store.both(context), dir=root, count=count, size=SMALL, tasks=4)
    os.sync()
    nginx = ManyFilesNginx(root, context.work, context.cores.server, writable=False)
    leat = nginx if context.self_test else context.store(data)
    legs: dict[str, Server] = {"leat": leat, "nginx": nginx}
    cells, all_samples = [], []
    chosen = context.choose(works(context))
    with leat, nginx:
        put_large(context, root, legs)
        for server in legs.values():
            read_all(context, server)
        pace = context.pace(len(chosen))
        for work in chosen:
            context.say(work.name)
            runs = {leg: partial(measure, context, server, work) for leg, server in legs.items()}
            samples = interleave(runs, context.rounds_or(quick=3, full=7), pace)
            cells.append(rate_cell(work.name, work.size, samples, "nginx", TARGET[work.size]))
            all_samples += samples["leat"] + samples["nginx"]
        memory = {leg: server.rss_bytes() / MIB for leg, server in legs.items()}
    facts = machine.facts(context.work, {leg: server.version() for leg, server in legs.items()})
    notes = [
        "Pairs are leat / nginx. Objects at random, all read before; the page cache is warm.",
        "Leat verifies checksums and a token, nginx neither.",
        f"Each server has one core. Memory: {memory['leat']:.0f} / {memory['nginx']:.0f} MiB.",
        *load.disturbance_notes(all_samples),
    ]
    return Report("store_get", "MB/s", facts, cells, notes, context.self_test)
