"""Test files: random bytes, kept in or driven out of the page cache, verified."""

import ctypes
import hashlib
import http.client
import mmap
import os
import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from harness.errors import BenchmarkError
from harness.servers import LIBC, PUT_FIELD, Server

MIB = 1 << 20
COLD_SHARE_MAX = 0.01
REMOVERS = 32

LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]


def size_name(size: int) -> str:
    return f"{size // MIB}MiB" if size >= MIB else f"{size // 1024}KiB"


def make_files(root: Path, prefix: str, count: int, size: int, seed: int = 1) -> list[Path]:
    """`count` files of `size` bytes, each beginning with its own number: none equals another."""
    block = random.Random(seed).randbytes(min(size, 4 * MIB))
    files = [root / f"{prefix}-{size_name(size)}-{number:06}" for number in range(count)]
    for number, path in enumerate(files):
        with path.open("wb") as file:
            file.write(number.to_bytes(8, "big") + block[8:])
            for start in range(len(block), size, len(block)):
                file.write(block[: size - start])
    return files


def remove_tree(root: Path) -> None:
    """Many at a time: where a deletion waits for the disk (ext4 with `discard`), one after the
    other takes minutes for a million files."""
    folders = [path for path in root.rglob("*") if path.is_dir() and not path.is_symlink()]
    with ThreadPoolExecutor(REMOVERS) as pool:
        list(pool.map(remove_files, folders))
    shutil.rmtree(root, ignore_errors=True)


def remove_files(folder: Path) -> None:
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)


def warm(files: list[Path]) -> None:
    buffer = bytearray(MIB)
    for path in files:
        with path.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


def resident_bytes(path: Path) -> int:
    """How much of the file is in the page cache, by mincore."""
    size = path.stat().st_size
    if size == 0:
        return 0
    with path.open("rb") as file:
        address = LIBC.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
    if address == ctypes.c_void_p(-1).value:
        raise BenchmarkError(f"cannot map {path}")
    try:
        pages = ctypes.create_string_buffer((size + mmap.PAGESIZE - 1) // mmap.PAGESIZE)
        if LIBC.mincore(address, size, pages) != 0:
            raise BenchmarkError(f"mincore of {path} failed")
        return min(size, pages.raw.count(1) * mmap.PAGESIZE)
    finally:
        LIBC.munmap(address, size)


def make_cold(files: list[Path]) -> None:
    """Drives files out of the page cache. Raises when over one percent stays."""
    os.sync()  # what was not written back yet would stay
    for path in files:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)
    resident = sum(resident_bytes(path) for path in files)
    total = sum(path.stat().st_size for path in files)
    if resident > total * COLD_SHARE_MAX:
        raise BenchmarkError(
            f"{resident} of {total} bytes stayed in the page cache; nothing cold to measure"
        )


def sha256_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verify_get(server: Server, path: Path) -> None:
    """One GET whose bytes must be the file's."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request("GET", f"/{path.name}")
        answer = connection.getresponse()
        digest = hashlib.sha256()
        while block := answer.read(MIB):
            digest.update(block)
    except (OSError, http.client.HTTPException) as error:
        raise BenchmarkError(f"{server.label}: GET /{path.name}: {error}") from error
    finally:
        connection.close()
    if answer.status != 200:
        raise BenchmarkError(f"{server.label}: GET /{path.name} answered {answer.status}")
    if digest.hexdigest() != sha256_of_file(path):
        raise BenchmarkError(f"{server.label}: GET /{path.name} gave wrong bytes")


def verify_put(server: Server, name: str, size: int) -> None:
    """One PUT whose bytes must be in the file afterwards. Removes the file."""
    body = random.Random(size).randbytes(size)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request("PUT", f"/{name}", body=body, headers=dict([PUT_FIELD]))
        answer = connection.getresponse()
        answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise BenchmarkError(f"{server.label}: PUT /{name}: {error}") from error
    finally:
        connection.close()
    if answer.status not in (200, 201, 204):
        raise BenchmarkError(f"{server.label}: PUT /{name} answered {answer.status}")
    stored = server.root / name
    if not stored.exists() or stored.read_bytes() != body:
        raise BenchmarkError(f"{server.label}: PUT /{name} stored wrong bytes")
    stored.unlink()
