"""Source: what loaders are fed with, a dataset or a mix, and what becomes of its samples."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from leat import _native
from leat._batch import Batch
from leat._session import Session
from leat._state import State
from leat.decode import Decode, Decoders, sorted_out

Sample = dict[str, Any]
Transform = Callable[[Sample], Any]
Self = TypeVar("Self", bound="Source")


class Source(ABC):
    """Samples, which fields of them are wanted, and what is done with their bytes."""

    session: Session
    transform: Transform | None
    _fields: list[str] | None  # None: all
    _decoders: Decoders

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """What positions in an epoch of it depend on."""

    @property
    @abstractmethod
    def has_number(self) -> bool:
        """Whether it was opened by the number of a version, which means the same for everybody."""

    @abstractmethod
    def open_loader(self, options: dict[str, Any]) -> _native.Handle:
        """A native loader; for Plan."""

    @abstractmethod
    def at_state(self: Self, state: State) -> Self:
        """This at the version of a state, where it was opened without one."""

    def having(
        self: Self,
        fields: Sequence[str] | None = None,
        decode: Decode = None,
        transform: Callable[..., Any] | None = None,
    ) -> Self:
        """The same samples with these instead of its own; what is None stays."""
        if fields is None and decode is None and transform is None:
            return self
        made = copy.copy(self)
        made._fields = made._fields if fields is None else list(fields)
        made._decoders = made._decoders if decode is None else sorted_out(decode)
        made.transform = made.transform if transform is None else transform
        return made

    @property
    def chosen_fields(self) -> list[str] | None:
        """The fields that were asked for; None: all that there are."""
        return None if self._fields is None else list(self._fields)

    @property
    def decoders(self) -> Decoders:
        """What is done with the bytes of fields."""
        return self._decoders

    @property
    def handles_samples(self) -> bool:
        """Whether Python has a part in every sample."""
        return self.transform is not None or self._decoders.uses_python

    def finished(self, sample: Sample) -> Any:
        """A sample of bytes as it is handed out."""
        sample = self._decoders.apply(sample)
        return sample if self.transform is None else self.transform(sample)

    def finished_batch(self, batch: Batch) -> Any:
        """A batch that needs nothing of Python, as a loader hands it out."""
        return batch
