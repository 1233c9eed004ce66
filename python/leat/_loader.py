"""DataLoader: batches for training, made by threads of the library in this very process."""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from leat import _state
from leat._batch import Memory, check_layout, chosen_framework
from leat._collate import collate_of
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
from leat._progress import Progress
from leat._ranks import on_all_ranks, rank_and_world
from leat._session import Session
from leat._source import Sample, Source
from leat._state import State
from leat.decode import Decode
from leat.errors import Cancelled
from leat.report import PythonStage, Report, with_python

_LOOKAHEAD = 2  # batches whose samples Python works on while one is in use
_clock = time.monotonic


class DataLoader:
    """Iterates over a dataset in batches; one ``for`` loop is one epoch.

    >>> loader = leat.DataLoader("imagenet/train@7", batch_size=256, seed=42,
    ...                          decode={"jpg": leat.Image(224), "cls": "int64"})
    ... # doctest: +SKIP
    >>> for batch in loader:                                             # doctest: +SKIP
    ...     train(batch["jpg"], batch["cls"])

    No worker processes: blocks are fetched ahead, in the order that the epoch needs them, and
    decoded and laid out by threads outside of Python's lock. A batch is a dict; decoded fields are
    torch tensors or NumPy arrays, others ``Ragged`` bytes, all of them views without a copy.

    The order is a function of (dataset version, seed, epoch): each sample once an epoch, the same
    order on any number of ranks, threads and batch sizes, and ``state_dict()`` is a position in it.

    Arguments
        dataset: a name, a Dataset, an ImageFolder, a subset or a Mix.
        shuffle: True or ``"block"`` (blocks, then samples in a ``window`` of them), ``"full"``
            (every sample may follow every other: random reads), False or ``"none"``.
        epoch: the first one's number; each loop takes the next.
        repeat: how many epochs a loop takes, one after the other without a pause; True: it has no
            end. Resumed in the middle, a loop ends where it would have ended.
        drop_last: leave out samples that do not fill a batch on every rank. Else the last batch is
            shorter on one rank, and filled up from the epoch's beginning on several, so that no
            rank waits for others in vain. ``tail`` says it exactly: "drop", "pad", "uneven".
        rank, world: which ranks there are; see ``leat.rank_and_world``.
        fields, decode, transform: each instead of the dataset's own; what is not given stays.
        keys: whether batches have ``__key__``.
        to: "torch", "numpy", "jax" or "memory" (memoryviews). Default: torch if it was imported.
        num_workers: threads of the library, and as many for Python functions, if there are any.
        collate_fn: makes a batch of a list of samples, where Python has a part in samples.
        memory: how much may be held at once, for instance "2GiB".
        on_error: "raise", or "skip" up to ``errors_max`` samples that cannot be had or decoded. A
            batch of which nothing is left is passed over on one rank. On several it is handed out,
            so that all take the same number of steps: a Batch of size 0, or [] where Python has a
            part in samples.
        progress: show how far the epoch is, on stderr.
    """

    def __init__(
        self,
        dataset: str | Dataset | Mix,
        batch_size: int = 1,
        *,
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
        collate_fn: Callable[[list[Any]], Any] | None = None,
        keys: bool = False,
        to: str | None = None,
        num_workers: int = 0,
        memory: Size | None = None,
        on_error: str = "raise",
        errors_max: int | None = None,
        retry_seconds: float | None = None,
        progress: bool = False,
        session: Session | None = None,
    ) -> None:
        if isinstance(dataset, str):
            dataset = Dataset(dataset, session=session)
        dataset = on_all_ranks(dataset, rank, world).having(fields, decode, transform)
        self.dataset: Source = dataset
        self.epoch = epoch
        self._framework = chosen_framework(to)
        check_layout(self._framework, dataset.decoders.nchw)
        self._collate = collate_fn or collate_of(self._framework)
        self._keys = keys
        self._progress = progress
        self._threads = num_workers
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
                "keys": keys or dataset.handles_samples or None,
                "decode": dataset.decoders.native or None,
                "threads": num_workers or None,
                "memory_bytes": None if memory is None else size_bytes(memory),
                "on_error": on_error,
                "errors_max": errors_max,
                "retry_seconds": retry_seconds,
            },
        )
        self._start = 0  # samples of the epoch that came before the running loop
        self._handed = 0  # batches that it handed out
        # Weak: who leaves a loop gives its threads back at once.
        self._running: weakref.ref[_Epoch] | None = None
        self._report = Report.empty()

    @property
    def batch_size(self) -> int:
        return self._plan.batch_size

    def __len__(self) -> int:
        """Batches that this rank gets in a whole loop: an epoch, or ``repeat`` of them."""
        return self._plan.batches() * self._plan.epochs_of_loop()

    def __iter__(self) -> Iterator[Any]:
        """The epoch from where it is: its beginning, or what a state said.

        A loop that was left in the middle is not continued: the next loop is the next epoch.
        """
        if self._handed:
            self.set_epoch(self.epoch + 1)
        self.close()
        feed = self._plan.open(self.epoch, self._start)
        running = _Epoch(self, feed, self._plan.batches_of_loop(self.epoch, self._start))
        self._running = weakref.ref(running)
        return running

    def set_epoch(self, epoch: int) -> None:
        """The next loop is this epoch, from its beginning."""
        self.epoch = epoch
        self._start = 0
        self._handed = 0

    def state_dict(self) -> State:
        """Where the job is: what was handed out counts, what was prefetched does not."""
        samples = self._start + self._handed * self._plan.global_batch
        return _state.new(self._plan.identity(), self.epoch, min(samples, len(self.dataset)))

    def load_state_dict(self, state: State) -> None:
        """Goes on where a state was taken: on any number of ranks, with any batch size.

        A dataset that was opened without a version is opened again at the state's. StateError if
        the state is of other data, another seed or another way to shuffle, and if a
        StreamingDataset took it inside a batch or in a worker process.
        """
        plan = self._plan.at_state(state)
        _state.check_is_between_batches(state)
        self._plan, self.dataset = plan, plan.source
        self.close()
        self.set_epoch(int(state["epoch"]))
        self._start = int(state["samples"])
        if self._plan.is_over(self._start):
            self.set_epoch(self.epoch + 1)

    def report(self) -> Report:
        """Where the time of the running epoch goes, or of the last one: text, dict, plot."""
        running = self._running() if self._running is not None else None
        return self._report if running is None else running.report()

    def close(self) -> None:
        """Ends the threads of a loop that was left in the middle. The loader stays usable."""
        running = self._running() if self._running is not None else None
        if running is not None:
            running.close()
        self._running = None

    def __enter__(self) -> DataLoader:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # For the running epoch.

    def _batch_of(self, memory: Memory) -> Any:
        nchw = self.dataset.decoders.nchw
        batch = memory.batch(self._framework, keys=self._keys, nchw=nchw)
        return self.dataset.finished_batch(batch)

    def _was_handed(self, epoch: int) -> None:
        if epoch != self.epoch:
            self.set_epoch(epoch)
        self._handed += 1

    def _has_ended(self, running: _Epoch) -> None:
        if self._running is not None and self._running() is running:
            self.set_epoch(self._plan.after_loop(self.epoch))


@dataclass
class _Following:
    """A batch as it comes out of the library, or out of Python."""

    batch: Any
    epoch: int
    samples: int
    size_bytes: int = 0


class _Functions:
    """The user's functions, in threads of their own, and how long they take."""

    def __init__(self, loader: DataLoader) -> None:
        self._loader = loader
        self._ahead: deque[tuple[int, list[Future[Any]]]] = deque()  # with their epochs
        self._lock = threading.Lock()
        self.seconds = 0.0  # in all threads
        self.threads = max(1, loader._threads)
        self._pool = ThreadPoolExecutor(self.threads, "leat-python")

    @property
    def wants_more(self) -> bool:
        return len(self._ahead) < _LOOKAHEAD

    def add(self, memory: Memory) -> None:
        samples = memory.samples(self._loader._framework, self._loader.dataset.decoders.nchw)
        futures = [self._pool.submit(self._finished, sample) for sample in samples]
        self._ahead.append((memory.epoch, futures))

    def _finished(self, sample: Sample) -> Any:
        begun = _clock()
        made = self._loader.dataset.finished(sample)
        self._count(_clock() - begun)
        return made

    def _count(self, seconds: float) -> None:
        with self._lock:
            self.seconds += seconds

    def next(self) -> _Following | None:
        if not self._ahead:
            return None
        epoch, futures = self._ahead.popleft()
        results = [future.result() for future in futures]
        begun = _clock()
        batch = self._loader._collate(results) if results else results
        self._count(_clock() - begun)
        return _Following(batch, epoch, len(results))

    def close(self) -> None:
        for _, futures in self._ahead:
            for future in futures:
                future.cancel()
        self._ahead.clear()
        self._pool.shutdown(wait=False)


class _Epoch(Iterator[Any]):
    """One loop over a DataLoader. Threads may share it: each batch goes to one of them."""

    def __init__(self, loader: DataLoader, feed: Feed, batches: int | None) -> None:
        self._feed: Feed | None = feed
        self._loader = loader
        self._left = batches  # None: without end
        self._one_thread = OneThread()
        self._has_ended = False  # not closed before its end
        self._begun = _clock()
        self._waited = 0.0
        self._waited_for_library = 0.0
        self._last: Report | None = None
        self._functions = _Functions(loader) if loader.dataset.handles_samples else None
        self._progress: Progress | None = None
        if loader._progress:
            self._progress = Progress(loader._plan.samples(loader._start), f"epoch {loader.epoch}")

    def __next__(self) -> Any:
        if self._feed is None:
            raise StopIteration
        with self._one_thread.turn():
            return self._next()

    def _next(self) -> Any:
        if self._feed is None:  # since this thread began to wait
            if self._has_ended:
                raise StopIteration
            raise Cancelled("the loader was closed by another thread")
        asked = _clock()
        try:
            following = self._following()
        except BaseException as error:
            if self._feed is None and not isinstance(error, Cancelled):
                raise Cancelled("the loader was closed by another thread") from error
            self.close()
            raise
        waited = _clock() - asked
        self._waited += waited
        if following is None:
            self._end()
            raise StopIteration
        self._show(following, waited)
        self._loader._was_handed(following.epoch)
        return following.batch

    def _following(self) -> _Following | None:
        """The next batch that something is left of. Others count as handed out: states go on.

        On several ranks they are handed out, too: who takes a step less makes the others wait.
        """
        while self._left != 0:
            following = self._full_or_empty()
            if following is None:
                return None
            if self._left is not None:
                self._left -= 1
            if following.samples > 0 or self._loader._plan.world > 1:
                return following
            self._show(following, 0.0)
            self._loader._was_handed(following.epoch)
        return None

    def _full_or_empty(self) -> _Following | None:
        if self._functions is None:
            memory = self._from_library()
            if memory is None:
                return None
            size = sum(column.size for _, column in memory.columns()) if self._progress else 0
            batch = self._loader._batch_of(memory)
            return _Following(batch, memory.epoch, memory.size, size)
        while self._functions.wants_more:
            memory = self._from_library()
            if memory is None:
                break
            self._functions.add(memory)
        return self._functions.next()

    def _from_library(self) -> Memory | None:
        assert self._feed is not None
        asked = _clock()
        memory = self._feed.next()
        self._waited_for_library += _clock() - asked
        return memory

    def _show(self, following: _Following, waited: float) -> None:
        if self._progress is None:
            return
        if following.epoch != self._loader.epoch:
            self._progress.close()
            self._progress = Progress(self._loader._plan.samples(), f"epoch {following.epoch}")
        self._progress.add(following.samples, following.size_bytes, waited)

    def _end(self) -> None:
        self._has_ended = True
        self._loader._has_ended(self)
        self.close()

    def report(self) -> Report:
        feed = self._feed  # another thread may close it meanwhile
        if feed is not None:
            seconds = _clock() - self._begun
            data = feed.report()
            if self._functions is not None:
                stage = PythonStage(
                    seconds=self._functions.seconds,
                    waited=self._waited - self._waited_for_library,
                    threads=self._functions.threads,
                )
                data = with_python(data, stage, seconds=seconds, waited=self._waited)
            self._last = Report(data, seconds=seconds, waited=self._waited)
        return self._last or Report.empty()

    def close(self) -> None:
        if self._feed is None:
            return
        self._loader._report = self.report()
        feed, self._feed = self._feed, None
        if feed is None:  # another thread was faster
            return
        if self._functions is not None:
            self._functions.close()
        if self._progress is not None:
            self._progress.close()
        feed.close()

    def __del__(self) -> None:
        self.close()
