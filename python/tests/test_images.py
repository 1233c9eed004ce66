"""Images that the library decodes, beside Pillow's."""

import io
import random

import numpy
import pytest
import torch
from PIL import Image

import leat


def picture(number, size=(64, 48)):
    """Something smooth, so that decoders and scalers may differ by little."""
    x, y = numpy.meshgrid(numpy.linspace(0, 255, size[0]), numpy.linspace(0, 255, size[1]))
    bands = [(x + 20 * number) % 256 // 1, y, (x + y) / 2]
    return Image.fromarray(numpy.stack(bands, axis=-1).astype("uint8"))


def encoded(image, kind, **options):
    target = io.BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


@pytest.fixture(scope="module")
def images(store):
    kinds = [("PNG", {}), ("JPEG", {"quality": 95}), ("WEBP", {"lossless": True})]
    samples = []
    for number in range(60):
        kind, options = kinds[number % 3]
        data = encoded(picture(number % 4), kind, **options)
        samples.append((f"class-{number % 4}/{number:03}", {"jpg": data, "cls": b"%d" % number}))
    return store.make_dataset(samples, name="data/images"), samples


def test_pixels_are_those_of_pillow(images):
    name, samples = images
    loader = leat.DataLoader(
        name, 20, shuffle=False, decode={"jpg": leat.Image((48, 64), crop="none")}, to="numpy"
    )
    row = 0
    for batch in loader:
        assert batch["jpg"].shape == (20, 48, 64, 3)
        for pixels in batch["jpg"]:
            data = samples[row][1]["jpg"]
            expected = numpy.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=int)
            difference = numpy.abs(pixels.astype(int) - expected)
            assert difference.max() <= (3 if row % 3 == 1 else 0), row
            row += 1
    assert row == 60


def test_a_smaller_image_is_about_what_pillow_makes_of_it(images):
    name, samples = images
    ds = leat.Dataset(name, decode={"jpg": leat.Image((24, 32), crop="none")})
    for row in range(3):
        original = Image.open(io.BytesIO(samples[row][1]["jpg"])).convert("RGB")
        expected = numpy.asarray(original.resize((32, 24), Image.Resampling.BILINEAR), dtype=int)
        pixels = numpy.asarray(ds[row]["jpg"]).astype(int)
        assert pixels.shape == (24, 32, 3)
        assert numpy.abs(pixels - expected)[2:-2, 2:-2].mean() < 12


def test_channels_first_is_a_view(images):
    name, _ = images
    decode = {"jpg": leat.Image((48, 64), crop="none", layout="nchw")}
    batch = next(iter(leat.DataLoader(name, 4, decode=decode, to="torch")))
    assert batch["jpg"].shape == (4, 3, 48, 64)
    assert batch["jpg"].is_contiguous(memory_format=torch.channels_last)


def test_channels_first_holds_for_single_samples_and_functions(images):
    name, _ = images
    decode = {"jpg": leat.Image((48, 64), crop="none", layout="nchw")}
    assert leat.Dataset(name, decode=decode)[0]["jpg"].shape == (3, 48, 64)
    stream = leat.StreamingDataset(name, decode=decode)
    assert next(iter(stream))["jpg"].shape == (3, 48, 64)
    loader = leat.DataLoader(
        name, 4, decode=decode, transform=lambda sample: sample["jpg"], to="numpy"
    )
    assert next(iter(loader)).shape == (4, 3, 48, 64)


def test_channels_first_is_refused_where_nothing_can_turn_them(images):
    name, _ = images
    decode = {"jpg": leat.Image((48, 64), crop="none", layout="nchw")}
    with pytest.raises(leat.BadRequest, match="memoryview"):
        leat.DataLoader(name, 4, decode=decode, to="memory")


def test_memory_has_the_same_pixels(images):
    name, _ = images
    decode = {"jpg": leat.Image((48, 64), crop="none")}
    batch = next(iter(leat.DataLoader(name, 4, shuffle=False, decode=decode, to="memory")))
    expected = leat.Dataset(name, decode=decode)[2]["jpg"]
    assert numpy.asarray(batch["jpg"])[2].tobytes() == numpy.asarray(expected).tobytes()
    loader = leat.DataLoader(
        name, 4, shuffle=False, decode=decode, transform=lambda s: s["jpg"], to="memory"
    )
    pixels = next(iter(loader))[2]
    assert pixels.shape == (48, 64, 3)
    assert pixels.tobytes() == numpy.asarray(expected).tobytes()


def test_an_image_folder_at_another_version_has_its_classes(store):
    def folder(name, number):
        return (f"{name}/{number}", {"jpg": f"{name}{number}".encode()})

    name = store.make_dataset([folder("b", 1), folder("c", 2)])
    store.commit(name, [folder("a", 3)], prefix=f"{name[5:]}/second")
    now = leat.ImageFolder(name, loader=bytes.decode)
    before = now.at_version(1)
    assert now.classes == ["a", "b", "c"]
    assert before.classes == ["b", "c"]
    assert before[0] == ("b1", 0)
    assert now[0] == ("b1", 1)


def test_random_crops_are_the_same_for_a_resumed_job(images):
    name, _ = images
    decode = {"jpg": leat.Image(16, crop="random_resized", flip=True)}

    def pixels(loader):
        return [image.tobytes() for batch in loader for image in batch["jpg"]]

    whole = pixels(leat.DataLoader(name, 10, seed=1, decode=decode, to="numpy"))
    again = pixels(leat.DataLoader(name, 15, seed=1, decode=decode, to="numpy"))
    assert whole == again
    loader = leat.DataLoader(name, 10, seed=1, decode=decode, to="numpy")
    batches = iter(loader)
    got = pixels(next(batches) for _ in range(2))
    resumed = leat.DataLoader(name, 7, seed=1, decode=decode, to="numpy")
    resumed.load_state_dict(loader.state_dict())
    assert got + pixels(resumed) == whole
    other = pixels(leat.DataLoader(name, 10, seed=1, epoch=1, decode=decode, to="numpy"))
    assert other != whole


def test_an_image_folder_is_fed_without_python(images):
    name, _ = images
    folder = leat.ImageFolder(name, image=leat.Image(16))
    loader = leat.DataLoader(folder, 20, seed=2, to="numpy")
    targets = [int(target) for _, numbers in loader for target in numbers]
    assert sorted(targets) == sorted(folder.targets)
    image, target = folder[5]
    assert image.shape == (16, 16, 3)
    assert folder.classes[target] == "class-1"


def test_an_image_folder_gives_pil_images_by_default(images):
    folder = leat.ImageFolder(images[0], transform=lambda image: image.size)
    assert folder[0] == ((64, 48), 0)
    assert folder.__getitems__([1, 2]) == [((64, 48), 1), ((64, 48), 2)]


def test_what_is_no_image_is_an_error_that_names_the_sample(store):
    good = encoded(picture(1), "JPEG")
    samples = [("good/1", {"jpg": good}), ("bad/2", {"jpg": b"no image"}), ("cut/3", {"jpg": b""})]
    name = store.make_dataset(samples)
    decode = {"jpg": leat.Image(8)}
    with pytest.raises(leat.DecodeError, match="bad/2") as caught:
        list(leat.DataLoader(name, 3, shuffle=False, decode=decode))
    assert caught.value.place["sample"] == "bad/2"
    loader = leat.DataLoader(name, 3, shuffle=False, decode=decode, on_error="skip", keys=True)
    assert [key for batch in loader for key in batch["__key__"]] == ["good/1"]
    assert loader.report().data["errors"] == 2


@pytest.mark.parametrize("to", ["numpy", "torch"])
def test_an_image_folder_hands_out_an_empty_batch_of_the_same_kind(store, to):
    good = encoded(picture(1), "JPEG")
    name = store.make_dataset([("good/1", {"jpg": good}), ("bad/2", {"jpg": b"no image"})])
    folder = leat.ImageFolder(f"{name}@1", image=leat.Image(8))
    options = {"shuffle": False, "on_error": "skip", "to": to}
    batches = []
    for rank in range(2):
        batches += leat.DataLoader(folder, 1, rank=rank, world=2, **options)
    (images, targets), (no_images, no_targets) = batches
    assert [tuple(images.shape), tuple(no_images.shape)] == [(1, 8, 8, 3), (0, 8, 8, 3)]
    assert (no_images.dtype, no_targets.dtype) == (images.dtype, targets.dtype)
    assert (targets.tolist(), no_targets.tolist()) == ([1], [])


def test_reads_by_index_draw_another_crop_each_time(images):
    name, _ = images
    image = leat.Image(24, crop="random_resized", scale=(0.1, 0.3), flip=True)
    ds = leat.Dataset(name, decode={"jpg": image})

    def crops(seed):
        random.seed(seed)
        return [
            [numpy.asarray(one["jpg"]).tobytes() for one in ds.get_many(range(8))] for _ in range(3)
        ]

    first = crops(5)
    assert first[0] != first[1] != first[2], "an epoch is not like the one before"
    assert crops(5) == first, "but for the same seed of Python's generator"
