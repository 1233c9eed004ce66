"""Memory of the server while 10 000 keep-alive connections rest."""

import select
import socket
from pathlib import Path

from harness import files, machine
from harness.context import Context
from harness.errors import BenchmarkError
from harness.report import Cell, Report
from harness.servers import Server

CONNECTIONS = 10_000
BOUND_MIB = 300
SIZE = 4096
MIB = 1 << 20


def request_once(connection: socket.socket, path: Path) -> None:
    connection.sendall(f"GET /{path.name} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    received = b""
    while b"\r\n\r\n" not in received:
        block = connection.recv(65536)
        if not block:
            raise BenchmarkError("a connection was closed instead of answered")
        received += block
    head, _, body = received.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200 "):
        raise BenchmarkError(f"GET answered {head.splitlines()[0]!r}")
    while len(body) < SIZE:
        block = connection.recv(65536)
        if not block:
            raise BenchmarkError("a connection was closed in the middle of an answer")
        body += block
    if body != path.read_bytes():
        raise BenchmarkError("GET gave wrong bytes")


def closed_count(connections: list[socket.socket]) -> int:
    """A resting connection that is readable has been closed by the server."""
    poll = select.poll()
    for connection in connections:
        poll.register(connection, select.POLLIN)
    return len(poll.poll(0))


def measure(server: Server, path: Path) -> tuple[float, float]:
    """Resident MiB of the server with one connection used, and with all of them at rest."""
    connections: list[socket.socket] = []
    with server:
        try:
            for number in range(CONNECTIONS):
                connections.append(socket.create_connection(("127.0.0.1", server.port), timeout=30))
                request_once(connections[-1], path)
                if number == 0:
                    before = server.rss_bytes()
            after = server.rss_bytes()
            closed = closed_count(connections)
            if closed:
                raise BenchmarkError(
                    f"{server.label} closed {closed} of {CONNECTIONS} resting connections"
                )
            for connection in connections[::100]:
                request_once(connection, path)
        except OSError as error:
            raise BenchmarkError(
                f"{server.label}: connection {len(connections)}: {error}"
            ) from error
        finally:
            for connection in connections:
                connection.close()
    return before / MIB, after / MIB


def run(context: Context) -> Report:
    root = context.work / "files"
    root.mkdir()
    path = files.make_files(root, "idle", 1, SIZE)[0]
    legs = context.servers(root)
    memory = {}
    for leg, server in legs.items():
        context.say(f"{CONNECTIONS} connections to {leg}")
        memory[leg] = measure(server, path)
    (leat_before, leat), (nginx_before, nginx) = memory["leat"], memory["nginx"]
    cell = Cell(
        name=f"{CONNECTIONS} idle",
        leat=leat,
        peer="nginx",
        peer_value=nginx,
        smaller_is_better=True,
        target=1.0,
        ratio_override=BOUND_MIB / leat,
        columns={
            "before": f"{leat_before:.1f} / {nginx_before:.1f}",
            "KiB/connection": " / ".join(
                f"{(after - before) * 1024 / CONNECTIONS:.2f}" for before, after in memory.values()
            ),
        },
        extra={"before": leat_before, "peer_before": nginx_before},
    )
    facts = machine.facts(context.work, {leg: server.version() for leg, server in legs.items()})
    notes = [
        "Resident memory of all the server's processes; pairs are leat / nginx.",
        f"The ratio is {BOUND_MIB} MiB over Leat's figure: at least 1 meets the bound.",
        "Memory of the kernel's sockets is not in it.",
    ]
    return Report("http_idle", "MiB", facts, [cell], notes, context.self_test)
