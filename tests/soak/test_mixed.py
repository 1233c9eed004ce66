"""Everything at once, for a while, against the program built with sanitizers: no report, no wrong
byte, an orderly end. Both ways of file I/O share the time."""

import threading
import time
from collections import Counter
from pathlib import Path

import pytest

import mixed_load
from leat_process import wait_until

WORKERS = 6
SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "exitcode=99:halt_on_error=1:detect_stack_use_after_return=1",
    "LSAN_OPTIONS": "exitcode=99",
    "UBSAN_OPTIONS": "exitcode=99:halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "exitcode=99:halt_on_error=1:second_deadlock_stack=1:suppressions="
                    + str(Path(__file__).with_name("tsan.supp")),
}
REPORTS = ["Sanitizer", "runtime error", "leat: bug", "\"level\":\"error\""]


@pytest.mark.parametrize("io", ["uring", "psync"])
def test_mixed_load_gives_no_report(sanitized, start, tmp_path, soak_seconds, preset, io):
    mixed_load.prepare(tmp_path)
    server = start("share", tmp_path, "--writable", "--io", io, program=sanitized(preset),
                   environment=SANITIZER_OPTIONS)
    workers = [mixed_load.Worker(server, tmp_path, number) for number in range(WORKERS)]
    deadline = time.monotonic() + soak_seconds / 2
    threads = [threading.Thread(target=worker.run, args=[deadline]) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [worker.failure for worker in workers if worker.failure] == [], server.log()[-20_000:]
    done = sum((worker.done for worker in workers), Counter())
    print(f"{preset}, {io}: {sum(done.values())} actions: {dict(done)}")
    assert sum(done.values()) >= 5 * soak_seconds
    for worker in workers:
        for name, data in worker.own.items():
            assert (tmp_path / name[1:]).read_bytes() == data
    wait_until(lambda: not list(tmp_path.glob(".leat-upload-*")), "abandoned uploads are removed")
    server.stop(seconds=60)
    assert [line for line in server.log().splitlines()
            if any(report in line for report in REPORTS)] == []
