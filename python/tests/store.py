"""A server with datasets in it, for tests of the package."""

import io
import itertools
import random
import struct
import tarfile

from leat_process import LeatProcess
from s3_node import REGION, Node

import leat
from leat import _native


class Store:
    """A running `leat serve`, its key, and a session with it that is the default one."""

    def __init__(self, folder, listen="127.0.0.1:0"):
        self.folder = folder
        self.server = LeatProcess("serve", folder, listen=listen)
        self.node = Node(self.server, folder)
        self.session = self.connect()
        self.datasets = 0

    def connect(self, **options):
        access, secret = self.node.key
        return leat.connect(
            self.node.url, access_key=access, secret_key=secret, region=REGION, **options
        )

    def environment(self):
        """For processes that find the store by themselves."""
        access, secret = self.node.key
        return {
            "LEAT_ENDPOINT": self.node.url,
            "AWS_ACCESS_KEY_ID": access,
            "AWS_SECRET_ACCESS_KEY": secret,
            "AWS_REGION": REGION,
        }

    def make_bucket(self, name):
        self.session.mb(name)
        return name

    def make_dataset(self, samples, per_shard=100, name=None):
        """Stores [(key, {field: bytes}), …] as tars, and commits them; the dataset's name."""
        self.datasets += 1
        name = name or f"data/set-{self.datasets}"
        rest = name.partition("/")[2]
        self.session.call("PUT", f"datasets/{name}")
        self.commit(name, samples, per_shard, f"{rest}/first")
        return name

    def commit(self, name, samples, per_shard=100, prefix="more"):
        """Adds samples to a dataset as a new version."""
        bucket = name.partition("/")[0]
        shards = []
        for begin in range(0, len(samples), per_shard):
            shards.append(f"{prefix}-{begin // per_shard:06}.tar")
            self.session.put(f"{bucket}/{shards[-1]}", tar_of(samples[begin : begin + per_shard]))
        self.session.call("POST", f"datasets/{name}?commit", {"add": shards})

    def restart_on_the_same_port(self):
        """After a kill: the same data, the same address."""
        host, port = self.server.address
        self.server = LeatProcess("serve", self.folder, listen=f"{host}:{port}")


def tar_of(samples):
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for key, fields in samples:
            for field, value in fields.items():
                member = tarfile.TarInfo(f"{key}.{field}")
                member.size = len(value)
                tar.addfile(member, io.BytesIO(value))
    return target.getvalue()


def numbered_samples(count, size=300, seed=1):
    """Samples that are all different: `bin` of about `size` bytes, `cls` in every one."""
    drawn = random.Random(seed)
    return [
        (
            f"{number % 7}/{number:06}",
            {
                "bin": drawn.randbytes(drawn.randrange(size // 2, size + size // 2)),
                "cls": str(number % 10).encode(),
            },
        )
        for number in range(count)
    ]


def block_counts(dataset):
    """How many samples each block of a dataset has, read from its snapshot as
    docs/formats/snapshot.md describes it: the Python order is then independent of the library."""
    target = f"datasets/{dataset.name}@{dataset.version}?snapshot".encode()
    pointer = dataset.session.handle.pointer
    snapshot = _native.answered("leat_call", pointer, b"GET", target, b"", 0)
    tail = len(snapshot) - 80
    samples, _, blocks, _, sections, sums = struct.unpack_from("<6I", snapshot, tail + 48)
    table = tail - 4 * sums - 32 * sections
    for at in range(table, table + 32 * sections, 32):
        kind, _, offset = struct.unpack_from("<IIQ", snapshot, at)
        if kind == 4:
            first = [*struct.unpack_from(f"<{blocks}I", snapshot, offset), samples]
            return [after - before for before, after in itertools.pairwise(first)]
    raise AssertionError("a snapshot without blocks")
