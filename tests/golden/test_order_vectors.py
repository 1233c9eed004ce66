"""Order version 1 in Python, written from docs/formats/order.md alone, gives the golden vectors."""

from pathlib import Path

import pytest

VECTORS = Path(__file__).resolve().parent / "order-1.txt"
MASK = 2**64 - 1
STEP = 0x9E3779B97F4A7C15


def mix(x):
    x = (x + STEP) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def draws(key):
    while True:
        yield mix(key)
        key = (key + STEP) & MASK


def below(drawn, bound):
    while True:
        product = next(drawn) * bound
        if product & MASK >= 2**64 % bound:
            return product >> 64


def permutation(n, key):
    """The bijection of range(n), as a function."""
    if n <= 64:
        table = list(range(n))
        drawn = draws(key)
        for i in range(n - 1, 0, -1):
            j = below(drawn, i + 1)
            table[i], table[j] = table[j], table[i]
        return table.__getitem__
    bits = (n - 1).bit_length()
    keys = [mix((key + r * STEP) & MASK) for r in range(8)]

    def encipher(value):
        a, b = bits // 2, bits - bits // 2
        left, right = value >> b, value % 2**b
        for round_key in keys:
            left, right = right, left ^ (mix(right ^ round_key) % 2**a)
            a, b = b, a
        return left << b | right

    def walk(i):
        value = encipher(i)
        while value >= n:
            value = encipher(value)
        return value

    return walk


def chain(*words):
    key = 0
    for word in words:
        key = mix(key ^ word)
    return key


def epoch_order(shuffle, window, seed, epoch, fingerprint, counts):
    """Every (block, slot) in order, the slow way: windows are lists."""
    low, high = (int.from_bytes(fingerprint[at:at + 8], "little") for at in (0, 8))

    def key(level, w):
        return chain(1, low, high, seed, epoch, level, w)

    n = len(counts)
    windows = max(1, (2 * n + window) // (2 * window))
    blocks = permutation(n, key(1, 0)) if shuffle == "block" else lambda j: j
    order = []
    for w in range(windows):
        members = [(block, slot)
                   for block in map(blocks, range(w * n // windows, (w + 1) * n // windows))
                   for slot in range(counts[block])]
        if shuffle == "block":
            members = [members[p] for p in map(permutation(len(members), key(2, w)),
                                               range(len(members)))]
        order += members
    if shuffle == "full":
        everywhere = permutation(len(order), key(3, 0))
        order = [order[everywhere(i)] for i in range(len(order))]
    return order


def use(seed, number):
    return mix(mix(seed) ^ number)


def mixer_order(capacity, seed, items):
    drawn = draws(use(seed, 4))
    held, out = [], []
    for item in range(items):
        if len(held) < capacity:
            held.append(item)
            continue
        slot = below(drawn, capacity)
        out.append(held[slot])
        held[slot] = item
    rest = permutation(len(held), use(next(drawn), 5))
    return out + [held[rest(i)] for i in range(len(held))]


def shares(weights):
    rest, found = sum(weights), []
    for weight in weights[:-1]:
        found.append(int(min(1.0, weight / rest) * 2**32 + 0.5))
        rest -= weight
    return [*found, 2**32]


def pick(weights, position):
    def taken(positions, share):
        return (positions * share + 2**31) >> 32

    for source, share in enumerate(shares(weights)):
        before = taken(position, share)
        if taken(position + 1, share) > before:
            return source, before
        position -= before


def compute(kind, given):
    if kind == "pick":
        position, *weights = given
        first = int(position)
        return [f"{source}/{number}" for source, number in
                (pick([float(weight) for weight in weights], first + i) for i in range(12))]
    if kind == "epoch":
        shuffle, *numbers, fingerprint, blocks = given
        counts = [7 * block % 5 for block in range(int(blocks))]
        order = epoch_order(shuffle, *map(int, numbers), bytes.fromhex(fingerprint), counts)
        return [f"{block}/{slot}" for block, slot in order]
    numbers = list(map(int, given))
    if kind == "mix":
        return [mix(*numbers)]
    if kind == "below":
        drawn = draws(numbers[0])
        return [below(drawn, numbers[1]) for _ in range(8)]
    if kind == "permutation":
        n = numbers[0]
        walk = permutation(*numbers)
        return [walk(i) for i in [*range(min(n, 8)), n - 1]]
    if kind == "source":
        runs, seed = numbers
        return list(map(permutation(runs, use(seed, 6)), range(runs)))
    assert kind == "mixer"
    return mixer_order(*numbers)


def vectors():
    lines = VECTORS.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


KINDS = ["mix", "below", "permutation", "epoch", "pick", "source", "mixer"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_vectors_come_out_again(kind):
    lines = [line for line in vectors() if line.startswith(kind + " ")]
    assert lines
    for line in lines:
        given, _, expected = line.partition(":")
        assert [str(value) for value in compute(kind, given.split()[1:])] == expected.split(), given


def test_no_vector_is_of_an_unknown_kind():
    assert {line.split()[0] for line in vectors()} == set(KINDS)
