"""The S3 API of `leat serve`, operation by operation, through boto3 on real disks.

test_s3_clients.py runs all of this again with the newest boto3, and has all the other clients.
"""

import hashlib
import io
import json
import os
import socket
import stat
import subprocess
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import boto3
import botocore
import pytest
from botocore.config import Config

from file_content import content
from leat_process import WAIT_SECONDS, run_leat
from s3_node import REGION, Bucket, Node, make_bucket, refused

MIB = 1 << 20


@pytest.fixture(scope="module")
def node(start_for_module, tmp_path_factory):
    folder = tmp_path_factory.mktemp("s3") / "data"
    return Node(start_for_module("serve", folder), folder)


@pytest.fixture
def bucket(node, request):
    """A bucket of this test's own, with a client for it."""
    name = f"t-{hashlib.md5(request.node.name.encode()).hexdigest()[:20]}"
    return make_bucket(node, name)


def test_the_first_key_is_private_and_shown_once(start, tmp_path):
    server = start("serve", tmp_path / "data")
    server.wait_for_output(rb"\^C drains")
    file = tmp_path / "data" / "keys.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    key = json.loads(file.read_text())["keys"][0]
    assert f"{key['id']} {key['secret']}" in server.output()
    assert key["secret"] not in server.log()
    server.stop()
    again = start("serve", tmp_path / "data")
    again.wait_for_output(rb"\^C drains")
    assert key["secret"] not in again.output() and key["id"] not in again.output()


def test_leat_env_gives_a_shell_what_clients_need(node):
    ended = run_leat("env", node.folder, "--listen", node.url.split("//")[1])
    assert ended.returncode == 0, ended
    shell = subprocess.run(["sh", "-c", ended.stdout + "env"], capture_output=True, text=True,
                           env={"PATH": os.environ["PATH"]}, timeout=WAIT_SECONDS)
    said = dict(line.split("=", 1) for line in shell.stdout.splitlines() if "=" in line)
    assert (said["AWS_ACCESS_KEY_ID"], said["AWS_SECRET_ACCESS_KEY"]) == node.key
    assert said["AWS_ENDPOINT_URL_S3"] == node.url and said["AWS_REGION"] == REGION


@pytest.mark.parametrize("size", [0, 1, 65_537, MIB, MIB + 1, 7 * MIB])
def test_round_trips(bucket, size):
    data = content(size)
    put = bucket.put("key", data, ContentType="image/jpeg", Metadata={"owner": "jerry"})
    assert put["ETag"] == f'"{hashlib.md5(data).hexdigest()}"'
    got = bucket.get("key")
    assert got["Body"].read() == data
    assert (got["ContentType"], got["Metadata"]) == ("image/jpeg", {"owner": "jerry"})
    head = bucket.client.head_object(Bucket=bucket.name, Key="key")
    assert (head["ContentLength"], head["ETag"]) == (size, put["ETag"])


def test_empty_objects_leave_the_connection_in_order(node, bucket):
    """An empty body with `Expect: 100-continue` gets its 100, or botocore mistakes what follows."""
    one = Bucket(node.client(max_pool_connections=1, read_timeout=WAIT_SECONDS), bucket.name)
    for number, body in enumerate([b"", b"a", b"", b"", b"b", b"", b"c"]):
        one.put(f"k{number}", body)
        assert one.read(f"k{number}") == body
    assert refused(one.put, key="k1", ContentMD5="AAAA")[0] == 400
    one.put("k1", b"after")
    assert one.read("k1") == b"after"


def test_a_file_of_20_mib_goes_up_in_parts_and_comes_down_in_ranges(bucket, tmp_path):
    data = content(20 * MIB + 17)
    (tmp_path / "up").write_bytes(data)
    bucket.client.upload_file(str(tmp_path / "up"), bucket.name, "big",
                              ExtraArgs={"Metadata": {"a": "b"}})
    bucket.client.download_file(bucket.name, "big", str(tmp_path / "down"))
    assert (tmp_path / "down").read_bytes() == data
    head = bucket.client.head_object(Bucket=bucket.name, Key="big")
    assert head["ETag"].endswith('-3"') and head["Metadata"] == {"a": "b"}
    part = bucket.get("big", PartNumber=3)
    assert part["Body"].read() == data[16 * MIB:] and part["PartsCount"] == 3
    assert bucket.read("big", Range="bytes=8388607-8388609") == data[8388607:8388610]
    assert "Uploads" not in bucket.client.list_multipart_uploads(Bucket=bucket.name)


ODD_KEYS = ["a b", "a+b", "a%2Bb", "ä/ö", "日本語", "//", "/a", "a//b", "..", "../x", "a/../b",
            ".", "./a", "..hidden", "a\\b", "a?b", "a#b", "a&b=c", "<>&'\"", "~", "*", "a:b",
            "s3://bucket/train/img", "A", "a", "end/", "x" * 1024, "\n", "\x01"]


def test_odd_keys(bucket):
    for key in ODD_KEYS:
        bucket.put(key, key.encode())
    for key in ODD_KEYS:
        assert bucket.read(key) == key.encode(), key
    assert bucket.keys() == sorted(ODD_KEYS, key=str.encode)
    assert refused(bucket.put, key="x" * 1025) == (400, "KeyTooLongError")
    for key in ODD_KEYS:
        bucket.client.delete_object(Bucket=bucket.name, Key=key)
    assert bucket.keys() == []


def test_listing_pages(bucket):
    names = [f"{folder}/{number:03}" for folder in "abc" for number in range(12)] + ["top"]
    for name in names:
        bucket.put(name, b"x")
    for size in (1, 5, 12, 1000):
        assert bucket.keys(PaginationConfig={"PageSize": size}) == names
    v1 = bucket.client.get_paginator("list_objects").paginate(
        Bucket=bucket.name, PaginationConfig={"PageSize": 7})
    assert [one["Key"] for page in v1 for one in page["Contents"]] == names
    for kind in ("list_objects", "list_objects_v2"):
        pages = bucket.client.get_paginator(kind).paginate(
            Bucket=bucket.name, Delimiter="/", PaginationConfig={"PageSize": 2})
        pages = list(pages)
        assert [one["Prefix"] for page in pages for one in page.get("CommonPrefixes", [])] \
            == ["a/", "b/", "c/"]
        assert [one["Key"] for page in pages for one in page.get("Contents", [])] == ["top"]
    assert bucket.keys(Prefix="b/01") == ["b/010", "b/011"]
    assert bucket.keys(StartAfter="c/010") == ["c/011", "top"]
    one = bucket.client.list_objects_v2(Bucket=bucket.name, MaxKeys=1)["Contents"][0]
    assert one["Size"] == 1 and one["ETag"] == f'"{hashlib.md5(b"x").hexdigest()}"'
    assert one["LastModified"]


def test_conditions(bucket):
    etag = bucket.put("k", b"1")["ETag"]
    assert bucket.read("k", IfMatch=etag) == b"1"
    assert refused(bucket.get, key="k", IfMatch='"no"') == (412, "PreconditionFailed")
    assert refused(bucket.get, key="k", IfNoneMatch=etag)[0] == 304
    assert refused(bucket.get, key="none") == (404, "NoSuchKey")
    assert refused(bucket.client.get_object, Bucket="none-such", Key="k") == (404, "NoSuchBucket")
    assert refused(bucket.client.head_object, Bucket=bucket.name, Key="none") == (404, "404")


def test_of_many_who_create_a_key_one_wins(bucket):
    ready = threading.Barrier(8)

    def create(number):
        url = bucket.client.generate_presigned_url(
            "put_object", Params={"Bucket": bucket.name, "Key": "lock"})
        request = urllib.request.Request(url, data=b"%d" % number, method="PUT",
                                         headers={"If-None-Match": "*", "Content-Type": ""})
        ready.wait(WAIT_SECONDS)
        return status_of(request)

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(create, range(8)))
    assert sorted(statuses) == [200] + 7 * [412]
    assert bucket.read("lock") == b"%d" % statuses.index(200)


def status_of(request):
    try:
        with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        error.read()
        return error.code


def test_presigned_urls(bucket):
    sign = bucket.client.generate_presigned_url
    where = {"Bucket": bucket.name, "Key": "a b/ü"}
    url = sign("put_object", Params=where)
    assert "X-Amz-Signature" in url
    put = urllib.request.Request(url, data=b"hello", method="PUT", headers={"Content-Type": "a/b"})
    assert status_of(put) == 200
    url = sign("get_object", Params=where | {"ResponseContentType": "c/d"}, ExpiresIn=60)
    with urllib.request.urlopen(url, timeout=WAIT_SECONDS) as got:
        assert (got.read(), got.headers["Content-Type"]) == (b"hello", "c/d")
    assert status_of(urllib.request.Request(url, method="DELETE")) == 403
    assert status_of(urllib.request.Request(url + "&versionId=null")) == 403
    assert status_of(urllib.request.Request(url.replace("a%20b", "other"))) == 403
    injected = urllib.request.Request(sign("put_object", Params=where), data=b"", method="PUT",
                                      headers={"x-amz-copy-source": f"{bucket.name}/a"})
    assert status_of(injected) == 403
    assert bucket.read("a b/ü") == b"hello"


def test_presigned_heads_and_parts(bucket):
    sign = bucket.client.generate_presigned_url
    where = {"Bucket": bucket.name, "Key": "large"}
    upload = bucket.client.create_multipart_upload(**where)["UploadId"]
    etags = []
    for number, data in ((1, b"A" * 5 * MIB), (2, b"tail")):
        url = sign("upload_part", Params=where | {"UploadId": upload, "PartNumber": number})
        put = urllib.request.Request(url, data=data, method="PUT")
        with urllib.request.urlopen(put, timeout=WAIT_SECONDS) as answer:
            etags.append(answer.headers["ETag"])
        other = url.replace(f"partNumber={number}", "partNumber=9")
        assert status_of(urllib.request.Request(other, data=b"", method="PUT")) == 403
    bucket.client.complete_multipart_upload(**where, UploadId=upload, MultipartUpload={
        "Parts": [{"PartNumber": at + 1, "ETag": etag} for at, etag in enumerate(etags)]})
    url = sign("head_object", Params=where)
    with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"),
                                timeout=WAIT_SECONDS) as head:
        assert int(head.headers["Content-Length"]) == 5 * MIB + 4
    assert status_of(urllib.request.Request(url)) == 403, "signed for HEAD alone"


def test_deleting_many(bucket):
    names = [f"k{number}" for number in range(30)] + ["<&>"]
    for name in names:
        bucket.put(name)
    wanted = {"Objects": [{"Key": name} for name in names + ["none"]]}
    answer = bucket.client.delete_objects(Bucket=bucket.name, Delete=wanted)
    assert sorted(one["Key"] for one in answer["Deleted"]) == sorted(names + ["none"])
    assert "Errors" not in answer and bucket.keys() == []
    bucket.client.delete_object(Bucket=bucket.name, Key="none")


def test_copies(bucket):
    data = content(3 * MIB)
    bucket.put("a b+c", data, Metadata={"x": "1"}, ContentType="a/b")
    source = {"Bucket": bucket.name, "Key": "a b+c"}
    bucket.client.copy_object(Bucket=bucket.name, Key="copy", CopySource=source)
    got = bucket.get("copy")
    assert got["Body"].read() == data
    assert (got["Metadata"], got["ContentType"]) == ({"x": "1"}, "a/b")
    bucket.client.copy_object(Bucket=bucket.name, Key="a b+c", CopySource=source,
                              MetadataDirective="REPLACE", Metadata={"x": "2"})
    assert bucket.get("a b+c")["Metadata"] == {"x": "2"}
    assert refused(bucket.client.copy_object, Bucket=bucket.name, Key="a b+c",
                   CopySource=source) == (400, "InvalidRequest")
    assert bucket.read("a b+c") == data


def test_parts_of_another_object(bucket):
    data = content(12 * MIB)
    bucket.put("source", data)
    where = {"Bucket": bucket.name, "Key": "joined"}
    upload = bucket.client.create_multipart_upload(**where)["UploadId"]
    parts = []
    for number, (first, last) in enumerate([(0, 6 * MIB - 1), (6 * MIB, 12 * MIB - 1)], 1):
        copied = bucket.client.upload_part_copy(
            **where, UploadId=upload, PartNumber=number,
            CopySource={"Bucket": bucket.name, "Key": "source"},
            CopySourceRange=f"bytes={first}-{last}")
        parts.append({"PartNumber": number, "ETag": copied["CopyPartResult"]["ETag"]})
    listed = bucket.client.list_parts(**where, UploadId=upload)["Parts"]
    assert [one["Size"] for one in listed] == [6 * MIB, 6 * MIB]
    bucket.client.complete_multipart_upload(**where, UploadId=upload,
                                            MultipartUpload={"Parts": parts})
    assert bucket.read("joined") == data
    other = bucket.client.create_multipart_upload(**where)["UploadId"]
    bucket.client.abort_multipart_upload(**where, UploadId=other)
    assert refused(bucket.client.list_parts, **where, UploadId=other) == (404, "NoSuchUpload")


@pytest.mark.parametrize("algorithm", ["CRC32", "SHA1", "SHA256"])
def test_checksums(bucket, algorithm):
    put = bucket.put("k", b"hello", ChecksumAlgorithm=algorithm)
    name = f"Checksum{algorithm}"
    got = bucket.get("k", ChecksumMode="ENABLED")
    assert got[name] == put[name] and got["Body"].read() == b"hello"


def test_tags(bucket):
    bucket.put("k", b"hello", Tagging="a=1&b=2")
    where = {"Bucket": bucket.name, "Key": "k"}
    assert bucket.client.get_object_tagging(**where)["TagSet"] == [
        {"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}]
    bucket.client.put_object_tagging(**where, Tagging={"TagSet": [{"Key": "ä", "Value": "& <"}]})
    assert bucket.client.get_object_tagging(**where)["TagSet"] == [{"Key": "ä", "Value": "& <"}]
    bucket.client.delete_object_tagging(**where)
    assert bucket.client.get_object_tagging(**where)["TagSet"] == []
    assert bucket.read("k") == b"hello"


def test_buckets(node, bucket):
    assert bucket.name in [one["Name"] for one in bucket.client.list_buckets()["Buckets"]]
    location = bucket.client.get_bucket_location(Bucket=bucket.name)
    assert location["LocationConstraint"] == REGION
    bucket.client.head_bucket(Bucket=bucket.name)
    bucket.put("k")
    assert refused(bucket.client.delete_bucket, Bucket=bucket.name) == (409, "BucketNotEmpty")
    bucket.client.delete_object(Bucket=bucket.name, Key="k")
    bucket.client.delete_bucket(Bucket=bucket.name)
    assert refused(bucket.client.delete_bucket, Bucket=bucket.name) == (404, "NoSuchBucket")
    elsewhere = {"LocationConstraint": "eu-west-3"}
    assert refused(bucket.client.create_bucket, Bucket="elsewhere",
                   CreateBucketConfiguration=elsewhere) == (400, "InvalidLocationConstraint")


def test_what_is_not_there_yet_says_so_and_touches_nothing(bucket):
    bucket.put("k", b"hello")
    calls = [(bucket.client.get_bucket_website, {}), (bucket.client.get_bucket_replication, {}),
             (bucket.client.get_object_lock_configuration, {}),
             (bucket.client.get_object_retention, {"Key": "k"}),
             (bucket.client.put_object, {"Key": "k", "Body": b"", "ACL": "public-read-write"}),
             (bucket.client.put_object, {"Key": "k", "Body": b"", "StorageClass": "GLACIER"}),
             (bucket.client.put_object, {"Key": "k", "ServerSideEncryption": "AES256"})]
    for call, arguments in calls:
        assert refused(call, Bucket=bucket.name, **arguments) == (501, "NotImplemented"), call
    assert bucket.read("k") == b"hello"


def test_keys_have_rules_and_are_revoked_at_once(node, bucket):
    bucket.put("mine/a", b"1")
    bucket.put("other", b"2")
    key = node.make_key("--read", f"{bucket.name}/mine/", "--write", f"{bucket.name}/mine/",
                        "--list", f"{bucket.name}/mine/", "--expires", "1h")
    alice = Bucket(node.client(key), bucket.name)
    assert alice.read("mine/a") == b"1"
    alice.put("mine/b", b"3")
    assert alice.keys(Prefix="mine/") == ["mine/a", "mine/b"]
    for call, arguments in [(alice.get, {"key": "other"}), (alice.put, {"key": "other"}),
                            (alice.keys, {}), (alice.get, {"key": "mine/../other"}),
                            (alice.client.create_bucket, {"Bucket": "alices"}),
                            (alice.client.copy_object,
                             {"Bucket": bucket.name, "Key": "mine/c",
                              "CopySource": f"{bucket.name}/other"})]:
        expected = "NoSuchKey" if arguments == {"key": "mine/../other"} else "AccessDenied"
        assert refused(call, **arguments)[1] == expected, arguments
    assert key[0] in node.key_command("list").stdout
    assert node.key_command("revoke", key[0]).returncode == 0
    for _ in range(4):  # every connection, so every shard
        fresh = Bucket(node.client(key), bucket.name)
        assert refused(fresh.get, key="mine/a") == (403, "InvalidAccessKeyId")
    assert node.key_command("revoke", key[0]).returncode == 4


def test_wrong_credentials(node, bucket):
    access, secret = node.key
    wrong = Bucket(node.client((access, "wrong")), bucket.name)
    assert refused(wrong.put, key="k") == (403, "SignatureDoesNotMatch")
    nobody = Bucket(node.client(("LEATNOBODY", secret)), bucket.name)
    assert refused(nobody.put, key="k") == (403, "InvalidAccessKeyId")
    old = boto3.client("s3", endpoint_url=node.url, region_name="us-east-1",
                       aws_access_key_id=access, aws_secret_access_key=secret,
                       config=Config(signature_version="s3"))
    assert refused(old.list_buckets) == (400, "InvalidRequest")
    assert status_of(urllib.request.Request(f"{node.url}/{bucket.name}")) == 403
    assert bucket.keys() == []


def test_clients_that_sign_for_the_first_region_are_served(node, bucket):
    access, secret = node.key
    client = boto3.client("s3", endpoint_url=node.url, region_name="us-east-1",
                          aws_access_key_id=access, aws_secret_access_key=secret,
                          config=Config(signature_version="s3v4"))
    client.put_object(Bucket=bucket.name, Key="k", Body=b"x")
    assert bucket.read("k") == b"x"


def test_buckets_as_hosts(start, tmp_path):
    server = start("serve", tmp_path / "data", "--s3-domain", "s3.localhost")
    node = Node(server, tmp_path / "data")
    node.client().create_bucket(Bucket="photos")
    node.client().put_object(Bucket="photos", Key="_/v1/health", Body=b"mine")
    signed = botocore.awsrequest.AWSRequest("GET", node.url + "/_/v1/health",
                                            headers={"Host": "photos.s3.localhost"})
    signed.headers["x-amz-content-sha256"] = hashlib.sha256(b"").hexdigest()
    credentials = botocore.credentials.Credentials(*node.key)
    botocore.auth.S3SigV4Auth(credentials, "s3", REGION).add_auth(signed)
    answer = server.ask("GET /_/v1/health", [f"{k}: {v}" for k, v in signed.headers.items()])
    assert (answer.status, answer.body) == (200, b"mine"), answer


def test_boto3_with_buckets_as_hosts(start, tmp_path, monkeypatch):
    """Virtual-host addressing, as AWS's SDKs do it unless they are told otherwise."""
    server = start("serve", tmp_path / "data", "--s3-domain", "s3.leat.test")
    node = Node(server, tmp_path / "data")
    hosts, resolve = set(), socket.getaddrinfo

    def to_loopback(host, *more, **options):
        if str(host).endswith("s3.leat.test"):
            hosts.add(host)
            host = server.address[0]
        return resolve(host, *more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", to_loopback)
    node.url = f"http://s3.leat.test:{server.address[1]}"
    client = node.client(s3={"addressing_style": "virtual"})
    client.create_bucket(Bucket="photos", CreateBucketConfiguration={"LocationConstraint": REGION})
    data = content(9 * MIB)
    for key in ("plain", "a b/ü+%", "metrics", "photos/x"):
        client.put_object(Bucket="photos", Key=key, Body=key.encode())
        assert client.get_object(Bucket="photos", Key=key)["Body"].read() == key.encode()
    client.upload_fileobj(io.BytesIO(data), "photos", "large")
    assert client.get_object(Bucket="photos", Key="large")["Body"].read() == data
    listed = [one["Key"] for one in client.list_objects_v2(Bucket="photos")["Contents"]]
    assert listed == ["a b/ü+%", "large", "metrics", "photos/x", "plain"]
    url = client.generate_presigned_url("get_object", Params={"Bucket": "photos", "Key": "plain"})
    assert url.startswith("http://photos.s3.leat.test:")
    assert status_of(urllib.request.Request(url)) == 200
    assert refused(client.head_bucket, Bucket="other")[0] == 404
    assert "photos.s3.leat.test" in hosts


def test_objects_survive_a_restart(start, tmp_path):
    data = content(2 * MIB)
    server = start("serve", tmp_path / "data")
    client = Node(server, tmp_path / "data").client()
    client.create_bucket(Bucket="photos")
    client.put_object(Bucket="photos", Key="k", Body=data, Metadata={"x": "1"})
    server.stop()
    again = Node(start("serve", tmp_path / "data"), tmp_path / "data").client()
    got = again.get_object(Bucket="photos", Key="k")
    assert (got["Body"].read(), got["Metadata"]) == (data, {"x": "1"})
