"""SIGTERM: requests in flight are finished, nobody new is let in, and the end is orderly."""

import json
import os
import signal
import socket

import pytest

from file_content import make_file
from leat_process import wait_until

BIG = 64 << 20  # more than the sockets' buffers hold, so that it is in flight until it is read


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    path = tmp_path_factory.mktemp("big") / "big"
    make_file(path, BIG)
    return path


@pytest.fixture
def folder(tmp_path, big):
    make_file(tmp_path / "small", 100)
    os.link(big, tmp_path / "big")
    return tmp_path


def begin_get(server):
    """A GET whose head has been answered and whose body is waiting for us."""
    connection = server.connect()
    connection.send(connection.head("GET /big"))
    assert connection.answer_head()[1] == 200
    return connection


def begin_put(server, folder, name="slow", size=1000):
    """A PUT whose body has begun."""
    connection = server.connect()
    connection.send(connection.head(f"PUT /{name}", [f"Content-Length: {size}"]), b"x")
    wait_until(lambda: any("upload" in path.name for path in folder.iterdir()), "the upload")
    return connection


def terminate(server, number=signal.SIGTERM):
    """Asks it to stop and waits until it says that it drains."""
    server.signal(number)
    wait_until(lambda: '"draining"' in server.log(), "that it drains")


def refuses_connections(server):
    try:
        with socket.create_connection(server.address, timeout=5):
            return False
    except ConnectionRefusedError:
        return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_requests_in_flight_are_finished(start, folder, big, number):
    server = start("share", folder, "--writable")
    getting, putting = begin_get(server), begin_put(server, folder)
    terminate(server, number)
    wait_until(lambda: refuses_connections(server), "the port refuses")
    assert server.is_running()
    assert getting.take(BIG) == big.read_bytes()
    putting.send(b"x" * 999)
    answer = putting.answer()
    assert (answer.status, answer.field("connection")) == (201, "close")
    getting.close(), putting.close()
    assert server.wait() == 0
    assert (folder / "slow").read_bytes() == b"x" * 1000
    assert json.loads(server.log().splitlines()[-1])["event"] == "stopped"


def test_requests_that_come_too_late_do_not_cost_the_answer_before_them(start, folder, big):
    server = start("share", folder)
    connection = begin_get(server)
    connection.send(connection.head("GET /small"), connection.head("GET /small"))
    terminate(server)
    assert connection.take(BIG) == big.read_bytes()
    connection.rest()
    connection.close()
    assert server.wait() == 0


def test_a_request_on_an_open_connection_is_answered_but_is_the_last(start, folder):
    server = start("share", folder, "--writable")
    connection = begin_put(server, folder)
    terminate(server)
    connection.send(b"x" * 999, connection.head("GET /_/v1/ready"))
    assert connection.answer().field("connection") == "close"
    assert connection.rest() == b""
    connection.close()
    assert server.wait() == 0


def test_idle_connections_are_closed_at_once(start, folder):
    server = start("share", folder, "--writable")
    busy = begin_put(server, folder)
    idle = [server.connect() for _ in range(20)]
    for connection in idle[10:]:
        assert connection.ask("GET /small").status == 200
    terminate(server)
    assert [connection.rest() for connection in idle] == [b""] * 20
    assert server.is_running(), "the busy one is still waited for"
    busy.send(b"x" * 999)
    assert busy.answer().status == 201
    busy.close()
    assert server.wait() == 0


def test_without_requests_it_ends_at_once(start, folder):
    server = start("share", folder, "--drain-timeout", "10m")
    server.connect().ask("GET /small")
    server.connect()
    server.signal(signal.SIGTERM)
    assert server.wait() == 0


@pytest.mark.parametrize("first, second", [
    (signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGINT),
    (signal.SIGTERM, signal.SIGINT)])
def test_a_second_signal_ends_it_at_once(start, folder, first, second):
    server = start("share", folder, "--writable", "--drain-timeout", "10m")
    begin_put(server, folder)
    terminate(server, first)
    assert server.is_running()
    server.signal(second)
    assert server.wait() == -second, "killed by it"
    assert not (folder / "slow").exists()


@pytest.mark.parametrize("kind", ["reader", "writer", "head"])
def test_a_client_that_never_finishes_is_cut(start, folder, kind):
    server = start("share", folder, "--writable", "--drain-timeout", "500ms")
    if kind == "reader":
        begin_get(server)
    elif kind == "writer":
        begin_put(server, folder)
    else:
        connection = server.connect()
        connection.ask("GET /small")
        connection.send(b"GET /small HTTP/1.1\r\nHo")
    server.signal(signal.SIGTERM)
    assert server.wait() == 0
    lines = [json.loads(line) for line in server.log().splitlines()]
    if kind != "head":  # whether a begun head counts as idle is not promised
        cuts = [line for line in lines if "cutting" in line["event"]]
        assert [(line["level"], line["count"]) for line in cuts] == [("warn", 1)]
    assert lines[-1]["event"] == "stopped"
    assert sorted(path.name for path in folder.iterdir()) == ["big", "small"]


def test_serve_drains_like_share(start, tmp_path):
    server = start("serve", tmp_path / "data", "--http-head-timeout", "10m")
    connection = server.connect()
    assert connection.ask("GET /_/v1/ready").status == 200
    server.signal(signal.SIGTERM)
    assert connection.rest() == b""
    assert server.wait() == 0
    assert refuses_connections(server)


def bearer(data):
    return f"Authorization: Bearer {(data / 'admin-token').read_text().strip()}"


@pytest.mark.parametrize("size", [1000, 3 << 20], ids=["small", "large"])
def test_serve_finishes_what_is_in_flight(start, tmp_path, big, size):
    data = tmp_path / "data"
    server = start("serve", data)
    server.token = (data / "admin-token").read_text().strip()
    assert server.ask("PUT /_/v1/buckets/box").status == 201
    assert server.ask("PUT /_/v1/objects/box/big", body=big.read_bytes()).status == 201
    getting = server.connect()
    getting.send(getting.head("GET /_/v1/objects/box/big", [bearer(data)]))
    assert getting.answer_head()[1] == 200
    putting = server.connect()
    putting.send(putting.head("PUT /_/v1/objects/box/slow", [f"Content-Length: {size}",
                                                           "Expect: 100-continue"]))
    assert putting.answer_head()[1] == 100
    putting.send(b"x")
    terminate(server)
    wait_until(lambda: refuses_connections(server), "the port refuses")
    assert getting.take(BIG) == big.read_bytes()
    putting.send(b"x" * (size - 1))
    answer = putting.answer()
    assert (answer.status, answer.field("connection")) == (201, "close")
    getting.close(), putting.close()
    assert server.wait() == 0
    assert json.loads(server.log().splitlines()[-1])["event"] == "stopped"
    again = start("serve", data)
    assert again.ask("GET /_/v1/objects/box/slow", [bearer(data)]).body == b"x" * size


def test_serve_cuts_a_put_that_never_ends_and_leaves_nothing(start, tmp_path):
    data = tmp_path / "data"
    server = start("serve", data, "--drain-timeout", "500ms")
    server.token = (data / "admin-token").read_text().strip()
    assert server.ask("PUT /_/v1/buckets/box").status == 201
    putting = server.connect()
    putting.send(putting.head("PUT /_/v1/objects/box/slow", [f"Content-Length: {BIG}"]),
                 b"x" * (2 << 20))
    wait_until(lambda: list((data / "incoming").iterdir()), "the file on its way")
    server.signal(signal.SIGTERM)
    assert server.wait() == 0
    again = start("serve", data)
    assert again.ask("GET /_/v1/objects/box/slow", [bearer(data)]).status == 404
    assert list((data / "incoming").iterdir()) == []
    assert list((data / "files").glob("*/*")) == []
