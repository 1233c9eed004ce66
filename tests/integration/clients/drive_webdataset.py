"""Drives WebDataset's own way to open URLs, its writer and its reader, as scripted.py asks."""

import shutil

import webdataset

from drive import serve

MIB = 1 << 20


def shards(order):
    """Writes a shard through an HTTP PUT, then reads it back; the sizes of what was read."""
    samples = [{"__key__": f"sample {number:04}", "jpg": bytes([number % 256]) * size,
                "json": {"number": number}}
               for number, size in enumerate([0, 1, 511, 512, 513, 70_000, 3 * MIB])]
    with webdataset.TarWriter(f"pipe:curl -sSf -T - '{order['to']}'") as sink:
        for sample in samples:
            sink.write(sample)
    back = list(webdataset.WebDataset([order["from"]], shardshuffle=False,
                                      handler=webdataset.reraise_exception).decode())
    assert [one["__key__"] for one in back] == [one["__key__"] for one in samples]
    for one, sample in zip(back, samples):
        assert one["json"] == sample["json"], one["__key__"]
    raw = list(webdataset.WebDataset([order["from"]], shardshuffle=False))
    assert [one["jpg"] for one in raw] == [one["jpg"] for one in samples]
    return [len(one["jpg"]) for one in raw]


def error_of(url):
    """What an application is told of a shard that cannot be read; None if nothing."""
    try:
        list(webdataset.WebDataset([url], shardshuffle=False))
    except Exception as error:
        return repr(error)
    return None


def answer(order):
    if order["do"] == "shards":
        return shards(order)
    if order["do"] == "error of":
        return error_of(order["from"])
    for url, file in order["items"]:
        if order["do"] == "put":
            with open(file, "rb") as source, webdataset.gopen(url, "wb") as sink:
                shutil.copyfileobj(source, sink, 8 * MIB)
        else:
            with webdataset.gopen(url, "rb") as source, open(file, "wb") as sink:
                shutil.copyfileobj(source, sink, 8 * MIB)
    return None


serve(answer)
