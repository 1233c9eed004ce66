"""Leat's tar scanner, writer and sample names beside tarfile, libarchive, GNU tar and webdataset.

Of every archive that another program wrote: Leat lists it, and the same as the others. Of every one
that was damaged: Leat refuses it, or lists the same as the others. Leat is stricter than they are;
when, says src/format/tar/README.md.
"""

import io
import json
import os
import random
import subprocess
import tarfile

import pytest
from leat_process import need
from s3_client import installed
from tar_oracles import BLOCK, leat_lists, libarchive_entries, run_tool, tarfile_members

SEED = 20261116
FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}
NAME_BYTES = [byte for byte in range(1, 256) if byte != ord("/")]


def add(archive, name, data=b"", kind=tarfile.REGTYPE, mtime=0, link=""):
    member = tarfile.TarInfo(os.fsdecode(name))
    member.size, member.type, member.mtime, member.linkname = len(data), kind, mtime, link
    archive.addfile(member, io.BytesIO(data))


def random_name(dice, length):
    """Bytes of any value, some slashes, none at the end."""
    name = bytearray(dice.choice(NAME_BYTES) if dice.random() < 0.5 else ord("n")
                     for _ in range(length))
    for _ in range(dice.randrange(1 + length // 20)):
        name[dice.randrange(length)] = ord("/")
    if name[-1] == ord("/"):
        name[-1] = ord("n")
    return bytes(name)


def python_archive(path, form, dice, members=40):
    with tarfile.open(path, "w", format=form, encoding="utf-8",
                      errors="surrogateescape") as archive:
        for number in range(members):
            longest = 90 if form == tarfile.USTAR_FORMAT else dice.choice([90, 300, 5000])
            name = random_name(dice, dice.randint(1, longest))
            data = dice.randbytes(dice.choice([0, 1, 511, 512, 513, 3000]))
            kind = dice.choice([tarfile.REGTYPE] * 6 + [tarfile.DIRTYPE, tarfile.SYMTYPE,
                                                        tarfile.LNKTYPE, tarfile.FIFOTYPE])
            mtime = number + 0.5 if form == tarfile.PAX_FORMAT and number % 2 else number
            add(archive, name, data if kind == tarfile.REGTYPE else b"", kind, mtime,
                link="target" * dice.choice([1, 12]))


def expect_the_same(path, found, with_data=True):
    """Leat's listing is that of tarfile and of libarchive, offsets and data too."""
    assert found.state == "ended", found.problem
    stripped = [(name.rstrip(b"/"), *rest) for name, *rest in found.members]
    wanted = tarfile_members(path)
    assert wanted is not None, "tarfile refuses it"
    assert stripped == [(name.rstrip(b"/"), *rest) for name, *rest in wanted]
    entries = libarchive_entries(path, with_data)
    assert entries is not None, "libarchive refuses it"
    archive = path.read_bytes() if with_data else b""
    assert len(entries) == len(stripped)
    for (name, kind, _, offset, size), (other, other_kind, other_size, data) in zip(stripped,
                                                                                    entries):
        assert (name, size) == (other, other_size)
        # What no reader knows is a file to libarchive, by POSIX; to tarfile it is none. A folder of
        # an incremental archive (type D) is one to libarchive. A link to nothing is no link to it.
        assert kind == other_kind or (kind, other_kind) in [
            ("other", "file"), ("other", "directory"), ("link", "other"), ("link", "file")]
        if with_data and size > 0:
            assert archive[offset:offset + size] == data


@pytest.mark.parametrize("form", FORMATS)
def test_archives_of_python(tmp_path, form):
    dice = random.Random(f"{SEED} {form}")
    paths = [tmp_path / f"{number}.tar" for number in range(25)]
    for path in paths:
        python_archive(path, FORMATS[form], dice)
    for path, found in zip(paths, leat_lists(paths)):
        expect_the_same(path, found)


@pytest.fixture
def tree(tmp_path):
    """Files, folders and links of all kinds, with odd names."""
    top = os.fsencode(tmp_path / "tree")
    dice = random.Random(SEED)
    os.makedirs(top + b"/sub/" + b"d" * 60 + b"/" + b"e" * 60)
    names = [b"a.jpg", b"empty", b"sub/a.cls", b"sub/\xff\xfe.bin", "sub/ж.txt".encode(),
             b"line\nfeed", b"sub/" + b"d" * 60 + b"/x.jpg"]
    for size, name in enumerate(names):
        with open(top + b"/" + name, "wb") as file:
            file.write(dice.randbytes(size * 400))
    os.symlink("a.jpg", top + b"/soft")
    os.link(top + b"/a.jpg", top + b"/zz_hard")
    os.mkfifo(top + b"/fifo")
    long_name = b"sub/" + b"d" * 60 + b"/" + b"e" * 60 + b"/" + b"n" * 200
    return top, long_name


@pytest.mark.parametrize("form", ["v7", "oldgnu", "gnu", "ustar", "posix"])
def test_archives_of_gnu_tar(tmp_path, tree, form):
    top, long_name = tree
    if form in ("oldgnu", "gnu", "posix"):
        with open(top + b"/" + long_name, "wb") as file:
            file.write(b"long")
    else:
        os.unlink(top + b"/fifo")  # v7 has none
        if form == "v7":
            os.rmdir(top + b"/sub/" + b"d" * 60 + b"/" + b"e" * 60)
    path = tmp_path / "gnu.tar"
    subprocess.run([need("tar"), f"--format={form}", "-cf", path, "-C", top, "."], check=True)
    [found] = leat_lists([path])
    expect_the_same(path, found)
    assert len(found.members) >= 12


def test_sparse_files_of_gnu_tar_are_refused(tmp_path):
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(1 << 20)
    for form in ("oldgnu", "gnu", "posix"):
        path = tmp_path / f"{form}.tar"
        subprocess.run([need("tar"), f"--format={form}", "-S", "-cf", path, "-C", tmp_path,
                        "sparse"], check=True)
        [found] = leat_lists([path])
        assert found.state == "broken"
        assert found.problem.startswith("sparse members are not supported")


def test_members_of_more_than_eight_gigabytes(tmp_path):
    size = (9 << 30) + 17
    for form in ("gnu", "pax"):
        path = tmp_path / f"{form}.tar"
        large = tarfile.TarInfo("large.bin")
        large.size = size
        with open(path, "wb") as file:
            file.write(large.tobuf(FORMATS[form]))
            file.seek(size + -size % BLOCK, os.SEEK_CUR)
            file.write(tarfile.TarInfo("small.bin").tobuf(tarfile.USTAR_FORMAT))
            file.write(bytes(2 * BLOCK))
        [found] = leat_lists([path])
        expect_the_same(path, found, with_data=False)
        assert [member[4] for member in found.members] == [size, 0]


def test_truncated_archives_are_refused(tmp_path):
    dice = random.Random(SEED)
    source = tmp_path / "whole.tar"
    for form in FORMATS.values():
        python_archive(source, form, dice, members=12)
        [whole] = leat_lists([source])
        content = source.read_bytes()
        last = whole.members[-1]
        end = last[3] + last[4] + -last[4] % BLOCK
        cuts = [*range(0, len(content), BLOCK), *(dice.randrange(len(content)) for _ in range(200))]
        paths = [tmp_path / f"cut-{cut}" for cut in cuts]
        for path, cut in zip(paths, cuts):
            path.write_bytes(content[:cut])
        for path, cut, found in zip(paths, cuts, leat_lists(paths)):
            if cut < BLOCK:
                assert found.state == "not_tar"
            elif cut < end + BLOCK:
                assert found.state == "broken" and found.problem.startswith("truncated"), cut
            else:
                expect_the_same(path, found)


def test_concatenated_archives_are_refused(tmp_path):
    dice = random.Random(SEED)
    for form in FORMATS.values():
        one = tmp_path / "one.tar"
        python_archive(one, form, dice, members=3)
        two = tmp_path / "two.tar"
        two.write_bytes(one.read_bytes() * 2)
        [found] = leat_lists([two])
        assert found.state == "broken"
        assert found.problem == ("archives were concatenated: another one begins behind the end "
                                 f"blocks (at byte {one.stat().st_size})")


def sealed(block):
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return block


def mutated(content, members, dice):
    """Some bytes of one member's headers changed, their checksums made right again."""
    content = bytearray(content)
    _, _, start, offset, _ = dice.choice(members)
    blocks = range(start, offset, BLOCK)
    for _ in range(dice.randint(1, 3)):
        at = dice.choice(blocks)
        spot = at + dice.choice([dice.randrange(BLOCK), dice.choice([0, 99, 124, 130, 135, 156, 157,
                                                                     257, 263, 345, 346])])
        content[spot] = dice.choice([content[spot] ^ (1 << dice.randrange(8)),
                                     dice.choice(b"\0\x80\xff /=.\n0123457xgLKSDVMN19 ")])
    for at in {blocks[0], blocks[-1]}:
        content[at:at + BLOCK] = sealed(content[at:at + BLOCK])
    return bytes(content)


@pytest.mark.parametrize("form", FORMATS)
def test_damaged_archives_are_refused_or_listed_as_others_do(tmp_path, form):
    dice = random.Random(f"{SEED} {form}")
    source = tmp_path / "sound.tar"
    python_archive(source, FORMATS[form], dice, members=8)
    content = source.read_bytes()
    [sound] = leat_lists([source])
    paths = [tmp_path / f"damaged-{number}" for number in range(1500)]
    for number, path in enumerate(paths):
        if number % 5 == 0:
            flipped = bytearray(content)
            flipped[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
            path.write_bytes(flipped)
        else:
            path.write_bytes(mutated(content, sound.members, dice))
    states = {}
    for path, found in zip(paths, leat_lists(paths)):
        states[found.state] = states.get(found.state, 0) + 1
        if found.state == "ended":
            expect_the_same(path, found)
    assert states["ended"] > 100 and states["broken"] > 100, states


class WebDataset:
    """webdataset in its own process, an order at a time."""

    def __init__(self):
        driver = os.path.join(os.path.dirname(__file__), "clients", "drive_shards.py")
        self.process = subprocess.Popen([installed("python", "bin", "python"), driver], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def order(self, **order):
        print(json.dumps(order), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        assert line, "webdataset ended"
        return json.loads(line)

    def samples(self, path):
        """([(key, {field: data})…], the error that ended it)"""
        answer = self.order(read=str(path))
        return [(bytes.fromhex(key), {bytes.fromhex(field): bytes.fromhex(data)
                                      for field, data in fields.items()})
                for key, fields in answer["samples"]], answer["error"]


@pytest.fixture(scope="module")
def webdataset():
    started = WebDataset()
    yield started
    started.process.stdin.close()
    assert started.process.wait() == 0


def samples_by_index(path, found):
    content = path.read_bytes()
    return [(key, {field: content[at:at + size] for field, at, size in fields})
            for key, _, fields in found.samples]


ODD_NAMES = [
    b"d.v1/a.b.jpg", b"d.v1/a", b"a", b".hidden.jpg", b"d/.hidden.jpg", b"d.x/.h.jpg", b"a..jpg",
    b"./a.jpg", b"A.JPG", b"__x__/a.jpg", b"__x__", b"__leat__/index", b"a.", b"x\ny/c.jpg",
    b"x.y\nz/d.jpg", b"__a.b__\n", b"__a.b__", b"d/__x__/a.jpg", b"a//.x", b"\xff.bin", b"..",
    b"..x", b"a.jpg\n", b"\n.x", b"/.x", b"a/b\nc/d.e", b"k.\xc3\xa9",
]


def test_webdataset_splits_odd_names_the_same(tmp_path, webdataset):
    dice = random.Random(SEED)
    names = ODD_NAMES + [bytes(dice.choice(b"ab._/\n") for _ in range(dice.randint(1, 9))) + b"x"
                         for _ in range(1500)]
    path = tmp_path / "odd.tar"
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        for number, name in enumerate(names):
            add(archive, name, str(number).encode())
            add(archive, b"between/%d.x" % number)
    [found] = leat_lists([path])
    expect_the_same(path, found)
    samples, error = webdataset.samples(path)
    assert error is None
    assert samples_by_index(path, found) == samples


def test_shards_of_webdataset(tmp_path, webdataset):
    path = tmp_path / "wds.tar"
    samples = [(f"{number:06}", {"cls": b"%d" % number, "jpg": bytes(number * 37),
                                 "seg.png": b"p" * number}) for number in range(50)]
    webdataset.order(write=str(path), samples=[(key, {field: data.hex()
                                                      for field, data in fields.items()})
                                               for key, fields in samples])
    [found] = leat_lists([path])
    expect_the_same(path, found)
    wanted = [(key.encode(), {field.encode(): data for field, data in fields.items()})
              for key, fields in samples]
    assert samples_by_index(path, found) == wanted
    assert webdataset.samples(path) == (wanted, None)


def test_webdataset_stops_where_the_index_has_a_field_twice(tmp_path, webdataset):
    for names in ([b"a.jpg", b"a.JPG"], [b"a.__key__"], [b"a.x", b"a/b", b"a.x"]):
        path = tmp_path / "twice.tar"
        with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
            for name in names:
                add(archive, name)
        [found] = leat_lists([path])
        assert [twice for _, twice, _ in found.samples] == [True]
        _, error = webdataset.samples(path)
        assert "duplicate file name" in error


def packed(members):
    lines = "".join(f"{name.hex()} {data.hex()}\n" for name, data in members)
    return run_tool("leat_tar_pack", input=lines.encode())


def test_shards_of_leat_are_read_by_all(tmp_path, webdataset):
    dice = random.Random(SEED)
    members = [(b"%04d.%s" % (number // 2, field), dice.randbytes(dice.choice([0, 1, 512, 700])))
               for number in range(40) for field in [(b"cls", b"jpg")[number % 2]]]
    members += [(b"long/" + random_name(dice, length), b"x" * (length % 600))
                for length in (95, 96, 99, 100, 101, 150, 254, 255, 256, 300, 1000, 5000)]
    path = tmp_path / "leat.tar"
    path.write_bytes(packed(members))
    [found] = leat_lists([path])
    expect_the_same(path, found)
    assert [member[0] for member in found.members] == [name for name, _ in members] + [
        b"__leat__/index"]
    samples, error = webdataset.samples(path)
    assert error is None
    assert samples_by_index(path, found) == samples
    listed = subprocess.run([need("tar"), "--quoting-style=literal", "-tf", path], check=True,
                            capture_output=True).stdout
    assert listed == b"".join(member[0] + b"\n" for member in found.members)
    # The same members, the same bytes.
    assert path.read_bytes() == packed(members)
