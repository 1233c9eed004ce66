"""The answer to a batch, taken apart: for verifying one before many are measured."""

import json
import struct
from dataclasses import dataclass

from harness.errors import BenchmarkError

HEADER = struct.Struct("<IBBHQ")
BYTES, SAMPLE, ERROR, END = range(4)


@dataclass(frozen=True)
class Frame:
    item: int
    kind: int
    status: int
    payload: bytes

    def fields(self) -> dict[str, bytes]:
        """Of a sample."""
        count, at, heads = struct.unpack_from("<I", self.payload)[0], 4, []
        for _ in range(count):
            size, name_size = struct.unpack_from("<QI", self.payload, at)
            at += 12
            heads.append((self.payload[at : at + name_size].decode(), size))
            at += name_size
        answer = {}
        for name, size in heads:
            answer[name] = self.payload[at : at + size]
            at += size
        return answer


def parse(answer: bytes) -> list[Frame]:
    """The frames of a whole answer, without its end. Raises unless it says that it is complete."""
    frames, at = [], 0
    while at < len(answer):
        item, kind, _, status, length = HEADER.unpack_from(answer, at)
        at += HEADER.size
        frames.append(Frame(item, kind, status, answer[at : at + length]))
        at += length + 4
    if not frames or frames[-1].kind != END or not json.loads(frames[-1].payload)["complete"]:
        told = [one.payload[:300] for one in frames if one.kind in (ERROR, END)]
        raise BenchmarkError(f"a batch is not complete: {told}")
    return frames[:-1]
