"""leat put, get, ls, sync and the rest against a real node, with boto3 as the judge."""

import base64
import fcntl
import hashlib
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import threading
import zlib
from pathlib import Path

import boto3
import pytest
from botocore.config import Config

from leat_process import WAIT_SECONDS, binary, clean_environment, run_leat, wait_until

MIB = 1 << 20
ODD_NAMES = ["plain.txt", "with space", "ümläut", "a+b", "100%", "q?x=1&y", "semi;colon",
             "'quote\"", "日本語", "-dash", "deep/er/est/file", ".hidden", "tab\there", "star*"]


class Cli:
    """A node, and commands that find it as `eval "$(leat env DIR)"` tells them."""

    def __init__(self, server, folder, home):
        self.server = server
        self.home = home
        self.url = server.url
        shown = run_leat("env", folder, "--listen", server.url.split("//")[1])
        assert shown.returncode == 0, shown
        self.variables = dict(re.findall(r"^export (\w+)=(\S+)$", shown.stdout, re.MULTILINE))
        self.s3 = boto3.client(
            "s3", endpoint_url=self.url, region_name="leat",
            aws_access_key_id=self.variables["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=self.variables["AWS_SECRET_ACCESS_KEY"],
            config=Config(signature_version="s3v4", retries={"total_max_attempts": 1}))

    def environment(self, **extra):
        return clean_environment(**(self.variables | {"HOME": str(self.home)} | extra))

    def run(self, *words, stdin=None, cwd=None, **extra):
        """One command; stdout and stderr as bytes."""
        return subprocess.run([str(binary()), *map(str, words)], input=stdin, cwd=cwd,
                              env=self.environment(**extra), capture_output=True,
                              timeout=3 * WAIT_SECONDS,
                              **({} if stdin is not None else {"stdin": None}))

    def ok(self, *words, **options):
        ended = self.run(*words, **options)
        assert ended.returncode == 0, (words, ended)
        return ended

    def lines(self, *words, **options):
        """JSON lines of a command that succeeds."""
        ended = self.ok(*words, "--json", **options)
        return [json.loads(line) for line in ended.stdout.splitlines()]

    def summary(self, *words, **options):
        return self.lines(*words, **options)[-1]

    def refused(self, code, *words, **options):
        """The one line that a refused command says."""
        ended = self.run(*words, **options)
        assert ended.returncode == code, (words, ended)
        return ended.stderr.decode()

    def start(self, *words, **extra):
        return subprocess.Popen([str(binary()), *map(str, words)], env=self.environment(**extra),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def body(self, bucket, key):
        return self.s3.get_object(Bucket=bucket, Key=key)["Body"].read()

    def keys(self, bucket, prefix=""):
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        return [item["Key"] for page in pages for item in page.get("Contents", [])]


@pytest.fixture(scope="module")
def cli(start_for_module, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "data"
    server = start_for_module("serve", folder)
    return Cli(server, folder, tmp_path_factory.mktemp("home"))


@pytest.fixture
def bucket(cli, request):
    name = f"b-{hashlib.md5(request.node.name.encode()).hexdigest()[:20]}"
    cli.ok("mb", name)
    return name


def noise(size, seed=1):
    """Bytes that do not repeat within a part."""
    block = b"".join(zlib.crc32(f"{seed}.{i}".encode()).to_bytes(4, "big") for i in range(16384))
    out = bytearray()
    while len(out) < size:
        out += len(out).to_bytes(8, "big") + block
    return bytes(out[:size])


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def tree(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("size", [0, 1, 4096, 8 * MIB, 8 * MIB + 1, 37 * MIB + 13])
def test_a_round_trip_gives_the_same_bytes(cli, bucket, tmp_path, size):
    data = noise(size)
    write(tmp_path / "in", data)
    cli.ok("put", tmp_path / "in", f"{bucket}/key")
    assert cli.body(bucket, "key") == data
    cli.ok("get", f"{bucket}/key", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == data
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]
    assert cli.ok("cat", f"{bucket}/key").stdout == data


@pytest.mark.parametrize("size", [0, 100, 8 * MIB, 20 * MIB + 5])
def test_stdin_becomes_an_object_and_an_object_stdout(cli, bucket, size):
    data = noise(size, seed=2)
    cli.ok("put", "-", f"{bucket}/from-stdin", stdin=data)
    assert cli.body(bucket, "from-stdin") == data
    assert cli.ok("get", f"{bucket}/from-stdin", "-").stdout == data


@pytest.mark.parametrize("words", [("put", "--dry-run"), ("cp", "-n")])
def test_a_dry_run_sends_nothing_of_stdin(cli, bucket, words):
    said = cli.ok(*words, "-", f"{bucket}/k", stdin=b"bytes").stdout.decode()
    assert said == f"would put - → {bucket}/k\n" and cli.keys(bucket) == []
    assert cli.lines(*words, "-", f"{bucket}/k", stdin=b"")[0]["status"] == "would"
    assert "no such bucket" in cli.refused(4, *words, "-", "not-there/k", stdin=b"")


def test_a_reader_that_has_enough_is_no_reason_to_complain(cli, bucket, tmp_path):
    cli.ok("put", write(tmp_path / "f", noise(8 * MIB)), f"{bucket}/f")
    with subprocess.Popen([str(binary()), "cat", f"{bucket}/f"], env=cli.environment(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.read(10) == noise(10)
        process.stdout.close()
        assert process.wait(WAIT_SECONDS) == 1
        assert process.stderr.read() == b""


def test_output_that_cannot_be_written_is_no_bug(cli, bucket, tmp_path):
    cli.ok("put", write(tmp_path / "f", b"x"), f"{bucket}/f")
    commands = [("ls", "-r", bucket), ("ls", bucket, "--json"), ("stat", f"{bucket}/f"),
                ("du", bucket), ("put", tmp_path / "f", f"{bucket}/g", "--json")]
    for words in commands:
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "wb") as closed, open("/dev/full", "wb") as full:
            for stdout, said in ((closed, b""), (full, b"standard output cannot be written")):
                ended = subprocess.run([str(binary()), *map(str, words)], stdout=stdout,
                                       env=cli.environment(), stderr=subprocess.PIPE,
                                       timeout=WAIT_SECONDS)
                assert ended.returncode == 1, (words, ended)
                assert said in ended.stderr and b"bug" not in ended.stderr, (words, ended)


def test_the_service_keeps_the_checksum_that_was_made_here(cli, bucket, tmp_path):
    write(tmp_path / "small", b"x" * 1000)
    write(tmp_path / "large", noise(20 * MIB))
    cli.ok("put", tmp_path / "small", tmp_path / "large", f"{bucket}/")
    for name in ("small", "large"):
        head = cli.s3.head_object(Bucket=bucket, Key=name, ChecksumMode="ENABLED")
        # Debian's botocore does not know the algorithm.
        fields = head["ResponseMetadata"]["HTTPHeaders"]
        assert len(base64.b64decode(fields["x-amz-checksum-crc64nvme"])) == 8
        assert fields["x-amz-checksum-type"] == "FULL_OBJECT"


def test_objects_of_boto3_come_with_their_bytes_verified(cli, bucket, tmp_path):
    for algorithm in ("CRC32", "CRC32C", "SHA1", "SHA256", "CRC64NVME"):
        if algorithm == "CRC64NVME" or algorithm == "CRC32C":
            continue  # these need the CRT in boto3
        cli.s3.put_object(Bucket=bucket, Key=algorithm, Body=algorithm.encode() * 1000,
                          ChecksumAlgorithm=algorithm)
        cli.ok("get", f"{bucket}/{algorithm}", tmp_path / algorithm)
        assert (tmp_path / algorithm).read_bytes() == algorithm.encode() * 1000


def test_odd_names_survive_both_ways(cli, bucket, tmp_path):
    for index, name in enumerate(ODD_NAMES):
        write(tmp_path / "in" / name, f"{index}".encode())
    sent = cli.summary("put", "--objects", tmp_path / "in", f"{bucket}/odd")
    assert sent["files"] == len(ODD_NAMES)
    assert sorted(cli.keys(bucket)) == sorted(f"odd/{name}" for name in ODD_NAMES)
    cli.ok("get", "-r", f"{bucket}/odd", tmp_path / "out")
    assert tree(tmp_path / "out") == tree(tmp_path / "in")
    listed = json.loads(cli.ok("ls", "-r", bucket, "--json").stdout)
    assert [row["name"] for row in listed] == sorted(cli.keys(bucket), key=str.encode)


def test_where_a_file_goes(cli, bucket, tmp_path):
    write(tmp_path / "a.txt", b"a")
    write(tmp_path / "b.txt", b"b")
    cli.ok("put", tmp_path / "a.txt", bucket)
    cli.ok("put", tmp_path / "a.txt", f"{bucket}/folder/")
    cli.ok("put", tmp_path / "a.txt", f"{bucket}/exact")
    cli.ok("put", tmp_path / "a.txt", tmp_path / "b.txt", f"s3://{bucket}/both")
    assert cli.keys(bucket) == ["a.txt", "both/a.txt", "both/b.txt", "exact", "folder/a.txt"]
    out = tmp_path / "out"
    out.mkdir()
    cli.ok("get", f"{bucket}/both/a.txt", cwd=out)
    cli.ok("get", f"{bucket}/both/a.txt", f"{bucket}/both/b.txt", out / "two")
    cli.ok("get", f"leat://{cli.url.split('//')[1]}/{bucket}/exact", out)
    assert sorted(tree(out)) == ["a.txt", "exact", "two/a.txt", "two/b.txt"]


def test_metadata_and_types(cli, bucket, tmp_path):
    write(tmp_path / "cat.JPG", b"jpeg")
    cli.ok("put", tmp_path / "cat.JPG", f"{bucket}/", "--meta", "split=train")
    head = cli.s3.head_object(Bucket=bucket, Key="cat.JPG")
    assert head["ContentType"] == "image/jpeg"
    assert head["Metadata"] == {"split": "train"}
    shown = json.loads(cli.ok("stat", f"{bucket}/cat.JPG", "--json").stdout)
    assert (shown["size"], shown["metadata"]) == (4, {"split": "train"})
    assert shown["checksum"]["algorithm"] == "CRC64NVME"
    cli.ok("put", tmp_path / "cat.JPG", f"{bucket}/", "--content-type", "x/y")
    assert cli.s3.head_object(Bucket=bucket, Key="cat.JPG")["ContentType"] == "x/y"
    assert b"x/y" in cli.ok("stat", f"{bucket}/cat.JPG").stdout


def test_a_second_put_skips_what_is_there_and_sends_what_has_changed(cli, bucket, tmp_path):
    for index in range(20):
        write(tmp_path / "in" / f"{index}", noise(1000, seed=index))
    assert cli.summary("put", "--objects", tmp_path / "in", bucket)["files"] == 20
    again = cli.summary("put", "--objects", tmp_path / "in", bucket)
    assert (again["files"], again["skipped"]) == (0, 20)
    # The same size and, as far as file systems tell, an old time: the contents decide.
    changed = tmp_path / "in" / "7"
    old = changed.stat().st_mtime - 1000
    write(changed, noise(1000, seed=99))
    os.utime(changed, (old, old))
    third = cli.summary("put", "--objects", tmp_path / "in", bucket)
    assert (third["files"], third["skipped"]) == (1, 19)
    assert cli.body(bucket, "7") == noise(1000, seed=99)
    assert cli.summary("put", "--objects", tmp_path / "in", bucket, "--force")["files"] == 20


def test_files_of_the_same_size_are_not_taken_for_those_that_were_sent(cli, bucket, tmp_path):
    # v2 is older than the objects that v1 becomes: no time may say that it was sent.
    for version in ("v1", "v2"):
        write(tmp_path / version / "f", version.encode())
    cli.ok("put", "--objects", tmp_path / "v1", f"{bucket}/x")
    for words in (("put", "--objects"), ("sync",)):
        cli.ok("put", "--objects", "--force", tmp_path / "v1", f"{bucket}/x")
        sent = cli.summary(*words, tmp_path / "v2", f"{bucket}/x")
        assert (sent["files"], sent["skipped"]) == (1, 0), words
        assert cli.body(bucket, "x/f") == b"v2", words


def test_objects_of_one_second_are_told_apart(cli, bucket, tmp_path):
    def second():
        (item,) = cli.s3.list_objects_v2(Bucket=bucket)["Contents"]
        return item["LastModified"].replace(microsecond=0)

    for _ in range(20):
        cli.s3.put_object(Bucket=bucket, Key="f", Body=b"v1")
        first = second()
        cli.ok("get", "-r", bucket, tmp_path / "out")
        cli.s3.put_object(Bucket=bucket, Key="f", Body=b"v2")
        if second() == first:
            break
    assert second() == first
    cli.ok("get", "-r", bucket, tmp_path / "out")
    assert (tmp_path / "out" / "f").read_bytes() == b"v2"


def test_a_second_get_skips_what_is_there_and_mends_what_has_changed(cli, bucket, tmp_path):
    for index in range(5):
        write(tmp_path / "in" / f"{index}", noise(1000, seed=index))
    cli.ok("put", "--objects", tmp_path / "in", bucket)
    out = tmp_path / "out"
    assert cli.summary("get", "-r", bucket, out)["files"] == 5
    modified = cli.s3.head_object(Bucket=bucket, Key="1")["LastModified"].timestamp()
    assert abs((out / "1").stat().st_mtime - modified) < 2, "files get the time of their object"
    assert cli.summary("get", "-r", bucket, out)["skipped"] == 5
    write(out / "3", b"?" * 1000)
    (out / "4").unlink()
    third = cli.summary("get", "-r", bucket, out)
    assert (third["files"], third["skipped"]) == (2, 3)
    assert tree(out) == tree(tmp_path / "in")


def test_a_dry_run_does_not_touch_the_times_of_files(cli, bucket, tmp_path):
    path = write(tmp_path / "out" / "f", b"same")
    cli.s3.put_object(Bucket=bucket, Key="f", Body=b"same")
    os.utime(path, (1000, 1000))
    for words in (("-r", bucket, tmp_path / "out"), (f"{bucket}/f", path)):
        assert cli.summary("get", "--dry-run", *words)["skipped"] == 1
        assert path.stat().st_mtime == 1000


def test_ls_on_every_level(cli, bucket, tmp_path):
    for name in ("a", "d/b", "d/e/c"):
        cli.s3.put_object(Bucket=bucket, Key=name, Body=name.encode())
    assert bucket in cli.ok("ls", "-q").stdout.decode().splitlines()
    assert cli.ok("ls", "-q", bucket).stdout.decode().splitlines() == ["a", "d/"]
    assert cli.ok("ls", "-q", f"{bucket}/d/").stdout.decode().splitlines() == ["d/b", "d/e/"]
    assert cli.ok("ls", "-q", "-r", bucket).stdout.decode().splitlines() == ["a", "d/b", "d/e/c"]
    size, time, name = cli.ok("ls", f"{bucket}/a").stdout.decode().splitlines()[0].split("\t")
    assert (size, name) == ("1", "a") and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", time)
    assert "nothing begins so" in cli.refused(4, "ls", f"{bucket}/zzz")
    assert json.loads(cli.ok("ls", bucket, "--json").stdout)[1] == {"type": "prefix", "name": "d/"}


def test_ls_goes_on_through_all_pages(cli, bucket):
    names = [f"k{index:04}" for index in range(1203)]
    folder = cli.home / "many"
    for name in names:
        write(folder / name, b"")
    assert cli.summary("put", "--objects", folder, bucket)["files"] == len(names)
    assert cli.ok("ls", "-q", bucket).stdout.decode().split() == names
    assert cli.ok("du", bucket).stdout.decode().split() == ["0", "1203", bucket]
    assert cli.summary("rm", "-r", "--yes", bucket)["removed"] == len(names)
    assert cli.keys(bucket) == []


def test_du_counts_below_prefixes(cli, bucket):
    for name in ("a/1", "a/2", "ab"):
        cli.s3.put_object(Bucket=bucket, Key=name, Body=b"12345")
    assert cli.ok("du", f"{bucket}/a").stdout == f"10\t2\t{bucket}/a\n".encode()
    whole = json.loads(cli.ok("du", bucket, "--json").stdout)
    assert whole == [{"name": bucket, "objects": 3, "bytes": 15}]


def test_rm_removes_what_it_is_told_and_nothing_else(cli, bucket):
    for name in ("a/1", "a/2", "ab", "c"):
        cli.s3.put_object(Bucket=bucket, Key=name, Body=b"")
    cli.ok("rm", f"{bucket}/c")
    assert "no such object" in cli.refused(4, "rm", f"{bucket}/c")
    assert "--yes" in cli.refused(2, "rm", "-r", f"{bucket}/a")
    assert cli.ok("rm", "-r", "--dry-run", f"{bucket}/a").stdout.decode().splitlines() == [
        f"would remove {bucket}/a/1", f"would remove {bucket}/a/2"]
    assert cli.keys(bucket) == ["a/1", "a/2", "ab"]
    cli.ok("rm", "-r", "-y", f"{bucket}/a")
    assert cli.keys(bucket) == ["ab"]


def test_rm_asks_on_a_terminal(cli, bucket):
    cli.s3.put_object(Bucket=bucket, Key="a/1", Body=b"")
    for answer, code, left in ((b"n\n", 1, ["a/1"]), (b"y\n", 0, [])):
        master, slave = pty.openpty()
        process = subprocess.Popen([str(binary()), "rm", "-r", f"{bucket}/a"], stdin=slave,
                                   stdout=slave, stderr=slave, env=cli.environment())
        os.close(slave)
        seen = b""
        while b"[y/N]" not in seen:
            assert select.select([master], [], [], WAIT_SECONDS)[0], seen
            seen += os.read(master, 4096)
        os.write(master, answer)
        assert process.wait(WAIT_SECONDS) == code
        os.close(master)
        assert cli.keys(bucket) == left


def test_buckets_come_and_go(cli):
    cli.ok("mb", "come-and-go")
    assert "come-and-go" in cli.refused(6, "mb", "come-and-go")
    cli.ok("mb", "come-and-go", "--exist-ok")
    cli.s3.put_object(Bucket="come-and-go", Key="x", Body=b"")
    assert "--force" in cli.refused(6, "rb", "come-and-go")
    assert "--yes" in cli.refused(2, "rb", "--force", "come-and-go")
    cli.ok("rb", "--force", "--yes", "come-and-go")
    assert "leat mb come-and-go" in cli.refused(4, "ls", "come-and-go")
    assert "leat mb come-and-go" in cli.refused(4, "rb", "come-and-go")


def test_buckets_come_and_go_with_json_and_are_tried_without_effect(cli):
    def told(*words):
        return json.loads(cli.ok(*words, "--json").stdout)

    line = {"type": "bucket", "action": "make", "name": "told"}
    assert told("mb", "told", "--dry-run") == line | {"status": "would"}
    assert cli.ok("mb", "told", "--dry-run").stdout == b"would make told\n"
    assert told("mb", "told") == line | {"status": "done"}, "the dry runs made nothing"
    assert told("mb", "told", "--exist-ok") == line | {"status": "skipped"}
    cli.refused(6, "mb", "told", "--dry-run")
    cli.refused(2, "mb", "Told", "--dry-run")
    line["action"] = "remove"
    assert told("rb", "told", "--dry-run") == line | {"status": "would"}
    assert told("rb", "told") == line | {"status": "done"}
    cli.refused(4, "rb", "told", "--dry-run")


def test_properties_are_set_with_json_and_tried_without_effect(cli, bucket):
    def told(*words):
        return [json.loads(line) for line in cli.ok(*words, "--json").stdout.splitlines()]

    words = ("bucket", "set", bucket, "versioning=enabled", "public-access=blocked")
    would = told(*words, "--dry-run")
    assert [(line["name"], line["status"]) for line in would] == [
        ("versioning", "would"), ("public-access", "would")]
    assert "Status" not in cli.s3.get_bucket_versioning(Bucket=bucket)
    done = told(*words)
    assert done[0] == {"type": "property", "action": "set", "status": "done", "bucket": bucket,
                       "name": "versioning", "value": "enabled"}
    said = cli.ok("bucket", "unset", bucket, "public-access", "--dry-run").stdout.decode()
    assert said == f"would unset public-access of {bucket}\n"
    rows = [line.split("\t") for line in cli.ok("bucket", "show", bucket).stdout.decode()
            .splitlines()]
    assert ["versioning", "Enabled"] in rows and ["public-access", "blocked"] in rows
    assert told("bucket", "unset", bucket, "public-access")[0]["value"] is None
    assert "leat mb" in cli.refused(4, "bucket", "set", f"{bucket}-2", "etag=fast", "--dry-run")


def test_flags_may_stand_before_the_verb(cli, bucket):
    assert json.loads(cli.ok("--json", "ls", bucket).stdout) == []
    assert cli.ok("-q", "--endpoint", cli.url, "ls", LEAT_ENDPOINT="http://127.0.0.1:1").stdout
    assert json.loads(cli.ok("--json", "dataset", "ls", bucket).stdout) == []
    assert json.loads(cli.ok("dataset", "--json", "ls", bucket).stdout) == []
    assert "a command is missing beside --json" in cli.refused(2, "--json")


def test_bucket_shows_its_properties(cli, bucket):
    shown = json.loads(cli.ok("bucket", "show", bucket, "--json").stdout)
    assert (shown["name"], shown["location"]) == (bucket, "leat")
    assert {"versioning", "policy", "lifecycle", "cors"} <= set(shown)
    cli.refused(2, "bucket", "set", bucket, "colour=red")
    cli.refused(2, "bucket", "unset", bucket, "versioning")


def test_bucket_sets_how_objects_are_kept(cli, bucket):
    shown = json.loads(cli.ok("bucket", "show", bucket, "--json").stdout)
    assert (shown["durability"], shown["undo"], shown["etag"]) == ("sync", "off", "md5")
    cli.ok("bucket", "set", bucket, "durability=group", "undo=36h")
    shown = json.loads(cli.ok("bucket", "show", bucket, "--json").stdout)
    assert (shown["durability"], shown["undo"]) == ("group", "36h")
    written = cli.s3.put_object(Bucket=bucket, Key="x", Body=b"")
    assert written["ResponseMetadata"]["HTTPHeaders"]["x-leat-durability"] == "group"
    cli.ok("bucket", "unset", bucket, "durability", "undo")
    shown = json.loads(cli.ok("bucket", "show", bucket, "--json").stdout)
    assert (shown["durability"], shown["undo"]) == ("sync", "off")


def test_bucket_sets_what_s3_has(cli, bucket, tmp_path):
    policy = {"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject",
         "Resource": f"arn:aws:s3:::{bucket}/public/*"}]}
    (tmp_path / "policy.json").write_text(json.dumps(policy))
    (tmp_path / "rules.xml").write_text(
        "<LifecycleConfiguration><Rule><ID>old</ID><Filter><Prefix>tmp/</Prefix></Filter>"
        "<Status>Enabled</Status><Expiration><Days>3</Days></Expiration></Rule>"
        "</LifecycleConfiguration>")
    (tmp_path / "cors.xml").write_text(
        "<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin>"
        "<AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>")
    cli.ok("bucket", "set", bucket, "versioning=enabled", f"policy={tmp_path / 'policy.json'}",
           f"lifecycle={tmp_path / 'rules.xml'}", f"cors={tmp_path / 'cors.xml'}")
    assert cli.s3.get_bucket_versioning(Bucket=bucket)["Status"] == "Enabled"
    assert json.loads(cli.s3.get_bucket_policy(Bucket=bucket)["Policy"]) == policy
    rules = cli.s3.get_bucket_lifecycle_configuration(Bucket=bucket)["Rules"]
    assert rules[0]["Expiration"]["Days"] == 3
    assert cli.s3.get_bucket_cors(Bucket=bucket)["CORSRules"][0]["AllowedOrigins"] == ["*"]
    shown = json.loads(cli.ok("bucket", "show", bucket, "--json").stdout)
    assert shown["versioning"] == "Enabled"
    cli.ok("bucket", "set", bucket, "versioning=suspended")
    cli.ok("bucket", "unset", bucket, "policy")
    assert b"none" in cli.ok("bucket", "show", bucket).stdout
    assert cli.s3.get_bucket_versioning(Bucket=bucket)["Status"] == "Suspended"


def test_cp_copies_in_every_direction(cli, bucket, tmp_path):
    data = noise(9 * MIB)
    write(tmp_path / "in" / "x" / "large", data)
    write(tmp_path / "in" / "small", b"small")
    cli.ok("cp", "-r", tmp_path / "in", f"{bucket}/one")
    assert cli.keys(bucket) == ["one/small", "one/x/large"]
    cli.ok("cp", f"{bucket}/one/small", f"{bucket}/renamed")
    cli.ok("cp", "-r", f"{bucket}/one", f"{bucket}/two")
    assert cli.body(bucket, "two/x/large") == data
    assert cli.body(bucket, "renamed") == b"small"
    cli.ok("cp", "-r", f"{bucket}/two", tmp_path / "out")
    assert tree(tmp_path / "out") == tree(tmp_path / "in")
    assert "-r" in cli.refused(2, "cp", f"{bucket}/one", f"{bucket}/three")
    assert "both files" in cli.refused(2, "cp", "./a", "./b")
    assert "inside each other" in cli.refused(2, "cp", "-r", bucket, f"{bucket}/deeper")
    assert "the same" in cli.refused(2, "cp", f"{bucket}/renamed", f"{bucket}/renamed")


def test_mv_leaves_nothing_behind(cli, bucket, tmp_path):
    write(tmp_path / "in" / "a", b"a")
    write(tmp_path / "in" / "b", b"b")
    cli.ok("mv", "-r", tmp_path / "in", f"{bucket}/first")
    assert tree(tmp_path / "in") == {}
    cli.ok("mv", "-r", f"{bucket}/first", f"{bucket}/second")
    assert cli.keys(bucket) == ["second/a", "second/b"]
    cli.ok("mv", f"{bucket}/second/a", tmp_path / "a")
    cli.ok("mv", "--dry-run", f"{bucket}/second/b", tmp_path / "b")
    assert cli.keys(bucket) == ["second/b"]
    assert (tmp_path / "a").read_bytes() == b"a"


def test_sources_of_one_name_are_not_put_on_top_of_each_other(cli, bucket, tmp_path):
    one, two = write(tmp_path / "1" / "f", b"1"), write(tmp_path / "2" / "f", b"2")
    for command in ("put", "mv"):
        told = cli.refused(2, command, one, two, f"{bucket}/t")
        assert all(name in told for name in (str(one), str(two), f"{bucket}/t/f")), told
    assert cli.keys(bucket) == [] and (one.read_bytes(), two.read_bytes()) == (b"1", b"2")
    for name in ("1/f", "2/f"):
        cli.s3.put_object(Bucket=bucket, Key=name, Body=name.encode())
    sources = (f"{bucket}/1/f", f"{bucket}/2/f")
    for command, target in (("get", tmp_path / "out"), ("mv", tmp_path / "out"),
                            ("cp", f"{bucket}/t/"), ("mv", f"{bucket}/t/")):
        told = cli.refused(2, command, *sources, target)
        assert all(source in told for source in sources), told
    assert cli.keys(bucket) == ["1/f", "2/f"] and not (tmp_path / "out").exists()


def test_trees_of_one_name_are_merged_but_for_what_both_have(cli, bucket, tmp_path):
    for name in ("1/d/both", "1/d/one", "2/d/both", "2/d/two"):
        write(tmp_path / name, name.encode())
    trees = (tmp_path / "1" / "d", tmp_path / "2" / "d")
    assert "another source" in cli.refused(3, "mv", "-r", *trees, f"{bucket}/t")
    assert cli.keys(bucket) == ["t/d/both", "t/d/one", "t/d/two"]
    assert cli.body(bucket, "t/d/both") == b"1/d/both"
    assert tree(tmp_path) == {"2/d/both": b"2/d/both"}
    for name in ("1/d/both", "2/d/both"):
        cli.s3.put_object(Bucket=bucket, Key=name, Body=name.encode())
    cli.refused(3, "mv", "-r", f"{bucket}/1/d", f"{bucket}/2/d", tmp_path / "out")
    assert tree(tmp_path / "out") == {"d/both": b"1/d/both"}
    assert cli.keys(bucket, "2/") == ["2/d/both"]


def test_sync_up_makes_the_target_like_the_source(cli, bucket, tmp_path):
    for name in ("same", "changed", "new/file"):
        write(tmp_path / "in" / name, name.encode())
    cli.ok("sync", tmp_path / "in", f"{bucket}/t")
    cli.s3.put_object(Bucket=bucket, Key="t/extra", Body=b"")
    cli.s3.put_object(Bucket=bucket, Key="tx", Body=b"not below t/")
    write(tmp_path / "in" / "changed", b"CHANGED")
    would = cli.ok("sync", tmp_path / "in", f"{bucket}/t", "--delete", "--dry-run")
    assert sorted(would.stdout.decode().splitlines()) == sorted([
        f"would put {tmp_path}/in/changed → {bucket}/t/changed", f"would remove {bucket}/t/extra"])
    assert cli.body(bucket, "t/changed") == b"changed"
    done = cli.summary("sync", tmp_path / "in", f"{bucket}/t")
    assert (done["files"], done["skipped"], done["removed"]) == (1, 2, 0)
    assert cli.summary("sync", tmp_path / "in", f"{bucket}/t", "--delete")["removed"] == 1
    assert cli.keys(bucket) == ["t/changed", "t/new/file", "t/same", "tx"]


def test_sync_down_makes_the_folder_like_the_prefix(cli, bucket, tmp_path):
    for name in ("a", "d/b"):
        cli.s3.put_object(Bucket=bucket, Key=f"t/{name}", Body=name.encode())
    out = tmp_path / "out"
    write(out / "extra", b"")
    cli.ok("sync", f"{bucket}/t", out)
    assert sorted(tree(out)) == ["a", "d/b", "extra"]
    assert cli.ok("sync", f"{bucket}/t", out, "--delete", "-n").stdout.decode() == (
        f"would remove {out}/extra\n")
    cli.ok("sync", f"{bucket}/t", out, "--delete")
    assert tree(out) == {"a": b"a", "d/b": b"d/b"}


def test_sync_with_delete_does_not_take_a_missing_source_for_an_empty_one(cli, bucket, tmp_path):
    write(tmp_path / "out" / "precious", b"")
    assert "--yes" in cli.refused(4, "sync", f"{bucket}/typo", tmp_path / "out", "--delete")
    cli.s3.put_object(Bucket=bucket, Key="t/precious", Body=b"")
    cli.refused(4, "sync", tmp_path / "typo", f"{bucket}/t", "--delete")
    (tmp_path / "unmounted" / "empty").mkdir(parents=True)
    empty = ("sync", tmp_path / "unmounted", f"{bucket}/t", "--delete")
    assert "--yes" in cli.refused(4, *empty)
    assert (tmp_path / "out" / "precious").exists() and cli.keys(bucket) == ["t/precious"]
    assert cli.summary(*empty, "--yes")["removed"] == 1


def test_sync_between_buckets(cli, bucket):
    for name in ("a", "b"):
        cli.s3.put_object(Bucket=bucket, Key=f"from/{name}", Body=name.encode())
    assert cli.summary("sync", f"{bucket}/from", f"{bucket}/to")["files"] == 2
    assert cli.summary("sync", f"{bucket}/from", f"{bucket}/to")["skipped"] == 2


@pytest.mark.parametrize("key", ["../escaped", "a/../../escaped", "/escaped", "a//b", "./a", ".."])
def test_keys_that_would_leave_the_folder_are_refused(cli, bucket, tmp_path, key):
    cli.s3.put_object(Bucket=bucket, Key=f"t/{key}", Body=b"evil")
    cli.s3.put_object(Bucket=bucket, Key="t/good", Body=b"good")
    out = tmp_path / "a" / "b"
    told = cli.refused(3, "get", "-r", f"{bucket}/t", out)
    assert "not fetched" in told
    assert tree(tmp_path) == {"a/b/good": b"good"}


def test_names_of_files_that_are_still_arriving_are_left_to_them(cli, bucket, tmp_path):
    cli.s3.put_object(Bucket=bucket, Key="t/f.leat-part", Body=b"other")
    cli.s3.put_object(Bucket=bucket, Key="t/f", Body=b"f")
    assert "not fetched" in cli.refused(3, "get", "-r", f"{bucket}/t", tmp_path / "out")
    assert tree(tmp_path / "out") == {"f": b"f"}
    cli.refused(2, "get", f"{bucket}/t/f", tmp_path / "x.leat-part")
    write(tmp_path / "out" / "f.leat-part", b"half")
    told = cli.refused(3, "sync", tmp_path / "out", f"{bucket}/t", "--delete")
    assert "not sent" in told and cli.keys(bucket) == ["t/f", "t/f.leat-part"]
    assert cli.body(bucket, "t/f.leat-part") == b"other"


def test_links_do_not_lead_a_download_out_of_its_folder(cli, bucket, tmp_path):
    cli.s3.put_object(Bucket=bucket, Key="t/link/file", Body=b"evil")
    outside = tmp_path / "outside"
    outside.mkdir()
    out = tmp_path / "out"
    out.mkdir()
    (out / "link").symlink_to(outside)
    assert cli.run("get", "-r", f"{bucket}/t", out).returncode != 0
    assert list(outside.iterdir()) == []


def test_one_bad_file_of_many_is_partly_done(cli, bucket, tmp_path):
    for index in range(5):
        write(tmp_path / "in" / f"{index}", b"x")
    (tmp_path / "in" / "dangling").symlink_to("nowhere")
    ended = cli.run("put", "--objects", tmp_path / "in", bucket, "--json")
    assert ended.returncode == 3
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [line["item"] for line in lines if line["type"] == "error"] == [
        f"{tmp_path}/in/dangling"]
    assert (lines[-1]["files"], lines[-1]["failed"]) == (5, 1)
    assert len(cli.keys(bucket)) == 5


def test_sync_with_delete_spares_what_it_could_not_look_at(cli, bucket, tmp_path):
    write(tmp_path / "in" / "a", b"a")
    cli.s3.put_object(Bucket=bucket, Key="t/link/b", Body=b"b")
    (tmp_path / "in" / "link").symlink_to("nowhere")
    assert cli.run("sync", tmp_path / "in", f"{bucket}/t", "--delete").returncode == 3
    assert cli.keys(bucket) == ["t/a", "t/link/b"]


def test_errors_say_why_and_what_to_do(cli, bucket, tmp_path):
    write(tmp_path / "f", b"")
    assert "leat mb" in cli.refused(4, "put", tmp_path / "f", "no-such-bucket/x")
    assert "leat ls" in cli.refused(4, "get", f"{bucket}/missing", tmp_path / "x")
    assert "leat env" in cli.refused(5, "ls", AWS_ACCESS_KEY_ID="LEATUNKNOWN")
    assert "AWS_SECRET_ACCESS_KEY" in cli.refused(5, "ls", AWS_SECRET_ACCESS_KEY="wrong")
    assert "leat env" in cli.refused(5, "ls", AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")
    told = cli.refused(7, "ls", "--endpoint", "http://127.0.0.1:1")
    assert "http://127.0.0.1:1" in told and "leat serve" in told
    assert "No such file" in cli.refused(4, "put", tmp_path / "missing", f"{bucket}/x")
    assert "BUCKET" in cli.refused(2, "get", "./local", tmp_path)
    assert "-r" in cli.refused(2, "get", bucket, tmp_path)
    cli.s3.put_object(Bucket=bucket, Key="p/x", Body=b"")
    assert "-r takes them all" in cli.refused(2, "get", f"{bucket}/p", tmp_path)
    assert cli.refused(4, "ls", "--profile", "nobody").startswith("leat: profile nobody")


def test_profiles_and_the_order_of_settings(cli, bucket, tmp_path):
    home = tmp_path / "home"
    write(home / ".aws" / "credentials", (
        "[lab]\naws_access_key_id = {AWS_ACCESS_KEY_ID}\n"
        "aws_secret_access_key = {AWS_SECRET_ACCESS_KEY}\n").format(**cli.variables).encode())
    write(home / ".config" / "leat" / "config.toml",
          f'[profile.lab]\nendpoint = "{cli.url}"\nregion = "leat"\n'.encode())
    bare = {"HOME": str(home)}
    ended = run_leat("ls", "-q", "--profile", "lab", environment=bare)
    assert ended.returncode == 0 and bucket in ended.stdout.split(), ended
    ended = run_leat("ls", "-q", environment=bare | {"LEAT_PROFILE": "lab"})
    assert bucket in ended.stdout.split()
    ended = run_leat("ls", "--profile", "lab", "--endpoint", "http://127.0.0.1:1",
                     environment=bare)
    assert ended.returncode == 7
    write(home / ".config" / "leat" / "config.toml", b'endpiont = "x"\n')
    ended = run_leat("ls", environment=bare)
    assert ended.returncode == 2 and "did you mean `endpoint`?" in ended.stderr


def test_what_is_printed_where(cli, bucket, tmp_path):
    write(tmp_path / "f", b"x" * 1000)
    ended = cli.ok("put", tmp_path / "f", f"{bucket}/f")
    assert ended.stdout == b"" and b"1 files" in ended.stderr
    assert b"\x1b" not in ended.stderr and b"\r" not in ended.stderr, "no terminal, no drawing"
    ended = cli.ok("put", tmp_path / "f", f"{bucket}/g", "--quiet")
    assert (ended.stdout, ended.stderr) == (b"", b"")
    line, summary = cli.lines("put", tmp_path / "f", f"{bucket}/h")
    assert line == {"type": "file", "action": "put", "status": "done", "bytes": 1000,
                    "source": f"{tmp_path}/f", "target": f"{bucket}/h"}
    assert summary.pop("seconds") >= 0
    assert summary == {"type": "summary", "dry_run": False, "files": 1, "bytes": 1000,
                       "skipped": 0, "removed": 0, "failed": 0}
    assert f"put {tmp_path}/f → {bucket}/i" in cli.ok(
        "put", "-v", tmp_path / "f", f"{bucket}/i").stdout.decode()


def put_on_a_terminal(cli, bucket, path, **variables):
    """What `leat put` of a file says to a terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen([str(binary()), "put", str(path), f"{bucket}/f"],
                               stdin=subprocess.DEVNULL, stderr=slave,
                               env=cli.environment(LEAT_PROGRESS_FPS="60", **variables))
    os.close(slave)
    seen = b""
    try:
        while piece := os.read(master, 65536):
            seen += piece
    except OSError:  # how Linux tells that the other side of a terminal has closed
        pass
    os.close(master)
    assert process.wait(WAIT_SECONDS) == 0
    return seen.decode()


def test_a_terminal_that_cannot_redraw_gets_no_escapes(cli, bucket, tmp_path):
    write(tmp_path / "f", noise(64 * MIB))
    text = put_on_a_terminal(cli, bucket, tmp_path / "f", TERM="dumb")
    assert "\x1b" not in text and "1 files, 64.0 MiB in " in text


def test_a_terminal_gets_a_bar(cli, bucket, tmp_path):
    write(tmp_path / "f", noise(64 * MIB))
    text = put_on_a_terminal(cli, bucket, tmp_path / "f")
    # How far the bar is when it is drawn is the machine's business; progress_test.cc has its forms.
    assert ("█" in text or "░" in text) and "of 64.0 MiB" in text
    assert text.rstrip().split("\x1b[K")[-1].startswith("1 files, 64.0 MiB in ")


class StallingProxy:
    """Passes bytes on to a node until so many have gone one way; then that way stands still."""

    def __init__(self, server, up_max=None, down_max=None, before_method=None):
        """`before_method`: the beginning of a request, and what to do once before it passes."""
        self._before_method = before_method
        self._target = server.address
        self._left = {"up": up_max, "down": down_max}
        self._lock = threading.Lock()
        self._sockets = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.stalled = threading.Event()
        self._spawn(self._accept)

    def _spawn(self, work, *arguments):
        threading.Thread(target=work, args=arguments, daemon=True).start()

    def _accept(self):
        try:
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._target)
                self._sockets += [near, far]
                self._spawn(self._pump, near, far, "up")
                self._spawn(self._pump, far, near, "down")
        except OSError:  # close()
            pass

    def _pump(self, source, sink, way):
        try:
            while piece := source.recv(65536):
                with self._lock:
                    if self._left[way] is not None:
                        self._left[way] -= len(piece)
                        if self._left[way] < 0:
                            self.stalled.set()
                            return  # neither read nor closed: it stands still
                    if way == "up" and self._before_method:
                        method, act = self._before_method
                        if piece.startswith(method):
                            self._before_method = None
                            act()
                sink.sendall(piece)
        except OSError:
            pass

    def close(self):
        for one in [self._listener, *self._sockets]:
            try:
                one.shutdown(socket.SHUT_RDWR)  # also wakes a thread that waits in it
            except OSError:
                pass
            one.close()


def meanwhile(cli, method, act, *words):
    """What a command says that fails because of what is done before its first such request."""
    proxy = StallingProxy(cli.server, before_method=(method, act))
    try:
        return cli.refused(6, *words, "--endpoint", proxy.url)
    finally:
        proxy.close()


@pytest.mark.parametrize("size", [1000, 9 * MIB])
def test_mv_removes_no_object_that_was_replaced_meanwhile(cli, bucket, tmp_path, size):
    old, new = noise(size, seed=1), noise(size, seed=2)
    for target in (f"{bucket}/target", tmp_path / "target"):
        cli.ok("put", write(tmp_path / "f", old), f"{bucket}/k")
        told = meanwhile(cli, b"DELETE ",
                         lambda: cli.s3.put_object(Bucket=bucket, Key="k", Body=new),
                         "mv", f"{bucket}/k", target)
        assert "replaced" in told and cli.body(bucket, "k") == new
    assert cli.body(bucket, "target") == (tmp_path / "target").read_bytes() == old


@pytest.mark.parametrize("size, method", [(1000, b"PUT "), (9 * MIB, b"POST ")])
def test_mv_removes_no_file_that_changed_meanwhile(cli, bucket, tmp_path, size, method):
    path = write(tmp_path / "f", noise(size))

    def append():
        with open(path, "ab") as file:
            file.write(b"more")

    assert "changed" in meanwhile(cli, method, append, "mv", path, f"{bucket}/k")
    assert path.read_bytes() == noise(size) + b"more"


def test_mv_removes_no_file_that_took_the_place_of_another(cli, bucket, tmp_path):
    path = write(tmp_path / "f", b"old")

    def replace():
        write(tmp_path / "new", b"new").rename(path)

    assert "changed" in meanwhile(cli, b"PUT ", replace, "mv", path, f"{bucket}/k")
    assert path.read_bytes() == b"new" and cli.body(bucket, "k") == b"old"


def test_mv_keeps_its_source_from_a_bucket_that_answers_too_early(cli, bucket, tmp_path):
    path = write(tmp_path / "f", b"x")
    cli.ok("put", path, f"{bucket}/k")
    for durability in ("group", "relaxed"):
        cli.ok("bucket", "set", bucket, f"durability={durability}")
        for source in (path, f"{bucket}/k"):
            told = cli.refused(6, "mv", source, f"{bucket}/moved")
            assert f"durability={durability}" in told and "leat cp" in told
    assert path.exists() and cli.keys(bucket) == ["k"]
    cli.ok("mv", f"{bucket}/k", tmp_path / "fetched")
    cli.ok("bucket", "set", bucket, "durability=sync")
    cli.ok("mv", path, f"{bucket}/moved")
    assert not path.exists() and cli.keys(bucket) == ["moved"]


@pytest.mark.parametrize("flag", [("--content-type", "x/y"), ("--meta", "a=1")])
def test_copies_keep_what_they_have_and_say_so(cli, bucket, tmp_path, flag):
    cli.s3.put_object(Bucket=bucket, Key="a", Body=b"x", ContentType="t/1")
    for command in ("cp", "mv"):
        for target in (f"{bucket}/b", tmp_path / "b"):
            assert flag[0] in cli.refused(2, command, f"{bucket}/a", target, *flag)
    assert cli.keys(bucket) == ["a"]
    cli.ok("cp", write(tmp_path / "f", b"x"), f"{bucket}/f", *flag)


def test_commands_for_many_go_on_after_a_failure(cli, bucket):
    cli.s3.put_object(Bucket=bucket, Key="k", Body=b"12345")
    missing = f"{bucket}/missing"
    for words, shown in ((("stat", missing, f"{bucket}/k"), b"size      5"),
                         (("cat", missing, f"{bucket}/k"), b"12345"),
                         (("du", "not-there", bucket), b"5\t1\t")):
        ended = cli.run(*words)
        assert ended.returncode == 3 and shown in ended.stdout, (words, ended)
        assert b"no such" in ended.stderr or b"not exist" in ended.stderr, (words, ended)
    made = f"{bucket}-2"
    ended = cli.run("mb", bucket, made)
    assert ended.returncode == 3 and f"made {made}".encode() in ended.stderr, ended
    ended = cli.run("rb", bucket, made)
    assert ended.returncode == 3 and f"removed {made}".encode() in ended.stderr, ended
    for words in (("stat", missing, missing), ("stat", missing), ("cat", missing, missing),
                  ("du", "not-there"), ("rb", made, made)):
        assert cli.run(*words).returncode == 4, words
    lines = cli.run("stat", missing, f"{bucket}/k", "--json").stdout.splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["error", "object"]


def on_a_terminal(cli, *words):
    """What a command shows where its output and its errors are a terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen([str(binary()), *map(str, words)], stdin=subprocess.DEVNULL,
                               stdout=slave, stderr=slave, env=cli.environment(TERM="dumb"))
    os.close(slave)
    seen = b""
    try:
        while piece := os.read(master, 65536):
            seen += piece
    except OSError:  # how Linux tells that the other side of a terminal has closed
        pass
    os.close(master)
    process.wait(WAIT_SECONDS)
    return seen


def test_keys_do_not_steer_the_terminal(cli, bucket, tmp_path):
    steering = "a\x1b[2Jb\x07\u009b2J"
    cli.s3.put_object(Bucket=bucket, Key=f"d/{steering}", Body=b"x", Metadata={"m": "plain"})
    write(tmp_path / "in" / steering, b"y")
    commands = [("ls", "-r", bucket), ("stat", f"{bucket}/d/{steering}"),
                ("get", "-r", "-v", bucket, tmp_path / "out"), ("rm", "-r", "-n", bucket),
                ("put", "--objects", "-n", tmp_path / "in", f"{bucket}/x"),
                ("cat", f"{bucket}/{steering}"), ("du", f"{bucket}/{steering}"),
                ("get", f"{bucket}/{steering}", f"{bucket}/d", tmp_path / "none")]
    for words in commands:
        seen = on_a_terminal(cli, *words)
        assert rb"\x1b[2J" in seen, (words, seen)
        assert not any(one in seen for one in (b"\x1b", b"\x07", b"\xc2\x9b")), (words, seen)


def uploads(cli, bucket):
    return cli.s3.list_multipart_uploads(Bucket=bucket).get("Uploads", [])


def parts_of(cli, bucket, upload):
    return cli.s3.list_parts(Bucket=bucket, Key=upload["Key"],
                             UploadId=upload["UploadId"]).get("Parts", [])


def kill_when_stalled(cli, proxy, ready, *words):
    """Starts a command through the proxy and kills it when `ready()` and nothing moves."""
    variables = {"AWS_ENDPOINT_URL": proxy.url, "AWS_ENDPOINT_URL_S3": proxy.url}
    with subprocess.Popen([str(binary()), *map(str, words)], env=cli.environment(**variables),
                          stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            assert proxy.stalled.wait(WAIT_SECONDS)
            wait_until(ready, "some of it is there")
            assert process.poll() is None
        finally:
            process.kill()
    proxy.close()


def interrupted_put(cli, bucket, path):
    """A put of 64 MiB that was killed when about half had arrived; the endpoint it used."""
    proxy = StallingProxy(cli.server, up_max=32 * MIB)
    kill_when_stalled(cli, proxy, lambda: parts_of(cli, bucket, uploads(cli, bucket)[0]),
                      "put", path, f"{bucket}/large", "--part-size", "5MiB")
    return proxy


def move_state(cli, proxy, bucket, path):
    """What is remembered belongs to the proxy's address; the node's own is another service."""
    folder = cli.home / ".local/state/leat/uploads"
    def name(url):
        text = f"{url}\n{bucket}/large\n{path}".encode()
        return folder / hashlib.sha256(text).hexdigest()[:32]
    name(proxy.url).rename(name(cli.url))
    return name(cli.url)


def test_a_killed_put_goes_on_in_the_middle_of_its_file(cli, bucket, tmp_path):
    data = noise(64 * MIB)
    path = write(tmp_path / "large", data)
    state = move_state(cli, interrupted_put(cli, bucket, path), bucket, path)
    assert cli.keys(bucket) == [], "nothing is to be seen of half an object"
    (upload,) = uploads(cli, bucket)
    there = sum(part["Size"] for part in parts_of(cli, bucket, upload))
    summary = cli.summary("put", path, f"{bucket}/large", "--part-size", "5MiB")
    # What was in flight may have arrived since.
    assert there > 0 and summary["bytes"] <= len(data) - there
    assert cli.body(bucket, "large") == data
    assert uploads(cli, bucket) == [] and not state.exists()


def test_a_file_that_changed_is_not_continued(cli, bucket, tmp_path):
    path = write(tmp_path / "large", noise(64 * MIB))
    move_state(cli, interrupted_put(cli, bucket, path), bucket, path)
    data = noise(64 * MIB, seed=5)
    write(path, data)
    assert cli.summary("put", path, f"{bucket}/large")["bytes"] == len(data)
    assert cli.body(bucket, "large") == data


@pytest.mark.parametrize("size", [100, 9 * MIB])
def test_what_another_process_fetches_is_left_to_it(cli, bucket, tmp_path, size):
    cli.ok("put", write(tmp_path / "f", noise(size)), f"{bucket}/f")
    part = tmp_path / "out.leat-part"
    with open(part, "wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        other.write(b"theirs")
        other.flush()
        assert "another process" in cli.refused(6, "get", f"{bucket}/f", tmp_path / "out")
        assert part.read_bytes() == b"theirs" and not (tmp_path / "out").exists()
    cli.ok("get", f"{bucket}/f", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == noise(size)


def parts_here(path):
    """How many parts of a download have arrived, from the end of its file."""
    if not path.exists():
        return 0
    with open(path, "rb") as file:
        file.seek(-200, os.SEEK_END)
        return file.read().rpartition(b"\n")[2].count(b"1")


def test_a_killed_get_goes_on_in_the_middle_of_its_object(cli, bucket, tmp_path):
    data = noise(64 * MIB, seed=3)
    cli.ok("put", write(tmp_path / "large", data), f"{bucket}/large")
    out, part = tmp_path / "out", tmp_path / "out.leat-part"
    proxy = StallingProxy(cli.server, down_max=48 * MIB)
    kill_when_stalled(cli, proxy, lambda: parts_here(part),
                      "get", f"{bucket}/large", out, "--part-size", "5MiB")
    assert not out.exists()
    here = parts_here(part) * 5 * MIB
    summary = cli.summary("get", f"{bucket}/large", out, "--part-size", "5MiB")
    assert here > 0 and summary["bytes"] == len(data) - here
    assert out.read_bytes() == data
    assert not part.exists()


def test_a_download_that_was_damaged_meanwhile_is_found_out(cli, bucket, tmp_path):
    data = noise(64 * MIB, seed=4)
    write(tmp_path / "large", data)
    cli.ok("put", tmp_path / "large", f"{bucket}/large")
    out = tmp_path / "out"
    part = tmp_path / "out.leat-part"
    etag = cli.s3.head_object(Bucket=bucket, Key="large")["ETag"].strip('"')
    # All parts are said to be there, and one byte of them is wrong.
    line = f"leat-part 1 {8 * MIB} {etag}\n".encode()
    part.write_bytes(data[:1000] + b"!" + data[1001:] + line + b"1" * 8)
    assert "checksum" in cli.refused(8, "get", f"{bucket}/large", out)
    assert not out.exists()
    cli.ok("get", f"{bucket}/large", out)
    assert out.read_bytes() == data


def test_an_interrupt_says_what_is_safe_and_how_to_go_on(cli, bucket, tmp_path):
    data = noise(64 * MIB)
    path = write(tmp_path / "large", data)
    proxy = StallingProxy(cli.server, up_max=16 * MIB)
    process = cli.start("put", path, f"{bucket}/large", "--endpoint", proxy.url)
    assert proxy.stalled.wait(WAIT_SECONDS)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=WAIT_SECONDS)
    proxy.close()
    assert process.returncode == 130
    assert b"interrupted" in told and b"safe" in told and b"same command again" in told
    cli.ok("put", path, f"{bucket}/large")
    assert cli.body(bucket, "large") == data


def test_large_objects_are_copied_and_listed_as_boto3_sees_them(cli, bucket, tmp_path):
    data = noise(24 * MIB)
    write(tmp_path / "large", data)
    cli.ok("put", tmp_path / "large", f"{bucket}/large")
    rows = json.loads(cli.ok("ls", bucket, "--json").stdout)
    (item,) = cli.s3.list_objects_v2(Bucket=bucket)["Contents"]
    assert rows == [{"type": "object", "name": "large", "size": item["Size"],
                     "etag": item["ETag"].strip('"'),
                     "modified": item["LastModified"].strftime("%Y-%m-%dT%H:%M:%SZ")}]


def test_a_node_that_starts_again_is_waited_for(start, tmp_path):
    folder = tmp_path / "data"
    server = start("serve", folder)
    cli = Cli(server, folder, tmp_path)
    cli.ok("mb", "restarted")
    for index in range(3000):
        write(tmp_path / "in" / f"{index:04}", f"{index}".encode())
    process = cli.start("put", "--objects", tmp_path / "in", "restarted")
    wait_until(lambda: cli.keys("restarted"), "the first object")
    server.kill()
    start("serve", folder, listen=cli.url.split("//")[1])
    _, told = process.communicate(timeout=3 * WAIT_SECONDS)
    assert process.returncode == 0, told
    assert len(cli.keys("restarted")) == 3000


def test_top_tells_what_the_node_does(cli, bucket):
    stop = threading.Event()
    listen = cli.url.split("//")[1]

    def ask_on():
        while not stop.is_set():
            cli.s3.list_objects_v2(Bucket=bucket)

    asker = threading.Thread(target=ask_on)
    asker.start()
    try:
        (status,) = cli.lines("top", "--count", "1", "--interval", "500ms", "--listen", listen)
    finally:
        stop.set()
        asker.join()
    assert status["type"] == "status" and status["requests_per_s"] > 0
    assert "s3_list_objects_v2" in [row["operation"] for row in status["operations"]]
    assert b"requests/s" in cli.ok("top", "--count", "1", "--interval", "1ms",
                                     "--listen", listen).stdout


def test_a_node_with_tls_is_trusted_by_its_certificate(start, tmp_path):
    folder = tmp_path / "data"
    server = start("serve", folder, "--tls", "auto")
    shown = run_leat("env", folder, "--listen", server.url.split("//")[1], "--tls", "auto")
    variables = dict(re.findall(r"^export (\w+)=(\S+)$", shown.stdout, re.MULTILINE))
    variables |= {"HOME": str(tmp_path)}
    assert run_leat("mb", "photos", environment=variables).returncode == 0
    variables.pop("AWS_CA_BUNDLE")
    refused = run_leat("ls", environment=variables)
    assert refused.returncode == 5 and "--ca-file" in refused.stderr
