"""The order in Python gives the golden vectors that the C++ code gives."""

from pathlib import Path

import pytest

from leat import _order

VECTORS = Path(__file__).resolve().parents[2] / "tests/golden/order-1.txt"


def compute(kind, given):
    if kind == "epoch":
        shuffle, *numbers, fingerprint, blocks = given
        window, seed, epoch = map(int, numbers)
        order = _order.epoch(
            [7 * block % 5 for block in range(int(blocks))],
            shuffle=shuffle,
            window=window,
            seed=seed,
            epoch=epoch,
            fingerprint=bytes.fromhex(fingerprint),
        )
        return [f"{block}/{slot}" for block, slot in order]
    if kind == "pick":
        first, *weights = given
        shares = [float(weight) for weight in weights]
        picks = (_order.pick(shares, int(first) + i) for i in range(12))
        return [f"{source}/{number}" for source, number in picks]
    numbers = list(map(int, given))
    if kind == "mix":
        return [_order.mix(*numbers)]
    if kind == "below":
        drawn = _order.draws(numbers[0])
        return [_order.below(drawn, numbers[1]) for _ in range(8)]
    if kind == "permutation":
        walk = _order.permutation(*numbers)
        return [walk(i) for i in [*range(min(numbers[0], 8)), numbers[0] - 1]]
    if kind == "source":
        return list(map(_order.source_order(*numbers), range(numbers[0])))
    assert kind == "mixer"
    return _order.mixed(*numbers)


KINDS = ["mix", "below", "permutation", "epoch", "pick", "source", "mixer"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_golden_vectors_come_out(kind):
    lines = [line for line in VECTORS.read_text().splitlines() if line.startswith(kind + " ")]
    assert lines
    for line in lines:
        given, _, expected = line.partition(":")
        assert [str(value) for value in compute(kind, given.split()[1:])] == expected.split(), given


def test_a_mix_has_its_proportions_at_every_length():
    weights = [5.0, 3.0, 2.0]
    counts = [0, 0, 0]
    for position in range(1000):
        source, number = _order.pick(weights, position)
        assert number == counts[source]
        counts[source] += 1
        for count, weight in zip(counts, weights):
            assert abs(count - (position + 1) * weight / 10) <= 1
        if (position + 1) % 10 == 0:
            assert counts == [(position + 1) * weight / 10 for weight in weights]
    sizes = [100, 1000, 1000]
    end = _order.until_used_up(weights, sizes)
    assert sum(_order.pick(weights, position)[0] == 0 for position in range(end)) == 100
    assert _order.pick(weights, end)[0] == 0


def test_every_position_is_another_place():
    counts = [3, 0, 5, 1, 8, 2]
    for shuffle in ("none", "block", "full"):
        places = _order.epoch(counts, shuffle=shuffle, window=2, seed=7)
        assert sorted(_order.rows(counts, places)) == list(range(sum(counts)))
