"""What a newcomer does wrong, and what it is told: what, why, and the next step, in one line."""

import re
import subprocess

import pytest

from leat_process import WAIT_SECONDS, binary, clean_environment, run_leat
from test_cli_objects import Cli


@pytest.fixture(scope="module")
def cli(start_for_module, tmp_path_factory):
    folder = tmp_path_factory.mktemp("newcomer") / "data"
    server = start_for_module("serve", folder)
    cli = Cli(server, folder, tmp_path_factory.mktemp("home"))
    cli.folder = folder
    cli.ok("mb", "photos")
    (cli.home / "a").write_bytes(b"a")
    cli.ok("put", cli.home / "a", "photos/full/a")
    return cli


# What was typed, the exit code, and what the line must have.
MISTAKES = [
    ("ls nobucket", 4, "leat mb nobucket"),
    ("ls s3:/photos", 2, "s3://BUCKET"),
    ("ls photos/none", 4, "nothing begins so"),
    ("mb Photos", 2, "3 to 63"),
    ("mb photos", 6, "--exist-ok"),
    ("rb photos", 6, "rb --force"),
    ("rb --force photos", 2, "--yes"),
    ("rm photos", 2, "leat rb photos"),
    ("rm -r photos/full", 2, "--yes"),
    ("get photos/full", 2, "-r"),
    ("get photos/nokey", 4, "leat ls"),
    ("get photos", 2, "-r"),
    ("get -r photos/none {out}", 4, "leat ls photos/"),
    ("put {home}/nofile photos/", 4, "nofile"),
    ("put {home}/a", 2, "TARGET"),
    ("put {home}/a nobucket/", 4, "leat mb nobucket"),
    ("put - photos/", 2, "BUCKET/KEY"),
    ("put {home}/a photos/ --jobs 0", 2, "1 to 1024"),
    ("put {home}/a photos/ --part-size 1", 2, "5MiB"),
    ("puts x y", 2, "leat put"),
    ("ls --recursve photos", 2, "--recursive"),
    ("cp ./a ./b", 2, "BUCKET/KEY"),
    ("sync {home}/nofolder photos", 4, "nofolder"),
    ("bucket set photos versioning=on", 2, "enabled or suspended"),
    ("bucket set photos colour=red", 2, "versioning, policy"),
    ("bucket set photos durability=hope", 2, "sync, group or relaxed"),
    ("bucket set photos undo=7", 2, "12h or 7d"),
    ("bucket set photos etag=sha1", 2, "md5 or fast"),
    ("key list", 5, "--token-file"),
    ("key list --token-file {home}/nofile", 4, "DIR/admin-token"),
    ("key create bob --token-file {data}/admin-token", 2, "--read"),
    ("env {home}", 4, "leat serve"),
    ("completion tcsh", 2, "bash, zsh or fish"),
    ("serve", 2, "DIR is missing"),
    ("serve {home}/a", 6, "{home}/a"),
    ("serve {data}", 6, "leat env {data}"),
    ("serve {out} --listen 9000", 2, "127.0.0.1:9000"),
    ("serve {out} --listen 203.0.113.1:0", 1, "0.0.0.0"),
    ("serve {out} --listen {address}", 6, "--listen"),
    ("serve {out} --tls yes", 2, "auto"),
]


@pytest.mark.parametrize("typed, code, says", MISTAKES, ids=[row[0] for row in MISTAKES])
def test_a_mistake_is_told_with_the_next_step(cli, tmp_path, typed, code, says):
    places = {"home": cli.home, "data": cli.folder, "out": tmp_path / "out",
              "address": cli.url.split("//")[1]}
    said = cli.refused(code, *typed.format(**places).split())
    lines = [line for line in said.splitlines() if line.startswith("leat: ")]
    assert len(lines) == 1 and says.format(**places) in lines[0], said


WRONG_SURROUNDINGS = [
    ({"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, 5, "leat env"),
    ({"AWS_ACCESS_KEY_ID": "LEATUNKNOWN"}, 5, "leat env"),
    ({"AWS_SECRET_ACCESS_KEY": "wrong"}, 5, "AWS_SECRET_ACCESS_KEY"),
    ({"AWS_REGION": "eu-west-1"}, 5, "--region"),
    ({"LEAT_ENDPOINT": "http://127.0.0.1:1"}, 7, "leat serve"),
    ({"LEAT_ENDPOINT": "https://{address}"}, 1, "http://{address}"),
    ({"LEAT_ENDPOINT": "ftp://{address}"}, 2, "http://"),
    ({"LEAT_PROFILE": "none"}, 4, "none"),
]


@pytest.mark.parametrize("variables, code, says", WRONG_SURROUNDINGS)
def test_wrong_surroundings_are_told_with_the_next_step(cli, variables, code, says):
    address = cli.url.split("//")[1]
    variables = {name: value.format(address=address) for name, value in variables.items()}
    said = cli.refused(code, "ls", **variables)
    assert says.format(address=address) in said


def test_plain_requests_to_a_node_with_tls(start, tmp_path):
    server = start("serve", tmp_path / "data", "--tls", "auto")
    variables = dict(re.findall(r"^export (\w+)=(\S+)$",
                                run_leat("env", tmp_path / "data").stdout, re.MULTILINE))
    plain = server.url.replace("https", "http")
    ended = run_leat("ls", environment=variables | {"LEAT_ENDPOINT": plain})
    assert ended.returncode != 0 and f"--endpoint {server.url}" in ended.stderr, ended


@pytest.fixture
def full_disk(tmp_path):
    """A file system without a free byte."""
    folder = tmp_path / "mounted"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)],
                             capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"mounting is not permitted here: {mounted.stderr.strip()}")
    with open(folder / "filling", "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_at_the_start_is_told_with_the_cure(full_disk):
    ended = subprocess.run([str(binary()), "serve", str(full_disk), "--listen", "127.0.0.1:0"],
                           capture_output=True, text=True, timeout=WAIT_SECONDS,
                           env=clean_environment(), stdin=subprocess.DEVNULL)
    assert ended.returncode == 9, ended
    assert "remove what is not Leat's" in ended.stderr, ended
