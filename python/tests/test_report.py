"""Reports: what limits an epoch, judged from numbers that need no clock."""

import itertools

import pytest

import leat
from leat import _loader
from leat.report import PythonStage, Report, with_python


def measured(verdict, fix="do this"):
    """As the library tells it, of 10 s."""
    return {
        "samples": 1000,
        "threads": 2,
        "requests_at_once": 4,
        "stages": {
            "fetch": {"seconds": 4.0, "bytes": 1 << 20},
            "decode": {"seconds": 2.0},
            "consumer": {"seconds": 9.0},
        },
        "verdict": verdict,
        "fix": fix,
    }


@pytest.mark.parametrize("verdict", ["consumer", "network", "disk", "upstream", "decode"])
def test_what_the_library_found_is_said_with_its_fix(verdict):
    report = Report(measured(verdict, f"mend the {verdict}"), seconds=10.0, waited=1.0)
    assert (report.verdict, report.fix) == (verdict, f"mend the {verdict}")
    assert str(report).splitlines()[-2:] == [
        f"  limited by: {verdict}",
        f"  try: mend the {verdict}",
    ]


@pytest.mark.parametrize("found", ["consumer", "network", "decode"])
def test_functions_that_the_loop_waits_for_are_the_verdict(found):
    stage = PythonStage(seconds=8.0, waited=8.0, threads=1)
    data = with_python(measured(found), stage, seconds=10.0, waited=9.0)
    assert data["verdict"] == "transform"
    assert "leat.Image" in data["fix"]
    assert data["stages"]["python"]["consumer_waited_seconds"] == 8.0
    assert data["stages"]["consumer"]["seconds"] == 1.0, "what is left of the loop is the consumer"


@pytest.mark.parametrize("found", ["network", "decode"])
def test_functions_that_wait_for_bytes_themselves_are_not_the_verdict(found):
    stage = PythonStage(seconds=2.0, waited=1.0, threads=1)
    assert with_python(measured(found), stage, seconds=10.0, waited=8.0)["verdict"] == found


def test_functions_that_nobody_waits_for_are_not_the_verdict():
    stage = PythonStage(seconds=9.0, waited=0.3, threads=4)
    data = with_python(measured("consumer"), stage, seconds=10.0, waited=0.4)
    assert data["verdict"] == "consumer"


def test_rates_have_each_part_alone():
    stage = PythonStage(seconds=8.0, waited=8.0, threads=2)
    data = with_python(measured("network"), stage, seconds=10.0, waited=9.0)
    assert Report(data, seconds=10.0, waited=9.0).rates() == {
        "fetch": 1000.0,
        "decode": 1000.0,
        "python": 250.0,
        "consumer": 1000.0,
    }


class Clock:
    """Moves when it is told to, and by a hair whenever it is read: nothing takes no time."""

    def __init__(self):
        self.now = 0.0
        self._readings = itertools.count(1)

    def __call__(self):
        return self.now + next(self._readings) * 1e-9


def test_the_time_of_a_transform_is_the_transforms(numbered, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(_loader, "_clock", clock)

    def slow(sample):
        clock.now += 1.0
        return sample["__key__"]

    loader = leat.DataLoader(numbered, 50, transform=slow, to="numpy")
    assert sum(len(batch) for batch in loader) == 1000
    report = loader.report()
    python = report.data["stages"]["python"]
    assert python["seconds"] == pytest.approx(1000)
    assert report.seconds == pytest.approx(1000)
    assert report.wait_share > 0.9
    assert report.verdict == "transform"
    assert report.rates()["python"] == pytest.approx(1)
    assert "limited by: transform" in str(report)


def test_a_report_of_an_epoch_is_text_numbers_and_a_picture(numbered, tmp_path):
    loader = leat.DataLoader(numbered, 50)
    assert "no epoch" in str(loader.report())
    list(loader)
    report = loader.report()
    assert report.samples == 1000
    assert 0 <= report.wait_share <= 1
    assert "python" not in report.data["stages"], "it had no part in it"
    assert report.to_dict()["wait_seconds"] == report.waited
    for suffix in (".png", ".svg"):
        assert report.plot(tmp_path / f"roofline{suffix}").stat().st_size > 1000
