"""ImageFolder: torchvision's, over a dataset."""

from __future__ import annotations

import importlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from leat import decode as decoding
from leat._batch import Batch
from leat._dataset import Dataset
from leat._session import Session
from leat._source import Sample
from leat.decode import Image
from leat.errors import BadRequest

_IMAGE_FIELDS = ("jpg", "jpeg", "png", "webp", "ppm", "bmp", "gif")


class ImageFolder(Dataset):
    """Images in folders that are their classes, with the names that torchvision gave them.

    >>> ds = leat.ImageFolder("imagenet/train@2", transform=augment)     # doctest: +SKIP
    >>> image, target = ds[0]                                            # doctest: +SKIP
    >>> ds.classes[target]                                               # doctest: +SKIP
    'n01440764'

    The class of a sample is the first folder of its key (``n01440764/img_12``), and classes are
    numbered in the order of their names. ``loader`` makes an image of bytes: a PIL image in RGB
    unless it is given. With ``image=leat.Image(224, …)`` pixels are decoded natively instead, and a
    ``leat.DataLoader`` hands out (uint8 images, int64 targets) without Python touching a sample.
    """

    def __init__(
        self,
        name: str,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[int], Any] | None = None,
        *,
        loader: Callable[[bytes], Any] | None = None,
        image: Image | None = None,
        field: str | None = None,
        session: Session | None = None,
    ) -> None:
        super().__init__(name, session=session)
        self.field = field or self._image_field()
        self._fields = [self.field]
        self._decoders = decoding.sorted_out({self.field: image or loader or decoding.pil})
        self.transform = transform
        self.target_transform = target_transform
        self._classify()

    def _classify(self) -> None:
        self.classes, self._targets = self._classified()
        self.class_to_idx = {one: number for number, one in enumerate(self.classes)}

    def _image_field(self) -> str:
        for field in self.info["fields"]:
            if field.rpartition(".")[2].lower() in _IMAGE_FIELDS:
                return str(field)
        found = ", ".join(self.info["fields"]) or "none"
        raise BadRequest(f"{self.name} has no field of images (fields: {found}); say field=…")

    def _classified(self) -> tuple[list[str], array[int]]:
        """Classes, and the number of each row's: a step for each class, not for each sample."""
        targets = array("l", [-1]) * self._size
        order = self.select()
        classes: list[str] = []
        at = 0
        while at < len(order):
            key = Dataset.key(self, order[at])
            folder, slash, _ = key.partition("/")
            if not slash:
                raise BadRequest(
                    f"sample {key!r} of {self.name} is in no folder, so it has no class; "
                    "leat.Dataset reads samples with a field cls"
                )
            rows = self.select(folder + "/")
            for row in rows:
                targets[row] = len(classes)
            classes.append(folder)
            at += len(rows)
        # Keys are in the order of bytes, where "a-b/" comes before "a/".
        by_name = sorted(range(len(classes)), key=classes.__getitem__)
        number = {old: new for new, old in enumerate(by_name)}
        return [classes[old] for old in by_name], array("l", [number[one] for one in targets])

    @property
    def targets(self) -> Sequence[int]:
        """The number of the class of every sample."""
        if self._rows is None:
            return self._targets
        return array("l", [self._targets[row] for row in self._rows])

    @property
    def samples(self) -> Sequence[tuple[str, int]]:
        """(key, class number) of every sample; keys are looked up when they are asked for."""
        return _Samples(self)

    imgs = samples

    @property
    def root(self) -> str:
        """Where the images are: ``leat://bucket/name@7``."""
        return f"leat://{self.name}@{self.version}"

    @property
    def extensions(self) -> tuple[str, ...]:
        """Of the files that images are taken from: the field's."""
        return (f".{self.field}",)

    def finished(self, sample: Sample) -> Any:
        target: Any = self.class_to_idx[str(sample["__key__"]).partition("/")[0]]
        image = self._decoders.apply(sample).get(self.field)
        if image is None:
            raise BadRequest(f"sample {sample['__key__']!r} of {self.name} has no {self.field}")
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target

    @property
    def handles_samples(self) -> bool:
        return super().handles_samples or self.target_transform is not None

    def finished_batch(self, batch: Batch) -> Any:
        images = batch[self.field]
        targets = [self._targets[row] for row in batch.rows]
        if type(images).__module__.partition(".")[0] == "torch":
            torch = importlib.import_module("torch")
            return images, torch.tensor(targets, dtype=torch.int64)
        if type(images).__module__.partition(".")[0] == "numpy":
            return images, importlib.import_module("numpy").array(targets, dtype="int64")
        return images, targets

    def subset(self, rows: Sequence[int]) -> ImageFolder:
        made = Dataset.subset(self, rows)
        assert isinstance(made, ImageFolder)
        return made

    def at_version(self, version: int) -> ImageFolder:
        made = Dataset.at_version(self, version)
        assert isinstance(made, ImageFolder)
        made._classify()
        return made


class _Samples(Sequence[tuple[str, int]]):
    def __init__(self, folder: ImageFolder) -> None:
        self._folder = folder
        self._targets = folder.targets

    def __len__(self) -> int:
        return len(self._folder)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self._folder.key(index), self._targets[index]

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return (self[i] for i in range(len(self)))
