"""The loops of the peers: each as its own documentation has it for speed, and Leat's.

A loop is a function of a Job that gives an iterable of batches; going over it again is the next
epoch. A batch is a uint8 tensor [B, bytes] of raw samples, or (uint8 tensor of images, labels).
Workers are processes where the peer has processes; they stay for the next epoch.

JPEGs are decoded by Pillow, alike for all peers: torchvision's package on PyPI needs CUDA.
Packages are imported by the loop that needs them: the time to the first batch counts imports.
"""

import os
import warnings
from dataclasses import dataclass
from pathlib import Path

IMAGE_SIZE = 224
# What WebDataset's documentation shows; --memory gives each peer's buffer the same bytes instead.
BUFFER_SAMPLES = 1000


@dataclass(frozen=True)
class Job:
    data: str  # a folder, a URL with a {first..last} range, or a dataset's name
    batch: int
    workers: int
    images: bool = False
    sample_bytes: int = 0
    memory_bytes: int = 0  # for shuffling; 0: as the peer likes it
    order: str = "block"  # Leat's: block (planned), full (random) or none
    rank: int = 0
    world: int = 1

    def buffer_samples(self) -> int:
        """Of each worker, so that all together hold `memory_bytes`."""
        if self.memory_bytes == 0:
            return BUFFER_SAMPLES
        return max(1, self.memory_bytes // self.sample_bytes // max(1, self.workers))


def stack(samples: list[bytes]):
    """The fastest way known to us from bytes to one tensor: one copy. Nobody writes to it, so that
    torch's warning of memory that must not be written to says nothing new."""
    import torch

    warnings.filterwarnings("ignore", message="The given buffer is not writable")
    return torch.frombuffer(b"".join(samples), dtype=torch.uint8).view(len(samples), -1)


class Crop:
    """JPEG to 224 × 224 pixels by Pillow (libjpeg-turbo): a random resized crop as torchvision
    draws it, decoded at the smallest scale that is enough, resized from its box in one step."""

    def __call__(self, content: bytes):
        import io
        import math
        import random

        import numpy
        import torch
        from PIL import Image

        image = Image.open(io.BytesIO(content))
        width, height = image.size
        for _ in range(10):
            area = width * height * random.uniform(0.08, 1.0)
            ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
            w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < w <= width and 0 < h <= height:
                break
        else:
            w = h = min(width, height)
        left, top = random.randint(0, width - w), random.randint(0, height - h)
        # The whole image at which the crop still has 224 pixels.
        scale = max(IMAGE_SIZE / w, IMAGE_SIZE / h)
        if scale < 1:
            image.draft("RGB", (round(width * scale), round(height * scale)))
        shrunk = image.size[0] / width
        box = [shrunk * edge for edge in (left, top, left + w, top + h)]
        box = [min(box[i], image.size[i % 2]) for i in range(4)]
        pixels = image.convert("RGB").resize(
            (IMAGE_SIZE, IMAGE_SIZE), Image.Resampling.BILINEAR, box=box
        )
        return torch.from_numpy(numpy.array(pixels)).permute(2, 0, 1)


def stack_images(samples: list[tuple]):
    import torch

    images, labels = zip(*samples, strict=True)
    return torch.stack(images), torch.tensor([int(label) for label in labels])


def loader_of(job: Job, dataset, **options):
    import torch.utils.data

    persistent = job.workers > 0
    prefetch = {"prefetch_factor": 4} if persistent else {}
    return torch.utils.data.DataLoader(
        dataset, num_workers=job.workers, persistent_workers=persistent, **prefetch, **options
    )


def webdataset(job: Job):
    """Shards shuffled, then samples in a buffer of each worker, batches made in the worker."""
    import webdataset as wds

    if "{" in job.data:
        shards = job.data
    else:
        shards = sorted(str(path) for path in Path(job.data).glob("*.tar"))
    count = len(shards) if isinstance(shards, list) else 1000
    pipeline = wds.WebDataset(
        shards,
        shardshuffle=count,
        nodesplitter=wds.split_by_node if job.world > 1 else wds.single_node_only,
        workersplitter=wds.split_by_worker,
        empty_check=False,
    ).shuffle(job.buffer_samples())
    if job.images:
        pipeline = pipeline.to_tuple("jpg", "cls").map_tuple(Crop(), int)
        pipeline = pipeline.batched(job.batch, collation_fn=stack_images)
    else:
        pipeline = pipeline.to_tuple("bin").batched(
            job.batch, collation_fn=lambda batch: stack([sample[0] for sample in batch])
        )
    persistent = job.workers > 0
    return wds.WebLoader(
        pipeline, batch_size=None, num_workers=job.workers, persistent_workers=persistent,
        **({"prefetch_factor": 4} if persistent else {}),
    )


def streaming(job: Job):
    """MosaicML Streaming on local MDS."""
    from operators import declare_missing

    declare_missing()
    from streaming import StreamingDataset

    class Samples(StreamingDataset):
        def __init__(self, **options) -> None:
            super().__init__(**options)
            self.crop = Crop() if job.images else None

        def __getitem__(self, index):
            sample = super().__getitem__(index)
            if self.crop is None:
                return sample["bin"]
            return self.crop(sample["jpg"]), sample["cls"]

    options = {}
    if job.memory_bytes > 0:
        options["shuffle_block_size"] = max(1, job.memory_bytes // job.sample_bytes)
    dataset = Samples(
        local=job.data, shuffle=True, batch_size=job.batch, num_canonical_nodes=1, **options
    )
    collate = stack_images if job.images else stack
    return loader_of(job, dataset, batch_size=job.batch, collate_fn=collate)


def litdata(job: Job):
    """LitData on its own local chunks."""
    import litdata as ld

    class Samples(ld.StreamingDataset):
        def __init__(self, *arguments, **options) -> None:
            super().__init__(*arguments, **options)
            self.crop = Crop() if job.images else None

        def __getitem__(self, index):
            sample = super().__getitem__(index)
            if self.crop is None:
                return sample["bin"]
            return self.crop(sample["jpg"]), sample["cls"]

    dataset = Samples(job.data, shuffle=True, drop_last=False)
    return ld.StreamingDataLoader(
        dataset,
        batch_size=job.batch,
        num_workers=job.workers,
        collate_fn=stack_images if job.images else stack,
        persistent_workers=job.workers > 0,
        **({"prefetch_factor": 4} if job.workers > 0 else {}),
    )


def folder(job: Job):
    """A file for each sample, a folder for each class, as torchvision's ImageFolder reads them."""
    import torch.utils.data

    class Files(torch.utils.data.Dataset):
        def __init__(self) -> None:
            root = Path(job.data)
            classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
            self.samples = [
                (str(root / name / entry), label)
                for label, name in enumerate(classes)
                for entry in sorted(os.listdir(root / name))
            ]
            self.crop = Crop() if job.images else None

        def __len__(self) -> int:
            return len(self.samples)

        def __getitem__(self, index):
            path, label = self.samples[index]
            with open(path, "rb", buffering=0) as file:
                content = file.read()
            return content if self.crop is None else (self.crop(content), label)

    dataset = Files()
    collate = stack_images if job.images else stack
    if job.world > 1:
        sampler = torch.utils.data.DistributedSampler(dataset, job.world, job.rank, shuffle=True)
        return loader_of(job, dataset, batch_size=job.batch, sampler=sampler, collate_fn=collate)
    return loader_of(job, dataset, batch_size=job.batch, shuffle=True, collate_fn=collate)


def hf(job: Job):
    """Hugging Face datasets: Arrow files, mapped; a batch is one call (`__getitems__`)."""
    import datasets

    dataset = datasets.load_from_disk(job.data)
    crop = Crop() if job.images else None

    def collate(rows: list[dict]):
        if crop is None:
            return stack([row["bin"] for row in rows])
        return stack_images([(crop(row["jpg"]), row["cls"]) for row in rows])

    return loader_of(job, dataset, batch_size=job.batch, shuffle=True, collate_fn=collate)


class Leat:
    """Leat's own loader: threads of the library, no worker processes."""

    def __init__(self, job: Job) -> None:
        import torch  # noqa: F401  (batches become tensors)

        import leat

        decode = None
        if job.images:
            image = leat.Image(IMAGE_SIZE, crop="random_resized", layout="nchw")
            decode = {"jpg": image, "cls": "int64"}
        options = {"window": job.memory_bytes} if job.memory_bytes else {}
        self.job = job
        self.loader = leat.DataLoader(
            job.data,
            batch_size=job.batch,
            shuffle={"none": False}.get(job.order, job.order),
            fields=["jpg", "cls"] if job.images else ["bin"],
            decode=decode,
            rank=job.rank,
            world=job.world,
            to="torch",
            **options,
        )

    def __iter__(self):
        import torch

        for batch in self.loader:
            if self.job.images:
                yield batch["jpg"], batch["cls"]
            else:
                # Samples of one length lie behind each other: the field is one tensor already.
                field = batch["bin"]
                yield torch.frombuffer(field.data, dtype=torch.uint8).view(len(field), -1)


LOOPS = {
    "leat": Leat,
    "webdataset": webdataset,
    "streaming": streaming,
    "litdata": litdata,
    "folder": folder,
    "hf": hf,
}
