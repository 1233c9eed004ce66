"""The store under load from many clients while disks come and go, built with sanitizers: no report,
nothing acknowledged is lost, an orderly end, and a clean check afterwards."""

import json
import threading
import time
from collections import Counter

import pytest

import store_load
from leat_process import run_leat
from test_mixed import REPORTS, SANITIZER_OPTIONS

WORKERS = 6


def change_disks(server, bearer, path, is_over, changes):
    fields = [f"Authorization: Bearer {bearer}"]
    body = json.dumps({"path": str(path)}).encode()
    name = str(path).replace("/", "%2F")
    while not is_over():
        removed = server.ask(f"DELETE /_/v1/disks/{name}?patience_ms=200", fields)
        changes.append(removed.status)
        added = server.ask("POST /_/v1/disks", fields, body)
        changes.append(added.status)


@pytest.mark.parametrize("io", ["uring", "psync"])
def test_a_store_under_load_loses_nothing(sanitized, start, tmp_path, soak_seconds, preset, io):
    disks = [tmp_path / name for name in ("a", "b", "c")]
    program = sanitized(preset)
    server = start("serve", *disks, "--io", io, program=program, environment=SANITIZER_OPTIONS)
    bearer = (disks[0] / "admin-token").read_text().strip()
    made = server.ask("PUT /_/v1/buckets/load", [f"Authorization: Bearer {bearer}"])
    assert made.status == 201
    deadline = time.monotonic() + soak_seconds / 2

    def is_over():
        return time.monotonic() > deadline

    workers = [store_load.Worker(server, bearer, number) for number in range(WORKERS)]
    changes = []
    threads = [threading.Thread(target=worker.run, args=[is_over]) for worker in workers]
    threads.append(threading.Thread(target=change_disks,
                                    args=[server, bearer, disks[2], is_over, changes]))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [worker.failure for worker in workers if worker.failure] == [], server.log()[-20_000:]
    assert set(changes) == {204, 201}, Counter(changes)
    done = sum((worker.done for worker in workers), Counter())
    print(f"{preset}, {io}: {len(changes)} changes of disks, {sum(done.values())} actions: "
          f"{dict(done)}")
    with server.connect() as connection:
        for worker in workers:
            for key, may_be in worker.own.items():
                answer = worker.ask(connection, f"GET /_/v1/objects/load/{key}")
                found = answer.body if answer.status == 200 else None
                assert found in may_be, f"{key}: {answer.status}"
    server.stop(seconds=60)
    assert [line for line in server.log().splitlines()
            if any(report in line for report in REPORTS)] == []
    checked = run_leat("fsck", *disks)
    assert checked.returncode == 0, checked.stdout
