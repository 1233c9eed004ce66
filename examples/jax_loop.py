"""A loop for JAX: softmax regression on generated images. No torch is needed."""

import generated
import jax
import jax.numpy as jnp

import leat

DATASET = "examples/shapes"
SIDE = 16


def loss(weights, images, labels):
    logits = images.reshape(len(images), -1) @ weights
    return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(labels)), labels])


@jax.jit
def step(weights, images, labels):
    value, gradient = jax.value_and_grad(loss)(weights, images / 255.0 - 0.5, labels)
    return weights - 0.05 * gradient, value


def main() -> None:
    generated.ensure(DATASET, 2000)
    loader = leat.DataLoader(
        DATASET,
        batch_size=100,
        seed=3,
        drop_last=True,
        decode={"png": leat.Image(SIDE), "cls": "int64"},
        to="jax",
    )
    weights = jnp.zeros((SIDE * SIDE * 3, generated.CLASSES))
    for epoch in range(3):
        for batch in loader:
            weights, value = step(weights, batch["png"], batch["cls"])
        print(f"epoch {epoch}: loss {value:.3f}")


if __name__ == "__main__":
    main()
