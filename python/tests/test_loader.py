"""DataLoader: every sample once, in the computed order, from any place on."""

import io
import itertools
import random
import sys
import types

import jax
import jobs
import numpy
import pytest
import torch
from leat_process import wait_until
from store import block_counts, numbered_samples

import leat
from leat import _native, _order, _stream
from leat._progress import Progress
from leat._shuffle import plan_rows

WINDOW = 64 << 10


@pytest.fixture(scope="module")
def blocks(store):
    """A dataset of many blocks: 240 samples of some 512 KiB, about 8 to a block."""
    samples = numbered_samples(240, size=400 << 10, seed=3)
    return store.make_dataset(samples, per_shard=60, name="data/blocks")


def rows_of(loader):
    return [row for batch in loader for row in batch.rows]


def order_of(dataset, **options):
    defaults = {"shuffle": "block", "seed": 0, "epoch": 0, "window_bytes": leat._feed.WINDOW_BYTES}
    return plan_rows(dataset, {**defaults, **options}).tolist()


def test_an_epoch_has_each_sample_once_in_the_order_of_the_plan(numbered, samples):
    ds = leat.Dataset(numbered)
    for shuffle in ("none", "block", "full"):
        for epoch in (0, 1):
            loader = leat.DataLoader(
                ds, batch_size=64, shuffle=shuffle, seed=5, epoch=epoch, keys=True
            )
            rows, values = [], []
            for batch in loader:
                rows += batch.rows
                values += zip(batch["__key__"], batch["bin"].tolist(), batch["cls"].tolist())
            assert sorted(rows) == list(range(1000))
            assert rows == order_of(ds, shuffle=shuffle, seed=5, epoch=epoch)
            for row, (key, data, label) in zip(rows, values):
                assert (key, {"bin": data, "cls": label}) == samples[row]


@pytest.mark.parametrize("window_blocks", [1, 2, 5, 1000])
@pytest.mark.parametrize("shuffle", ["none", "block", "full"])
def test_the_library_and_python_compute_one_order(blocks, shuffle, window_blocks):
    ds = leat.Dataset(blocks)
    counts = block_counts(ds)
    assert len(counts) > 10
    window_bytes = window_blocks * (4 << 20)
    for seed, epoch in ((0, 0), (2**64 - 1, 3)):
        places = _order.epoch(
            counts,
            shuffle=shuffle,
            window=window_blocks,
            seed=seed,
            epoch=epoch,
            fingerprint=bytes.fromhex(ds.fingerprint),
        )
        expected = _order.rows(counts, places)
        found = order_of(ds, shuffle=shuffle, window_bytes=window_bytes, seed=seed, epoch=epoch)
        assert found == expected


def test_epochs_follow_each_other_and_differ(numbered):
    loader = leat.DataLoader(numbered, batch_size=100, seed=1)
    assert len(loader) == 10
    first, second = rows_of(loader), rows_of(loader)
    assert first != second
    assert sorted(first) == sorted(second) == list(range(1000))
    assert loader.epoch == 2
    loader.set_epoch(0)
    assert rows_of(loader) == first


def test_another_seed_is_another_order(numbered):
    orders = {tuple(rows_of(leat.DataLoader(numbered, 100, seed=seed))) for seed in range(3)}
    assert len(orders) == 3


def ranks(dataset, world, batch_size, state=None, **options):
    made = [
        leat.DataLoader(dataset, batch_size, rank=rank, world=world, to="memory", **options)
        for rank in range(world)
    ]
    for loader in made:
        if state is not None:
            loader.load_state_dict(state)
    return made


def drawn_orders(dataset, drawn):
    """Without end: a subset, and options of its order. Windows have from one block to all."""
    while True:
        rows = drawn.sample(range(len(dataset)), drawn.randrange(1, len(dataset) + 1))
        yield (
            dataset.subset(sorted(rows)),
            {
                "shuffle": drawn.choice(["block", "full", "none"]),
                "window": drawn.choice([1, 2, 5, 100]) * (4 << 20),
                "seed": drawn.randrange(5),
                "epoch": drawn.randrange(3),
                "tail": "uneven",
                "fields": ["cls"],
            },
        )


def test_any_number_of_ranks_continues_any_others(blocks, numbered):
    """The property that makes resume exact: for any numbers, the union is the order."""
    seed = random.randrange(2**32)
    print("seed", seed)
    drawn = random.Random(seed)
    for name, count in ((numbered, 15), (blocks, 15)):
        for subset, options in itertools.islice(drawn_orders(leat.Dataset(name), drawn), count):
            order = [row for loader in ranks(subset, 1, 50, **options) for row in rows_of(loader)]
            assert sorted(order) == list(subset.rows)
            position, state = 0, None
            while position < len(subset):
                world, size = drawn.randrange(1, 5), drawn.randrange(1, 40)
                steps, threads = drawn.randrange(1, 4), drawn.randrange(3)
                loaders = ranks(subset, world, size, state, num_workers=threads, **options)
                parts = [iter(loader) for loader in loaders]
                got = []
                for _ in range(steps):
                    for part in parts:
                        got += rows_next(part)
                end = min(position + steps * world * size, len(subset))
                assert got == order[position:end]
                states = [loader.state_dict() for loader in loaders]
                assert all(one == states[0] for one in states) or end == len(subset)
                position, state = end, states[0]
                for loader in loaders:
                    loader.close()


def test_any_number_of_workers_continues_any_others(blocks, monkeypatch):
    """The same for worker processes, which take whole batches in turn."""
    seed = random.randrange(2**32)
    print("seed", seed)
    drawn = random.Random(seed)
    for subset, options in itertools.islice(drawn_orders(leat.Dataset(blocks), drawn), 12):
        order = [subset.key(i) for i in range(len(subset))]
        if options["shuffle"] != "none":
            order = keys_of(leat.StreamingDataset(subset, **options))
        position, state = 0, None
        while position < len(subset):
            world, workers = drawn.randrange(1, 4), drawn.randrange(1, 4)
            size, steps = drawn.randrange(1, 20), drawn.randrange(1, 6)
            cut = {"world": world, "batch_size": size, **options}
            streams = {}
            for rank, worker in itertools.product(range(world), range(workers)):
                ds = leat.StreamingDataset(subset, rank=rank, **cut)
                if state is not None:
                    ds.load_state_dict(state)
                is_worker(monkeypatch, worker, workers)
                streams[rank, worker] = iter(ds)
            got = []
            for step, rank in itertools.product(range(steps), range(world)):
                got += keys_of(itertools.islice(streams[rank, step % workers], size))
            end = min(position + steps * world * size, len(subset))
            assert got == order[position:end]
            is_worker(monkeypatch, 0, 1)
            position, state = end, ds.state_at(end)
            for stream in streams.values():
                stream.close()


def is_worker(monkeypatch, number, count):
    monkeypatch.setattr(_stream, "worker_and_workers", lambda: (number, count))


def keys_of(stream):
    return [sample["__key__"] for sample in stream]


def rows_next(iterator):
    """The rows of the next batch; none at the end."""
    batch = next(iterator, None)
    return [] if batch is None else list(batch.rows)


@pytest.mark.parametrize(
    ("tail", "sizes"),
    [
        ("drop", [[16] * 3, [16] * 3]),
        ("pad", [[16] * 4, [16] * 4]),
        ("uneven", [[16, 16, 16, 5], [16] * 3]),
    ],
)
def test_tails_are_dropped_padded_or_uneven(numbered, tail, sizes):
    """101 samples in batches of 16 on two ranks: 3 whole steps, then 5 samples are left."""
    ds = leat.Dataset(numbered).subset(range(101))
    order = plan_rows(ds, {"batch_size": 1}).tolist()
    found = [[list(batch.rows) for batch in loader] for loader in ranks(ds, 2, 16, tail=tail)]
    assert [[len(rows) for rows in one] for one in found] == sizes
    together = [
        row for step in itertools.zip_longest(*found, fillvalue=()) for rows in step for row in rows
    ]
    # What a padded epoch lacks for its last step comes from its beginning.
    expected = {"drop": order[:96], "pad": order + order[:27], "uneven": order}
    assert together == expected[tail]


def test_lengths_are_what_each_rank_gets(numbered):
    """Against the library's own count, and an epoch."""
    seed = random.randrange(2**32)
    print("seed", seed)
    drawn = random.Random(seed)
    ds = leat.Dataset(numbered)
    for tail in ("drop", "pad", "uneven") * 4:
        world, size = drawn.randrange(1, 6), drawn.randrange(1, 20)
        subset = ds.subset(range(drawn.randrange(1, 4 * world * size)))
        for rank in range(world):
            options = {"rank": rank, "world": world, "tail": tail}
            loader = leat.DataLoader(subset, size, **options)
            feed = loader._plan.open(0, 0)
            assert len(loader) == _native.library().leat_loader_batches(feed._handle.pointer)
            feed.close()
            sizes = [batch.size for batch in loader]
            assert len(loader) == len(sizes)
            stream = leat.StreamingDataset(subset, batch_size=size, **options)
            assert len(stream) == sum(sizes)
            assert len(list(stream)) == sum(sizes)


def test_one_rank_gets_a_shorter_last_batch_unless_it_is_dropped(numbered):
    ds = leat.Dataset(numbered).subset(range(50))
    assert [batch.size for batch in leat.DataLoader(ds, 16)] == [16, 16, 16, 2]
    assert [batch.size for batch in leat.DataLoader(ds, 16, drop_last=True)] == [16, 16, 16]
    assert len(leat.DataLoader(ds, 16)) == 4
    assert len(leat.DataLoader(ds, 16, drop_last=True)) == 3


def test_a_state_is_what_was_handed_out(numbered):
    loader = leat.DataLoader(numbered, batch_size=10, seed=3)
    whole = rows_of(loader)
    loader = leat.DataLoader(numbered, batch_size=10, seed=3)
    got = []
    for number, batch in enumerate(loader):
        got += batch.rows
        if number == 36:
            break
    state = loader.state_dict()
    assert (state["epoch"], state["samples"]) == (0, 370)
    assert len(str(state)) < 1000
    resumed = leat.DataLoader(numbered, batch_size=7, seed=3)
    resumed.load_state_dict(state)
    rest = iter(resumed)
    got += next(rest).rows
    # A second resume goes on where the first one came to.
    again = leat.DataLoader(numbered, batch_size=13, seed=3)
    again.load_state_dict(resumed.state_dict())
    assert again.state_dict()["samples"] == 377
    got += rows_of(again)
    assert got == whole


def test_a_state_does_not_count_what_functions_work_on_ahead(numbered):
    ahead = []

    def seen(sample):
        ahead.append(sample["__key__"])
        return sample["__key__"]

    whole = [leat.Dataset(numbered).key(row) for row in order_of(leat.Dataset(numbered), seed=3)]
    loader = leat.DataLoader(numbered, batch_size=10, seed=3, transform=seen, to="memory")
    batches = iter(loader)
    for number in range(1, 5):
        next(batches)
        state = loader.state_dict()
        assert (state["epoch"], state["samples"]) == (0, number * 10)
        wait_until(lambda n=number: len(ahead) >= n * 10 + 10, "a batch more than was handed out")
        resumed = leat.DataLoader(numbered, batch_size=7, seed=3, transform=jobs.key, to="memory")
        resumed.load_state_dict(state)
        assert next(iter(resumed)) == whole[number * 10 : number * 10 + 7]


def test_the_state_at_the_end_is_the_beginning_of_the_next_epoch(numbered):
    loader = leat.DataLoader(numbered, batch_size=100, seed=3)
    batches = iter(loader)
    for _ in range(10):
        next(batches)
    before_the_end_was_seen = loader.state_dict()
    assert next(batches, None) is None
    states = [before_the_end_was_seen, loader.state_dict()]
    second = order_of(leat.Dataset(numbered), seed=3, epoch=1)
    for state in states:
        resumed = leat.DataLoader(numbered, batch_size=100, seed=3)
        resumed.load_state_dict(state)
        assert resumed.epoch == 1
        assert rows_of(resumed) == second


def test_a_loop_that_is_left_is_followed_by_the_next_epoch(numbered):
    loader = leat.DataLoader(numbered, batch_size=100, seed=3)
    for _ in loader:
        break
    assert rows_of(loader) == order_of(leat.Dataset(numbered), seed=3, epoch=1)


def test_a_state_of_other_data_or_another_order_is_refused(store, numbered):
    loader = leat.DataLoader(numbered, 10, seed=3)
    state = loader.state_dict()
    other = store.make_dataset(numbered_samples(20))
    with pytest.raises(leat.StateError, match=other):
        leat.DataLoader(other, 10, seed=3).load_state_dict(state)
    with pytest.raises(leat.StateError, match="seed"):
        leat.DataLoader(numbered, 10, seed=4).load_state_dict(state)
    with pytest.raises(leat.StateError, match="shuffle"):
        leat.DataLoader(numbered, 10, seed=3, shuffle=False).load_state_dict(state)


@pytest.mark.parametrize(
    "more", [{"within": 5}, {"worker": [1, 2]}, {"worker": [0, 1], "batches": 3}, {"turn": 1}]
)
def test_a_state_of_a_stream_is_taken_between_batches_alone(numbered, more):
    """Another place would be passed over, and samples repeated."""
    state = leat.StreamingDataset(numbered, batch_size=16, seed=3).state_at(160)
    loader = leat.DataLoader(numbered, 16, seed=3)
    before = loader.state_dict()
    with pytest.raises(leat.StateError, match="state_at"):
        loader.load_state_dict({**state, **more, "batch_size": 16, "world": 1})
    assert loader.state_dict() == before
    loader.load_state_dict({**state, "worker": [0, 1], "batches": 0, "within": 0, "turn": 0})
    assert rows_of(loader) == order_of(leat.Dataset(numbered), seed=3)[160:]


def test_a_resumed_job_stays_at_its_version(store):
    name = store.make_dataset(numbered_samples(50))
    loader = leat.DataLoader(name, 10, seed=3)
    got = list(next(iter(loader)).rows)
    state = loader.state_dict()
    store.commit(name, [("new", {"bin": b"1", "cls": b"2"})], prefix=f"{name[5:]}/second")
    resumed = leat.DataLoader(name, 10, seed=3)
    assert len(resumed.dataset) == 51
    resumed.load_state_dict(state)
    assert resumed.dataset.version == 1
    assert sorted(got + rows_of(resumed)) == list(range(50))
    pinned = leat.DataLoader(f"{name}@2", 10, seed=3)
    with pytest.raises(leat.StateError, match=f"open {name}@1"):
        pinned.load_state_dict(state)


def test_a_state_that_is_refused_changes_nothing(store):
    name = store.make_dataset(numbered_samples(50))
    other = leat.DataLoader(name, 10, seed=4).state_dict()
    store.commit(name, [("new", {"bin": b"1", "cls": b"2"})], prefix=f"{name[5:]}/second")
    for made in (leat.DataLoader(name, 10, seed=3), leat.StreamingDataset(name, seed=3)):
        before = made.state_dict()
        with pytest.raises(leat.StateError, match="seed"):
            made.load_state_dict(other)
        assert made.dataset.version == 2
        assert made.state_dict() == before


def test_a_dataset_at_its_latest_version_takes_one_state_after_the_other(store):
    name = store.make_dataset(numbered_samples(50))
    states = [leat.DataLoader(name, 10).state_dict()]
    store.commit(name, [("new", {"bin": b"1", "cls": b"2"})], prefix=f"{name[5:]}/second")
    states.append(leat.DataLoader(name, 10).state_dict())
    loader = leat.DataLoader(name, 10)
    for version in (1, 2, 1):
        loader.load_state_dict(states[version - 1])
        assert loader.dataset.version == version


@pytest.fixture(scope="module")
def spoilt(store):
    """Rows 10 to 19 cannot be decoded: a whole batch of ten."""
    samples = numbered_samples(40)
    for _, fields in samples[10:20]:
        fields["cls"] = b"none"
    return store.make_dataset(samples)


SKIPPING = {"shuffle": False, "decode": {"cls": "int64"}, "on_error": "skip"}


@pytest.mark.parametrize("transform", [None, dict])
def test_a_batch_of_which_nothing_is_left_is_passed_over_and_counted(spoilt, transform):
    def loader_of():
        return leat.DataLoader(spoilt, 10, to="numpy", transform=transform, keys=True, **SKIPPING)

    whole = [list(batch["__key__"]) for batch in loader_of()]
    assert [len(keys) for keys in whole] == [10, 10, 10]
    loader = loader_of()
    batches = iter(loader)
    assert [next(batches)["__key__"][0] for _ in range(2)] == [whole[0][0], whole[1][0]]
    assert loader.state_dict()["samples"] == 30
    resumed = loader_of()
    resumed.load_state_dict(loader.state_dict())
    assert [list(batch["__key__"]) for batch in resumed] == whole[2:]


@pytest.fixture(scope="module")
def one_spoilt(store):
    """Row 3 of 8 cannot be decoded."""
    samples = numbered_samples(8)
    samples[3][1]["cls"] = b"none"
    return store.make_dataset(samples) + "@1"


@pytest.mark.parametrize("to", ["numpy", "torch", "jax", "memory"])
def test_ranks_take_the_same_number_of_steps_where_a_sample_is_skipped(one_spoilt, to):
    loaders = [
        leat.DataLoader(one_spoilt, 1, rank=rank, world=2, to=to, keys=True, **SKIPPING)
        for rank in range(2)
    ]
    batches = [list(loader) for loader in loaders]
    assert [[batch.size for batch in one] for one in batches] == [[1, 1, 1, 1], [1, 0, 1, 1]]
    empty = batches[1][1]
    assert set(empty) == {"__key__", "bin", "cls"}
    columns = [*empty.values(), empty.present["cls"], empty.rows]
    assert [len(column) for column in columns] == [0] * 5
    assert empty["cls"].tolist() == []
    assert (empty.epoch, empty.position) == (0, 3)


def test_ranks_whose_functions_get_no_sample_are_handed_an_empty_list(one_spoilt):
    loaders = [
        leat.DataLoader(one_spoilt, 1, rank=rank, world=2, transform=jobs.key, **SKIPPING)
        for rank in range(2)
    ]
    batches = [list(loader) for loader in loaders]
    assert [[len(batch) for batch in one] for one in batches] == [[1, 1, 1, 1], [1, 0, 1, 1]]


def test_states_of_ranks_are_equal_after_an_empty_batch(one_spoilt):
    def loaders():
        options = {"world": 2, "to": "memory", **SKIPPING}
        return [leat.DataLoader(one_spoilt, 1, rank=rank, **options) for rank in range(2)]

    stopped, resumed = loaders(), loaders()
    for loader in stopped:
        batches = iter(loader)
        next(batches)
        next(batches)
    states = [loader.state_dict() for loader in stopped]
    assert states[0] == states[1]
    for loader in resumed:
        loader.load_state_dict(states[0])
    assert [rows_of(loader) for loader in resumed] == [[4, 6], [5, 7]]


def test_a_stream_counts_a_batch_of_which_nothing_is_left(spoilt):
    def stream_of():
        return leat.StreamingDataset(spoilt, batch_size=10, **SKIPPING)

    whole = [sample["__key__"] for sample in stream_of()]
    assert len(whole) == 30
    ds = stream_of()
    samples = iter(ds)
    got = [next(samples)["__key__"] for _ in range(13)]
    state = ds.state_dict()
    assert (state["samples"], state["within"]) == (20, 3)
    resumed = stream_of()
    resumed.load_state_dict(state)
    assert got + [sample["__key__"] for sample in resumed] == whole


@pytest.fixture(scope="module")
def lacking(store):
    """Every third sample has no label."""
    samples = numbered_samples(12)
    for _, fields in samples[1::3]:
        del fields["cls"]
    return store.make_dataset(samples)


def test_a_label_that_is_not_there_is_an_error(lacking):
    decode = {"cls": "int64"}
    reads = [
        lambda: list(leat.DataLoader(lacking, 4, shuffle=False, decode=decode)),
        lambda: list(leat.StreamingDataset(lacking, shuffle=False, decode=decode)),
        lambda: leat.Dataset(lacking, decode=decode)[1],
    ]
    for read in reads:
        with pytest.raises(leat.DecodeError, match=r"row 1.*cls") as caught:
            read()
        assert caught.value.place["row"] == 1


def test_a_label_that_is_optional_is_masked_in_batches_and_left_out_of_samples(lacking):
    decode = {"cls": leat.Int64(optional=True)}
    there = [row % 3 != 1 for row in range(12)]
    for to in ("numpy", "torch", "memory"):
        loader = leat.DataLoader(lacking, 12, shuffle=False, decode=decode, to=to)
        batch = next(iter(loader))
        assert batch["cls"].tolist() == [row % 10 if there[row] else 0 for row in range(12)]
        assert batch.present["cls"].tolist() == there
    ds = leat.Dataset(lacking, decode=decode)
    assert ["cls" in sample for sample in ds] == there
    stream = leat.StreamingDataset(lacking, shuffle=False, decode=decode)
    assert ["cls" in sample for sample in stream] == there


def test_fields_that_are_decoded_natively_are_arrays(numbered):
    loader = leat.DataLoader(numbered, 32, fields=["cls"], decode={"cls": "int64"}, to="numpy")
    for batch in loader:
        assert list(batch) == ["cls"]
        assert batch["cls"].dtype == "int64"
        assert batch.present["cls"].all()
        assert batch["cls"].tolist() == [row % 10 for row in batch.rows]


def test_batches_are_tensors_arrays_or_memory(numbered):
    kinds = {"torch": torch.Tensor, "jax": jax.Array, "memory": memoryview}
    for to, kind in kinds.items():
        batch = next(iter(leat.DataLoader(numbered, 8, decode={"cls": "int64"}, to=to)))
        assert isinstance(batch["cls"], kind)
        assert [int(one) for one in batch["cls"].tolist()] == [row % 10 for row in batch.rows]
    with pytest.raises(leat.BadRequest, match="tensorflow"):
        leat.DataLoader(numbered, 8, to="tensorflow")


def test_views_outlive_their_loader(numbered, samples):
    loader = leat.DataLoader(numbered, 64, shuffle=False, to="numpy", decode={"cls": "int64"})
    kept = [(batch["cls"][:3], batch["bin"][1]) for batch in loader]
    loader.close()
    del loader
    for number, (labels, data) in enumerate(kept):
        assert labels.tolist() == [(number * 64 + i) % 10 for i in range(len(labels))]
        assert bytes(data) == samples[number * 64 + 1][1]["bin"]


def test_python_functions_get_samples_and_keep_the_order(numbered):
    loader = leat.DataLoader(
        numbered,
        50,
        seed=2,
        decode={"cls": int},
        transform=lambda sample: (sample["__key__"], sample["cls"]),
        num_workers=2,
        to="numpy",
    )
    keys = [key for names, labels in loader for key in names]
    ds = leat.Dataset(numbered)
    assert keys == [ds.key(row) for row in order_of(ds, seed=2)]


def test_what_functions_return_is_stacked_where_shapes_agree(numbered):
    def sample_of(sample):
        number = int(sample["cls"])
        return {
            "label": number,
            "even": number % 2 == 0,
            "pixels": numpy.full((2, 3), number, dtype="float32"),
            "ragged": numpy.zeros(number),
            "name": sample["__key__"],
            "pair": (number, {"half": number / 2}),
        }

    kinds = {"numpy": numpy.ndarray, "jax": jax.Array}
    for to, kind in kinds.items():
        loader = leat.DataLoader(numbered, 20, shuffle=False, transform=sample_of, to=to)
        batch = next(iter(loader))
        assert isinstance(batch["label"], kind)
        assert batch["label"].tolist() == [i % 10 for i in range(20)]
        assert batch["even"].dtype == bool
        assert batch["pixels"].shape == (20, 2, 3)
        assert batch["pixels"].dtype == "float32"
        assert [len(one) for one in batch["ragged"]] == [i % 10 for i in range(20)]
        assert batch["name"][3] == "3/000003"
        labels, halves = batch["pair"]
        assert halves["half"].tolist() == [i % 10 / 2 for i in range(20)]
        assert isinstance(labels, kind)
    batch = next(iter(leat.DataLoader(numbered, 20, transform=sample_of, to="memory")))
    assert isinstance(batch["label"], list)


def test_fields_that_only_some_samples_have_are_none_in_the_others(store):
    name = store.make_dataset([("a", {"x": b"1"}), ("b", {"x": b"2", "y": b"3"})])
    loader = leat.DataLoader(name, 2, shuffle=False, decode={"x": int, "y": int}, to="numpy")
    batch = next(iter(loader))
    assert batch["x"].tolist() == [1, 2]
    assert batch["y"] == [None, 3]


def tenfold(sample):
    return {**sample, "cls": int(sample["cls"]) * 10}


@pytest.fixture
def treated(numbered):
    """A dataset that comes with a decode and a transform of its own."""
    return leat.Dataset(numbered, fields=["cls"], decode={"cls": int}, transform=tenfold)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, lambda row: row % 10 * 10),
        ({"decode": {"cls": lambda data: int(data) + 1}}, lambda row: (row % 10 + 1) * 10),
        ({"decode": {"cls": "int64"}}, lambda row: row % 10 * 10),
        ({"transform": lambda sample: {"cls": -sample["cls"]}}, lambda row: -(row % 10)),
        (
            {"decode": {"cls": "int64"}, "transform": lambda sample: {"cls": sample["cls"] + 7}},
            lambda row: row % 10 + 7,
        ),
    ],
)
def test_arguments_of_a_loader_replace_the_datasets_own_one_by_one(treated, options, expected):
    loader = leat.DataLoader(treated, 100, shuffle=False, to="numpy", **options)
    assert flat(batch["cls"].tolist() for batch in loader) == [expected(i) for i in range(1000)]
    stream = leat.StreamingDataset(treated, shuffle=False, **options)
    assert [int(sample["cls"]) for sample in stream] == [expected(i) for i in range(1000)]
    assert treated[7]["cls"] == 70, "the dataset itself stays as it was"


def flat(lists):
    return [one for each in lists for one in each]


def test_a_stream_over_a_dataset_takes_fields_and_a_budget_of_retries(numbered):
    ds = leat.Dataset(numbered)
    stream = leat.StreamingDataset(ds, fields=["cls"], decode={"cls": "int64"}, retry_seconds=5)
    sample = next(iter(stream))
    assert set(sample) == {"__key__", "cls"}
    assert int(sample["cls"]) == int(sample["__key__"].rpartition("/")[2]) % 10
    assert stream._plan.options["retry_seconds"] == 5
    assert sorted(ds.fields) == ["bin", "cls"]


@pytest.mark.parametrize("taken", [0, 7, 20, 45])
def test_a_stream_that_was_closed_goes_on_where_it_was(numbered, taken):
    keys = [leat.Dataset(numbered).key(row) for row in range(100)]
    few = leat.Dataset(numbered).subset(range(100))
    ds = leat.StreamingDataset(few, batch_size=20, shuffle=False, transform=jobs.key)
    ds.load_state_dict(ds.state_at(20))
    stream = iter(ds)
    got = [next(stream) for _ in range(taken)]
    stream.close()
    assert got + list(stream) == keys[20:]


@pytest.mark.parametrize("bad", [3, 9, 10])
def test_a_stream_goes_on_behind_a_sample_whose_function_raised(numbered, bad):
    """In the middle of a batch of ten, at its end, and at the beginning of the next."""
    keys = [leat.Dataset(numbered).key(row) for row in range(1000)]

    def refuse(sample):
        if sample["__key__"] == keys[bad]:
            raise ValueError(sample["__key__"])
        return sample["__key__"]

    options = {"batch_size": 10, "shuffle": False}
    ds = leat.StreamingDataset(numbered, transform=refuse, **options)
    stream = iter(ds)
    got = [next(stream) for _ in range(bad)]
    with pytest.raises(ValueError, match=keys[bad]):
        next(stream)
    states = [ds.state_dict()]
    got.append(next(stream))
    states.append(ds.state_dict())
    assert got == keys[:bad] + keys[bad + 1 : bad + 2]
    for handed, state in enumerate(states, bad + 1):
        resumed = leat.StreamingDataset(numbered, transform=jobs.key, **options)
        resumed.load_state_dict(state)
        assert list(resumed) == keys[handed:]


def test_an_error_in_a_function_ends_the_loop_with_it(numbered):
    def refuse(sample):
        raise KeyError(sample["__key__"])

    with pytest.raises(KeyError):
        list(leat.DataLoader(numbered, 50, transform=refuse))


def test_an_image_folder_has_torchvisions_names(store):
    samples = [
        (f"{name}/{number}", {"jpg": f"{name}{number}".encode()})
        for name in ("zebra", "a-b", "a")
        for number in range(4)
    ]
    name = store.make_dataset(samples)
    folder = leat.ImageFolder(name, loader=bytes.decode, target_transform=lambda t: t * 10)
    assert folder.classes == ["a", "a-b", "zebra"]
    assert folder.class_to_idx == {"a": 0, "a-b": 1, "zebra": 2}
    assert folder.extensions == (".jpg",)
    assert folder.root == f"leat://{name}@1"
    assert leat.Dataset(folder.root).fingerprint == folder.fingerprint
    assert folder[0] == ("zebra0", 20)
    assert folder.targets[0] == 2
    assert list(folder.samples)[:5] == [
        ("zebra/0", 2),
        ("zebra/1", 2),
        ("zebra/2", 2),
        ("zebra/3", 2),
        ("a-b/0", 1),
    ]
    images, targets = next(iter(leat.DataLoader(folder, 12, shuffle=False, to="numpy")))
    assert list(images)[:2] == ["zebra0", "zebra1"]
    assert list(targets) == [20] * 4 + [10] * 4 + [0] * 4


def test_progress_is_shown(numbered, capsys):
    list(leat.DataLoader(numbered, 50, progress=True, repeat=2))
    said = capsys.readouterr().err
    assert "epoch 0" in said
    assert "epoch 1" in said
    assert "100%" in said


@pytest.mark.parametrize("is_notebook", [True, False])
def test_a_notebook_has_one_line_that_is_redrawn(monkeypatch, is_notebook):
    if is_notebook:
        monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    stream = io.StringIO()
    progress = Progress(100, "epoch 0", stream)
    progress.add(100, 5000, 0.0)
    progress.close()
    lines = stream.getvalue()
    assert lines.startswith("\repoch 0" if is_notebook else "epoch 0")
    assert lines.endswith("\n")
    assert "100%" in lines
