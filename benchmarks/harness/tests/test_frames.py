import struct

import pytest

from harness import frames
from harness.errors import BenchmarkError


def frame(item: int, kind: int, payload: bytes) -> bytes:
    return struct.pack("<IBBHQ", item, kind, 0, 200, len(payload)) + payload + bytes(4)


def test_a_sample_is_its_fields():
    payload = struct.pack("<IQI", 1, 4, 3) + b"jpg" + b"meow"
    answer = frame(0, frames.SAMPLE, payload) + frame(1, frames.END, b'{"complete": true}')
    assert [one.fields() for one in frames.parse(answer)] == [{"jpg": b"meow"}]


def test_an_answer_without_its_end_is_no_answer():
    with pytest.raises(BenchmarkError, match="not complete"):
        frames.parse(frame(0, frames.BYTES, b"meow"))


def test_an_answer_that_says_that_it_failed_is_no_answer():
    with pytest.raises(BenchmarkError, match="not complete"):
        frames.parse(frame(0, frames.END, b'{"complete": false}'))
