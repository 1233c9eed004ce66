"""Many connections: idle ones cost little (abuse case 58), and leaving ones leave nothing (32)."""

import contextlib
import resource
import socket
import struct

import pytest

from file_content import make_file
from leat_process import wait_until

MIB = 1 << 20
IDLE = 10_000
IDLE_RSS_MAX = 300 * MIB
DISCONNECTS = 10_000
WARM_UP = 1_000
GROWTH_MAX = 16 * MIB


@pytest.fixture(autouse=True)
def enough_descriptors(all_descriptors):
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < IDLE + 500:
        pytest.skip(f"fewer than {IDLE} descriptors are allowed here")


def connect(server):
    return socket.create_connection(server.address, timeout=20)


def read_head(connection):
    """Reads until the head of the answer is there; returns what was read."""
    text = b""
    while b"\r\n\r\n" not in text:
        piece = connection.recv(4096)
        assert piece, f"closed after {text!r}"
        text += piece
    return text


def reset(connection):
    """Leaves without a word: the server sees a reset, not an end."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def test_ten_thousand_idle_connections(start, tmp_path):
    make_file(tmp_path / "small", 1000)
    server = start("share", tmp_path, "--http-idle-timeout", "10m")
    request = b"GET /small HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with contextlib.ExitStack() as opened:
        connections = [opened.enter_context(connect(server)) for _ in range(IDLE)]
        for connection in connections:
            connection.sendall(request)
        for connection in connections:
            text = read_head(connection)
            assert text.startswith(b"HTTP/1.1 200 ")
            while len(text) - text.index(b"\r\n\r\n") - 4 < 1000:
                text += connection.recv(4096)
        assert server.metric("leat_http_connections") == IDLE + 1
        assert server.rss_bytes() < IDLE_RSS_MAX
        assert server.descriptors() >= IDLE
        # Each of them is still served.
        for connection in connections[::100]:
            connection.sendall(request)
            assert read_head(connection).startswith(b"HTTP/1.1 200 ")
    wait_until(lambda: server.descriptors() < 200, "the descriptors are given back")
    assert server.ask("GET /small").status == 200


class Share:
    """`leat share` of a folder with a large file."""

    BIG, NEVER, SMALL = "/big", "/never", "/small"

    def __init__(self, start, folder, io):
        self.folder = folder
        make_file(folder / "small", 1000)
        with open(folder / "big", "wb") as file:
            file.truncate(64 * MIB)
        self.server = start("share", folder, "--writable", "--io", io)

    def is_settled(self):
        return not any("upload" in path.name for path in self.folder.iterdir())

    def check(self):
        assert self.server.ask("PUT /small", body=b"x").status == 200
        assert sorted(path.name for path in self.folder.iterdir()) == ["big", "small"]


class Serve:
    """`leat serve` with a bucket and a large object; a PUT is long enough to go to files."""

    BIG, NEVER, SMALL = (f"/_/v1/objects/box/{name}" for name in ("big", "never", "small"))

    def __init__(self, start, folder, io):
        self.folder = folder / "data"
        self.server = start("serve", self.folder, "--io", io)
        self.server.token = (self.folder / "admin-token").read_text().strip()
        assert self.server.ask("PUT /_/v1/buckets/box").status == 201
        assert self.server.ask(f"PUT {self.BIG}", body=bytes(64 * MIB)).status == 201
        assert self.server.ask(f"PUT {self.SMALL}", body=b"x").status == 201
        self.files = self.stored()

    def stored(self):
        return sorted((self.folder / "files").glob("*/*"))

    def is_settled(self):
        return not any((self.folder / "incoming").iterdir()) and self.stored() == self.files

    def check(self):
        assert self.server.ask(f"PUT {self.SMALL}", body=b"y").status == 201


def begin_get(site):
    """A GET whose answer has begun."""
    connection = connect(site.server)
    connection.sendall(f"GET {site.BIG} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                       f"Authorization: Bearer {site.server.token}\r\n\r\n".encode())
    assert read_head(connection).startswith(b"HTTP/1.1 200 ")
    return connection


def begin_put(site):
    """A PUT whose body the server has asked for."""
    connection = connect(site.server)
    connection.sendall(f"PUT {site.NEVER} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                       f"Content-Length: 2000000\r\n"
                       f"Authorization: Bearer {site.server.token}\r\n"
                       f"Expect: 100-continue\r\n\r\n".encode())
    assert read_head(connection).startswith(b"HTTP/1.1 100 ")
    connection.sendall(b"x" * 10_000)
    return connection


def disconnect_often(site, count, begin, at_once=20):
    """Begins requests, `at_once` at a time, and leaves each in its middle, in turn by a close and
    by a reset."""
    for _ in range(0, count, at_once):
        connections = [begin(site) for _ in range(at_once)]
        for connection in connections[::2]:
            connection.close()
        for connection in connections[1::2]:
            reset(connection)


def settled(site):
    """(descriptors, RSS) once nothing of the connections is left."""
    server = site.server
    wait_until(lambda: server.metric("leat_http_connections") == 1, "no connection is left", 60)
    wait_until(site.is_settled, "no upload is left", 60)
    return server.descriptors(), server.rss_bytes()


@pytest.mark.parametrize("begin", [begin_get, begin_put])
@pytest.mark.parametrize("io", ["uring", "psync"])
@pytest.mark.parametrize("kind", [Share, Serve])
def test_ten_thousand_disconnects_leave_nothing(start, tmp_path, kind, begin, io):
    site = kind(start, tmp_path, io)
    disconnect_often(site, WARM_UP, begin)
    descriptors, rss = settled(site)
    disconnect_often(site, DISCONNECTS, begin)
    descriptors_after, rss_after = settled(site)
    assert descriptors_after <= descriptors + 2
    assert rss_after - rss < GROWTH_MAX
    bearer = f"Authorization: Bearer {site.server.token}"
    assert site.server.ask(f"GET {site.SMALL}", [bearer]).status == 200
    assert site.server.ask(f"GET {site.NEVER}", [bearer]).status == 404
    site.check()


def test_connections_that_never_speak_do_not_keep_others_out(start, tmp_path):
    make_file(tmp_path / "small", 1000)
    server = start("share", tmp_path, "--http-idle-timeout", "1s")
    with contextlib.ExitStack() as opened:
        silent = [opened.enter_context(connect(server)) for _ in range(2_000)]
        assert server.ask("GET /small").status == 200
        for connection in silent:
            assert connection.recv(1) == b""
