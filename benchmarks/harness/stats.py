"""Numbers of rounds made into one number: medians, and ratios that always favour Leat upwards."""

import statistics
from collections.abc import Iterable


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


def ratio(leat: float, peer: float, smaller_is_better: bool = False) -> float:
    """How many times better Leat is: above 1 Leat wins, whichever way the unit points."""
    better, worse = (peer, leat) if smaller_is_better else (leat, peer)
    return better / worse if worse > 0 else float("inf") if better > 0 else 1.0
