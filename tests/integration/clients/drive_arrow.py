"""Drives pyarrow's S3 file system as scripted.py asks."""

import os
import shutil

import pyarrow
import pyarrow.dataset
import pyarrow.parquet
from pyarrow import fs

from drive import serve

MIB = 1 << 20


def parquet(files, bucket):
    """A partitioned dataset there and back; the number of its rows with an even number."""
    table = pyarrow.table({"number": range(10_000), "part": [n % 3 for n in range(10_000)]})
    where = f"{bucket}/a table"
    pyarrow.dataset.write_dataset(table, where, format="parquet", filesystem=files,
                                  partitioning=["part"], partitioning_flavor="hive")
    back = pyarrow.dataset.dataset(where, filesystem=files, partitioning="hive").to_table()
    assert back.sort_by("number").select(["number", "part"]).to_pydict() == table.to_pydict()
    return back.num_rows


def answer(order):
    scheme, host = order["url"].split("://")
    files = fs.S3FileSystem(
        access_key=order["access"], secret_key=order["secret"], region=order["region"],
        scheme=scheme, endpoint_override=host,
        tls_ca_file_path=os.environ.get("AWS_CA_BUNDLE"))
    bucket = order["bucket"]
    if order["do"] == "parquet":
        return parquet(files, bucket)
    if order["do"] == "keys":
        found = files.get_file_info(fs.FileSelector(bucket, recursive=True))
        return [one.path.removeprefix(f"{bucket}/") for one in found
                if one.type == fs.FileType.File]
    for key, file in order["items"]:
        path = f"{bucket}/{key}"
        if order["do"] == "put":
            with open(file, "rb") as source, files.open_output_stream(path) as sink:
                shutil.copyfileobj(source, sink, 8 * MIB)
        else:
            with files.open_input_stream(path) as source, open(file, "wb") as sink:
                shutil.copyfileobj(source, sink, 8 * MIB)
    return None


serve(answer)
