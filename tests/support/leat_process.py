"""Starts the real program, waits for what it announces, and never leaves it behind.

Nothing here sleeps for a fixed time: every wait is for an event and has a limit, after which the
test fails and says what it waited for.
"""

import os
import re
import select
import selectors
import shutil
import signal
import ssl
import subprocess
import tempfile
import time
from pathlib import Path

from http_wire import Connection

ROOT = Path(__file__).resolve().parents[2]
WAIT_SECONDS = 20
_URL = re.compile(rb"(https?)://(127\.0\.0\.1):(\d+)[^\n]*\n")


def binary():
    return Path(os.environ.get("LEAT_BINARY", ROOT / "build/dev/src/programs/leat")).resolve()


def clean_environment(**extra):
    """The environment without LEAT_*: the program takes all of those for settings of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LEAT_")}
    return kept | extra


def need(program):
    """The path of a program that `make setup` installs: without it a test fails, never skips."""
    found = shutil.which(program)
    assert found, f"{program} is not there: run `make setup`"
    return found


def run_leat(*arguments, cwd=None, environment=None, program=None, wrapper=()):
    """One run to its end, for subcommands that do not serve."""
    command = [*wrapper, str(program or binary()), *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, text=True,
                          env=clean_environment(**(environment or {})), capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=WAIT_SECONDS)


def wait_until(condition, what, seconds=WAIT_SECONDS):
    """The first true value of condition(), looked at often and for a limited time."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s in vain: {what}")
        select.select([], [], [], 0.01)


def trusting_context():
    """TLS to whoever answers: certificates that the program made itself are known to nobody."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def stopping_starter(seconds=None):
    """The body of a fixture: yields start(…) → LeatProcess; stops and checks what it started."""
    started = []

    def start(*arguments, **options):
        started.append(LeatProcess(*arguments, **options))
        return started[-1]

    yield start
    try:
        for process in started:
            process.stop(seconds or WAIT_SECONDS)
    finally:
        for process in started:
            process.kill()


class LeatProcess:
    """`leat serve` or `leat share` on a port of its own, from its announcement to its end."""

    def __init__(self, *arguments, program=None, cwd=None, environment=None, stderr=None,
                 wrapper=(), listen="127.0.0.1:0", announces_token=True):
        self._log = tempfile.TemporaryFile()
        self._stdout = b""
        self.connections = []
        command = [*wrapper, program or binary(), *arguments, "--listen", listen]
        # No note of it for `leat env`, unless that is what is tested: the folder is nobody's.
        variables = {"XDG_STATE_HOME": os.devnull} | (environment or {})
        self._process = subprocess.Popen(
            [str(word) for word in command], cwd=cwd, env=clean_environment(**variables),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=self._log if stderr is None else stderr)
        try:
            scheme, host, port = self.wait_for_output(_URL).groups()
        except BaseException:
            self.kill()
            raise
        self.token = self._announced_token() if announces_token else None
        self.scheme = scheme.decode()
        self.address = (host.decode(), int(port))
        self.url = f"{self.scheme}://{host.decode()}:{int(port)}"

    def _announced_token(self):
        """What `leat share --writable` shows; None for servers that show none."""
        if b"(writable)" not in self._stdout:
            return None
        return self.wait_for_output(rb"Authorization: Bearer (\w+)")[1].decode()

    @property
    def pid(self):
        return self._process.pid

    def wait_for_output(self, pattern):
        """Reads stdout until the pattern (bytes) is in it."""
        deadline = time.monotonic() + WAIT_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while not (found := re.search(pattern, self._stdout)):
                if not selector.select(deadline - time.monotonic()):
                    raise AssertionError(f"no {pattern!r} on stdout: {self._stdout!r}")
                piece = os.read(self._process.stdout.fileno(), 65536)
                if not piece:
                    self._process.wait(WAIT_SECONDS)
                    raise AssertionError(f"ended with {self._process.returncode} before it said "
                                         f"{pattern!r}: {self.log()}")
                self._stdout += piece
        return found

    def output(self):
        """What it has printed so far, as far as wait_for_output() has read it."""
        return self._stdout.decode()

    def log(self):
        """Everything it wrote to stderr so far."""
        return os.pread(self._log.fileno(), os.fstat(self._log.fileno()).st_size, 0).decode()

    def connect(self, **options):
        """A connection to it, encrypted if it says https; stop() closes it if the test did not."""
        if self.scheme == "https":
            options.setdefault("wrap", trusting_context().wrap_socket)
        options.setdefault("token", self.token)
        connection = Connection(self.address, **options)
        self.connections.append(connection)
        return connection

    def ask(self, request_line, fields=(), body=b""):
        """One request on a connection of its own."""
        with self.connect() as connection:
            self.connections.remove(connection)
            return connection.ask(request_line, fields, body)

    def metric(self, name):
        """The sum of a metric over its labels."""
        text = self.ask("GET /metrics").body.decode()
        found = re.findall(rf"^{re.escape(name)}(?:\{{[^}}]*\}})? (\S+)$", text, re.MULTILINE)
        assert found, f"no metric {name}"
        return sum(map(float, found))

    def is_running(self):
        return self._process.poll() is None

    def signal(self, number):
        self._process.send_signal(number)

    def wait(self, seconds=WAIT_SECONDS):
        """Waits for its end; the exit code, negative for a signal."""
        return self._process.wait(seconds)

    def stop(self, seconds=WAIT_SECONDS):
        """SIGTERM; it must end with 0. Harmless when it has been waited for."""
        for connection in self.connections:
            connection.close()
        if self._process.returncode is None:
            self.signal(signal.SIGTERM)
            try:
                code = self.wait(seconds)
            finally:
                self.kill()
            assert code == 0, f"ended with {code}: {self.log()}"
        self._process.stdout.close()

    def kill(self):
        """SIGKILL, whatever state it is in."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def rss_bytes(self):
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)[1]) * 1024

    def open_files(self):
        """The paths that the process holds open."""
        folder = f"/proc/{self.pid}/fd"
        return [os.readlink(f"{folder}/{name}") for name in os.listdir(folder)
                if os.path.lexists(f"{folder}/{name}")]

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))
