"""What becomes of the bytes of a field: natively, in the loader's threads, or by a Python function.

A *decode* argument maps fields to what is done with them::

    decode={"jpg": leat.Image(224, crop="random_resized", flip=True),   # native: uint8 [B, H, W, 3]
            "cls": "int64",                                             # native: int64 [B]
            "npy": leat.Array("float32", (80, 3000)),                   # native: [B, 80, 3000]
            "json": json.loads}                                         # Python, sample by sample

``decode="auto"`` takes ``automatic()``'s choice for each field, as WebDataset's ``.decode()`` does.
"""

from __future__ import annotations

import importlib
import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from leat.errors import BadRequest

Function = Callable[[bytes], Any]


@dataclass(frozen=True)
class Image:
    """Decode to pixels natively: a uint8 array of ``size``, [height, width, 3] for each sample.

    ``crop``: ``"random_resized"`` (training; part of the area by ``scale``, aspect by ``ratio``,
    in loaders the same for the same seed, epoch and position, in reads by index drawn by Python's
    ``random``), ``"center"`` or ``"none"`` (the whole image, resized). ``flip`` mirrors every
    second one. ``layout="nchw"`` puts channels first, as a view.

    A sample without the field is an error (DecodeError), unless it is ``optional``: then a batch
    has zeros there, and ``batch.present[field]`` says so; a single sample is without it.
    """

    size: int | tuple[int, int] = 224
    crop: str = "center"
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3 / 4, 4 / 3)
    flip: bool = False
    layout: str = "nhwc"
    optional: bool = False

    def native(self) -> dict[str, Any]:
        """As the library takes it."""
        if self.layout not in ("nhwc", "nchw"):
            raise BadRequest(f"layout={self.layout!r}: nhwc or nchw")
        size = self.size if isinstance(self.size, tuple) else (self.size, self.size)
        options: dict[str, Any] = {"to": "rgb8", "size": list(size), "crop": self.crop}
        if self.crop == "random_resized":
            options |= {"scale": list(self.scale), "ratio": list(self.ratio)}
        if self.flip:
            options["flip"] = True
        return options | _optional(self.optional)


@dataclass(frozen=True)
class Int64:
    """Decode a number that stands there as text natively; ``"int64"`` for short.

    ``optional``: as for Image.
    """

    optional: bool = False

    def native(self) -> dict[str, Any]:
        """As the library takes it."""
        return {"to": "int64"} | _optional(self.optional)


@dataclass(frozen=True)
class Array:
    """Decode an array natively: ``dtype`` and ``shape`` are those of every sample.

    The field is a file of NumPy's (``format="npy"``), or the elements alone (``"raw"``), in C order
    and little-endian. Another dtype or shape is a DecodeError. ``optional``: as for Image.
    """

    dtype: str
    shape: tuple[int, ...]
    format: str = "npy"
    optional: bool = False

    def native(self) -> dict[str, Any]:
        """As the library takes it."""
        if self.format not in ("npy", "raw"):
            raise BadRequest(f"format={self.format!r}: npy or raw")
        options = {"to": self.format, "dtype": self.dtype, "shape": list(self.shape)}
        return options | _optional(self.optional)


def _optional(value: bool) -> dict[str, Any]:
    return {"optional": True} if value else {}


Decoder = Image | Int64 | Array | str | Function
Decode = Mapping[str, Decoder] | str | None


@dataclass(frozen=True)
class Decoders:
    """A decode argument, sorted: what the library does, what Python does."""

    native: dict[str, dict[str, Any]]
    functions: dict[str, Function]
    nchw: frozenset[str] = frozenset()
    is_automatic: bool = False

    @property
    def uses_python(self) -> bool:
        return self.is_automatic or bool(self.functions)

    def apply(self, sample: dict[str, Any]) -> dict[str, Any]:
        """A sample with Python's part done; its values are bytes where the library did nothing."""
        for name, value in sample.items():
            if name.startswith("__") or not isinstance(value, (bytes, memoryview)):
                continue
            function = automatic(name) if self.is_automatic else self.functions.get(name)
            if function is not None:
                sample[name] = function(bytes(value))
        return sample


def sorted_out(decode: Decode) -> Decoders:
    """What a decode argument means."""
    if decode is None:
        return Decoders({}, {})
    if isinstance(decode, str):
        if decode != "auto":
            raise BadRequest(f"decode={decode!r}: 'auto', or a dict of fields")
        return Decoders({}, {}, is_automatic=True)
    native: dict[str, dict[str, Any]] = {}
    functions: dict[str, Function] = {}
    for name, decoder in decode.items():
        if isinstance(decoder, (Image, Int64, Array)):
            native[name] = decoder.native()
        elif isinstance(decoder, str):
            native[name] = {"to": decoder}
        else:
            functions[name] = decoder
    nchw = [name for name, one in decode.items() if isinstance(one, Image) and one.layout == "nchw"]
    return Decoders(native, functions, frozenset(nchw))


def automatic(field: str) -> Function | None:
    """The function for a field by the last part of its name: ``json``, ``seg.png``, ``cls``, …"""
    return _BY_EXTENSION.get(field.rpartition(".")[2].lower())


def pil(data: bytes) -> Any:
    """A PIL image in RGB. Needs Pillow: ``pip install leat[images]``."""
    try:
        module = importlib.import_module("PIL.Image")
    except ImportError as error:
        raise ImportError("images are decoded by Pillow: pip install 'leat[images]'") from error
    with module.open(io.BytesIO(data)) as image:
        return image.convert("RGB")


def number(data: bytes) -> int:
    """An integer that stands there as text."""
    return int(data)


def npy(data: bytes) -> Any:
    """A NumPy array of a .npy file. Pickled objects in it are refused."""
    return importlib.import_module("numpy").load(io.BytesIO(data), allow_pickle=False)


def _by_extension(*pairs: tuple[Iterable[str], Function]) -> dict[str, Function]:
    return {name: function for names, function in pairs for name in names}


_BY_EXTENSION = _by_extension(
    (("cls", "cls2", "index", "inx", "id", "count"), number),
    (("txt", "text", "transcript"), bytes.decode),
    (("json", "jsn"), json.loads),
    (("npy",), npy),
    (("jpg", "jpeg", "png", "webp", "ppm", "bmp", "gif"), pil),
)
