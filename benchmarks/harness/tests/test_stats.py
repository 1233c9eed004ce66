import pytest

from harness.stats import median, ratio


def test_the_median_of_an_even_count_lies_between_the_middle_two():
    assert median([4.0, 1.0, 3.0, 2.0]) == 2.5


def test_one_wild_round_does_not_move_the_median():
    assert median([10.0, 11.0, 900.0]) == 11.0


def test_a_faster_leat_has_a_ratio_above_one():
    assert ratio(leat=300, peer=200) == pytest.approx(1.5)


def test_a_smaller_latency_of_leat_has_a_ratio_above_one_too():
    assert ratio(leat=2, peer=30, smaller_is_better=True) == pytest.approx(15)


def test_a_peer_at_zero_does_not_divide_by_zero():
    assert ratio(leat=1, peer=0) == float("inf")
    assert ratio(leat=0, peer=0) == 1.0
