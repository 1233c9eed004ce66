"""Node: a data directory, its server if one runs, and the oracle that knows what it must hold."""

import signal
import time

from leat_process import LeatProcess, run_leat
from oracle import Oracle
from store_client import Gone, StoreClient
from tracer import Tracer, threads

# One thread for file I/O: its calls come in one order, and strace can count them.
COUNTABLE = ("--io", "psync", "--cores", "1", "--io-threads", "1")


class Node:
    def __init__(self, folder, *options):
        self.folder = folder
        self.options = options or COUNTABLE
        self.oracle = Oracle()
        self.server = None
        self.client = None
        self.starts = []  # how long each took until the server was ready, in seconds

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.client is not None:
            self.client.close()
        if self.server is not None:
            self.server.kill()

    def start(self, wrapper=()):
        began = time.monotonic()
        self.server = LeatProcess("serve", self.folder, *self.options, wrapper=wrapper)
        if not wrapper:
            self.starts.append(time.monotonic() - began)
        self.client = self.new_client()

    def new_client(self):
        token = (self.folder / "admin-token").read_text().strip()
        return StoreClient(self.server.address, token)

    def start_new(self):
        """The first start of an empty directory; makes the buckets."""
        self.start()
        self.oracle.make_buckets(self.client)

    def is_alive(self):
        """Whether it answers; one that is being killed has a moment for it."""
        try:
            return self.client.ask("GET /_/v1/health").status == 200
        except Gone:
            return False

    def wait_killed(self):
        self.client.close()
        code = self.server.wait()
        assert code == -signal.SIGKILL, f"ended with {code} by itself: {self.server.log()}"

    def kill(self):
        self.server.kill()
        self.wait_killed()

    def restart_and_check(self):
        """After a kill: it starts, and holds what it must."""
        self.start()
        self.oracle.check(self.client)

    def stop(self):
        self.client.close()
        self.server.stop()

    def stop_and_fsck(self):
        """Ends it in good order; then nothing on the disk is damaged."""
        self.stop()
        done = run_leat("fsck", self.folder)
        assert done.returncode == 0, done.stdout + done.stderr

    def trace(self, name, calls, *injections, threads_named=("leat-io",)):
        log = self.folder.parent / f"{self.folder.name}.{name}.strace"
        log.unlink(missing_ok=True)
        return Tracer(log, threads(self.server.pid, *threads_named), calls, *injections)
