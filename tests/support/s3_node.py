"""A server that speaks S3, its first key, and boto3 clients of it."""

import json

import boto3
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

from leat_process import run_leat

REGION = "leat"


class Node:
    """A server, its first key, and clients of it, which trust the certificates in the file `ca`."""

    def __init__(self, server, folder, ca=None):
        self.server = server
        self.folder = folder
        self.url = server.url
        self.region = REGION
        self.ca = ca
        key = json.loads((folder / "keys.json").read_text())["keys"][0]
        self.key = (key["id"], key["secret"])

    def client(self, key=None, **settings):
        config = Config(signature_version="s3v4", retries={"total_max_attempts": 1}, **settings)
        access, secret = key or self.key
        return boto3.client("s3", endpoint_url=self.url, region_name=REGION, config=config,
                            verify=self.ca, aws_access_key_id=access,
                            aws_secret_access_key=secret)

    def anonymous(self):
        """A client without credentials."""
        config = Config(signature_version=UNSIGNED, retries={"total_max_attempts": 1})
        return boto3.client("s3", endpoint_url=self.url, region_name=REGION, config=config,
                            verify=self.ca)

    def key_command(self, *words):
        return run_leat("key", *words, "--listen", self.server.url.split("//")[1],
                        "--token-file", self.folder / "admin-token")

    def make_key(self, *rights):
        ended = self.key_command("create", "test", *rights, "--json")
        assert ended.returncode == 0, ended
        made = json.loads(ended.stdout)
        return made["id"], made["secret"]


class Bucket:
    def __init__(self, client, name):
        self.client = client
        self.name = name

    def put(self, key, body=b"", **more):
        return self.client.put_object(Bucket=self.name, Key=key, Body=body, **more)

    def get(self, key, **more):
        return self.client.get_object(Bucket=self.name, Key=key, **more)

    def read(self, key, **more):
        return self.get(key, **more)["Body"].read()

    def keys(self, **more):
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.name, **more)
        return [one["Key"] for page in pages for one in page.get("Contents", [])]


def make_bucket(node, name):
    client = node.client()
    client.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    return Bucket(client, name)


def refused(call, **arguments):
    """(status, code) of a call that must fail."""
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    answer = caught.value.response
    return answer["ResponseMetadata"]["HTTPStatusCode"], answer["Error"]["Code"]
