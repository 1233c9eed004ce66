"""Loops that feed a training job, each in a process of its own: benchmarks/peers/feed.py."""

import json
import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from harness import build
from harness.errors import BenchmarkError
from harness.load import flags
from harness.servers import pin_child

PEERS = build.ROOT / "benchmarks" / "peers"
PYTHON = build.ROOT / "build" / "peers" / "python" / "bin" / "python"
PATIENCE_S = 1800
MIB = 1 << 20


@dataclass(frozen=True)
class Epoch:
    samples: int
    bytes: int
    sum: int
    seconds: float
    first_batch_s: float
    cpu_seconds: float
    utilisation: float
    same_class: float

    @property
    def samples_per_s(self) -> float:
        return self.samples / self.seconds

    @property
    def cpu_s_per_million(self) -> float:
        return self.cpu_seconds / max(1, self.samples) * 1e6


def merged(epochs: list[Epoch]) -> Epoch:
    """Several epochs as if they were one long one."""
    total = {
        name: sum(getattr(epoch, name) for epoch in epochs)
        for name in ("samples", "bytes", "sum", "seconds", "cpu_seconds")
    }
    return replace(epochs[0], **total)


@dataclass(frozen=True)
class Fed:
    """What a loop did. `first_batch_s` counts from the start of the program, imports included."""

    epochs: list[Epoch]
    made_s: float
    first_batch_s: float
    memory_bytes: int


def parse(line: str) -> Fed:
    try:
        answer = json.loads(line)
    except json.JSONDecodeError as error:
        raise BenchmarkError(f"a loop printed no JSON: {line[:200]!r}") from error
    epochs = [Epoch(**epoch) for epoch in answer.pop("epochs")]
    if not epochs or min(epoch.samples for epoch in epochs) == 0:
        raise BenchmarkError("a loop gave no samples")
    return Fed(epochs=epochs, **answer)


def is_exact(epoch: Epoch, count: int) -> bool:
    """Whether every sample came once; their numbers are 0 … count - 1."""
    return epoch.samples == count and epoch.sum == count * (count - 1) // 2


def python() -> str:
    """The interpreter of the peers."""
    if not PYTHON.exists():
        raise BenchmarkError("the peers are not installed; run benchmarks/peers/setup.sh")
    return str(PYTHON)


def environment(home: Path, more: dict[str, str] | None = None) -> dict[str, str]:
    """What the loops may see: nothing of the user's, and caches below `home`."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(home),
        "HF_HOME": str(home / "hf"),
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
        "PYTHONPATH": str(build.ROOT / "python"),
        "LEAT_LIBRARY": str(build.LIBLEAT),
        **(more or {}),
    }


class Loop:
    """One loop, started; several may run at a time."""

    def __init__(
        self, loop: str, cores: list[int], surroundings: dict[str, str], **options: object
    ) -> None:
        self.loop = loop
        self.process = subprocess.Popen(
            [python(), str(PEERS / "feed.py"), loop, *flags(**options)],
            env=surroundings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=pin_child(*cores),
        )

    def wait(self) -> Fed:
        try:
            out, err = self.process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired as error:
            self.process.kill()
            raise BenchmarkError(f"{self.loop} took over {PATIENCE_S} s") from error
        if self.process.returncode != 0:
            raise BenchmarkError(f"{self.loop} ended with {self.process.returncode}: {err[-1500:]}")
        lines = out.strip().splitlines()
        return parse(lines[-1] if lines else "")


def convert(peer: str, tars: Path, target: Path, home: Path) -> Path:
    done = subprocess.run(
        [python(), str(PEERS / "convert.py"), peer, str(tars), str(target)],
        env=environment(home), capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )
    if done.returncode != 0 or not target.exists():
        raise BenchmarkError(f"cannot write the format of {peer}: {done.stderr[-1500:]}")
    return target


def versions(names: list[str]) -> dict[str, str]:
    """Of packages of the peers."""
    code = "import importlib.metadata as m, json, sys; " \
           "print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
    done = subprocess.run([python(), "-c", code, *names], capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchmarkError(f"a peer is missing: {done.stderr[-300:]}")
    return json.loads(done.stdout)
