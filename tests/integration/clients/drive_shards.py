"""WebDataset reads and writes local shards: each line of standard input is an order, as JSON.

Runs in the Python of tools/setup_clients.sh; bytes are in hexadecimal.
"""

import json
import os
import sys

import webdataset
from webdataset.tariterators import group_by_keys, tar_file_expander


def to_hex(text):
    return os.fsencode(text).hex()


def samples_of(path):
    """[[key, {field: data}]…], and the error that ended it, if one did."""
    samples, error = [], None
    with open(path, "rb") as stream:
        files = tar_file_expander([{"url": path, "stream": stream}])
        try:
            for sample in group_by_keys(files):
                fields = {to_hex(field): data.hex() for field, data in sample.items()
                          if field not in ("__key__", "__url__")}
                samples.append([to_hex(sample["__key__"]), fields])
        except Exception as raised:
            error = repr(raised)
    return {"samples": samples, "error": error}


def write(path, samples):
    with webdataset.TarWriter(path) as sink:
        for key, fields in samples:
            sink.write({"__key__": key} | {field: bytes.fromhex(data)
                                           for field, data in fields.items()})


for line in sys.stdin:
    order = json.loads(line)
    answer = None
    if "read" in order:
        answer = samples_of(order["read"])
    else:
        write(order["write"], order["samples"])
    print(json.dumps(answer), flush=True)
