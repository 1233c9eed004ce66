"""Writes the samples of a folder of tars in the format of a peer: convert.py FORMAT TARS TARGET.

Only what the peer's documentation says about speed is set: no compression, chunks of 64 MB.
"""

import argparse
import os
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

CHUNK_BYTES = 64 << 20


def samples_in(tars: str) -> Iterator[dict]:
    """{"key": …, "bin": bytes} or {"key": …, "jpg": bytes, "cls": int}, in their order."""
    for path in sorted(Path(tars).glob("*.tar")):
        with tarfile.open(path) as archive:
            sample: dict = {}
            for member in archive:
                key, _, field = member.name.partition(".")
                if sample and sample["key"] != key:
                    yield sample
                    sample = {}
                content = archive.extractfile(member).read()
                sample["key"] = key
                sample[field] = int(content) if field == "cls" else content
            if sample:
                yield sample


def without_key(sample: dict) -> dict:
    return {name: value for name, value in sample.items() if name != "key"}


def to_mds(tars: str, target: str) -> None:
    from operators import declare_missing

    declare_missing()
    from streaming import MDSWriter

    kinds = {bytes: "bytes", int: "int"}
    first = without_key(next(samples_in(tars)))
    columns = {name: kinds[type(value)] for name, value in first.items()}
    with MDSWriter(out=target, columns=columns, size_limit=CHUNK_BYTES) as writer:
        for sample in samples_in(tars):
            writer.write(without_key(sample))


def litdata_sample(sample: dict) -> dict:
    return without_key(sample)


def to_litdata(tars: str, target: str) -> None:
    import litdata

    litdata.optimize(
        fn=litdata_sample,
        inputs=list(samples_in(tars)),
        output_dir=target,
        chunk_bytes=CHUNK_BYTES,
        num_workers=1,
        verbose=False,
    )


def to_hf(tars: str, target: str) -> None:
    import datasets

    def rows():
        yield from (without_key(sample) for sample in samples_in(tars))

    made = datasets.Dataset.from_generator(rows, cache_dir=f"{target}.cache")
    made.save_to_disk(target, max_shard_size="64MB")


def to_folder(tars: str, target: str) -> None:
    for number, sample in enumerate(samples_in(tars)):
        group = f"{sample.get('cls', number // 1000):04}"
        folder = Path(target) / group
        if number % 1000 == 0 or "cls" in sample:
            folder.mkdir(parents=True, exist_ok=True)
        name, content = next(
            (field, value) for field, value in sample.items() if isinstance(value, bytes)
        )
        (folder / f"{sample['key']}.{name}").write_bytes(content)


FORMATS = {"streaming": to_mds, "litdata": to_litdata, "hf": to_hf, "folder": to_folder}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("format", choices=FORMATS)
    parser.add_argument("tars")
    parser.add_argument("target")
    options = parser.parse_args()
    FORMATS[options.format](options.tars, options.target)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
