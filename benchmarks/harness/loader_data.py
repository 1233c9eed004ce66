"""The same samples for every loop: as tars, in the formats of the peers, and as a dataset of a
running store."""

import os
from dataclasses import dataclass
from pathlib import Path

from harness import build, feed, files, store
from harness.context import Context
from harness.s3 import Session
from harness.servers import Leat, Server
from harness.sigv4 import REGION

BUCKET = "bench"
LIMIT = "pread"  # the C++ loop
HTTP = "webdataset over http"
LABELS = {
    "leat": "leat",
    "webdataset": "webdataset",
    HTTP: HTTP,
    "streaming": "MosaicML Streaming",
    "litdata": "LitData",
    "folder": "folder of files",
    "hf": "HF datasets",
    LIMIT: "C++ pread loop",
}
PACKAGES = ["torch", "torchvision", "webdataset", "mosaicml-streaming", "litdata", "datasets"]


class StoreOnAllCores(Leat):
    """`leat serve` for a job on the same machine: it shares the cores with the loop it feeds, as
    the workers of the peers share them with theirs."""

    label = "store"

    def __init__(self, root: Path, work: Path, cores: list[int]) -> None:
        super().__init__(root, work, cores[0], writable=True)
        self.cores = cores

    def command(self) -> list[str]:
        return [
            build.binary(build.LEAT), "serve", str(self.root),
            "--listen", f"127.0.0.1:{self.port}",
            "--log-level", "warn",
            "--token-file", str(self.token_file()),
        ]


@dataclass
class LoaderData:
    """`tars` hold the samples; everything else is made of them when it is asked for."""

    context: Context
    name: str
    tars: list[Path]

    @property
    def folder(self) -> Path:
        return self.tars[0].parent

    @property
    def dataset(self) -> str:
        return f"{BUCKET}/{self.name}"

    def converted(self, peer: str) -> Path:
        target = self.context.work / f"{self.name}-{peer}"
        if target.exists():
            return target
        return feed.convert(peer, self.folder, target, self.context.work)

    def put(self, server: Server) -> None:
        """The tars as they are, and a dataset of them."""
        with Session(server) as session:
            keys = []
            for path in self.tars:
                keys.append(f"{self.name}/{path.name}")
                session.put_file(BUCKET, keys[-1], path)
            session.make_dataset(self.dataset, keys)
        os.sync()

    def source(self, loop: str, share: Server | None = None) -> str:
        """What --data is for a loop. `share` serves the folder above that of the tars."""
        if loop == "leat":
            return self.dataset
        if loop == "webdataset":
            return str(self.folder)
        if loop == HTTP:
            return f"http://127.0.0.1:{share.port}/{self.name}/{range_of(self.tars)}"
        return str(self.converted(loop))

    def stored_files(self, loop: str, server: Server | None) -> list[Path]:
        """What a loop reads, for driving it out of the page cache."""
        if loop == "leat":
            return stored_bytes(server.root)
        if loop in ("webdataset", HTTP, LIMIT):
            return self.tars
        found = [path for path in self.converted(loop).rglob("*") if path.is_file()]
        return [path for path in found if path.stat().st_size > 0]

    def remove(self) -> None:
        """All but what is in the store."""
        for path in self.context.work.glob(f"{self.name}-*"):
            store.remove(path)
        files.remove_tree(self.folder)


def range_of(tars: list[Path]) -> str:
    """shard-{000000..000011}.tar, as WebDataset writes it."""
    first, last = tars[0].stem, tars[-1].stem
    stem, _, number = first.rpartition("-")
    return f"{stem}-{{{number}..{last.rpartition('-')[2]}}}.tar"


def stored_bytes(root: Path) -> list[Path]:
    """Files that hold the bytes of objects."""
    found = [path for path in root.rglob("*") if path.is_file() and path.stat().st_size > 0]
    return [path for path in found if "segments" in path.parts or "files" in path.parts]


def surroundings(context: Context, server: Server) -> dict[str, str]:
    """The environment of a loop that may ask `server`."""
    with Session(server) as session:
        more = {
            "LEAT_ENDPOINT": f"http://127.0.0.1:{server.port}",
            "AWS_ACCESS_KEY_ID": session.key.id,
            "AWS_SECRET_ACCESS_KEY": session.key.secret,
            "AWS_REGION": REGION,
        }
    return feed.environment(context.work, more)
