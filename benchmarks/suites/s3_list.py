"""Listing all objects of a bucket through S3 in pages of 1000: keys per second, and memory."""

import http.client
import re
import time
from dataclasses import dataclass
from functools import partial

from harness import machine, store
from harness.context import Context
from harness.errors import BenchmarkError
from harness.report import Cell, Report
from harness.rounds import interleave
from harness.s3 import Session, keys_of_page
from harness.servers import PUT_FIELD, Server
from harness.stats import median

TARGETS = ["leat", "store_bench"]
SIZE = 100
PAGE = 1000
S3, NATIVE = "leat", "native list"
NEXT_AFTER = re.compile(rb'"next_after":"([^"]*)"')
KEYS_PER_S = 200_000
# What the process may have grown by the end of a listing, beyond what its first pages took.
GROWTH_MIB = 16


@dataclass(frozen=True)
class Listing:
    keys_per_s: float
    cpu_us_per_key: float
    growth_mib: float
    page_bytes: float


def pages_by_s3(server: Server):
    with Session(server) as session:
        document, after = session.list_page(server.bucket, None)
        yield document
        while after is not None:
            document, after = session.list_page(server.bucket, after)
            yield document


def pages_by_native(server: Server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    after = b""
    while after is not None:
        path = f"/_/v1/list/{server.bucket}?max={PAGE}&after={after.decode()}"
        connection.request("GET", path, headers=dict([PUT_FIELD]))
        answer = connection.getresponse()
        document = answer.read()
        if answer.status != 200:
            raise BenchmarkError(f"GET {path} answered {answer.status}")
        yield document
        # Found without reading the whole document, as in the other leg. Keys have no escapes here.
        found = NEXT_AFTER.search(document)
        after = found.group(1) if found else None
    connection.close()


def measure(server: Server, pages, count: int) -> Listing:
    cpu, start, number, size, warm_rss = server.cpu_seconds(), time.monotonic(), 0, 0, 0
    for document in pages(server):
        number += 1
        size += len(document)
        if number == 5:
            warm_rss = server.rss_bytes()
    seconds = time.monotonic() - start
    if number != (count + PAGE - 1) // PAGE:
        raise BenchmarkError(f"{number} pages came for {count} keys")
    return Listing(
        keys_per_s=count / seconds,
        cpu_us_per_key=(server.cpu_seconds() - cpu) * 1e6 / count,
        growth_mib=max(0, server.rss_bytes() - warm_rss) / store.MIB,
        page_bytes=size / number,
    )


def verify(server: Server, count: int) -> None:
    """All keys, each once, in order."""
    number = 0
    for document in pages_by_s3(server):
        for key in keys_of_page(document):
            if key != store.object_name(number):
                raise BenchmarkError(f"key {number} is listed as {key}")
            number += 1
    if number != count:
        raise BenchmarkError(f"{number} keys were listed, not {count}")


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("s3_list has no self-test: no other server has these objects")
    count = 100_000 if context.quick else 1_000_000
    context.say(f"writing {count} objects")
    store.fill(context, context.work / "store", count, SIZE)
    with context.store(context.work / "store") as server:
        verify(server, count)
        legs = {
            S3: partial(measure, server, pages_by_s3, count),
            NATIVE: partial(measure, server, pages_by_native, count),
        }
        samples = interleave(legs, context.rounds_or(quick=3, full=5), context.pace(1))
        rss = server.rss_bytes() / store.MIB
        facts = machine.facts(context.work, {"leat": server.version()})

    def middle(leg: str, field: str) -> float:
        return median(getattr(one, field) for one in samples[leg])

    def pair(field: str, form: str) -> str:
        return " / ".join(format(middle(leg, field), form) for leg in (S3, NATIVE))

    columns = {
        "CPU µs/key": pair("cpu_us_per_key", ".2f"),
        "KB/page": " / ".join(f"{middle(leg, 'page_bytes') / 1000:.0f}" for leg in (S3, NATIVE)),
    }
    name = f"{count // 1000}k keys"
    cells = [
        Cell(name, middle(S3, "keys_per_s"), NATIVE, middle(NATIVE, "keys_per_s"),
             columns=columns),
        Cell(name, middle(S3, "keys_per_s"), "limit", KEYS_PER_S, target=1.0),
        Cell(f"{name}, growth of RSS", middle(S3, "growth_mib"), NATIVE,
             middle(NATIVE, "growth_mib"), unit="MiB", bound=GROWTH_MIB, smaller_is_better=True),
    ]
    notes = [
        "Pairs are S3 / native list. One connection, page after page, signatures verified;",
        "the client signs and looks for the next token only. Server and client have a core each.",
        f"The growth is that from the fifth page to the last; the process has {rss:.0f} MiB then.",
        "No other S3 server stands beside it: none was at hand that holds so many objects.",
    ]
    return Report("s3_list", "keys/s", facts, cells, notes)
