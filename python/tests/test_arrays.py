"""Arrays and numbers that the library decodes, beside NumPy."""

import io

import numpy
import pytest

import leat

SHAPE = (2, 3)
DTYPES = ["float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16",
          "uint32", "uint64", "bool"]  # fmt: skip


def array_of(row, dtype):
    return numpy.arange(row, row + 6).reshape(SHAPE).astype(dtype)


def npy(array):
    file = io.BytesIO()
    numpy.save(file, array)
    return file.getvalue()


@pytest.fixture(scope="module")
def arrays(store):
    samples = []
    for row in range(10):
        fields = {"f32": f"{row}.25".encode(), "txt": f"ü{row}".encode()}
        for dtype in DTYPES:
            array = array_of(row, dtype)
            fields |= {f"{dtype}.npy": npy(array), f"{dtype}.raw": array.tobytes()}
        samples.append((f"{row:03}", fields))
    return store.make_dataset(samples)


@pytest.mark.parametrize("format", ["npy", "raw"])
@pytest.mark.parametrize("to", ["numpy", "torch", "memory", "jax"])
def test_arrays_are_what_numpy_reads(arrays, format, to):
    lacking = {"jax": {"float64", "int64", "uint64"}, "memory": {"float16"}}.get(to, set())
    decode = {f"{dtype}.{format}": leat.Array(dtype, SHAPE, format)
              for dtype in DTYPES if dtype not in lacking}  # fmt: skip
    batch = next(iter(leat.DataLoader(arrays, 10, shuffle=False, decode=decode,
                                      fields=list(decode), to=to)))  # fmt: skip
    for field, array in decode.items():
        expected = numpy.stack([array_of(row, array.dtype) for row in range(10)])
        assert batch[field].tolist() == expected.tolist(), field


def test_numbers_and_texts(arrays):
    decode = {"f32": "float32", "txt": "text"}
    sample = leat.Dataset(arrays, fields=["f32", "txt"], decode=decode)[7]
    assert (float(sample["f32"]), bytes(sample["txt"]).decode()) == (7.25, "ü7")


def test_another_shape_or_dtype_is_an_error(arrays):
    for wrong in (leat.Array("float32", (3, 2)), leat.Array("int32", SHAPE)):
        with pytest.raises(leat.DecodeError, match=r"float32\.npy"):
            leat.Dataset(arrays, fields=["float32.npy"], decode={"float32.npy": wrong})[0]
    with pytest.raises(leat.BadRequest, match="npy or raw"):
        leat.Array("float32", SHAPE, "csv").native()
