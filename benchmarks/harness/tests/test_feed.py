import json

import pytest

from harness.errors import BenchmarkError
from harness.feed import Epoch, is_exact, merged, parse
from harness.feeder import Taken, rate_cells

EPOCH = {
    "samples": 4, "bytes": 16, "sum": 6, "seconds": 2.0, "first_batch_s": 0.1, "cpu_seconds": 1.0,
    "utilisation": 0.0, "same_class": 0.0,
}
FED = {"epochs": [EPOCH], "made_s": 1.0, "first_batch_s": 1.1, "memory_bytes": 5}


def test_a_good_line_is_read():
    fed = parse(json.dumps(FED))
    assert fed.epochs[0].samples_per_s == 2.0
    assert fed.epochs[0].cpu_s_per_million == 250_000


def test_a_loop_without_samples_is_no_loop():
    with pytest.raises(BenchmarkError, match="no samples"):
        parse(json.dumps(FED | {"epochs": [EPOCH | {"samples": 0}]}))


def test_an_epoch_is_exact_when_every_number_came_once():
    assert is_exact(Epoch(**EPOCH), 4)
    assert not is_exact(Epoch(**(EPOCH | {"sum": 7})), 4)
    assert not is_exact(Epoch(**EPOCH), 5)


def test_epochs_are_added_up():
    both = merged([Epoch(**EPOCH), Epoch(**(EPOCH | {"seconds": 6.0}))])
    assert (both.samples, both.seconds, both.samples_per_s) == (8, 8.0, 1.0)


def test_the_target_is_against_the_fastest_peer_and_against_the_limit():
    def at(rate: float) -> list[Taken]:
        return [Taken(Epoch(**(EPOCH | {"samples": rate * 2})))]

    taken = {"leat": at(300), "webdataset": at(90), "folder": at(100), "pread": at(400)}
    cells = rate_cells("4KiB", taken, over_peers=3.0, over_limit=0.6)
    judged = {cell.peer: (cell.target, cell.met) for cell in cells}
    assert judged == {
        "webdataset": (None, None),
        "folder of files": (3.0, True),
        "C++ pread loop": (0.6, True),
    }
