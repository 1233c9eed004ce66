"""What a suite is given: where to work, how long to measure, and which servers to compare."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from harness import load
from harness.awake import AwakeCores
from harness.errors import BenchmarkError
from harness.load import Sample
from harness.machine import Cores
from harness.rounds import Pace
from harness.servers import Leat, LeatStore, Nginx, Server

# What a suite measures in one cell; every suite has its own type.
Work = TypeVar("Work")

# Leaves time for a build that is nearly up to date, and for making the files.
QUICK_SECONDS = 35.0


@dataclass(frozen=True)
class Context:
    work: Path
    cores: Cores
    awake: AwakeCores
    quick: bool = False
    quiet: bool = False
    self_test: bool = False
    seconds: float | None = None
    rounds: int | None = None
    cells: str | None = None

    def rounds_or(self, quick: int, full: int) -> int:
        return self.rounds or (quick if self.quick else full)

    def pace(self, cells: int) -> Pace:
        """How the suite's cells share the time of a quick run; a full run takes what it takes."""
        return Pace(QUICK_SECONDS if self.quick else None, cells)

    def seconds_or(self, quick: float, full: float) -> float:
        return self.seconds or (quick if self.quick else full)

    def choose(self, works: list[Work]) -> list[Work]:
        """The works that --cells asks for, by their names."""
        chosen = [work for work in works if self.cells is None or self.cells in work.name]
        if not chosen:
            names = ", ".join(work.name for work in works)
            raise BenchmarkError(f"no cell contains '{self.cells}'; there are: {names}")
        return chosen

    def leat(self, root: Path, writable: bool = False) -> Server:
        """Leat on `root`. In a self-test nginx stands on this side too."""
        if self.self_test:
            return self.nginx(root, writable)
        return Leat(root, self.work, self.cores.server, writable)

    def store(self, root: Path) -> Server:
        """`leat serve` of the store in `root`."""
        return LeatStore(root, self.work, self.cores.server, writable=True)

    def nginx(self, root: Path, writable: bool = False) -> Server:
        return Nginx(root, self.work, self.cores.server, writable)

    def servers(self, root: Path, writable: bool = False) -> dict[str, Server]:
        """The two legs most benchmarks compare, neither started yet."""
        return {"leat": self.leat(root, writable), "nginx": self.nginx(root, writable)}

    def load(self, server: Server, **options: object) -> Sample:
        """One run of http_load against `server`; options are its flags."""
        return load.run(server, self.cores, self.awake, **options)

    def say(self, text: str) -> None:
        """Progress goes to stderr, so that stdout holds the table and the result alone."""
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)
