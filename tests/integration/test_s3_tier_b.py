"""Policies, CORS, ACLs and lifecycles of buckets, as boto3, s3cmd and browsers use them."""

import hashlib
import json
import os
import re
import subprocess
import urllib.error
import urllib.request
from datetime import datetime, timezone

import pytest

from leat_process import WAIT_SECONDS, clean_environment, need, wait_until
from s3_node import REGION, Bucket, Node, make_bucket, refused

DAY_SECONDS = 1
DENIED = (403, "AccessDenied")


@pytest.fixture(scope="module")
def node(start_for_module, tmp_path_factory):
    folder = tmp_path_factory.mktemp("s3b") / "data"
    return Node(start_for_module("serve", folder, "--s3-lifecycle-day", f"{DAY_SECONDS}s"), folder)


@pytest.fixture
def bucket(node, request):
    """A bucket of this test's own, with a client for it."""
    return make_bucket(node, f"t-{hashlib.md5(request.node.name.encode()).hexdigest()[:20]}")


def statement(effect, principal, actions, *resources, **more):
    return {"Effect": effect, "Principal": principal, "Action": actions,
            "Resource": [f"arn:aws:s3:::{name}" for name in resources]} | more


def set_policy(bucket, *statements):
    text = json.dumps({"Version": "2012-10-17", "Statement": statements})
    bucket.client.put_bucket_policy(Bucket=bucket.name, Policy=text)
    return text


def fetch(url, method="GET", headers=None, body=None):
    """(status, header fields, body) of a request without credentials."""
    request = urllib.request.Request(url, data=body, method=method, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def test_policies_are_put_got_and_deleted(bucket):
    where = {"Bucket": bucket.name}
    assert refused(bucket.client.get_bucket_policy, **where) == (404, "NoSuchBucketPolicy")
    text = set_policy(bucket, statement("Allow", "*", "s3:GetObject", f"{bucket.name}/*"))
    assert bucket.client.get_bucket_policy(**where)["Policy"] == text
    assert bucket.client.get_bucket_policy_status(**where)["PolicyStatus"] == {"IsPublic": True}
    assert refused(bucket.client.put_bucket_policy, **where, Policy="{}") \
        == (400, "MalformedPolicy")
    other = json.dumps({"Statement": [statement("Allow", "*", "s3:GetObject", "other/*")]})
    assert refused(bucket.client.put_bucket_policy, **where, Policy=other) \
        == (400, "MalformedPolicy")
    bucket.client.delete_bucket_policy(**where)
    assert refused(bucket.client.get_bucket_policy, **where) == (404, "NoSuchBucketPolicy")


def test_a_policy_opens_a_prefix_to_everybody(node, bucket):
    bucket.put("pub/a", b"open")
    bucket.put("b", b"secret")
    nobody = Bucket(node.anonymous(), bucket.name)
    assert refused(nobody.get, key="pub/a") == DENIED
    set_policy(bucket, statement("Allow", "*", "s3:GetObject", f"{bucket.name}/pub/*"))
    assert nobody.read("pub/a") == b"open"
    assert fetch(f"{node.url}/{bucket.name}/pub/a")[2] == b"open", "as WebDataset and curl do"
    assert refused(nobody.get, key="b") == DENIED
    assert refused(nobody.put, key="pub/a") == DENIED
    assert refused(nobody.client.list_objects_v2, Bucket=bucket.name) == DENIED
    bucket.client.delete_bucket_policy(Bucket=bucket.name)
    assert refused(nobody.get, key="pub/a") == DENIED


def test_a_policy_gives_to_one_key_and_takes_from_another(node, bucket):
    bucket.put("a", b"1")
    alice = node.make_key("--read", "nothing-else")
    bob = node.make_key("--read", bucket.name, "--write", bucket.name, "--list", bucket.name)
    set_policy(bucket,
               statement("Allow", {"AWS": [alice[0]]}, ["s3:GetObject", "s3:PutObject"],
                         f"{bucket.name}/*"),
               statement("Deny", {"AWS": bob[0]}, "s3:DeleteObject", f"{bucket.name}/*"))
    of_alice = Bucket(node.client(alice), bucket.name)
    of_bob = Bucket(node.client(bob), bucket.name)
    assert of_alice.read("a") == b"1"
    of_alice.put("b", b"2")
    assert refused(of_alice.client.list_objects_v2, Bucket=bucket.name) == DENIED
    assert of_bob.keys() == ["a", "b"]
    assert refused(of_bob.client.delete_object, Bucket=bucket.name, Key="a") == DENIED
    answer = of_bob.client.delete_objects(Bucket=bucket.name,
                                          Delete={"Objects": [{"Key": "a"}]})
    assert [one["Code"] for one in answer["Errors"]] == ["AccessDenied"]
    assert bucket.keys() == ["a", "b"]


def test_who_is_locked_out_is_let_in_by_the_operators_token(node, bucket):
    set_policy(bucket, statement("Deny", "*", "s3:*", bucket.name, f"{bucket.name}/*"))
    assert refused(bucket.client.delete_bucket_policy, Bucket=bucket.name) == DENIED
    token = (node.folder / "admin-token").read_text().strip()
    status, _, _ = fetch(f"{node.url}/{bucket.name}?policy", "DELETE",
                         {"Authorization": f"Bearer {token}"})
    assert status == 204
    assert bucket.keys() == []


def test_addresses_are_of_the_connection(node, bucket):
    bucket.put("a", b"1")
    here = {"IpAddress": {"aws:SourceIp": "127.0.0.0/8"}}
    set_policy(bucket, statement("Allow", "*", "s3:GetObject", f"{bucket.name}/*",
                                 Condition=here))
    assert fetch(f"{node.url}/{bucket.name}/a")[0] == 200
    there = {"IpAddress": {"aws:SourceIp": "203.0.113.0/24"}}
    set_policy(bucket, statement("Allow", "*", "s3:GetObject", f"{bucket.name}/*",
                                 Condition=there))
    assert fetch(f"{node.url}/{bucket.name}/a", headers={"X-Forwarded-For": "203.0.113.9"})[0] \
        == 403


def test_policies_survive_a_restart(start, tmp_path):
    folder = tmp_path / "data"
    server = start("serve", folder)
    bucket = make_bucket(Node(server, folder), "lasting")
    bucket.put("a", b"1", ACL="public-read")
    text = set_policy(bucket, statement("Allow", "*", "s3:ListBucket", bucket.name))
    server.stop()
    node = Node(start("serve", folder), folder)
    assert node.client().get_bucket_policy(Bucket="lasting")["Policy"] == text
    nobody = Bucket(node.anonymous(), "lasting")
    assert nobody.keys() == ["a"] and nobody.read("a") == b"1"


RULES = {"CORSRules": [{"ID": "one", "AllowedOrigins": ["https://*.example"],
                        "AllowedMethods": ["GET", "PUT"], "AllowedHeaders": ["*"],
                        "ExposeHeaders": ["ETag"], "MaxAgeSeconds": 60}]}


def test_cors(node, bucket):
    where = {"Bucket": bucket.name}
    assert refused(bucket.client.get_bucket_cors, **where) == (404, "NoSuchCORSConfiguration")
    url = f"{node.url}/{bucket.name}/k"
    asked = {"Origin": "https://a.example", "Access-Control-Request-Method": "PUT",
             "Access-Control-Request-Headers": "authorization,x-amz-date"}
    assert fetch(url, "OPTIONS", asked)[0] == 403
    bucket.client.put_bucket_cors(**where, CORSConfiguration=RULES)
    assert bucket.client.get_bucket_cors(**where)["CORSRules"] == RULES["CORSRules"]
    status, fields, _ = fetch(url, "OPTIONS", asked)
    assert status == 200
    assert fields["Access-Control-Allow-Origin"] == "https://a.example"
    assert fields["Access-Control-Max-Age"] == "60"
    assert fetch(url, "OPTIONS", asked | {"Origin": "https://evil"})[0] == 403
    # A page uploads and reads by presigned URLs.
    page = {"Origin": "https://a.example"}
    sign = bucket.client.generate_presigned_url
    put = sign("put_object", Params=where | {"Key": "k"})
    assert fetch(put, "OPTIONS", asked)[0] == 200
    status, fields, _ = fetch(put, "PUT", page | {"Content-Type": ""}, b"hello")
    assert (status, fields["Access-Control-Allow-Origin"]) == (200, "https://a.example")
    assert fields["Access-Control-Expose-Headers"] == "ETag"
    status, fields, body = fetch(sign("get_object", Params=where | {"Key": "k"}), "GET", page)
    assert (status, body) == (200, b"hello") and "Access-Control-Allow-Origin" in fields
    for refusal in (sign("get_object", Params=where | {"Key": "none"}), url):
        status, fields, _ = fetch(refusal, "GET", page)
        assert status in (403, 404)
        assert fields["Access-Control-Allow-Origin"] == "https://a.example"
    bucket.client.delete_bucket_cors(**where)
    assert refused(bucket.client.get_bucket_cors, **where) == (404, "NoSuchCORSConfiguration")


def test_canned_acls(node, bucket):
    nobody = Bucket(node.anonymous(), bucket.name)
    where = {"Bucket": bucket.name, "Key": "k"}
    bucket.put("k", b"1", ACL="public-read")
    assert nobody.read("k") == b"1"
    grants = bucket.client.get_object_acl(**where)["Grants"]
    assert [one["Permission"] for one in grants] == ["FULL_CONTROL", "READ"]
    assert grants[1]["Grantee"]["URI"].endswith("/AllUsers")
    bucket.client.put_object_acl(**where, ACL="private")
    assert refused(nobody.get, key="k") == DENIED
    shown = bucket.client.get_object_acl(**where)
    bucket.client.put_object_acl(**where, AccessControlPolicy={
        "Owner": shown["Owner"], "Grants": grants})
    assert nobody.read("k") == b"1"
    assert refused(bucket.client.put_object_acl, **where, ACL="authenticated-read")[0] == 501
    assert refused(bucket.put, key="k", GrantRead="id=1")[0] == 501
    bucket.client.put_bucket_acl(Bucket=bucket.name, ACL="public-read")
    assert nobody.keys() == ["k"]
    bucket.client.put_bucket_acl(Bucket=bucket.name, ACL="private")
    assert refused(nobody.client.list_objects_v2, Bucket=bucket.name) == DENIED


def rule(**more):
    return {"ID": "one", "Status": "Enabled", "Filter": {"Prefix": "tmp/"}} | more


def test_lifecycles_are_put_got_and_deleted(bucket):
    where = {"Bucket": bucket.name}
    client = bucket.client
    get = client.get_bucket_lifecycle_configuration
    put = client.put_bucket_lifecycle_configuration
    assert refused(get, **where) == (404, "NoSuchLifecycleConfiguration")
    rules = [rule(Expiration={"Days": 300}),
             {"ID": "two", "Status": "Disabled", "Expiration": {"Date": "2099-01-01T00:00:00Z"},
              "Filter": {"And": {"Prefix": "x", "Tags": [{"Key": "a", "Value": "1"}],
                                 "ObjectSizeGreaterThan": 5}}},
             {"ID": "three", "Status": "Enabled", "Filter": {},
              "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 70}}]
    put(**where, LifecycleConfiguration={"Rules": rules})
    got = get(**where)["Rules"]
    assert [one["ID"] for one in got] == ["one", "two", "three"]
    assert got[0] == rules[0]
    assert got[1]["Filter"] == rules[1]["Filter"]
    assert got[1]["Expiration"]["Date"] == datetime(2099, 1, 1, tzinfo=timezone.utc)

    def answer(*bad):
        return refused(put, **where, LifecycleConfiguration={"Rules": bad})

    assert answer(rule(Expiration={"Days": 0})) == (400, "InvalidArgument")
    assert answer(rule(Expiration={"Days": 1}, ID="x" * 256)) == (400, "InvalidArgument")
    assert answer(rule(Expiration={"Days": 1}), rule(Expiration={"Days": 2})) \
        == (400, "InvalidArgument")
    assert answer(rule(Expiration={"Days": 1}, Status="enabled")) == (400, "MalformedXML")
    assert answer(rule(Expiration={"Date": "2099-01-01T10:00:00Z"})) == (400, "InvalidArgument")
    assert answer(rule(Transitions=[{"Days": 1, "StorageClass": "GLACIER"}]))[0] == 501
    client.delete_bucket_lifecycle(**where)
    assert refused(get, **where) == (404, "NoSuchLifecycleConfiguration")


def test_what_is_due_goes_and_the_rest_stays(node, bucket):
    client = bucket.client
    client.put_bucket_lifecycle_configuration(Bucket=bucket.name, LifecycleConfiguration={
        "Rules": [rule(Expiration={"Days": 1}),
                  {"ID": "two", "Status": "Enabled", "Filter": {"Prefix": "up/"},
                   "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}}]})
    assert "Expiration" not in bucket.put("keep", b"1")
    put = bucket.put("tmp/a", b"1")
    assert re.fullmatch(r'expiry-date="\w{3}, .* GMT", rule-id="one"', put["Expiration"])
    client.create_multipart_upload(Bucket=bucket.name, Key="up/a")
    client.create_multipart_upload(Bucket=bucket.name, Key="other")
    wait_until(lambda: bucket.keys() == ["keep"], "a rule of one short day removes tmp/a")
    wait_until(lambda: [one["Key"] for one in client.list_multipart_uploads(
        Bucket=bucket.name)["Uploads"]] == ["other"], "a rule aborts the upload up/a")
    wait_until(lambda: b"lifecycle rules removed what was due" in node.server.log().encode(),
               "the log says what was removed")
    token = (node.folder / "admin-token").read_text().strip()
    _, _, metrics = fetch(f"{node.url}/metrics", headers={"Authorization": f"Bearer {token}"})
    assert re.search(rb"leat_lifecycle_expired_objects_total [1-9]", metrics)


def test_tags_of_a_bucket(bucket):
    where = {"Bucket": bucket.name}
    assert refused(bucket.client.get_bucket_tagging, **where) == (404, "NoSuchTagSet")
    tags = [{"Key": f"team {number}", "Value": "ü/&"} for number in range(50)]
    bucket.client.put_bucket_tagging(**where, Tagging={"TagSet": tags})
    assert bucket.client.get_bucket_tagging(**where)["TagSet"] == tags
    more = {"TagSet": [*tags, {"Key": "one more", "Value": ""}]}
    assert refused(bucket.client.put_bucket_tagging, **where, Tagging=more) == (400, "BadRequest")
    bucket.client.delete_bucket_tagging(**where)
    assert refused(bucket.client.get_bucket_tagging, **where) == (404, "NoSuchTagSet")


def test_a_public_access_block_closes_what_policies_and_acls_opened(node, bucket):
    where = {"Bucket": bucket.name}
    client, nobody = bucket.client, Bucket(node.anonymous(), bucket.name)
    assert refused(client.get_public_access_block, **where) \
        == (404, "NoSuchPublicAccessBlockConfiguration")
    bucket.put("k", b"1", ACL="public-read")
    bucket.put("p", b"2")
    opening = statement("Allow", "*", "s3:GetObject", f"{bucket.name}/p")
    set_policy(bucket, opening)
    flags = {"BlockPublicAcls": True, "IgnorePublicAcls": True, "BlockPublicPolicy": True,
             "RestrictPublicBuckets": True}
    client.put_public_access_block(**where, PublicAccessBlockConfiguration=flags)
    shown = client.get_public_access_block(**where)["PublicAccessBlockConfiguration"]
    assert shown == flags
    assert refused(nobody.get, key="k") == refused(nobody.get, key="p") == DENIED
    assert refused(bucket.put, key="n", ACL="public-read") == DENIED
    assert refused(client.put_bucket_policy, **where,
                   Policy=json.dumps({"Statement": [opening]})) == DENIED
    client.delete_public_access_block(**where)
    assert (nobody.read("k"), nobody.read("p")) == (b"1", b"2")


def test_other_sub_resources_stay_not_implemented(bucket):
    where = {"Bucket": bucket.name}
    for call in (bucket.client.get_bucket_website, bucket.client.get_bucket_replication,
                 bucket.client.get_bucket_encryption):
        assert refused(call, **where) == (501, "NotImplemented")


def test_s3cmd_sets_acls_policies_and_rules(node, bucket, tmp_path):
    access, secret = node.key
    host = node.url.split("//")[1]

    def s3cmd(*words):
        ended = subprocess.run(
            [need("s3cmd"), "--config", os.devnull, f"--access_key={access}",
             f"--secret_key={secret}", f"--host={host}", f"--host-bucket={host}", "--no-ssl",
             "--region", REGION, "--no-progress", *map(str, words)],
            env=clean_environment(), capture_output=True, text=True, timeout=WAIT_SECONDS)
        assert ended.returncode == 0, ended
        return ended.stdout

    where = f"s3://{bucket.name}"
    url = f"{node.url}/{bucket.name}/k"
    (tmp_path / "k").write_bytes(b"hello")
    s3cmd("put", "--acl-public", tmp_path / "k", f"{where}/k")
    assert fetch(url)[2] == b"hello"
    assert "*anon*: READ" in s3cmd("info", f"{where}/k")
    s3cmd("setacl", "--acl-private", f"{where}/k")
    assert fetch(url)[0] == 403
    policy = {"Statement": [statement("Allow", "*", "s3:GetObject", f"{bucket.name}/*")]}
    (tmp_path / "policy").write_text(json.dumps(policy))
    s3cmd("setpolicy", tmp_path / "policy", where)
    assert fetch(url)[2] == b"hello"
    s3cmd("delpolicy", where)
    assert fetch(url)[0] == 403
    s3cmd("expire", "--expiry-days", "500", "--expiry-prefix", "x", where)
    assert "prefix 'x' will expire in '500' day(s)" in s3cmd("info", where)
    s3cmd("dellifecycle", where)
