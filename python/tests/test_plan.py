"""Loops over epochs, ranks and workers for any numbers; the library's part is counted out here."""

import itertools
import random

import pytest

import leat
from leat import _feed, _stream
from leat._source import Source
from leat.decode import sorted_out


class Numbers(Source):
    """Samples that are their numbers."""

    has_number = True

    def __init__(self, count):
        self.count = count
        self.transform = lambda sample: sample["text"]
        self._fields = None
        self._decoders = sorted_out(None)

    def __len__(self):
        return self.count

    def identity(self):
        return {"dataset": "numbers", "version": 1, "fingerprint": str(self.count)}

    def at_state(self, state):
        return self

    def open_loader(self, options):
        return {**options, "size": self.count}


class Memory:
    def __init__(self, epoch, positions):
        self.epoch = epoch
        self.texts = [f"{epoch}/{position}" for position in positions]

    def samples(self, framework, nchw):
        return [{"text": text} for text in self.texts]


class CountedFeed:
    """What docs/formats/order.md and the three rules for tails say, position by position."""

    def __init__(self, options):
        self._batches = self._all(options, *options.get("workers", (0, 1)))

    def _all(self, options, worker, workers):
        epoch, begin = options["epoch"], options["position"]
        while True:
            batches = list(batches_of(options, begin))
            yield from (Memory(epoch, one) for one in batches[worker::workers])
            if not options.get("repeat") or (not batches and begin == 0):
                return
            epoch, begin = epoch + 1, 0

    def next(self):
        return next(self._batches, None)

    def report(self):
        return {}

    def close(self):
        pass


def batches_of(options, begin):
    size, count, tail = options["batch_size"], options["size"], options["tail"]
    step = size * options["world"]
    for first in range(begin, count, step):
        if tail == "drop" and first + step > count:
            return
        mine = range(first + options["rank"] * size, first + (options["rank"] + 1) * size)
        if tail == "uneven" and mine[0] >= count:
            return
        yield [at % count for at in mine if tail != "uneven" or at < count]


@pytest.fixture
def drawn(monkeypatch):
    """Without end: a source, options of a loader, and the batches of a whole loop."""
    monkeypatch.setattr(_feed, "Feed", CountedFeed)
    seed = random.randrange(2**32)
    print("seed", seed)
    return draw(random.Random(seed))


def draw(numbers):
    while True:
        world = numbers.randrange(1, 4)
        options = {
            "batch_size": numbers.randrange(1, 7),
            "world": world,
            "rank": numbers.randrange(world),
            "tail": numbers.choice(["drop", "pad", "uneven"]),
            "epoch": numbers.randrange(3),
            "repeat": numbers.randrange(1, 4),
        }
        source = Numbers(numbers.randrange(1, 60))
        epochs = range(options["epoch"], options["epoch"] + options["repeat"])
        batches = [
            Memory(epoch, one).texts
            for epoch in epochs
            for one in batches_of({**options, "size": len(source)}, 0)
        ]
        yield source, options, batches, numbers


def test_a_loop_of_batches_is_its_epochs_and_goes_on_from_anywhere(drawn):
    for source, options, batches, numbers in itertools.islice(drawn, 300):
        loader = leat.DataLoader(source, to="memory", **options)
        assert len(loader) == len(batches)
        assert list(loader) == batches
        assert loader.epoch == options["epoch"] + options["repeat"]
        if not batches:
            continue
        stop = numbers.randrange(len(batches))
        stopped = leat.DataLoader(source, to="memory", **options)
        got = list(itertools.islice(stopped, stop))
        resumed = leat.DataLoader(source, to="memory", **options)
        resumed.load_state_dict(stopped.state_dict())
        assert got + list(resumed) == batches
        assert resumed.epoch == loader.epoch


def test_an_iteration_over_samples_is_its_epochs_and_goes_on_from_anywhere(drawn):
    for source, options, batches, numbers in itertools.islice(drawn, 300):
        samples = [sample for batch in batches for sample in batch]
        stream = leat.StreamingDataset(source, **options)
        assert len(stream) == len(samples)
        assert list(stream) == samples
        assert stream.epoch == options["epoch"] + options["repeat"]
        if not samples:
            continue
        stopped = leat.StreamingDataset(source, **options)
        got = list(itertools.islice(stopped, numbers.randrange(len(samples))))
        resumed = leat.StreamingDataset(source, **options)
        resumed.load_state_dict(stopped.state_dict())
        assert got + list(resumed) == samples


def test_workers_take_batches_in_turn_over_the_ends_of_epochs(drawn, monkeypatch):
    whole_batches = (one for one in drawn if one[1]["tail"] == "drop" and one[2])
    for source, options, batches, numbers in itertools.islice(whole_batches, 200):

        def streams(states, source=source, options=options):
            """One for each worker process; each has a state of its own."""
            made = []
            for worker, state in enumerate(states):
                here = (worker, len(states))
                monkeypatch.setattr(_stream, "worker_and_workers", lambda here=here: here)
                stream = leat.StreamingDataset(source, **options)
                if state is not None:
                    stream.load_state_dict(state)
                made.append(iter(stream))
            return made

        stop = numbers.randrange(len(batches))
        first = streams([None] * numbers.randrange(1, 5))
        got = taken(first, range(stop), options["batch_size"])
        second = streams([stream.state_dict() for stream in first])
        rest = taken(second, range(stop, len(batches)), options["batch_size"])
        assert got + rest == batches


def taken(workers, turns, size):
    return [list(itertools.islice(workers[turn % len(workers)], size)) for turn in turns]
