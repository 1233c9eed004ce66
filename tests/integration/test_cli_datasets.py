"""leat put into datasets and leat dataset …, with tar, webdataset and boto3 as the judges."""

import hashlib
import http.server
import io
import json
import os
import re
import signal
import socket
import subprocess
import tarfile
import threading

import pytest

from leat_process import WAIT_SECONDS, binary, wait_until
from test_cli_objects import Cli, noise, tree, write
from test_libleat import Liar
from test_tar_oracles import WebDataset

ODD_NAMES = ["plain.txt", "with space.jpg", "ümläut.jpg", "a+b.x", "100%.x", "q?x=1&y.z",
             "'quote\".txt", "日本語.png", "-dash.txt", "deep/er/est/file.bin", "tab\there.x",
             "star*.y", "new\nline.txt", "no_extension", "d.v1/a.b.jpg", "l" * 200 + ".long",
             "UPPER.JPG", "empty.bin"]


@pytest.fixture(scope="module")
def cli(start_for_module, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "data"
    server = start_for_module("serve", folder)
    return Cli(server, folder, tmp_path_factory.mktemp("home"))


@pytest.fixture
def name(cli, request):
    """BUCKET/NAME of a dataset that is not there yet."""
    bucket = f"b-{hashlib.md5(request.node.name.encode()).hexdigest()[:20]}"
    cli.ok("mb", bucket)
    return f"{bucket}/train"


def make_images(folder, classes=3, each=40, size=2000):
    for label in range(classes):
        for index in range(each):
            path = folder / f"class{label}" / f"{index:04}"
            write(path.with_suffix(".jpg"), noise(size + index, seed=label * 1000 + index))
            write(path.with_suffix(".json"), json.dumps({"n": index}).encode())
    return folder


def shards(cli, name):
    """The tars of a dataset, by key."""
    bucket, prefix = name.split("/", 1)
    keys = [key for key in cli.keys(bucket, f"{prefix}/") if key.endswith(".tar")]
    return {key: cli.body(bucket, key) for key in keys}


def members(archive):
    """What Python's tarfile finds, Leat's own members left out."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar
                if not member.name.startswith("__leat__/")}


def all_members(cli, name):
    found = {}
    for archive in shards(cli, name).values():
        for member, data in members(archive).items():
            assert member not in found
            found[member] = data
    return found


def info(cli, name):
    return json.loads(cli.ok("dataset", "info", name, "--json").stdout)


# Packing

@pytest.fixture(name="webdataset", scope="module")
def webdataset_process():
    started = WebDataset()
    yield started
    started.process.stdin.close()
    assert started.process.wait() == 0


def test_a_folder_becomes_a_dataset_that_tar_and_webdataset_read(cli, name, tmp_path, webdataset):
    folder = make_images(tmp_path / "in")
    done = cli.summary("put", folder, name, "--shard-size", "1MiB")
    assert (done["version"], done["samples"], done["files"], done["failed"]) == (1, 120, 240, 0)
    assert all_members(cli, name) == tree(folder)
    for key, data in shards(cli, name).items():
        path = write(tmp_path / "tars" / key.replace("/", "_"), data)
        listed = subprocess.run(["tar", "tf", path], capture_output=True, check=True, text=True)
        assert listed.stdout.splitlines()[-1] == "__leat__/index"
    seen = {}
    for path in (tmp_path / "tars").iterdir():
        samples, error = webdataset.samples(path)
        assert error is None
        seen |= {key.decode(): fields for key, fields in samples}
    assert seen == {str(path.relative_to(folder).with_suffix("")): {
        b"jpg": path.read_bytes(), b"json": path.with_suffix(".json").read_bytes()}
        for path in folder.rglob("*.jpg")}
    found = info(cli, name)
    assert (found["samples"], found["fields"]) == (120, ["jpg", "json"])


def test_the_round_trip_is_exact_with_any_names(cli, name, tmp_path):
    for index, odd in enumerate(ODD_NAMES):
        write(tmp_path / "in" / odd, b"" if odd == "empty.bin" else noise(100 * index, index))
    raw = os.fsencode(tmp_path / "in") + b"/\xff\xfe.bin"
    with open(raw, "wb") as file:
        file.write(b"no utf-8")
    done = cli.summary("put", tmp_path / "in", name)
    assert done["files"] == len(ODD_NAMES) + 1
    assert done["without_field"] == 1
    cli.ok("dataset", "get", name, tmp_path / "out")
    assert tree(tmp_path / "out") == tree(tmp_path / "in")
    with open(os.fsencode(tmp_path / "out") + b"/\xff\xfe.bin", "rb") as file:
        assert file.read() == b"no utf-8"


def test_shards_are_fetched_as_they_are(cli, name, tmp_path):
    folder = make_images(tmp_path / "in", each=10)
    cli.ok("put", folder, name)
    cli.ok("dataset", "get", name, tmp_path / "out", "--tars")
    assert [path.read_bytes() for path in sorted((tmp_path / "out").iterdir())] == list(
        shards(cli, name).values())
    assert "not empty" in cli.refused(6, "dataset", "get", name, tmp_path / "out")


def test_the_same_folder_and_seed_give_the_same_shards(cli, name, tmp_path):
    folder = make_images(tmp_path / "in")
    cli.ok("put", folder, name, "--shard-size", "1MiB")
    cli.ok("put", folder, f"{name}-2", "--shard-size", "1MiB")
    cli.ok("put", folder, f"{name}-3", "--shard-size", "1MiB", "--seed", "5")
    cli.ok("put", folder, f"{name}-4", "--shard-size", "1MiB", "--no-mix")
    one, two, three, four = (shards(cli, f"{name}{end}") for end in ("", "-2", "-3", "-4"))
    assert list(one.values()) == list(two.values())
    assert list(one.values()) != list(three.values())
    order = [key for data in four.values() for key in members(data)]
    assert order == sorted(order)
    assert [key for data in one.values() for key in members(data)] != order


def test_a_folder_that_did_not_change_makes_no_version(cli, name, tmp_path):
    folder = make_images(tmp_path / "in", each=10)
    assert cli.summary("put", folder, name)["version"] == 1
    again = cli.summary("put", folder, name)
    assert (again["version"], again["unchanged"]) == (1, True)
    write(folder / "class0" / "new.jpg", b"new")
    (folder / "class1" / "0003.jpg").unlink()
    third = cli.summary("put", folder, name)
    assert (third["version"], third["samples"]) == (2, 31)
    cli.ok("dataset", "get", name, tmp_path / "out")
    assert tree(tmp_path / "out") == tree(folder)
    cli.ok("dataset", "get", f"{name}@1", tmp_path / "old")
    assert len(tree(tmp_path / "old")) == 60
    (folder / "class0" / "new.jpg").unlink()


def test_image_folders_have_classes(cli, name, tmp_path):
    for label in ("dog", "cat", "ant"):
        for index in range(5):
            write(tmp_path / "in" / label / f"{index}.jpg", f"{label}{index}".encode())
    write(tmp_path / "in" / "notes.txt", b"outside")
    done = cli.summary("put", tmp_path / "in", name, "--layout", "imagefolder")
    assert (done["samples"], done["left_out"]["outside_of_classes"]) == (15, 1)
    (archive,) = shards(cli, name).values()
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        classes = json.load(tar.extractfile("__leat__/classes.json"))["classes"]
    assert classes == ["ant", "cat", "dog"]
    for member, data in members(archive).items():
        if member.endswith(".cls"):
            assert classes[int(data)] == member.split("/")[0]
    write(tmp_path / "more" / "dog" / "9.jpg", b"dog9")
    assert cli.summary("dataset", "append", tmp_path / "more", name, "--layout",
                       "imagefolder")["version"] == 2
    assert all_members(cli, name)["dog/9.cls"] == b"2"
    write(tmp_path / "other" / "eel" / "1.jpg", b"eel")
    assert "eel" in cli.refused(2, "dataset", "append", tmp_path / "other", name, "--layout",
                                "imagefolder")
    cli.ok("dataset", "get", f"{name}@1", tmp_path / "out")
    (tmp_path / "in" / "notes.txt").unlink()
    assert tree(tmp_path / "out") == tree(tmp_path / "in")


def test_lists_name_the_files(cli, name, tmp_path):
    folder = make_images(tmp_path / "in", each=3)
    listed = [f"class0/000{index}.jpg" for index in range(3)]
    write(folder / "list.txt", "\n".join([*listed, "class0/missing.jpg", "../x.jpg"]).encode())
    ended = cli.run("dataset", "put", "--list", folder / "list.txt", name, "--json")
    assert ended.returncode == 3
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [line["item"] for line in lines[:-1]] == ["class0/missing.jpg", "../x.jpg"]
    assert sorted(all_members(cli, name)) == listed


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_tables_make_samples_of_their_rows(cli, name, tmp_path, kind):
    make_images(tmp_path, classes=1, each=3)
    rows = [{"path": f"class0/000{index}.jpg", "label": f"{index}", "caption": 'a, "b"'}
            for index in range(3)]
    if kind == "csv":
        text = "path,label,caption\n" + "".join(
            f'{row["path"]},{row["label"]},"a, ""b"""\n' for row in rows)
    else:
        text = "".join(json.dumps(row) + "\n" for row in rows)
    write(tmp_path / f"table.{kind}", text.encode())
    done = cli.summary("dataset", "put", "--table", tmp_path / f"table.{kind}", name)
    assert (done["samples"], done["files"]) == (3, 3)
    found = all_members(cli, name)
    assert len(found) == 9
    assert found["class0/0002.cls"] == b"2"
    assert json.loads(found["class0/0002.json"]) == rows[2]
    assert found["class0/0001.jpg"] == (tmp_path / "class0/0001.jpg").read_bytes()


def make_tar(path, files):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as tar:
        for member, data in files.items():
            entry = tarfile.TarInfo(member)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return path


def test_archives_are_packed_anew(cli, name, tmp_path, webdataset):
    one = {f"{index:03}.jpg": noise(3000, index) for index in range(50)}
    two = {f"{index:03}.jpg": noise(3000, index + 100) for index in range(50)}  # the same keys
    make_tar(tmp_path / "1.tar", one)
    make_tar(tmp_path / "2.tar", two)
    done = cli.summary("dataset", "put", tmp_path / "1.tar", tmp_path / "2.tar", name)
    assert (done["samples"], done["repeated_keys"]) == (100, 50)
    (archive,) = shards(cli, name).values()
    path = write(tmp_path / "out.tar", archive)
    samples, error = webdataset.samples(path)
    assert error is None
    assert sorted(fields[b"jpg"] for _, fields in samples) == sorted(
        [*one.values(), *two.values()])
    write(tmp_path / "bad.tar", (tmp_path / "1.tar").read_bytes()[:70000])
    assert "bad.tar" in cli.refused(2, "dataset", "put", tmp_path / "bad.tar", name)


def test_a_tar_comes_from_stdin(cli, name, tmp_path):
    files = {f"{index:03}.{field}": noise(30000, index) for index in range(60)
             for field in ("cls", "jpg")}
    data = make_tar(tmp_path / "1.tar", files).read_bytes()
    done = cli.summary("dataset", "put", "-", name, "--shard-size", "1MiB", stdin=data)
    assert (done["version"], done["samples"]) == (1, 60)
    assert done["shards"] == len(shards(cli, name)) > 1
    assert all_members(cli, name) == files
    before = cli.keys(name.split("/")[0])
    assert cli.run("dataset", "put", "-", name, stdin=data[:1_000_000]).returncode == 2
    assert cli.keys(name.split("/")[0]) == before, "nothing stays of what failed"
    assert info(cli, name)["version"] == 1


@pytest.mark.parametrize("source", ["folder", "stream"])
def test_only_the_fields_that_are_asked_for_are_packed(cli, name, tmp_path, source):
    files = {f"{index:03}.{field}": noise(500, index) for index in range(20)
             for field in ("cls", "jpg", "json")} | {"only.json": b"{}"}
    flags = ("--fields", "jpg,cls", "--shard-name", "cats-{number}-{id}.tar")
    if source == "folder":
        for path, data in files.items():
            write(tmp_path / "in" / path, data)
        done = cli.summary("put", tmp_path / "in", name, *flags)
    else:
        data = make_tar(tmp_path / "in.tar", files).read_bytes()
        done = cli.summary("dataset", "put", "-", name, *flags, stdin=data)
    assert (done["samples"], done["files"], done["failed"]) == (20, 40, 0)
    assert done["left_out"]["other_fields"] == 21
    assert done["left_out"]["samples_without_fields"] == 1
    assert all_members(cli, name) == {key: data for key, data in files.items()
                                      if key.endswith((".jpg", ".cls"))}
    assert all(key.startswith("train/cats-000000-") for key in shards(cli, name))


def test_tables_also_make_only_the_fields_that_are_asked_for(cli, name, tmp_path):
    write(tmp_path / "a.jpg", b"a")
    write(tmp_path / "t.csv", b"path,label\na.jpg,3\n")
    cli.ok("dataset", "put", "--table", tmp_path / "t.csv", name, "--fields", "jpg,cls")
    assert all_members(cli, name) == {"a.jpg": b"a", "a.cls": b"3"}


# What is left out, and what fails

def test_what_is_left_out_is_counted_and_what_fails_is_told(cli, name, tmp_path):
    folder = tmp_path / "in"
    write(folder / "a.jpg", b"a")
    write(folder / "b.jpg", b"b")
    write(folder / "c.JPG", b"c")
    write(folder / "c.jpg", b"C")
    write(folder / ".hidden.jpg", b"h")
    write(folder / ".git" / "x.jpg", b"h")
    (folder / "empty").mkdir()
    os.mkfifo(folder / "pipe.jpg")
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(folder)
        listener.bind("socket.jpg")
        os.chdir("/")
    (folder / "link.jpg").symlink_to("a.jpg")
    (folder / "dangling.jpg").symlink_to("nowhere")
    (folder / "loop").symlink_to(".")
    ended = cli.run("put", folder, name, "--json")
    assert ended.returncode == 3
    *errors, done = [json.loads(line) for line in ended.stdout.splitlines()]
    assert {os.path.basename(error["item"]) for error in errors} == {"c.jpg", "dangling.jpg",
                                                                    "loop"}
    assert done["left_out"] == {"hidden": 2, "special": 2, "excluded": 0, "empty_folders": 1,
                                "outside_of_classes": 0, "other_fields": 0,
                                "samples_without_fields": 0}
    assert (done["links"], done["samples"], done["failed"]) == (2, 4, 3)
    assert all_members(cli, name) == {"a.jpg": b"a", "b.jpg": b"b", "c.JPG": b"c",
                                      "link.jpg": b"a"}
    assert cli.run("put", folder, f"{name}-2", "--hidden").returncode == 3
    assert ".git/x.jpg" in all_members(cli, f"{name}-2")


@pytest.mark.parametrize("command", [["put"], ["dataset", "put"]], ids=["put", "dataset-put"])
def test_patterns_choose_what_is_packed(cli, name, tmp_path, command):
    folder = make_images(tmp_path / "in", each=3)
    write(folder / "class0" / "raw" / "0.jpg", b"raw")
    done = cli.summary(*command, folder, name, "--include", "*.jpg", "--exclude", "raw/",
                       "--exclude", "class1/", "--layout", "imagefolder")
    assert (done["files"], done["left_out"]["excluded"]) == (6, 9 + 1 + 3)
    found = all_members(cli, name)
    assert sorted(key for key in found if key.endswith(".jpg")) == [
        f"class{label}/000{index}.jpg" for label in (0, 2) for index in range(3)]
    assert {found[f"class2/000{index}.cls"] for index in range(3)} == {b"1"}, "class1 is none"
    said = cli.refused(4, *command, folder, f"{name}-2", "--include", "*.png")
    assert "--include and --exclude leave" in said


def test_patterns_and_types_are_refused_where_they_would_do_nothing(cli, name, tmp_path):
    make_tar(tmp_path / "1.tar", {"1.jpg": b"1"})
    write(tmp_path / "in" / "1.jpg", b"1")
    write(tmp_path / "list", b"in/1.jpg")
    for source in ([tmp_path / "1.tar"], ["--list", tmp_path / "list"], ["-"]):
        said = cli.refused(2, "dataset", "put", *source, name, "--exclude", "x")
        assert "no tree" in said
    for flag in ("--content-type=x/y", "--meta=a=b"):
        assert "--objects" in cli.refused(2, "put", tmp_path / "in", name, flag)


def test_refusals_say_what_to_do(cli, name, tmp_path):
    bucket = name.split("/")[0]
    make_images(tmp_path / "in", each=1)
    assert "--objects" in cli.refused(2, "put", tmp_path / "in", bucket)
    assert "leat dataset put" in cli.refused(2, "put", tmp_path / "in", tmp_path, name)
    assert "leat mb" in cli.refused(4, "put", tmp_path / "in", "no-such-bucket/train")
    (tmp_path / "nothing").mkdir()
    assert "nothing to pack" in cli.refused(4, "put", tmp_path / "nothing", name)
    assert "imagefolder" in cli.refused(2, "put", tmp_path / "in", name, "--layout", "x")
    assert "{id}" in cli.refused(2, "put", tmp_path / "in", name, "--shard-name", "{number}.tar")
    assert "lower case" in cli.refused(2, "put", tmp_path / "in", name, "--fields", "JPG")
    assert "did you mean `leat dataset log`" in cli.refused(2, "dataset", "lgo", name)
    assert cli.run("dataset", "info", name).returncode == 4


def test_a_dry_run_changes_nothing(cli, name, tmp_path):
    make_images(tmp_path / "in", each=5)
    done = cli.summary("put", tmp_path / "in", name, "--dry-run")
    assert (done["samples"], done["version"], done["shards"]) == (15, None, 1)
    assert cli.keys(name.split("/")[0]) == []


def test_verify_reads_everything_back(cli, name, tmp_path):
    make_images(tmp_path / "in", each=5)
    assert cli.summary("put", tmp_path / "in", name, "--verify")["version"] == 1
    assert cli.summary("put", tmp_path / "in", name, "--verify")["unchanged"]
    # As large as it was, and one byte of a sample is another one.
    ((key, data),) = shards(cli, name).items()
    changed = data[:1000] + bytes([data[1000] ^ 1]) + data[1001:]
    cli.s3.put_object(Bucket=name.split("/")[0], Key=key, Body=changed)
    assert cli.summary("put", tmp_path / "in", name)["unchanged"], "nobody looked"
    assert key in cli.refused(8, "put", tmp_path / "in", name, "--verify")


# Interruptions and others

def test_a_killed_run_goes_on_where_it_was(cli, name, tmp_path):
    folder = make_images(tmp_path / "in", classes=4, each=100, size=30000)
    words = ("put", folder, name, "--shard-size", "1MiB")
    process = cli.start(*words)
    wait_until(lambda: shards(cli, name), "the first shard")
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=WAIT_SECONDS)
    assert cli.run("dataset", "info", name).returncode == 4, "no version before the commit"
    there = set(shards(cli, name))
    done = cli.summary(*words)
    assert done["shards_there"] >= len(there) > 0
    assert all_members(cli, name) == tree(folder)
    assert set(shards(cli, name)) >= there


def test_a_node_that_is_killed_meanwhile_loses_nothing(start, tmp_path):
    data = tmp_path / "data"
    server = start("serve", data)
    cli = Cli(server, data, tmp_path)
    cli.ok("mb", "bucket")
    folder = make_images(tmp_path / "in", classes=4, each=100, size=30000)
    process = cli.start("put", folder, "bucket/train", "--shard-size", "1MiB")
    wait_until(lambda: shards(cli, "bucket/train"), "the first shard")
    server.kill()
    start("serve", data, listen=cli.url.split("//")[1])
    _, told = process.communicate(timeout=3 * WAIT_SECONDS)
    assert process.returncode == 0, told
    assert all_members(cli, "bucket/train") == tree(folder)
    assert info(cli, "bucket/train")["samples"] == 400


def test_interrupting_says_how_to_go_on(cli, name, tmp_path):
    folder = make_images(tmp_path / "in", classes=4, each=100, size=30000)
    reached, released = threading.Event(), threading.Event()

    def hold_after_the_first_shard(data):
        if shards(cli, name):
            reached.set()
            released.wait(3 * WAIT_SECONDS)
        return data

    liar = Liar(cli.server.address, hold_after_the_first_shard)
    process = cli.start("put", folder, name, "--shard-size", "1MiB", LEAT_ENDPOINT=liar.url)
    assert reached.wait(3 * WAIT_SECONDS)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=WAIT_SECONDS)
    released.set()
    liar.close()
    assert process.returncode == 130
    assert b"no version was made" in told and b"again to go on" in told
    assert cli.run("dataset", "info", name).returncode == 4
    assert cli.summary("put", folder, name, "--shard-size", "1MiB")["shards_there"] > 0
    assert all_members(cli, name) == tree(folder)


def test_appends_beside_each_other_all_succeed(cli, name, tmp_path):
    folders = []
    for writer in range(4):
        folder = tmp_path / f"in{writer}"
        for index in range(30):
            write(folder / f"w{writer}-{index}.bin", noise(500, writer * 100 + index))
        folders.append(folder)
    running = [cli.start("dataset", "append", folder, name) for folder in folders]
    for process in running:
        _, told = process.communicate(timeout=3 * WAIT_SECONDS)
        assert process.returncode == 0, told
    found = info(cli, name)
    assert (found["version"], found["samples"]) == (4, 120)
    # Again: it is there already.
    cli.ok("dataset", "append", folders[0], name)
    assert info(cli, name)["version"] == 4


def test_of_puts_beside_each_other_each_wins_or_is_told(cli, name, tmp_path):
    for writer in range(3):
        write(tmp_path / f"in{writer}" / f"{writer}.bin", b"x")
    cli.ok("put", tmp_path / "in0", name)
    running = [cli.start("put", tmp_path / f"in{writer}", name) for writer in (1, 2)]
    codes = []
    for process in running:
        process.communicate(timeout=3 * WAIT_SECONDS)
        codes.append(process.returncode)
    assert set(codes) <= {0, 6} and 0 in codes
    found = info(cli, name)
    assert (found["version"], found["samples"]) == (1 + codes.count(0), 1)


def test_files_that_change_meanwhile_take_their_sample_out(cli, name, tmp_path):
    folder = tmp_path / "in"
    for index in range(50):
        for field in ("jpg", "txt"):
            write(folder / f"{index:02}.{field}", noise(1000, index))

    def change_before_packing(data):
        # The first answer tells what the dataset holds: everything is planned, nothing is read.
        if not changed:
            changed.append(data)
            write(folder / "13.jpg", noise(1001, 13))  # grown
            write(folder / "14.txt", noise(1000, 99))  # as large as before
            (folder / "15.jpg").unlink()
        return data

    changed = []
    liar = Liar(cli.server.address, change_before_packing)
    ended = cli.run("put", folder, name, "--json", LEAT_ENDPOINT=liar.url)
    liar.close()
    assert ended.returncode == 3, ended
    *errors, done = [json.loads(line) for line in ended.stdout.splitlines()]
    assert sorted(error["item"] for error in errors) == [
        str(folder / changed) for changed in ("13.jpg", "14.txt", "15.jpg")]
    assert (done["samples"], done["failed"]) == (47, 3)
    assert all_members(cli, name) == {key: data for key, data in tree(folder).items()
                                      if key[:2] not in ("13", "14", "15")}
    # The next run takes them as they are now.
    assert cli.summary("put", folder, name)["samples"] == 50
    cli.ok("dataset", "get", name, tmp_path / "out")
    assert tree(tmp_path / "out") == tree(folder)


def test_files_that_cannot_be_read_take_their_sample_out(cli, name, tmp_path):
    folder = tmp_path / "in"
    for index in range(50):
        write(folder / f"{index:02}.jpg", noise(1000, index))
    unreadable = folder / "13.jpg"
    # Root reads everything: the kernel is made to refuse.
    traced = subprocess.run(
        ["strace", "-f", "-qq", "-e", "trace=openat2", "-e", "inject=openat2:error=EACCES",
         "-P", str(unreadable), "-o", "/dev/null", str(binary()), "put", str(folder), name,
         "--json"],
        env=cli.environment(), capture_output=True, timeout=3 * WAIT_SECONDS)
    assert traced.returncode == 3, traced
    *errors, done = [json.loads(line) for line in traced.stdout.splitlines()]
    assert [error["item"] for error in errors] == [str(unreadable)]
    assert (done["samples"], done["failed"]) == (49, 1)
    found = all_members(cli, name)
    assert len(found) == 49 and "13.jpg" not in found
    # The next run finds it readable, and the version is complete.
    assert cli.summary("put", folder, name)["samples"] == 50
    assert all(tree(folder)[key] == data for key, data in found.items())


# Versions

def test_versions_are_listed_compared_tagged_and_restored(cli, name, tmp_path):
    write(tmp_path / "one" / "a.txt", b"a")
    write(tmp_path / "one" / "b.txt", b"b")
    write(tmp_path / "two" / "c.txt", b"c")
    cli.ok("put", tmp_path / "one", name, "-m", "first")
    cli.ok("dataset", "append", tmp_path / "two", name, "-m", "second")
    log = json.loads(cli.ok("dataset", "log", name, "--json").stdout)
    assert [(one["version"], one["message"], one["samples"]) for one in log] == [
        (2, "second", 3), (1, "first", 2)]
    assert cli.ok("dataset", "log", name).stdout.startswith(b"@2\t")
    diff = json.loads(cli.ok("dataset", "diff", f"{name}@1", "--json").stdout)
    assert (diff["added"], diff["removed"]) == (1, 0)
    assert cli.ok("dataset", "diff", f"{name}@1", f"{name}@2").stdout == b"added\tc\n"
    cli.ok("dataset", "tag", f"{name}@1", "best")
    assert cli.ok("dataset", "tag", name).stdout == b"best\t@1\n"
    assert info(cli, f"{name}@best")["samples"] == 2
    cli.ok("dataset", "restore", f"{name}@best")
    found = info(cli, name)
    assert (found["version"], found["samples"], found["tags"]) == (3, 2, {"best": 1})
    cli.ok("dataset", "tag", name, "best", "--delete")
    assert cli.ok("dataset", "tag", name).stdout == b""
    assert cli.ok("dataset", "ls", name).stdout == b"a\nb\n"
    assert cli.ok("dataset", "head", name, "-n", "1").stdout == b"a\ttxt 1 B\n"
    bucket = name.split("/")[0]
    assert cli.ok("dataset", "ls", bucket).stdout.decode() == f"{name}\n"
    cli.ok("dataset", "rm", name, "--yes")
    assert cli.ok("dataset", "ls", bucket).stdout == b""
    assert shards(cli, name), "shards stay"


def test_stored_tars_become_a_version(cli, name, tmp_path):
    bucket = name.split("/")[0]
    for number in (1, 2):
        path = make_tar(tmp_path / f"{number}.tar", {f"{number}.txt": b"x"})
        cli.ok("put", path, f"{bucket}/tars/{number}.tar")
    cli.ok("dataset", "create", name)
    assert cli.run("dataset", "create", name).returncode == 6
    cli.ok("dataset", "commit", name, "--add", "tars/1.tar", "--add", "tars/2.tar", "-m", "both")
    assert info(cli, name)["samples"] == 2
    cli.ok("dataset", "commit", name, "--delete", "1", "--base", "1")
    assert cli.ok("dataset", "ls", name).stdout == b"2\n"
    cli.ok("dataset", "get", name, tmp_path / "out")
    assert tree(tmp_path / "out") == {"2.txt": b"x"}, "deleted samples do not come back"
    assert cli.run("dataset", "commit", name, "--delete", "2", "--base", "1").returncode == 6
    assert "--add" in cli.refused(2, "dataset", "commit", name)


def test_lint_names_what_readers_stumble_over(cli, name, tmp_path):
    path = make_tar(tmp_path / "1.tar", {"a.jpg": b"x", "a.cls": b"1", "b.jpg": b"x", "b.cls": b"2",
                                         "c.jpg": b"x", "README": b"x"})
    bucket = name.split("/")[0]
    cli.ok("put", path, f"{name}/1.tar")
    cli.ok("dataset", "create", name)
    cli.ok("dataset", "commit", name, "--add", "train/1.tar")
    told = cli.ok("dataset", "lint", name).stdout.decode().splitlines()
    assert [line.split("\t")[:3] for line in told if "field_missing" in line] == [
        ["field_missing", "train/1.tar", "c"]]
    assert ["member_ignored", "train/1.tar", "README"] in [line.split("\t")[:3] for line in told]
    cli.ok("rm", f"{bucket}/train/1.tar")
    ended = cli.run("dataset", "lint", name)
    assert ended.returncode == 8
    assert b"shard_missing\ttrain/1.tar\t" in ended.stdout


def test_vacuum_tells_what_it_removed(cli, name, tmp_path):
    for number in (1, 2, 3):
        write(tmp_path / f"{number}" / f"{number}.txt", b"x")
        cli.ok("put", tmp_path / f"{number}", name)
    cli.ok("dataset", "tag", f"{name}@1", "best")
    told = cli.ok("dataset", "vacuum", name, "--keep", "0s", "--dry-run").stderr.decode()
    assert told.startswith("would remove 1 versions, ")
    assert info(cli, f"{name}@2")["samples"] == 1
    assert cli.ok("dataset", "vacuum", name, "--keep", "0s").stderr.startswith(
        b"removed 1 versions, ")
    assert cli.run("dataset", "get", f"{name}@2", tmp_path / "gone").returncode == 4
    assert cli.ok("dataset", "vacuum", name, "--keep", "0s", "-q").stderr == b""
    for version in (1, 3):
        cli.ok("dataset", "get", f"{name}@{version}", tmp_path / f"out{version}")
        assert tree(tmp_path / f"out{version}") == {f"{version}.txt": b"x"}


def test_deleted_samples_come_back_neither_as_files_nor_in_tars(cli, name, tmp_path, webdataset):
    folder = make_images(tmp_path / "in", classes=2, each=10)
    cli.ok("put", folder, name)
    whole = list(shards(cli, name).values())
    cli.ok("dataset", "commit", name, "--delete", "class0/0003", "--delete", "class1/0000")
    cli.ok("dataset", "get", name, tmp_path / "files")
    kept = {key: data for key, data in tree(folder).items()
            if not key.startswith(("class0/0003.", "class1/0000."))}
    assert tree(tmp_path / "files") == kept
    cli.ok("dataset", "get", name, tmp_path / "tars", "--tars")
    (path,) = sorted((tmp_path / "tars").iterdir())
    assert members(path.read_bytes()) == kept
    samples, error = webdataset.samples(path)
    assert error is None and len(samples) == 18
    # What a version has all of is fetched as it is stored.
    cli.ok("dataset", "get", f"{name}@1", tmp_path / "old", "--tars")
    assert [path.read_bytes() for path in sorted((tmp_path / "old").iterdir())] == whole


def test_plain_objects_that_were_adopted_are_fetched_again(cli, name, tmp_path):
    folder = make_images(tmp_path / "in", classes=2, each=10)
    write(folder / "class0" / "UPPER.JPG", b"upper")
    bucket = name.split("/")[0]
    cli.ok("put", "--objects", folder, f"{bucket}/raw")
    told = cli.ok("dataset", "adopt", name, "--prefix", "raw/", "--objects").stderr.decode()
    assert told.startswith("adopted 41 objects, passed over 0\n") and "21 samples" in told
    cli.ok("dataset", "get", name, tmp_path / "files")
    assert tree(tmp_path / "files") == tree(folder)
    cli.ok("dataset", "get", name, tmp_path / "tars", "--tars")
    found = {}
    for path in (tmp_path / "tars").iterdir():
        found |= members(path.read_bytes())
    assert found == tree(folder)
    cli.ok("dataset", "commit", name, "--delete", "class0/0003")
    cli.ok("dataset", "get", name, tmp_path / "less")
    assert tree(tmp_path / "less") == {key: data for key, data in tree(folder).items()
                                       if not key.startswith("class0/0003.")}


def test_stored_tars_are_adopted_in_place(cli, name, tmp_path):
    bucket = name.split("/")[0]
    for number in (1, 2):
        path = make_tar(tmp_path / f"{number}.tar", {f"{number}.txt": b"x"})
        cli.ok("put", path, f"{bucket}/tars/{number}.tar")
    adopted = json.loads(cli.ok("dataset", "adopt", name, "--prefix", "tars/", "--json").stdout)
    assert (adopted["adopted"], adopted["version"], adopted["samples"]) == (2, 1, 2)
    assert cli.ok("dataset", "ls", name).stdout == b"1\n2\n"
    cli.ok("dataset", "get", name, tmp_path / "out", "--tars")
    assert [path.read_bytes() for path in sorted((tmp_path / "out").iterdir())] == [
        (tmp_path / f"{number}.tar").read_bytes() for number in (1, 2)]


def test_a_shard_that_was_replaced_is_not_taken_for_the_committed_one(cli, name, tmp_path):
    path = make_tar(tmp_path / "1.tar", {"1.txt": b"x"})
    cli.ok("put", path, f"{name}/1.tar")
    cli.ok("dataset", "adopt", name)
    cli.ok("put", make_tar(tmp_path / "2.tar", {"1.txt": b"y"}), f"{name}/1.tar", "--force")
    assert "another one" in cli.refused(6, "dataset", "get", name, tmp_path / "out", "--tars")


def test_a_change_whose_answer_was_lost_is_made_once(cli, name, tmp_path):
    dropped = []

    def lose_the_first(data):
        is_first = b'"late"' in data and not dropped
        if is_first:
            dropped.append(data)
        return b"" if is_first else data

    write(tmp_path / "in" / "a.txt", b"a")
    write(tmp_path / "in" / "b.txt", b"b")
    cli.ok("put", tmp_path / "in", name)
    liar = Liar(cli.server.address, lose_the_first)
    far = {"LEAT_ENDPOINT": liar.url}
    for words in (("commit", name, "--delete", "a"), ("restore", f"{name}@1")):
        dropped.clear()
        cli.ok("dataset", *words, "-m", "late", **far)
        assert dropped
    liar.close()
    found = info(cli, name)
    assert (found["version"], found["samples"]) == (3, 2)


class Nonsense(http.server.BaseHTTPRequestHandler):
    """A service whose answers are JSON, and nothing that was agreed."""

    protocol_version = "HTTP/1.1"

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.dumps({"version": "seven", "versions": 3, "page": [3], "tags": ["x"],
                           "datasets": [1], "fields": 5, "problems": [[]], "counts": 1,
                           "adopted": -1, "shards": [{}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_DELETE = answer

    def log_message(self, *_):
        pass


def test_answers_that_make_no_sense_are_errors(cli, tmp_path):
    write(tmp_path / "in" / "a.txt", b"a")
    calls = [("dataset", "info", "b/n"), ("dataset", "info", "b/n", "--json"),
             ("dataset", "ls", "b"), ("dataset", "ls", "b/n"), ("dataset", "head", "b/n"),
             ("dataset", "log", "b/n"), ("dataset", "diff", "b/n@1"), ("dataset", "lint", "b/n"),
             ("dataset", "commit", "b/n", "--delete", "a"), ("dataset", "adopt", "b/n"),
             ("dataset", "tag", "b/n"), ("dataset", "tag", "b/n", "best"),
             ("dataset", "restore", "b/n@1"), ("dataset", "vacuum", "b/n"),
             ("dataset", "get", "b/n", tmp_path / "out"), ("put", tmp_path / "in", "b/n")]
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Nonsense) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for words in calls:
            ended = cli.run(*words, LEAT_ENDPOINT="http://127.0.0.1:%d" % server.server_port)
            assert ended.returncode > 0, (words, ended)
            assert re.search(b"unexpected|no description", ended.stderr), (words, ended)
        server.shutdown()


def test_texts_that_are_no_utf8_are_replaced_and_names_refused(cli, name, tmp_path):
    folder = tmp_path / os.fsdecode(b"\xff")
    write(folder / "a.txt", b"a")
    cli.ok("put", folder, name)
    assert info(cli, name)["message"] == f"put {tmp_path}/\ufffd"
    odd = os.fsdecode(b"\xff")
    cli.ok("dataset", "restore", f"{name}@1", "-m", odd)
    assert info(cli, name)["message"] == "\ufffd"
    assert "UTF-8" in cli.refused(2, "dataset", "commit", name, "--delete", odd)
