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


def begin_get(server):
    """A GET whose answer has begun."""
    connection = connect(server)
    connection.sendall(b"GET /big HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert read_head(connection).startswith(b"HTTP/1.1 200 ")
    return connection


def begin_put(server):
    """A PUT whose body the server has asked for."""
    connection = connect(server)
    connection.sendall(b"PUT /never HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n"
                       b"Authorization: Bearer " + server.token.encode() +
                       b"\r\nExpect: 100-continue\r\n\r\n")
    assert read_head(connection).startswith(b"HTTP/1.1 100 ")
    connection.sendall(b"x" * 10_000)
    return connection


def disconnect_often(server, count, begin, at_once=20):
    """Begins requests, `at_once` at a time, and leaves each in its middle, in turn by a close and
    by a reset."""
    for _ in range(0, count, at_once):
        connections = [begin(server) for _ in range(at_once)]
        for connection in connections[::2]:
            connection.close()
        for connection in connections[1::2]:
            reset(connection)


def settled(server, folder):
    """(descriptors, RSS) once nothing of the connections is left."""
    wait_until(lambda: server.metric("leat_http_connections") == 1, "no connection is left", 60)
    wait_until(lambda: not any("upload" in path.name for path in folder.iterdir()),
               "no upload is left", 60)
    return server.descriptors(), server.rss_bytes()


@pytest.mark.parametrize("begin", [begin_get, begin_put])
@pytest.mark.parametrize("io", ["uring", "psync"])
def test_ten_thousand_disconnects_leave_nothing(start, tmp_path, begin, io):
    make_file(tmp_path / "small", 1000)
    with open(tmp_path / "big", "wb") as file:
        file.truncate(64 * MIB)
    server = start("share", tmp_path, "--writable", "--io", io)
    disconnect_often(server, WARM_UP, begin)
    descriptors, rss = settled(server, tmp_path)
    disconnect_often(server, DISCONNECTS, begin)
    descriptors_after, rss_after = settled(server, tmp_path)
    assert descriptors_after <= descriptors + 2
    assert rss_after - rss < GROWTH_MAX
    assert server.ask("GET /small").status == 200
    assert server.ask("PUT /small", body=b"x").status == 200
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big", "small"]


def test_connections_that_never_speak_do_not_keep_others_out(start, tmp_path):
    make_file(tmp_path / "small", 1000)
    server = start("share", tmp_path, "--http-idle-timeout", "1s")
    with contextlib.ExitStack() as opened:
        silent = [opened.enter_context(connect(server)) for _ in range(2_000)]
        assert server.ask("GET /small").status == 200
        for connection in silent:
            assert connection.recv(1) == b""
