"""A line that says how far an epoch is."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_BAR = 24
_REDRAW_SECONDS = 0.1
_LINE_SECONDS = 10.0


def amount(number: float, unit: str = "") -> str:
    """``12 345`` → ``12.3 k``."""
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= limit:
            return f"{number / limit:.1f} {letter}{unit}"
    return f"{number:.0f} {unit}".rstrip()


class Progress:
    """Redraws one line on a terminal; prints a line now and then where there is none."""

    def __init__(self, total: int, name: str, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._total = total
        self._name = name
        self._is_terminal = self._stream.isatty() or "ipykernel" in sys.modules
        self._begun = time.monotonic()
        self._shown = self._begun
        self._samples = 0
        self._bytes = 0
        self._waited = 0.0

    def add(self, samples: int, size_bytes: int, waited: float) -> None:
        """Some samples more were handed out, after a wait for them."""
        self._samples += samples
        self._bytes += size_bytes
        self._waited += waited
        now = time.monotonic()
        if now - self._shown >= (_REDRAW_SECONDS if self._is_terminal else _LINE_SECONDS):
            self._shown = now
            self._draw(self.line())

    def line(self) -> str:
        """What is shown now."""
        seconds = max(time.monotonic() - self._begun, 1e-9)
        rate = self._samples / seconds
        share = min(1.0, self._samples / self._total) if self._total else 1.0
        left = (self._total - self._samples) / rate if rate and share < 1 else 0
        bar = ("█" * round(share * _BAR)).ljust(_BAR, "░")
        return (
            f"{self._name} {bar} {share:4.0%}  {amount(rate)} samples/s  "
            f"{amount(self._bytes / seconds, 'B')}/s  waits {self._waited / seconds:.0%}  "
            f"{left:.0f} s left"
        )

    def close(self) -> None:
        """Ends the line."""
        self._draw(self.line())
        if self._is_terminal:
            self._stream.write("\n")
            self._stream.flush()

    def _draw(self, line: str) -> None:
        self._stream.write(f"\r{line}\x1b[K" if self._is_terminal else line + "\n")
        self._stream.flush()
