"""Shards: tars of samples, made in memory, whose every field can be told from every other.

Sample 123 of a set is called 00000123 and lies in shard 123 // samples_per_shard. Its fields begin
with its number, so that a reader notices when it was given another one.
"""

import random
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = 512
# What follows the last member: two blocks of zeros, and more up to a record of twenty blocks, as
# `tar` writes it.
RECORD = 20 * BLOCK


@dataclass(frozen=True)
class Place:
    """Where the data of a field lies in its shard."""

    shard: int
    offset: int
    size: int


def padded(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


def header(name: str, size: int) -> bytes:
    """A ustar header of a plain file."""
    text = bytearray(BLOCK)

    def put(offset: int, content: bytes) -> None:
        text[offset : offset + len(content)] = content

    put(0, name.encode())
    put(100, b"0000644\0" + b"0000000\0" * 2)
    put(124, b"%011o\0" % size + b"%011o\0" % 0)
    put(148, b" " * 8)
    put(156, b"0")
    put(257, b"ustar\x0000")
    put(148, b"%06o\0 " % sum(text))
    return bytes(text)


def tar_of(members: Iterable[tuple[str, bytes]]) -> bytes:
    """A tar of files, by name and content."""
    parts = []
    for name, content in members:
        parts += [header(name, len(content)), content, bytes(padded(len(content)) - len(content))]
    body = b"".join(parts)
    end = -(-(len(body) + 2 * BLOCK) // RECORD) * RECORD
    return body + bytes(end - len(body))


@dataclass(frozen=True)
class Samples:
    """`count` samples with fields of fixed sizes, by extension, in shards of `per_shard`."""

    count: int
    fields: dict[str, int]
    per_shard: int
    seed: int = 1
    noise: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        largest = max(self.fields.values())
        object.__setattr__(self, "noise", random.Random(self.seed).randbytes(largest))

    @property
    def shards(self) -> int:
        return -(-self.count // self.per_shard)

    @property
    def sample_bytes(self) -> int:
        return sum(self.fields.values())

    def key(self, number: int) -> str:
        return f"{number:08}"

    def content(self, number: int, name: str) -> bytes:
        """A small field is its number in decimals, as a label is; a larger one begins with it."""
        size = self.fields[name]
        if size < 16:
            return b"%0*d" % (size, number % 10**size)
        return struct.pack("<Q", number) + self.noise[8:size]

    def numbers_in(self, shard: int) -> range:
        return range(shard * self.per_shard, min(self.count, (shard + 1) * self.per_shard))

    def stride(self) -> int:
        """Bytes from one sample to the next in a shard."""
        return sum(BLOCK + padded(size) for size in self.fields.values())

    def place(self, number: int, name: str) -> Place:
        shard, position = divmod(number, self.per_shard)
        offset = position * self.stride() + BLOCK
        for other, size in self.fields.items():
            if other == name:
                return Place(shard, offset, size)
            offset += padded(size) + BLOCK
        raise KeyError(name)

    def shard_bytes(self, shard: int) -> bytes:
        return tar_of(
            (f"{self.key(number)}.{name}", self.content(number, name))
            for number in self.numbers_in(shard)
            for name in self.fields
        )

    def shard_name(self, shard: int) -> str:
        return f"shard-{shard:06}.tar"

    def write(self, folder: Path) -> list[Path]:
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / self.shard_name(shard) for shard in range(self.shards)]
        for shard, path in enumerate(paths):
            path.write_bytes(self.shard_bytes(shard))
        return paths


def write_places(path: Path, places: list[Place]) -> Path:
    """The file of `pread_loop --places`: 32 bits shard, 32 bits size, 64 bits offset each."""
    path.write_bytes(b"".join(struct.pack("<IIQ", p.shard, p.size, p.offset) for p in places))
    return path
