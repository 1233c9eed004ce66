"""Where a job is, in a few numbers.

Since the order of an epoch is computed from (dataset version, seed, epoch), a position in it is one
number, and means the same on any number of ranks, workers and threads. So a state is

    {"format": 1, "dataset": "imagenet/train", "version": 7, "fingerprint": "…",
     "order": 1, "shuffle": "block", "window_bytes": 268435456,
     "seed": 42, "epoch": 3, "samples": 1234944}

``samples`` are those that all ranks together were handed of the epoch: not what was prefetched.
A state of a StreamingDataset may also be of a worker process (``worker``, ``batches`` that it had
since) or inside a batch (``within``): then ``batch_size`` and ``world`` say what batches these are.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from typing import Any

from leat._order import ORDER_VERSION
from leat.errors import StateError

State = dict[str, Any]

FORMAT = 1
# What must be as it was for positions to mean the same.
_IDENTITY = ("fingerprint", "order", "shuffle", "window_bytes", "seed", "rows", "mix")
_WORDS = {
    "fingerprint": "the content of the dataset",
    "order": "the order version",
    "shuffle": "shuffle",
    "window_bytes": "the window",
    "seed": "the seed",
    "rows": "the subset of rows",
    "mix": "the mix",
}


def new(identity: dict[str, Any], epoch: int, samples: int) -> State:
    """A state. `identity` is what identity_of() gave, with the order's options."""
    return {"format": FORMAT, **identity, "epoch": epoch, "samples": samples}


def identity_of(source: Any, order: dict[str, Any]) -> dict[str, Any]:
    """The parts of a state that do not move."""
    return {**source.identity(), "order": ORDER_VERSION, **order}


def rows_digest(rows: Sequence[int]) -> str:
    """Names a subset."""
    return hashlib.sha256(array("Q", rows).tobytes()).hexdigest()[:16]


def check_format(state: Any) -> None:
    """Raises StateError unless it is a state at all."""
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        found = state.get("format") if isinstance(state, dict) else type(state).__name__
        raise StateError(f"this is no state of format {FORMAT} of a Leat loader: {found!r}")


def check(state: State, identity: dict[str, Any]) -> None:
    """Raises StateError unless positions of `state` are positions here."""
    check_format(state)
    for name in _IDENTITY:
        if state.get(name) != identity.get(name):
            raise StateError(_difference(name, state, identity))


def check_batches(state: State, batch_size: int, world: int) -> None:
    """Raises StateError unless the batches that a state counts are those that are made here."""
    then = (state.get("batch_size"), state.get("world"))
    if then != (batch_size, world):
        raise StateError(
            f"the state counts batches of {then[0]} on {then[1]} ranks, and here are batches of "
            f"{batch_size} on {world}: it goes on with the same ones alone; a state between two "
            "batches of one process, or state_at(), goes on with any"
        )


def check_is_between_batches(state: State) -> None:
    """Raises StateError if a state is more than a number of samples that all ranks had."""
    is_of_worker = state.get("worker", (0, 1))[1] > 1
    if is_of_worker or any(state.get(name) for name in ("batches", "within", "turn")):
        raise StateError(
            "the state is inside a batch, or of a worker process of a StreamingDataset: go on with "
            "leat.StreamingDataset, or take a state that any loader goes on with by its state_at()"
        )


def _difference(name: str, state: State, identity: dict[str, Any]) -> str:
    text = f"the state is of another order: {_WORDS[name]} was {state.get(name)!r}"
    text += f" and is {identity.get(name)!r}"
    if name == "fingerprint":
        text = f"the state is of {state.get('dataset')}@{state.get('version')}"
        text += f", not of {identity.get('dataset')}@{identity.get('version')}"
        text += f"; open {state.get('dataset')}@{state.get('version')} to go on with it"
    return text
