"""Extremes of empty sequences are refused at any position; axes of levels are kept by every reshape."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor
from tests.helpers.tables import for_each

LENGTHS = sorted({*itertools.permutations([0, 2, 1]), (0,), (0, 0), (3, 0), (0, 3)})


@for_each("lengths", LENGTHS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u1", "?", "M8[s]"])
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_extremes_of_nothing(name, dtype, lengths):
    count = sum(lengths)
    for shape in [(count,), (count, 3)]:
        values = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
        x = LoDTensor.from_lengths(values, lengths)
        deep = LoDTensor.from_lengths(values, [1, len(lengths) - 1], lengths)
        for call in (getattr(x, name), lambda axis, x=x: getattr(np, name)(x, axis=axis)):
            with pytest.raises(ValueError, match=f"{name}: sequence {lengths.index(0)} of level 0 is empty"):
                call(axis=1)
        with pytest.raises(ValueError, match=f"{name}: sequence {lengths.index(0)} of level 1 is empty"):
            getattr(deep, name)(axis=2)


@pytest.mark.parametrize("lengths", [(2, 1), (2, 2), (1, 1), (3,)])
def test_axes_of_levels_have_no_size_of_their_own(lengths):
    x = LoDTensor.from_lengths(np.arange(4.0 * sum(lengths)).reshape(-1, 4), lengths)
    for size in {len(lengths), *lengths, sum(lengths), 0, -2}:
        with pytest.raises(lodcore.ShapeError, match="the axes of levels"):
            np.reshape(x, (len(lengths), size, 2, 2))
        with pytest.raises(lodcore.ShapeError, match="the axes of levels"):
            x.reshape(-1, size, 4)
    assert np.reshape(x, (len(lengths), -1, 2, 2)).values.shape[1:] == (2, 2)
    assert np.reshape(x, (-1, None, 2, 2)).values.shape[1:] == (2, 2)
