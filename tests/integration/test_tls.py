"""`--tls auto` and `--tls files`: who the server says it is, and the same bytes as without."""

import hashlib
import re
import signal
import socket
import ssl
import stat
import subprocess

import pytest

from file_content import content, make_file
from http_wire import Connection
from leat_process import run_leat, trusting_context, wait_until

MIB = 1 << 20
SIZES = [0, 1, 16384, 32767, 32768, 32769, MIB, 20 * MIB]


def announced_fingerprint(server):
    line = server.wait_for_output(rb"[^\n]*fingerprint[^\n]*\n")[0].decode()
    found = re.search(r"\b[0-9A-F]{2}(?::[0-9A-F]{2}){31}\b", line)
    assert found, line
    return found[0]


def certificate_of(server):
    """The certificate it presents, as DER."""
    with server.connect() as connection:
        return connection.socket.getpeercert(binary_form=True)


def fingerprint_of(server):
    digest = hashlib.sha256(certificate_of(server)).digest()
    return ":".join(f"{byte:02X}" for byte in digest)


def make_certificate(folder, name, kind=("ec", "-pkeyopt", "ec_paramgen_curve:P-256")):
    """(certificate, key) as openssl makes them."""
    certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-nodes", "-newkey", *kind, "-subj", "/CN=leat-test",
                    "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-days", "2",
                    "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    for size in SIZES:
        make_file(folder / f"f{size}", size)
    return folder


@pytest.fixture(scope="module")
def server(start_for_module, folder):
    return start_for_module("share", folder, "--tls", "auto", "--writable")


# Who it is.

def test_auto_keeps_a_private_certificate_and_prints_its_fingerprint(start, tmp_path):
    first = start("serve", tmp_path / "data", "--tls", "auto")
    assert first.url.startswith("https://")
    fingerprint = announced_fingerprint(first)
    assert fingerprint == fingerprint_of(first)
    pem = [path for path in (tmp_path / "data").iterdir()
           if path.is_file() and b"-----BEGIN" in path.read_bytes()]
    assert any(b"PRIVATE KEY" in path.read_bytes() for path in pem)
    assert any(b"BEGIN CERTIFICATE" in path.read_bytes() for path in pem)
    assert [stat.S_IMODE(path.stat().st_mode) for path in pem] == [0o600] * len(pem)
    first.stop()
    second = start("serve", tmp_path / "data", "--tls", "auto")
    assert announced_fingerprint(second) == fingerprint_of(second) == fingerprint


def test_two_servers_are_two_identities(start, tmp_path):
    servers = [start("serve", tmp_path / name, "--tls", "auto") for name in "ab"]
    assert fingerprint_of(servers[0]) != fingerprint_of(servers[1])


def test_a_shared_folder_is_not_written_to(start, tmp_path):
    make_file(tmp_path / "f", 100)
    server = start("share", tmp_path, "--tls", "auto")
    assert announced_fingerprint(server) == fingerprint_of(server)
    assert server.ask("GET /f").body == content(100)
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("kind", [["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], ["rsa:2048"],
                                  ["ed25519"]], ids=["ec", "rsa", "ed25519"])
def test_files_are_presented_as_they_are(start, tmp_path, kind):
    certificate, key = make_certificate(tmp_path, "own", kind)
    server = start("serve", tmp_path / "data", "--tls", "files", "--tls-cert", certificate,
                   "--tls-key", key)
    assert certificate_of(server) == ssl.PEM_cert_to_DER_cert(certificate.read_text())
    strict = ssl.create_default_context(cafile=str(certificate))

    def verify(plain):
        return strict.wrap_socket(plain, server_hostname="127.0.0.1")

    assert server.connect(wrap=verify).ask("GET /_/v1/health").status == 200


def test_the_automatic_certificate_is_for_this_machine(start, tmp_path):
    server = start("serve", tmp_path / "data", "--tls", "auto")
    strict = ssl.create_default_context(cadata=ssl.DER_cert_to_PEM_cert(certificate_of(server)))
    for name in ("127.0.0.1", "localhost"):
        connection = server.connect(wrap=lambda s: strict.wrap_socket(s, server_hostname=name))
        assert connection.ask("GET /_/v1/health").status == 200


@pytest.mark.parametrize("case", ["no flags", "no certificate", "no key", "missing certificate",
                                  "missing key", "not a certificate", "not a key", "another key",
                                  "swapped"])
def test_wrong_files_are_one_clear_line(tmp_path, case):
    certificate, key = make_certificate(tmp_path, "own")
    other = make_certificate(tmp_path, "other")[1]
    nonsense = tmp_path / "nonsense"
    nonsense.write_text("this is no PEM\n")
    files = {
        "no flags": [], "no certificate": ["--tls-key", key], "no key": ["--tls-cert", certificate],
        "missing certificate": ["--tls-cert", tmp_path / "none", "--tls-key", key],
        "missing key": ["--tls-cert", certificate, "--tls-key", tmp_path / "none"],
        "not a certificate": ["--tls-cert", nonsense, "--tls-key", key],
        "not a key": ["--tls-cert", certificate, "--tls-key", nonsense],
        "another key": ["--tls-cert", certificate, "--tls-key", other],
        "swapped": ["--tls-cert", key, "--tls-key", certificate],
    }[case]
    ended = run_leat("serve", tmp_path / "data", "--listen", "127.0.0.1:0", "--tls", "files",
                     *files)
    assert ended.returncode in range(1, 10), ended
    assert len(ended.stderr.splitlines()) == 1 and ended.stderr.startswith("leat: "), ended.stderr
    assert "tls" in ended.stderr.lower() or any(str(name) in ended.stderr for name in files)
    secret = key.read_text().splitlines()[1]
    assert secret not in ended.stderr and ended.stdout == ""


def test_a_word_that_is_no_mode_is_refused(tmp_path):
    ended = run_leat("serve", tmp_path / "data", "--listen", "127.0.0.1:0", "--tls", "maybe")
    assert ended.returncode == 2 and len(ended.stderr.splitlines()) == 1 and "tls" in ended.stderr


# The same bytes.

@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_every_size_comes_back_as_it_is(server, version):
    context = trusting_context()
    context.minimum_version = context.maximum_version = version
    connection = server.connect(wrap=context.wrap_socket)
    for size in SIZES:
        answer = connection.ask(f"GET /f{size}")
        assert (answer.status, answer.body == content(size)) == (200, True), size
    answer = connection.ask(f"GET /f{MIB}", ["Range: bytes=70000-200000"])
    assert (answer.status, answer.body) == (206, content(MIB)[70000:200001])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_old_versions_are_refused(server):
    context = trusting_context()
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        server.connect(wrap=context.wrap_socket)


def test_uploads(server, folder):
    connection = server.connect()
    for size in (0, 1, 20 * MIB):
        assert connection.ask("PUT /up", body=content(size, "up")).status in (200, 201)
        assert (folder / "up").read_bytes() == content(size, "up")
    chunked = b"".join(b"4000\r\n%s\r\n" % content(16384) for _ in range(20)) + b"0\r\n\r\n"
    assert connection.ask("PUT /up", ["Transfer-Encoding: chunked"], chunked).status == 200
    assert connection.ask("GET /up").body == content(16384) * 20


def test_pipelined_requests_are_answered_in_order(server):
    connection = server.connect()
    sizes = [1, MIB, 0, 32769] * 5
    connection.send(*[connection.head(f"GET /f{size}") for size in sizes])
    assert all(connection.answer().body == content(size) for size in sizes)


def test_the_end_is_told_so_that_nobody_can_cut_an_answer_unseen(server):
    def wrap(plain):
        return trusting_context().wrap_socket(plain, suppress_ragged_eofs=False)

    connection = server.connect(wrap=wrap)
    assert connection.ask("GET /f1", ["Connection: close"]).status == 200
    assert connection.rest() == b""


def test_curl_accepts_it(server):
    ended = subprocess.run(["curl", "-sSfk", f"{server.url}/f{MIB}"], capture_output=True,
                           timeout=20)
    assert ended.stdout == content(MIB), ended.stderr


def test_malformed_requests_are_refused_as_without_tls(server):
    connection = server.connect()
    connection.send(b"GET /f1 HTTP/1.1\nHost: a\n\n", connection.head("GET /f1"))
    assert connection.answer().status == 400
    assert connection.rest() == b""


# Clients that do not speak TLS.

def test_plain_http_on_the_port_gets_no_page(server):
    with Connection(server.address) as plain:
        plain.send(plain.head("GET /f1"))
        assert b"HTTP/1.1 200" not in plain.rest()
    assert server.ask("GET /f1").status == 200


def test_a_handshake_that_never_ends_is_given_up(start, folder):
    server = start("share", folder, "--tls", "auto", "--http-head-timeout", "300ms")
    with socket.create_connection(server.address, timeout=20) as silent:
        assert silent.recv(1) == b""
    with socket.create_connection(server.address, timeout=20) as begun:
        begun.sendall(b"\x16\x03\x01\x02\x00\x01\x00")
        while begun.recv(4096):
            pass


def test_clients_that_leave_leave_nothing(start, folder):
    server = start("share", folder, "--tls", "auto")
    server.ask("GET /f1")
    wait_until(lambda: server.metric("leat_http_connections") == 1, "all are gone")
    before = server.descriptors()
    for _ in range(100):
        socket.create_connection(server.address).close()
        with socket.create_connection(server.address) as begun:
            begun.sendall(b"\x16\x03\x01\x02\x00\x01\x00")
        connection = server.connect()
        connection.send(connection.head(f"GET /f{20 * MIB}"))
        connection.take(1000)
        connection.close()
    wait_until(lambda: server.metric("leat_http_connections") == 1, "all are gone")
    # Each shard may keep the file open, for the page cache and around it; 300 clients keep nothing.
    assert server.descriptors() <= before + 8


# The end.

def test_requests_in_flight_are_finished(start, folder):
    server = start("share", folder, "--tls", "auto")
    idle, busy = server.connect(), server.connect()
    assert idle.ask("GET /f1").status == 200
    busy.send(busy.head(f"GET /f{20 * MIB}"))
    assert busy.answer_head()[1] == 200
    server.signal(signal.SIGTERM)
    assert idle.rest() == b""
    assert busy.take(20 * MIB) == content(20 * MIB)
    busy.close()
    assert server.wait() == 0
    assert "PRIVATE" not in server.log()
