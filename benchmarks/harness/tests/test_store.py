import json

import pytest

from harness import store
from harness.errors import BenchmarkError

GOOD = {
    "operations": 10,
    "bytes": 40960,
    "seconds": 1.0,
    "per_s": 10.0,
    "mb_per_s": 0.04,
    "latency_us": {"p50": 1.0},
    "rss_bytes": 1 << 20,
    "rss_max_bytes": 1 << 20,
}


def test_a_good_line_is_read():
    assert store.parse(json.dumps(GOOD)).per_s == 10.0


def test_a_run_that_did_nothing_is_no_run():
    with pytest.raises(BenchmarkError, match="did nothing"):
        store.parse(json.dumps(GOOD | {"operations": 0}))


def test_objects_are_named_as_the_load_generators_name_them():
    assert store.object_name(123456) == "00123/456"
    assert store.object_name(7) == "00000/007"


def test_allocated_bytes_counts_what_lies_in_folders(tmp_path):
    before = store.allocated_bytes(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"x" * 100_000)
    assert store.allocated_bytes(tmp_path) >= before + 100_000


def test_a_disk_without_room_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(BenchmarkError, match="GiB free"):
        store.need_space(tmp_path, 1 << 60)
