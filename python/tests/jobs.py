"""Functions and programs that other processes run: they are found by name."""

import json
import os
import sys


def label(sample):
    return int(sample["cls"]), sample["__key__"]


def key(sample):
    return sample["__key__"]


def as_list(batch):
    return list(batch)


def rank_of_a_torchrun_job(name, batch_size, tail):
    """One rank: its batches in order. A rank with a step more than another would never end."""
    import torch.distributed as dist

    import leat

    dist.init_process_group("gloo")
    loader = leat.DataLoader(name, batch_size=int(batch_size), seed=9, tail=tail)
    rows = []
    for batch in loader:
        rows.append(list(batch.rows))
        dist.barrier()
    with open(os.environ["OUT"] + str(dist.get_rank()), "w") as file:
        json.dump(rows, file)
    dist.destroy_process_group()


def rank_that_sees_a_commit(name):
    """One rank of two: somebody commits after the first one has opened the dataset."""
    import torch.distributed as dist

    import leat

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 0:
        ds = leat.Dataset(name)
        with leat.Writer(name) as writer:
            writer.add("new", {"bin": b"1", "cls": b"2"})
    dist.barrier()
    if rank == 1:
        ds = leat.Dataset(name)
    loader = leat.DataLoader(ds, batch_size=5, tail="uneven")
    found = {
        "opened": ds.version,
        "loader": loader.dataset.version,
        "stream": leat.StreamingDataset(ds, batch_size=5).dataset.version,
        "rows": [row for batch in loader for row in batch.rows],
    }
    with open(os.environ["OUT"] + str(rank), "w") as file:
        json.dump(found, file)
    dist.destroy_process_group()


def an_epoch_until_killed(name):
    """Says each batch, and its state; waits for a line between them."""
    import leat

    loader = leat.DataLoader(name, batch_size=10, seed=4)
    for batch in loader:
        print(json.dumps([list(batch.rows), loader.state_dict()]), flush=True)
        if not sys.stdin.readline():
            return


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
