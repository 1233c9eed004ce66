"""What is not HTTP as Leat accepts it: smuggling (abuse case 28), limits (30), ranges (33), and
conditions. After a malformed request nothing that follows on the connection is believed."""

import pytest

from file_content import content, make_file
from leat_process import wait_until

HOST = b"Host: 127.0.0.1\r\n"
TOKEN = "token-of-these-tests"
BEARER = f"Authorization: Bearer {TOKEN}\r\n".encode()
SECRET = b"the answer to the smuggled request"
GOOD_REQUEST = b"GET /smuggled HTTP/1.1\r\n" + HOST + b"\r\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    (folder / "smuggled").write_bytes(SECRET)
    return folder


@pytest.fixture(scope="module")
def server(start_for_module, folder, tmp_path_factory):
    token = tmp_path_factory.mktemp("secret") / "token"
    token.write_text(TOKEN)
    return start_for_module("share", folder, "--writable", "--token-file", token,
                            announces_token=False)


def only_answer(server, request, connection=None):
    """Sends a request and a good one right behind it; the server must answer once and close."""
    connection = connection or server.connect()
    connection.send_until_refused(request + GOOD_REQUEST)
    answer = connection.answer()
    assert answer.field("connection") == "close"
    assert connection.rest() == b"", "there was a second answer"
    assert SECRET not in answer.body
    return answer


def put(*fields, body=b""):
    return b"".join([b"PUT /made HTTP/1.1\r\n", HOST, BEARER,
                     *[field + b"\r\n" for field in fields], b"\r\n", body])


def get(*lines):
    return b"".join([b"GET /smuggled HTTP/1.1\r\n", *lines, b"\r\n"])


CHUNKS = b"5\r\nhello\r\n0\r\n\r\n"

SMUGGLING_HEADS = {
    "CL and TE": put(b"Content-Length: 5", b"Transfer-Encoding: chunked", body=CHUNKS),
    "TE and CL": put(b"Transfer-Encoding: chunked", b"Content-Length: 15", body=CHUNKS),
    "TE and CL 0": put(b"Transfer-Encoding: chunked", b"Content-Length: 0", body=CHUNKS),
    "two CL": put(b"Content-Length: 5", b"Content-Length: 6", body=b"hello"),
    "the same CL twice": put(b"Content-Length: 5", b"Content-Length: 5", body=b"hello"),
    "CL list": put(b"Content-Length: 5, 5", body=b"hello"),
    "CL with plus": put(b"Content-Length: +5", body=b"hello"),
    "CL negative": put(b"Content-Length: -5", body=b"hello"),
    "CL hexadecimal": put(b"Content-Length: 0x5", body=b"hello"),
    "CL with a space inside": put(b"Content-Length: 5 5", body=b"hello"),
    "CL empty": put(b"Content-Length:", body=b"hello"),
    "CL with underscore": put(b"Content-Length: 1_0", body=b"hello"),
    "CL of 2^64": put(b"Content-Length: 18446744073709551616", body=b"hello"),
    "CL fullwidth digit": put("Content-Length: ５".encode(), body=b"hello"),
    "TE xchunked": put(b"Transfer-Encoding: xchunked", body=CHUNKS),
    "TE chunkedx": put(b"Transfer-Encoding: chunkedx", body=CHUNKS),
    "TE identity": put(b"Transfer-Encoding: identity", body=b"hello"),
    "TE gzip, chunked": put(b"Transfer-Encoding: gzip, chunked", body=CHUNKS),
    "TE chunked, identity": put(b"Transfer-Encoding: chunked, identity", body=CHUNKS),
    "TE chunked twice": put(b"Transfer-Encoding: chunked, chunked", body=CHUNKS),
    "two TE": put(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked", body=CHUNKS),
    "TE with parameter": put(b"Transfer-Encoding: chunked;a=b", body=CHUNKS),
    "TE quoted": put(b"Transfer-Encoding: \"chunked\"", body=CHUNKS),
    "TE empty": put(b"Transfer-Encoding:", body=CHUNKS),
    "TE after vertical tab": put(b"Transfer-Encoding: \x0bchunked", body=CHUNKS),
    "TE with HTTP/1.0": b"PUT /made HTTP/1.0\r\n" + HOST + BEARER +
                        b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS,
    "space before colon": put(b"Transfer-Encoding : chunked", body=CHUNKS),
    "tab before colon": put(b"Transfer-Encoding\t: chunked", body=CHUNKS),
    "space before the first field": b"GET /smuggled HTTP/1.1\r\n " + HOST + b"\r\n",
    "obsolete folding": put(b"Transfer-Encoding:", b" chunked", body=CHUNKS),
    "folding of another field": get(HOST, b"X-A: 1\r\n\tX-B: 2\r\n"),
    "bare LF ends the request line": b"GET /smuggled HTTP/1.1\n" + HOST + b"\r\n",
    "bare LF ends a field": get(b"Host: 127.0.0.1\n"),
    "bare LF ends the head": b"GET /smuggled HTTP/1.1\r\n" + HOST + b"\n",
    "bare CR in a value": get(HOST, b"X-A: 1\rX-B: 2\r\n"),
    "bare CR ends a field": get(b"Host: 127.0.0.1\rX-B: 2\r\n"),
    "NUL in a value": get(HOST, b"X-A: \x00\r\n"),
    "NUL in a name": get(HOST, b"X\x00A: 1\r\n"),
    "NUL in the target": b"GET /smugg\x00led HTTP/1.1\r\n" + HOST + b"\r\n",
    "control byte in a value": get(HOST, b"X-A: \x01\r\n"),
    "DEL in a value": get(HOST, b"X-A: \x7f\r\n"),
    "field without a name": get(HOST, b": value\r\n"),
    "field without a colon": get(HOST, b"nonsense\r\n"),
    "brackets in a name": get(HOST, b"X[A]: 1\r\n"),
    "no Host": get(),
    "two Hosts": get(HOST, HOST),
    "two different Hosts": get(HOST, b"Host: example.com\r\n"),
    "empty Host": get(b"Host:\r\n"),
    "Host with a path": get(b"Host: a/b\r\n"),
    "Host with credentials": get(b"Host: user@127.0.0.1\r\n"),
    "two spaces in the request line": b"GET  /smuggled HTTP/1.1\r\n" + HOST + b"\r\n",
    "tab in the request line": b"GET\t/smuggled HTTP/1.1\r\n" + HOST + b"\r\n",
    "space in the target": b"GET /smuggled /x HTTP/1.1\r\n" + HOST + b"\r\n",
    "space after the version": b"GET /smuggled HTTP/1.1 \r\n" + HOST + b"\r\n",
    "no version": b"GET /smuggled\r\n",
    "lower-case version": b"GET /smuggled http/1.1\r\n" + HOST + b"\r\n",
    "version 1.11": b"GET /smuggled HTTP/1.11\r\n" + HOST + b"\r\n",
    "fragment in the target": b"GET /smuggled#x HTTP/1.1\r\n" + HOST + b"\r\n",
    "bytes above ASCII in the target": b"GET /smuggled\xff HTTP/1.1\r\n" + HOST + b"\r\n",
    "relative target": b"GET smuggled HTTP/1.1\r\n" + HOST + b"\r\n",
    "target * for GET": b"GET * HTTP/1.1\r\n" + HOST + b"\r\n",
    "two empty lines first": b"\r\n\r\nGET /smuggled HTTP/1.1\r\n" + HOST + b"\r\n",
    "TLS on a plain port": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "space first": b" GET /smuggled HTTP/1.1\r\n" + HOST + b"\r\n",
}


@pytest.mark.parametrize("request_bytes", SMUGGLING_HEADS.values(), ids=SMUGGLING_HEADS)
def test_an_ambiguous_head_is_refused_and_the_connection_closed(server, folder, request_bytes):
    assert only_answer(server, request_bytes).status == 400
    assert not (folder / "made").exists()


SMUGGLING_CHUNKS = {
    "size with plus": b"+5\r\nhello\r\n0\r\n\r\n",
    "size negative": b"-5\r\nhello\r\n0\r\n\r\n",
    "size with 0x": b"0x5\r\nhello\r\n0\r\n\r\n",
    "size after a space": b" 5\r\nhello\r\n0\r\n\r\n",
    "size before a space": b"5 \r\nhello\r\n0\r\n\r\n",
    "size empty": b"\r\nhello\r\n0\r\n\r\n",
    "size not hexadecimal": b"5g\r\nhello\r\n0\r\n\r\n",
    "size of 17 digits": b"00000000000000005\r\nhello\r\n0\r\n\r\n",
    "size ended by bare LF": b"5\nhello\r\n0\r\n\r\n",
    "size ended by bare CR": b"5\rhello\r\n0\r\n\r\n",
    "size with underscore": b"1_0\r\nhello\r\n0\r\n\r\n",
    "data longer than its size": b"4\r\nhello\r\n0\r\n\r\n",
    "data shorter than its size": b"6\r\nhello\r\n0\r\n\r\n",
    "data ended by bare LF": b"5\r\nhello\n0\r\n\r\n",
    "extension with bare LF": b"5;a\nb\r\nhello\r\n0\r\n\r\n",
    "extension with bare CR": b"5;a\rb\r\nhello\r\n0\r\n\r\n",
    "extension of 1 KiB": b"5;" + b"a" * 1024 + b"\r\nhello\r\n0\r\n\r\n",
    "100 extensions of 200 bytes": (b"1;" + b"a" * 200 + b"\r\nx\r\n") * 100 + b"0\r\n\r\n",
    "last chunk ended by bare LF": b"5\r\nhello\r\n0\n\n",
    "trailer Content-Length": b"5\r\nhello\r\n0\r\nContent-Length: 3\r\n\r\n",
    "trailer Transfer-Encoding": b"5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
    "trailer Host": b"5\r\nhello\r\n0\r\nHost: example.com\r\n\r\n",
    "trailer Authorization": b"5\r\nhello\r\n0\r\nAuthorization: Bearer x\r\n\r\n",
    "trailer folded": b"5\r\nhello\r\n0\r\nx-a: 1\r\n b\r\n\r\n",
    "trailer without colon": b"5\r\nhello\r\n0\r\nnonsense\r\n\r\n",
    "trailer ended by bare LF": b"5\r\nhello\r\n0\r\nx-a: 1\n\r\n",
    "trailers of 16 KiB": b"5\r\nhello\r\n0\r\nx-a: " + b"b" * 16384 + b"\r\n\r\n",
    "40 trailers": b"5\r\nhello\r\n0\r\n" + b"x-a: 1\r\n" * 40 + b"\r\n",
}


@pytest.mark.parametrize("split", [False, True], ids=["at once", "in two segments"])
@pytest.mark.parametrize("body", SMUGGLING_CHUNKS.values(), ids=SMUGGLING_CHUNKS)
def test_a_malformed_chunk_is_refused_and_the_connection_closed(server, folder, body, split):
    connection = server.connect()
    head = put(b"Transfer-Encoding: chunked")
    if split:
        connection.send(head)
        wait_until(lambda: any("upload" in path.name for path in folder.iterdir()),
                   "the server reads the body")
    answer = only_answer(server, body if split else head + body, connection)
    assert answer.status == 400
    assert not (folder / "made").exists()
    wait_until(lambda: [path.name for path in folder.iterdir()] == ["smuggled"],
               "nothing of the upload is left")


def test_garbage_after_a_good_request_ends_the_connection(server):
    connection = server.connect()
    connection.send(connection.head("GET /smuggled"), b"garbage\r\n\r\n",
                    connection.head("GET /smuggled"))
    assert connection.answer().body == SECRET
    assert connection.answer().status == 400
    assert connection.rest() == b""


def test_bytes_after_a_length_are_the_next_request(server, folder):
    connection = server.connect()
    connection.send(put(b"Content-Length: 5", body=b"hello"), b"XGET /smuggled HTTP/1.1\r\n",
                    HOST, b"\r\n")
    assert connection.answer().status == 201
    answer = connection.answer()
    assert (answer.status, SECRET in answer.body) == (501, False)
    (folder / "made").unlink()


@pytest.mark.parametrize("version", [b"HTTP/2.0", b"HTTP/0.9", b"HTTP/3.0"])
def test_other_versions_are_not_spoken(server, version):
    request = b"GET /smuggled " + version + b"\r\n" + HOST + b"\r\n"
    assert only_answer(server, request).status == 505


# Limits (abuse case 30).

@pytest.mark.parametrize("request_bytes, status", [
    (get(HOST, b"X-Long: " + b"x" * 100 * 1024 + b"\r\n"), 431),
    (get(HOST, b"X-Many: x\r\n" * 10_000), 431),
    (get(HOST, b"X: x\r\n" * 100), 431),
    (b"GET /" + b"x" * (1 << 20) + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414),
    (b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414),
    (b"X" * 100_000, 414),
], ids=["a field of 100 KiB", "10 000 fields", "101 fields", "a target of 1 MiB",
        "a target of 20 KB", "a method of 100 KB"])
def test_too_large_heads_have_their_own_answers(server, request_bytes, status):
    assert only_answer(server, request_bytes).status == status


def test_heads_below_the_limits_are_served(server):
    assert server.ask("GET /smuggled", ["X: x"] * 99).status == 200
    assert server.ask("GET /smuggled?" + "x" * 16_000).status == 200
    assert server.ask("GET /smuggled", ["X: " + "x" * 30_000]).status == 200


def test_large_heads_do_not_grow_the_process(server):
    request = get(HOST, b"X-Long: " + b"x" * (512 * 1024) + b"\r\n")
    only_answer(server, request)
    before = server.rss_bytes()
    for _ in range(50):
        only_answer(server, request)
    assert server.rss_bytes() - before < 8 << 20


# Ranges (abuse case 33).

@pytest.fixture(scope="module", params=[1000, 300_000], ids=["small", "large"])
def ranged(request, server, folder):
    make_file(folder / f"ranged-{request.param}", request.param)
    yield f"/ranged-{request.param}", content(request.param)
    (folder / f"ranged-{request.param}").unlink()


@pytest.mark.parametrize("text, first, last", [
    ("0-0", 0, 0), ("5-9", 5, 9), ("0-", 0, -1), ("-1", -1, -1), ("-1000", -1000, -1),
    ("999-999", 999, 999), ("999-1000000", 999, -1), ("-99999999999", 0, -1),
    ("0-18446744073709551616", 0, -1), ("-18446744073709551616", 0, -1),
    ("0-" + "9" * 1000, 0, -1), ("000-0009", 0, 9),
])
def test_a_range_is_a_part_with_its_place(server, ranged, text, first, last):
    path, data = ranged
    first, last = first % len(data), last % len(data)
    answer = server.ask(f"GET {path}", [f"Range: bytes={text}"])
    assert answer.status == 206
    assert answer.field("content-range") == f"bytes {first}-{last}/{len(data)}"
    assert answer.body == data[first:last + 1]


@pytest.mark.parametrize("text", ["-0", "300000-", "300000-300001", "18446744073709551615-",
                                  "18446744073709551616-18446744073709551617"])
def test_a_range_outside_is_not_satisfiable(server, ranged, text):
    path, data = ranged
    answer = server.ask(f"GET {path}", [f"Range: bytes={text}"])
    assert answer.status == 416
    assert answer.field("content-range") == f"bytes */{len(data)}"
    assert data[:100] not in answer.body


@pytest.mark.parametrize("text", [
    "bytes=" + ",".join(f"{n}-{n}" for n in range(1000)), "bytes=0-1,0-1,0-1", "bytes=9-5",
    "bytes=", "bytes=-", "bytes=a-b", "bytes=1", "bytes=+1-2", "bytes=--1", "lines=1-2", "0-1"])
def test_a_range_that_is_not_one_is_ignored(server, ranged, text):
    path, data = ranged
    answer = server.ask(f"GET {path}", [f"Range: {text}"])
    assert (answer.status, answer.body) == (200, data)
    assert answer.field("content-range") is None


def test_an_empty_file_has_no_ranges(server, folder):
    (folder / "empty").touch()
    assert server.ask("GET /empty", ["Range: bytes=0-"]).status == 416
    assert server.ask("GET /empty", ["Range: bytes=-5"]).status == 416
    answer = server.ask("GET /empty")
    assert (answer.status, answer.field("content-length")) == (200, "0")
    (folder / "empty").unlink()


# Conditions.

def test_conditions_on_the_version(server, ranged):
    path, data = ranged
    answer = server.ask(f"GET {path}")
    etag, date = answer.field("etag"), answer.field("last-modified")
    past = "Thu, 01 Jan 1998 00:00:00 GMT"
    for fields, status in [
            ([f"If-None-Match: {etag}"], 304), (["If-None-Match: *"], 304),
            ([f"If-None-Match: W/{etag}, \"x\""], 304), (["If-None-Match: \"x\""], 200),
            ([f"If-Match: {etag}"], 200), (["If-Match: *"], 200), (["If-Match: \"x\""], 412),
            ([f"If-Match: W/{etag}"], 412), ([f"If-Modified-Since: {date}"], 304),
            ([f"If-Modified-Since: {past}"], 200), (["If-Modified-Since: rubbish"], 200),
            ([f"If-Unmodified-Since: {date}"], 200), ([f"If-Unmodified-Since: {past}"], 412),
            (["If-None-Match: \"x\"", f"If-Modified-Since: {date}"], 200),
            (["If-Match: \"x\"", "If-Match: \"y\""], 400)]:
        answer = server.ask(f"GET {path}", fields)
        assert (answer.status, fields) == (status, fields)
        assert answer.body == (data if status == 200 else answer.body)
        if status == 304:
            assert (answer.body, answer.field("etag")) == (b"", etag)


def test_a_resumed_download_never_mixes_two_versions(server, ranged):
    path, data = ranged
    etag = server.ask(f"GET {path}").field("etag")
    for condition, status in [(etag, 206), ("\"older\"", 200), (f"W/{etag}", 200),
                              ("Thu, 01 Jan 1998 00:00:00 GMT", 200)]:
        answer = server.ask(f"GET {path}", ["Range: bytes=10-", f"If-Range: {condition}"])
        assert (answer.status, condition) == (status, condition)
        assert answer.body == (data[10:] if status == 206 else data)
