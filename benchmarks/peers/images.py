"""Makes JPEGs of ImageNet's shape: about 500 × 375 pixels and 110 KB, none like another.

images.py COUNT FOLDER writes 000000.jpg …
"""

import sys
from pathlib import Path

import numpy
from PIL import Image

WIDTH, HEIGHT = 500, 375
BYTES = 110_000


def picture(number: int) -> Image.Image:
    """Smooth colours with noise on them: what a codec finds in photographs."""
    random = numpy.random.default_rng(number)
    small = random.integers(0, 256, (6, 8, 3), dtype=numpy.uint8)
    smooth = numpy.asarray(Image.fromarray(small).resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC))
    noise = random.normal(0, 18, (HEIGHT, WIDTH, 1)) + random.normal(0, 6, (HEIGHT, WIDTH, 3))
    return Image.fromarray(numpy.clip(smooth + noise, 0, 255).astype(numpy.uint8))


def write(image: Image.Image, path: Path) -> None:
    """With the quality that comes nearest to the size wanted."""
    for quality in range(96, 40, -4):
        image.save(path, quality=quality)
        if path.stat().st_size <= BYTES * 1.1:
            return


def main() -> None:
    count, folder = int(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        write(picture(number), folder / f"{number:06}.jpg")


if __name__ == "__main__":
    main()
