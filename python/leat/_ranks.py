"""Which part of a job this process is."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, TypeVar

from leat._source import Source
from leat.errors import BadRequest, Conflict

Fed = TypeVar("Fed", bound=Source)


def rank_and_world(rank: int | None = None, world: int | None = None) -> tuple[int, int]:
    """(rank, world): as given, else torch.distributed's, else RANK and WORLD_SIZE, else (0, 1).

    With tensor or pipeline parallelism give the *data-parallel* rank and size: ranks that hold
    parts of one model replica need the same samples.
    """
    if (rank is None) != (world is None):
        raise BadRequest("give both rank and world, or neither")
    if rank is None or world is None:
        rank, world = _found()
    if world < 1 or not 0 <= rank < world:
        raise BadRequest(f"rank {rank} of {world}: ranks are 0 … world - 1")
    return rank, world


def _found() -> tuple[int, int]:
    if is_distributed():
        distributed = sys.modules["torch.distributed"]
        return distributed.get_rank(), distributed.get_world_size()
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    return 0, 1


def is_distributed() -> bool:
    """Whether this is a rank of torch.distributed, which knows the others."""
    # Not imported here: who uses it has imported it.
    distributed = sys.modules.get("torch.distributed")
    return bool(
        distributed is not None and distributed.is_available() and distributed.is_initialized()
    )


def of_rank_0(value: Any) -> Any:
    """What rank 0 gives, on all ranks of torch.distributed. All of them must call this."""
    sent = [value]
    sys.modules["torch.distributed"].broadcast_object_list(sent, src=0)
    return sent[0]


def on_all_ranks(source: Fed, rank: int | None, world: int | None) -> Fed:
    """The Source at the version that rank 0 opened: others may have come after a commit.

    Where ranks do not know of each other, who names no version is warned.
    """
    _, ranks = rank_and_world(rank, world)
    if ranks == 1 or source.has_number:
        return source
    if rank is not None or not is_distributed():
        warnings.warn(
            f"each of {ranks} ranks takes the latest version of {source!r} by itself; a commit "
            "between them gives them different samples: name a version (bucket/name@7)",
            stacklevel=3,
        )
        return source
    first = of_rank_0(source.identity())
    agreed = source.at_state(first)
    if agreed.identity() != first:
        raise Conflict(f"rank 0 has {first}, this one {agreed.identity()}: name a version")
    return agreed


def worker_and_workers() -> tuple[int, int]:
    """Which worker process of a torch DataLoader this is, of how many; (0, 1) outside of one."""
    module = sys.modules.get("torch.utils.data")
    found = module.get_worker_info() if module is not None else None
    return (0, 1) if found is None else (found.id, found.num_workers)
