import pytest

from harness.crc64 import crc64, crc64_of_repeated


def test_the_check_value_of_the_catalogue():
    assert crc64(b"123456789") == 0xAE8B14860A799888


@pytest.mark.parametrize("doublings", range(5))
def test_a_repeated_block_is_summed_as_if_it_were_written_out(doublings):
    block = bytes(range(250, 256)) + b"block"
    assert crc64_of_repeated(block, doublings) == crc64(block * 2**doublings)
