"""Tensors with equal bytes but different meanings of the bytes: shapes, dtypes, structure."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDTensor, SparseTensor
from lodcore.testing.samples import bits

pytestmark = pytest.mark.not_on_reference
BYTES = bytes(range(96))
#: (dtype, shape of a row): all of them 96 bytes in two rows.
ROWS = [
    *[("u1", shape) for shape in [(48,), (6, 8), (8, 6)]],
    *[("f4", shape) for shape in [(12,), (2, 6), (6, 2), (12, 1), (1, 12)]],
    *[("f8", shape) for shape in [(6,), (2, 3), (3, 2)]],
    *[(dtype, (48 // np.dtype(dtype).itemsize,)) for dtype in ["i1", "i2", "u2", "i4", "i8", "c8", "c16", "S6", "S8"]],
    *[(dtype, (6,)) for dtype in ["M8[s]", "M8[ms]", "m8[s]"]],
]
TENSORS = [LoDTensor.from_lengths(np.frombuffer(BYTES, dtype).reshape(2, *shape), [1, 1]) for dtype, shape in ROWS]


@pytest.mark.parametrize("one", range(len(ROWS)), ids=lambda one: f"{ROWS[one][0]}{ROWS[one][1]}")
def test_other_dtypes_and_shapes_are_not_equal(one):
    x = TENSORS[one]
    for other, y in enumerate(TENSORS):
        assert x.equals(y) == (one == other)
        assert (bits(x) == bits(y)) == (one == other)
    assert x.equals(LoDTensor(x.values.copy(), x.lod))


def test_other_structures_of_the_same_rows_are_not_equal():
    rows = np.arange(4.0)
    lods = [
        LoD.from_lengths(*lengths)
        for lengths in ([[4]], [[2, 2]], [[1, 3]], [[4, 0]], [[0, 4]], [[2], [2, 2]], [[1, 1], [2, 2]], [[1], [4]])
    ]
    for (j, one), (k, other) in itertools.product(enumerate(lods), repeat=2):
        assert LoDTensor(rows, one).equals(LoDTensor(rows, other)) == (j == k)
        assert (one == other) == (j == k)
        assert np.array_equal(LoDTensor(rows, one), LoDTensor(rows, other)) == (j == k)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8"])
def test_equal_numbers_of_other_bytes_are_equal(dtype):
    one, other = np.array([0.0, np.nan, 1.0], dtype), np.array([-0.0, -np.nan, 1.0], dtype)
    x, y = (LoDTensor.from_lengths(values, [2, 1]) for values in (one, other))
    assert one.tobytes() != other.tobytes()
    assert x.equals(y)
    assert y.equals(x)
    assert not x.equals(LoDTensor.from_lengths(np.array([0.0, np.nan, 2.0], dtype), [2, 1]))
    assert not x.equals(LoDTensor.from_lengths(np.array([0.0, 5.0, 1.0], dtype), [2, 1]))


def test_equals_of_other_objects_is_false():
    x = lodcore.array([[1.0, 2.0], [3.0]])
    for other in (None, 1.0, "x", x.values, x.lod, SparseTensor([0], [1.0], 2), object()):
        assert not x.equals(other)
