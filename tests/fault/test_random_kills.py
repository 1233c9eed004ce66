"""Random kills under load: several clients change objects of their own while the server is killed
at any moment and started again. Unlike test_kills.py this hits groups of changes that share a
sync, and the io_uring backend, whose calls strace does not see.
"""

import random
import threading

import pytest

from leat_process import wait_until
from node import Node
from store_client import Gone
from workload import LARGE, MEDIUM, SMALL, Workload

CLIENTS = 6
# Kills come after this many acknowledged changes of all clients together, and a random moment.
CHANGES_MAX = 60
MOMENT_MAX = 0.02


class Client(threading.Thread):
    """Changes objects that nobody else touches until the server is gone."""

    def __init__(self, node, workload):
        super().__init__(daemon=True)
        self.node = node
        self.workload = workload
        self.done = 0
        self.failure = None

    def run(self):
        try:
            with self.node.new_client() as client:
                while True:
                    status = self.node.oracle.make(client, self.workload.next())
                    assert status < 500, status
                    self.done += 1
        except Gone:
            pass
        except Exception as error:  # told by the test
            self.failure = error


@pytest.mark.parametrize("io", ["psync", "uring"])
def test_random_kills_under_load(tmp_path, seed, full, report, io):
    kills = 250 if full else 15
    chance = random.Random(f"kills {seed} {io}")
    changes = undecided = 0
    with Node(tmp_path / "d", "--io", io) as node:
        node.start_new()
        workloads = [Workload(node.oracle, f"{seed} {io}", f"c{number}", keys=4,
                              sizes=(SMALL, SMALL, SMALL, MEDIUM, LARGE))
                     for number in range(CLIENTS)]
        for kill in range(kills):
            clients = [Client(node, workload) for workload in workloads]
            for client in clients:
                client.start()
            wanted = chance.randrange(CHANGES_MAX)
            wait_until(lambda: sum(one.done for one in clients) >= wanted
                       or any(one.failure for one in clients), f"{wanted} changes")
            threading.Event().wait(chance.random() * MOMENT_MAX)
            node.kill()
            for client in clients:
                client.join()
            failures = [client.failure for client in clients if client.failure]
            assert not failures, f"before kill {kill}: {failures} {node.server.log()}"
            changes += sum(client.done for client in clients)
            node.restart_and_check()
        undecided = node.oracle.undecided
        node.stop_and_fsck()
    report(f"{io}: {kills} kills, {changes} acknowledged changes, {undecided} in flight, slowest "
           f"start {max(node.starts):.2f} s")
    assert changes > kills
