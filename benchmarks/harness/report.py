"""The report of a benchmark: a table for people, the RESULT line for tools."""

import json
import math
from dataclasses import dataclass, field

from harness.stats import ratio


@dataclass(frozen=True)
class Cell:
    """One comparison, judged by a ratio as target, an absolute bound on Leat's value, or not."""

    name: str
    leat: float
    peer: str
    peer_value: float
    target: float | None = None
    bound: float | None = None
    unit: str | None = None
    smaller_is_better: bool = False
    ratio_override: float | None = None
    columns: dict[str, str] = field(default_factory=dict)
    extra: dict[str, float] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        if self.ratio_override is not None:
            return self.ratio_override
        return ratio(self.leat, self.peer_value, self.smaller_is_better)

    @property
    def met(self) -> bool | None:
        if self.bound is not None:
            return self.leat < self.bound
        return None if self.target is None else self.ratio >= self.target

    def result(self) -> dict[str, object]:
        answer: dict[str, object] = {
            "cell": self.name,
            "leat": shorten(self.leat),
            "peer": self.peer,
            "peer_value": shorten(self.peer_value),
            "ratio": round(self.ratio, 2) if math.isfinite(self.ratio) else None,
            "target": self.target,
            "met": self.met,
        }
        if self.bound is not None:
            answer["bound"] = self.bound
        if self.unit is not None:
            answer["unit"] = self.unit
        return answer | {key: shorten(value) for key, value in self.extra.items()}


@dataclass
class Report:
    name: str
    unit: str
    machine: dict[str, object]
    cells: list[Cell]
    notes: list[str] = field(default_factory=list)
    self_test: bool = False

    def result(self) -> dict[str, object]:
        """`min_ratio` is taken over the cells that have a target; without any, over all."""
        judged = [cell for cell in self.cells if cell.target is not None] or self.cells
        verdicts = [cell.met for cell in self.cells if cell.met is not None]
        answer: dict[str, object] = {
            "name": self.name,
            "unit": self.unit,
            "cells": [cell.result() for cell in self.cells],
            "min_ratio": round(min(cell.ratio for cell in judged), 2),
            "met": all(verdicts) if verdicts else None,
            "machine": self.machine,
        }
        if self.self_test:
            answer["self_test"] = True
        return answer

    def json(self) -> str:
        return json.dumps(self.result(), separators=(",", ":"), ensure_ascii=False, allow_nan=False)

    def text(self) -> str:
        facts = ", ".join(f"{key} {value}" for key, value in self.machine.items())
        parts = [f"{self.name} on {facts}"]
        if self.self_test:
            parts.append("SELF-TEST: the side called leat is nginx too; no figure here is Leat's.")
        parts += ["", table(self.rows()), "", *self.notes, f"RESULT {self.json()}"]
        return "\n".join(parts)

    def markdown(self) -> str:
        """The table and its notes, for docs/benchmarks.md."""
        head, *rows = self.rows()
        lines = [head, ["---"] * len(head), *rows]
        table_lines = ["| " + " | ".join(line) + " |" for line in lines]
        return "\n".join([*table_lines, "", *self.notes])

    def rows(self) -> list[list[str]]:
        extra = list(dict.fromkeys(name for cell in self.cells for name in cell.columns))
        rows = [["cell", "unit", "leat", "peer", "value", "ratio", "target", "met", *extra]]
        for cell in self.cells:
            target = "–" if cell.target is None else f"≥ {cell.target:g}"
            if cell.bound is not None:
                target = f"< {cell.bound:g} {cell.unit or self.unit}"
            met = {True: "yes", False: "NO", None: "–"}[cell.met]
            rows.append(
                [
                    cell.name,
                    cell.unit or self.unit,
                    f"{shorten(cell.leat):g}",
                    cell.peer,
                    f"{shorten(cell.peer_value):g}",
                    f"{cell.ratio:.2f}",
                    target,
                    met,
                    *(cell.columns.get(name, "") for name in extra),
                ]
            )
        return rows


def shorten(value: float) -> float:
    """Four significant digits: more would claim a precision no benchmark has."""
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, max(0, 3 - math.floor(math.log10(abs(value)))))


def table(rows: list[list[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            text.rjust(width) if column else text.ljust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])
