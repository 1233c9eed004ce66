"""The commands that move files to a node and back: leat, awscli, rclone, cp."""

import json
import os
import subprocess
import time

from harness import build
from harness.context import Context
from harness.errors import BenchmarkError
from harness.servers import Server, pin_child
from harness.sigv4 import REGION

JOBS = 32


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


def version_of(program: str) -> str:
    done = subprocess.run([program, "--version"], capture_output=True, text=True)
    return (done.stdout or done.stderr).strip().splitlines()[0]
