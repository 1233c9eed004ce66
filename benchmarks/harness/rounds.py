"""Interleaved rounds: every leg is measured once a round, so that drift hits all alike."""

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

Sample = TypeVar("Sample")


class Pace:
    """Shares a time budget evenly among cells: one that would overrun gets fewer rounds."""

    def __init__(
        self, budget_seconds: float | None, cells: int, clock: Callable[[], float] = time.monotonic
    ):
        self.clock = clock
        self.end = None if budget_seconds is None else clock() + budget_seconds
        self.cells_left = cells
        self.cell_end: float | None = None

    def begin_cell(self) -> None:
        if self.end is not None:
            now = self.clock()
            self.cell_end = now + (self.end - now) / max(1, self.cells_left)
        self.cells_left -= 1

    def allows_another(self, round_seconds: float) -> bool:
        return self.cell_end is None or self.clock() + round_seconds <= self.cell_end


def interleave(
    legs: Mapping[str, Callable[[], Sample]], rounds: int, pace: Pace
) -> dict[str, list[Sample]]:
    """Runs the legs in turn, up to `rounds` times and at least once.

    Every other round goes backwards (a b, b a, a b …): no leg always comes first, and a steady
    drift cancels out."""
    samples: dict[str, list[Sample]] = {name: [] for name in legs}
    pace.begin_cell()
    for number in range(rounds):
        start = pace.clock()
        for name in list(legs) if number % 2 == 0 else list(reversed(legs)):
            samples[name].append(legs[name]())
        if not pace.allows_another(pace.clock() - start):
            break
    return samples
