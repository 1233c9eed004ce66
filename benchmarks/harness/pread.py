"""Runs pread_loop: samples read from local files by a loop in C++, the limit of all others."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness import build
from harness.errors import BenchmarkError
from harness.load import flags
from harness.servers import pin_child


@dataclass(frozen=True)
class Read:
    samples: int
    bytes: int
    seconds: float
    cpu_seconds: float
    check: int

    @property
    def samples_per_s(self) -> float:
        return self.samples / self.seconds

    @property
    def cpu_s_per_million(self) -> float:
        return self.cpu_seconds / self.samples * 1e6


def run(paths: list[Path], places: Path, cores: list[int], **options: object) -> Read:
    files = [word for path in paths for word in ("--file", str(path))]
    line = [build.binary(build.PREAD_LOOP), *files, *flags(places=places, **options)]
    done = subprocess.run(line, capture_output=True, text=True, preexec_fn=pin_child(*cores))
    if done.returncode != 0:
        raise BenchmarkError(done.stderr.strip())
    return Read(**json.loads(done.stdout))
