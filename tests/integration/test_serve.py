"""`leat serve`: its pages, who may read them, its directory, its log, and how it fails to start."""

import json
import os
import pty
import re
import signal
import socket
import stat
import subprocess

import pytest

from leat_process import LeatProcess, need, run_leat, wait_until


@pytest.fixture
def server(start, tmp_path):
    return start("serve", tmp_path / "data")


def token_of(folder):
    return (folder / "admin-token").read_text().strip()


def complaints(ended):
    """What it says about its end; the log of the store stands before it."""
    return [line for line in ended.stderr.splitlines() if line.startswith("leat: ")]


def refused_start(*arguments, code, says):
    """A start that must fail: one clear line, and the documented exit code."""
    ended = run_leat(*arguments, "--listen", "127.0.0.1:0")
    lines = ended.stderr.splitlines()
    assert ended.returncode == code, ended
    assert len(lines) == 1 and lines[0].startswith("leat: ") and says in lines[0], ended.stderr
    assert ended.stdout == ""


@pytest.mark.parametrize("io", ["psync", "uring", "auto"])
def test_a_machine_without_room_is_said_so_wherever_the_start_stops(tmp_path, io):
    """Sixteen shards need more descriptors than these; each limit stops the start elsewhere."""
    for limit in range(12, 60, 3):
        ended = run_leat("share", tmp_path, "--cores", "16", "--io", io, "--listen", "127.0.0.1:0",
                         wrapper=["prlimit", f"--nofile={limit}:{limit}"])
        complaint = [line for line in ended.stderr.splitlines() if line.startswith("leat: ")]
        assert ended.returncode in (1, 7), (limit, ended)
        assert len(complaint) == 1 and "bug" not in complaint[0], (limit, ended)


# Pages.

@pytest.mark.parametrize("path, expected", [
    ("/_/v1/health", {"status": "alive"}),
    ("/_/v1/ready", {"status": "ready"}),
])
def test_pages_for_probes(server, path, expected):
    answer = server.ask(f"GET {path}")
    assert answer.status == 200
    assert answer.field("content-type") == "application/json"
    assert json.loads(answer.body) == expected


def test_version_page_and_command_agree(server):
    page = json.loads(server.ask("GET /_/v1/version").body)
    assert page["api"] == "v1"
    assert page["version"] == json.loads(run_leat("version", "--json").stdout)["version"]


@pytest.mark.parametrize("path", ["/metrics", "/_/v1/metrics"])
def test_metrics_satisfy_promtool(server, path):
    server.ask("GET /_/v1/health")
    text = server.ask(f"GET {path}").body
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")
    # A request is counted when its answer has been sent, so perhaps after it has arrived.
    counted = b'leat_http_requests_total{operation="health",status="2xx"} 1\n'
    wait_until(lambda: counted in server.ask(f"GET {path}").body, "the request is counted")


def test_head_is_get_without_the_body(server):
    for path in ("/_/v1/health", "/_/v1/version", "/nothing"):
        got, headed = server.ask(f"GET {path}"), server.ask(f"HEAD {path}")
        assert headed.status == got.status
        assert headed.field("content-length") == got.field("content-length") == str(len(got.body))


@pytest.mark.parametrize("path", ["/", "/nothing", "//_/v1/health", "/%5f/v1/health",
                                  "/a%0d%0aX-Split:%20yes"])
def test_everything_else_is_s3_and_needs_a_key(server, path):
    answer = server.ask(f"GET {path}")
    assert answer.status == 403
    assert answer.field("content-type") == "application/xml"
    assert b"<Code>AccessDenied</Code>" in answer.body
    assert answer.field("x-split") is None


@pytest.mark.parametrize("path", ["/_/v1/healthy", "/_/v2/health", "/_/", "/_/v1/health/",
                                  "/_/a%0d%0aX-Split:%20yes"])
def test_unknown_paths_are_not_found_and_say_so_in_json(server, path):
    answer = server.ask(f"GET {path}")
    assert answer.status == 404
    assert json.loads(answer.body)["error"] == "not_found"
    assert answer.field("x-split") is None


@pytest.mark.parametrize("method, status", [
    ("POST", 405), ("PUT", 405), ("DELETE", 405), ("OPTIONS", 405),
    ("BREW", 501), ("CONNECT", 501), ("TRACE", 501), ("get", 501),
])
def test_methods_that_are_not_served(server, method, status):
    answer = server.ask(f"{method} /_/v1/health")
    assert answer.status == status
    assert "error" in json.loads(answer.body)


# Who may read the metrics (abuse case 52).

@pytest.mark.parametrize("fields, status", [
    ([], 200),
    (["Host: localhost"], 200),
    (["Host: [::1]:9000"], 200),
    (["Host: example.com"], 401),
    (["Host: 127.0.0.1.example.com"], 401),
    (["Host: localhost.example.com:9000"], 401),
    (["X-Forwarded-For: 10.0.0.1"], 401),
    (["Forwarded: for=10.0.0.1"], 401),
    (["X-Forwarded-Proto: https"], 401),
    (["Via: 1.1 proxy"], 401),
    (["X-Real-IP: 10.0.0.1"], 401),
    (["Origin: http://example.com"], 401),
    (["Authorization: Bearer wrong"], 401),
    (["Authorization: Bearer"], 401),
    (["Authorization: Basic YTpi"], 401),
])
def test_metrics_are_for_this_machine_alone(server, fields, status):
    assert server.ask("GET /metrics", fields).status == status
    assert server.ask("GET /_/v1/metrics", fields).status == status


def test_the_token_opens_the_metrics_from_anywhere(server, tmp_path):
    token = token_of(tmp_path / "data")
    bearer = f"Authorization: Bearer {token}"
    assert server.ask("GET /metrics", ["Host: example.com", bearer]).status == 200
    for wrong in (token[:-1], token + "0", token.upper() + "x"):
        fields = ["Host: example.com", f"Authorization: Bearer {wrong}"]
        assert server.ask("GET /metrics", fields).status == 401
    assert server.ask("GET /metrics", [bearer, bearer]).status == 400


def test_probes_need_no_credentials_but_refuse_wrong_ones(server):
    assert server.ask("GET /_/v1/health", ["Host: example.com"]).status == 200
    assert server.ask("GET /_/v1/health", ["Authorization: Bearer wrong"]).status == 401


# The directory.

def test_the_directory_is_made_and_the_token_kept_private(start, tmp_path):
    folder = tmp_path / "not" / "yet" / "there"
    first = start("serve", folder)
    token = token_of(folder)
    assert re.fullmatch("[0-9a-f]{32}", token)
    assert stat.S_IMODE((folder / "admin-token").stat().st_mode) == 0o600
    first.stop()
    second = start("serve", folder)
    assert token_of(folder) == token
    bearer = ["Host: example.com", f"Authorization: Bearer {token}"]
    assert second.ask("GET /metrics", bearer).status == 200


def test_several_directories(start, tmp_path):
    server = start("serve", tmp_path / "a", tmp_path / "b")
    assert server.ask("GET /_/v1/ready").status == 200
    assert (tmp_path / "b").is_dir()
    refused_start("serve", tmp_path / "b", code=6, says="in use by another leat")


def test_two_servers_have_two_tokens(start, tmp_path):
    start("serve", tmp_path / "a"), start("serve", tmp_path / "b")
    assert token_of(tmp_path / "a") != token_of(tmp_path / "b")


def test_a_directory_in_use_is_refused_and_the_first_process_lives(server, tmp_path):
    refused_start("serve", tmp_path / "data", code=6, says="in use by another leat")
    assert server.ask("GET /_/v1/health").status == 200


def test_after_kill_9_the_directory_can_be_taken_again(server, start, tmp_path):
    token = token_of(tmp_path / "data")
    server.signal(signal.SIGKILL)
    assert server.wait() == -signal.SIGKILL
    again = start("serve", tmp_path / "data")
    assert again.ask("GET /_/v1/ready").status == 200
    assert token_of(tmp_path / "data") == token


def test_a_file_instead_of_a_directory(tmp_path):
    (tmp_path / "file").write_text("x")
    refused_start("serve", tmp_path / "file", code=6, says="is not a directory")
    refused_start("serve", tmp_path / "file" / "below", code=4, says="directory")
    refused_start("share", tmp_path / "file", code=4, says="directory")


def test_places_where_nothing_can_be_written():
    # Not even root can make anything here.
    refused_start("serve", "/sys/leat-test", code=5, says="cannot use /sys/leat-test")
    refused_start("serve", "/proc/leat-test", code=4, says="cannot use /proc/leat-test")
    refused_start("serve", "/sys/kernel", code=5, says="/sys/kernel is not writable")


def test_a_folder_to_share_must_exist(tmp_path):
    refused_start("share", tmp_path / "missing", code=4, says="missing")
    assert not (tmp_path / "missing").exists()


def test_a_token_that_is_too_short_is_not_used(tmp_path):
    (tmp_path / "admin-token").write_text("short")
    refused_start("serve", tmp_path, code=8, says="remove it")


# The address.

def test_a_port_in_use_is_one_line_and_exit_code_6(server, tmp_path):
    ended = run_leat("serve", tmp_path / "other", "--listen", "%s:%d" % server.address)
    assert ended.returncode == 6
    complaint = complaints(ended)
    assert len(complaint) == 1 and "%s:%d" % server.address in complaint[0]


def test_the_port_of_another_program_is_refused_too(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        ended = run_leat("serve", tmp_path, "--listen", "127.0.0.1:%d" % other.getsockname()[1])
    assert (ended.returncode, len(complaints(ended))) == (6, 1)


def test_a_port_can_be_reused_at_once(server, start, tmp_path):
    for _ in range(3):
        server.connect().ask("GET /_/v1/health")
    server.stop()
    again = start("serve", tmp_path / "data", listen="%s:%d" % server.address)
    assert again.address == server.address


# The log.

def test_the_log_is_json_lines_when_stderr_is_no_terminal(start, tmp_path):
    server = start("serve", tmp_path / "data", "--log-level", "debug")
    server.ask("GET /_/v1/health")
    server.ask("GET /a%0aforged")
    server.stop()
    lines = [json.loads(line) for line in server.log().splitlines()]
    assert [line["event"] for line in lines if line["level"] == "info"] == [
        "opened", "listening", "draining", "stopped"]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["ts"])
               for line in lines)
    assert {"/_/v1/health", "/a%0aforged"} <= {line.get("path") for line in lines}


def test_the_log_is_text_on_a_terminal(tmp_path):
    master, slave = pty.openpty()
    server = LeatProcess("serve", tmp_path / "data", stderr=slave)
    os.close(slave)
    try:
        server.stop()
        text = os.read(master, 65536).decode()
    finally:
        server.kill()
        os.close(master)
    lines = text.splitlines()
    assert "opened" in lines[0] and "listening" in lines[1]
    assert not any(line.startswith("{") for line in lines)


@pytest.mark.parametrize("flags", [[], ["--log-format", "text"]])
def test_the_token_is_in_no_output(start, tmp_path, flags):
    server = start("serve", tmp_path / "data", "--log-level", "debug", *flags)
    token = token_of(tmp_path / "data")
    server.ask("GET /metrics", [f"Authorization: Bearer {token}"])
    server.ask(f"GET /metrics?token={token}", [f"Authorization: Bearer {token}x"])
    metrics = server.ask("GET /metrics").body.decode()
    server.stop()
    assert "request" in server.log()
    for text in (server.log(), server.output(), metrics):
        assert token not in text


def test_curl_understands_it(server):
    ended = subprocess.run([need("curl"), "-sSf", f"{server.url}/_/v1/health"], capture_output=True,
                           timeout=20)
    assert json.loads(ended.stdout) == {"status": "alive"}


def test_a_closed_log_pipe_does_not_end_the_server(tmp_path):
    read_end, write_end = os.pipe()
    server = LeatProcess("serve", tmp_path / "data", "--log-level", "debug", stderr=write_end)
    os.close(write_end)
    os.close(read_end)
    try:
        for _ in range(3):
            assert server.ask("GET /_/v1/health").status == 200
        server.stop()
    finally:
        server.kill()


def test_a_bad_address_is_found_before_anything_is_made(tmp_path):
    ended = run_leat("serve", tmp_path / "data", "--listen", "nonsense")
    assert ended.returncode == 2
    assert "listen" in ended.stderr
    assert not (tmp_path / "data").exists()
