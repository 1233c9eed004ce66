"""Stock S3 clients, unmodified, against `leat serve`: what each of them writes, another one reads.

Every client of clients/ does the same round trips; below are the things that only one of them does.
A failure names the client and its version. LEAT_S3_FULL=1 makes the large object one of 5 GiB.
"""

import hashlib
import os
import random
import ssl
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from command_line import (Aws, AwsFromPyPI, Curl, Rclone, S3cmd, S3fs,
                          skipping_where_nothing_can_be_mounted)
from file_content import content
from leat_process import ROOT, WAIT_SECONDS, binary, clean_environment, need, wait_until
from s3_client import CLIENT_SECONDS, S3Client, first_line
from s3_node import REGION, Node
from s3_node import make_bucket as make_bucket_of
from scripted import (Arrow, AwsSdkJs, Boto3, Boto3FromDebian, MinioJs, TorchConnector, WebDataset)

MIB = 1 << 20
FULL = os.environ.get("LEAT_S3_FULL") == "1"
LARGE = 5 << 30 if FULL else 24 * MIB
CLIENTS = [Boto3FromDebian, Boto3, Aws, AwsFromPyPI, Rclone, S3cmd, Curl, S3fs, AwsSdkJs, MinioJs,
           TorchConnector, Arrow, WebDataset]

ODD_NAMES = [
    "with  spaces.txt", "a+b c+d", "100%", "%41%2B", "it's \"quoted\" `here`", "what?x=1", "a#b",
    "a&b=c;d,e", "Ünï/日本語/🦭", "e\u0301", "é", "line\nbreak", "tab\tstop", "back\\slash",
    "<a>&amp;</a>", "[a]{b}(c)*!~$@:=|^", "-rf", ".hidden", "...", "UPPER", "upper",
    "folder/", "up/../down", "./here", "a//b", "/root", "..", "s3://bucket/train/img_1",
    "/".join(5 * ["x" * 200] + ["y" * 19]),  # 1024 bytes, as long as a key may be
    "/".join(4 * ["x" * 200] + ["y" * 211]), "日" * 80, "z" * 1024]


@pytest.fixture(scope="module")
def tls_node(start_for_module, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    server = start_for_module("serve", folder / "data", "--tls", "auto")
    (folder / "ca.pem").write_text(ssl.get_server_certificate(server.address))
    return Node(server, folder / "data", ca=folder / "ca.pem")


@pytest.fixture(scope="module")
def node(start_for_module, tmp_path_factory, tls_node):
    folder = tmp_path_factory.mktemp("s3") / "data"
    return Node(start_for_module("serve", folder), folder, ca=tls_node.ca)


@pytest.fixture
def make_bucket(node, request):
    """make_bucket("up") → an empty Bucket of this test's own."""
    def make(purpose, at=node):
        name = hashlib.md5(f"{request.node.name} {purpose}".encode()).hexdigest()
        return make_bucket_of(at, name)
    return make


@pytest.fixture(scope="module")
def running(node, tmp_path_factory):
    """running(kind) → the client of that kind, started once."""
    used = {}

    def find(kind):
        if kind not in used:
            used[kind] = kind(node, tmp_path_factory.mktemp("client"))
        return used[kind]

    yield find
    for client in used.values():
        client.close()


@pytest.fixture
def use(node, running, record_property):
    """use(Rclone) → the client of that kind; what became of it is told at the end of the run."""
    def begin(kind, at=node):
        client = running(kind).towards(at)
        record_property("s3 client", str(client))
        return client
    return begin


def make_large(path, size):
    """A file that is mostly holes, but with other bytes in each MiB."""
    with open(path, "wb") as file:
        file.truncate(size)
        for at in range(0, size, MIB):
            file.seek(at)
            file.write(random.Random(at).randbytes(min(4096, size - at)))
    return path


def differ(one, other):
    """Where two streams of bytes differ, or None."""
    at = 0
    while True:
        left, right = one.read(MIB), other.read(MIB)
        while len(left) < len(right) and (more := one.read(len(right) - len(left))):
            left += more
        while len(right) < len(left) and (more := other.read(len(left) - len(right))):
            right += more
        if left != right:
            return f"differs from byte {at + len(os.path.commonprefix([left, right]))} on"
        if not left:
            return None
        at += len(left)


def check_object(client, bucket, key, file):
    """An object is the file, byte by byte, to a reader that is none of the clients."""
    url = bucket.client.generate_presigned_url("get_object",
                                               Params={"Bucket": bucket.name, "Key": key})
    trust = ssl.create_default_context(cafile=client.node.ca)
    try:
        with (urllib.request.urlopen(url, timeout=WAIT_SECONDS, context=trust) as got,
              open(file, "rb") as sent):
            difference = differ(got, sent)
    except urllib.error.HTTPError as error:
        difference = f"cannot be read: {error.code} {error.read().decode()}"
    assert difference is None, f"{client} put {key!r}: it {difference}"


def check_file(client, key, got, sent):
    with open(got, "rb") as one, open(sent, "rb") as other:
        difference = differ(one, other)
    assert difference is None, f"{client} got {key!r}: it {difference}"


def round_trip(client, up, down, files):
    """All files {key: file} as objects, and as files again, each way with another partner; or, when
    down is up, what went up is got again once it has been checked."""
    client.put(up.name, list(files.items()))
    for key, file in files.items():
        check_object(client, up, key, file)
    if down is not up:
        for key, file in files.items():
            down.client.upload_file(str(file), down.name, key)
    places = {key: client.folder / f"got{number}" for number, key in enumerate(files)}
    client.get(down.name, list(places.items()))
    for key, place in places.items():
        check_file(client, key, place, files[key])
        place.unlink()


def files_of_sizes(folder, large):
    """{key: file} from empty to large. Some clients send every second object in another way."""
    files = {}
    for key, size in {"empty": 0, "second": 0, "small": 5, "blocks/and a bit": 65_537}.items():
        files[key] = folder / f"sent{size}"
        files[key].write_bytes(content(size))
    files["large"] = make_large(folder / "large", large)
    if not FULL:
        files["again/large"] = files["large"]
    return files


@pytest.mark.parametrize("kind", CLIENTS, ids=lambda kind: kind.name)
def test_sizes(kind, use, make_bucket, tmp_path):
    files = files_of_sizes(tmp_path, LARGE if FULL and kind.one_request else LARGE + 17)
    up = make_bucket("up")
    round_trip(use(kind), up, up if FULL else make_bucket("down"), files)
    for key in files:
        up.client.delete_object(Bucket=up.name, Key=key)


@pytest.mark.parametrize("kind", [kind for kind in CLIENTS if not issubclass(kind, Aws)],
                         ids=lambda kind: kind.name)
def test_sizes_through_tls(kind, tls_node, use, make_bucket, tmp_path):
    """Bodies are framed otherwise there: unsigned, or in chunks with a trailer. aws does as boto3.
    """
    files = files_of_sizes(tmp_path, 12 * MIB + 17)
    round_trip(use(kind, tls_node), make_bucket("up", tls_node), make_bucket("down", tls_node),
               files)


@pytest.mark.parametrize("kind", CLIENTS, ids=lambda kind: kind.name)
def test_odd_names(kind, use, make_bucket, tmp_path):
    client, up, down = use(kind), make_bucket("up"), make_bucket("down")
    names = [name for name in ODD_NAMES if client.can_name(name)]
    assert len(names) > 10
    files = {}
    for number, name in enumerate(names):
        files[name] = tmp_path / f"sent{number}"
        files[name].write_bytes(name.encode())
    round_trip(client, up, down, files)
    # s3fs makes an object of each folder.
    made = [key for key in up.keys() if key in names or not key.endswith("/")]
    assert made == sorted(names, key=str.encode), f"{client} put other keys"
    listed = client.keys(down.name)
    assert listed is None or sorted(listed) == sorted(names), f"{client} lists other keys"


def test_every_operation_works_with_the_newest_boto3(use):
    """Debian's boto3 runs the other tests of S3; the newest sends checksums and other headers."""
    client = use(Boto3)
    here = Path(__file__)
    others = [file for file in here.parent.glob("test_s3*.py") if file.name != here.name]
    again = subprocess.run(
        [client.interpreter(), "-m", "pytest", "-q", "-p", "no:cacheprovider", *others],
        env=clean_environment(LEAT_BINARY=str(binary())), capture_output=True, text=True,
        timeout=CLIENT_SECONDS)
    assert again.returncode == 0, f"{client}: {again.stdout}{again.stderr}"


def make_tree(folder):
    sizes = {"a.txt": 5, "empty": 0, "sub/b c+.bin": 100_000, "sub/big": 18 * MIB}
    for name, size in sizes.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content(size))
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def test_aws_syncs_moves_and_removes(use, make_bucket, tmp_path):
    aws, bucket = use(Aws), make_bucket("sync")
    names = make_tree(tmp_path / "tree")
    where = f"s3://{bucket.name}/x"
    aws.aws("s3", "sync", tmp_path / "tree", where)
    assert bucket.keys() == [f"x/{name}" for name in names]
    assert aws.aws("s3", "sync", where, tmp_path / "tree") == "", "it sees no difference"
    aws.aws("s3", "mv", f"{where}/sub/big", f"{where}/moved")  # copied in parts, then deleted
    assert bucket.read("x/moved") == content(18 * MIB)
    aws.aws("s3", "rm", "--recursive", where)
    assert bucket.keys() == []


def test_rclone_checks_and_keeps_times(use, make_bucket, tmp_path):
    rclone, bucket = use(Rclone), make_bucket("sync")
    names = make_tree(tmp_path / "tree")
    remote = rclone.remote(bucket.name) + "/x"
    rclone.rclone("sync", tmp_path / "tree", remote)
    assert bucket.keys() == [f"x/{name}" for name in names]
    rclone.rclone("check", tmp_path / "tree", remote)
    os.utime(tmp_path / "tree" / "a.txt", (1e9, 1e9))
    rclone.rclone("sync", tmp_path / "tree", remote)  # copies it onto itself with another time
    rclone.rclone("sync", remote, tmp_path / "again")
    assert (tmp_path / "again" / "a.txt").stat().st_mtime == 1e9
    rclone.rclone("purge", remote)
    assert bucket.keys() == []


def test_s3cmd_copies_and_deletes(use, make_bucket):
    s3cmd, bucket = use(S3cmd), make_bucket("copy")
    bucket.put("x/a", b"hello")
    s3cmd.s3cmd("cp", f"s3://{bucket.name}/x/a", f"s3://{bucket.name}/x/copy")
    assert bucket.read("x/copy") == b"hello"
    s3cmd.s3cmd("del", "--recursive", "--force", f"s3://{bucket.name}/x/")
    assert bucket.keys() == []


def test_curl_is_told_what_it_must_sign(use, make_bucket):
    curl, bucket = use(Curl), make_bucket("reason")
    without = subprocess.run(
        ["curl", "-sS", "--aws-sigv4", f"aws:amz:{REGION}:s3", "--user", ":".join(curl.node.key),
         f"{curl.node.url}/{bucket.name}/k"], capture_output=True, timeout=WAIT_SECONDS)
    assert b"x-amz-content-sha256" in without.stdout, f"{curl}: the reason is in the answer"


def test_s3fs_is_a_file_system(use, make_bucket):
    s3fs, bucket = use(S3fs), make_bucket("files")
    where = s3fs.mount(bucket.name)
    try:
        (where / "folder" / "sub").mkdir(parents=True)
        (where / "folder" / "a").write_bytes(b"hello")
        with open(where / "folder" / "a", "ab") as file:
            file.write(b" world")
        os.chmod(where / "folder" / "a", 0o604)
        os.rename(where / "folder" / "a", where / "folder" / "b")
        make_large(where / "large", 24 * MIB)
        os.rename(where / "large", where / "moved")  # copied in parts
        os.truncate(where / "moved", 11 * MIB)
        (where / "folder" / "sub").rmdir()
        assert sorted(os.listdir(where)) == ["folder", "moved"]
        assert os.stat(where / "folder" / "b").st_mode & 0o777 == 0o604
    finally:
        s3fs.unmount()
    assert bucket.keys() == ["folder/", "folder/b", "moved"]
    assert bucket.read("folder/b") == b"hello world"
    assert bucket.client.head_object(Bucket=bucket.name, Key="moved")["ContentLength"] == 11 * MIB


class Restic(S3Client):
    """No client for single objects: it keeps encrypted packs."""

    name = "restic"

    def find_version(self):
        return first_line("restic", "version").split()[1]

    def environment(self):
        return super().environment() | {"RESTIC_PASSWORD": "secret",
                                        "RESTIC_CACHE_DIR": str(self.folder / "cache")}


def test_restic_backs_up_and_restores(use, make_bucket, tmp_path):
    client, bucket = use(Restic), make_bucket("backup")
    names = make_tree(tmp_path / "tree")
    repository = f"s3:{client.node.url}/{bucket.name}/backup"

    def restic(*words):
        client.run(need("restic"), "--repo", repository, *words, cwd=tmp_path)

    restic("init")
    restic("backup", "tree")
    restic("check", "--read-data")
    restic("restore", "latest", "--target", "again")
    for name in names:
        check_file(client, name, tmp_path / "again" / "tree" / name, tmp_path / "tree" / name)
    restic("forget", "--prune", "latest")


def test_torch_trains_from_a_prefix_and_keeps_a_checkpoint(use, make_bucket):
    client, bucket = use(TorchConnector), make_bucket("train")
    sizes = {f"train/img {number:04}": number * 1000 for number in range(40)}
    for key, size in sizes.items():
        bucket.put(key, content(size))
    bucket.put("trainer", b"not of the prefix")
    by_index, by_stream = client.ask("train", bucket=bucket.name, prefix="train/")
    assert by_index == sizes, f"{client}: S3MapDataset"
    assert by_stream == sizes, f"{client}: S3IterableDataset with two workers"
    assert bucket.client.head_object(Bucket=bucket.name, Key="checkpoint/1")["ContentLength"] \
        > 12 * MIB


def test_arrow_keeps_a_table(use, make_bucket):
    client, bucket = use(Arrow), make_bucket("table")
    assert client.ask("parquet", bucket=bucket.name) == 10_000
    assert [key for key in bucket.keys() if key.endswith(".parquet")] \
        == [f"a table/part={part}/part-0.parquet" for part in range(3)]


def test_webdataset_writes_and_reads_a_shard(use, make_bucket):
    client, bucket = use(WebDataset), make_bucket("shards")
    where = {"Bucket": bucket.name, "Key": "train-{000}.tar"}
    sizes = client.ask("shards", to=bucket.client.generate_presigned_url("put_object", where),
                       **{"from": bucket.client.generate_presigned_url("get_object", where)})
    assert sizes == [0, 1, 511, 512, 513, 70_000, 3 * MIB]
    missing = bucket.client.generate_presigned_url(
        "get_object", {"Bucket": bucket.name, "Key": "none.tar"})
    assert client.ask("error of", **{"from": missing}), f"{client}: 404 is an error"


@pytest.fixture
def manual(node, make_bucket, tmp_path):
    """manual("sh") → (the lines that docs/reference/s3.md has for clients, made for this node; the
    bucket in them). What they read is in the folder of the test."""
    bucket = make_bucket("manual")
    (tmp_path / "cat.jpg").write_bytes(content(100_000))
    host = node.url.split("//")[1]
    text = (ROOT / "docs" / "reference" / "s3.md").read_text().split("\n## Clients\n")[1]

    def lines(language):
        found = text.split(f"```{language}\n")[1].split("```")[0].replace("photos", bucket.name)
        found = found.replace("127.0.0.1:9000", host).replace("9000", host.split(":")[1])
        return found, bucket
    return lines


def test_the_shell_lines_of_the_manual_work(manual, use, tmp_path):
    lines, bucket = manual("sh")
    transfers, _ = lines.split("\n(umask")
    make_tree(tmp_path / "pictures")
    use(Rclone).run("bash", "-e", "-c", transfers.replace("…", "secret"), cwd=tmp_path)
    assert {"a.txt", "cat.jpg", "backup/config"} < set(bucket.keys())


def test_the_mount_of_the_manual_works(manual, node, use, tmp_path):
    lines, bucket = manual("sh")
    bucket.put("cat.jpg", content(100_000))
    (tmp_path / "mnt").mkdir()
    with skipping_where_nothing_can_be_mounted():
        use(S3fs).run("bash", "-e", "-c", f"U={node.url}\n(umask" + lines.split("\n(umask")[1],
                      cwd=tmp_path)
    wait_until(lambda: os.path.ismount(tmp_path / "mnt"), "s3fs mounts")
    try:
        assert (tmp_path / "mnt" / "cat.jpg").read_bytes() == content(100_000)
    finally:
        subprocess.run(["fusermount", "-u", tmp_path / "mnt"], check=True, timeout=WAIT_SECONDS)


def test_the_python_lines_of_the_manual_work(manual, use, tmp_path):
    lines, bucket = manual("python")
    program = f"""
import torch
model = torch.nn.Linear(1, 1)
{lines}
assert images[1].read() == open("cat.jpg", "rb").read()  # after the shard
assert [len(sample["jpg"]) for sample in samples] == [100_000]
"""
    client = use(TorchConnector)
    client.run(client.interpreter(), "-c", program, cwd=tmp_path)
    assert bucket.keys() == ["0000.tar", "cat.jpg", "epoch-1"]


def test_the_javascript_lines_of_the_manual_work(manual, use, tmp_path):
    lines, bucket = manual("js")
    program = f"""{lines}
const {{ ListBucketsCommand }} = require("@aws-sdk/client-s3");
s3.send(new ListBucketsCommand({{}})).then((told) => console.log(JSON.stringify(told.Buckets)));
client.fPutObject("{bucket.name}", "cat.jpg", "cat.jpg");
"""
    client = use(AwsSdkJs)
    told = client.run(client.interpreter(), "-e", program, cwd=tmp_path)
    assert bucket.name in told and bucket.read("cat.jpg") == content(100_000)
