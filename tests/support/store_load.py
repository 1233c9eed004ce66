"""A client of the store that does everything at once: one Worker per thread, each with keys of its
own, whose contents it knows, and some that all share.

A write that is refused may or may not have happened: then the worker takes the old content and the
new one. While a disk is out, keys of it are not found; when all disks are back, every key must have
what it should.
"""

import random
from collections import Counter

from file_content import content

KIB, MIB = 1 << 10, 1 << 20
SIZES = [0, 1, 1000, 4096, 64 * KIB, 64 * KIB + 1, 300_000, MIB, MIB + 1, 2 * MIB + 77]
POOL = content(4 * MIB, "store pool")
KEYS = 12


class Worker:
    def __init__(self, server, bearer, number):
        self.server = server
        self.fields = [f"Authorization: Bearer {bearer}"]
        self.number = number
        self.random = random.Random(number)
        self.own = {}  # key → contents that it may have; None for none
        self.done = Counter()
        self.failure = None

    def run(self, is_over):
        try:
            with self.server.connect() as connection:
                while not is_over():
                    self.step(connection)
        except Exception as error:  # told by the test, with the server's log
            self.failure = f"worker {self.number}: {error!r}"

    def step(self, connection):
        action = self.random.choice([self.put, self.put, self.get, self.get, self.get_range,
                                     self.copy, self.list, self.share, self.swap])
        action(connection)
        self.done[action.__name__] += 1

    def ask(self, connection, line, fields=(), body=b""):
        return connection.ask(line, [*self.fields, *fields], body)

    def key(self):
        return f"own-{self.number}-{self.random.randrange(KEYS)}"

    def data(self):
        size = self.random.choice(SIZES)
        begin = self.random.randrange(len(POOL) - size)
        return POOL[begin:begin + size]

    def wrote(self, key, data, status):
        assert status in (201, 503), status
        may_be = self.own.setdefault(key, [None])
        if status == 201:
            may_be.clear()
        may_be.append(data)

    def put(self, connection):
        key, data = self.key(), self.data()
        answer = self.ask(connection, f"PUT /_/v1/objects/load/{key}", body=data)
        self.wrote(key, data, answer.status)

    def get(self, connection):
        key = self.key()
        answer = self.ask(connection, f"GET /_/v1/objects/load/{key}")
        self.check(key, answer)

    def check(self, key, answer):
        may_be = self.own.get(key, [None])
        if answer.status == 200:
            # An older version may be the one of a disk that has just come back; it is not now.
            assert answer.body in may_be, f"{key}: {len(answer.body)} bytes that it never had last"
        else:
            assert answer.status in (404, 503), answer

    def get_range(self, connection):
        key = self.key()
        answer = self.ask(connection, f"GET /_/v1/objects/load/{key}", ["Range: bytes=100-70000"])
        if answer.status == 206:
            assert any(data is not None and data[100:70001] == answer.body
                       for data in self.own[key]), key
        else:
            assert answer.status in (404, 416, 503), answer

    def copy(self, connection):
        source, target = self.key(), self.key()
        may_be = self.own.get(source, [None])
        if source == target or len(may_be) != 1 or may_be[0] is None:
            return
        answer = self.ask(connection,
                          f"POST /_/v1/objects/load/{target}?copy=load/{source}")
        if answer.status != 404:
            self.wrote(target, may_be[0], answer.status)

    def list(self, connection):
        answer = self.ask(connection, f"GET /_/v1/list/load?prefix=own-{self.number}-")
        assert answer.status in (200, 503), answer

    def share(self, connection):
        line = f"/_/v1/objects/load/shared-{self.random.randrange(4)}"
        if self.random.random() < 0.3:
            answer = self.ask(connection, f"DELETE {line}")
            assert answer.status in (204, 404, 503), answer
        else:
            answer = self.ask(connection, f"PUT {line}", body=self.data())
            assert answer.status in (201, 503), answer

    def swap(self, connection):
        line = f"/_/v1/objects/load/swapped-{self.random.randrange(4)}"
        found = self.ask(connection, f"HEAD {line}")
        condition = (f"If-Match: {found.field('etag')}" if found.status == 200
                     else "If-None-Match: *")
        answer = self.ask(connection, f"PUT {line}", [condition], self.data())
        assert answer.status in (201, 412, 503), answer
