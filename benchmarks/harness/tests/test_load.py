import json

import pytest

from harness.errors import BenchmarkError
from harness.load import flags, parse

GOOD = {"requests": 10, "bytes": 40960, "seconds": 1.0, "errors": 0}


def test_a_good_line_is_read():
    assert parse(json.dumps(GOOD))["bytes"] == 40960


def test_a_failed_request_spoils_the_run():
    with pytest.raises(BenchmarkError, match="3 requests failed"):
        parse(json.dumps(GOOD | {"errors": 3}))


def test_a_run_that_moved_nothing_is_no_run():
    with pytest.raises(BenchmarkError, match="transferred nothing"):
        parse(json.dumps(GOOD | {"bytes": 0}))


def test_an_empty_answer_is_explained():
    with pytest.raises(BenchmarkError, match="no JSON"):
        parse("")


def test_options_become_flags():
    assert flags(body_bytes=4, random=True, seed=None) == ["--body-bytes", "4", "--random"]
