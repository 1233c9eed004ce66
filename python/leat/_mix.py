"""Mix: several datasets as one, in fixed proportions."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from leat import _native
from leat._dataset import Dataset
from leat._feed import open_mix
from leat._order import until_used_up
from leat._session import Session
from leat._source import Source
from leat._state import State
from leat.decode import sorted_out
from leat.errors import BadRequest

Part = str | Dataset


class Mix(Source):
    """Several datasets in fixed proportions, for DataLoader and StreamingDataset.

    >>> mix = leat.Mix([("web/images", 0.7), ("books/scans", 0.3)])      # doctest: +SKIP
    >>> loader = leat.DataLoader(mix, batch_size=256, seed=1)            # doctest: +SKIP

    Proportions hold after any number of samples, to a whole one, and not only on average; which
    sample stands where is computed, as for one dataset: states are as small, and resume as exactly.
    Subsets may be among them. An epoch is ``samples`` long; by default it ends where the first
    dataset is used up. One that is used up before the epoch's end begins again, in another order.

    ``fields``, ``decode`` and ``transform`` are one for all, and the loader's.
    """

    def __init__(
        self,
        parts: Sequence[tuple[Part, float]],
        *,
        samples: int | None = None,
        session: Session | None = None,
    ) -> None:
        if not parts or any(weight <= 0 for _, weight in parts):
            raise BadRequest("a mix has at least one dataset, and weights above 0")
        self.datasets = [
            part if isinstance(part, Dataset) else Dataset(part, session=session)
            for part, _ in parts
        ]
        for one in self.datasets:
            if one.chosen_fields is not None or one.handles_samples or one.decoders.native:
                raise BadRequest(
                    f"{one.name} comes with fields, decode or transform of its own, which a mix "
                    "cannot keep apart: give them to the loader"
                )
        self.session = self.datasets[0].session
        self.weights = [float(weight) for _, weight in parts]
        self.transform = None
        self._fields = None
        self._decoders = sorted_out(None)
        self._samples = samples

    def __len__(self) -> int:
        if self._samples is not None:
            return self._samples
        return until_used_up(self.weights, [len(one) for one in self.datasets])

    @property
    def has_number(self) -> bool:
        return all(one.has_number for one in self.datasets)

    def __repr__(self) -> str:
        parts = ", ".join(
            f"{weight:g} × {one.name}@{one.version}"
            for one, weight in zip(self.datasets, self.weights)
        )
        return f"<leat.Mix {parts}: {len(self)} samples>"

    def identity(self) -> dict[str, Any]:
        each = [one.identity() for one in self.datasets]
        identity: dict[str, Any] = {
            name: [one[name] for one in each] for name in ("dataset", "version", "fingerprint")
        }
        if any("rows" in one for one in each):
            identity["rows"] = [one.get("rows") for one in each]
        return {**identity, "mix": {"weights": self.weights, "samples": len(self)}}

    def open_loader(self, options: dict[str, Any]) -> _native.Handle:
        rows = [one.order_options.get("rows") for one in self.datasets]
        mixed = {**options, "weights": self.weights, "samples": len(self)}
        if any(one is not None for one in rows):
            mixed["rows"] = rows if len(rows) > 1 else rows[0]
        return open_mix(self.session, [one.handle for one in self.datasets], mixed)

    def at_state(self, state: State) -> Mix:
        names, versions = state.get("dataset"), state.get("version")
        if not isinstance(names, list) or not isinstance(versions, list):
            return self
        if len(names) != len(self.datasets) or len(versions) != len(names):
            return self
        made = copy.copy(self)
        made.datasets = [
            one.at_state({"dataset": name, "version": version})
            for one, name, version in zip(self.datasets, names, versions)
        ]
        return made
