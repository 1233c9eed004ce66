"""Two ranks share an epoch: torchrun --nproc-per-node=2 examples/two_ranks.py

Each sample goes to one rank, both take the same number of steps, and nothing but torch's own
environment tells the loader which rank it is.
"""

import generated
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from train import model, step

import leat

DATASET = "examples/shapes"


def main() -> None:
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 0:
        generated.ensure(DATASET, 2000)
    dist.barrier()

    torch.manual_seed(0)
    loader = leat.DataLoader(
        DATASET,
        batch_size=32,
        seed=1,
        drop_last=True,
        decode={"png": leat.Image(32, layout="nchw"), "cls": "int64"},
    )
    network: nn.Module = DistributedDataParallel(model())
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    rows: list[int] = []
    for batch in loader:
        step(network, optimizer, batch)
        rows += batch.rows

    everybody: list[list[int]] = [[] for _ in range(dist.get_world_size())]
    dist.all_gather_object(everybody, rows)
    if rank == 0:
        seen = [row for part in everybody for row in part]
        assert len(seen) == len(set(seen)), "a sample came twice"
        print(f"ranks took {[len(part) for part in everybody]} samples, no one twice")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
