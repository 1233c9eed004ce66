"""What can go wrong, as exceptions.

Each is a ``LeatError``, and also the exception of the standard library that Python programs expect
in its place, so ``except FileNotFoundError`` and ``except leat.NotFound`` both work.
"""

from __future__ import annotations

from typing import Any


class LeatError(Exception):
    """Something that Leat could not do: one sentence that says what, why and what to do next.

    ``place`` says where, as far as it is known: dataset, shard, offset, sample, row.
    """

    def __init__(self, message: str = "", *, place: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.place: dict[str, Any] = place or {}

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class BadRequest(LeatError, ValueError):
    """An option, a name or an argument that makes no sense."""


class NotFound(LeatError, FileNotFoundError):
    """No such bucket, object, dataset, version or sample."""


class Denied(LeatError, PermissionError):
    """The key may not do that, or there is no key."""


class Conflict(LeatError):
    """Somebody else changed it first; also a state that belongs to other data."""


class Unavailable(LeatError, ConnectionError):
    """The service could not be reached within the budget of retries."""


class Timeout(LeatError, TimeoutError):
    """It took longer than it may."""


class Corrupt(LeatError, OSError):
    """Bytes that fail their checksum, after retries. They are never handed out."""


class StorageError(LeatError, OSError):
    """A disk or a connection failed."""


class Cancelled(LeatError):
    """The loader was closed while somebody waited for a batch."""


class Forked(LeatError, RuntimeError):
    """A loader or writer of the parent process was used in a forked one."""


class DecodeError(LeatError, ValueError):
    """A sample that is no image, or another kind than was asked for; ``place`` names it."""


class TooLarge(LeatError, ValueError):
    """More than fits: an object, a batch, a memory budget."""


class InternalError(LeatError, RuntimeError):
    """A defect of Leat itself."""


class StateError(Conflict, ValueError):
    """A ``state_dict()`` that does not belong to this dataset, seed or order."""


# By leat_status of leat.h.
BY_STATUS: dict[int, type[LeatError]] = {
    1: BadRequest,
    2: NotFound,
    3: Denied,
    4: Conflict,
    5: Unavailable,
    6: Timeout,
    7: Corrupt,
    8: StorageError,
    9: Cancelled,
    10: Forked,
    11: DecodeError,
    12: TooLarge,
    13: InternalError,
}
