"""Mixes: proportions, subsets, second passes, and states of versions that others follow."""

import itertools
from collections import Counter

import pytest
from store import numbered_samples

import leat


@pytest.fixture(scope="module")
def two(store):
    """300 samples, and 40."""
    return (
        store.make_dataset(numbered_samples(300)),
        store.make_dataset(numbered_samples(40, seed=2)),
    )


def pairs(batches):
    return [pair for batch in batches for pair in zip(batch.sources, batch.rows)]


def test_a_mix_keeps_its_proportions_and_resumes(two):
    mix = leat.Mix([(two[0], 3), (two[1], 1)], samples=160)
    whole = pairs(leat.DataLoader(mix, 20, seed=1))
    assert len(whole) == len(set(whole)) == 160
    for begin in range(0, 160, 40):
        share = sum(source == 0 for source, _ in whole[begin : begin + 40])
        assert share == 30
    loader = leat.DataLoader(mix, 20, seed=1)
    got = pairs(itertools.islice(loader, 3))
    resumed = leat.DataLoader(mix, 33, seed=1)
    resumed.load_state_dict(loader.state_dict())
    assert got + pairs(resumed) == whole


def test_a_source_that_is_used_up_begins_again_in_another_order(two):
    mix = leat.Mix([(two[0], 1), (two[1], 1)], samples=200)
    whole = pairs(leat.DataLoader(mix, 20, seed=1))
    small = [row for source, row in whole if source == 1]
    assert len(small) == 100
    passes = [small[:40], small[40:80]]
    assert [sorted(one) for one in passes] == [list(range(40))] * 2
    assert passes[0] != passes[1]
    assert Counter(small).most_common(1)[0][1] == 3, "and a half of a third pass"
    loader = leat.DataLoader(mix, 20, seed=1)
    got = pairs(itertools.islice(loader, 7))
    resumed = leat.DataLoader(mix, 9, seed=1)
    resumed.load_state_dict(loader.state_dict())
    assert got + pairs(resumed) == whole


def test_subsets_are_mixed_with_whole_datasets(two):
    large = leat.Dataset(two[0])
    mix = leat.Mix([(large.subset(range(5, 300, 3)), 1), (two[1], 1)])
    assert len(mix) >= 2 * 40
    found = pairs(leat.DataLoader(mix, 16, seed=3))
    assert len(found) == len(set(found)) == len(mix)
    assert all(row % 3 == 2 for source, row in found if source == 0)
    alone = leat.Mix([(large.subset([4, 7]), 1.0)])
    rows = [row for batch in leat.DataLoader(alone, 2) for row in batch.rows]
    assert sorted(rows) == [4, 7]
    state = leat.DataLoader(mix, 16, seed=3).state_dict()
    other = leat.Mix([(large.subset(range(100)), 1), (two[1], 1)], samples=len(mix))
    with pytest.raises(leat.StateError, match="subset"):
        leat.DataLoader(other, 16, seed=3).load_state_dict(state)


def test_a_resumed_mix_stays_at_its_versions(store):
    names = [store.make_dataset(numbered_samples(50, seed=seed)) for seed in range(2)]

    def loader_of():
        return leat.DataLoader(leat.Mix([(name, 1) for name in names]), 10, seed=3)

    loader = loader_of()
    got = pairs(itertools.islice(loader, 3))
    state = loader.state_dict()
    store.commit(names[1], numbered_samples(9, seed=5), prefix=f"{names[1][5:]}/second")
    resumed = loader_of()
    assert [one.version for one in resumed.dataset.datasets] == [1, 2]
    resumed.load_state_dict(state)
    assert [one.version for one in resumed.dataset.datasets] == [1, 1]
    together = got + pairs(resumed)
    assert sorted(together) == [(source, row) for source in range(2) for row in range(50)]
    stream = leat.StreamingDataset(leat.Mix([(name, 1) for name in names]), seed=3)
    stream.load_state_dict(state)
    assert len(list(stream)) == 70
    pinned = leat.Mix([(names[0], 1), (f"{names[1]}@2", 1)])
    with pytest.raises(leat.StateError):
        leat.DataLoader(pinned, 10, seed=3).load_state_dict(state)


def test_a_mix_is_decoded_by_its_loader_alone(two):
    mix = leat.Mix([(two[0], 1), (two[1], 1)])
    decode = {"cls": int}
    batch = next(iter(leat.DataLoader(mix, 8, decode=decode, fields=["cls"], to="numpy")))
    assert set(batch) == {"__key__", "cls"}
    assert batch["cls"].dtype == "int64"
    sample = next(iter(leat.StreamingDataset(mix, decode=decode, fields=["cls"])))
    assert sample["cls"] == int(sample["__key__"].rpartition("/")[2]) % 10
    with pytest.raises(leat.BadRequest, match="give them to the loader"):
        leat.Mix([(leat.Dataset(two[0], decode=decode), 1)])
