"""GET of files that are not in the page cache against nginx, and warm requests beside cold ones."""

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness import files, load, machine
from harness.context import Context
from harness.load import Sample
from harness.report import Cell, Report
from harness.rounds import interleave
from harness.servers import Server
from harness.stats import median

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SIZES = (4 * KIB, 128 * KIB, MIB, 10 * MIB, 64 * MIB)
CONNECTIONS = (1, 16, 64)
PROBE_SIZE = 4 * KIB
PROBE_CONNECTIONS = 4
PROBE_BOUND_MS = 2.0
PROBE_CELL = "4KiB p99 beside 64MiB/4"


@dataclass(frozen=True)
class Work:
    name: str
    size: int
    connections: int
    probe: bool = False

    def count(self, quick: bool) -> int:
        """Files read in one measurement; never fewer than the connections can have in flight."""
        files_max, bytes_max = (2000, 512 * MIB) if quick else (20_000, 2 * GIB)
        return max(min(files_max, bytes_max // self.size), self.connections)


def works() -> list[Work]:
    plain = [
        Work(f"{files.size_name(size)}/{connections}", size, connections)
        for size in SIZES
        for connections in CONNECTIONS
    ]
    return [*plain, Work(PROBE_CELL, 64 * MIB, PROBE_CONNECTIONS, probe=True)]


def measure(context: Context, server: Server, work: Work, made: list[Path], small: Path) -> Sample:
    """Every file once, from the disk, by a server that has just started and so has no file open."""
    files.make_cold(made)
    files.warm([small])
    listing = load.write_paths(context.work, "cold", made)
    probe = {"probe_path": f"/{small.name}", "probe_interval_ms": 1} if work.probe else {}
    with server:
        return context.load(
            server,
            connections=work.connections,
            requests=len(made),
            paths_file=listing,
            expect_bytes=work.size,
            **probe,
        )


def cells_of(work: Work, samples: dict[str, list[Sample]]) -> list[Cell]:
    def middle(leg: str, value) -> float:
        return median(value(sample) for sample in samples[leg])

    leat, nginx = (middle(leg, lambda sample: sample.mb_per_s) for leg in ("leat", "nginx"))
    cpu = [middle(leg, lambda sample: sample.cpu_s_per_gib) for leg in ("leat", "nginx")]
    stream = Cell(
        name="64MiB/4 with probe" if work.probe else work.name,
        leat=leat,
        peer="nginx",
        peer_value=nginx,
        target=1.5 if work.size >= MIB and not work.probe else None,
        columns={"cpu s/GiB": f"{cpu[0]:.3f} / {cpu[1]:.3f}"},
        extra={"cpu_s_per_gib": cpu[0], "peer_cpu_s_per_gib": cpu[1]},
    )
    if not work.probe:
        return [stream]
    p99 = [middle(leg, lambda sample: sample.probe_us["p99"] / 1000) for leg in ("leat", "nginx")]
    probe = Cell(
        name=work.name,
        leat=p99[0],
        peer="nginx",
        peer_value=p99[1],
        unit="ms",
        smaller_is_better=True,
        bound=PROBE_BOUND_MS,
    )
    return [stream, probe]


def run(context: Context) -> Report:
    root = context.work / "files"
    root.mkdir()
    small = files.make_files(root, "probe", 1, PROBE_SIZE)[0]
    legs = context.servers(root)
    cells, all_samples = [], []
    made: list[Path] = []
    chosen = context.choose(works())
    pace = context.pace(len(chosen))
    for work in chosen:
        if not made or made[0].stat().st_size != work.size:
            for old in made:
                old.unlink()
            alike = [other for other in chosen if other.size == work.size]
            count = max(other.count(context.quick) for other in alike)
            made = files.make_files(root, "cold", count, work.size)
            os.sync()
            verify(legs, made[-1])
        context.say(work.name)
        runs = {
            leg: partial(measure, context, server, work, made[: work.count(context.quick)], small)
            for leg, server in legs.items()
        }
        samples = interleave(runs, context.rounds_or(quick=3, full=5), pace)
        cells += cells_of(work, samples)
        all_samples += samples["leat"] + samples["nginx"]
    facts = machine.facts(context.work, {leg: server.version() for leg, server in legs.items()})
    notes = [
        f"Pairs are leat / nginx. Files on {facts['disk']}, out of the page cache before each",
        "measurement; the host of a virtual disk may still hold them.",
        "A new server process for each measurement.",
        *load.disturbance_notes(all_samples),
    ]
    return Report("http_get_cold", "MB/s", facts, cells, notes, context.self_test)


def verify(legs: dict[str, Server], path: Path) -> None:
    for server in legs.values():
        files.make_cold([path])
        with server:
            files.verify_get(server, path)
