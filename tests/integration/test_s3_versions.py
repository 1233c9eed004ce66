"""Buckets that keep versions, as boto3 uses them, on real disks and over restarts."""

import boto3
import pytest
from botocore.exceptions import ClientError

from file_content import content
from leat_process import wait_until
from s3_node import REGION, Node, make_bucket, refused

MIB = 1 << 20


@pytest.fixture
def node(start, tmp_path):
    folder = tmp_path / "data"
    return Node(start("serve", folder), folder)


@pytest.fixture
def bucket(node):
    return versioned_bucket(node)


def versioned_bucket(node):
    bucket = make_bucket(node, "versions")
    set_versioning(bucket, "Enabled")
    return bucket


def set_versioning(bucket, status):
    bucket.client.put_bucket_versioning(Bucket=bucket.name,
                                        VersioningConfiguration={"Status": status})


def put(bucket, key, body):
    return bucket.client.put_object(Bucket=bucket.name, Key=key, Body=body)["VersionId"]


def get(client, bucket, key, version):
    answer = client.get_object(Bucket=bucket.name, Key=key, VersionId=version)
    return answer["Body"].read()


def listed(client, bucket, page_size=1000):
    """(key, version, is it a marker, is it the latest) of all, read in pages."""
    pages = client.get_paginator("list_object_versions").paginate(
        Bucket=bucket.name, PaginationConfig={"PageSize": page_size})
    found = []
    for page in pages:
        items = [(one, False) for one in page.get("Versions", [])]
        items += [(one, True) for one in page.get("DeleteMarkers", [])]
        found += [(one["Key"], one["VersionId"], is_marker, one["IsLatest"])
                  for one, is_marker in items]
    return found


def test_every_version_survives_a_restart(node, bucket, start):
    large = content(12 * MIB, seed=3)
    bodies = [b"", b"small", large, b"last"]
    versions = [put(bucket, "k", body) for body in bodies]
    assert len(set(versions)) == len(versions)
    marker = bucket.client.delete_object(Bucket=bucket.name, Key="k")
    assert marker["DeleteMarker"] is True
    node.server.stop()
    client = Node(start("serve", node.folder), node.folder).client()
    for version, body in zip(versions, bodies):
        assert get(client, bucket, "k", version) == body
    with pytest.raises(ClientError) as gone:
        client.get_object(Bucket=bucket.name, Key="k")
    assert gone.value.response["ResponseMetadata"]["HTTPHeaders"]["x-amz-delete-marker"] == "true"
    client.delete_object(Bucket=bucket.name, Key="k", VersionId=marker["VersionId"])
    assert client.get_object(Bucket=bucket.name, Key="k")["Body"].read() == b"last"


def test_pages_of_versions_are_exact(bucket):
    for key in ("a", "b/1", "b/2", "c"):
        for number in range(5):
            put(bucket, key, str(number).encode())
    bucket.client.delete_object(Bucket=bucket.name, Key="b/1")
    whole = listed(bucket.client, bucket)
    assert len(whole) == 21
    assert sum(is_latest for *_, is_latest in whole) == 4
    for size in (1, 2, 3, 7, 20, 21):
        assert sorted(listed(bucket.client, bucket, size)) == sorted(whole), size


def test_a_bucket_is_emptied_by_its_versions(node, bucket):
    """What every clean-up script does: boto3's object_versions.delete()."""
    for number in range(30):
        put(bucket, f"k{number % 7}", b"x")
    for number in range(3):
        bucket.client.delete_object(Bucket=bucket.name, Key=f"k{number}")
    assert refused(bucket.client.delete_bucket, Bucket=bucket.name) == (409, "BucketNotEmpty")
    access, secret = node.key
    resource = boto3.resource("s3", endpoint_url=node.url, region_name=REGION,
                              aws_access_key_id=access, aws_secret_access_key=secret)
    resource.Bucket(bucket.name).object_versions.delete()
    assert listed(bucket.client, bucket) == []
    bucket.client.delete_bucket(Bucket=bucket.name)


def test_suspended_versions_and_null(bucket):
    first = put(bucket, "k", b"one")
    set_versioning(bucket, "Suspended")
    assert put(bucket, "k", b"two") == "null"
    assert put(bucket, "k", b"three") == "null"
    assert [version for _, version, _, _ in listed(bucket.client, bucket)] == ["null", first]
    deleted = bucket.client.delete_object(Bucket=bucket.name, Key="k")
    assert (deleted["VersionId"], deleted["DeleteMarker"]) == ("null", True)
    assert get(bucket.client, bucket, "k", first) == b"one"


def test_an_upload_in_parts_and_a_copy_are_versions(bucket):
    client, name = bucket.client, bucket.name
    old = put(bucket, "k", b"old")
    upload = client.create_multipart_upload(Bucket=name, Key="k")["UploadId"]
    part = client.upload_part(Bucket=name, Key="k", UploadId=upload, PartNumber=1, Body=b"parts")
    done = client.complete_multipart_upload(
        Bucket=name, Key="k", UploadId=upload,
        MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]})
    assert get(client, bucket, "k", done["VersionId"]) == b"parts"
    copied = client.copy_object(Bucket=name, Key="k",
                                CopySource={"Bucket": name, "Key": "k", "VersionId": old})
    assert copied["CopySourceVersionId"] == old
    assert client.get_object(Bucket=name, Key="k")["Body"].read() == b"old"
    assert len(listed(client, bucket)) == 3


def test_old_versions_expire_by_a_rule(start, tmp_path):
    folder = tmp_path / "data"
    bucket = versioned_bucket(Node(start("serve", folder, "--s3-lifecycle-day", "1s"), folder))
    for number in range(4):
        put(bucket, "k", str(number).encode())
    bucket.client.put_bucket_lifecycle_configuration(
        Bucket=bucket.name, LifecycleConfiguration={"Rules": [{
            "ID": "old", "Status": "Enabled", "Filter": {"Prefix": ""},
            "NoncurrentVersionExpiration": {"NoncurrentDays": 1, "NewerNoncurrentVersions": 1}}]})
    wait_until(lambda: len(listed(bucket.client, bucket)) == 2, "old versions expire")
    assert bucket.client.get_object(Bucket=bucket.name, Key="k")["Body"].read() == b"3"
