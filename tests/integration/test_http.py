"""HTTP/1.1 as it comes from the wire: what is understood, in which order, and how long we wait."""

import json
import select

import pytest

from file_content import content, make_file
from leat_process import wait_until

SMALL, LARGE = 1000, 300_000  # kept in memory; sent from the file


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    make_file(folder / "small", SMALL)
    make_file(folder / "large", LARGE)
    for number in range(50):
        (folder / f"n{number}").write_text(f"this is file {number}")
    return folder


@pytest.fixture(scope="module")
def server(start_for_module, folder):
    return start_for_module("share", folder, "--writable")


# Connections.

def test_a_connection_serves_request_after_request(server):
    connection = server.connect()
    for number in range(20):
        answer = connection.ask(f"GET /n{number}")
        assert (answer.status, answer.body) == (200, f"this is file {number}".encode())
        assert answer.field("connection") is None


def test_fifty_pipelined_requests_are_answered_in_order(server):
    connection = server.connect()
    connection.send(*[connection.head(f"GET /n{number}") for number in range(50)])
    for number in range(50):
        assert connection.answer().body == f"this is file {number}".encode()


def test_pipelined_large_bodies_do_not_mix(server, folder):
    connection = server.connect()
    heads = [connection.head("GET /large"), connection.head("HEAD /large"),
             connection.head("GET /missing"), connection.head("GET /small")]
    connection.send(*heads)
    assert connection.answer().body == content(LARGE)
    assert connection.answer(head_only=True).field("content-length") == str(LARGE)
    assert connection.answer().status == 404
    assert connection.answer().body == content(SMALL)


def test_pipelined_bodies_and_requests_keep_their_borders(server, folder):
    connection = server.connect()
    connection.send(connection.head("PUT /pipe-a", ["Content-Length: 5"]), b"first",
                    connection.head("GET /pipe-a"),
                    connection.head("PUT /pipe-a", ["Transfer-Encoding: chunked"]),
                    b"6\r\nsecond\r\n0\r\n\r\n",
                    connection.head("GET /pipe-a"))
    answers = [connection.answer() for _ in range(4)]
    assert [answer.status for answer in answers] == [201, 200, 200, 200]
    assert (answers[1].body, answers[3].body) == (b"first", b"second")


def test_a_request_may_come_byte_by_byte(server):
    connection = server.connect()
    for byte in connection.head("GET /n7"):
        connection.send(bytes([byte]))
    assert connection.answer().body == b"this is file 7"


def test_one_empty_line_before_a_request_is_forgiven(server):
    connection = server.connect()
    connection.send(b"\r\n", connection.head("GET /n1"), b"\r\n", connection.head("GET /n2"))
    assert [connection.answer().status for _ in range(2)] == [200, 200]


@pytest.mark.parametrize("request_line, fields, stays_open", [
    ("GET /n1 HTTP/1.1", [], True),
    ("GET /n1 HTTP/1.1", ["Connection: close"], False),
    ("GET /n1 HTTP/1.1", ["Connection: Keep-Alive, CLOSE"], False),
    ("GET /n1 HTTP/1.0", [], False),
    ("GET /n1 HTTP/1.0", ["Connection: keep-alive"], True),
])
def test_who_wants_to_close_closes(server, request_line, fields, stays_open):
    connection = server.connect()
    answer = connection.ask(request_line, fields)
    assert answer.body == b"this is file 1"
    if stays_open:
        assert answer.field("connection") in (None, "keep-alive")
        assert connection.ask("GET /n2").body == b"this is file 2"
    else:
        assert answer.field("connection") == "close"
        assert connection.rest() == b""


def test_http_1_0_needs_no_host(server):
    connection = server.connect()
    connection.send(b"GET /n3 HTTP/1.0\r\n\r\n")
    assert connection.answer().body == b"this is file 3"


def test_the_absolute_form_is_understood(server):
    connection = server.connect()
    assert connection.ask(f"GET http://{connection.host}/n4").body == b"this is file 4"
    assert connection.ask("GET http://example.com/n4", ["Host: other.example"]).status == 400


def test_a_query_does_not_change_the_name(server):
    assert server.ask("GET /n5?x=/n6&%00").body == b"this is file 5"


# Bodies.

def test_a_chunked_put_with_extensions_and_trailers(server, folder):
    connection = server.connect()
    body = b"5;name=value\r\nhello\r\n1\r\n \r\n005\r\nworld\r\n0\r\nx-checksum: abc\r\n\r\n"
    answer = connection.ask("PUT /chunked", ["Transfer-Encoding: chunked"], body)
    assert answer.status == 201
    assert (folder / "chunked").read_bytes() == b"hello world"
    assert connection.ask("GET /chunked").body == b"hello world"


def test_a_large_chunked_put_in_odd_pieces(server, folder):
    data = content(3_000_017)
    pieces = [data[at:at + 70_001] for at in range(0, len(data), 70_001)]
    body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    connection = server.connect()
    assert connection.ask("PUT /odd", ["Transfer-Encoding: chunked"], body).status == 201
    assert (folder / "odd").read_bytes() == data


def test_a_put_without_framing_needs_a_length(server, folder):
    connection = server.connect()
    connection.send(connection.head("PUT /no-length"))
    assert connection.answer().status == 411
    assert not (folder / "no-length").exists()


def test_continue_is_said_before_the_body_is_read(server, folder):
    connection = server.connect()
    connection.send(connection.head("PUT /asked", ["Content-Length: 4", "Expect: 100-continue"]))
    assert connection.answer_head()[1] == 100
    connection.send(b"body")
    answer = connection.answer()
    assert (answer.status, answer.interim) == (201, [])
    assert connection.ask("GET /asked").body == b"body"


@pytest.mark.parametrize("request_line, fields, status", [
    ("PUT /refused", ["Authorization: Bearer wrong"], 401),  # abuse case 31
    ("PUT /refused", ["Authorization: Basic YTpi"], 401),
    ("PUT /../refused", [], 404),
    ("POST /refused", [], 405),
])
def test_a_refused_body_is_never_asked_for(server, folder, request_line, fields, status):
    connection = server.connect()
    fields = [*fields, "Content-Length: 1000000", "Expect: 100-continue"]
    connection.send(connection.head(request_line, fields))
    answer = connection.answer()
    assert (answer.status, answer.interim) == (status, [])
    assert answer.field("connection") == "close"
    assert connection.rest() == b""
    assert not (folder / "refused").exists()


def test_a_short_unwanted_body_does_not_cost_the_connection(server):
    connection = server.connect()
    assert connection.ask("POST /n1", body=b"x" * 1000).status == 405
    assert connection.ask("GET /n1", ["Transfer-Encoding: chunked"],
                          b"3\r\nabc\r\n0\r\n\r\n").status == 200
    assert connection.ask("GET /n1").body == b"this is file 1"


# Heads of answers.

@pytest.mark.parametrize("path", ["/small", "/large", "/missing", "/_/v1/health"])
@pytest.mark.parametrize("fields", [[], ["Range: bytes=5-9"], ["If-None-Match: *"]])
def test_head_has_the_fields_of_get(server, path, fields):
    # Range is a field of GET alone: HEAD tells of the whole file.
    of_get = [field for field in fields if not field.startswith("Range:")]
    got, headed = server.ask(f"GET {path}", of_get), server.ask(f"HEAD {path}", fields)

    def lasting(answer):
        return [field for field in answer.fields if field[0] not in ("date", "x-leat-request-id")]

    assert (headed.status, lasting(headed)) == (got.status, lasting(got))


def test_every_answer_has_a_date_and_an_id_of_its_own(server):
    connection = server.connect()
    answers = [connection.ask("GET /n1"), connection.ask("GET /n1"), connection.ask("GET /none")]
    assert len({answer.field("x-leat-request-id") for answer in answers}) == 3
    assert all(answer.field("date").endswith(" GMT") for answer in answers)


@pytest.mark.parametrize("name", ["a%0d%0aX-Split:%20yes", "%ff%fe", "%3cscript%3e"])
def test_echoed_names_cannot_split_an_answer(server, name):  # abuse case 34
    for method in ("GET", "DELETE"):
        answer = server.ask(f"{method} /{name}")
        assert answer.status == 404
        assert answer.field("x-split") is None
        assert answer.field("content-type") == "application/json"
        json.loads(answer.body)


# Slow clients (abuse case 29).

def status_or_close(connection):
    """The status of what came before the server closed; None if nothing came."""
    text = connection.rest()
    return int(text.split(b" ")[1]) if text else None


def test_a_head_that_never_ends_is_given_up(start, folder):
    server = start("share", folder, "--http-head-timeout", "300ms")
    connection = server.connect()
    connection.send(b"GET /n1 HTTP/1.1\r\nHost: ")
    assert status_or_close(connection) in (408, None)
    assert server.metric("leat_http_client_timeouts_total") == 1


def test_dripping_a_head_byte_by_byte_does_not_help(start, folder):
    server = start("share", folder, "--http-head-timeout", "300ms")
    connection = server.connect()
    connection.send(b"GET /n1 HTTP/1.1\r\nHost: a\r\n")

    def drip_until_answered():
        connection.send_until_refused(b"X-Drip: y\r\n"[:1])
        return select.select([connection.socket], [], [], 0.02)[0]

    wait_until(drip_until_answered, "an end of the connection")
    assert status_or_close(connection) in (408, None)


def test_an_idle_connection_is_closed_quietly(start, folder):
    server = start("share", folder, "--http-idle-timeout", "300ms")
    fresh, used = server.connect(), server.connect()
    assert used.ask("GET /n1").status == 200
    assert (fresh.rest(), used.rest()) == (b"", b"")


def test_a_body_that_stalls_is_given_up_and_leaves_nothing(start, tmp_path):
    server = start("share", tmp_path, "--writable", "--http-body-grace", "300ms")
    connection = server.connect()
    connection.send(connection.head("PUT /stalled", ["Content-Length: 1000"]), b"x" * 10)
    assert status_or_close(connection) in (408, None)
    wait_until(lambda: list(tmp_path.iterdir()) == [], "the unfinished upload is removed")


def test_a_reader_that_stalls_is_cut(start, tmp_path):
    size = 32 << 20
    make_file(tmp_path / "big", size)
    server = start("share", tmp_path, "--http-body-grace", "300ms", "--http-body-rate-min", "1TiB")
    stalled = server.connect()
    stalled.send(stalled.head("GET /big"))
    wait_until(lambda: server.metric("leat_http_client_timeouts_total") == 1, "it is cut")
    assert len(stalled.rest()) < size


def test_connections_above_the_cap_are_closed_at_once(start, folder):
    server = start("share", folder, "--cores", "1", "--http-connections-max", "3")
    kept = [server.connect() for _ in range(3)]
    assert [connection.ask("GET /n1").status for connection in kept] == [200] * 3
    assert server.connect().rest() == b""
    kept[0].close()

    def another_is_served():
        try:
            return server.ask("GET /n1").status == 200
        except OSError:
            return False

    wait_until(another_is_served, "the freed place is given away")
    assert kept[1].ask("GET /n2").status == 200
