"""Where the time of an epoch goes, and what to do about it."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leat._progress import amount
from leat.errors import BadRequest


@dataclass(frozen=True)
class Report:
    """One epoch, or what there is of it: ``print()`` it, take its numbers, or ``plot()`` it.

    ``data`` has what the library measured, stage by stage, with its ``verdict`` and ``fix``.
    ``seconds`` is how long the loop runs, ``waited`` how much of that it waited for batches.
    """

    data: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    waited: float = 0.0

    @staticmethod
    def empty() -> Report:
        """Of a loader that has not run."""
        return Report()

    @property
    def wait_share(self) -> float:
        """How much of the loop's time was waiting for data, 0 … 1."""
        return self.waited / self.seconds if self.seconds else 0.0

    @property
    def verdict(self) -> str:
        """What limits: what the library found (network, decode, consumer, …), or transform."""
        return str(self.data.get("verdict", "nothing was measured"))

    @property
    def fix(self) -> str:
        """What to do about it."""
        return str(self.data.get("fix", ""))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON can have it."""
        mine = {"seconds": self.seconds, "wait_seconds": self.waited, "wait_share": self.wait_share}
        return {**self.data, **mine}

    def rates(self) -> dict[str, float]:
        """Samples a second that each part could do alone: the roofs of plot()."""
        stages = self.data.get("stages", {})
        rates = {}
        fetch = stages.get("fetch", {})
        if fetch.get("seconds"):
            # As many requests at once as there were, each as long as they took.
            at_once = max(1, int(self.data.get("requests_at_once", 1)))
            rates["fetch"] = self.samples * at_once / fetch["seconds"]
        for name in ("decode", "assemble"):
            if stages.get(name, {}).get("seconds"):
                threads = max(1, int(self.data.get("threads", 1)))
                rates[name] = self.samples * threads / stages[name]["seconds"]
        python = stages.get("python", {})
        if python.get("seconds"):
            rates["python"] = self.samples * python["threads"] / python["seconds"]
        if stages.get("consumer", {}).get("seconds"):
            rates["consumer"] = self.samples / stages["consumer"]["seconds"]
        return rates

    @property
    def samples(self) -> int:
        return int(self.data.get("samples", 0))

    @property
    def size_bytes(self) -> int:
        """Bytes that were fetched."""
        return int(self.data.get("stages", {}).get("fetch", {}).get("bytes", 0))

    def __str__(self) -> str:
        if not self.seconds:
            return "no epoch was run yet"
        rate = self.samples / self.seconds
        lines = [
            f"{self.samples} samples in {self.seconds:.1f} s: {amount(rate)} samples/s, "
            f"{amount(self.size_bytes / self.seconds, 'B')}/s; "
            f"waited for data {self.wait_share:.0%} of the time"
        ]
        rates = self.rates()
        if rates:
            each = " · ".join(f"{name} {amount(one)}" for name, one in rates.items())
            lines.append(f"  could do, samples/s: {each}")
        lines.append(f"  limited by: {self.verdict}")
        if self.fix:
            lines.append(f"  try: {self.fix}")
        return "\n".join(lines)

    def plot(self, path: str | Path) -> Path:
        """A roofline as .png or .svg: samples a second that each part allows, by samples a MB.

        Needs matplotlib.
        """
        if not self.samples or not self.size_bytes:
            raise BadRequest("there is nothing to plot: no epoch was run yet")
        try:
            figure_module = importlib.import_module("matplotlib.figure")
        except ImportError as error:
            raise ImportError("plots are drawn by matplotlib: pip install matplotlib") from error
        figure = figure_module.Figure(figsize=(7, 4.5), layout="constrained")
        self._draw(figure.subplots())
        figure.savefig(path)
        return Path(path)

    def _draw(self, axes: Any) -> None:
        intensity = self.samples / (self.size_bytes / 1e6)
        span = [intensity / 30, intensity * 30]
        for name, rate in self.rates().items():
            if name in _SLOPED:
                axes.plot(span, [rate / intensity * x for x in span], label=name)
            else:
                axes.plot(span, [rate, rate], linestyle="--", label=name)
        axes.plot([intensity], [self.samples / self.seconds], "ko", label="this epoch")
        axes.set(xscale="log", yscale="log", xlabel="samples a MB", ylabel="samples a second")
        axes.set_title(f"limited by: {self.verdict}", fontsize=10)
        axes.grid(True, which="both", alpha=0.2)
        axes.legend(fontsize=8)


@dataclass(frozen=True)
class PythonStage:
    """What the user's functions took: transform, decode functions, collate_fn."""

    seconds: float  # in all threads
    waited: float  # that the loop waited for them, and for what else Python does with a batch
    threads: int


# Waiting less than this share of the time is as good as not waiting. As in the library.
_NO_WAIT = 0.05

_TRANSFORM_FIX = (
    "your functions are what batches wait for: let the library decode (leat.Image, 'int64'), work "
    "on whole batches in the loop, raise num_workers if the functions release Python's lock (NumPy "
    "and Pillow do), or give leat.StreamingDataset to torch's DataLoader and its processes"
)


def with_python(
    data: dict[str, Any], python: PythonStage, *, seconds: float, waited: float
) -> dict[str, Any]:
    """What the library measured, completed by what it cannot see: for the library, the time in
    Python functions is its consumer's."""
    stages = {
        **data.get("stages", {}),
        "python": {
            "seconds": python.seconds,
            "threads": python.threads,
            "consumer_waited_seconds": python.waited,
        },
        "consumer": {"seconds": max(0.0, seconds - waited)},
    }
    made = {**data, "stages": stages}
    waits = seconds > 0 and waited / seconds >= _NO_WAIT
    if waits and (python.waited >= waited / 2 or data.get("verdict") == "consumer"):
        made |= {"verdict": "transform", "fix": _TRANSFORM_FIX}
    return made


# Parts whose limit is bytes a second: their roofs rise with samples a MB.
_SLOPED = ("fetch", "assemble")
