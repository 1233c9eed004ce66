"""The servers under test as child processes: started on one core, watched, stopped by their pid."""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from harness import build, proc
from harness.errors import BenchmarkError

START_SECONDS = 10.0
STOP_SECONDS = 10.0
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


def pin_child(*cores: int) -> Callable[[], None]:
    """For preexec_fn: puts the child on `cores` and ends it should the harness die first."""

    def prepare() -> None:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        os.sched_setaffinity(0, cores)

    return prepare


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


TOKEN = "token-of-the-benchmarks"
# What every PUT carries: Leat takes it from nobody without the token, and nginx does not mind. To a
# store every request carries it, and then to nginx too.
PUT_FIELD = ("Authorization", f"Bearer {TOKEN}")


class Server:
    """A server on 127.0.0.1 for the files below `root`. Use it as a context manager."""

    label = "server"
    # Before the path of every object.
    url_prefix = "/"

    def __init__(self, root: Path, work: Path, core: int, writable: bool) -> None:
        self.root = root
        self.work = work
        self.cores = [core]
        self.writable = writable
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None
        self.log = work / f"{self.label}.log"

    def command(self) -> list[str]:
        raise NotImplementedError

    def version(self) -> str:
        raise NotImplementedError

    def __enter__(self) -> "Server":
        self.port = free_port()
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=pin_child(*self.cores),
            )
        try:
            self.wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise BenchmarkError(
                    f"{self.label} ended at once ({self.process.returncode}): {self.log_tail()}"
                )
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.01)
        raise BenchmarkError(
            f"{self.label} does not listen after {START_SECONDS:g} s: {self.log_tail()}"
        )

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def log_tail(self) -> str:
        return self.log.read_text(errors="replace")[-2000:].strip() or "it said nothing"

    def pids(self) -> list[int]:
        return proc.process_tree(self.process.pid)

    def cpu_seconds(self) -> float:
        return proc.cpu_seconds(self.pids())

    def rss_bytes(self) -> int:
        return proc.rss_bytes(self.pids())


class Leat(Server):
    label = "leat"

    def command(self) -> list[str]:
        command = [
            build.binary(build.LEAT),
            "share",
            str(self.root),
            "--listen",
            f"127.0.0.1:{self.port}",
            "--cores",
            "1",
            "--log-level",
            "warn",
        ]
        if not self.writable:
            return command
        return [*command, "--writable", "--token-file", str(self.token_file())]

    def token_file(self) -> Path:
        path = self.work / "leat.token"
        path.write_text(TOKEN)
        return path

    def version(self) -> str:
        done = subprocess.run(
            [build.binary(build.LEAT), "--version"], capture_output=True, text=True
        )
        return done.stdout.strip() or "unknown"


class LeatStore(Leat):
    """`leat serve` of the store in `root`; its objects are those of one bucket."""

    bucket = "bench"
    url_prefix = f"/_/v1/objects/{bucket}/"

    def command(self) -> list[str]:
        return [
            build.binary(build.LEAT),
            "serve",
            str(self.root),
            "--listen",
            f"127.0.0.1:{self.port}",
            "--cores",
            "1",
            "--log-level",
            "warn",
            "--token-file",
            str(self.token_file()),
        ]


NGINX_CONFIG = """
daemon off;
{user}
worker_processes 1;
worker_rlimit_nofile {descriptors};
pid {run}/nginx.pid;
error_log stderr warn;
events {{ worker_connections {connections}; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  tcp_nodelay on;
  {file_cache}
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  client_max_body_size 0;
  client_body_buffer_size 1m;
  client_body_temp_path {run}/body;
  proxy_temp_path {run}/proxy;
  fastcgi_temp_path {run}/fastcgi;
  uwsgi_temp_path {run}/uwsgi;
  scgi_temp_path {run}/scgi;
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    root {root};
    location / {{ {methods} }}
  }}
}}
"""


class Nginx(Server):
    """One worker, which inherits the core of its master.

    Its scratch files share the root's file system, so that a PUT ends in a rename, not in a copy.
    """

    label = "nginx"
    # Fewer files than descriptors: all stay open.
    file_cache = "open_file_cache max=100000 inactive=60s;"

    @staticmethod
    def path() -> str:
        found = shutil.which(
            "nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"
        )
        if found is None:
            raise BenchmarkError(
                "the peer nginx is not installed (Debian package nginx); nothing was measured"
            )
        return found

    def command(self) -> list[str]:
        run = Path(tempfile.mkdtemp(prefix="nginx-", dir=self.work))
        config = run / "nginx.conf"
        config.write_text(
            NGINX_CONFIG.format(
                user="user root;" if os.geteuid() == 0 else "",
                descriptors=20000,
                connections=19000,
                file_cache=self.file_cache,
                run=run,
                port=self.port,
                root=self.root,
                methods="dav_methods PUT;" if self.writable else "",
            )
        )
        return [self.path(), "-p", str(run), "-c", str(config), "-e", "stderr"]

    def version(self) -> str:
        done = subprocess.run([self.path(), "-v"], capture_output=True, text=True)
        return done.stderr.strip().rpartition("/")[2]
