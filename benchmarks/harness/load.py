"""Runs http_load against a server and measures what it cost the server."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness import build
from harness.awake import AwakeCores, BusyMeter
from harness.errors import BenchmarkError
from harness.machine import Cores
from harness.servers import Server, pin_child
from harness.stats import median

GIB = 1 << 30
DISTURBANCE_NOTED = 0.08


@dataclass(frozen=True)
class Sample:
    """One measurement. CPU figures cover the server's whole run of load, warm-up included.
    `disturbance` is the share of the server's core that went to somebody else's work."""

    mb_per_s: float
    requests_per_s: float
    seconds: float
    requests: int
    latency_us: dict[str, float]
    probe_us: dict[str, float]
    cpu_s_per_gib: float = 0.0
    server_core: float = 0.0
    client_core: float = 0.0
    disturbance: float = 0.0


def parse(line: str) -> dict:
    """The JSON line of http_load. Raises when a request failed: a broken run has no figure."""
    try:
        answer = json.loads(line)
    except json.JSONDecodeError as error:
        raise BenchmarkError(f"http_load printed no JSON: {line[:200]!r}") from error
    if answer["errors"]:
        raise BenchmarkError(f"{answer['errors']} requests failed")
    if answer["bytes"] == 0:
        raise BenchmarkError("http_load transferred nothing")
    return answer


def flags(**options: object) -> list[str]:
    """body_bytes=4 becomes --body-bytes 4; True becomes the bare flag, None nothing."""
    line: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            line.append(flag)
        elif value is not None:
            line += [flag, str(value)]
    return line


def write_paths(work: Path, name: str, files: list[Path]) -> Path:
    listing = work / f"{name}.paths"
    listing.write_text("".join(f"/{file.name}\n" for file in files))
    return listing


def run(server: Server, cores: Cores, awake: AwakeCores, **options: object) -> Sample:
    command = [build.binary(build.HTTP_LOAD), *flags(port=server.port, **options)]
    busy = BusyMeter(awake)
    cpu_before = server.cpu_seconds()
    done = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=pin_child(cores.client)
    )
    cpu = server.cpu_seconds() - cpu_before
    elapsed, server_core, client_core = busy.read()
    if done.returncode != 0:
        raise BenchmarkError(f"http_load against {server.label}: {done.stderr.strip()}")
    try:
        answer = parse(done.stdout)
    except BenchmarkError as error:
        raise BenchmarkError(
            f"{server.label}: {error}: {done.stderr[:300].strip()}; its log: {server.log_tail()}"
        ) from error
    return Sample(
        mb_per_s=answer["mb_per_s"],
        requests_per_s=answer["requests_per_s"],
        seconds=answer["seconds"],
        requests=answer["requests"],
        latency_us=answer["latency_us"],
        probe_us=answer.get("probe", {}).get("latency_us", {}),
        cpu_s_per_gib=cpu / (answer["all_bytes"] / GIB),
        server_core=server_core,
        client_core=client_core,
        disturbance=max(0.0, server_core - cpu / elapsed),
    )


def disturbance_notes(samples: list[Sample]) -> list[str]:
    """Says so when other work took a noticeable part of the server's core."""
    worst = max(sample.disturbance for sample in samples)
    typical = median(sample.disturbance for sample in samples)
    if typical < DISTURBANCE_NOTED:
        return []
    return [
        f"NOISY: other work took {typical:.0%} of the server's core (at worst {worst:.0%}); "
        "trust the ratios less and the absolute figures not at all."
    ]
