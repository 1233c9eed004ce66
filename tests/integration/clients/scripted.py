"""Clients that are libraries: a short program drives each, in the interpreter that has it."""

import json
import select
import subprocess
from pathlib import Path

from leat_process import WAIT_SECONDS, need
from s3_client import (CLIENT_SECONDS, ClientFailed, S3Client, first_line, has_dots, installed,
                       installed_clients, is_path)

HERE = Path(__file__).parent


class ScriptedClient(S3Client):
    """Its program takes {"do", "url", "bucket", "items", …} a line and answers a line, so that the
    library is loaded once."""

    script = ""
    # What its version is asked of.
    package = ""

    def __init__(self, node, folder):
        super().__init__(node, folder)
        self.said = open(folder / f"{self.script}.log", "w+b")
        self.process = subprocess.Popen(
            [self.interpreter(), HERE / self.script], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self.said, env=self.environment())

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(WAIT_SECONDS)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.said.close()

    def interpreter(self):
        return installed("python", "bin", "python")

    def find_version(self):
        ask = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
        return first_line(self.interpreter(), "-c", ask, self.package)

    def ask(self, do, **more):
        """What its program answers; ClientFailed for everything but an answer."""
        access, secret = self.node.key
        order = {"do": do, "url": self.node.url, "region": self.node.region, "access": access,
                 "secret": secret} | more
        try:
            self.process.stdin.write(json.dumps(order).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer is empty, then
        ready, _, _ = select.select([self.process.stdout], [], [], CLIENT_SECONDS)
        line = self.process.stdout.readline() if ready else b""
        if not line:
            self.process.kill()  # a late answer would be taken for the next one
        told = json.loads(line or b"{}")
        if "done" not in told:
            self.said.seek(0)
            raise ClientFailed(f"{self}, {do}: {told.get('failed', 'no answer')}\n"
                               f"{self.said.read().decode(errors='replace')[-2000:]}")
        return told["done"]

    def put(self, bucket, items):
        self.ask("put", bucket=bucket, items=[(key, str(file)) for key, file in items])

    def get(self, bucket, items):
        self.ask("get", bucket=bucket, items=[(key, str(file)) for key, file in items])

    def keys(self, bucket):
        return self.ask("keys", bucket=bucket)


class Boto3FromDebian(ScriptedClient):
    name = "boto3 (Debian)"
    script = "drive_boto3.py"
    package = "boto3"

    def interpreter(self):
        return "/usr/bin/python3"


class Boto3(ScriptedClient):
    name = "boto3 (PyPI)"
    script = "drive_boto3.py"
    package = "boto3"


class Arrow(ScriptedClient):
    name = "pyarrow"
    script = "drive_arrow.py"
    package = "pyarrow"

    def can_name(self, key):
        return is_path(key)  # it refuses the empty ones, and libcurl in it folds the dots


class TorchConnector(ScriptedClient):
    name = "s3torchconnector"
    script = "drive_torch.py"
    package = "s3torchconnector"


class WebDataset(ScriptedClient):
    name = "webdataset"
    script = "drive_webdataset.py"
    package = "webdataset"
    one_request = True

    def keys(self, bucket):
        return None

    def can_name(self, key):
        return not has_dots(key)  # curl folds them, and is given no --path-as-is

    def presigned(self, method, bucket, items):
        sign = self.node.client().generate_presigned_url
        return [(sign(method, Params={"Bucket": bucket, "Key": key}), str(file))
                for key, file in items]

    def put(self, bucket, items):
        self.ask("put", items=self.presigned("put_object", bucket, items))

    def get(self, bucket, items):
        self.ask("get", items=self.presigned("get_object", bucket, items))


class JavaScriptClient(ScriptedClient):
    def interpreter(self):
        return need("node")

    def find_version(self):
        file = installed("node_modules", *self.package.split("/"), "package.json")
        return json.loads(Path(file).read_text())["version"]

    def environment(self):
        return super().environment() | {"NODE_PATH": str(installed_clients() / "node_modules")}


class AwsSdkJs(JavaScriptClient):
    name = "@aws-sdk/client-s3"
    script = "drive_aws_sdk.cjs"
    package = "@aws-sdk/client-s3"


class MinioJs(JavaScriptClient):
    name = "minio (npm)"
    script = "drive_minio.cjs"
    package = "minio"
