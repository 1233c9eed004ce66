import io
import struct
import tarfile

from harness.shards import Place, Samples, write_places

SAMPLES = Samples(count=5, fields={"jpg": 700, "cls": 3}, per_shard=2)


def test_a_shard_is_a_tar_that_others_read():
    for shard in range(SAMPLES.shards):
        with tarfile.open(fileobj=io.BytesIO(SAMPLES.shard_bytes(shard))) as archive:
            read = {one.name: archive.extractfile(one).read() for one in archive.getmembers()}
        assert read == {
            f"{SAMPLES.key(number)}.{name}": SAMPLES.content(number, name)
            for number in SAMPLES.numbers_in(shard)
            for name in SAMPLES.fields
        }


def test_places_are_where_the_bytes_are():
    for number in range(SAMPLES.count):
        for name in SAMPLES.fields:
            place = SAMPLES.place(number, name)
            shard = SAMPLES.shard_bytes(place.shard)
            found = shard[place.offset : place.offset + place.size]
            assert found == SAMPLES.content(number, name)


def test_the_last_shard_has_what_is_left():
    assert [len(SAMPLES.numbers_in(shard)) for shard in range(SAMPLES.shards)] == [2, 2, 1]


def test_a_large_field_begins_with_its_number_and_a_small_one_is_it():
    assert SAMPLES.content(4, "jpg")[:8] == struct.pack("<Q", 4)
    assert SAMPLES.content(4, "cls") == b"004"


def test_places_are_written_as_pread_loop_reads_them(tmp_path):
    path = write_places(tmp_path / "places", [Place(shard=1, offset=2**33, size=3)])
    assert struct.unpack("<IIQ", path.read_bytes()) == (1, 3, 2**33)
