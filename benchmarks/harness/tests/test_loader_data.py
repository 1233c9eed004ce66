from pathlib import Path

from harness.loader_data import range_of, stored_bytes


def test_a_range_names_the_first_and_the_last_shard():
    tars = [Path(f"/data/shard-{number:06}.tar") for number in range(12)]
    assert range_of(tars) == "shard-{000000..000011}.tar"
    assert range_of(tars[:1]) == "shard-{000000..000000}.tar"


def test_bytes_of_objects_are_told_from_the_index(tmp_path):
    for name in ("index/000001.sst", "segments/1", "files/ab/2", "files/ab/empty"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"" if name.endswith("empty") else b"x")
    found = {str(path.relative_to(tmp_path)) for path in stored_bytes(tmp_path)}
    assert found == {"segments/1", "files/ab/2"}
