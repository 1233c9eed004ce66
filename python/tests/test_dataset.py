"""Dataset: samples by number and by key."""

import pickle
import re
import threading

import pytest

import leat


def as_dict(sample):
    key, fields = sample
    return {"__key__": key, **fields}


def test_samples_are_dicts_in_the_order_of_the_shards(numbered, samples):
    ds = leat.Dataset(f"leat://{numbered}")
    assert len(ds) == 1000
    assert (ds.name, ds.version) == (numbered, 1)
    assert sorted(ds.fields) == ["bin", "cls"]
    assert ds[5] == as_dict(samples[5])
    assert ds[-1] == as_dict(samples[-1])
    assert ds.__getitems__([7, 3, 7]) == [as_dict(samples[i]) for i in (7, 3, 7)]
    assert list(ds) == [as_dict(sample) for sample in samples]
    with pytest.raises(IndexError, match=r"1000 of 1000"):
        ds[1000]


def test_keys_find_samples(numbered, samples):
    ds = leat.Dataset(numbered)
    key, fields = samples[123]
    assert ds.get_by_key(key)["bin"] == fields["bin"]
    assert ds.find(key) == 123
    assert ds.key(123) == key
    assert key in ds
    assert "nobody" not in ds
    assert list(ds.keys()) == [key for key, _ in samples]
    assert sorted(ds.select("3/")) == [i for i, (key, _) in enumerate(samples) if key[:2] == "3/"]
    with pytest.raises(leat.NotFound):
        ds.get_by_key("nobody")


def test_fields_decode_and_transform(numbered, samples):
    ds = leat.Dataset(
        numbered, fields=["cls"], decode={"cls": int}, transform=lambda sample: sample["cls"]
    )
    assert ds.__getitems__(range(12)) == [i % 10 for i in range(12)]
    assert leat.Dataset(numbered, fields=["cls"])[4] == {"__key__": samples[4][0], "cls": b"4"}
    with pytest.raises(leat.BadRequest, match="nope"):
        leat.Dataset(numbered, fields=["nope"])[0]


def test_a_field_that_a_sample_lacks_is_not_in_its_dict(store):
    name = store.make_dataset([("a", {"x": b"1"}), ("b", {"x": b"2", "y": b"3"})])
    ds = leat.Dataset(name)
    assert ds.__getitems__([0, 1]) == [
        {"__key__": "a", "x": b"1"},
        {"__key__": "b", "x": b"2", "y": b"3"},
    ]


def test_a_subset_has_its_own_numbers(numbered, samples):
    ds = leat.Dataset(numbered)
    odd = ds.subset(range(1, 1000, 2))
    assert len(odd) == 500
    assert odd[3] == as_dict(samples[7])
    assert odd.key(0) == samples[1][0]
    with pytest.raises(IndexError):
        ds.subset([1000])


@pytest.mark.parametrize(
    ("key", "holds"),
    [
        ("3/*", lambda key: key.startswith("3/")),
        ("*7", lambda key: key.endswith("7")),
        ("[12]/0000?5", lambda key: key[0] in "12" and key[2:6] == "0000" and key[-1] == "5"),
        ("nothing", lambda key: False),
        (re.compile(r"/0+4"), lambda key: key.partition("/")[2].lstrip("0")[:1] == "4"),
        (lambda key: "99" in key, lambda key: "99" in key),
        (None, lambda key: True),
    ],
)
def test_a_filter_by_key_keeps_what_it_says(numbered, samples, key, holds):
    kept = leat.Dataset(numbered).filter(key)
    assert list(kept.keys()) == [name for name, _ in samples if holds(name)]


def test_a_filter_by_fields_reads_them_alone_and_narrows_a_subset(store, samples):
    name = store.make_dataset([*samples[:200], ("no-label", {"bin": b"x"})])
    ds = leat.Dataset(name, fields=["bin"], decode={"bin": len})
    few = ds.subset(range(200, 99, -1)).filter(where={"cls": lambda cls: cls in (b"3", None)})
    expected = ["no-label", *(key for key, _ in samples[199:99:-1] if key[-1] == "3")]
    assert list(few.keys()) == expected
    both = ds.filter("1/*", where={"cls": lambda cls: cls == b"8", "bin": lambda data: len(data)})
    assert list(both.keys()) == [key for key, _ in samples[:200] if key[:2] + key[-1] == "1/8"]
    loader = leat.DataLoader(both, 4, keys=True, to="memory")
    assert sorted(key for batch in loader for key in batch["__key__"]) == sorted(both.keys())
    with pytest.raises(leat.BadRequest, match="nope"):
        ds.filter(where={"nope": bool})


def test_values_are_those_of_a_field(numbered, samples):
    ds = leat.Dataset(numbered)
    assert list(ds.values("cls")) == [fields["cls"] for _, fields in samples]
    assert list(ds.subset([5, 3]).values("bin")) == [samples[i][1]["bin"] for i in (5, 3)]


@pytest.mark.parametrize(
    ("mean_bytes", "pages"),
    [
        (1 << 10, [20]),
        (10 << 20, [6, 6, 6, 2]),
        (1 << 30, [1] * 20),
    ],
)
def test_large_samples_are_fetched_some_at_a_time(numbered, monkeypatch, mean_bytes, pages):
    ds = leat.Dataset(numbered).subset(range(20))
    ds.info = {**ds.info, "bytes": ds.info["samples"] * mean_bytes}
    read_batch = leat.Dataset.read_batch
    asked = []

    def noted(self, rows, **options):
        asked.append(len(rows))
        return read_batch(self, rows, **options)

    monkeypatch.setattr(leat.Dataset, "read_batch", noted)
    reads = [
        lambda: [int(value) for value in ds.values("cls")],
        lambda: [int(sample["cls"]) for sample in ds],
        lambda: [row % 10 for row in ds.filter(where={"cls": bytes.isdigit}).rows],
    ]
    for read in reads:
        asked.clear()
        assert read() == [row % 10 for row in range(20)]
        assert asked == pages


def test_small_samples_are_fetched_by_the_thousand_at_most(numbered):
    """That is, by the number of samples, and not as many as 64 MiB have."""
    assert leat.Dataset(numbered)._at_once(100) == 100


def test_versions_stay_as_they_were(store):
    name = store.make_dataset([("a", {"x": b"1"})])
    before = leat.Dataset(name)
    store.commit(name, [("b", {"x": b"2"})], prefix=f"{name.partition('/')[2]}/second")
    assert len(before) == 1
    assert len(leat.Dataset(name)) == 2
    assert len(leat.Dataset(f"{name}@1")) == 1
    assert before.fingerprint == leat.Dataset(f"{name}@1").fingerprint
    assert before.fingerprint != leat.Dataset(name).fingerprint
    # What is sent to a worker process stays at its version.
    assert len(pickle.loads(pickle.dumps(before))) == 1


def test_a_dataset_that_is_not_there(store):
    with pytest.raises(leat.NotFound, match="data/none"):
        leat.Dataset("data/none")
    with pytest.raises(leat.LeatError):
        leat.Dataset("no slash")


def test_many_threads_read_one_dataset(numbered, samples):
    ds = leat.Dataset(numbered)
    wrong = []

    def read(first):
        for i in range(first, 1000, 40):
            if ds[i] != as_dict(samples[i]):
                wrong.append(i)

    threads = [threading.Thread(target=read, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_odd_keys_and_empty_values_come_through(store):
    odd = [
        ("ä/ü x", {"bin": b""}),
        ("with\nnewline", {"bin": b"1"}),
        ("d" * 80 + "/" + "k" * 90, {"bin": b"2"}),
    ]
    name = store.make_dataset(odd)
    ds = leat.Dataset(name)
    assert [ds[i] for i in range(3)] == [as_dict(sample) for sample in odd]
    assert ds.get_by_key("ä/ü x") == as_dict(odd[0])


def test_names_of_fields_that_are_not_utf_8_are_kept(store):
    name = store.make_dataset([("a", {"bin": b"1", "f\udcff": b"2"})])
    assert leat.Dataset(name)[0] == {"__key__": "a", "bin": b"1", "f\udcff": b"2"}
    batch = next(iter(leat.DataLoader(name, 1, to="memory")))
    assert batch["f\udcff"].tolist() == [b"2"]
