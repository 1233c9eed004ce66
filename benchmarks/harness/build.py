"""Where the binaries are, and how they get there."""

import subprocess
import sys
from pathlib import Path

from harness.errors import BenchmarkError

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
LEAT = BUILD / "src" / "programs" / "leat"
HTTP_LOAD = BUILD / "benchmarks" / "http_load"
STORE_BENCH = BUILD / "benchmarks" / "store_bench"
PREAD_LOOP = BUILD / "benchmarks" / "pread_loop"
JPEG_LOOP = BUILD / "benchmarks" / "jpeg_loop"
LIBLEAT = BUILD / "src" / "client" / "libleat.so"
SNAPSHOT_BENCH = BUILD / "benchmarks" / "snapshot_bench"


def build(targets: list[str], quiet: bool) -> None:
    """Builds what is measured, in the release preset; its chatter is shown only when it fails."""
    if not quiet:
        print(f"building {', '.join(targets)} (release)", file=sys.stderr, flush=True)
    for command in (["cmake", "--preset", "release"], ["ninja", "-C", str(BUILD), *targets]):
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        except FileNotFoundError as error:
            raise BenchmarkError(f"{error.filename} is not installed; run `make setup`") from error
        if done.returncode != 0:
            raise BenchmarkError(f"`{' '.join(command)}` failed:\n{done.stdout}{done.stderr}")


def binary(path: Path) -> str:
    if not path.exists():
        raise BenchmarkError(f"{path} is missing; run without --no-build")
    return str(path)
