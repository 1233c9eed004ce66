"""Facts of the machine a result was measured on, and the cores the two sides are pinned to."""

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

from harness.errors import BenchmarkError


@dataclass(frozen=True)
class Cores:
    """The server and the client never share a core, so that neither takes time from the other."""

    server: int
    client: int


def choose_cores() -> Cores:
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        raise BenchmarkError("needs two cores: one for the server, one for the client")
    return Cores(server=allowed[0], client=allowed[1])


def first_match(path: str, pattern: str) -> str:
    match = re.search(pattern, Path(path).read_text(), re.MULTILINE)
    return match.group(1).strip() if match else "unknown"


def file_system(path: Path) -> str:
    """File system type and device that hold `path`, such as `ext4 on /dev/vda`."""
    best, answer = "", "unknown"
    for line in Path("/proc/self/mounts").read_text().splitlines():
        device, mount, kind = line.split()[:3]
        inside = Path(mount) in (path, *path.parents)
        if inside and len(mount) >= len(best):
            best, answer = mount, f"{kind} on {device}"
    return answer


def facts(work: Path, versions: dict[str, str]) -> dict[str, object]:
    memory_kib = int(first_match("/proc/meminfo", r"^MemTotal:\s+(\d+)"))
    return {
        "cpu": first_match("/proc/cpuinfo", r"^model name\s*:\s*(.*)$"),
        "cores": os.cpu_count(),
        "memory_gib": round(memory_kib / (1 << 20), 1),
        "kernel": platform.release(),
        "disk": file_system(work.resolve()),
        "load_average": os.getloadavg()[0],
        **versions,
    }
