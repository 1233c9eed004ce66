"""Lets MosaicML Streaming be imported without CUDA.

It imports torchvision, of which it uses nothing here. torchvision's package on PyPI is built for
CUDA: beside torch for CPUs its operators do not load, and its import fails on two that it expects.
They are declared here, and nobody calls them.
"""


def declare_missing() -> None:
    import torch

    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            torch.library.define(
                f"torchvision::{name}", "(Tensor dets, Tensor scores, float threshold) -> Tensor"
            )
