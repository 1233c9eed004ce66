"""A list of samples as a batch, where Python had a part in them and no collate_fn is given."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

Collate = Callable[[list[Any]], Any]


def collate_of(framework: str) -> Collate:
    """What makes batches for a framework; for torch it is torch's own."""
    if framework == "torch":
        made: Collate = importlib.import_module("torch.utils.data").default_collate
        return made
    if framework == "memory":
        return lambda samples: _turned(samples, list)
    numpy = importlib.import_module("numpy")
    if framework == "numpy":
        return lambda samples: _turned(samples, lambda values: _stacked(numpy, values))
    as_array = importlib.import_module("jax.numpy").asarray

    def for_jax(values: list[Any]) -> Any:
        stacked = _stacked(numpy, values)
        return as_array(stacked) if isinstance(stacked, numpy.ndarray) else stacked

    return lambda samples: _turned(samples, for_jax)


def _turned(samples: list[Any], together: Collate) -> Any:
    """Dicts as a dict, tuples as a tuple, of what `together` makes of one value of each."""
    first = samples[0]
    if isinstance(first, dict):
        names = dict.fromkeys(name for sample in samples for name in sample)
        return {name: _turned([one.get(name) for one in samples], together) for name in names}
    if isinstance(first, tuple):
        return tuple(_turned(list(values), together) for values in zip(*samples))
    return together(samples)


def _stacked(numpy: Any, values: list[Any]) -> Any:
    """Numbers, and arrays of one shape, as one array; anything else as the list that it is."""
    if all(isinstance(value, (bool, int, float, complex)) for value in values):
        return numpy.asarray(values)
    shapes = {getattr(value, "shape", None) for value in values}
    return numpy.stack(values) if len(shapes) == 1 and None not in shapes else values
