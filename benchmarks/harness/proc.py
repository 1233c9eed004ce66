"""Readings of /proc: CPU time and memory of a process and its children."""

import os
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def process_tree(pid: int) -> list[int]:
    """`pid` and all its descendants: nginx's workers are children of its master."""
    found = [pid]
    for current in found:
        for task in Path(f"/proc/{current}/task").glob("*"):
            try:
                found += [int(child) for child in (task / "children").read_text().split()]
            except FileNotFoundError:
                continue
    return found


def parse_stat_cpu_ticks(stat: str) -> int:
    """User and system time of all threads. The name in parentheses may itself hold spaces."""
    fields = stat[stat.rindex(")") + 2 :].split()
    return int(fields[11]) + int(fields[12])


def cpu_seconds(pids: list[int]) -> float:
    ticks = sum(parse_stat_cpu_ticks(Path(f"/proc/{pid}/stat").read_text()) for pid in pids)
    return ticks / TICKS_PER_SECOND


def rss_bytes(pids: list[int]) -> int:
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                total += int(line.split()[1]) * 1024
    return total


def disk_read_bytes(pids: list[int]) -> int:
    """What the kernel fetched from disks for these processes, read ahead included."""
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/io").read_text().splitlines():
            if line.startswith("read_bytes:"):
                total += int(line.split()[1])
    return total


def pss_bytes(pids: list[int]) -> int:
    """Memory of processes that share some: each page counts once among those who have it."""
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1]) * 1024
    return total
