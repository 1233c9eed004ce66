"""Trees of objects: patterns, nothing below a prefix, folders that consoles made, buckets that go
with all that is in them."""

import hashlib

import pytest

from test_cli_objects import Cli, tree, write


@pytest.fixture(scope="module")
def cli(start_for_module, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "data"
    server = start_for_module("serve", folder)
    return Cli(server, folder, tmp_path_factory.mktemp("home"))


@pytest.fixture
def bucket(cli, request):
    name = f"b-{hashlib.md5(request.node.name.encode()).hexdigest()[:20]}"
    cli.ok("mb", name)
    return name


NAMES = ["a.jpg", "a.txt", "raw/b.jpg", "raw/.git/config", "2026/c.jpg", "2026/deep/d.tmp"]


@pytest.fixture
def folder(tmp_path):
    for name in NAMES:
        write(tmp_path / "in" / name, name.encode())
    return tmp_path / "in"


@pytest.mark.parametrize("flags, expected", [
    (["--include", "*.jpg"], ["2026/c.jpg", "a.jpg", "raw/b.jpg"]),
    (["--exclude", ".git/", "--exclude", "*.tmp"], ["2026/c.jpg", "a.jpg", "a.txt", "raw/b.jpg"]),
    (["--include", "2026/**"], ["2026/c.jpg", "2026/deep/d.tmp"]),
    (["--include", "*.jpg", "--exclude", "raw/"], ["2026/c.jpg", "a.jpg"]),
])
@pytest.mark.parametrize("command", [["put", "--objects"], ["sync"]], ids=["put", "sync"])
def test_patterns_choose_what_is_sent(cli, bucket, folder, command, flags, expected):
    cli.ok(*command, folder, bucket, *flags)
    assert cli.keys(bucket) == expected


def test_patterns_choose_what_is_fetched_copied_moved_and_removed(cli, bucket, folder, tmp_path):
    cli.ok("put", "--objects", folder, f"{bucket}/in")
    cli.ok("get", "-r", f"{bucket}/in", tmp_path / "out", "--include", "*.jpg")
    assert sorted(tree(tmp_path / "out")) == ["2026/c.jpg", "a.jpg", "raw/b.jpg"]
    cli.ok("cp", "-r", f"{bucket}/in", f"{bucket}/copy", "--exclude", "*.jpg")
    assert cli.keys(bucket, "copy/") == ["copy/2026/deep/d.tmp", "copy/a.txt",
                                         "copy/raw/.git/config"]
    cli.ok("mv", "-r", f"{bucket}/copy", f"{bucket}/moved", "--include", "*.txt")
    assert cli.keys(bucket, "moved/") == ["moved/a.txt"]
    assert cli.keys(bucket, "copy/") == ["copy/2026/deep/d.tmp", "copy/raw/.git/config"]
    cli.ok("rm", "-r", f"{bucket}/in", "--yes", "--exclude", "*.jpg")
    assert cli.keys(bucket, "in/") == ["in/2026/c.jpg", "in/a.jpg", "in/raw/b.jpg"]


def test_sync_with_delete_leaves_alone_what_is_excluded(cli, bucket, folder):
    for key in ("keep.log", "raw/keep.log", "extra.jpg"):
        cli.s3.put_object(Bucket=bucket, Key=key, Body=b"x")
    cli.ok("sync", folder, bucket, "--delete", "--exclude", "*.log", "--exclude", ".git/")
    assert cli.keys(bucket) == ["2026/c.jpg", "2026/deep/d.tmp", "a.jpg", "a.txt", "keep.log",
                                "raw/b.jpg", "raw/keep.log"]
    # A filter that leaves nothing of the source must not empty the target.
    assert "--yes" in cli.refused(4, "sync", folder, bucket, "--delete", "--include", "*.log")
    assert "keep.log" in cli.keys(bucket)


def test_sync_with_delete_says_what_it_did_not_remove(cli, bucket, folder):
    cli.ok("put", "--objects", folder, bucket)
    for name in ("x/extra", "y/extra"):
        cli.s3.put_object(Bucket=bucket, Key=name, Body=b"")
    (folder / "b-dangling").symlink_to("nowhere")
    ended = cli.run("sync", folder, bucket, "--delete")
    assert ended.returncode == 3
    assert b"2 that the source does not have were not removed" in ended.stderr, ended
    assert {"x/extra", "y/extra"} < set(cli.keys(bucket))
    (folder / "b-dangling").unlink()
    assert cli.summary("sync", folder, bucket, "--delete")["removed"] == 2


def test_patterns_are_for_trees(cli, bucket, folder):
    said = cli.refused(2, "put", folder / "a.jpg", f"{bucket}/", "--include", "*.jpg")
    assert "no tree" in said
    cli.s3.put_object(Bucket=bucket, Key="a", Body=b"x")
    assert "-r" in cli.refused(2, "get", f"{bucket}/a", folder / "x", "--exclude", "b")
    assert "-r" in cli.refused(2, "rm", f"{bucket}/a", "--exclude", "b")
    assert "[x" in cli.refused(2, "put", "--objects", folder, bucket, "--include", "[x")
    assert "[x" in cli.refused(2, "put", folder, f"{bucket}/x", "--include", "[x")


@pytest.mark.parametrize("words", [
    ["get", "-r", "{bucket}/none", "{out}"], ["cp", "-r", "{bucket}/none", "{bucket}/other"],
    ["mv", "-r", "{bucket}/none", "{bucket}/other"], ["rm", "-r", "{bucket}/none", "--yes"],
    ["put", "--objects", "{empty}", "{bucket}/x"], ["put", "{empty}", "{bucket}/x"]])
def test_nothing_below_a_prefix_is_no_success(cli, bucket, tmp_path, words):
    (tmp_path / "empty").mkdir()
    names = {"bucket": bucket, "out": tmp_path / "out", "empty": tmp_path / "empty"}
    said = cli.refused(4, *(word.format(**names) for word in words))
    assert "nothing is below" in said
    if words[0] != "put":
        assert f"leat ls {bucket}/" in said


def test_sync_of_nothing_says_so(cli, bucket, tmp_path):
    ended = cli.ok("sync", f"{bucket}/none", tmp_path / "out")
    assert b"nothing is below" in ended.stderr


@pytest.fixture
def console(cli, bucket):
    """A bucket with folders as consoles make them."""
    for key, body in (("p/", b""), ("p/empty/", b""), ("p/full/", b""), ("p/full/a", b"a")):
        cli.s3.put_object(Bucket=bucket, Key=key, Body=body)
    return bucket


def test_folders_of_consoles_are_shown(cli, console):
    shown = cli.ok("ls", "-q", f"{console}/p/").stdout.decode().split()
    assert shown == ["p/", "p/empty/", "p/full/"]
    assert cli.ok("ls", "-rq", console).stdout.decode().split() == cli.keys(console)


def test_folders_of_consoles_become_folders(cli, console, tmp_path):
    for command in (["get", "-r"], ["sync"]):
        out = tmp_path / command[0]
        cli.ok(*command, f"{console}/p", out)
        assert (out / "empty").is_dir() and tree(out) == {"full/a": b"a"}
    assert cli.summary("sync", f"{console}/p", tmp_path / "sync")["failed"] == 0


def test_folders_of_consoles_are_moved(cli, console, tmp_path):
    cli.ok("mv", "-r", f"{console}/p", tmp_path / "out")
    assert cli.keys(console) == [] and (tmp_path / "out/empty").is_dir()


def test_folders_of_consoles_are_copied_and_removed(cli, console):
    cli.ok("cp", "-r", f"{console}/p", f"{console}/q")
    assert cli.keys(console, "q/") == ["q/", "q/empty/", "q/full/", "q/full/a"]
    cli.ok("mb", f"{console}-2")
    cli.ok("cp", "-r", f"{console}/p", f"{console}-2")
    assert cli.keys(f"{console}-2") == ["empty/", "full/", "full/a"]
    cli.ok("rm", "-r", f"{console}/q", "--yes")
    assert cli.keys(console) == ["p/", "p/empty/", "p/full/", "p/full/a"]


def test_sync_of_files_leaves_folders_of_consoles_alone(cli, console, tmp_path):
    write(tmp_path / "in/b", b"b")
    cli.ok("sync", tmp_path / "in", f"{console}/p", "--delete")
    assert cli.keys(console) == ["p/", "p/b", "p/empty/", "p/full/"]


def test_a_folder_cannot_hold_bytes(cli, bucket, tmp_path):
    cli.s3.put_object(Bucket=bucket, Key="x/", Body=b"bytes")
    cli.s3.put_object(Bucket=bucket, Key="a", Body=b"a")
    said = cli.refused(3, "get", "-r", bucket, tmp_path / "out")
    assert "stands for a folder" in said
    cli.s3.put_object(Bucket=bucket, Key="../", Body=b"")
    cli.refused(3, "get", "-r", bucket, tmp_path / "out")
    cli.ok("get", f"{bucket}/x/", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"bytes"


def versions(cli, bucket):
    page = cli.s3.list_object_versions(Bucket=bucket)
    return page.get("Versions", []) + page.get("DeleteMarkers", [])


def test_rb_takes_versions_markers_and_uploads_with_it(cli, bucket):
    cli.ok("bucket", "set", bucket, "versioning=enabled")
    for i in range(3):
        cli.s3.put_object(Bucket=bucket, Key="a", Body=b"%d" % i)
    cli.s3.put_object(Bucket=bucket, Key="odd\rname", Body=b"x")
    cli.s3.delete_object(Bucket=bucket, Key="a")
    cli.s3.create_multipart_upload(Bucket=bucket, Key="unfinished")
    assert "--force" in cli.refused(6, "rb", bucket)
    said = cli.refused(2, "rb", "--force", bucket)
    assert "versions" in said and "--yes" in said
    assert b"unfinished" in cli.ok("rb", "--force", "--dry-run", bucket).stdout
    assert len(versions(cli, bucket)) == 5
    cli.ok("rb", "--force", "--yes", bucket)
    assert bucket not in cli.ok("ls", "-q").stdout.decode().split()


def test_rb_takes_many_versions_with_it(cli, bucket):
    cli.ok("bucket", "set", bucket, "versioning=enabled")
    for i in range(1100):
        cli.s3.put_object(Bucket=bucket, Key=f"k{i % 10}", Body=b"")
    cli.ok("rb", "--force", "--yes", bucket)
    assert bucket not in cli.ok("ls", "-q").stdout.decode().split()


def test_rb_of_a_plain_bucket_takes_uploads_with_it(cli, bucket):
    cli.s3.put_object(Bucket=bucket, Key="a", Body=b"a")
    cli.s3.create_multipart_upload(Bucket=bucket, Key="unfinished")
    cli.ok("rb", "--force", "--yes", bucket)
    assert bucket not in cli.ok("ls", "-q").stdout.decode().split()
