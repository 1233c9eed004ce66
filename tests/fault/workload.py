"""Workload: changes of all kinds and sizes, the same for the same seed and the same outcomes."""

import random

from file_content import content
from oracle import PART, Change, Oracle

KIB, MIB = 1 << 10, 1 << 20
# In a segment in one block; in several blocks; in a file of its own.
SMALL = [0, 1, 4 * KIB, 4 * KIB + 1, 9_000]
MEDIUM = [190 * KIB, 200 * KIB + 7]
LARGE = [MIB + 1, MIB + 300_000]
# In one part, which is in a segment or in files; in two.
IN_PARTS = [9_000, MIB + 1, PART + 70_000]


class Workload:
    def __init__(self, oracle, seed, prefix="k", keys=5, sizes=(SMALL, SMALL, MEDIUM, LARGE)):
        self._oracle = oracle
        self._random = random.Random(f"workload {seed} {prefix}")
        self._seed = f"{seed} {prefix}"
        self._keys = [f"{prefix}/key {number:02}% ü" for number in range(keys)]
        self._sizes = sizes
        self._number = 0

    def next(self):
        """A change that can be made in the state the oracle knows."""
        bucket = self._random.choice(list(Oracle.BUCKETS))
        key = self._random.choice(self._keys)
        kind = self._random.choices(["put", "parts", "delete", "undelete", "copy"],
                                    [12, 2, 3, 3, 2])[0]
        state = self._oracle.certain(bucket, key)
        if kind == "delete" and state is not None and state.current is not None:
            return Change("delete", bucket, key)
        if kind == "undelete":
            bucket = "undo"
            state = self._oracle.certain(bucket, key)
            if state is not None and state.trash:
                return Change("undelete", bucket, key)
        if kind == "copy":
            change = self._copy(bucket, key)
            if change is not None:
                return change
        if kind == "parts":
            return self.put(bucket, key, self._random.choice(IN_PARTS), kind)
        return self.put(bucket, key)

    def put(self, bucket=None, key=None, size=None, kind="put"):
        """Never the same bytes twice, so that what is read says which change it came from."""
        self._number += 1
        if size is None:
            size = self._random.choice(self._random.choice(self._sizes))
        data = content(size, f"{self._seed} {self._number}")
        bucket = bucket or self._random.choice(list(Oracle.BUCKETS))
        return Change(kind, bucket, key or self._random.choice(self._keys), data)

    def _copy(self, bucket, key):
        source = self._random.choice(list(Oracle.BUCKETS)), self._random.choice(self._keys)
        held = self._oracle.certain(*source)
        if held is None or held.current is None:
            return None
        if any(state.current == held.current for state in self._oracle.of(bucket, key)):
            return None  # its outcome could not be told
        return Change("copy", bucket, key, held.current, source)
