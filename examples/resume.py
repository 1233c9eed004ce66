"""Resume after a kill: the job dies in mid-epoch, the next one goes on with the next sample.

Without arguments it plays both parts: it starts a job, kills it, resumes, and compares what both
saw with an epoch that was left alone. A checkpoint is the model's state and a few numbers.
"""

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import generated

import leat

DATASET = "examples/shapes"


def job(checkpoint: Path, batch_size: int) -> None:
    """Trains (here: prints the keys it saw) and saves its state after every batch."""
    loader = leat.DataLoader(DATASET, batch_size=batch_size, seed=7, keys=True)
    if checkpoint.exists():
        loader.load_state_dict(json.loads(checkpoint.read_text()))
    for batch in loader:
        print(*batch["__key__"], flush=True)
        fresh = checkpoint.with_suffix(".new")
        fresh.write_text(json.dumps(loader.state_dict()))
        fresh.replace(checkpoint)  # whole or not at all, whenever the job dies
        print("saved", flush=True)


def run(checkpoint: Path, batch_size: int, kill_after: int | None = None) -> list[str]:
    """Keys that a job saw; it is killed after some batches, and may have begun another one."""
    command = [sys.executable, __file__, str(checkpoint), str(batch_size)]
    keys: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        saved = 0
        for line in process.stdout:
            if line == "saved\n":
                saved += 1
                if saved == kill_after:
                    process.send_signal(signal.SIGKILL)
            else:
                keys += line.split()
    return keys


def main() -> None:
    generated.ensure(DATASET, 2000)
    with tempfile.TemporaryDirectory() as folder:
        whole = run(Path(folder, "whole.json"), 50)
        seen = run(Path(folder, "state.json"), 50, kill_after=13)
        state = json.loads(Path(folder, "state.json").read_text())
        killed = seen[: state["samples"]]  # what it saw and did not save comes again
        print(f"killed after {len(killed)} of {len(whole)} samples")
        print("its state:", state)
        rest = run(Path(folder, "state.json"), 64)
        print(f"resumed, with another batch size: {len(rest)} more samples")
        assert killed + rest == whole, "the order is another one"
    print("together they are the epoch, sample by sample")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        job(Path(sys.argv[1]), int(sys.argv[2]))
    else:
        main()
