"""Extremes of empty sequences are refused at any position; axes of levels are kept by every reshape."""

import functools
import itertools
import warnings

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor
from tests.helpers.tables import for_each

LENGTHS = sorted({*itertools.permutations([0, 2, 1]), (0,), (0, 0), (3, 0), (0, 3)})


@for_each("lengths", LENGTHS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u1", "?", "M8[s]"])
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_max_and_min_of_an_empty_sequence_are_refused_at_any_position(name, dtype, lengths):
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


def deeper(values, lengths, num_levels):
    """Make a tensor of 1 to 3 levels whose last has these lengths."""
    outer = [[2], [1, len(lengths) - 1]][3 - num_levels :]
    return LoDTensor.from_lengths(values, *outer, lengths)


NOTHING = {  # what a function says of no values
    **dict.fromkeys(["mean", "var", "std", "nanmean", "median", "nanvar"], np.nan),
    **{"sum": 0, "nansum": 0, "count_nonzero": 0, "prod": 1, "nanprod": 1, "any": False, "all": True},
}


METHODS = {"mean", "var", "std", "sum", "prod", "any", "all"}


@pytest.mark.parametrize("row_shape", [(), (3,), (2, 2)], ids=str)
@pytest.mark.parametrize("num_levels", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["f4", "f8", ">f8", "f2", "i8"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_reductions_with_a_value_for_nothing_at_empty_sequences(dtype, num_levels, row_shape):
    """At the last of several levels, by function and by method."""
    for lengths, (name, nothing) in itertools.product([(2, 0, 1), (0, 3), (1, 0, 0), (0, 0)], NOTHING.items()):
        function = getattr(np, name)
        parts = [1 + np.arange(n * np.prod(row_shape, dtype=int)).reshape(n, *row_shape) for n in lengths]
        wanted = [function(part, axis=0) if len(part) else np.full(row_shape, nothing) for part in parts]
        x = deeper(np.concatenate(parts).astype(dtype), lengths, num_levels)
        calls = [functools.partial(function, x)] + [getattr(x, one) for one in METHODS & {name}]
        for call, axis in itertools.product(calls, (num_levels, -1 - len(row_shape))):
            found = call(axis=axis)
            assert isinstance(found, np.ndarray if num_levels == 1 else LoDTensor)
            np.testing.assert_allclose(found.values if num_levels > 1 else found, wanted, rtol=2e-3, err_msg=name)


NAN = np.nan
FLAT = lodcore.array([[1.0, 2.0], [NAN], [NAN, 5.0]])
WIDE = LoDTensor.from_lengths([[1.0, NAN], [2.0, NAN], [3.0, 4.0]], [2, 1])
DEEP = lodcore.array([[[1.0], [NAN]], [[NAN, 4.0]]])
ONLY_NAN = [  # a tensor, an axis along which something has only nan, and the place
    (FLAT, 1, "sequence 1 of level 0 is empty"),
    (FLAT, -1, "sequence 1 of level 0 is empty"),
    (DEEP, 0, "sequence 2 of level 1 is empty"),
    (DEEP, 1, "sequence 1 of level 1 is empty"),
    (DEEP, 2, "sequence 1 of level 1 is empty"),
    (WIDE, 0, r"only nan at position \(1, 1\)"),
    (WIDE, 1, r"only nan at position \(0, 1\)"),
    (WIDE[:1, :, 1:], 2, r"only nan at position \(0,\)"),
    (WIDE.values.T, 1, None),
    (WIDE.values[:, 1:], 1, r"only nan at position \(0,\)"),
]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("at", range(len(ONLY_NAN)))
@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
def test_nanargmax_of_only_nan_raises_with_the_sequence(name, at, keepdims):
    x, axis, place = ONLY_NAN[at]
    if place is None:
        assert getattr(lodcore.ops, name)(x, axis, keepdims=keepdims).shape == ((2, 1) if keepdims else (2,))
        return
    with pytest.raises(ValueError, match=f"^{name}: .*{place}"):
        getattr(lodcore.ops, name)(x, axis, keepdims=keepdims)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 1), (1, 2), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("shape", [(0, 3, 2), (3, 0, 2), (3, 2, 0), (0, 0, 2)])
def test_reductions_of_arrays_without_values_equal_numpy(shape, axis, keepdims):
    """As NumPy, whose mean of nothing warns."""
    for name in ("mean", "sum", "prod", "all", "any", "var", "std"):
        for dtype in (np.float32, np.float64, np.int64):
            x = np.zeros(shape, dtype)
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wanted = getattr(np, name)(x, axis=axis, keepdims=keepdims)
            found = getattr(lodcore.ops, name)(x, axis, keepdims=keepdims)
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("lengths", [(2, 1), (2, 2), (1, 1), (3,)])
def test_reshape_refuses_sizes_for_axes_of_levels(lengths):
    x = LoDTensor.from_lengths(np.arange(4.0 * sum(lengths)).reshape(-1, 4), lengths)
    for size in {len(lengths), *lengths, sum(lengths), 0, -2}:
        with pytest.raises(lodcore.ShapeError, match="the axes of levels"):
            np.reshape(x, (len(lengths), size, 2, 2))
        with pytest.raises(lodcore.ShapeError, match="the axes of levels"):
            x.reshape(-1, size, 4)
    assert np.reshape(x, (len(lengths), -1, 2, 2)).values.shape[1:] == (2, 2)
    assert np.reshape(x, (-1, None, 2, 2)).values.shape[1:] == (2, 2)
