"""What the disk does without a server: dd with an fsync at the end."""

import subprocess
import time
from pathlib import Path

from harness.errors import BenchmarkError
from harness.servers import pin_child

MIB = 1 << 20


def seconds_of_dd(source: Path, targets: list[Path], size: int, core: int) -> float:
    """Copies `size` bytes of a cached file to all targets at once, durably."""
    start = time.monotonic()
    children = [
        subprocess.Popen(
            [
                "dd",
                f"if={source}",
                f"of={target}",
                "bs=1M",
                f"count={size // MIB}",
                "conv=fsync",
                "status=none",
            ],
            preexec_fn=pin_child(core),
        )
        for target in targets
    ]
    if any([child.wait() != 0 for child in children]):
        raise BenchmarkError("dd failed")
    return time.monotonic() - start
