"""Tracer: strace on threads of a running server, to see their calls or to make one of them fail.

strace counts the calls of each thread and of each kind apart, so `when=3` is the third fdatasync of
that very thread. A server with one thread for file I/O is therefore hit at an exact place. Threads
are attached to when the server is ready; what happens before is hit by `under()`.
"""

import re
import signal
import subprocess
from pathlib import Path

WAIT_SECONDS = 20
_CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)$")


def threads(pid, *names):
    """The threads of a process whose names begin with one of `names`."""
    found = []
    for task in sorted(Path(f"/proc/{pid}/task").iterdir(), key=lambda one: int(one.name)):
        if (task / "comm").read_text().startswith(names):
            found.append(int(task.name))
    return found


def injection(call, action, when):
    """injection("fdatasync", "signal=SIGKILL", 3), for Tracer and under()."""
    return f"inject={call}:{action}:when={when}"


def under(log, calls, *injections):
    """The words that start a program under strace, which stays in the background: the program
    keeps its number, its signals and its exit code. (Not with --seccomp-bpf: with it strace 6.1
    injects nothing into the first thread.)"""
    words = ["strace", "-D", "-f", "-y", "-qq", "-o", str(log),
             "-e", "trace=" + ",".join(calls), "-e", "signal=none"]
    for one in injections:
        words += ["-e", one]
    return words


class Tracer:
    def __init__(self, log, tids, calls, *injections):
        self.log = Path(log)
        words = ["strace", "-y", "-o", str(log), "-e", "trace=" + ",".join(calls),
                 "-e", "signal=none"]
        for one in injections:
            words += ["-e", one]
        for tid in tids:
            words += ["-p", str(tid)]
        self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        attached = 0
        while attached < len(tids):
            line = self._process.stderr.readline()
            if not line:
                self.stop()
                raise AssertionError("strace could not attach")
            attached += b" attached" in line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Lets the threads go. Harmless when they are gone."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(WAIT_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process.stderr.close()

    def calls(self):
        return read_calls(self.log)

    def injected(self):
        """The calls that were made to fail so far."""
        return [text for _, text in self.calls() if "(INJECTED)" in text]


def read_calls(log):
    """[(name, the line)] of a trace."""
    if not Path(log).exists():
        return []
    calls = []
    for line in Path(log).read_text(errors="replace").splitlines():
        if found := _CALL.match(line):
            calls.append((found[1], line))
    return calls
