"""Oracle: what the store must hold, from what it acknowledged.

Of every key it knows the states the key may be in: the bytes that are visible, and the versions
that can be brought back. An acknowledged change takes each possible state to its successor. A
change whose outcome nobody knows (the server died, or answered with an error of its own) adds the
successors to the states. What is read later decides, and must be one of them entirely.

A change with an unknown outcome stays possible until the server has been started anew: bytes
whose sync failed may still be found by recovery.
"""

from dataclasses import dataclass

from store_client import Gone


@dataclass(frozen=True)
class Change:
    kind: str  # put, parts (a put in parts), delete, undelete, copy
    bucket: str
    key: str
    data: bytes = b""  # of a put, also in parts; of a copy, what its source holds
    source: tuple = ()  # of a copy: (bucket, key)

    def __str__(self):
        size = f" of {len(self.data)} bytes" if self.data else ""
        return f"{self.kind}{size} {self.bucket}/{self.key}"


@dataclass(frozen=True)
class State:
    current: bytes | None = None
    trash: tuple = ()  # what was replaced and deleted and is kept; the last one was put away last


class Wrong(AssertionError):
    """The store does not hold what it must."""


def after(change, state, bucket):
    """The state that the change makes of a state; None when it cannot be made."""
    kept = state.trash
    has_versions = bucket.get("versioning") == "on"
    if (has_versions or bucket.get("undo_window_ms", 0) > 0) and state.current is not None:
        kept = (*state.trash, state.current)
    if change.kind in ("put", "parts", "copy"):
        return State(change.data, kept)
    if change.kind == "delete":
        # Where versions are kept a marker is made, whatever is there.
        return None if state.current is None and not has_versions else State(None, kept)
    if not state.trash:
        return None
    if state.current is None:
        return State(state.trash[-1], state.trash[:-1])
    return State(state.trash[-1], (*state.trash[:-1], state.current))


class Oracle:
    # Every bucket, with what is asked for when it is made.
    BUCKETS = {
        "plain": {},
        "undo": {"undo_window_ms": 3_600_000},
        "group": {"durability": "group"},
        "versions": {"versioning": "on"},
    }

    def __init__(self):
        self.states = {}  # (bucket, key) → set of State
        self.acknowledged = 0
        self.undecided = 0

    def copy(self):
        """One that knows the same of a copy of the directory."""
        same = Oracle()
        same.states = dict(self.states)
        return same

    def make_buckets(self, client):
        for name, options in self.BUCKETS.items():
            answer = client.make_bucket(name, **options)
            assert answer.status == 201, f"bucket {name}: {answer.status} {answer.body!r}"

    def of(self, bucket, key):
        return self.states.get((bucket, key), {State()})

    def certain(self, bucket, key):
        """The only state that the key may be in; None when there are several."""
        states = self.of(bucket, key)
        return next(iter(states)) if len(states) == 1 else None

    def make(self, client, change):
        """Makes a change and notes its outcome; gives the status. Gone is noted and passed on."""
        try:
            status = _send(client, change).status
        except Gone:
            self.note_undecided(change)
            raise
        if 200 <= status < 300 or status == 404:
            self._note(change, status)
        elif status in (500, 503, 507):
            self.note_undecided(change)
        else:
            raise Wrong(f"{change}: {status}")
        return status

    def note_undecided(self, change):
        self.undecided += 1
        old = self.of(change.bucket, change.key)
        self.states[change.bucket, change.key] = old | self._successors(change, old)

    def _note(self, change, status):
        self.acknowledged += 1
        old = self.of(change.bucket, change.key)
        if status == 404:
            left = {state for state in old if self._after(change, state) is None}
        else:
            left = self._successors(change, old)
        if not left:
            raise Wrong(f"{change}: {status}, which cannot be from {_told(old)}")
        self.states[change.bucket, change.key] = left

    def _after(self, change, state):
        return after(change, state, self.BUCKETS[change.bucket])

    def _successors(self, change, states):
        return {self._after(change, state) for state in states} - {None}

    def saw(self, bucket, key, status, body, decides):
        """Takes what a read gave; Wrong when it cannot be. Gives what is visible."""
        if status not in (200, 404):
            raise Wrong(f"GET {bucket}/{key}: {status} {body[:300]!r}")
        visible = body if status == 200 else None
        old = self.of(bucket, key)
        left = {state for state in old if state.current == visible}
        if not left:
            what = "nothing" if visible is None else f"{len(visible)} bytes"
            raise Wrong(f"GET {bucket}/{key}: {what}, which cannot be from {_told(old)}")
        if decides:
            self.states[bucket, key] = left
        return visible

    def check(self, client, decides=True):
        """Reads everything and compares: bytes, listings, counters."""
        told = client.buckets()
        if told.keys() != self.BUCKETS.keys():
            raise Wrong(f"buckets are {sorted(told)}")
        for bucket in self.BUCKETS:
            sizes = {}
            for name, key in self.states:
                if name != bucket:
                    continue
                answer = client.get(bucket, key)
                visible = self.saw(bucket, key, answer.status, answer.body, decides)
                if visible is not None:
                    sizes[key] = len(visible)
            listed = client.list(bucket, page=7)
            if listed != sizes:
                raise Wrong(f"{bucket} lists {listed}, but can be read: {sizes}")
            counted = told[bucket]["objects"], told[bucket]["bytes"]
            if counted != (len(sizes), sum(sizes.values())):
                raise Wrong(f"{bucket} counts {counted}, but holds "
                            f"{len(sizes)}, {sum(sizes.values())}")
            self._check_kept(bucket, told[bucket])

    def _check_kept(self, bucket, told):
        """What is no longer visible and still there, by the counters of the bucket."""
        possible = self._trash_sums(bucket)
        kept = told["trashed_objects"], told["trashed_bytes"]
        if self.BUCKETS[bucket].get("versioning") == "on":
            # Delete markers are versions, too, and have no bytes.
            possible = {size for _, size in possible}
            kept = told["kept_bytes"]
        if kept not in possible:
            raise Wrong(f"{bucket} counts {kept} in its trash, "
                        f"possible is {sorted(possible)[:10]}")

    def _trash_sums(self, bucket):
        """What the counters of the trash may say: (objects, bytes)."""
        sums = {(0, 0)}
        for (name, _), states in self.states.items():
            if name != bucket:
                continue
            each = {(len(one.trash), sum(map(len, one.trash))) for one in states}
            sums = {(a + c, b + d) for a, b in sums for c, d in each}
        return sums


PART = 5 << 20  # what all parts but the last one have at least


def parts_of(data):
    return [data[at:at + PART] for at in range(0, max(len(data), 1), PART)]


def _send(client, change):
    if change.kind == "put":
        return client.put(change.bucket, change.key, change.data)
    if change.kind == "parts":
        return client.put_in_parts(change.bucket, change.key, parts_of(change.data))
    if change.kind == "delete":
        return client.delete(change.bucket, change.key)
    if change.kind == "undelete":
        return client.undelete(change.bucket, change.key)
    return client.copy(change.bucket, change.key, change.source)


def _told(states):
    return " or ".join("nothing" if one.current is None else f"{len(one.current)} bytes"
                       for one in states)
