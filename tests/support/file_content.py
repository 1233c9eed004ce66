"""Files with known bytes, warm or cold."""

import os
import random


def content(size, seed=0):
    """`size` bytes that look random and are the same in every run."""
    return random.Random(f"{seed}/{size}").randbytes(size)


def make_file(path, size, seed=0):
    """Writes a file of known bytes and returns them."""
    data = content(size, seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return data


def make_cold(path):
    """Drops a file's pages from the page cache. False where the file system does not do that."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        try:
            os.preadv(descriptor, [bytearray(1)], 0, os.RWF_NOWAIT)
        except OSError:
            return True
        return False
    finally:
        os.close(descriptor)
