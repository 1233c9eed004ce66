"""Images made from a number, so that examples need no download and no image library.

Ten classes: one to five stripes, upright or lying, in a colour of their own, on noise.
"""

import random
import struct
import zlib

import leat

CLASSES = 10
SIDE = 48
_DARK = bytes(value // 3 for value in range(256))


def image(number: int) -> bytes:
    """A PNG of the class `number % CLASSES`."""
    drawn = random.Random(number)
    label = number % CLASSES
    pixels = bytearray(drawn.randbytes(SIDE * SIDE * 3).translate(_DARK))
    colour = bytes((40 + 21 * label, 255 - 23 * label, label * 83 % 256))
    for stripe in range(label % 5 + 1):
        begin = 2 + stripe * 9 + drawn.randrange(4)
        for along in range(2, SIDE - 2):
            for across in range(begin, begin + 4):
                y, x = (along, across) if label < 5 else (across, along)
                pixels[(y * SIDE + x) * 3 : (y * SIDE + x) * 3 + 3] = colour
    return png(bytes(pixels), SIDE, SIDE)


def png(pixels: bytes, width: int, height: int) -> bytes:
    """RGB pixels, row by row, as a PNG file."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        end = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + end

    rows = (pixels[row * width * 3 : (row + 1) * width * 3] for row in range(height))
    return b"".join((
        b"\x89PNG\r\n\x1a\n",
        chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows), 1)),
        chunk(b"IEND", b""),
    ))


def ensure(name: str, count: int) -> leat.Dataset:
    """The dataset `name` with `count` images; made if it is not there."""
    try:
        found = leat.Dataset(name)
        if len(found) == count:
            return found
    except leat.NotFound:
        pass
    bucket = name.partition("/")[0]
    if f"{bucket}/" not in leat.ls():
        leat.mb(bucket)
    with leat.Writer(name, message=f"{count} generated images") as writer:
        for number in range(count):
            key = f"class-{number % CLASSES}/{number:06}"
            writer.write({"__key__": key, "png": image(number), "cls": number % CLASSES})
    return leat.Dataset(name)
