"""libleat.so, by ctypes, against a real server."""

import ctypes
import io
import json
import os
import re
import signal
import socket
import struct
import subprocess
import tarfile
import threading

import pytest

from leat_process import ROOT, WAIT_SECONDS, need, wait_until
from libleat import LibLeat, LibLeatError, library_path
from s3_node import REGION, Node

SAMPLES = 3000
PER_SHARD = 700


def text_of(row):
    return b"sample %d " % row + b"x" * (row * 37 % 3000)


def shard(first, last):
    """A tar of samples; every seventh lacks its label."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for row in range(first, last):
            fields = {"txt": text_of(row)} | ({} if row % 7 == 3 else {"cls": b"%d" % row})
            for field, data in fields.items():
                member = tarfile.TarInfo(f"{row:06d}.{field}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


@pytest.fixture(scope="module")
def library():
    assert library_path().exists(), f"{library_path()} is not built: target leat_shared"
    return LibLeat()


class Site:
    """A server with one dataset."""

    def __init__(self, library, folder, start):
        self.library, self.folder, self.start = library, folder, start
        self.server = start("serve", folder)
        self.listen = "{}:{}".format(*self.server.address)
        self.key = Node(self.server, folder).key
        session = self.connect()
        Node(self.server, folder).client().create_bucket(Bucket="data")
        names = []
        for first in range(0, SAMPLES, PER_SHARD):
            names.append(f"set/{first:06d}.tar")
            session.put("data/" + names[-1], shard(first, min(SAMPLES, first + PER_SHARD)))
        session.ask("PUT", "datasets/data/set")
        session.ask("POST", "datasets/data/set?commit", {"add": names})
        session.free()

    def connect(self, **options):
        access, secret = self.key
        return self.library.connect(endpoint=self.server.url, access_key=access, secret_key=secret,
                                    region=REGION, **options)

    def restart(self):
        self.server = self.start("serve", self.folder, listen=self.listen)


@pytest.fixture(scope="module")
def site(library, tmp_path_factory, start_for_module):
    return Site(library, tmp_path_factory.mktemp("node"), start_for_module)


@pytest.fixture
def session(site):
    opened = site.connect()
    yield opened
    opened.free()


@pytest.fixture
def dataset(session):
    opened = session.open("data/set")
    yield opened
    opened.free()


def check(batch, rows):
    assert batch.values("txt") == [text_of(row) for row in rows]
    assert batch.values("cls") == [None if row % 7 == 3 else b"%d" % row for row in rows]


def drain(loader, seen):
    """Reads to the end, checks every byte, and notes rows by their position."""
    for batch in loader:
        check(batch, batch.rows)
        for i, row in enumerate(batch.rows):
            assert batch.position + i not in seen, "twice"
            seen[batch.position + i] = row
    loader.free()


def test_objects(session):
    assert session.put("data/a b/ü", b"meow", content_type="text/x",
                       metadata={"owner": "tom"})["size"] == 4
    assert session.get("data/a b/ü") == b"meow"
    assert session.get("data/a b/ü", 1, 2) == b"eo"
    library = session.library
    head = library.text("leat_stat", session.handle, "data/a b/ü".encode())
    assert b'"content_type":"text/x"' in head and b'"owner":"tom"' in head
    assert b'"key":"a b/' in library.text("leat_list", session.handle, b"data/a b/", None)
    assert b'"data"' in library.text("leat_list", session.handle, b"", None)
    with pytest.raises(LibLeatError) as refused:
        session.put("data/a b/ü", b"no", if_absent=True)
    assert refused.value.status == "conflict"
    library.call("leat_remove", session.handle, "data/a b/ü".encode())
    with pytest.raises(LibLeatError) as missing:
        session.get("data/a b/ü")
    assert missing.value.status == "not_found"


def test_parts_of_one_version_of_an_object(session):
    session.put("data/parts", b"first version")
    head = json.loads(session.library.text("leat_stat", session.handle, b"data/parts"))
    part = session.part("data/parts", head["etag"], 6, 2**64 - 1)
    assert part == b"version" and session.part("data/parts", head["etag"], 0, 5) == b"first"
    session.put("data/parts", b"second version")
    with pytest.raises(LibLeatError) as replaced:
        session.part("data/parts", head["etag"], 6, 2)
    assert replaced.value.status == "conflict"


class OneAnswer:
    """A server that says the same to everybody."""

    def __init__(self, answer):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        self.answer = answer
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client:
                head = b""
                while b"\r\n\r\n" not in head and (more := client.recv(65536)):
                    head += more
                client.sendall(self.answer)

    def close(self):
        self.listener.close()


@pytest.mark.parametrize("answer,outcome", [
    (b"Content-Length: %d\r\n\r\nmeow" % (1 << 60), "too_large"),
    (b"Transfer-Encoding: chunked\r\n\r\n4\r\nmeow\r\n1\r\n!\r\n0\r\n\r\n", b"meow!"),
    (b"Connection: close\r\n\r\nmeow!", b"meow!"),
])
def test_an_object_of_an_odd_length(library, answer, outcome):
    server = OneAnswer(b'HTTP/1.1 200 OK\r\nETag: "e"\r\n' + answer)
    session = library.connect(endpoint=server.url, access_key="K", secret_key="S", retry_seconds=0)
    try:
        got = session.get("data/odd")
    except LibLeatError as error:
        got = error.status
    assert got == outcome
    session.free()
    server.close()


def test_what_is_asked_for_wrongly_is_told_with_the_nearest_name(site, session, dataset):
    for options, says in (({"batchsize": 4}, "did you mean batch_size"),
                          ({"batch_size": -1}, "batch_size"),
                          ({"batch_size": 0}, "batch_size"),
                          ({"shuffle": "blocks"}, "block, full, none"),
                          ({"fields": ["tx"]}, 'did you mean "txt"'),
                          ({"rank": 3, "world": 3}, "rank"),
                          ({"position": SAMPLES + 1}, "position"),
                          ({"decode": {"txt": {"to": "rgb8"}}}, "size"),
                          ({"decode": {"txt": {"to": "rgb8", "size": [16384, 16384]}},
                            "batch_size": 100_000}, "GiB"),
                          ({"decode": {"txt": {"to": "npy"}}}, "dtype"),
                          ({"decode": {"txt": {"to": "raw", "dtype": "int8", "shape": [3, 0]}}},
                           "above 0"),
                          ({"decode": {"txt": {"to": "raw", "dtype": "int8",
                                               "shape": [1 << 40, 1 << 40]}}}, "GiB"),
                          ({"rows": [5, 4]}, "ascend")):
        with pytest.raises(LibLeatError) as refused:
            dataset.loader(**options)
        assert refused.value.status == "bad_request" and says in refused.value.message
    with pytest.raises(LibLeatError) as missing:
        session.open("data/none")
    assert missing.value.status == "not_found"
    with pytest.raises(LibLeatError) as denied:
        stranger = site.library.connect(endpoint=site.server.url, access_key="K", secret_key="S")
        stranger.open("data/set")
    assert denied.value.status == "denied"


def test_rows_come_in_the_order_in_which_they_were_asked_for(dataset):
    rows = [2999, 0, 3, 3, 1500, 701]
    batch = dataset.rows(rows, keys=True)
    check(batch, rows)
    assert batch.rows == rows
    assert batch.keys() == [b"%06d" % row for row in rows]
    batch.free()
    labels = dataset.rows([4, 5], fields=["cls"], decode={"cls": {"to": "int64"}})
    column = labels.columns()["cls"]
    assert list(column.shape[:column.dims]) == [2]
    labels.free()
    with pytest.raises(LibLeatError) as missing:
        dataset.rows([SAMPLES])
    assert missing.value.status == "not_found"


def test_a_row_that_cannot_be_decoded_is_told_with_its_place(dataset):
    for _ in range(20):
        with pytest.raises(LibLeatError) as refused:
            dataset.rows([0, 1, 702], fields=["cls", "txt"], keys=True,
                         decode={"txt": {"to": "int64"}})
    assert refused.value.status == "decode" and "field txt" in refused.value.message
    assert refused.value.place == {"dataset": "data/set@1", "row": 0, "sample": "000000",
                                   "shard": "data/set/000000.tar", "offset": 0}


def test_a_label_that_is_lacking_is_an_error_unless_it_is_optional(dataset):
    with pytest.raises(LibLeatError) as lacking:
        dataset.rows([4, 3], fields=["cls"], decode={"cls": {"to": "int64"}})
    assert lacking.value.status == "decode" and lacking.value.place["row"] == 3
    with pytest.raises(LibLeatError) as lacking:
        drain(dataset.loader(batch_size=8, decode={"cls": {"to": "int64"}}), {})
    assert lacking.value.status == "decode" and lacking.value.place["row"] % 7 == 3
    batch = dataset.rows([4, 3], fields=["cls"],
                         decode={"cls": {"to": "int64", "optional": True}})
    column = batch.columns()["cls"]
    assert ctypes.string_at(column.data, 16) == (4).to_bytes(8, "little") + bytes(8)
    assert column.present[:2] == [1, 0]
    batch.free()


def test_arrays_come_as_dense_columns(session):
    writer = Writer(session, "data/arrays", mix_bytes=0)
    for row in range(20):
        header = b"{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n"
        data = struct.pack("<2h", row, -row)
        writer.add(b"%02d" % row, npy=b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header
                   + data, bin=data, score=b"%d.5" % row)
    writer.commit()
    writer.free()
    dataset = session.open("data/arrays")
    array = {"dtype": "int16", "shape": [2]}
    batch = dataset.rows([3, 7], decode={"npy": {"to": "npy"} | array, "bin": {"to": "raw"} | array,
                                         "score": {"to": "float32"}})
    columns = batch.columns()
    for field in ("npy", "bin"):
        assert columns[field].dtype == 6 and columns[field].shape[:2] == [2, 2]
        assert ctypes.string_at(columns[field].data, 8) == struct.pack("<4h", 3, -3, 7, -7)
    assert ctypes.string_at(columns["score"].data, 8) == struct.pack("<2f", 3.5, 7.5)
    batch.free()
    with pytest.raises(LibLeatError) as refused:
        dataset.rows([3], decode={"npy": {"to": "npy", "dtype": "int16", "shape": [3]}})
    assert refused.value.status == "decode" and "(2)" in refused.value.message
    dataset.free()


def test_a_field_whose_name_is_no_text_is_read_like_others(session):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for row in range(50):
            for field in ("txt", "jp\udce9"):
                member = tarfile.TarInfo(f"{row:06d}.{field}")
                member.size = row
                archive.addfile(member, io.BytesIO(field[:1].encode() * row))
    session.put("data/odd/0.tar", out.getvalue())
    session.ask("PUT", "datasets/data/odd")
    session.ask("POST", "datasets/data/odd?commit", {"add": ["odd/0.tar"]})
    dataset = session.open("data/odd")
    for shuffle in ("full", "block"):
        loader = dataset.loader(batch_size=7, shuffle=shuffle, tail="uneven")
        rows = []
        for batch in loader:
            rows += batch.rows
            texts = {bytes(name): column.values(len(batch))
                     for name, column in batch.named_columns().items()}
            assert texts == {name: [name[:1] * row for row in batch.rows]
                             for name in (b"txt", b"jp\xe9")}
        assert sorted(rows) == list(range(50))
        loader.free()
    dataset.free()


@pytest.mark.parametrize("shuffle", ["block", "none", "full"])
@pytest.mark.parametrize("world,workers", [(1, 1), (3, 2)])
def test_an_epoch_over_all_ranks_and_workers_is_exact(dataset, shuffle, world, workers):
    seen = {}
    for rank in range(world):
        for worker in range(workers):
            drain(dataset.loader(batch_size=32, shuffle=shuffle, seed=9, rank=rank, world=world,
                                 workers=[worker, workers], tail="uneven"), seen)
    assert sorted(seen.values()) == list(range(SAMPLES))
    order = dataset.plan(0, SAMPLES, shuffle=shuffle, seed=9)
    assert [seen[i] for i in range(SAMPLES)] == order
    assert (order == list(range(SAMPLES))) == (shuffle == "none")


def test_another_number_of_ranks_goes_on_at_a_position(dataset):
    seen = {}
    loader = dataset.loader(batch_size=10, seed=1)
    for _ in range(7):
        batch = loader.next()
        seen.update({batch.position + i: row for i, row in enumerate(batch.rows)})
        batch.free()
    loader.free()
    for rank in range(4):
        drain(dataset.loader(batch_size=8, seed=1, rank=rank, world=4, position=70,
                             tail="uneven"), seen)
    assert [seen[i] for i in range(SAMPLES)] == dataset.plan(0, SAMPLES, seed=1)


def test_an_epoch_is_exact_when_the_server_is_killed_in_its_middle(site, dataset):
    loader = dataset.loader(batch_size=20, seed=2, memory_bytes=1 << 20, tail="uneven")
    seen = {}
    first = loader.next()
    seen.update({first.position + i: row for i, row in enumerate(first.rows)})
    first.free()
    site.server.kill()
    thread = threading.Thread(target=site.restart)
    thread.start()
    drain(loader, seen)
    thread.join()
    assert [seen[i] for i in range(SAMPLES)] == dataset.plan(0, SAMPLES, seed=2)


def test_a_server_that_stays_away_is_an_error_that_says_where(library, tmp_path, start):
    own = Site(library, tmp_path / "node", start)
    session = own.connect(retry_seconds=0.2)
    dataset = session.open("data/set")
    loader = dataset.loader(batch_size=20, seed=2)
    own.server.kill()
    with pytest.raises(LibLeatError) as failed:
        drain(loader, {})
    assert failed.value.status in ("unavailable", "io")
    assert failed.value.place["dataset"] == "data/set@1" and "shard" in failed.value.place
    loader.free()
    dataset.free()
    session.free()


def test_a_node_on_the_same_machine_is_read_from_its_files(site):
    for local in (True, False):
        session = site.connect(local=local)
        dataset = session.open("data/set")
        loader = dataset.loader(batch_size=100, seed=3)
        for batch in loader:
            check(batch, batch.rows)
        fetch = loader.report()["stages"]["fetch"]
        # The last shard is too small to have a file of its own.
        assert fetch["local_bytes"] > fetch["bytes"] / 2 if local else fetch["local_bytes"] == 0
        loader.free()
        dataset.free()
        session.free()


def flip_in_file(folder, text):
    """Flips a bit where a text stands in a file of a node."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        at = path.read_bytes().find(text)
        if at >= 0 and path.stat().st_size > 1 << 20:
            with path.open("r+b") as file:
                file.seek(at)
                file.write(bytes([text[0] ^ 1]))
            return
    raise AssertionError(f"{text} is in no large file")


@pytest.mark.parametrize("local", [True, False])
def test_a_byte_that_rots_in_a_shard_is_an_error_that_names_the_sample(library, tmp_path, start,
                                                                       local):
    own = Site(library, tmp_path / "node", start)
    flip_in_file(tmp_path / "node", text_of(900))
    session = own.connect(retry_seconds=0.2, local=local)
    dataset = session.open("data/set")
    for shuffle in ("none", "full"):
        loader = dataset.loader(batch_size=20, shuffle=shuffle)
        with pytest.raises(LibLeatError) as failed:
            drain(loader, {})
        loader.free()
        # S3 knows no damage, but an internal error; files and batches do.
        is_s3 = shuffle == "none" and not local
        assert failed.value.status == ("io" if is_s3 else "corrupt"), failed.value
        place = failed.value.place
        assert place["shard"] == "data/set/000700.tar" and 700 <= place["row"] < 1400
        assert place["sample"] == "%06d" % place["row"]
        loader = dataset.loader(batch_size=20, shuffle=shuffle, tail="uneven", on_error="skip",
                                errors_max=SAMPLES,
                                decode={"cls": {"to": "int64", "optional": True}})
        rows = sorted(row for batch in loader for row in batch.rows)
        lost = sorted(set(range(SAMPLES)) - set(rows))
        assert len(set(rows)) == len(rows) and 900 in lost
        assert all(700 <= row < 1400 for row in lost)
        assert loader.report()["errors"] == len(lost), "each is counted once"
        loader.free()
    with pytest.raises(LibLeatError) as failed:
        dataset.rows([5, 900])
    assert failed.value.status == "corrupt" and failed.value.place["sample"] == "000900"
    dataset.free()
    session.free()


class Liar:
    """Passes bytes between a client and a server, and changes answers as it is told."""

    def __init__(self, target, change):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        self.target, self.change = target, change
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        server = socket.create_connection(self.target)
        threading.Thread(target=self.copy, args=(client, server, bytes), daemon=True).start()
        self.copy(server, client, self.change)

    @staticmethod
    def copy(source, target, change):
        try:
            while data := source.recv(65536):
                changed = change(data)
                target.sendall(changed)
                if len(changed) < len(data):
                    break
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()


@pytest.mark.parametrize("shuffle", ["block", "full"])
def test_an_answer_that_never_comes_is_asked_for_on_another_connection(site, shuffle):
    hangs = iter([True])
    is_over = threading.Event()

    def hang(data):
        if len(data) > 20000 and next(hangs, False):
            is_over.wait(WAIT_SECONDS)
        return data

    liar = Liar(site.server.address, hang)
    access, secret = site.key
    session = site.library.connect(endpoint=liar.url, access_key=access, secret_key=secret,
                                   region=REGION, local=False, retry_seconds=6)
    dataset = session.open("data/set")
    seen = {}
    drain(dataset.loader(batch_size=64, shuffle=shuffle, seed=3, tail="uneven"), seen)
    assert next(hangs, None) is None, "something was kept back"
    assert not is_over.is_set()
    is_over.set()
    assert sorted(seen.values()) == list(range(SAMPLES))
    dataset.free()
    session.free()
    liar.close()


def test_a_server_that_hangs_is_given_up_when_patience_ends(site):
    session = site.connect(local=False, retry_seconds=1)
    dataset = session.open("data/set")
    loader = dataset.loader(batch_size=10)
    site.server.signal(signal.SIGSTOP)
    try:
        with pytest.raises(LibLeatError) as slow:
            loader.next()
        assert slow.value.status == "timeout"
        with pytest.raises(LibLeatError) as slow:
            dataset.rows([1, 2, 3])
        assert slow.value.status == "timeout"
    finally:
        site.server.signal(signal.SIGCONT)
    loader.free()
    dataset.free()
    session.free()


@pytest.mark.parametrize("shuffle", ["block", "full"])
def test_answers_that_are_cut_are_asked_for_again(site, shuffle):
    cuts = iter([1000, 5000, 100, 40000])

    def cut(data):
        if len(data) > 20000:
            return data[:next(cuts, len(data))]
        return data

    liar = Liar(site.server.address, cut)
    access, secret = site.key
    session = site.library.connect(endpoint=liar.url, access_key=access, secret_key=secret,
                                   region=REGION)
    dataset = session.open("data/set")
    seen = {}
    drain(dataset.loader(batch_size=64, shuffle=shuffle, seed=3, tail="uneven"), seen)
    assert next(cuts, None) is None, "something was cut"
    assert sorted(seen.values()) == list(range(SAMPLES))
    dataset.free()
    session.free()
    liar.close()


def test_batches_that_are_damaged_on_their_way_are_asked_for_again(site):
    flips = iter([True, True, False, True])

    def flip(data):
        if len(data) > 20000 and next(flips, False):
            return data[:15000] + bytes([data[15000] ^ 4]) + data[15001:]
        return data

    liar = Liar(site.server.address, flip)
    access, secret = site.key
    session = site.library.connect(endpoint=liar.url, access_key=access, secret_key=secret,
                                   region=REGION)
    dataset = session.open("data/set")
    seen = {}
    drain(dataset.loader(batch_size=64, shuffle="full", seed=3, tail="uneven"), seen)
    assert sorted(seen.values()) == list(range(SAMPLES))
    dataset.free()
    session.free()
    liar.close()


def test_cancel_from_another_thread_ends_a_wait(site, dataset):
    loader = dataset.loader(batch_size=10)
    site.server.signal(signal.SIGSTOP)
    try:
        timer = threading.Timer(0.1, loader.cancel)
        timer.start()
        with pytest.raises(LibLeatError) as cancelled:
            while loader.next():
                pass
        assert cancelled.value.status == "cancelled"
        loader.free()
    finally:
        site.server.signal(signal.SIGCONT)


def in_child(work):
    """True if `work` says so in a forked child."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if work() else 1)
        except BaseException:
            os._exit(2)
    return os.waitpid(child, 0)[1] == 0


def test_a_forked_child_keeps_datasets_and_connects_anew(site, session, dataset):
    loader = dataset.loader(batch_size=100, seed=5)
    batch = loader.next()

    def is_told_and_helps_itself():
        for refused in (loader.next, lambda: session.open("data/set")):
            try:
                refused()
                return False
            except LibLeatError as error:
                if error.status != "forked":
                    return False
        check(batch, batch.rows)
        batch.free()
        loader.free()
        session.free()
        own = site.connect()
        dataset.session = own
        seen = {}
        drain(dataset.loader(batch_size=100, seed=5), seen)
        own.free()
        return [seen[i] for i in range(SAMPLES)] == dataset.plan(0, SAMPLES, seed=5)

    assert in_child(is_told_and_helps_itself)
    check(batch, batch.rows)
    batch.free()
    loader.free()


def test_nothing_runs_before_the_network_is_needed_and_nothing_stays(site):
    def threads():
        return len(os.listdir("/proc/self/task"))

    def descriptors():
        return len(os.listdir("/proc/self/fd"))

    before = threads(), descriptors()
    session = site.connect()
    assert (threads(), descriptors()) == before
    dataset = session.open("data/set")
    loader = dataset.loader(batch_size=10, threads=4)
    loader.next().free()
    assert threads() > before[0]
    report = loader.report()
    assert report["samples"] == 10
    assert report["verdict"] in ("consumer", "disk", "network", "decode")
    loader.free()
    dataset.free()
    session.free()
    wait_until(lambda: (threads(), descriptors()) == before, "threads and descriptors given back")


class Writer:
    def __init__(self, session, dataset, **options):
        self.library = session.library
        self.handle = self.library.make("leat_writer_open", session.handle, dataset.encode(),
                                        json.dumps(options).encode())

    def add(self, key, **fields):
        count = len(fields)
        names = (ctypes.c_char_p * count)(*[name.encode() for name in fields])
        values = (ctypes.c_char_p * count)(*fields.values())
        sizes = (ctypes.c_size_t * count)(*map(len, fields.values()))
        self.library.call("leat_writer_add", self.handle, key, ctypes.c_size_t(len(key)), names,
                          values, sizes, ctypes.c_size_t(count))

    def commit(self):
        return json.loads(self.library.text("leat_writer_commit", self.handle))

    def free(self):
        self.library.c.leat_writer_free(self.handle)


def test_what_a_writer_commits_is_what_a_loader_reads(session):
    writer = Writer(session, "data/written", mix_bytes=100_000, shard_bytes=1 << 20, seed=1)
    wanted = {b"%05d" % i: text_of(i) for i in range(2000)}
    for key, text in wanted.items():
        writer.add(key, txt=text)
    with pytest.raises(LibLeatError) as wrong:
        writer.add(b"key without fields")
    assert wrong.value.status == "bad_request"
    with pytest.raises(LibLeatError):
        session.open("data/written")
    assert writer.commit()["samples"] == 2000
    writer.free()
    dataset = session.open("data/written")
    got = {}
    loader = dataset.loader(batch_size=50, keys=True)
    for batch in loader:
        got.update(zip(batch.keys(), batch.values("txt")))
    assert got == wanted
    loader.free()
    dataset.free()


def test_a_writer_that_is_freed_without_a_commit_leaves_nothing(session):
    writer = Writer(session, "data/given-up", mix_bytes=0, shard_bytes=100_000)
    for i in range(500):
        writer.add(b"%05d" % i, txt=b"x" * 1000)
    writer.free()
    listed = session.library.text("leat_list", session.handle, b"data/given-up/",
                                  b'{"recursive": true}')
    assert json.loads(listed)["objects"] == []


def keys_below(session, prefix):
    listed = session.library.text("leat_list", session.handle, f"data/{prefix}/".encode(),
                                  b'{"recursive": true}')
    return {one["key"] for one in json.loads(listed)["objects"]}


def content_of(session, name):
    """All samples of a dataset, by key."""
    dataset = session.open(name)
    loader = dataset.loader(batch_size=50, keys=True, tail="uneven")
    found = {}
    for batch in loader:
        found.update(zip(batch.keys(), batch.values("txt")))
    loader.free()
    dataset.free()
    return found


def test_a_transaction_that_is_repeated_leaves_the_committed_version_alone(session):
    wanted = {b"%05d" % i: text_of(i) for i in range(500)}

    def written(samples, **options):
        writer = Writer(session, "data/once", mix_bytes=0, shard_bytes=1 << 18, transaction="run-7",
                        **options)
        for key, text in samples:
            writer.add(key, txt=text)
        return writer

    first = written(wanted.items())
    done = first.commit()
    first.free()
    before = keys_below(session, "once")
    assert done["version"] == 1 and done["shards"] > 1
    again = written(reversed(wanted.items()))
    assert again.commit() == done
    again.free()
    written(reversed(wanted.items())).free()
    assert keys_below(session, "once") == before, "what repeated runs sent is gone"
    assert content_of(session, "data/once") == wanted


def test_a_commit_whose_answer_was_lost_keeps_its_shards(site, session):
    liar = Liar(site.server.address, lambda data: b"" if b'"unheard"' in data else data)
    access, secret = site.key
    deaf = site.library.connect(endpoint=liar.url, access_key=access, secret_key=secret,
                                region=REGION, retry_seconds=0.2)
    writer = Writer(deaf, "data/lost", mix_bytes=0, transaction="t", message="unheard")
    writer.add(b"1", txt=b"one")
    with pytest.raises(LibLeatError):
        writer.commit()
    writer.free()
    deaf.free()
    liar.close()
    assert content_of(session, "data/lost") == {b"1": b"one"}
    again = Writer(session, "data/lost", mix_bytes=0, transaction="t")
    again.add(b"1", txt=b"one")
    assert again.commit()["version"] == 1
    again.free()
    assert content_of(session, "data/lost") == {b"1": b"one"}


def test_a_change_whose_answer_was_lost_is_made_once(site, session):
    dropped = []

    def lose_the_first(data):
        is_first = b'"heard late"' in data and not dropped
        if is_first:
            dropped.append(data)
        return b"" if is_first else data

    session.put("data/twice/1.tar", shard(0, 10))
    session.ask("PUT", "datasets/data/twice")
    session.ask("POST", "datasets/data/twice?commit", {"add": ["twice/1.tar"]})
    liar = Liar(site.server.address, lose_the_first)
    access, secret = site.key
    far = site.library.connect(endpoint=liar.url, access_key=access, secret_key=secret,
                               region=REGION)
    for change in ({"delete": ["000003"]}, {"restore": 1}):
        dropped.clear()
        before = session.ask("GET", "datasets/data/twice")["version"]
        done = far.ask("POST", "datasets/data/twice?commit", change | {"message": "heard late"})
        assert dropped and done["version"] == before + 1
    assert session.ask("GET", "datasets/data/twice")["version"] == 3
    far.free()
    liar.close()


def test_only_the_functions_of_the_header_are_exported():
    listed = subprocess.run([need("nm"), "-D", "--defined-only", library_path()], text=True,
                            capture_output=True, check=True, timeout=WAIT_SECONDS).stdout
    names = {line.split()[2] for line in listed.splitlines()}
    header = (ROOT / "include/leat/leat.h").read_text()
    declared = set(re.findall(r"^LEAT_API .*?\b(leat_\w+)\(", header, re.MULTILINE))
    assert declared <= names
    assert all(name.startswith("leat_") for name in names), names - declared


def example_in_c(site, folder, name):
    """An example, compiled as a stranger would, and what runs it."""
    program = folder / name
    subprocess.run([need("clang-19"), "-Wall", "-Wextra", "-Werror", "-std=c11",
                    "-I", ROOT / "include", ROOT / f"examples/c/{name}.c", library_path(),
                    f"-Wl,-rpath,{library_path().parent}", "-o", program],
                   check=True, timeout=WAIT_SECONDS)
    access, secret = site.key

    def run(*words):
        return subprocess.run([program, *words], text=True, capture_output=True,
                              timeout=WAIT_SECONDS,
                              env={"LEAT_ENDPOINT": site.server.url, "AWS_ACCESS_KEY_ID": access,
                                   "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": REGION})

    return run


def test_the_example_in_c_prints_its_first_batch(site, tmp_path):
    ended = example_in_c(site, tmp_path, "first_batch")("data/set")
    assert ended.returncode == 0, ended
    assert "data/set" in ended.stdout and "txt" in ended.stdout


def test_the_example_in_c_writes_a_dataset_once_and_reads_it_back(site, session, tmp_path):
    run = example_in_c(site, tmp_path, "write")
    for _ in range(2):
        ended = run("data/squares")
        assert ended.returncode == 0, ended
        assert '"version":1' in ended.stdout and "read 100 samples back" in ended.stdout
    assert session.ask("GET", "datasets/data/squares")["version"] == 1
