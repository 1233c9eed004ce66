"""`leat serve` as a store: buckets and objects on real disks, over the native API."""

import json
import os
import shutil
import signal
import subprocess
import threading
import urllib.parse

import pytest

from file_content import content
from leat_process import WAIT_SECONDS, binary, clean_environment, run_leat, wait_until

MIB = 1 << 20


class Store:
    """The native API of one server, with its token."""

    def __init__(self, server, folder):
        self.server = server
        self.bearer = f"Authorization: Bearer {(folder / 'admin-token').read_text().strip()}"

    def ask(self, request_line, fields=(), body=b""):
        return self.server.ask(request_line, [self.bearer, *fields], body)

    def make_bucket(self, name, **properties):
        body = json.dumps(properties).encode() if properties else b""
        answer = self.ask(f"PUT /_/v1/buckets/{name}", body=body)
        assert answer.status == 201, answer
        return json.loads(answer.body)

    def put(self, name, data, fields=()):
        answer = self.ask(f"PUT /_/v1/objects/{quote(name)}", fields, data)
        assert answer.status == 201, answer
        return answer

    def get(self, name, fields=()):
        return self.ask(f"GET /_/v1/objects/{quote(name)}", fields)

    def keys(self, bucket, page=1000):
        found, after = [], ""
        while True:
            answer = self.ask(f"GET /_/v1/list/{bucket}?encoding=url&max={page}&after={after}")
            assert answer.status == 200, answer
            said = json.loads(answer.body)
            found += [urllib.parse.unquote_to_bytes(one["key"]) for one in said["objects"]]
            if not said["is_truncated"]:
                return found
            after = said["next_after"]


def quote(name):
    return urllib.parse.quote(name, safe="/")


@pytest.fixture
def serve(start, tmp_path):
    """serve("a", "b") → Store on the folders a and b of this test."""
    def begin(*folders, flags=()):
        paths = [tmp_path / folder for folder in folders or ("data",)]
        return Store(start("serve", *paths, *flags), paths[0])
    return begin


def refused_start(*arguments, code, says):
    ended = run_leat(*arguments, "--listen", "127.0.0.1:0")
    assert ended.returncode == code, ended
    complaint = [line for line in ended.stderr.splitlines() if line.startswith("leat: ")]
    assert len(complaint) == 1 and says in complaint[0], ended.stderr
    return ended


def test_the_lines_that_the_start_prints_work_as_they_are(serve, tmp_path):
    store = serve()
    store.server.wait_for_output(rb"\^C drains")
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "cat.jpg").write_bytes(content(100_000))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "leat").symlink_to(binary())
    printed = store.server.output().partition("  next ")[2].partition("  ^C")[0]
    lines = [line.strip() for line in printed.splitlines()]
    assert len(lines) == 3
    ended = subprocess.run(
        ["sh", "-ec", "\n".join(lines)], cwd=tmp_path, capture_output=True, text=True,
        env=clean_environment(PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}", HOME=str(tmp_path)),
        timeout=WAIT_SECONDS)
    assert ended.returncode == 0, (lines, ended)
    assert "photos/train@1 committed" in ended.stderr
    packed = store.keys("photos")
    assert any(content(100_000) in store.get(b"photos/" + key).body for key in packed), packed


def test_a_tour(serve):
    store = serve()
    store.make_bucket("photos", undo_window_ms=3_600_000)
    put = store.put("photos/cats/tom.jpg", b"meow", ["Content-Type: image/jpeg",
                                                      "x-leat-meta-owner: jerry"])
    assert put.field("x-leat-durability") == "sync"
    got = store.get("photos/cats/tom.jpg")
    assert (got.status, got.body) == (200, b"meow")
    assert got.field("content-type") == "image/jpeg"
    assert got.field("x-leat-meta-owner") == "jerry"
    assert got.field("etag") == put.field("etag")
    assert store.get("photos/cats/tom.jpg", ["Range: bytes=1-2"]).body == b"eo"
    listed = json.loads(store.ask("GET /_/v1/list/photos?delimiter=/").body)
    assert (listed["groups"], listed["objects"]) == (["cats/"], [])
    assert store.ask("POST /_/v1/objects/photos/copy?copy=photos/cats/tom.jpg").status == 201
    assert store.ask("DELETE /_/v1/objects/photos/cats/tom.jpg").status == 204
    assert store.get("photos/cats/tom.jpg").status == 404
    assert store.get("photos/copy").body == b"meow"
    assert store.ask("POST /_/v1/objects/photos/cats/tom.jpg?undelete").status == 200
    assert store.get("photos/cats/tom.jpg").body == b"meow"
    buckets = json.loads(store.ask("GET /_/v1/buckets").body)["buckets"]
    assert [(b["name"], b["objects"], b["bytes"]) for b in buckets] == [("photos", 2, 8)]
    assert store.ask("DELETE /_/v1/buckets/photos").status == 409


def test_everything_needs_the_token(serve):
    store = serve()
    store.make_bucket("photos")
    for line in ("GET /_/v1/buckets", "GET /_/v1/list/photos", "PUT /_/v1/objects/photos/k",
                 "GET /_/v1/objects/photos/k", "DELETE /_/v1/buckets/photos"):
        answer = store.server.ask(line)
        assert answer.status == 401, line
        assert answer.field("www-authenticate") == "Bearer"


SIZES = [0, 1, 4095, 65_536, 65_537, MIB - 1, MIB, MIB + 1, 3 * MIB + 17, 64 * MIB, 70 * MIB]


@pytest.mark.parametrize("io", ["psync", "auto"])
def test_objects_of_all_sizes_and_their_ranges(serve, io):
    store = serve(flags=["--io", io])
    store.make_bucket("sizes")
    for size in SIZES:
        data = content(size)
        put = store.put(f"sizes/{size}", data)
        assert json.loads(put.body)["size"] == size
        got = store.get(f"sizes/{size}")
        assert got.status == 200 and got.body == data, size
        for first, last in ((0, 0), (65_535, 65_536), (MIB - 1, MIB + 1), (64 * MIB - 1, 64 * MIB)):
            if last < size:
                part = store.get(f"sizes/{size}", [f"Range: bytes={first}-{last}"])
                assert (part.status, part.body) == (206, data[first:last + 1]), (size, first)


def test_a_body_of_unknown_length(serve):
    # Not a multiple of the block, so that what spills to files breaks off inside one.
    store = serve(flags=["--store-small-max-bytes", "100000"])
    store.make_bucket("chunked")
    for size in (0, 5, 99_999, 100_000, 100_001, 5 * MIB):
        data = content(size)
        pieces = [data[at:at + 70_000] for at in range(0, size, 70_000)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
        store.put(f"chunked/{size}", body + b"0\r\n\r\n", ["Transfer-Encoding: chunked"])
        assert store.get(f"chunked/{size}").body == data, size


@pytest.mark.parametrize("durability", ["sync", "group", "relaxed"])
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_a_restart_keeps_everything(serve, end, durability):
    store = serve()
    store.make_bucket("kept", undo_window_ms=3_600_000, durability=durability)
    objects = {f"k{i}".encode(): content(10 ** (i % 7), i) for i in range(40)}
    objects[b"\x00\xff/ .."] = b"odd"
    for key, data in objects.items():
        store.put(b"kept/" + key, data, ["Content-Type: text/x"])
    store.put("kept/gone", b"x")
    assert store.ask("DELETE /_/v1/objects/kept/gone").status == 204
    counted = json.loads(store.ask("GET /_/v1/buckets").body)
    store.server.signal(end)
    store.server.wait()
    again = serve()
    assert again.keys("kept", page=7) == sorted(objects)
    for key, data in objects.items():
        got = again.get(b"kept/" + key)
        assert got.body == data and got.field("content-type") == "text/x", key
    assert again.get("kept/gone").status == 404
    assert json.loads(again.ask("GET /_/v1/buckets").body) == counted
    assert again.ask("POST /_/v1/objects/kept/gone?undelete").status == 200


def test_two_disks_share_the_keys_and_keep_them_in_any_order(serve, tmp_path):
    store = serve("a", "b")
    store.make_bucket("both")
    keys = [f"k{i:03}".encode() for i in range(60)]
    for key in keys:
        store.put(b"both/" + key, key)
    disks = json.loads(store.ask("GET /_/v1/disks").body)["disks"]
    assert [disk["state"] for disk in disks] == ["ok", "ok"]
    assert len({disk["id"] for disk in disks}) == 2
    store.server.stop()
    # The token is the first folder's; what is stored is the same.
    turned = serve("b", "a")
    assert turned.keys("both") == keys
    assert all(turned.get(b"both/" + key).body == key for key in keys)
    turned.server.stop()
    # One disk alone has the bucket and a share of the keys, but nobody gets it by mistake.
    refused_start("serve", tmp_path / "b", code=4, says=f"last seen at '{tmp_path / 'a'}'")
    alone = serve("b", flags=["--allow-missing"])
    assert 10 < len(alone.keys("both")) < 50


def test_disks_are_removed_and_added_while_the_node_runs(serve, tmp_path):
    store = serve("a", "b")
    where = ["--listen", "%s:%d" % store.server.address, "--token-file",
             tmp_path / "a" / "admin-token"]
    store.make_bucket("both")
    keys = [f"k{i:03}".encode() for i in range(60)]
    for key in keys:
        store.put(b"both/" + key, key)
    store.put("both/large", content(5 * MIB))
    assert store.get("both/large").body == content(5 * MIB)

    def disk(*words):
        return run_leat("disk", *words, *where)

    assert disk("list").stdout.count("\tok\t") == 2
    removed = disk("remove", tmp_path / "b")
    assert removed.returncode == 0, removed
    kept = store.keys("both")
    assert 10 < len(kept) < 52
    assert not any(str(tmp_path / "b") in path for path in store.server.open_files())
    last = disk("remove", tmp_path / "a")
    assert last.returncode == 6 and "last disk" in last.stderr, last
    # Taken along, and brought back elsewhere.
    (tmp_path / "b").rename(tmp_path / "moved")
    store.put("both/k000", b"newer")
    back = disk("add", tmp_path / "moved")
    assert back.returncode == 0, back
    assert store.get("both/k000").body == b"newer"
    assert all(store.get(b"both/" + key).body == key for key in keys[1:])
    assert store.get("both/large").body == content(5 * MIB)
    twice = disk("add", tmp_path / "moved")
    assert twice.returncode == 6, twice
    # A new one takes part at once, also after a restart.
    assert disk("add", tmp_path / "new").returncode == 0
    for i in range(60):
        store.put(f"both/n{i}", b"x")
    shown = json.loads(disk("list", "--json").stdout)["disks"]
    assert [one["path"] for one in shown] == [str(tmp_path / n) for n in ("a", "moved", "new")]
    before = store.keys("both")
    store.server.stop()
    again = serve("new", "a", "moved")
    assert again.keys("both") == before
    assert disk("list").returncode == 7, "nobody is there"


def test_a_disk_command_that_makes_no_sense_says_what_does(serve, tmp_path):
    store = serve()
    where = ["--listen", "%s:%d" % store.server.address]
    assert run_leat("disk", "frob", *where).returncode == 2
    denied = run_leat("disk", "add", tmp_path / "more", *where)
    assert denied.returncode == 5 and "--token-file" in denied.stderr, denied


def test_a_disk_of_another_node_is_refused(serve, tmp_path):
    serve("a").server.stop()
    serve("b").server.stop()
    refused_start("serve", tmp_path / "a", tmp_path / "b", code=6, says="belongs to another node")
    shutil.copytree(tmp_path / "a", tmp_path / "copy")
    refused_start("serve", tmp_path / "a", tmp_path / "copy", code=6, says="are the same disk")


def crc32c(data):
    """Castagnoli's CRC, bit by bit."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def test_a_disk_of_a_later_leat_is_refused_and_left_alone(serve, tmp_path):
    serve().server.stop()
    identity = tmp_path / "data" / "leat-disk"
    text = identity.read_text().replace("leat-disk 1", "leat-disk 2").rpartition("sum ")[0]
    identity.write_text(f"{text}sum {crc32c(text.encode()):08x}\n")
    before = identity.read_bytes()
    refused_start("serve", tmp_path / "data", code=1, says="made by a later Leat")
    assert identity.read_bytes() == before


def test_a_lost_identity_is_taken_from_its_copy_and_missed_without(serve, tmp_path):
    store = serve()
    store.make_bucket("kept")
    store.put("kept/k", b"x")
    store.server.stop()
    (tmp_path / "data" / "leat-disk").unlink()
    again = serve()
    assert again.get("kept/k").body == b"x"
    again.server.stop()
    for name in ("leat-disk", "leat-disk.copy"):
        (tmp_path / "data" / name).unlink()
    refused_start("serve", tmp_path / "data", code=8, says="its leat-disk is lost")


def test_a_second_process_on_the_same_directory_is_refused(serve, tmp_path):
    store = serve("a", "b")
    store.make_bucket("kept")
    refused_start("serve", tmp_path / "b", code=6, says="in use by another leat")
    store.put("kept/k", b"x")
    assert store.get("kept/k").body == b"x"


def test_damage_is_an_error_and_never_wrong_bytes(serve, tmp_path):
    store = serve()
    store.make_bucket("kept")
    store.put("kept/small", b"s" * 1000)
    store.put("kept/first", b"F" * (2 * MIB))
    store.put("kept/last", b"L" * (2 * MIB))
    store.server.stop()
    damaged = 0
    for path in (tmp_path / "data").rglob("*"):
        if path.suffix == ".seg" or path.parent.parent.name == "files":
            data = bytearray(path.read_bytes())
            at = max(data.find(b"s" * 100), data.find(b"F" * 100), data.rfind(b"L" * 100)) + 50
            data[at] ^= 1
            path.write_bytes(data)
            damaged += 1
    assert damaged == 3
    again = serve()
    for key in ("small", "first"):
        answer = again.get(f"kept/{key}")
        assert answer.status == 500 and json.loads(answer.body)["error"] == "corrupt"
    # The head is out before the damage further on is met: the connection breaks.
    with again.server.connect() as connection:
        connection.send(connection.head("GET /_/v1/objects/kept/last", [again.bearer]))
        rest = connection.rest()
    assert b" 200 " in rest[:20] and len(rest) < 2 * MIB
    assert set(rest.partition(b"\r\n\r\n")[2]) <= {ord("L")}
    # Whoever looks after the disk is told which object it was, and where.
    folder = str(tmp_path / "data")
    for key in ("small", "first", "last"):
        wait_until(lambda: any(line.get("key") == key and line.get("disk") == folder
                               and line.get("bucket") == "kept" and "error" in line
                               for line in map(json.loads, again.server.log().splitlines())),
                   f"the log names {key}")
    told = json.loads(again.server.ask("GET /_/v1/disks", [again.bearer]).body)["disks"][0]
    assert told["damaged"] == ["kept/first", "kept/last", "kept/small"]
    shown = run_leat("disk", "list", "--json", "--listen", "%s:%d" % again.server.address)
    assert "kept/first" in json.loads(shown.stdout)["disks"][0]["damaged"], shown
    counted = f'leat_disk_damaged_reads_total{{disk="{folder}"}} 3\n'
    wait_until(lambda: counted.encode() in again.server.ask("GET /metrics").body,
               "the metrics count the reads that met damage")


def test_sixteen_writers_share_syncs_and_lose_nothing(serve):
    store = serve()
    store.make_bucket("many")
    store.make_bucket("race")
    failures, winners = [], []

    def write(writer):
        try:
            with store.server.connect() as connection:
                for i in range(20):
                    name, data = f"{writer}/{i}", content(5000 * (i % 4) + writer, i)
                    answer = connection.ask(f"PUT /_/v1/objects/many/{name}", [store.bearer], data)
                    assert answer.status == 201, answer
                    first = connection.ask(f"PUT /_/v1/objects/race/{i}",
                                           [store.bearer, "If-None-Match: *"], b"%d" % writer)
                    assert first.status in (201, 412), first
                    if first.status == 201:
                        winners.append((i, writer))
        except Exception as error:  # noqa: BLE001 - told to the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(store.keys("many", page=50)) == 320
    for writer in range(16):
        for i in range(20):
            assert store.get(f"many/{writer}/{i}").body == content(5000 * (i % 4) + writer, i)
    # Of those who wanted to be first, one was, and its bytes are there.
    assert sorted(i for i, _ in winners) == list(range(20))
    for i, writer in winners:
        assert store.get(f"race/{i}").body == b"%d" % writer


def test_a_client_that_leaves_in_the_middle_stores_nothing(serve, tmp_path):
    store = serve()
    store.make_bucket("kept")
    store.put("kept/k", b"old")
    for size in (1000, 5 * MIB):
        with store.server.connect() as connection:
            head = connection.head("PUT /_/v1/objects/kept/k",
                                   [store.bearer, f"Content-Length: {size + 1}"])
            connection.send(head, b"n" * size)
        wait_until(lambda: not list((tmp_path / "data" / "incoming").iterdir()),
                   "what was written is removed")
        assert store.get("kept/k").body == b"old"


def test_metrics_of_a_store_satisfy_promtool(serve):
    store = serve("a", "b")
    store.make_bucket("kept")
    store.put("kept/k", b"x")
    text = store.server.ask("GET /metrics").body
    for state in ("ok", "full", "failed"):
        assert f'state="{state}"'.encode() in text
    for name in ("total_bytes", "available_bytes", "objects", "object_bytes",
                 "quarantined_objects", "damaged_reads_total", "read_errors_total"):
        assert f"\nleat_disk_{name}{{disk=".encode() in text
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")
