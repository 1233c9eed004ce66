"""fsspec, pandas, pyarrow, HF datasets, webdataset, torch checkpoints, Grain, JAX: as they are."""

import inspect

import datasets
import fsspec
import grain.python as grain
import jax
import pandas
import pytest
import torch
import torch.distributed.checkpoint as dcp
import webdataset as wds
from pyarrow import parquet
from store import numbered_samples, tar_of
from torch.distributed.checkpoint._fsspec_filesystem import FsspecReader, FsspecWriter

import leat
import leat.webdataset


@pytest.fixture(scope="module")
def options(store):
    access, secret = store.node.key
    return {
        "endpoint": store.node.url,
        "access_key": access,
        "secret_key": secret,
        "region": store.node.region,
    }


@pytest.fixture(scope="module", autouse=True)
def registered():
    """As the entry point of an installed package does it."""
    fsspec.register_implementation("leat", "leat.fs.LeatFileSystem", clobber=True)


@pytest.fixture(scope="module")
def bucket(store):
    return store.make_bucket("files")


def test_fsspec_reads_writes_lists_and_removes(bucket, options):
    fs = fsspec.filesystem("leat", **options)
    fs.pipe({f"{bucket}/a/1": b"one", f"{bucket}/a/2": b"two", f"{bucket}/b": b"three"})
    assert fs.cat_file(f"leat://{bucket}/a/1") == b"one"
    assert fs.cat_file(f"{bucket}/b", -3) == b"ree"
    assert fs.cat_ranges([f"{bucket}/a/1", f"{bucket}/b"], [0, 1], [2, 3]) == [b"on", b"hr"]
    assert fs.ls(f"{bucket}/", detail=False) == [f"{bucket}/a", f"{bucket}/b"]
    assert fs.find(bucket) == [f"{bucket}/a/1", f"{bucket}/a/2", f"{bucket}/b"]
    assert fs.info(f"{bucket}/a")["type"] == "directory"
    assert fs.isfile(f"{bucket}/b")
    assert not fs.exists(f"{bucket}/c")
    assert fs.glob(f"{bucket}/a/*") == [f"{bucket}/a/1", f"{bucket}/a/2"]
    assert fs.modified(f"{bucket}/b") is not None
    with fs.open(f"{bucket}/w", "wb") as file:
        file.write(b"written")
    with fs.open(f"{bucket}/w", "rt") as file:
        assert file.read() == "written"
    fs.mv(f"{bucket}/w", f"{bucket}/moved")
    assert not fs.exists(f"{bucket}/w")
    fs.rm(f"{bucket}/a", recursive=True)
    assert fs.find(bucket) == [f"{bucket}/b", f"{bucket}/moved"]
    with pytest.raises(FileNotFoundError):
        fs.open(f"{bucket}/nothing")


def test_fsspec_never_mixes_two_versions_of_an_object(bucket, options):
    fs = fsspec.filesystem("leat", **options)
    fs.pipe_file(f"{bucket}/replaced", b"old" * 1000)
    with fs.open(f"{bucket}/replaced", block_size=300) as file:
        assert file.read(3) == b"old"
        fs.pipe_file(f"{bucket}/replaced", b"new" * 1000)
        file.seek(2000)
        with pytest.raises(leat.Conflict):
            file.read()


def test_fsspec_passes_on_every_option_of_connect():
    names = [name for name in inspect.signature(leat.connect).parameters if name != "endpoint"]
    given = {name: f"some {name}" for name in names}
    fs = fsspec.filesystem("leat", endpoint="http://nowhere", use_listings_cache=False, **given)
    assert fs.session._options == {"endpoint": "http://nowhere", **given}


def test_a_transaction_of_fsspec_stores_all_files_at_its_end(bucket, options):
    fs = fsspec.filesystem("leat", **options)
    with fs.transaction:
        with fs.open(f"{bucket}/t/1", "wb") as file:
            file.write(b"one")
        with fs.open(f"{bucket}/t/2", "w") as file:
            file.write("two")
        left_open = fs.open(f"{bucket}/t/3", "wb")
        left_open.write(b"three")
        fs.pipe_file(f"{bucket}/t/4", b"four")
        with pytest.raises(ZeroDivisionError), fs.open(f"{bucket}/t/5", "wb") as file:
            file.write(b"half")
            raise ZeroDivisionError
        assert fs.find(f"{bucket}/t") == []
    found = {path.rpartition("/")[2]: fs.cat_file(path) for path in fs.find(f"{bucket}/t")}
    assert found == {"1": b"one", "2": b"two", "3": b"three", "4": b"four"}
    with fs.open(f"{bucket}/t/6", "wb") as file:
        file.write(b"six")
    assert fs.exists(f"{bucket}/t/6"), "and then files are stored when they are closed"


def test_a_transaction_of_fsspec_that_fails_stores_nothing(bucket, options):
    fs = fsspec.filesystem("leat", **options)
    with pytest.raises(ZeroDivisionError), fs.transaction:
        fs.pipe_file(f"{bucket}/failed/1", b"one")
        with fs.open(f"{bucket}/failed/2", "w") as file:
            file.write("two")
        raise ZeroDivisionError
    assert fs.find(f"{bucket}/failed") == []


def test_a_transaction_of_fsspec_replaces_nothing_that_is_to_be_new(bucket, options):
    fs = fsspec.filesystem("leat", **options)
    fs.pipe_file(f"{bucket}/new", b"first")
    with pytest.raises(leat.Conflict), fs.transaction:
        fs.pipe_file(f"{bucket}/new", b"second", mode="create")
    assert fs.cat_file(f"{bucket}/new") == b"first"


def test_pandas_and_pyarrow_read_and_write_tables(bucket, options):
    table = pandas.DataFrame({"a": range(1000), "b": [str(i) for i in range(1000)]})
    table.to_parquet(f"leat://{bucket}/t.parquet", storage_options=options)
    found = pandas.read_parquet(f"leat://{bucket}/t.parquet", storage_options=options)
    assert found.equals(table)
    fs = fsspec.filesystem("leat", **options)
    assert parquet.read_table(f"{bucket}/t.parquet", filesystem=fs, columns=["a"]).num_rows == 1000


def test_hf_datasets_stream_tables_and_shards(store, bucket, options):
    table = pandas.DataFrame({"a": range(100)})
    table.to_parquet(f"leat://{bucket}/hf.parquet", storage_options=options)
    rows = datasets.load_dataset(
        "parquet",
        data_files=f"leat://{bucket}/hf.parquet",
        storage_options=options,
        streaming=True,
        split="train",
    )
    assert [row["a"] for row in rows] == list(range(100))
    leat.put(f"{bucket}/hf.tar", tar_of([(f"{i:03}", {"txt": b"%d" % i}) for i in range(20)]))
    shards = datasets.load_dataset(
        "webdataset",
        data_files=f"leat://{bucket}/hf.tar",
        storage_options=options,
        streaming=True,
        split="train",
    )
    assert [row["txt"] for row in shards] == [str(i) for i in range(20)]


def test_webdataset_reads_and_writes_leat_urls(store, bucket):
    with (
        leat.open(f"{bucket}/w-000000.tar", "wb") as file,
        wds.TarWriter(file) as writer,
    ):
        for i in range(5):
            writer.write({"__key__": f"{i:03}", "cls": i})
    leat.put(
        f"{bucket}/w-000001.tar", tar_of([(f"{i:03}", {"cls": b"%d" % i}) for i in range(5, 10)])
    )
    ds = wds.WebDataset(f"leat://{bucket}/w-{{000000..000001}}.tar", shardshuffle=False).decode()
    assert [sample["cls"] for sample in ds] == list(range(10))


def test_torch_checkpoints_go_through_fsspec(store, bucket, options):
    saved = {"weight": torch.arange(10_000.0), "step": 7}
    path = f"leat://{bucket}/checkpoint"
    dcp.save(saved, storage_writer=FsspecWriter(path, **options), no_dist=True)
    loaded = {"weight": torch.zeros(10_000), "step": 0}
    dcp.load(loaded, storage_reader=FsspecReader(path, **options), no_dist=True)
    assert torch.equal(loaded["weight"], saved["weight"])
    with leat.open(f"{bucket}/plain.pt", "wb") as file:
        torch.save(saved, file)
    with leat.open(f"{bucket}/plain.pt") as file:
        assert torch.equal(torch.load(file)["weight"], saved["weight"])


def test_grain_takes_a_dataset_as_its_source(store, numbered):
    ds = leat.Dataset(numbered, fields=["cls"], decode={"cls": int})
    source = grain.MapDataset.source(ds).shuffle(seed=1).map(lambda sample: sample["cls"])
    found = list(source.to_iter_dataset())
    assert sorted(found) == sorted(i % 10 for i in range(1000))


def test_grain_reads_a_batch_with_one_request(store, numbered):
    """What Grain calls where it hands the reading of whole batches down to the source."""
    ds = leat.Dataset(numbered, fields=["cls"], decode={"cls": int})
    assert isinstance(ds, grain.RandomAccessDataSource)
    source = grain.MapDataset.source(ds).shuffle(seed=1).map(lambda sample: sample["cls"])
    ds[0]
    before = store.server.metric("leat_http_requests_total")
    found = [one for begin in range(0, 1000, 100) for one in batch_of(source, begin, 100)]
    requests = store.server.metric("leat_http_requests_total") - before
    assert sorted(found) == sorted(i % 10 for i in range(1000))
    assert requests <= 12, "ten batches, and what asks for the metric"


def batch_of(source, begin, count):
    return source._getitems(list(range(begin, begin + count)))


def test_jax_takes_batches(store, numbered):
    loader = leat.DataLoader(numbered, 100, decode={"cls": "int64"}, fields=["cls"], to="jax")
    total = sum(int(jax.numpy.sum(batch["cls"])) for batch in loader)
    assert total == 4500


def test_a_writer_makes_a_version_that_all_can_read(store):
    samples = numbered_samples(200)
    with leat.Writer("data/written", message="first", mix_bytes=0) as writer:
        for key, fields in samples:
            writer.write({"__key__": key, "bin": fields["bin"], "cls": int(fields["cls"])})
    assert writer.version == 1
    ds = leat.Dataset("data/written")
    assert {sample["__key__"]: sample["bin"] for sample in ds} == {
        key: fields["bin"] for key, fields in samples
    }
    assert ds.get_by_key(samples[17][0])["cls"] == b"7"


def test_a_writer_that_fails_leaves_nothing(store):
    with pytest.raises(ZeroDivisionError), leat.Writer("data/unwritten") as writer:
        writer.write({"__key__": "a", "x": b"1"})
        raise ZeroDivisionError
    with pytest.raises(leat.NotFound):
        leat.Dataset("data/unwritten")[0]
    with pytest.raises(leat.BadRequest, match="__key__"), leat.Writer("data/unwritten") as writer:
        writer.write({"x": b"1"})
