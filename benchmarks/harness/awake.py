"""Keeps the measured cores awake, and knows what was left of them.

On a virtual machine waking a halted core costs tens of microseconds, several times what a small
request costs. A spinner of the idle scheduling class on each core prevents the halt; every other
task preempts it at once. What the spinner got is what nobody else wanted, so it also tells how busy
the core was.
"""

import os
import subprocess
import sys
import time
from contextlib import ExitStack

from harness import proc
from harness.machine import Cores
from harness.servers import pin_child

SPIN = "while True: pass"


class AwakeCore:
    def __init__(self, core: int) -> None:
        self.core = core
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "AwakeCore":
        pin = pin_child(self.core)

        def prepare() -> None:
            pin()
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))

        self.process = subprocess.Popen([sys.executable, "-c", SPIN], preexec_fn=prepare)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def spare_seconds(self) -> float:
        return proc.cpu_seconds([self.process.pid])


class AwakeCores:
    """Both cores of a measurement."""

    def __init__(self, cores: Cores) -> None:
        self.server = AwakeCore(cores.server)
        self.client = AwakeCore(cores.client)
        self.stack = ExitStack()

    def __enter__(self) -> "AwakeCores":
        with ExitStack() as stack:
            stack.enter_context(self.server)
            stack.enter_context(self.client)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()


class BusyMeter:
    """How busy the two cores were since the meter was made."""

    def __init__(self, awake: AwakeCores) -> None:
        self.awake = awake
        self.start = self.counters()

    def counters(self) -> tuple[float, float, float]:
        return (
            time.monotonic(),
            self.awake.server.spare_seconds(),
            self.awake.client.spare_seconds(),
        )

    def read(self) -> tuple[float, float, float]:
        """Seconds since the start, and the busy shares of the server's and the client's core."""
        elapsed, server, client = (
            now - then for now, then in zip(self.counters(), self.start, strict=True)
        )
        return elapsed, max(0.0, 1 - server / elapsed), max(0.0, 1 - client / elapsed)
