#!/usr/bin/python3
"""What `make run` shows of the Python package, with Debian's Python alone.

    first_epoch.py images FOLDER COUNT    makes a small image set
    first_epoch.py epoch DATASET          streams an epoch of it, with figures
"""

import sys
import time
from pathlib import Path

import generated
import leat


def make_images(folder: Path, count: int) -> None:
    begun = time.monotonic()
    made = 0
    for number in range(count):
        path = folder / f"class-{number % generated.CLASSES}" / f"{number:06}.png"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(generated.image(number))
            made += 1
    print(f"{count} images, {made} of them new, in {time.monotonic() - begun:.1f} s")


def stream(name: str) -> None:
    begun = time.monotonic()
    dataset = leat.Dataset(name)
    opened = time.monotonic()
    print(f"{dataset!r}, opened in {(opened - begun) * 1000:.0f} ms")
    loader = leat.DataLoader(
        dataset, batch_size=256, seed=42, decode={"png": leat.Image(32)}, fields=["png"],
        progress=True)
    for number, batch in enumerate(loader):
        if number == 0:
            print(f"first batch after {(time.monotonic() - opened) * 1000:.0f} ms: "
                  f"{batch['png'].shape} of pixels")
    print(loader.report())
    again = leat.DataLoader(dataset, batch_size=100, seed=42, fields=["png"])
    batches = iter(again)
    for _ in range(len(again) // 2):
        next(batches)
    state = again.state_dict()
    print(f"a state of {len(str(state))} characters resumes on any number of ranks:\n  {state}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["images"]:
        make_images(Path(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1:2] == ["epoch"]:
        stream(sys.argv[2])
    else:
        sys.exit(__doc__)
