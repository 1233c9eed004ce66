"""Ranks on the machine of the node: what they read by row comes from the node's own files."""

import pytest
from store import numbered_samples

import leat

COUNT = 256


@pytest.fixture(scope="module")
def large(store):
    """Shards above a MiB, which a node keeps as files, of samples above 16 KiB."""
    samples = numbered_samples(COUNT, size=60_000)
    return store.make_dataset(samples, per_shard=64, name="data/large-rows") + "@1", samples


def read(loader, samples):
    """Rows as they came, each compared with what was stored."""
    rows = []
    for batch in loader:
        for row, data, label in zip(batch.rows, batch["bin"], batch["cls"]):
            key, fields = samples[row]
            assert (bytes(data), bytes(label)) == (fields["bin"], fields["cls"]), key
            rows.append(row)
    return rows


@pytest.mark.parametrize("fields", [["bin", "cls"], ["cls", "bin"]])
def test_two_ranks_share_the_files_of_the_node(large, fields):
    name, samples = large
    seen = []
    for rank in range(2):
        options = {"seed": 3, "rank": rank, "world": 2, "fields": fields, "to": "memory"}
        loader = leat.DataLoader(name, 16, shuffle="full", **options)
        seen += read(loader, samples)
        fetch = loader.report().data["stages"]["fetch"]
        assert fetch["bytes"] == fetch["local_bytes"] > 0
    assert sorted(seen) == list(range(COUNT))


def test_the_order_is_the_same_over_the_network(store, large):
    name, samples = large
    near = leat.DataLoader(name, 16, shuffle="full", seed=3, to="memory")
    far = leat.DataLoader(
        leat.Dataset(name, session=store.connect(local=False)),
        16,
        shuffle="full",
        seed=3,
        to="memory",
    )
    assert read(near, samples) == read(far, samples)
    assert far.report().data["stages"]["fetch"]["local_bytes"] == 0


def test_small_samples_are_asked_for_together(store):
    samples = numbered_samples(COUNT, size=3000)
    name = store.make_dataset(samples, per_shard=COUNT, name="data/small-rows")
    loader = leat.DataLoader(name, 16, shuffle="full", seed=3, to="memory")
    assert sorted(read(loader, samples)) == list(range(COUNT))
    assert loader.report().data["stages"]["fetch"]["local_bytes"] == 0
