"""Clients that are called from a shell: aws, rclone, s3cmd, curl, and s3fs, which mounts."""

import contextlib
import json
import os
import re
import shutil
import stat
import subprocess
import urllib.parse

import pytest

from leat_process import need, wait_until
from s3_client import ClientFailed, S3Client, TreeClient, first_line, installed


class Aws(TreeClient):
    name = "awscli (Debian)"

    def program(self):
        return need("/usr/bin/aws")

    def find_version(self):
        return re.search(r"aws-cli/(\S+)", first_line(self.program(), "--version"))[1]

    def aws(self, *words):
        return self.run(self.program(), "--endpoint-url", self.node.url, *words)

    def put_tree(self, bucket, tree):
        self.aws("s3", "cp", "--only-show-errors", "--recursive", tree, f"s3://{bucket}/")

    def get_tree(self, bucket, tree):
        self.aws("s3", "cp", "--only-show-errors", "--recursive", f"s3://{bucket}/", tree)

    def keys(self, bucket):
        return json.loads(self.aws("s3api", "list-objects-v2", "--bucket", bucket, "--page-size",
                                   "5", "--query", "Contents[].Key", "--output", "json"))


class AwsFromPyPI(Aws):
    name = "awscli (PyPI)"

    def program(self):
        return installed("python", "bin", "aws")


class Rclone(TreeClient):
    name = "rclone"

    def find_version(self):
        return first_line("rclone", "version").removeprefix("rclone v").split("-")[0]

    def environment(self):
        return {name: value for name, value in super().environment().items()
                if name != "AWS_CA_BUNDLE"}  # which the library in it takes amiss

    def remote(self, bucket):
        access, secret = self.node.key
        return (f":s3,provider=Other,access_key_id={access},secret_access_key={secret},"
                f"region={self.node.region},endpoint='{self.node.url}':{bucket}")

    def rclone(self, *words):
        return self.run(need("rclone"), "--config", os.devnull, "--retries", "1",
                        "--no-unicode-normalization",
                        "--s3-upload-cutoff", "8M", "--s3-chunk-size", "8M", *words)

    def put_tree(self, bucket, tree):
        self.rclone("copy", tree, self.remote(bucket))

    def get_tree(self, bucket, tree):
        self.rclone("copy", self.remote(bucket), tree)

    def keys(self, bucket):
        listed = self.rclone("lsf", "-R", "--files-only", self.remote(bucket)).splitlines()
        # It shows control characters as the pictures of them.
        return [key.replace("\u240a", "\n").replace("\u2409", "\t") for key in listed]


class S3cmd(TreeClient):
    name = "s3cmd"
    cannot = {"line\nbreak": "it replaces control characters", "tab\tstop": "the same"}

    def find_version(self):
        return first_line("s3cmd", "--version").removeprefix("s3cmd version ")

    def s3cmd(self, *words):
        access, secret = self.node.key
        scheme, host = self.node.url.split("://")
        trust = ["--ssl", f"--ca-certs={self.node.ca}"] if scheme == "https" else ["--no-ssl"]
        return self.run(need("s3cmd"), "--config", os.devnull, f"--access_key={access}",
                        f"--secret_key={secret}", f"--host={host}", f"--host-bucket={host}",
                        *trust, "--region", self.node.region, "--no-progress", *words)

    def put_tree(self, bucket, tree):
        self.s3cmd("sync", f"{tree}/", f"s3://{bucket}/")

    def get_tree(self, bucket, tree):
        self.s3cmd("sync", f"s3://{bucket}/", f"{tree}/")

    def keys(self, bucket):
        lines = self.s3cmd("ls", "--recursive", f"s3://{bucket}/").splitlines()
        return [line.split(f"s3://{bucket}/", 1)[1] for line in lines]


class Curl(S3Client):
    name = "curl --aws-sigv4"
    one_request = True

    def find_version(self):
        return first_line("curl", "--version").split()[1]

    def curl(self, bucket, key, *words, **options):
        url = f"{self.node.url}/{bucket}/{urllib.parse.quote(key, safe='/~')}"
        return self.run(need("curl"), "-sSf", "--path-as-is", "--aws-sigv4",
                        f"aws:amz:{self.node.region}:s3", "--user", ":".join(self.node.key),
                        "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", *words, url, **options)

    def put(self, bucket, items):
        for key, file in items:
            if key.endswith(("/", "..")):  # where it would append the name of the file
                with open(file, "rb") as body:
                    self.curl(bucket, key, "-T", "-", stdin=body)
            else:
                self.curl(bucket, key, "-T", file)

    def get(self, bucket, items):
        for key, file in items:
            self.curl(bucket, key, "-o", file)
            file.touch()  # curl makes no file of an empty body


@contextlib.contextmanager
def skipping_where_nothing_can_be_mounted():
    """Around what runs s3fs: containers often have no FUSE. Nothing else is a reason to skip."""
    device = "/dev/fuse"
    if not os.path.exists(device) or not stat.S_ISCHR(os.stat(device).st_mode):
        pytest.skip(f"s3fs cannot mount here: {device} is not there")
    try:
        os.close(os.open(device, os.O_RDWR))
    except OSError as error:
        pytest.skip(f"s3fs cannot mount here: {error}")
    try:
        yield
    except ClientFailed as failure:
        if refusal := re.search(r".*mount failed: Operation not permitted", str(failure)):
            pytest.skip(f"s3fs cannot mount here: {refusal[0]}")
        raise


class S3fs(TreeClient):
    """Mounts a bucket; only where the kernel allows that."""

    name = "s3fs"
    # It looks for them with _$folder$ appended, too.
    key_bytes_max = 1024 - len("_$folder$")

    def can_name(self, key):
        return super().can_name(key) and len(key.encode()) <= self.key_bytes_max

    def __init__(self, node, folder):
        super().__init__(node, folder)
        self.mounted = None

    def find_version(self):
        return re.search(r"V(\S+)", first_line("s3fs", "--version"))[1]

    def mount(self, bucket):
        """The folder where the bucket is, until unmount()."""
        where = self.folder / f"mount-{bucket}"
        where.mkdir(exist_ok=True)
        passwords, log = self.folder / "s3fs-passwd", self.folder / "s3fs.log"
        passwords.touch(0o600)
        passwords.write_text(":".join(self.node.key))
        self.mounted = where
        try:
            with skipping_where_nothing_can_be_mounted():
                self.run(need("s3fs"), bucket, where, "-o", f"passwd_file={passwords}",
                         "-o", f"url={self.node.url}", "-o", "use_path_request_style",
                         "-o", f"endpoint={self.node.region}", "-o", "sigv4",
                         "-o", f"logfile={log}")
            wait_until(lambda: os.path.ismount(where), f"{self} mounts {bucket}")
        except Exception as failure:
            self.unmount()
            failure.add_note(log.read_text()[-3000:] if log.exists() else "no log")
            raise
        return where

    def unmount(self):
        if self.mounted:
            where, self.mounted = self.mounted, None
            subprocess.run([need("fusermount"), "-u", where], capture_output=True, timeout=60)
            wait_until(lambda: not os.path.ismount(where), f"{self} lets go of {where}")

    def close(self):
        self.unmount()

    def put_tree(self, bucket, tree):
        where = self.mount(bucket)
        try:
            copy_files(tree, where)
        finally:
            self.unmount()

    def get_tree(self, bucket, tree):
        where = self.mount(bucket)
        try:
            copy_files(where, tree)
        finally:
            self.unmount()


def copy_files(source, target):
    """As shutil.copytree(), but without modes and times, which a mount point refuses."""
    for folder, _, names in os.walk(source):
        into = os.path.join(target, os.path.relpath(folder, source))
        os.makedirs(into, exist_ok=True)
        for name in names:
            shutil.copyfile(os.path.join(folder, name), os.path.join(into, name))
