"""Drives s3torchconnector as scripted.py asks."""

import shutil

import torch
from s3torchconnector import S3Checkpoint, S3ClientConfig, S3IterableDataset, S3MapDataset
from s3torchconnector._s3client import S3Client

from drive import serve

MIB = 1 << 20


def train(order, settings):
    """Reads a prefix as both kinds of dataset, with workers, and keeps a checkpoint."""
    where = f"s3://{order['bucket']}/{order['prefix']}"
    mapped = S3MapDataset.from_prefix(where, transform=lambda one: (one.key, one.read()),
                                      **settings)
    by_index = {key: len(data) for key, data in (mapped[at] for at in range(len(mapped)))}
    streamed = S3IterableDataset.from_prefix(where, transform=lambda one: (one.key, one.read()),
                                             enable_sharding=True, **settings)
    loader = torch.utils.data.DataLoader(streamed, batch_size=None, num_workers=2)
    by_stream = {key: len(data) for key, data in loader}
    checkpoint = S3Checkpoint(**settings)
    weights = {"weight": torch.arange(3 * MIB, dtype=torch.float32)}
    with checkpoint.writer(f"s3://{order['bucket']}/checkpoint/1") as sink:
        torch.save(weights, sink)
    with checkpoint.reader(f"s3://{order['bucket']}/checkpoint/1") as source:
        back = torch.load(source)
    assert torch.equal(back["weight"], weights["weight"])
    return [by_index, by_stream]


def answer(order):
    settings = {"region": order["region"], "endpoint": order["url"],
                "s3client_config": S3ClientConfig(force_path_style=True, max_attempts=1)}
    if order["do"] == "train":
        return train(order, settings)
    client, bucket = S3Client(**settings), order["bucket"]
    if order["do"] == "keys":
        return [one.key for page in client.list_objects(bucket, max_keys=5)
                for one in page.object_info]
    for key, file in order["items"]:
        if order["do"] == "put":
            with open(file, "rb") as source, client.put_object(bucket, key) as sink:
                shutil.copyfileobj(source, sink, 8 * MIB)
        else:
            with open(file, "wb") as sink:
                shutil.copyfileobj(client.get_object(bucket, key), sink, 8 * MIB)
    return None


serve(answer)
