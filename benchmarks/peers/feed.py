"""Runs one loop over some epochs and prints what it took, as one line of JSON.

Every raw sample begins with its number, so that an epoch can be checked: how many samples came, and
whether each came once. CPU time and memory are those of the whole tree of processes; --also-pid
adds a server's.
"""

import time

STARTED = time.perf_counter()

import argparse  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
from dataclasses import fields  # noqa: E402
from pathlib import Path  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import proc  # noqa: E402
from loops import LOOPS, Job  # noqa: E402


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("loop", choices=LOOPS)
    parser.add_argument("--data", required=True)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--images", action="store_true")
    parser.add_argument("--sample-bytes", type=int, default=0)
    parser.add_argument("--memory-bytes", type=int, default=0)
    parser.add_argument("--order", default="block")
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--world", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0, help="an epoch ends then at the latest")
    parser.add_argument("--samples-max", type=int, default=0, help="or after so many")
    parser.add_argument("--step-seconds", type=float, default=0, help="an accelerator's step")
    parser.add_argument("--per-class", type=int, default=0, help="sample n has class n // this")
    parser.add_argument("--also-pid", type=int, default=0)
    return parser.parse_args()


class Processes:
    """This process, its descendants, and a server."""

    def __init__(self, also: int) -> None:
        self.also = also

    def pids(self) -> list[int]:
        server = proc.process_tree(self.also) if self.also else []
        return proc.process_tree(os.getpid()) + server

    def cpu_seconds(self) -> float:
        return proc.cpu_seconds(self.pids())

    def memory_bytes(self) -> int:
        return proc.pss_bytes(proc.process_tree(os.getpid()))


class SameClass:
    """How often two samples of one batch have one class: the mean over batches."""

    def __init__(self, per_class: int) -> None:
        self.per_class = per_class
        self.rates: list[float] = []

    def add(self, numbers) -> None:
        if self.per_class == 0 or len(numbers) < 2:
            return
        counts = (numbers // self.per_class).unique(return_counts=True)[1]
        pairs = (counts * (counts - 1)).sum().item()
        self.rates.append(pairs / (len(numbers) * (len(numbers) - 1)))


def numbers_of(batch):
    import torch

    return batch[:, :8].contiguous().view(torch.int64).flatten()


def run_epoch(batches, options: argparse.Namespace, processes: Processes) -> dict:
    start, cpu = time.perf_counter(), processes.cpu_seconds()
    samples = total = sum_of_numbers = steps = 0
    first = computed = computing_since = 0.0
    same_class = SameClass(options.per_class)
    for batch in batches:
        now = time.perf_counter()
        first = first or now
        pixels = batch[0] if isinstance(batch, (list, tuple)) else batch
        samples += len(pixels)
        total += pixels.numel()
        if not options.images:
            numbers = numbers_of(pixels)
            sum_of_numbers += numbers.sum().item()
            same_class.add(numbers)
        if options.step_seconds:
            # The first step is left out, as MLPerf Storage does: it waits for the pipeline to fill.
            computing_since = computing_since or now
            time.sleep(options.step_seconds)
            computed += options.step_seconds
            steps += 1
        if options.seconds and time.perf_counter() - start >= options.seconds:
            break
        if options.samples_max and samples >= options.samples_max:
            break
    end = time.perf_counter()
    return {
        "samples": samples,
        "bytes": total,
        "sum": sum_of_numbers,
        "seconds": end - start,
        "first_batch_s": first - start,
        "cpu_seconds": processes.cpu_seconds() - cpu,
        "utilisation": computed / (end - computing_since) if steps else 0.0,
        "same_class": sum(same_class.rates) / max(1, len(same_class.rates)),
    }


def main() -> None:
    options = parse_arguments()
    processes = Processes(options.also_pid)
    job = Job(**{field.name: getattr(options, field.name) for field in fields(Job)})
    batches = LOOPS[options.loop](job)
    made = time.perf_counter()
    epochs = [run_epoch(batches, options, processes) for _ in range(options.epochs)]
    print(json.dumps({
        "epochs": epochs,
        "made_s": made - STARTED,
        "first_batch_s": made - STARTED + epochs[0]["first_batch_s"],
        "memory_bytes": processes.memory_bytes(),
    }), flush=True)
    # Some peers take seconds to take leave of their workers, and torch complains of those who died.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for pid in proc.process_tree(os.getpid())[1:]:
        os.kill(pid, signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    main()
