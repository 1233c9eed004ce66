"""A client that does everything at once: one Worker per thread, each with a seed of its own.

A worker knows what every file must contain and checks every byte it gets. It keeps one connection
as long as the server does, and opens another when it has broken the last one itself.
"""

import hashlib
import random
import select
import time
from collections import Counter

from file_content import content, make_cold, make_file
from http_wire import Connection

KIB, MIB = 1 << 10, 1 << 20
SIZES = [0, 1, 100, 4096, 32 * KIB - 1, 32 * KIB, 32 * KIB + 1, 200_000, MIB, 3 * MIB + 17]
# Made once: making bytes is slower than sending them.
STATIC = {size: content(size) for size in SIZES}
POOL = content(4 * MIB + 1000, "pool")
SHARED_VERSIONS = [content(150_000, f"shared {number}") for number in range(4)]
SHARED_DIGESTS = {hashlib.sha256(version).digest() for version in SHARED_VERSIONS}

PUT_CHUNKED = (b"PUT /bad HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer TOKEN\r\n"
               b"Transfer-Encoding: chunked\r\n")
MALFORMED = [
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET /a HTTP/1.1\nHost: a\n\n",
    b"\x16\x03\x01\x02\x00\x01\x00",
    PUT_CHUNKED + b"Content-Length: 1\r\n\r\n",
    PUT_CHUNKED + b"\r\n5\r\nhelloX",
    PUT_CHUNKED + b"\r\n0\r\nHost: a\r\n\r\n",
    b"GET /" + b"x" * 40_000,
    b"GET /a HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 200,
    b"GET /a HTTP/1.1\r\nHost: a\r\nX-A: \x00\r\n\r\n",
]


def prepare(folder):
    """The files that all workers read."""
    for size in SIZES:
        make_file(folder / f"static-{size}", size)
    (folder / "shared").write_bytes(SHARED_VERSIONS[0])


def pause(seconds):
    """What makes a client slow."""
    select.select([], [], [], seconds)


class Worker:
    def __init__(self, server, folder, number):
        self.server = server
        self.folder = folder
        self.number = number
        self.random = random.Random(number)
        self.own = {}  # name → content of the files that only this worker writes
        self.done = Counter()
        self.failure = None
        self._connection = None

    def run(self, deadline):
        actions = [self.get, self.get, self.get, self.ranges, self.ranges, self.put, self.put,
                   self.delete, self.check_own, self.shared, self.pipeline, self.malformed,
                   self.slow_head, self.slow_reader, self.slow_put, self.leave_in_get,
                   self.leave_in_put, self.cool, self.pages, self.conditions]
        try:
            while time.monotonic() < deadline:
                action = self.random.choice(actions)
                action()
                self.done[action.__name__] += 1
        except Exception as error:  # the test reports it, with the seed
            self.failure = f"worker {self.number}, {action.__name__}: {error!r}"
        finally:
            self.drop()

    def connection(self):
        if self._connection is None:
            self._connection = Connection(self.server.address, token=self.server.token)
        return self._connection

    def drop(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def ask(self, *arguments, **options):
        answer = self.connection().ask(*arguments, **options)
        if answer.field("connection") == "close":
            self.drop()
        return answer

    def static(self):
        size = self.random.choice(SIZES)
        return f"/static-{size}", STATIC[size]

    def fresh(self, size):
        """Bytes that differ from call to call."""
        start = self.random.randrange(1000)
        return POOL[start:start + size]

    # Good requests.

    def get(self):
        path, data = self.static()
        answer = self.ask(f"GET {path}")
        assert (answer.status, answer.body == data) == (200, True), f"{path}: {answer.status}"

    def ranges(self):
        path, data = self.static()
        first = self.random.randrange(len(data) + 1)
        last = first + self.random.randrange(len(data) + 1)
        answer = self.ask(f"GET {path}", [f"Range: bytes={first}-{last}"])
        expected = (206, data[first:last + 1]) if first < len(data) else (416, answer.body)
        assert (answer.status, answer.body) == expected, f"{path} {first}-{last}: {answer.status}"

    def put(self):
        name = f"/own-{self.number}/{self.random.randrange(5)}"
        data = self.fresh(self.random.choice(SIZES))
        fields, body = [], data
        if self.random.random() < 0.5:
            fields, step = ["Transfer-Encoding: chunked"], self.random.randrange(1000, 100_000)
            pieces = [data[at:at + step] for at in range(0, len(data), step)]
            body = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"
        answer = self.ask(f"PUT {name}", fields, body)
        assert answer.status == (200 if name in self.own else 201), f"PUT {name}: {answer.status}"
        self.own[name] = data

    def delete(self):
        name = f"/own-{self.number}/{self.random.randrange(5)}"
        answer = self.ask(f"DELETE {name}")
        there = self.own.pop(name, None) is not None
        assert answer.status == (204 if there else 404), f"DELETE {name}: {answer.status}"

    def check_own(self):
        for name, data in self.own.items():
            answer = self.ask(f"GET {name}")
            assert (answer.status, answer.body == data) == (200, True), f"{name}: {answer.status}"

    def shared(self):
        if self.random.random() < 0.5:
            answer = self.ask("PUT /shared", body=self.random.choice(SHARED_VERSIONS))
            assert answer.status == 200, f"PUT /shared: {answer.status}"
        answer = self.ask("GET /shared")
        assert hashlib.sha256(answer.body).digest() in SHARED_DIGESTS, "two versions are mixed"

    def pipeline(self):
        connection = self.connection()
        chosen = [self.static() for _ in range(10)]
        connection.send(*[connection.head(f"GET {path}") for path, _ in chosen])
        for path, data in chosen:
            assert connection.answer().body == data, f"{path} in a pipeline"

    def pages(self):
        for path in ("/_/v1/health", "/_/v1/ready", "/metrics"):
            assert self.ask(f"GET {path}").status == 200, path
        assert self.ask("GET /missing").status == 404

    def conditions(self):
        path, data = self.static()
        answer = self.ask(f"HEAD {path}")
        assert answer.field("content-length") == str(len(data))
        etag = answer.field("etag")
        assert self.ask(f"GET {path}", [f"If-None-Match: {etag}"]).status == 304
        assert self.ask(f"GET {path}", ["If-Match: \"other\""]).status == 412

    def cool(self):
        make_cold(self.folder / f"static-{self.random.choice(SIZES)}")

    # Bad and slow clients, each on a connection of its own.

    def malformed(self):
        with Connection(self.server.address, token=self.server.token) as connection:
            request = self.random.choice(MALFORMED).replace(b"TOKEN", self.server.token.encode())
            connection.send_until_refused(request)
            version, status, _ = connection.answer_head()
            assert status in (400, 414, 431), f"malformed request: {status}"
            connection.rest()

    def slow_head(self):
        with Connection(self.server.address, token=self.server.token) as connection:
            head = connection.head("GET /static-100")
            for at in range(0, len(head), 16):
                connection.send(head[at:at + 16])
                pause(0.001)
            assert connection.answer().body == STATIC[100]

    def slow_reader(self):
        with Connection(self.server.address, token=self.server.token) as connection:
            connection.send(connection.head(f"GET /static-{SIZES[-1]}"))
            assert connection.answer_head()[1] == 200
            data = b""
            while len(data) < SIZES[-1]:
                data += connection.take(min(512 * KIB, SIZES[-1] - len(data)))
                pause(0.005)
            assert data == STATIC[SIZES[-1]]

    def slow_put(self):
        name, data = f"/own-{self.number}/slow", self.fresh(100_000)
        with Connection(self.server.address, token=self.server.token) as connection:
            connection.send(connection.head(f"PUT {name}", [f"Content-Length: {len(data)}"]))
            for at in range(0, len(data), 20_000):
                connection.send(data[at:at + 20_000])
                pause(0.002)
            assert connection.answer().status in (200, 201)
        self.own[name] = data

    def leave_in_get(self):
        with Connection(self.server.address, token=self.server.token) as connection:
            connection.send(connection.head(f"GET /static-{SIZES[-1]}"))
            connection.take(self.random.randrange(20_000))

    def leave_in_put(self):
        with Connection(self.server.address, token=self.server.token) as connection:
            connection.send(connection.head("PUT /never", ["Content-Length: 1000000"]),
                            self.fresh(self.random.randrange(900_000)))
