"""Commands of a node find it: by its data directory, by LEAT_ENDPOINT, by a profile, with TLS."""

import json
import os
import re
import signal

import pytest

from leat_process import run_leat


def variables(shown):
    assert shown.returncode == 0, shown
    return dict(re.findall(r"^export (\w+)=(\S+)$", shown.stdout, re.MULTILINE))


@pytest.fixture
def node(start, tmp_path):
    return start("serve", tmp_path / "data")


def test_env_knows_where_the_node_listens(node, tmp_path):
    shown = run_leat("env", tmp_path / "data")
    assert variables(shown)["AWS_ENDPOINT_URL"] == node.url
    assert shown.stderr == ""


def test_env_takes_the_address_that_it_is_given(node, tmp_path):
    shown = run_leat("env", tmp_path / "data", "--listen", "10.0.0.1:7")
    assert variables(shown)["AWS_ENDPOINT_URL"] == "http://10.0.0.1:7"


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_env_of_a_node_that_is_gone_says_so(node, tmp_path, end):
    node.signal(end)
    node.wait()
    shown = run_leat("env", tmp_path / "data")
    assert variables(shown)["AWS_ENDPOINT_URL"] == "http://127.0.0.1:9000"
    assert "no node runs on" in shown.stderr and "leat serve" in shown.stderr


def test_env_of_a_folder_without_a_node(tmp_path):
    ended = run_leat("env", tmp_path)
    assert ended.returncode == 4 and "leat serve" in ended.stderr


@pytest.fixture
def noted(start, tmp_path):
    """noted("a", …) → a node on the folder a that leaves a note for commands in `noted.state`."""
    def begin(folder, **options):
        return start("serve", tmp_path / folder, environment=begin.state, **options)
    begin.state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    return begin


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_env_finds_the_only_node(noted, end):
    def env():
        return run_leat("env", environment=noted.state)

    ended = env()
    assert ended.returncode == 4 and "leat serve" in ended.stderr and ended.stdout == ""
    one = noted("one")
    assert variables(env())["AWS_ENDPOINT_URL"] == one.url
    one.signal(end)
    one.wait()
    assert env().returncode == 4
    two = noted("two")
    assert variables(env())["AWS_ENDPOINT_URL"] == two.url


def test_env_lists_nodes_if_there_are_several(noted, tmp_path):
    one, two = noted("one"), noted("two")
    ended = run_leat("env", environment=noted.state)
    assert ended.returncode == 2 and ended.stdout == ""
    assert f"leat env {tmp_path / 'one'}   # {one.url}\n" in ended.stderr
    assert f"leat env {tmp_path / 'two'}   # {two.url}\n" in ended.stderr
    one.stop()
    assert variables(run_leat("env", environment=noted.state))["AWS_ENDPOINT_URL"] == two.url


def test_operators_need_no_flags_for_their_only_node(noted, tmp_path):
    noted("one")
    surroundings = noted.state | {"HOME": str(tmp_path)}
    shown = run_leat("disk", "list", environment=surroundings)
    assert shown.returncode == 0 and str(tmp_path / "one") in shown.stdout, shown
    assert run_leat("key", "list", environment=surroundings).returncode == 0
    elsewhere = run_leat("key", "list", environment=surroundings | {"LEAT_LISTEN": "127.0.0.1:1"})
    assert elsewhere.returncode == 7, elsewhere


def test_env_finds_a_node_that_was_started_by_a_relative_path(start, tmp_path):
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    node = start("serve", "./data", cwd=tmp_path, environment=state)
    shown = variables(run_leat("env", cwd="/", environment=state))
    assert shown["AWS_ENDPOINT_URL"] == node.url
    assert os.listdir(tmp_path / "state/leat/nodes")
    node.stop()
    assert os.listdir(tmp_path / "state/leat/nodes") == []


@pytest.mark.parametrize("how", ["LEAT_ENDPOINT", "AWS_ENDPOINT_URL", "--endpoint", "--listen",
                                 "profile"])
def test_commands_find_the_node(node, tmp_path, how):
    environment = {"HOME": str(tmp_path)}
    flags = []
    if how == "profile":
        settings = tmp_path / ".config/leat/config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(f'[profile.lab]\nendpoint = "{node.url}"\n')
        flags = ["--profile", "lab"]
    elif how.startswith("--"):
        flags = [how, node.url.split("//")[1]]
    else:
        environment[how] = node.url
    token = ["--token-file", tmp_path / "data/admin-token"]
    for words in (["disk", "list"], ["key", "list"], ["top", "--count", "1", "--interval", "1ms"]):
        ended = run_leat(*words, *flags, *token, environment=environment)
        assert ended.returncode == 0, (words, ended)
    shown = run_leat("disk", "list", *flags, *token, environment=environment).stdout
    assert str(tmp_path / "data") in shown


def test_a_node_with_tls_is_asked_by_its_certificate(start, tmp_path):
    start("serve", tmp_path / "data", "--tls", "auto")
    environment = variables(run_leat("env", tmp_path / "data")) | {"HOME": str(tmp_path)}
    assert environment["AWS_CA_BUNDLE"] == str(tmp_path / "data/tls.pem")
    token = ["--token-file", tmp_path / "data/admin-token"]
    assert run_leat("key", "list", *token, environment=environment).returncode == 0
    del environment["AWS_CA_BUNDLE"]
    ended = run_leat("key", "list", *token, environment=environment)
    assert ended.returncode == 5 and "--ca-file" in ended.stderr


def test_nobody_at_the_address_is_said_with_what_to_do(tmp_path):
    ended = run_leat("disk", "list", "--endpoint", "http://127.0.0.1:1",
                     environment={"HOME": str(tmp_path)})
    assert ended.returncode == 7 and "leat serve" in ended.stderr


@pytest.fixture
def operate(node, tmp_path):
    """operate("key", "list", …) → stdout of a command that the operator of the node runs."""
    def run(*words, code=0):
        ended = run_leat(*words, "--endpoint", node.url, "--token-file",
                         tmp_path / "data/admin-token", environment={"HOME": str(tmp_path)})
        assert ended.returncode == code, ended
        return ended.stdout
    return run


def test_keys_are_made_and_revoked_with_json_and_tried_without_effect(operate):
    def ids():
        return [key["id"] for key in json.loads(operate("key", "list", "--json"))["keys"]]

    before = ids()
    rights = ("--read", "photos/2026", "--list", "photos")
    said = operate("key", "create", "alice", *rights, "--dry-run")
    assert said == "would create a key alice for read:photos/2026 list:photos/\n"
    would = json.loads(operate("key", "create", "alice", *rights, "--dry-run", "--json"))
    assert (would["type"], would["action"], would["status"]) == ("key", "create", "would")
    assert len(would["rules"]) == 2 and ids() == before
    made = json.loads(operate("key", "create", "alice", *rights, "--expires", "1h", "--json"))
    rows = [line.split("\t") for line in operate("key", "list").splitlines()]
    alice, = [row for row in rows if row[0] == made["id"]]
    assert alice[1] == "alice" and alice[3] == "read:photos/2026 list:photos/"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", alice[2]), "a time that programs can read"
    assert operate("key", "revoke", made["id"], "--dry-run") == f"would revoke {made['id']}\n"
    assert made["id"] in ids()
    gone = json.loads(operate("key", "revoke", made["id"], "--json"))
    assert gone == {"type": "key", "action": "revoke", "status": "done", "name": made["id"]}
    assert ids() == before
    operate("key", "revoke", made["id"], "--dry-run", code=4)


def test_disks_come_and_go_with_json_and_are_tried_without_effect(operate, tmp_path):
    def paths():
        return [disk["path"] for disk in json.loads(operate("disk", "list", "--json"))["disks"]]

    first, more = str(tmp_path / "data"), str(tmp_path / "more")
    assert operate("disk", "add", more, "--dry-run") == f"would add {more}\n"
    assert paths() == [first] and not os.path.exists(more)
    operate("disk", "add", first, "--dry-run", code=6)
    added = json.loads(operate("disk", "add", more, "--json"))
    assert (added["type"], added["action"], added["status"]) == ("disk", "add", "done")
    rows = [line.split("\t") for line in operate("disk", "list").splitlines()]
    assert [(row[1], row[4]) for row in rows] == [("ok", first), ("ok", more)]
    assert all(row[2].isdigit() and row[3].isdigit() for row in rows), "bytes, not GiB"
    assert operate("disk", "remove", more, "--dry-run") == f"would remove {more}\n"
    assert paths() == [first, more]
    gone = json.loads(operate("disk", "remove", more, "--json"))
    assert gone == {"type": "disk", "action": "remove", "status": "done", "name": more}
    assert paths() == [first]
    operate("disk", "remove", more, "--dry-run", code=4)
