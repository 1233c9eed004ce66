"""Loops over several epochs, and states in the middle of them."""

import itertools

import jobs
import pytest
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

import leat
from leat._shuffle import plan_rows


def order_of(name, epoch, seed=0):
    options = {"shuffle": "block", "window_bytes": leat._feed.WINDOW_BYTES, "seed": seed}
    return plan_rows(leat.Dataset(name), {**options, "epoch": epoch}).tolist()


def keys_of(name, epoch, seed=0):
    ds = leat.Dataset(name)
    return [ds.key(row) for row in order_of(name, epoch, seed)]


def batches_of(loader, count=None):
    return [list(batch.rows) for batch in itertools.islice(loader, count)]


def flat(batches):
    return [one for batch in batches for one in batch]


def test_a_loop_takes_as_many_epochs_as_it_is_told(numbered):
    loader = leat.DataLoader(numbered, 96, seed=2, repeat=3)
    assert len(loader) == 3 * 11
    batches = batches_of(loader)
    assert len(batches) == len(loader)
    assert flat(batches) == flat(order_of(numbered, epoch, 2) for epoch in range(3))
    assert loader.epoch == 3
    assert flat(batches_of(loader, 11)) == order_of(numbered, 3, 2), "and then come the next three"


def test_a_loop_without_an_end_has_no_length(numbered):
    loader = leat.DataLoader(numbered, 100, repeat=True)
    with pytest.raises(TypeError, match="no end"):
        len(loader)
    found = batches_of(loader, 47)
    assert flat(found) == flat(order_of(numbered, epoch) for epoch in range(5))[:4700]
    assert (loader.epoch, loader.state_dict()["samples"]) == (4, 700)


@pytest.mark.parametrize("repeat", [0, -1])
def test_no_epoch_is_no_loop(numbered, repeat):
    with pytest.raises(leat.BadRequest, match="repeat"):
        leat.DataLoader(numbered, 10, repeat=repeat)


@pytest.mark.parametrize("transform", [None, jobs.key])
@pytest.mark.parametrize("steps", [3, 10, 11, 25])
def test_a_resumed_loop_ends_where_it_would_have_ended(numbered, steps, transform):
    """Also with functions, whose batches were asked for before they are handed out."""

    def loader_of(size):
        return leat.DataLoader(
            numbered, size, seed=2, repeat=3, keys=True, transform=transform, to="memory"
        )

    def keys(batch):
        return batch if transform else batch["__key__"]

    whole = flat(keys_of(numbered, epoch, 2) for epoch in range(3))
    loader = loader_of(100)
    got = flat(keys(batch) for batch in itertools.islice(loader, steps))
    state = loader.state_dict()
    assert got == whole[: steps * 100]
    assert (state["epoch"] * 1000 + state["samples"]) == steps * 100
    resumed = loader_of(64)
    resumed.load_state_dict(state)
    assert got + flat(keys(batch) for batch in resumed) == whole
    assert resumed.epoch == 3


def test_ranks_repeat_together(numbered):
    ds = leat.Dataset(numbered).subset(range(101))
    loaders = [
        leat.DataLoader(ds, 16, rank=rank, world=2, repeat=2, tail="pad") for rank in range(2)
    ]
    found = [batches_of(loader) for loader in loaders]
    assert [len(one) for one in found] == [8, 8] == [len(loader) for loader in loaders]
    for epoch in range(2):
        part = [flat(one[epoch * 4 : epoch * 4 + 4]) for one in found]
        assert set(part[0] + part[1]) == set(range(101))


def stream_of(name, size=20, **options):
    return leat.StreamingDataset(
        name, batch_size=size, seed=6, transform=jobs.key, drop_last=True, repeat=3, **options
    )


def test_a_stream_repeats_and_resumes_in_any_epoch(numbered):
    whole = flat(keys_of(numbered, epoch, 6) for epoch in range(3))
    ds = stream_of(numbered)
    assert len(ds) == 3000
    assert list(ds) == whole
    ds.set_epoch(0)
    got = list(itertools.islice(ds, 1507))
    resumed = stream_of(numbered)
    resumed.load_state_dict(ds.state_dict())
    assert got + list(resumed) == whole


@pytest.mark.parametrize("workers", [2, 3])
def test_workers_take_turns_over_the_ends_of_epochs(numbered, workers):
    """50 batches an epoch: with three workers, epochs begin with another one each time."""
    whole = flat(keys_of(numbered, epoch, 6) for epoch in range(3))
    loader = DataLoader(
        stream_of(numbered), batch_size=20, num_workers=workers, collate_fn=jobs.as_list
    )
    assert flat(loader) == whole


def test_torchdata_resumes_in_a_later_epoch(numbered):
    def loader_of():
        return StatefulDataLoader(
            stream_of(numbered), batch_size=20, num_workers=3, collate_fn=jobs.as_list
        )

    whole = flat(keys_of(numbered, epoch, 6) for epoch in range(3))
    loader = loader_of()
    batches = iter(loader)
    got = flat(next(batches) for _ in range(77))
    state = loader.state_dict()
    del batches
    resumed = loader_of()
    resumed.load_state_dict(state)
    assert got + flat(resumed) == whole
