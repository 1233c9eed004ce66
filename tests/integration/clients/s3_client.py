"""What every stock S3 client of the tests is to them, and what they share.

An adapter puts files as objects, gets objects as files and lists keys, by running the real client.
It says which keys the client has no way to name, with the reason: those are left out for it.
"""

import copy
import os
import subprocess

from leat_process import ROOT, clean_environment, need

# For what takes longest, an object of 5 GiB through an interpreter.
CLIENT_SECONDS = 900


class ClientFailed(AssertionError):
    """A client ended with an error: its name, its version, and what it said."""


def installed_clients():
    """Where tools/setup_clients.sh put what is not from Debian."""
    return ROOT / os.environ.get("LEAT_CLIENTS", "build/clients")


def installed(*names):
    path = installed_clients().joinpath(*names)
    assert path.exists(), f"{path} is not there: run `make setup`"
    return str(path)


def has_dots(key):
    """Whether a part of it means another folder to those who take it for a path."""
    return bool({".", ".."} & set(key.split("/")))


def is_path(key):
    return not has_dots(key) and "" not in key.split("/")


def fits_a_tree(key):
    """Whether a tree of files can have such a path."""
    return is_path(key) and all(len(part.encode()) <= 255 for part in key.split("/"))


class S3Client:
    """One stock client of one node, whose `ca` it trusts.

    Subclasses give what raises NotImplementedError here."""

    name = ""
    # Sends an object of any size in one request, so the largest is 5 GiB and not more.
    one_request = False
    # How clients are told whom to trust, each by one of them.
    TRUST_VARIABLES = ["AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"]
    # Keys that it cannot name, and why.
    cannot = {}

    def __init__(self, node, folder):
        self.node = node
        self.folder = folder
        self.version = self.find_version()

    def __str__(self):
        return f"{self.name} {self.version}"

    def find_version(self):
        raise NotImplementedError

    def put(self, bucket, items):
        """Each (key, file) of items becomes an object."""
        raise NotImplementedError

    def get(self, bucket, items):
        """Each (key, file) of items becomes a file."""
        raise NotImplementedError

    def keys(self, bucket):
        """All keys of a bucket; None if it has no way to list."""
        return None

    def towards(self, node):
        """The same client, for another node."""
        other = copy.copy(self)
        other.node = node
        return other

    def close(self):
        """Leaves nothing behind."""

    def can_name(self, key):
        return key not in self.cannot

    def environment(self):
        """What the machine tells AWS's libraries does not reach it."""
        access, secret = self.node.key
        plain = {name: value for name, value in clean_environment().items()
                 if not name.startswith("AWS_")}
        trust = {name: str(self.node.ca) for name in self.TRUST_VARIABLES}
        return plain | trust | {
            "AWS_ACCESS_KEY_ID": access, "AWS_SECRET_ACCESS_KEY": secret,
            "AWS_DEFAULT_REGION": self.node.region, "AWS_REGION": self.node.region,
            "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true", "HOME": str(self.folder), "LC_ALL": "C.UTF-8"}

    def run(self, *words, **options):
        """Runs the client; its output. ClientFailed, with all it said, when it does not end well.
        """
        ended = subprocess.run([str(word) for word in words], capture_output=True,
                               env=self.environment(), timeout=CLIENT_SECONDS,
                               **({"stdin": subprocess.DEVNULL} | options))
        if ended.returncode != 0:
            said = (ended.stdout[-2000:] + ended.stderr[-4000:]).decode(errors="replace")
            command = " ".join(str(word) for word in words)[:500]
            raise ClientFailed(f"{self} ended with {ended.returncode}: {command}\n{said}")
        return ended.stdout.decode()


class TreeClient(S3Client):
    """A client that moves trees of files: a key is a path in them."""

    def can_name(self, key):
        return fits_a_tree(key) and key not in self.cannot

    def put(self, bucket, items):
        tree = self.folder / f"up-{bucket}"
        for key, file in items:
            path = tree / key
            path.parent.mkdir(parents=True, exist_ok=True)
            os.link(file, path)
        self.put_tree(bucket, tree)

    def get(self, bucket, items):
        tree = self.folder / f"down-{bucket}"
        tree.mkdir()
        self.get_tree(bucket, tree)
        for key, file in items:
            if not (tree / key).exists():
                raise ClientFailed(f"{self} did not get {key!r}")
            os.rename(tree / key, file)

    def put_tree(self, bucket, tree):
        raise NotImplementedError

    def get_tree(self, bucket, tree):
        raise NotImplementedError


def first_line(*words):
    """What a program says of its version."""
    ended = subprocess.run([need(words[0]), *words[1:]], capture_output=True, text=True, timeout=60)
    return (ended.stdout or ended.stderr).splitlines()[0]
