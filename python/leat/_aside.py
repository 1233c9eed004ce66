"""Calls that Ctrl-C can interrupt.

While the main thread is inside the library, Python's signal handlers wait. So the main thread lets
another one make the calls that may wait for the network, and waits itself on a lock, which signals
do interrupt: KeyboardInterrupt comes at once, and what the abandoned call brings is dropped when it
ends. Other threads get no signals and call directly.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Answer = TypeVar("Answer")


class _Job:
    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call
        self.answer: Any = None
        self.error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()

    def run(self) -> None:
        try:
            self.answer = self.call()
        except BaseException as error:  # handed to the thread that waits
            self.error = error
        self.done.release()


class _Thread:
    """One thread that takes jobs, for the main thread of one process."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        thread = threading.Thread(target=_serve, args=(self.jobs,), name="leat", daemon=True)
        thread.start()


def _serve(jobs: queue.SimpleQueue[_Job]) -> None:
    while True:
        jobs.get().run()


_thread: _Thread | None = None


def interruptible(call: Callable[[], Answer]) -> Answer:
    """call(), so that Ctrl-C does not have to wait for it."""
    global _thread
    if threading.current_thread() is not threading.main_thread():
        return call()
    if _thread is None or _thread.pid != os.getpid():
        _thread = _Thread()
    job = _Job(call)
    _thread.jobs.put(job)
    try:
        job.done.acquire()
    except BaseException:
        _thread = None  # it is busy with what nobody waits for
        raise
    if job.error is not None:
        raise job.error
    answer: Answer = job.answer
    return answer
