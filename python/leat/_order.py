"""The order of an epoch in plain Python: docs/formats/order.md, order_version 1.

The library computes orders some hundred times faster. This second implementation shares the golden
vectors with it and is what tests hold it against; it also shows, in a page, why a job can resume
from four numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

ORDER_VERSION = 1

_MASK = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15
_ROUNDS = 8
_TABLE_MAX = 64


def mix(x: int) -> int:
    """One step of SplitMix64."""
    x = (x + _STEP) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def draws(key: int) -> Iterator[int]:
    """The numbers that a key draws."""
    while True:
        yield mix(key)
        key = (key + _STEP) & _MASK


def below(drawn: Iterator[int], bound: int) -> int:
    """The next number that is uniform in range(bound)."""
    while True:
        product = next(drawn) * bound
        if product & _MASK >= 2**64 % bound:
            return product >> 64


def permutation(n: int, key: int) -> Callable[[int], int]:
    """A bijection of range(n) that costs no memory above n = 64."""
    return _table(n, key) if n <= _TABLE_MAX else _network(n, key)


def _table(n: int, key: int) -> Callable[[int], int]:
    table = list(range(n))
    drawn = draws(key)
    for i in range(n - 1, 0, -1):
        j = below(drawn, i + 1)
        table[i], table[j] = table[j], table[i]
    return table.__getitem__


def _network(n: int, key: int) -> Callable[[int], int]:
    bits = (n - 1).bit_length()
    keys = [mix((key + number * _STEP) & _MASK) for number in range(_ROUNDS)]

    def encipher(value: int) -> int:
        a, b = bits // 2, bits - bits // 2
        left, right = value >> b, value & ((1 << b) - 1)
        for round_key in keys:
            left, right = right, left ^ (mix(right ^ round_key) & ((1 << a) - 1))
            a, b = b, a
        return left << b | right

    def walk(i: int) -> int:
        value = encipher(i)
        while value >= n:
            value = encipher(value)
        return value

    return walk


def epoch(
    counts: Sequence[int],
    *,
    shuffle: str = "block",
    window: int = 64,
    seed: int = 0,
    epoch: int = 0,
    fingerprint: bytes = bytes(16),
) -> list[tuple[int, int]]:
    """(block, slot) of every position; ``counts[b]`` samples are in block b.

    ``window`` is in blocks. ``fingerprint`` is that of the snapshot.
    """
    low, high = (int.from_bytes(fingerprint[at : at + 8], "little") for at in (0, 8))

    def key(level: int, number: int) -> int:
        chained = 0
        for word in (ORDER_VERSION, low, high, seed, epoch, level, number):
            chained = mix(chained ^ word)
        return chained

    n = len(counts)
    windows = max(1, (2 * n + window) // (2 * window))
    block_at = permutation(n, key(1, 0)) if shuffle == "block" else int
    order: list[tuple[int, int]] = []
    for number in range(windows):
        laid_out = [
            (block, slot)
            for block in map(block_at, range(number * n // windows, (number + 1) * n // windows))
            for slot in range(counts[block])
        ]
        if shuffle == "block":
            sample_at = permutation(len(laid_out), key(2, number))
            laid_out = [laid_out[sample_at(i)] for i in range(len(laid_out))]
        order += laid_out
    if shuffle == "full":
        sample_at = permutation(len(order), key(3, 0))
        order = [order[sample_at(i)] for i in range(len(order))]
    return order


def rows(counts: Sequence[int], places: Sequence[tuple[int, int]]) -> list[int]:
    """Places as row numbers: rows count the samples block by block."""
    first = [0]
    for count in counts:
        first.append(first[-1] + count)
    return [first[block] + slot for block, slot in places]


def shares(weights: Sequence[float]) -> list[int]:
    """Of each source of a mix among itself and those behind it, in units of 2**-32."""
    rest = 0.0
    for weight in weights:
        rest += weight
    found = []
    for weight in weights:
        # Rounded half away from zero, as C's llround() does it.
        found.append(int(min(1.0, weight / rest) * 2**32 + 0.5))
        rest -= weight
    found[-1] = 2**32
    return found


def _taken(positions: int, share: int) -> int:
    """How many of the first ``positions`` have the share, rounded."""
    return (positions * share + 2**31) >> 32


def pick(weights: Sequence[float], position: int) -> tuple[int, int]:
    """Which source stands at a position of a mix, and as its how-manieth."""
    for source, share in enumerate(shares(weights)):
        before = _taken(position, share)
        if _taken(position + 1, share) > before:
            return source, before
        position -= before
    raise AssertionError("the last source takes all that is left")


def until_used_up(weights: Sequence[float], sizes: Sequence[int]) -> int:
    """Positions of a mix until a source would be asked for more than it has."""
    known = shares(weights)

    def fits(positions: int) -> bool:
        for share, size in zip(known, sizes):
            count = _taken(positions, share)
            if count > size:
                return False
            positions -= count
        return True

    low, high = 0, 2 * sum(sizes) + len(sizes)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def source_order(runs: int, seed: int) -> Callable[[int], int]:
    """In which order ingest reads runs of neighbouring items."""
    return permutation(runs, _use(seed, 6))


def mixed(capacity: int, seed: int, items: int) -> list[int]:
    """In which order items leave the mixer of ingest."""
    drawn = draws(_use(seed, 4))
    held: list[int] = []
    out: list[int] = []
    for item in range(items):
        if len(held) < capacity:
            held.append(item)
            continue
        slot = below(drawn, capacity)
        out.append(held[slot])
        held[slot] = item
    rest = permutation(len(held), _use(next(drawn), 5))
    return out + [held[rest(i)] for i in range(len(held))]


def _use(seed: int, number: int) -> int:
    return mix(mix(seed) ^ number)
