"""The stock ``webdataset`` package reads and writes ``leat://bucket/shard.tar``.

>>> import leat.webdataset                                               # doctest: +SKIP
>>> wds.WebDataset("leat://photos/train-{000000..000009}.tar")           # doctest: +SKIP

Importing this module is all: it adds the scheme to ``webdataset.gopen_schemes``.
"""

from __future__ import annotations

from typing import IO, Any

import webdataset

from leat._session import current


def gopen(url: str, mode: str = "rb", bufsize: int = 8192, **_: Any) -> IO[Any]:
    """An object as a stream."""
    return current().open(url, mode)


webdataset.gopen_schemes["leat"] = gopen
