"""leat put and get of many small and few large files against awscli, rclone and cp -r."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness import build, files, machine, store
from harness.context import Context
from harness.errors import BenchmarkError
from harness.report import Cell, Report
from harness.rounds import interleave
from harness.servers import Server, pin_child
from harness.stats import median
from harness.store import GIB, KIB, MIB

TARGETS = ["leat"]
BUCKET = "transfer"
REGION = "leat"
PEERS = ("awscli", "rclone", "cp -r")
JOBS = 32

Leg = Callable[[], float]


@dataclass(frozen=True)
class Work:
    name: str
    way: str
    count: int
    size: int

    @property
    def folder(self) -> str:
        return f"{self.count}x{self.size}"

    def rate(self, seconds: float) -> float:
        return self.count * self.size / 1e6 / seconds


def works(quick: bool) -> list[Work]:
    small, large = ((200, 112 * KIB), (2, 64 * MIB)) if quick else ((10_000, 112 * KIB), (4, GIB))
    return [
        Work(f"{way} {count}×{files.size_name(size)}", way, count, size)
        for count, size in (small, large)
        for way in ("put", "get")
    ]


class Clients:
    """The commands of all legs, with what each needs to find the node. None may know the others'
    settings: each has a home of its own."""

    def __init__(self, context: Context, server: Server) -> None:
        self.context = context
        self.url = f"http://127.0.0.1:{server.port}"
        key = json.loads((server.root / "keys.json").read_text())["keys"][0]
        home = context.work / "home"
        home.mkdir(exist_ok=True)
        config = home / "aws-config"
        config.write_text(f"[default]\ns3 =\n  max_concurrent_requests = {JOBS}\n")
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "AWS_ACCESS_KEY_ID": key["id"],
            "AWS_SECRET_ACCESS_KEY": key["secret"],
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL": self.url,
            "AWS_CONFIG_FILE": str(config),
            "AWS_EC2_METADATA_DISABLED": "true",
            "RCLONE_CONFIG": os.devnull,
            "RCLONE_CONFIG_NODE_TYPE": "s3",
            "RCLONE_CONFIG_NODE_PROVIDER": "Other",
            "RCLONE_CONFIG_NODE_ENV_AUTH": "true",
            "RCLONE_CONFIG_NODE_REGION": REGION,
            "RCLONE_CONFIG_NODE_ENDPOINT": self.url,
        }

    def run(self, *command: object) -> float:
        """Seconds of one command on the client's core."""
        line = [str(word) for word in command]
        start = time.monotonic()
        done = subprocess.run(
            line,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            preexec_fn=pin_child(self.context.cores.client),
        )
        seconds = time.monotonic() - start
        if done.returncode != 0:
            tail = (done.stderr or done.stdout)[-500:].strip()
            raise BenchmarkError(f"{' '.join(line)} ended with {done.returncode}: {tail}")
        return seconds

    def leat(self, *words: object) -> float:
        return self.run(build.binary(build.LEAT), *words)

    def copy(self, leg: str, source: object, target: object) -> float:
        """One tree; objects are written BUCKET/PREFIX."""
        if leg == "leat":
            return self.leat("cp", "-r", "--quiet", "--jobs", JOBS, source, target)
        if leg == "awscli":
            source, target = (self.as_url(path, "s3://") for path in (source, target))
            return self.run("aws", "--endpoint-url", self.url, "s3", "cp", "--recursive",
                            "--only-show-errors", source, target)
        if leg == "rclone":
            source, target = (self.as_url(path, "node:") for path in (source, target))
            return self.run("rclone", "copy", "--quiet", "--s3-no-check-bucket",
                            "--transfers", JOBS, "--checkers", JOBS, source, target)
        return self.run("cp", "-r", source, target)

    @staticmethod
    def as_url(path: object, scheme: str) -> str:
        return str(path) if str(path).startswith("/") else f"{scheme}{path}"


def check_files(folder: Path, work: Work) -> None:
    found = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    if found != [work.size] * work.count:
        raise BenchmarkError(f"{work.name}: {len(found)} files arrived, or some are cut")


def put(context: Context, clients: Clients, leg: str, work: Work) -> float:
    source = context.work / "source" / work.folder
    local = leg == "cp -r"
    target = context.work / "target" if local else f"{BUCKET}/put"
    seconds = clients.copy(leg, source, target)
    if local:
        check_files(target, work)
        store.remove(target)
    else:
        # Fetched back by another client than the one that sent it.
        back = context.work / "back"
        clients.leat("get", "-r", "--quiet", f"{BUCKET}/put", back)
        check_files(back, work)
        store.remove(back)
        clients.leat("rm", "-r", "--yes", "--quiet", f"{BUCKET}/put")
    os.sync()
    return work.rate(seconds)


def get(context: Context, clients: Clients, leg: str, work: Work) -> float:
    target = context.work / "target"
    local = leg == "cp -r"
    source = context.work / "source" / work.folder if local else f"{BUCKET}/{work.folder}"
    if not local:
        target.mkdir()
    seconds = clients.copy(leg, source, target)
    check_files(target, work)
    store.remove(target)
    os.sync()
    return work.rate(seconds)


def prepare(context: Context, clients: Clients, chosen: list[Work]) -> None:
    """The files to send, warm, and for the legs that fetch the same as objects, warm as well."""
    clients.leat("mb", BUCKET)
    for work in chosen:
        folder = context.work / "source" / work.folder
        if not folder.exists():
            folder.mkdir(parents=True)
            files.make_files(folder, "file", work.count, work.size)
            os.sync()
        files.warm(sorted(folder.iterdir()))
        if work.way == "get":
            clients.leat("put", "--quiet", folder, f"{BUCKET}/{work.folder}")


def run(context: Context) -> Report:
    if context.self_test:
        raise BenchmarkError("s3_transfer has no self-test: its legs are commands, not servers")
    for peer in ("aws", "rclone"):
        if shutil.which(peer) is None:
            raise BenchmarkError(f"the peer {peer} is not installed; nothing was measured")
    chosen = context.choose(works(context.quick))
    most = max(work.count * work.size for work in chosen)
    store.need_space(context.work, 5 * most)
    cells = []
    with context.store(context.work / "store") as server:
        clients = Clients(context, server)
        prepare(context, clients, chosen)
        pace = context.pace(len(chosen))
        for work in chosen:
            context.say(work.name)
            measure = put if work.way == "put" else get
            legs: dict[str, Leg] = {
                leg: partial(measure, context, clients, leg, work) for leg in ("leat", *PEERS)
            }
            samples = interleave(legs, context.rounds_or(quick=1, full=3), pace)
            middle = {leg: median(values) for leg, values in samples.items()}
            cells += [
                Cell(
                    name=work.name,
                    leat=middle["leat"],
                    peer=peer,
                    peer_value=middle[peer],
                    columns={
                        "files/s": " / ".join(
                            f"{middle[leg] * 1e6 / work.size:.0f}" for leg in ("leat", peer)
                        )
                    },
                )
                for peer in PEERS
            ]
        version = server.version()
    versions = {"leat": version, "aws": version_of("aws"), "rclone": version_of("rclone")}
    facts = machine.facts(context.work, versions)
    notes = [
        "The node has one core, the client the other; all clients talk to the same node and have",
        f"{JOBS} transfers at once. From the start of the command to its end. Pairs: leat / peer.",
        "Objects are durable when a PUT is answered; 'cp -r' copies on the same disk within the",
        "page cache and is not durable. leat verifies checksums both ways; rclone by MD5.",
        f"Files on {facts['disk']}, warm.",
    ]
    return Report("s3_transfer", "MB/s", facts, cells, notes)


def version_of(program: str) -> str:
    done = subprocess.run([program, "--version"], capture_output=True, text=True)
    return (done.stdout or done.stderr).strip().splitlines()[0]
