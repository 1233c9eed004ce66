"""How well epochs are mixed: what Leat's own ingest and order make of data that is sorted.

In the shape of ImageNet, 1000 classes one after the other, and small: a block is a shard of 64 KiB,
so that some hundred blocks are there, of which a window takes as many as it takes of real ones.
"""

import statistics

import pytest
from leat_process import run_leat
from store import block_counts

import leat

CLASSES = 1000
PER_CLASS = 20
SAMPLE_BYTES = 1024  # in a tar
WINDOW = 256 << 20  # 64 blocks


def written(name, mix_bytes):
    """Samples of a class stand together when they are written."""
    with leat.Writer(name, shard_bytes=64 << 10, mix_bytes=mix_bytes, seed=1) as writer:
        for number in range(CLASSES * PER_CLASS):
            label = number // PER_CLASS
            writer.add(f"{label:04}/{number:06}", {"cls": str(label).encode()})
    return leat.Dataset(name)


@pytest.fixture(scope="module")
def mixed(store):
    """As leat.Writer mixes it with a tenth of the data in its memory."""
    store.connect()
    made = written("data/mixed", CLASSES * PER_CLASS * SAMPLE_BYTES // 10)
    assert len(block_counts(made)) > 200
    return made


def test_sorted_data_is_mixed_about_as_well_as_by_a_full_shuffle(mixed):
    reports = [leat.shuffle_report(mixed, window=WINDOW, seed=seed) for seed in range(8)]
    for report in reports:
        assert (report.samples, report.labels) == (CLASSES * PER_CLASS, CLASSES)
        assert report.shuffle == "block"
        assert report.inflation <= 1.2, report
    # One pair of epochs deviates by about 1 / sqrt(blocks); several show that it is chance.
    assert abs(statistics.mean(report.correlation for report in reports)) < 0.05
    assert max(abs(report.correlation) for report in reports) < 0.25


def test_a_report_tells_what_lacks_mixing(store):
    sorted_by_class = written("data/unmixed", 0)
    bad = leat.shuffle_report(sorted_by_class, window=WINDOW)
    assert bad.inflation > 2
    assert "clusters" in str(bad)
    worst = leat.shuffle_report(sorted_by_class, shuffle=False)
    assert worst.inflation > 10
    assert worst.correlation == pytest.approx(1)
    good = leat.shuffle_report(sorted_by_class, shuffle="full")
    assert good.inflation <= 1.2
    assert abs(good.correlation) < 0.05
    assert "as good as" in str(good)


def test_a_folder_that_is_put_is_mixed_with_any_window(store, tmp_path):
    """Five files a class; the label is the folder."""
    for label in range(CLASSES):
        folder = tmp_path / f"photos/{label:04}"
        folder.mkdir(parents=True)
        for number in range(5):
            (folder / f"{number}.bin").write_bytes(b"%d %d" % (label, number))
    ended = run_leat(
        "put",
        tmp_path / "photos",
        "data/photos",
        "--shard-size=1MiB",
        environment=store.environment(),
    )
    assert ended.returncode == 0, ended.stderr
    report = leat.shuffle_report("data/photos", window="4MiB")
    assert (report.samples, report.labels) == (5 * CLASSES, CLASSES)
    assert report.inflation <= 1.2, report


def test_a_report_of_a_subset_is_of_the_subset(mixed):
    few = mixed.filter(where={"cls": lambda label: int(label) < 10})
    report = leat.shuffle_report(few, batch_size=20, shuffle="full")
    assert (report.samples, report.labels) == (10 * PER_CLASS, 10)
    assert report.full_shuffle_rate == pytest.approx(19 / 199)
    # In the order of the keys instead of that of the rows: numbers of samples are the subset's.
    by_key = mixed.subset(sorted(few.rows, key=lambda row: mixed.key(row)))
    again = leat.shuffle_report(by_key, batch_size=20, shuffle="full")
    assert again == report
    labels = [number // PER_CLASS for number in range(10 * PER_CLASS)]
    assert leat.shuffle_report(by_key, labels=labels, batch_size=20, shuffle="full") == report
    with pytest.raises(leat.BadRequest, match="3 labels for 200 samples"):
        leat.shuffle_report(few, labels=[1, 2, 3])


def test_without_labels_there_is_no_report(store):
    name = store.make_dataset([("a", {"x": b"1"}), ("b", {"x": b"2"})])
    with pytest.raises(leat.BadRequest, match="in no folder"):
        leat.shuffle_report(name)
    with pytest.raises(leat.BadRequest, match="no field 'label'"):
        leat.shuffle_report(name, field="label")
