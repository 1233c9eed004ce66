"""A WebDataset script that reads from Leat: one line is new, the URLs are Leat's."""

import io
import tarfile

import generated
import webdataset as wds

import leat
import leat.webdataset  # noqa: F401  the one line: it teaches webdataset leat:// URLs

BUCKET = "examples"


def make_shards() -> None:
    """Two shards, as any tool writes them; here by hand."""
    if f"{BUCKET}/" not in leat.ls():
        leat.mb(BUCKET)
    for shard in range(2):
        target = io.BytesIO()
        with tarfile.open(fileobj=target, mode="w") as tar:
            for number in range(shard * 100, shard * 100 + 100):
                add(tar, f"{number:06}.png", generated.image(number))
                add(tar, f"{number:06}.cls", b"%d" % (number % generated.CLASSES))
        leat.put(f"{BUCKET}/wds/shapes-{shard:06}.tar", target.getvalue())


def add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))


def main() -> None:
    make_shards()
    dataset = (
        wds.WebDataset(f"leat://{BUCKET}/wds/shapes-{{000000..000001}}.tar", shardshuffle=False)
        .shuffle(100)
        .decode("rgb8")
        .to_tuple("png", "cls")
    )
    labels = [label for image, label in dataset]
    print(f"{len(labels)} samples, {len(set(labels))} classes")


if __name__ == "__main__":
    main()
