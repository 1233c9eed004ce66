"""shuffle_report(): how good the order of a dataset is, in numbers."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leat import _native
from leat._dataset import Dataset
from leat._feed import WINDOW_BYTES, Size, shuffle_name, size_bytes
from leat.errors import BadRequest


@dataclass(frozen=True)
class ShuffleReport:
    """``inflation`` is how much likelier two samples of a batch have the same label than under a
    full shuffle; 1.0 is perfect, up to 1.2 is hard to tell from it.

    ``correlation`` is that of the places which a sample has in two epochs: 0.0 is perfect.
    """

    dataset: str
    samples: int
    labels: int
    batch_size: int
    shuffle: str
    window_bytes: int
    same_label_rate: float
    full_shuffle_rate: float
    correlation: float

    @property
    def inflation(self) -> float:
        return self.same_label_rate / self.full_shuffle_rate if self.full_shuffle_rate else 1.0

    def __str__(self) -> str:
        verdict = (
            "as good as a full shuffle" if self.inflation <= 1.2 else "labels come in clusters"
        )
        text = (
            f"{self.dataset}: {self.samples} samples, {self.labels} labels, "
            f"batches of {self.batch_size}, shuffle={self.shuffle!r}, "
            f"window {self.window_bytes >> 20} MiB\n"
            f"  two of a batch share a label: {self.same_label_rate:.4%}, "
            f"under a full shuffle {self.full_shuffle_rate:.4%}: {self.inflation:.2f} ×\n"
            f"  correlation of successive epochs: {self.correlation:+.3f}\n"
            f"  {verdict}"
        )
        if self.inflation > 1.2:
            text += "; take a larger window, or ingest again with mixing"
        return text


def shuffle_report(
    dataset: str | Dataset,
    *,
    field: str | None = None,
    labels: Sequence[Any] | None = None,
    batch_size: int = 256,
    shuffle: bool | str = True,
    window: Size = WINDOW_BYTES,
    seed: int = 0,
) -> ShuffleReport:
    """How well training would see this dataset mixed, computed from its order and its labels.

    Labels are given, one for each sample of the dataset or subset, or read from a field, those
    bytes alone. Without either they are the field ``cls``, or where there is none, keys' folders.

    >>> print(leat.shuffle_report("imagenet/train"))                     # doctest: +SKIP
    """
    if isinstance(dataset, str):
        dataset = Dataset(dataset)
    if batch_size < 2:
        raise BadRequest(f"batch_size={batch_size}: pairs need 2")
    known = _numbered(labels if labels is not None else _labels(dataset, field))
    if len(known) != len(dataset):
        raise BadRequest(f"{len(known)} labels for {len(dataset)} samples")
    order: dict[str, Any] = {
        "batch_size": batch_size,
        "shuffle": shuffle_name(shuffle),
        "window_bytes": size_bytes(window),
        "seed": seed,
    }
    first, second = (_samples_in_order(dataset, {**order, "epoch": epoch}) for epoch in (0, 1))
    pairs = len(known) * (len(known) - 1)
    full = sum(count * (count - 1) for count in Counter(known).values()) / pairs if pairs else 0.0
    return ShuffleReport(
        dataset=f"{dataset.name}@{dataset.version}",
        samples=len(known),
        labels=len(set(known)),
        batch_size=batch_size,
        shuffle=order["shuffle"],
        window_bytes=order["window_bytes"],
        same_label_rate=same_label_rate([known[sample] for sample in first], batch_size),
        full_shuffle_rate=full,
        correlation=_correlation(first, second),
    )


def plan_rows(dataset: Dataset, order: dict[str, Any]) -> array[int]:
    """The row at every position of an epoch, over all ranks."""
    options = _native.options({**order, **dataset.order_options})
    found = _native.answered("leat_plan_rows", dataset.handle.pointer, options, 0, len(dataset))
    return array("Q", found)


def _samples_in_order(dataset: Dataset, order: dict[str, Any]) -> Sequence[int]:
    """As plan_rows(), with the samples' numbers in the dataset, which a subset has of its own."""
    rows = plan_rows(dataset, order)
    if dataset.rows is None:
        return rows
    number = {row: sample for sample, row in enumerate(dataset.rows)}
    return [number[row] for row in rows]


def same_label_rate(labels: Sequence[int], batch_size: int) -> float:
    """Pairs of one label among all pairs inside batches."""
    same = pairs = 0
    for begin in range(0, len(labels), batch_size):
        batch = labels[begin : begin + batch_size]
        pairs += len(batch) * (len(batch) - 1)
        same += sum(count * (count - 1) for count in Counter(batch).values())
    return same / pairs if pairs else 0.0


def _labels(dataset: Dataset, field: str | None) -> list[Any]:
    if field is None and "cls" not in dataset.info["fields"]:
        return [_folder(dataset, dataset.key(sample)) for sample in range(len(dataset))]
    field = field or "cls"
    if field not in dataset.info["fields"]:
        raise BadRequest(
            f"{dataset.name} has no field {field!r}: give labels=…, one for each sample"
        )
    return list(dataset.values(field))


def _folder(dataset: Dataset, key: str) -> str:
    folder, slash, _ = key.rpartition("/")
    if not slash:
        raise BadRequest(
            f"sample {key!r} of {dataset.name} has no field cls and is in no folder: say field=…, "
            "or give labels=…, one for each sample"
        )
    return folder


def _numbered(labels: Sequence[Any]) -> list[int]:
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def _correlation(first: Sequence[int], second: Sequence[int]) -> float:
    """Of the places that each sample has in two orders."""
    count = len(first)
    if count < 2:
        return 0.0
    place = [0] * count
    for position, sample in enumerate(second):
        place[sample] = position
    middle = (count - 1) / 2
    spread = sum((position - middle) ** 2 for position in range(count))
    shared = sum((at - middle) * (place[sample] - middle) for at, sample in enumerate(first))
    return shared / spread
