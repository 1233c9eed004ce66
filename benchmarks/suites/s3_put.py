"""PUT through S3 with CRC64NVME and an MD5 ETag, beside PUTs that have less to compute."""

import base64
import hashlib
import os
import random
import subprocess
import time
from dataclasses import dataclass
from functools import partial

from harness import build, crc64, files, load, machine
from harness.cells import rate_cell
from harness.context import Context
from harness.errors import BenchmarkError
from harness.load import Sample
from harness.report import Report
from harness.rounds import interleave
from harness.s3 import Session, write_recorded
from harness.servers import PUT_FIELD, Server
from harness.sigv4 import REGION, UNSIGNED, Request

KIB, MIB = 1 << 10, 1 << 20
# What http_load repeats until a body is long enough.
BLOCK = 4 * KIB
FULL, NO_MD5 = "bench", "fast"
# The legs besides `leat`: what each leaves out or adds.
NATIVE = "native PUT (CRC32C alone)"
FAST = "S3, etag=fast"
HASHED = "S3, payload signed (SHA-256)"


@dataclass(frozen=True)
class Work:
    name: str
    doublings: int  # of the block
    connections: int
    count: int

    @property
    def size(self) -> int:
        return BLOCK << self.doublings


def works(quick: bool) -> list[Work]:
    share = 4 if quick else 1
    return [
        Work("4KiB/16", 0, 16, 20_000 // share),
        Work("128KiB/16", 5, 16, 4000 // share),
        Work("1MiB/16", 8, 16, 1000 // share),
        Work("64MiB/1", 14, 1, 16 // share),
        Work("64MiB/4", 14, 4, 16 // share),
    ]


class Puts:
    """All legs put the same body; each leg has names of its own, the same in every round."""

    def __init__(self, context: Context, server: Server) -> None:
        self.context = context
        self.server = server
        self.block = random.Random(1).randbytes(BLOCK)
        self.block_file = context.work / "block"
        self.block_file.write_bytes(self.block)

    def crc_of(self, work: Work) -> str:
        value = crc64.crc64_of_repeated(self.block, work.doublings)
        return base64.b64encode(value.to_bytes(8, "big")).decode()

    def sha_of(self, work: Work) -> str:
        digest = hashlib.sha256()
        for _ in range(1 << work.doublings):
            digest.update(self.block)
        return digest.hexdigest()

    def request(self, leg: str, work: Work, number: int) -> Request:
        bucket = NO_MD5 if leg == FAST else FULL
        return Request(
            "PUT",
            f"/{bucket}/{work.size}/{number:06}",
            fields={"x-amz-checksum-crc64nvme": self.crc_of(work)},
            payload=self.sha_of(work) if leg == HASHED else UNSIGNED,
        )

    def requests(self, leg: str, work: Work) -> dict[str, object]:
        """What http_load is told to send."""
        if leg == NATIVE:
            listing = self.context.work / "put.paths"
            names = [f"/_/v1/objects/{FULL}/{work.size}/{n:06}" for n in range(work.count)]
            listing.write_text("".join(f"{name}\n" for name in names))
            return {"paths_file": listing, "field": ": ".join(PUT_FIELD)}
        first = self.request(leg, work, 0)
        with Session(self.server) as session:
            records = [
                session.record(
                    Request("PUT", f"{first.path[:-6]}{number:06}", fields=first.fields,
                            payload=first.payload),
                    shared_body_bytes=work.size,
                )
                for number in range(work.count)
            ]
        return {"recorded": write_recorded(self.context.work / "put.recorded", records)}

    def measure(self, leg: str, work: Work) -> Sample:
        requests = self.requests(leg, work)
        sample = self.context.load(
            self.server,
            method="PUT",
            connections=work.connections,
            requests=work.count,
            body_bytes=work.size,
            body_file=self.block_file,
            **requests,
        )
        os.sync()
        return sample

    def verify(self, leg: str) -> None:
        """One object of the leg has the right bytes, and an ETag as it should be."""
        work = Work("verify", 3, 1, 1)
        self.measure(leg, work)
        bucket = NO_MD5 if leg == FAST else FULL
        body = self.block * (1 << work.doublings)
        with Session(self.server) as session:
            answer = session.ask("GET", f"/{bucket}/{work.size}/000000")
        if answer.content != body:
            raise BenchmarkError(f"{leg}: wrong bytes were stored")
        is_md5 = answer.fields["etag"].strip('"') == hashlib.md5(body).hexdigest()
        if is_md5 != (leg in ("leat", HASHED)):
            raise BenchmarkError(f"{leg}: the ETag is {answer.fields['etag']}")


def has_fast_etags(context: Context, server: Server) -> bool:
    """Makes the bucket without MD5, if the server knows such."""
    with Session(server) as session:
        session.make_bucket(NO_MD5)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(context.work),
            "AWS_ACCESS_KEY_ID": session.key.id,
            "AWS_SECRET_ACCESS_KEY": session.key.secret,
            "AWS_REGION": REGION,
            "LEAT_ENDPOINT": f"http://{session.host}",
        }
    done = subprocess.run(
        [build.binary(build.LEAT), "bucket", "set", NO_MD5, "etag=fast"],
        env=environment, capture_output=True,
    )
    return done.returncode == 0


def md5_seconds_per_gib() -> float:
    """MD5 alone, by the OpenSSL that Leat uses as well."""
    content = bytes(64 * MIB)
    start = time.process_time()
    hashlib.md5(content).digest()
    return (time.process_time() - start) * 16


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("s3_put has no self-test: its sides are ways of one server")
    chosen = context.choose(works(context.quick))
    cells, all_samples = [], []
    server = context.store(context.work / "store")
    with server:
        with Session(server) as session:
            session.make_bucket(FULL)
        puts = Puts(context, server)
        peers = [NATIVE, HASHED]
        has_fast = has_fast_etags(context, server)
        if has_fast:
            peers.insert(0, FAST)
        for leg in ("leat", *peers):
            puts.verify(leg)
        pace = context.pace(len(chosen))
        for work in chosen:
            context.say(work.name)
            legs = {leg: partial(puts.measure, leg, work) for leg in ("leat", *peers)}
            samples = interleave(legs, context.rounds_or(quick=3, full=5), pace)
            cells += [rate_cell(work.name, work.size, samples, peer) for peer in peers]
            all_samples += [one for taken in samples.values() for one in taken]
        facts = machine.facts(context.work, {"leat": server.version()})
    notes = [
        "leat: S3 PUT, unsigned payload, CRC64NVME checked, MD5 made for the ETag. Against a peer",
        "that does less, 1 / ratio is what that costs. All are durable when they are answered.",
        f"Files on {facts['disk']}.",
        f"MD5 alone takes {md5_seconds_per_gib():.2f} CPU s/GiB here.",
        "" if has_fast else "No etag=fast here: the native PUT shows what it could gain.",
        *load.disturbance_notes(all_samples),
    ]
    return Report("s3_put", "MB/s", facts, cells, [note for note in notes if note])
