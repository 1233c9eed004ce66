"""Trains a small CNN on generated images from a store: ingest, epochs, figures. CPU, a minute.

Without a store to be found it starts one on a temporary folder.
"""

import argparse

import generated
import own_store
import torch
from torch import nn

import leat


def model() -> nn.Module:
    def stage(inputs: int, outputs: int) -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(),
            nn.MaxPool2d(2))

    return nn.Sequential(
        stage(3, 16), stage(16, 32), stage(32, 64), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(64, generated.CLASSES))


def step(network, optimizer, batch) -> tuple[float, int]:
    images = batch["png"].float() / 255
    logits = network(images)
    loss = nn.functional.cross_entropy(logits, batch["cls"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item(), int((logits.argmax(1) == batch["cls"]).sum())


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--dataset", default="examples/shapes")
    options.add_argument("--images", type=int, default=2000)
    options.add_argument("--epochs", type=int, default=3)
    options.add_argument("--batch-size", type=int, default=64)
    chosen = options.parse_args()
    with own_store.found_or_made():
        train(chosen)


def train(chosen: argparse.Namespace) -> None:
    torch.manual_seed(0)
    generated.ensure(chosen.dataset, chosen.images)
    loader = leat.DataLoader(
        chosen.dataset,
        batch_size=chosen.batch_size,
        seed=42,
        decode={"png": leat.Image(32, layout="nchw"), "cls": "int64"},
        progress=True,
    )
    network = model()
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    for epoch in range(chosen.epochs):
        seen = right = 0
        for batch in loader:
            loss, correct = step(network, optimizer, batch)
            seen += batch.size
            right += correct
        print(f"epoch {epoch}: {seen} images, {right / seen:.1%} right, last loss {loss:.3f}")
    print(loader.report())


if __name__ == "__main__":
    main()
