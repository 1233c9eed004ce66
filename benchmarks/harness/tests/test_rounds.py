from harness.rounds import Pace, interleave


class FakeClock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_legs_alternate_and_every_other_round_goes_backwards():
    order = []
    legs = {name: lambda name=name: order.append(name) for name in ("leat", "nginx")}
    interleave(legs, 3, Pace(None, cells=1))
    assert order == ["leat", "nginx", "nginx", "leat", "leat", "nginx"]


def test_every_leg_has_one_sample_a_round():
    samples = interleave({"a": lambda: 1, "b": lambda: 2}, 4, Pace(None, cells=1))
    assert samples == {"a": [1, 1, 1, 1], "b": [2, 2, 2, 2]}


def rounds_run(clock: FakeClock, pace: Pace, leg_seconds: float) -> int:
    def leg() -> None:
        clock.now += leg_seconds

    return len(interleave({"a": leg}, 10, pace)["a"])


def test_a_slow_cell_gets_fewer_rounds_but_never_none():
    clock = FakeClock()
    pace = Pace(20, cells=2, clock=clock)
    assert rounds_run(clock, pace, leg_seconds=4) == 2
    assert rounds_run(clock, pace, leg_seconds=30) == 1


def test_time_a_quick_cell_saves_goes_to_the_next():
    clock = FakeClock()
    pace = Pace(20, cells=2, clock=clock)
    assert rounds_run(clock, pace, leg_seconds=0.1) == 10
    assert rounds_run(clock, pace, leg_seconds=4) == 4
