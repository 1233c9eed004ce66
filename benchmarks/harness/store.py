"""Stores and their peers without a server: runs store_bench, fills stores, asks them over HTTP."""

import http.client
import json
import os
import random
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness import build, files
from harness.context import Context
from harness.errors import BenchmarkError
from harness.load import flags
from harness.servers import PUT_FIELD, Server, pin_child

FIELD = ": ".join(PUT_FIELD)
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
# Free space that a benchmark leaves alone.
SPARE_BYTES = 8 * GIB


@dataclass(frozen=True)
class Figures:
    """What store_bench said of one command."""

    operations: int
    seconds: float
    per_s: float
    mb_per_s: float
    latency_us: dict[str, float]
    rss_bytes: int


def parse(line: str) -> Figures:
    try:
        answer = json.loads(line)
    except json.JSONDecodeError as error:
        raise BenchmarkError(f"store_bench printed no JSON: {line[:200]!r}") from error
    if answer["operations"] == 0:
        raise BenchmarkError("store_bench did nothing")
    return Figures(**{name: answer[name] for name in Figures.__dataclass_fields__})


def run(command: str, cores: list[int], expect_code: int = 0, **options: object) -> Figures:
    """One command of store_bench on `cores`; options are its flags."""
    line = [build.binary(build.STORE_BENCH), command, *flags(**options)]
    done = subprocess.run(line, capture_output=True, text=True, preexec_fn=pin_child(*cores))
    if done.returncode != expect_code:
        raise BenchmarkError(
            f"store_bench {command} ended with {done.returncode}: {done.stderr.strip()}"
        )
    return parse(done.stdout)


def both(context: Context) -> list[int]:
    return [context.cores.server, context.cores.client]


def fresh(context: Context, leg: str, command: str, **options: object) -> Figures:
    """A command on a new directory, which is gone afterwards, also from the disk's queue."""
    directory = context.work / leg
    directory.mkdir()
    try:
        return run(command, both(context), dir=directory, **options)
    finally:
        remove(directory)


def remove(directory: Path) -> None:
    files.remove_tree(directory)
    os.sync()


def fill(context: Context, root: Path, count: int, size: int, first: int = 0) -> Figures:
    """`count` more objects, checkpointed. They are in the page cache as far as that is large."""
    need_space(root.parent, count * (size + 512))
    return run(
        "fill", both(context), dir=root, count=count, size=size, first=first, tasks=128
    )


def need_space(path: Path, needed: int) -> None:
    free = shutil.disk_usage(path).free
    if free < needed + SPARE_BYTES:
        raise BenchmarkError(
            f"{path} has {free / GIB:.1f} GiB free; {(needed + SPARE_BYTES) / GIB:.1f} are needed"
        )


def allocated_bytes(root: Path) -> int:
    """What `du` says: blocks of files and folders."""
    return sum(
        path.lstat().st_blocks * 512 for path in [root, *root.rglob("*")]
    )


def request(server: Server, method: str, path: str, body: bytes | None = None) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request(method, path, body=body, headers=dict([PUT_FIELD]))
        answer = connection.getresponse()
        content = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise BenchmarkError(f"{server.label}: {method} {path}: {error}") from error
    finally:
        connection.close()
    if answer.status not in (200, 201, 204):
        raise BenchmarkError(f"{server.label}: {method} {path} answered {answer.status}")
    return content


def object_name(number: int) -> str:
    """As store_bench and http_load name it."""
    return f"{number // 1000:05}/{number % 1000:03}"


def verify_numbers(server: Server, count: int, size: int, samples: int = 20) -> None:
    """Some objects of a fill begin with their own number and are as long as they should be."""
    for number in random.Random(count).sample(range(count), min(samples, count)):
        content = request(server, "GET", server.url_prefix + object_name(number))
        if len(content) != size or content[:8] != number.to_bytes(8, "little"):
            raise BenchmarkError(f"{server.label}: object {number} has wrong bytes")
