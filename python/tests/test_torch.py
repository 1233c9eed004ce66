"""torch 2.13 and torchdata, with their own loaders and ours."""

import json
import multiprocessing
import subprocess
import sys
import warnings
from pathlib import Path

import jobs
import pytest
import torch
from store import numbered_samples
from torch.utils.data import DataLoader, IterableDataset
from torchdata.stateful_dataloader import StatefulDataLoader

import leat
from leat._shuffle import plan_rows

START = pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
PERSISTENT = pytest.mark.parametrize("persistent", [False, True])
HERE = Path(__file__).resolve().parent
# Seconds for each worker otherwise.
multiprocessing.set_forkserver_preload(["torch", "leat"])


def keys_in_order(ds, **options):
    defaults = {"shuffle": "block", "window_bytes": leat._feed.WINDOW_BYTES, "seed": 0, "epoch": 0}
    return [ds.key(row) for row in plan_rows(ds, {**defaults, **options})]


def flat(batches):
    return [one for batch in batches for one in batch]


@START
def test_map_style_in_workers(numbered, samples, method):
    ds = leat.Dataset(numbered, transform=jobs.label)
    loader = DataLoader(ds, batch_size=64, num_workers=2, multiprocessing_context=method)
    labels, keys = [], []
    for numbers, names in loader:
        labels += numbers.tolist()
        keys += names
    assert labels == [i % 10 for i in range(1000)]
    assert keys == [key for key, _ in samples]


def test_map_style_fetches_a_batch_with_one_request(numbered, store):
    ds = leat.Dataset(numbered, transform=jobs.label)
    ds[0]
    before = store.server.metric("leat_http_requests_total")
    list(DataLoader(ds, batch_size=100, shuffle=True))
    requests = store.server.metric("leat_http_requests_total") - before
    assert requests <= 12, "ten batches, and what asks for the metric"


@START
@pytest.mark.parametrize("workers", [0, 1, 3])
def test_a_stream_comes_in_one_order_whatever_the_workers(numbered, method, workers):
    if workers == 0 and method != "fork":
        pytest.skip("without workers there is no method")
    ds = leat.StreamingDataset(numbered, batch_size=32, seed=6, transform=jobs.key)
    assert isinstance(ds, IterableDataset)
    loader = DataLoader(
        ds,
        batch_size=32,
        num_workers=workers,
        collate_fn=jobs.as_list,
        multiprocessing_context=method if workers else None,
    )
    assert flat(loader) == keys_in_order(ds.dataset, seed=6)


@pytest.fixture(scope="module")
def small(store):
    """60 samples: workers that are started anew take longer than they do."""
    return store.make_dataset(numbered_samples(60))


@START
@PERSISTENT
def test_workers_go_from_epoch_to_epoch(small, method, persistent):
    """Persistent ones by themselves; new ones take the one that was set."""
    ds = leat.StreamingDataset(small, batch_size=8, seed=6, transform=jobs.key)
    loader = DataLoader(
        ds,
        batch_size=8,
        num_workers=2,
        collate_fn=jobs.as_list,
        multiprocessing_context=method,
        persistent_workers=persistent,
    )
    for epoch in (0, 1) if persistent else (1,):
        if not persistent:
            ds.set_epoch(epoch)
        assert flat(loader) == keys_in_order(ds.dataset, seed=6, epoch=epoch)


@START
@PERSISTENT
def test_torchdata_resumes_exactly_however_workers_start(small, method, persistent):
    def loader_of():
        ds = leat.StreamingDataset(small, batch_size=8, seed=6, transform=jobs.key)
        return StatefulDataLoader(
            ds,
            batch_size=8,
            num_workers=2,
            collate_fn=jobs.as_list,
            multiprocessing_context=method,
            persistent_workers=persistent,
        )

    loader = loader_of()
    batches = iter(loader)
    got = flat(next(batches) for _ in range(3))
    state = loader.state_dict()
    del batches, loader
    resumed = loader_of()
    resumed.load_state_dict(state)
    ds = leat.Dataset(small)
    assert got + flat(resumed) == keys_in_order(ds, seed=6)
    if persistent:
        assert flat(resumed) == keys_in_order(ds, seed=6, epoch=1)


def test_new_workers_take_the_epoch_that_was_set(numbered):
    ds = leat.StreamingDataset(numbered, batch_size=50, seed=6, transform=jobs.key)
    loader = DataLoader(ds, batch_size=50, num_workers=2, collate_fn=jobs.as_list)
    for epoch in (0, 1, 5):
        ds.set_epoch(epoch)
        assert flat(loader) == keys_in_order(ds.dataset, seed=6, epoch=epoch)


def test_state_at_resumes_torchs_own_loader_on_other_workers(numbered):
    def loader_of(ds, workers, size):
        return DataLoader(ds, batch_size=size, num_workers=workers, collate_fn=jobs.as_list)

    ds = leat.StreamingDataset(numbered, batch_size=20, seed=6, transform=jobs.key)
    batches = iter(loader_of(ds, 2, 20))
    got = flat(next(batches) for _ in range(13))
    del batches
    resumed = leat.StreamingDataset(numbered, batch_size=30, seed=6, transform=jobs.key)
    resumed.load_state_dict(ds.state_at(13 * 20))
    assert got + flat(loader_of(resumed, 3, 30)) == keys_in_order(ds.dataset, seed=6)


def test_state_at_resumes_persistent_workers_in_the_epoch_that_is_named(numbered):
    def loader_of(ds):
        return DataLoader(
            ds, batch_size=20, num_workers=2, collate_fn=jobs.as_list, persistent_workers=True
        )

    ds = leat.StreamingDataset(numbered, batch_size=20, seed=6, transform=jobs.key)
    loader = loader_of(ds)
    flat(loader)
    batches = iter(loader)
    got = flat(next(batches) for _ in range(13))
    assert ds.state_at(13 * 20)["epoch"] == 0, "the workers count for themselves"
    resumed = leat.StreamingDataset(numbered, batch_size=20, seed=6, transform=jobs.key)
    resumed.load_state_dict(ds.state_at(13 * 20, epoch=1))
    again = loader_of(resumed)
    assert got + flat(again) == keys_in_order(ds.dataset, seed=6, epoch=1)
    assert flat(again) == keys_in_order(ds.dataset, seed=6, epoch=2)


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("size", [1, 16])
def test_torchdata_resumes_exactly_and_twice(numbered, workers, size):
    def loader_of():
        ds = leat.StreamingDataset(numbered, batch_size=size, seed=6, transform=jobs.key)
        return StatefulDataLoader(ds, batch_size=16, num_workers=workers, collate_fn=jobs.as_list)

    whole = flat(loader_of())
    assert sorted(whole) == sorted(keys_in_order(leat.Dataset(numbered)))
    got, state = [], None
    for steps in (5, 9):
        loader = loader_of()
        if state is not None:
            loader.load_state_dict(state)
        batches = iter(loader)
        got += flat(next(batches) for _ in range(steps))
        state = loader.state_dict()
        del batches
    loader = loader_of()
    loader.load_state_dict(state)
    assert got + flat(loader) == whole


def test_torchdata_at_the_end_of_an_epoch_begins_the_next(numbered):
    ds = leat.StreamingDataset(numbered, batch_size=16, seed=6, transform=jobs.key)
    loader = StatefulDataLoader(ds, batch_size=16, num_workers=0, collate_fn=jobs.as_list)
    first = flat(loader)
    state = loader.state_dict()
    resumed = StatefulDataLoader(
        leat.StreamingDataset(numbered, batch_size=16, seed=6, transform=jobs.key),
        batch_size=16,
        num_workers=0,
        collate_fn=jobs.as_list,
    )
    resumed.load_state_dict(state)
    second = flat(resumed)
    assert first == keys_in_order(ds.dataset, seed=6)
    assert second == keys_in_order(ds.dataset, seed=6, epoch=1)


def test_a_worker_state_is_not_for_another_number_of_workers(numbered):
    ds = leat.StreamingDataset(numbered, seed=6)
    batches = {"worker": [1, 4], "batches": 3, "batch_size": 1, "world": 1}
    state = {**ds.state_at(40), **batches}
    ds.load_state_dict(state)
    with pytest.raises(leat.StateError, match="worker 1 of 4"):
        iter(ds)


def test_a_state_within_a_batch_resumes_on_the_same_ranks(numbered):
    ds = leat.StreamingDataset(numbered, batch_size=16, seed=6, transform=jobs.key)
    stream = iter(ds)
    got = [next(stream) for _ in range(37)]
    resumed = leat.StreamingDataset(numbered, batch_size=16, seed=6, transform=jobs.key)
    resumed.load_state_dict(ds.state_dict())
    assert got + list(resumed) == keys_in_order(ds.dataset, seed=6)


@pytest.mark.parametrize(
    "other", [{"batch_size": 15}, {"batch_size": 16, "rank": 0, "world": 2}, {}]
)
def test_a_state_within_a_batch_is_refused_by_other_batches(numbered, other):
    ds = leat.StreamingDataset(f"{numbered}@1", batch_size=16, seed=6)
    stream = iter(ds)
    for _ in range(16):
        next(stream)
    between = ds.state_dict()
    next(stream)
    within = ds.state_dict()
    resumed = leat.StreamingDataset(f"{numbered}@1", seed=6, **other)
    with pytest.raises(leat.StateError, match="batches of 16 on 1 ranks"):
        resumed.load_state_dict(within)
    resumed.load_state_dict(between)
    assert resumed.state_dict() == between


def test_a_forked_child_reads_on_its_own_connection(numbered, samples):
    """A loader that runs in the parent is not disturbed by children, nor they by it."""
    parent = iter(leat.DataLoader(numbered, batch_size=100, shuffle=False))
    first = list(next(parent).rows)
    ds = leat.Dataset(numbered, transform=jobs.key)
    children = flat(DataLoader(ds, batch_size=100, num_workers=2, collate_fn=jobs.as_list))
    assert children == [key for key, _ in samples]
    assert first + [row for batch in parent for row in batch.rows] == list(range(1000))


def run_ranks(store, out, *job):
    """Two ranks of a function of jobs.py."""
    launcher = ["torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    subprocess.run(
        [sys.executable, "-m", *launcher, HERE / "jobs.py", *job],
        env={**clean(), **store.environment(), "OUT": str(out)},
        check=True,
        timeout=120,
    )


@pytest.mark.parametrize("tail", ["drop", "pad"])
def test_ranks_of_torchrun_share_an_epoch_and_end_together(store, uneven, tmp_path, tail):
    """1003 samples in steps of 50: what is left over makes no rank wait for the other."""
    out = tmp_path / "rank"
    run_ranks(store, out, "rank_of_a_torchrun_job", uneven, "25", tail)
    found = [json.loads(Path(f"{out}{rank}").read_text()) for rank in range(2)]
    together = [row for pair in zip(*found) for batch in pair for row in batch]
    ds = leat.Dataset(uneven)
    order = keys_in_order(ds, seed=9)
    expected = order[:1000] if tail == "drop" else order + order[:47]
    assert [len(one) for one in found] == [len(expected) // 50] * 2
    assert [ds.key(row) for row in together] == expected


@pytest.fixture(scope="module")
def uneven(store):
    return store.make_dataset(numbered_samples(1003))


def test_ranks_that_opened_different_versions_agree_on_that_of_rank_0(store, tmp_path):
    name = store.make_dataset(numbered_samples(50))
    out = tmp_path / "rank"
    run_ranks(store, out, "rank_that_sees_a_commit", name)
    found = [json.loads(Path(f"{out}{rank}").read_text()) for rank in range(2)]
    assert [one["opened"] for one in found] == [1, 2]
    for kind in ("loader", "stream"):
        assert [one[kind] for one in found] == [1, 1]
    assert sorted(found[0]["rows"] + found[1]["rows"]) == list(range(50))


def test_ranks_that_do_not_know_each_other_are_told_to_name_a_version(numbered):
    with pytest.warns(UserWarning, match="name a version"):
        leat.DataLoader(numbered, 10, rank=0, world=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        leat.DataLoader(f"{numbered}@1", 10, rank=0, world=2)
        leat.DataLoader(numbered, 10, rank=0, world=1)


def clean():
    import os

    return {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}


def test_tensors_of_a_batch_are_views(numbered):
    loader = leat.DataLoader(numbered, 64, decode={"cls": "int64"}, to="torch")
    for batch in loader:
        assert batch["cls"].dtype == torch.int64
        assert batch["cls"].tolist() == [row % 10 for row in batch.rows]
