"""Runs every loop of a loader benchmark over the same data, and turns what they did into cells."""

import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from harness import feed, files, pread
from harness.context import Context
from harness.errors import BenchmarkError
from harness.feed import Epoch, Fed, Loop
from harness.loader_data import HTTP, LABELS, LIMIT, LoaderData, StoreOnAllCores, surroundings
from harness.report import Cell
from harness.s3 import Session
from harness.servers import Leat
from harness.shards import Samples, write_places
from harness.stats import median

MIB = 1 << 20
# Peers that need no other format than tars and files; a quick run has no time for the others.
QUICK_PEERS = ("webdataset", HTTP, "folder")
PEERS = ("webdataset", HTTP, "streaming", "litdata", "folder", "hf")


def peers_of(context: Context) -> tuple[str, ...]:
    return QUICK_PEERS if context.quick else PEERS


class Feeder:
    """A store and a share of tars, running, and the loops that read from them."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.cores = [context.cores.server, context.cores.client]
        self.store = StoreOnAllCores(context.work / "store", context.work, self.cores)
        self.tars = context.work / "tars"
        self.tars.mkdir()
        self.share = Leat(self.tars, context.work, self.cores[0], writable=False)
        self.share.cores = self.cores
        self.stack = ExitStack()

    def __enter__(self) -> "Feeder":
        with ExitStack() as stack:
            stack.enter_context(self.store)
            stack.enter_context(self.share)
            self.stack = stack.pop_all()
        with Session(self.store) as session:
            session.make_bucket("bench")
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def make(self, name: str, samples: Samples) -> LoaderData:
        """Tars below the folder that is shared, and the dataset of them."""
        data = LoaderData(self.context, name, samples.write(self.tars / name))
        os.sync()
        data.put(self.store)
        files.warm(data.tars)
        return data

    def start(self, loop: str, data: LoaderData, **options: object) -> Loop:
        source = data.source(loop, self.share)
        server = {"leat": self.store, HTTP: self.share}.get(loop)
        if server is not None:
            options["also_pid"] = server.process.pid
        name = "webdataset" if loop == HTTP else loop
        around = surroundings(self.context, self.store)
        if options.get("world", 1) > 1:
            # Where some peers look for them.
            around |= {"RANK": str(options["rank"]), "WORLD_SIZE": str(options["world"])}
        return Loop(name, self.cores, around, data=source, **options)

    def run(self, loop: str, data: LoaderData, **options: object) -> Fed:
        return self.start(loop, data, **options).wait()

    def make_cold(self, loop: str, data: LoaderData) -> None:
        """Nothing of what the loop will read is in memory."""
        if loop == "leat":
            # It keeps verified bytes; a new process has none.
            self.store.stop()
            self.store.__enter__()
        files.make_cold(data.stored_files(loop, self.store))

    def limit(self, data: LoaderData, samples: Samples, order: list[int], batch: int) -> Epoch:
        """The C++ loop over the samples in this order, once."""
        field = next(iter(samples.fields))
        places = write_places(
            self.context.work / "places", [samples.place(number, field) for number in order]
        )
        read = pread.run(data.tars, places, self.cores, batch=batch, threads=len(self.cores))
        return Epoch(
            samples=read.samples, bytes=read.bytes, sum=0, seconds=read.seconds, first_batch_s=0,
            cpu_seconds=read.cpu_seconds, utilisation=0, same_class=0,
        )


@dataclass(frozen=True)
class Taken:
    """One epoch of a loop, and the memory that its processes have."""

    epoch: Epoch
    memory_bytes: int = 0
    is_exact: bool = True  # every sample came once


def must_be_exact(epoch: Epoch, count: int) -> None:
    if not feed.is_exact(epoch, count):
        raise BenchmarkError(f"leat gave {epoch.samples} of {count} samples, or some twice")


def rate_cells(
    name: str, taken: dict[str, list[Taken]], over_peers: float | None, over_limit: float | None
) -> list[Cell]:
    """Leat against every peer; the targets are against the fastest one and against the limit."""

    def rate(leg: str) -> float:
        return median(one.epoch.samples_per_s for one in taken[leg])

    def pair(leg: str, value, form: str) -> str:
        both = (median(value(one) for one in taken[of]) for of in ("leat", leg))
        return " / ".join(format(number, form) for number in both)

    peers = [leg for leg in taken if leg not in ("leat", LIMIT)]
    fastest = max(peers, key=rate, default=None)
    targets = {fastest: over_peers, LIMIT: over_limit}
    return [
        Cell(
            name=name,
            leat=rate("leat"),
            peer=LABELS[leg],
            peer_value=rate(leg),
            target=targets.get(leg),
            columns={
                "CPU s/million": pair(leg, lambda one: one.epoch.cpu_s_per_million, ".1f"),
                "MB/s": pair(leg, lambda one: one.epoch.bytes / one.epoch.seconds / 1e6, ".0f"),
                "memory MiB": pair(leg, lambda one: one.memory_bytes / MIB, ".0f"),
            },
            extra={
                "cpu_s_per_million": median(
                    one.epoch.cpu_s_per_million for one in taken["leat"]
                ),
                "peer_cpu_s_per_million": median(
                    one.epoch.cpu_s_per_million for one in taken[leg]
                ),
            },
        )
        for leg in [*peers, *([LIMIT] if LIMIT in taken else [])]
    ]


NOTES = [
    "Every loop has both cores, with the server where there is one; peers have a worker process",
    "for each. Same samples, batch and machine; peers as their documentation has them for speed",
    "(benchmarks/peers/loops.py). CPU and memory are of all processes of a loop, CPU with the",
    "server's. Pairs: leat / peer.",
]


def quick_note(context: Context) -> list[str]:
    if not context.quick:
        return []
    return ["Quick: MosaicML Streaming, LitData and HF datasets are in full runs only."]


def remove(path: Path) -> None:
    files.remove_tree(path)
