"""CRC-64/NVME, the checksum that S3's own clients send, of bodies that repeat a short block."""

POLYNOMIAL = 0x9A6C9329AC4BC9B5  # reflected
MASK = (1 << 64) - 1


def table_entry(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (POLYNOMIAL if byte & 1 else 0)
    return byte


TABLE = [table_entry(byte) for byte in range(256)]


def crc64(content: bytes) -> int:
    crc = MASK
    for byte in content:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ MASK


def apply(matrix: list[int], vector: int) -> int:
    answer = 0
    for column in matrix:
        if vector & 1:
            answer ^= column
        vector >>= 1
    return answer


def crc64_of_repeated(block: bytes, doublings: int) -> int:
    """Of the block, written 2 ** doublings times. The sum of two pieces is the first one's, carried
    over as many zeros as the second one is long, and the second one's: carrying is linear."""
    bits = [1 << bit for bit in range(64)]
    one_byte = [TABLE[bit & 0xFF] ^ (bit >> 8) for bit in bits]
    carry, power, length = bits, one_byte, len(block)
    while length:
        if length & 1:
            carry = [apply(power, column) for column in carry]
        power = [apply(power, column) for column in power]
        length >>= 1
    crc = crc64(block)
    for _ in range(doublings):
        crc ^= apply(carry, crc)
        carry = [apply(carry, column) for column in carry]
    return crc
