"""Reductions over axes: the gradient of equal extremes, and axes along which sequences differ."""

import numpy as np
import pytest

import lodcore
from lodcore import ops, vjp


@pytest.mark.not_on_reference
@pytest.mark.parametrize(("name", "extreme"), [("max", 2.0), ("min", -2.0)])
@pytest.mark.parametrize("axes", [(1,), (0,), None])
def test_the_first_of_equal_extremes_of_rows_has_the_gradient(name, extreme, axes):
    values = np.zeros((3, 4))
    values[1:, 1:] = extreme
    out, pullback = vjp(lambda x: ops.reduce_values(x, name, axes), values)
    (d_x,) = pullback(np.ones_like(out))
    wanted = np.zeros((3, 4))
    wanted[
        {(1,): [0, 1, 2], (0,): [0, 1, 1, 1], None: [1]}[axes], {(1,): [0, 1, 1], (0,): [0, 1, 2, 3], None: [1]}[axes]
    ] = 1
    np.testing.assert_array_equal(d_x, wanted)


def test_the_first_of_equal_extremes_of_sequences_has_the_gradient():
    x = lodcore.array([[1.0, 3.0, 3.0], [], [3.0, 3.0, 1.0]])
    (d_x,) = vjp(lambda x: x.max(axis=0), x)[1](np.ones(3))
    assert d_x.tolist() == [[0.0, 1.0, 1.0], [], [1.0, 0.0, 0.0]]
    (d_x,) = vjp(lambda x: x.max(axis=1, initial=0.0), x)[1](np.ones(3))
    assert d_x.tolist() == [[0.0, 1.0, 0.0], [], [1.0, 0.0, 0.0]]


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_the_derivative_of_a_deviation_is_0_where_all_values_are_equal(axis):
    x = lodcore.array([[[1.0, 3.0], [2.0]], [[5.0, 5.0]]])
    out, pullback = vjp(lambda x: x.std(axis=axis), x)
    assert out.equals(x.std(axis=axis))
    (d_x,) = pullback(np.ones_like(out.values))
    assert np.isfinite(d_x.values).all()
    if axis == 2:
        assert d_x.tolist() == [[[-0.5, 0.5], [0.0]], [[0.0, 0.0]]]


def test_std_of_an_empty_sequence_under_vjp_is_nan_with_zero_gradient():
    out, pullback = vjp(lambda x: x.std(axis=1), lodcore.array([[1.0], []]))
    np.testing.assert_array_equal(out, [0.0, np.nan])
    assert pullback(np.array([1.0, 0.0]))[0].tolist() == [[0.0], []]


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_argmax_and_argmin_take_one_empty_position_a_sequence(name):
    """One for each sequence, for all columns, in every form; on finer levels, too, and recorded."""
    wide = lodcore.LoDTensor.from_lengths(np.array([[1.0, 5.0], [2.0, 4.0], [3.0, 3.0]]), [0, 3, 0])
    found = [2, 0] if name == "argmax" else [0, 2]
    for empty in ([7, 9, 8], np.array([7, 9, 8], np.uint8), np.array([[7], [9], [8]]), (7, -5, 8)):
        places = getattr(lodcore.ops, name)(wide, axis=1, empty=empty)
        assert (places.tolist(), places.dtype) == ([[7, 7], found, [8, 8]], np.intp)
    assert getattr(wide, name)(axis=-2, empty=[7, 9, 8], keepdims=True).tolist() == [[[7, 7]], [found], [[8, 8]]]
    assert vjp(lambda x: getattr(x, name)(axis=1, empty=[7, 9, 8]), wide)[0].tolist() == [[7, 7], found, [8, 8]]
    assert vjp(lambda x: getattr(x, name)(axis=1, empty=x.lengths), wide)[0].tolist() == [[0, 0], found, [0, 0]]
    deep = lodcore.array([[[1.0]], [], [[], []]])
    for empty in ([4, 5, 6], lodcore.LoDTensor.from_lengths([4, 5, 6], [1, 0, 2])):
        assert getattr(deep, name)(axis=2, empty=empty).tolist() == [[0], [], [5, 6]]
    for empty in ([7, 8], [[1, 2], [3, 4], [5, 6]]):
        with pytest.raises(lodcore.ShapeError, match=f"{name}: empty: has shape .*, or one for each of 3 seq"):
            getattr(wide, name)(axis=1, empty=empty)
    for empty in ([0.5, 1, 2], ["a", "b", "c"]):
        with pytest.raises(lodcore.DTypeError, match=f"{name}: empty: "):
            getattr(wide, name)(axis=1, empty=empty)
    with pytest.raises(lodcore.DTypeError, match=f"{name}: empty: has shape .*; a number is needed"):
        getattr(wide, name)(axis=2, empty=[7, 9, 8])


@pytest.mark.parametrize(("name", "place"), [("argmax", 2), ("argmin", 0)])
def test_the_position_in_an_empty_sequence_is_any_number(name, place):
    """Also a number that is a position elsewhere, and beside position 0."""
    deep = lodcore.array([[[1.0, 2.0, 3.0]], [], [[], [7.0]]])
    for empty in (-1, 0, 5):
        assert getattr(deep, name)(axis=2, empty=empty).tolist() == [[place], [], [empty, 0]]
        assert getattr(deep[2], name)(axis=1, empty=empty).tolist() == [empty, 0]
        flat = lodcore.array([[1.0, 2.0, 3.0], [], [7.0]])
        assert getattr(flat, name)(axis=1, empty=empty, keepdims=True).tolist() == [[place], [empty], [0]]
        recorded, _ = vjp(lambda x, e=empty: getattr(x, name)(axis=1, empty=e), flat)
        assert recorded.tolist() == [place, empty, 0]
