"""`leat share`: the bytes of a folder, whole and unmixed, whatever happens to the folder."""

import hashlib
import os
import threading

import pytest

from file_content import content, make_cold, make_file
from leat_process import run_leat, wait_until

KIB, MIB = 1 << 10, 1 << 20
SIZES = [0, 1, 4096, 32 * KIB - 1, 32 * KIB, 32 * KIB + 1, MIB, 20 * MIB]


@pytest.fixture(params=["psync", "uring"])
def io(request):
    return request.param


@pytest.fixture
def writable(start, tmp_path):
    return start("share", tmp_path, "--writable")


def uploads(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(".leat-upload-")]


def no_uploads_left(folder):
    wait_until(lambda: not uploads(folder), "unfinished uploads are removed")


# Reading.

def test_every_size_comes_back_as_it_is(start, tmp_path, io):
    server = start("share", tmp_path, "--io", io)
    for size in SIZES:
        make_file(tmp_path / f"f{size}", size)
    with server.connect() as connection:
        for size in SIZES:
            answer = connection.ask(f"GET /f{size}")
            assert (answer.status, answer.field("content-length")) == (200, str(size))
            assert answer.body == content(size)


@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
def test_cold_and_warm_files_give_the_same_bytes(start, tmp_path, io, warm):
    size = 20 * MIB + 123
    data = make_file(tmp_path / "f", size)
    was_cold = make_cold(tmp_path / "f") and not warm
    if warm:
        (tmp_path / "f").read_bytes()
    server = start("share", tmp_path, "--io", io)
    with server.connect() as connection:
        for first, last in [(0, 0), (4095, 4096), (MIB - 1, 3 * MIB), (size - 5000, size - 1)]:
            if was_cold:
                make_cold(tmp_path / "f")
            answer = connection.ask("GET /f", [f"Range: bytes={first}-{last}"])
            assert (answer.status, answer.body) == (206, data[first:last + 1])
        if was_cold:
            make_cold(tmp_path / "f")
        for _ in range(3):
            assert connection.ask("GET /f").body == data
    if was_cold:
        assert server.metric("leat_http_cold_read_bytes_total") >= size
    if warm:
        assert server.metric("leat_http_cold_read_bytes_total") == 0


def test_a_file_that_is_half_cached(start, tmp_path, io):
    size = 12 * MIB
    data = make_file(tmp_path / "f", size)
    make_cold(tmp_path / "f")
    with open(tmp_path / "f", "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        file.seek(5 * MIB)
        file.read(3 * MIB)
    server = start("share", tmp_path, "--io", io)
    for _ in range(2):
        assert server.ask("GET /f").body == data


@pytest.mark.parametrize("name, path", [
    ("with space", "/with%20space"),
    ("100%", "/100%25"),
    ("%41", "/%2541"),
    ("a+b", "/a+b"),
    ("plus and space +", "/plus%20and%20space%20%2B"),
    ("größe-数据-🙂", "/gr%C3%B6%C3%9Fe-%E6%95%B0%E6%8D%AE-%F0%9F%99%82"),
    ("semi;colon&amp=1", "/semi;colon&amp=1"),
    ("question?", "/question%3F"),
    ("hash#", "/hash%23"),
    ("new\nline", "/new%0Aline"),
    ("..hidden", "/..hidden"),
    ("back\\slash", "/back%5Cslash"),
    ("x" * 255, "/" + "x" * 255),
    ("deep/er/file", "/deep/er/file"),
    ("deep/er/file2", "/deep%2Fer%2Ffile2"),
])
def test_odd_names(start, tmp_path, name, path):
    make_file(tmp_path / name, 100)
    server = start("share", tmp_path, "--writable")
    assert server.ask(f"GET {path}").body == content(100)
    assert server.ask(f"PUT {path}", body=b"new").status == 200
    assert (tmp_path / name).read_bytes() == b"new"
    assert server.ask(f"DELETE {path}").status == 204
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("path", ["/", "/sub", "/sub/", "//f", "/./f", "/sub/../f", "/%2e%2e/f",
                                  "/sub/..%2ff", "/f/", "/f/x", "/%00", "/f%00", "/" + "y" * 256,
                                  "/.leat-upload-0000000000000000"])
def test_what_is_no_file_is_not_found(start, tmp_path, path):  # abuse case 35
    (tmp_path / "sub").mkdir()
    make_file(tmp_path / "f", 10)
    make_file(tmp_path / ".leat-upload-0000000000000000", 10)
    server = start("share", tmp_path)
    assert server.ask(f"GET {path}").status in (400, 404)


def test_links_are_followed_inside_the_folder_only(start, tmp_path):
    shared, outside = tmp_path / "shared", tmp_path / "outside"
    make_file(shared / "sub" / "real", 100)
    make_file(outside / "secret", 100, seed="secret")
    (shared / "inside").symlink_to("sub/real")
    (shared / "inside-folder").symlink_to("sub")
    (shared / "relative").symlink_to("../outside/secret")
    (shared / "absolute").symlink_to(outside / "secret")
    (shared / "absolute-inside").symlink_to(shared / "sub" / "real")
    (shared / "folder").symlink_to(outside)
    (shared / "loop").symlink_to("loop")
    (shared / "self").symlink_to("/proc/self")
    server = start("share", shared, "--writable")
    assert server.ask("GET /inside").body == content(100)
    assert server.ask("GET /inside-folder/real").body == content(100)
    for name in ("relative", "absolute", "absolute-inside", "folder/secret", "loop",
                 "self/environ"):
        assert server.ask(f"GET /{name}").status == 404
    assert server.ask("PUT /folder/planted", body=b"x").status >= 400
    assert server.ask("DELETE /folder/secret").status >= 400
    assert [path.name for path in outside.iterdir()] == ["secret"]


def test_special_files_are_not_served(start, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    make_file(tmp_path / "f", 10)
    server = start("share", tmp_path, "--io-threads", "1")
    for _ in range(3):
        assert server.ask("GET /pipe").status == 404
    assert server.ask("GET /f").status == 200


def test_a_change_behind_our_back_is_noticed(start, tmp_path):
    for size in (100, MIB):
        make_file(tmp_path / f"f{size}", size)
    server = start("share", tmp_path, "--cores", "1")  # each core looks for itself
    for size in (100, MIB):
        before = server.ask(f"GET /f{size}")
        make_file(tmp_path / "new", size, seed="new")
        os.rename(tmp_path / "new", tmp_path / f"f{size}")
        wait_until(lambda: server.ask(f"GET /f{size}").body == content(size, "new"), "the new one")
        assert server.ask(f"GET /f{size}").field("etag") != before.field("etag")
        os.remove(tmp_path / f"f{size}")
        wait_until(lambda: server.ask(f"GET /f{size}").status == 404, "that it is gone")


def test_a_file_that_shrinks_while_it_is_sent_breaks_the_answer_off(start, tmp_path):
    size = 32 * MIB
    make_file(tmp_path / "f", size)
    server = start("share", tmp_path, "--cores", "1")  # each core looks for itself
    connection = server.connect()
    connection.send(connection.head("GET /f"))
    assert connection.answer_head()[1] == 200
    os.truncate(tmp_path / "f", MIB)
    assert len(connection.rest()) < size
    assert server.metric("leat_http_broken_responses_total") == 1
    wait_until(lambda: server.ask("HEAD /f").field("content-length") == str(MIB), "the new size")
    assert server.ask("GET /f").body == content(size)[:MIB]


def test_many_files_need_no_more_descriptors_than_there_are(start, tmp_path):
    """More large files than descriptors, read on connections that stay."""
    for number in range(100):
        make_file(tmp_path / f"f{number}", 40 * KIB, seed=number)
    server = start("share", tmp_path, "--cores", "1", "--io", "psync",
                   wrapper=["prlimit", "--nofile=48:64"])
    with server.connect() as connection:
        for _ in range(2):
            for number in range(100):
                answer = connection.ask(f"GET /f{number}")
                assert (answer.status, answer.body) == (200, content(40 * KIB, number))
    assert '"descriptors_max":64' in server.log()
    assert server.descriptors() <= 64


# Writing.

def test_a_put_makes_and_then_replaces(start, tmp_path, io):
    server = start("share", tmp_path, "--writable", "--io", io)
    with server.connect() as connection:
        for size in SIZES:
            made = connection.ask(f"PUT /f{size}", body=content(size, "old"))
            assert (made.status, made.field("x-leat-durability")) == (201, "sync")
            assert (tmp_path / f"f{size}").read_bytes() == content(size, "old")
            assert connection.ask(f"GET /f{size}").body == content(size, "old")
            assert connection.ask(f"PUT /f{size}", body=content(size, "new")).status == 200
            assert connection.ask(f"GET /f{size}").body == content(size, "new")
    assert uploads(tmp_path) == []


def test_folders_are_made_on_the_way(writable, tmp_path):
    assert writable.ask("PUT /a/b/c/f", body=b"x").status == 201
    assert (tmp_path / "a/b/c/f").read_bytes() == b"x"
    assert writable.ask("PUT /a/b/g", body=b"y").status == 201
    assert writable.ask("PUT /a/b", body=b"z").status == 409, "a folder is not replaced"
    assert writable.ask("PUT /a/b/g/h", body=b"z").status == 409, "a file is no folder"
    assert (tmp_path / "a/b/g").read_bytes() == b"y"
    no_uploads_left(tmp_path)


def test_deleting(writable, tmp_path):
    make_file(tmp_path / "f", 100)
    assert writable.ask("GET /f").status == 200
    assert writable.ask("DELETE /f").status == 204
    assert [writable.ask(f"{method} /f").status for method in ("GET", "DELETE")] == [404, 404]
    (tmp_path / "folder").mkdir()
    assert writable.ask("DELETE /folder").status == 404
    assert (tmp_path / "folder").is_dir()


def deleted_but_open(server):
    """Files that have no name any more and whose space the server still holds."""
    links = []
    for number in os.listdir(f"/proc/{server.pid}/fd"):
        try:
            links.append(os.readlink(f"/proc/{server.pid}/fd/{number}"))
        except FileNotFoundError:  # closed in between
            pass
    return [link for link in links if link.endswith(" (deleted)") and "/f" in link]


def test_removed_and_replaced_files_are_closed_by_every_core(start, tmp_path):
    server = start("share", tmp_path, "--writable", "--cores", "2")
    for name in ("f-removed", "f-replaced", "f-behind"):
        make_file(tmp_path / name, MIB)
        for _ in range(20):  # of the kernel's choice: both cores, almost certainly
            assert server.ask(f"GET /{name}").status == 200
    assert server.ask("DELETE /f-removed").status == 204
    assert server.ask("PUT /f-replaced", body=b"new").status == 200
    os.remove(tmp_path / "f-behind")
    assert deleted_but_open(server), "the one behind its back, at least"
    wait_until(lambda: not deleted_but_open(server), "they are closed")


@pytest.mark.parametrize("framing", ["Content-Length: 3000000", "Transfer-Encoding: chunked"])
def test_an_upload_that_is_cut_leaves_nothing(writable, tmp_path, framing):
    make_file(tmp_path / "kept", 100)
    for name in ("kept", "fresh", "in/a/folder"):
        connection = writable.connect()
        connection.send(connection.head(f"PUT /{name}", [framing]), b"100000\r\n", content(MIB))
        wait_until(lambda: uploads(tmp_path), "the upload has begun")
        connection.close()
        no_uploads_left(tmp_path)
    assert writable.ask("GET /kept").body == content(100)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_leftovers_of_a_crash_are_removed_at_the_next_start(start, tmp_path):
    first = start("share", tmp_path, "--writable")
    connection = first.connect()
    connection.send(connection.head("PUT /f", ["Content-Length: 100"]), b"half")
    wait_until(lambda: uploads(tmp_path), "the upload has begun")
    first.kill()
    assert len(uploads(tmp_path)) == 1
    start("share", tmp_path).stop()
    assert len(uploads(tmp_path)) == 1, "a folder that is shared read-only is not touched"
    start("share", tmp_path, "--writable")
    assert uploads(tmp_path) == []


def test_a_folder_has_one_writable_share(start, writable, tmp_path):
    connection = writable.connect()
    connection.send(connection.head("PUT /f", ["Content-Length: 8"]), b"half")
    wait_until(lambda: uploads(tmp_path), "the upload has begun")
    second = run_leat("share", tmp_path, "--writable", "--listen", "127.0.0.1:0")
    assert second.returncode == 6, second
    assert "is shared --writable by another leat process" in second.stderr
    assert len(uploads(tmp_path)) == 1, "the upload of the first is not a leftover"
    start("share", tmp_path).stop()  # readers may be many
    connection.send(b"half")
    assert connection.answer().status == 201


def test_readers_keep_the_version_they_opened(writable, tmp_path):
    size = 32 * MIB
    make_file(tmp_path / "f", size, seed="old")
    slow = writable.connect()
    slow.send(slow.head("GET /f"))
    assert slow.answer_head()[1] == 200
    beginning = slow.take(MIB)
    assert writable.ask("PUT /f", body=content(size, "new")).status == 200
    assert writable.ask("GET /f").body == content(size, "new")
    assert writable.ask("DELETE /f").status == 204
    assert beginning + slow.take(size - MIB) == content(size, "old")


def test_concurrent_writers_leave_one_whole_version(writable, tmp_path):
    versions = [content(MIB, seed) for seed in range(4)]
    digests = {hashlib.sha256(version).digest() for version in versions}
    seen, failures = set(), []

    def write(version):
        with writable.connect() as connection:
            for _ in range(5):
                if connection.ask("PUT /f", body=version).status not in (200, 201):
                    failures.append("a PUT failed")
                answer = connection.ask("GET /f")
                seen.add(hashlib.sha256(answer.body).digest())

    threads = [threading.Thread(target=write, args=[version]) for version in versions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert seen <= digests
    assert hashlib.sha256((tmp_path / "f").read_bytes()).digest() in digests
    no_uploads_left(tmp_path)


def test_a_read_only_share_refuses_changes(start, tmp_path):
    make_file(tmp_path / "f", 100)
    server = start("share", tmp_path)
    for request in ("PUT /f", "PUT /g", "DELETE /f"):
        assert server.ask(request, body=b"").status == 405
    assert (tmp_path / "f").read_bytes() == content(100)
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("fields", [[], ["Host: example.com"], ["Origin: http://example.com"],
                                    ["X-Forwarded-For: 10.0.0.1"]])
def test_changes_need_the_token_even_on_this_machine(writable, tmp_path, fields):
    """A proxy here that adds no field of its own looks like a person here."""
    make_file(tmp_path / "f", 100)
    for token in (None, "0" * 32):
        with writable.connect(token=token) as connection:
            for request in ("PUT /f", "PUT /g", "DELETE /f"):
                assert connection.ask(request, fields).status == 401
            assert connection.ask("GET /f", fields).status == 200
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
    assert writable.ask("PUT /f", fields, b"new").status == 200


def test_the_token_may_come_from_a_file(start, tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "token").write_text("a-token-of-one-word\n")
    server = start("share", tmp_path / "shared", "--writable", "--token-file", tmp_path / "token",
                   announces_token=False)
    assert "a-token-of-one-word" not in server.output() + server.log()
    assert server.ask("PUT /f", body=b"x").status == 401
    with server.connect(token="a-token-of-one-word") as connection:
        assert connection.ask("PUT /f", body=b"x").status == 201
