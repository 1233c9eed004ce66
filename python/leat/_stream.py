"""StreamingDataset: samples one by one, for the loaders of others."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leat import _state
from leat._batch import chosen_framework
from leat._dataset import Dataset
from leat._feed import (
    WINDOW_BYTES,
    Feed,
    OneThread,
    Plan,
    Size,
    repeat_rule,
    shuffle_name,
    size_bytes,
    tail_rule,
)
from leat._mix import Mix
from leat._ranks import on_all_ranks, rank_and_world, worker_and_workers
from leat._session import Session
from leat._source import Sample, Source
from leat._state import State
from leat.decode import Decode
from leat.errors import StateError


class StreamingDataset:
    """Iterates over samples in the order of an epoch; an IterableDataset for torch.

    >>> ds = leat.StreamingDataset("imagenet/train", batch_size=256, seed=42)   # doctest: +SKIP
    >>> torch.utils.data.DataLoader(ds, batch_size=256, num_workers=4)          # doctest: +SKIP

    With the ``batch_size`` of the DataLoader, each of its worker processes reads whole batches in
    turn, so that batches come in the one order of the epoch, however many workers there are.
    ``leat.DataLoader`` does without workers, and is faster.

    Each complete iteration moves on to the next epoch. Worker processes that are started anew for
    every epoch know only what the parent says: call ``set_epoch()`` before each, as for torch's
    DistributedSampler.

    Arguments are those of ``leat.DataLoader``. States: ``state_dict()`` of the dataset, or of what
    ``iter()`` gives, in this process; torchdata's StatefulDataLoader asks in its workers; with
    torch's own DataLoader and workers use ``state_at(samples, epoch)``.
    """

    def __init__(
        self,
        dataset: str | Dataset | Mix,
        *,
        batch_size: int = 1,
        shuffle: bool | str = True,
        seed: int = 0,
        epoch: int = 0,
        repeat: bool | int = 1,
        window: Size = WINDOW_BYTES,
        drop_last: bool = False,
        tail: str | None = None,
        rank: int | None = None,
        world: int | None = None,
        fields: Sequence[str] | None = None,
        decode: Decode = None,
        transform: Callable[[Sample], Any] | None = None,
        memory: Size | None = None,
        threads: int | None = None,
        on_error: str = "raise",
        errors_max: int | None = None,
        retry_seconds: float | None = None,
        session: Session | None = None,
    ) -> None:
        if isinstance(dataset, str):
            dataset = Dataset(dataset, session=session)
        dataset = on_all_ranks(dataset, rank, world).having(fields, decode, transform)
        self.dataset: Source = dataset
        self._cursor = Cursor(epoch)
        self._place: Place | None = None  # of the last iteration
        rank, world = rank_and_world(rank, world)
        self._plan = Plan(
            source=dataset,
            batch_size=batch_size,
            rank=rank,
            world=world,
            shuffle=shuffle_name(shuffle),
            seed=seed,
            window_bytes=size_bytes(window),
            tail=tail_rule(drop_last, tail, world),
            repeat=repeat_rule(repeat),
            first_epoch=epoch,
            options={
                "fields": dataset.chosen_fields,
                "keys": True,
                "decode": dataset.decoders.native or None,
                "threads": threads,
                "memory_bytes": None if memory is None else size_bytes(memory),
                "on_error": on_error,
                "errors_max": errors_max,
                "retry_seconds": retry_seconds,
            },
        )

    # torch takes a dataset for iterable if it is an instance of its IterableDataset, which is an
    # abstract base class. It may be imported after this package, or never: so who asks for the
    # class of a StreamingDataset makes it one, if torch is there by then.
    @property  # type: ignore[misc]
    def __class__(self) -> type:
        data = sys.modules.get("torch.utils.data")
        if data is not None and hasattr(data, "IterableDataset"):
            data.IterableDataset.register(StreamingDataset)
        return StreamingDataset

    def __len__(self) -> int:
        """Samples that this rank gets in a whole iteration: an epoch, or ``repeat`` of them."""
        return self._plan.samples() * self._plan.epochs_of_loop()

    def __iter__(self) -> Stream:
        """The epoch from where it is: its beginning, or what a state said.

        An iteration that was left in the middle is not continued: the next one is the next epoch.
        """
        place = self._place
        if place is not None and place.is_over:
            self.set_epoch(self._plan.after_loop(place.epoch))
        elif place is not None and place.has_begun:
            self.set_epoch(place.epoch + 1)
        return Stream(self, self._placed(self._cursor))

    def _placed(self, cursor: Cursor) -> Place:
        """A new iteration at a cursor, which must be of this worker process."""
        here = worker_and_workers()
        if cursor.worker != here and (cursor.batches or cursor.within or cursor.turn):
            raise StateError(
                f"the state is of worker {cursor.worker[0]} of {cursor.worker[1]}, this is "
                f"{here[0]} of {here[1]}; for another number of workers take state_at()"
            )
        self._place = Place(replace(cursor, worker=here))
        return self._place

    @property
    def epoch(self) -> int:
        """Which epoch the iteration that runs is of, or the next one if none runs."""
        return self._now().epoch

    def _now(self) -> Cursor:
        return self._cursor if self._place is None else self._place.cursor(self._plan)

    def set_epoch(self, epoch: int) -> None:
        """The next iteration is this epoch, from its beginning."""
        self._cursor = Cursor(epoch)
        self._place = None

    def state_dict(self) -> State:
        """Where the last iteration in this process is."""
        return self._now().state(self._plan)

    def state_at(self, samples: int, epoch: int | None = None) -> State:
        """The state after so many samples of an epoch, over all ranks: batches that a torch
        DataLoader handed out × batch size × ranks.

        Without ``epoch`` it is the one that this process is in. Persistent worker processes count
        epochs for themselves, and nobody tells the parent: then say which one it is.
        """
        return Cursor(self.epoch if epoch is None else epoch, samples).state(self._plan)

    def load_state_dict(self, state: State) -> None:
        """The next iteration goes on where the state was taken. As DataLoader.load_state_dict()."""
        plan = self._plan.at_state(state)
        self._cursor = Cursor.of(state, plan)
        self._plan, self.dataset = plan, plan.source
        self._place = None


@dataclass(frozen=True)
class Cursor:
    """A place in an epoch, of a rank or of one of its worker processes."""

    epoch: int = 0
    samples: int = 0  # that all ranks had when the iteration began, or now if it is no worker's
    batches: int = 0  # that this worker had since
    within: int = 0  # samples of a batch that it had in part
    worker: tuple[int, int] = (0, 1)
    turn: int = 0  # which worker has the first batch: not the first one, if epochs came before

    @staticmethod
    def of(state: State, plan: Plan) -> Cursor:
        """The place that a state means. Errors: StateError."""
        _state.check(state, plan.identity())
        made = Cursor(
            int(state["epoch"]),
            int(state["samples"]),
            int(state.get("batches", 0)),
            int(state.get("within", 0)),
            tuple(state.get("worker", (0, 1))),
            int(state.get("turn", 0)),
        )
        if made.batches or made.within:
            _state.check_batches(state, plan.batch_size, plan.world)
        is_over = made.worker[1] == 1 and plan.is_over(made.samples)
        return Cursor(made.epoch + 1) if is_over else made

    def following(self, plan: Plan) -> Cursor:
        """The beginning of the next epoch of the same iteration."""
        turn = (self.turn + plan.batches(self.samples)) % self.worker[1]
        return Cursor(self.epoch + 1, worker=self.worker, turn=turn)

    def open(self, plan: Plan) -> Feed:
        """What this worker gets of the epoch from here on."""
        number, workers = self.worker
        # A worker's turn comes once in every round of all workers.
        position = self.samples + self.batches * workers * plan.global_batch
        place = (number - self.turn) % workers
        return plan.open_epoch(self.epoch, min(position, len(plan.source)), (place, workers))

    def state(self, plan: Plan) -> State:
        """As state_dict() has it."""
        made = _state.new(plan.identity(), self.epoch, self.samples)
        if self.worker[1] > 1:
            made |= {"worker": list(self.worker), "batches": self.batches}
        if self.turn:
            made |= {"turn": self.turn}
        if self.within:
            made |= {"within": self.within}
        if self.batches or self.within:
            made |= {"batch_size": plan.batch_size, "world": plan.world}
        return made


class Place:
    """Where one iteration is. The dataset knows it after the iterator is gone."""

    def __init__(self, begin: Cursor) -> None:
        self.begin = begin
        self.batches = 0  # that were handed out to their end
        self.within = begin.within  # samples that were handed out of the next one
        self.is_over = False
        self.has_begun = False  # whether a sample was handed out

    @property
    def epoch(self) -> int:
        return self.begin.epoch

    def handed(self, *, ends_batch: bool) -> None:
        """A sample was handed out."""
        self.has_begun = True
        self.within += 1
        if ends_batch:
            self.end_batch()

    def end_batch(self) -> None:
        self.batches += 1
        self.within = 0

    def end_epoch(self, plan: Plan) -> None:
        """Goes on with the next epoch, if there is one in this iteration."""
        self.is_over = plan.is_last(self.epoch) or plan.batches() == 0
        if not self.is_over:
            self.begin = self.begin.following(plan)
            self.batches = self.within = 0

    def cursor(self, plan: Plan) -> Cursor:
        """As a cursor; at the end, the beginning of the next epoch."""
        begin = self.begin
        if self.is_over:
            return Cursor(plan.after_loop(begin.epoch), worker=begin.worker)
        if begin.worker[1] > 1:
            return replace(begin, batches=begin.batches + self.batches, within=self.within)
        samples = begin.samples + self.batches * plan.global_batch
        return replace(begin, samples=min(samples, len(plan.source)), within=self.within)


class Stream(Iterator[Any]):
    """One iteration over a StreamingDataset, with a state of its own.

    Threads may share it: each sample goes to one of them, and its functions run there. The
    library's threads start with the first sample: torchdata makes iterators that it never uses.
    """

    def __init__(self, dataset: StreamingDataset, place: Place) -> None:
        self._dataset = dataset
        self._place = place
        self._feed: Feed | None = None
        self._ready: deque[Sample] = deque()
        self._one_thread = OneThread()

    def __next__(self) -> Any:
        with self._one_thread.turn():
            sample = self._next()
        return self._dataset.dataset.finished(sample)

    def _next(self) -> Sample:
        if self._place.is_over:
            raise StopIteration
        while not self._ready:
            self._fetch()
        sample = self._ready.popleft()
        # It is gone from here on, also if a function of it raises.
        self._place.handed(ends_batch=not self._ready)
        return sample

    def _fetch(self) -> None:
        """The next batch of this rank and worker, or StopIteration."""
        plan, place = self._dataset._plan, self._place
        skipped = 0
        feed = self._feed  # another thread may close it meanwhile
        if feed is None:
            now = place.cursor(plan)
            skipped = now.within
            feed = self._feed = now.open(plan)
        memory = feed.next()
        if memory is None:
            self.close()
            place.end_epoch(plan)
            if place.is_over:
                raise StopIteration
            return
        nchw = self._dataset.dataset.decoders.nchw
        self._ready.extend(memory.samples(chosen_framework(None), nchw)[skipped:])
        if not self._ready:
            place.end_batch()  # all of its samples were left out

    def state_dict(self) -> State:
        """Where it is; at the end, the beginning of the next epoch."""
        plan = self._dataset._plan
        return self._place.cursor(plan).state(plan)

    def load_state_dict(self, state: State) -> None:
        """Goes on where the state was taken."""
        place = self._dataset._placed(Cursor.of(state, self._dataset._plan))
        self.close()
        self._ready.clear()
        self._place = place

    def close(self) -> None:
        """Ends its threads. The next sample, if somebody asks for it, starts them again."""
        feed, self._feed = self._feed, None
        if feed is not None:
            feed.close()
