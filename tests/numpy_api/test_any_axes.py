"""Reductions over any axes of levels and rows together, compared with NumPy's on sequences of equal lengths."""

import itertools
import re
import warnings

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDError, LoDTensor, ShapeError

SHAPES = [((2, 3), 1), ((2, 3, 4), 1), ((2, 3, 4), 2), ((2, 3, 4, 2), 2), ((2, 3, 2, 4), 3), ((2, 3, 2, 2), 1)]
NAMES = [
    "sum",
    "mean",
    "var",
    "std",
    "max",
    "prod",
    "any",
    "nansum",
    "nanvar",
    "nanstd",
    "nanmedian",
    "nanmax",
    "median",
]


def regular(shape, levels, seed=0):
    """Make an array, and the same with levels."""
    dense = np.random.default_rng(seed).normal(size=shape)
    lengths = [np.full(int(np.prod(shape[: k + 1])), shape[k + 1]) for k in range(levels)]
    return dense, LoDTensor.from_lengths(dense.reshape(-1, *shape[levels + 1 :]), *lengths)


def as_dense(found):
    """Return the result of a reduction as an array."""
    if not isinstance(found, LoDTensor):
        return np.asarray(found)
    return found.to_regular() if found.num_levels else found.values


def sets_of_axes(ndim):
    """List an axis, or several."""
    return [
        axes if len(axes) > 1 else axes[0]
        for n in range(1, ndim + 1)
        for axes in itertools.combinations(range(ndim), n)
    ]


def levels_kept(levels, axis):
    """Count the levels that keepdims leaves: a reduced axis is a regular one of 1 if no ragged axis follows."""
    while levels and levels in (axis if isinstance(axis, tuple) else (axis,)):
        levels -= 1
    return levels


@pytest.mark.parametrize(("shape", "levels"), SHAPES)
@pytest.mark.parametrize("name", NAMES)
def test_reductions_over_any_axes_of_equal_lengths_equal_numpy(name, shape, levels):
    function = getattr(np, name)
    dense, x = regular(shape, levels)
    if name.startswith("nan"):
        dense.flat[::3] = np.nan
        x = x.with_values(dense.reshape(x.values.shape))
    row_axes = set(range(levels + 1, len(shape)))
    for axis, keepdims in itertools.product(sets_of_axes(len(shape)), (False, True)):
        of_rows = row_axes & set(axis if isinstance(axis, tuple) else (axis,))
        if "median" in name and of_rows not in (set(), row_axes):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of NumPy, for slices of nan only
            wanted = function(dense, axis=axis, keepdims=keepdims)
        found = function(x, axis=axis, keepdims=keepdims)
        if keepdims:
            assert getattr(found, "num_levels", 0) == levels_kept(levels, axis), axis
        found = as_dense(found)
        assert found.shape == wanted.shape, axis
        np.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=f"axis {axis}")


@pytest.mark.parametrize(("shape", "levels"), SHAPES)
def test_var_and_std_with_where_over_any_axes_equal_numpy(shape, levels):
    dense, x = regular(shape, levels)
    for axis in sets_of_axes(len(shape)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            wanted = np.var(dense, axis=axis, where=dense > -0.5)
        np.testing.assert_allclose(as_dense(lodcore.ops.var(x, axis, where=x > -0.5)), wanted, rtol=1e-12)


@pytest.mark.parametrize(("shape", "levels"), SHAPES)
@pytest.mark.parametrize("function", [np.nanargmax, np.nanargmin])
def test_nanargmax_and_nanargmin_over_any_axis_equal_numpy(function, shape, levels):
    dense, x = regular(shape, levels)
    dense.flat[1::5] = np.nan
    x = x.with_values(dense.reshape(x.values.shape))
    assert function(x) == function(dense)
    for axis, keepdims in itertools.product(range(len(shape)), (False, True)):
        found = as_dense(function(x, axis=axis, keepdims=keepdims))
        np.testing.assert_array_equal(found, function(dense, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize(("shape", "levels"), SHAPES)
def test_statistics_along_any_axes(shape, levels):
    dense, x = regular(shape, levels)
    other, weights = np.sin(3 * dense), np.abs(dense) + 0.1
    y, w = (x.with_values(one.reshape(x.values.shape)) for one in (other, weights))
    for axis in sets_of_axes(len(shape)):
        mass = weights.sum(axis)

        def centred(one, axis=axis):
            return one - (one * weights).sum(axis, keepdims=True) / weights.sum(axis, keepdims=True)

        wanted = (centred(dense) * centred(other) * weights).sum(axis) / mass
        squares = [(centred(one) ** 2 * weights).sum(axis) / mass for one in (dense, other)]
        np.testing.assert_allclose(as_dense(lodcore.cov(x, y, axis, w)), wanted, rtol=1e-9, atol=1e-12)
        corr = as_dense(lodcore.corr(x, y, axis, w))
        np.testing.assert_allclose(corr, wanted / np.sqrt(squares[0] * squares[1]), rtol=1e-9, atol=1e-12)
        derivative = as_dense(lodcore.linear_fit(x, y, axis, w)[1])
        np.testing.assert_allclose(derivative, wanted / squares[0], rtol=1e-9, atol=1e-12)


def test_reductions_over_outer_axes_of_ragged_sequences():
    x = lodcore.array([[[1.0, 2.0], [3.0]], [], [[4.0], [5.0, 6.0, 7.0]]])
    assert x.sum(axis=(0, 2)).tolist() == [7, 21]
    np.testing.assert_allclose(x.var(axis=(0, 1)), [np.var([1, 3, 4, 5]), np.var([2, 6]), 0])
    np.testing.assert_allclose(x.std(axis=(0, 2)), [np.std([1, 2, 4]), np.std([3, 5, 6, 7])])
    np.testing.assert_allclose(np.median(x, axis=(0, 2)), [2, 5.5])
    np.testing.assert_allclose(lodcore.cov(x, x, axis=0).values, [2.25, 0, 1, 0, 0])


def test_derivatives_along_coarser_axes():
    x = lodcore.array([[[1.0, 2.0], [3.0]], [[4.0], [5.0, 6.0, 7.5]]])
    for axis in (0, (0, 1), (0, 2), (1, 2)):
        lodcore.grad_check(lambda x, axis=axis: lodcore.ops.sum(lodcore.ops.var(x, axis)), x)
        lodcore.grad_check(lambda x, axis=axis: lodcore.ops.sum(lodcore.cov(x, x * x, axis)), x)


def test_concatenate_of_dense_rows_and_numbers_beside_sequences():
    x = LoDTensor.from_lengths(np.arange(6, dtype="f4").reshape(3, 2), [2, 0, 1])
    each = np.array([[[7.0]], [[8.0]], [[9.0]]], "f4")
    joined = np.concatenate([each, x, 1], axis=-1)
    assert joined.lod is x.lod
    assert joined.dtype == x.dtype
    assert joined.values.tolist() == [[7, 0, 1, 1], [7, 2, 3, 1], [9, 4, 5, 1]]
    deep = LoDTensor.from_lengths(np.arange(6.0).reshape(3, 2), [1, 1], [2, 1])
    assert np.concatenate([np.zeros((2, 1, 1, 1)), deep], axis=3).values.tolist() == [[0, 0, 1], [0, 2, 3], [0, 4, 5]]
    with pytest.raises(lodcore.ShapeError, match=r"arrays\[1\]: has shape \(3, 2, 1\); along the axes of levels"):
        np.concatenate([x, np.zeros((3, 2, 1))], axis=-1)
    with pytest.raises(lodcore.LoDError, match=r"2 rows.*3 sequences"):
        np.concatenate([x, np.zeros((2, 1, 1))], axis=-1)
    lodcore.grad_check(lambda d: lodcore.ops.sum(np.concatenate([d, x], axis=-1) ** 2), each.astype("f8"))


DENSE = ["sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "argmax", "argmin", "average"]
OF_NANS = ["nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanargmax", "nanargmin"]


@pytest.mark.parametrize("name", DENSE + OF_NANS)
def test_functions_of_dense_arrays(name):
    """`lodcore.ops` of an array without levels, and of nested lists, with every axis and option that NumPy has."""
    dense = np.random.default_rng(0).permutation(24).reshape(2, 3, 4) - 5.0
    positive = dense > 0
    if name in OF_NANS:
        dense[dense % 5 == 0] = np.nan
    least = {"initial": -3.0} if name.removeprefix("nan") in ("max", "min") else {}
    options = [{}, {"where": positive, **least}, {"initial": 2.0}, {"ddof": 1}, {"dtype": np.float32}]
    function, tried = getattr(lodcore.ops, name), 0
    for axis, kept, more in itertools.product([None, -1, *sets_of_axes(3)], [False, True], options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # averages of nothing
            try:
                wanted = getattr(np, name)(dense, axis=axis, keepdims=kept, **more)
            except TypeError:  # an option, or several axes, that NumPy does not have here
                continue
            for found in [function(x, axis=axis, keepdims=kept, **more) for x in (dense, dense.tolist())]:
                np.testing.assert_allclose(found, wanted, rtol=1e-6, strict=True)
            if name not in ("any", "all", "argmax", "argmin", "nanargmax", "nanargmin"):
                recorded, _ = lodcore.vjp(lambda x, k=kept, a=axis, m=more: function(x, axis=a, keepdims=k, **m), dense)
                np.testing.assert_allclose(recorded, wanted, rtol=1e-6, strict=True)
        tried += 1
    assert tried >= 8


DEEP = LoDTensor.from_lengths(np.arange(4.0), [2, 0], [2, 2])


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (
            lambda: np.swapaxes(DEEP, 1, 2),
            LoDError,
            "swapaxes: axes: sequence 1 of level 0 has no element; axes 1 and 2",
        ),
        (
            lambda: np.swapaxes(DEEP, 0, 1),
            LoDError,
            "swapaxes: axes: sequence 1 of level 0 has length 0; axes 0 and 1",
        ),
        (
            lambda: np.moveaxis(DEEP, [1, 2], [0, 0]),
            ShapeError,
            r"moveaxis: source, destination: are \[1, 2\], \[0, 0\]",
        ),
        (lambda: np.moveaxis(DEEP, [1, 1], [0, 2]), ShapeError, "as many different axes are needed"),
        (lambda: np.moveaxis(DEEP, [0, 1], [0]), ShapeError, "as many different axes are needed"),
        (lambda: np.transpose(DEEP, [0, 1, 1]), ShapeError, "each of 3 axes is needed once"),
        (
            lambda: np.unique(LoDTensor(np.arange(3), LoD.from_offsets(num_rows=3)), axis=0),
            TypeError,
            "axis: is 0; that of",
        ),
        (lambda: np.unique(DEEP, axis=1), TypeError, "axis: is 1; that of the last level, 2, or None"),
        (lambda: np.dot(DEEP, np.ones((2, 2, 2))), TypeError, "numpy.dot: only a matrix on the right"),
        (
            lambda: np.add(1.0, LoDTensor.from_lengths(np.ones((4, 2)), [2, 0], [2, 2]), out=DEEP.copy()),
            ShapeError,
            r"numpy.add: out: has rows of shape \(\); the result has wider ones",
        ),
    ],
)
def test_functions_refuse_axes_that_do_not_fit_by_name(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_index_by_an_empty_list_selects_nothing():
    x = DEEP.copy()
    assert x[[]].tolist() == []
    x[[]] = -1.0
    assert x.equals(DEEP)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "nansum"])
def test_axis_given_twice_is_refused(name):
    """Counted from the first or from the last, also if it is kept."""
    for axis in ((1, -2), (0, -3), (2, -1), (-1, -1), (0, 1, -2)):
        for x, keepdims in itertools.product((DEEP, np.ones((2, 2, 2))), (False, True)):
            with pytest.raises(ShapeError, match=rf"axis: is {re.escape(str(axis))}; different axes are needed"):
                getattr(lodcore.ops, name)(x, axis=axis, keepdims=keepdims)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "?", "f2", "f4", "i8"])
def test_means_of_narrow_numbers_do_not_overflow(dtype):
    """With a mask, too; the dtype of the result is NumPy's."""
    dense = np.full((2, 70, 3), np.iinfo(dtype).max if dtype[0] in "iu" else 1000, dtype)
    dense[:, ::7] = 0
    x = LoDTensor.from_lengths(dense.reshape(-1, 3), [70, 70])
    chosen = np.arange(420).reshape(dense.shape) % 4 > 0
    for name, axis, where in itertools.product(("mean", "var", "std"), (1, (0, 1), None), (True, chosen)):
        if name != "mean" and dtype in ("i8", "f2"):  # their squares are too large
            continue
        mask = where if where is True else x.with_values(where.reshape(-1, 3))
        with np.errstate(over="ignore"):
            wanted = getattr(np, name)(dense.astype("f8"), axis=axis, where=where).astype(np.mean(dense).dtype)
            found = getattr(lodcore.ops, name)(x, axis, where=mask)
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=2e-3 if dtype == "f2" else 1e-6)


@pytest.mark.parametrize("empty", [0, 0.0, -1.5, np.nan, np.float32(2)])
def test_mean_with_where_and_empty(empty):
    x = lodcore.array([[1.0, 3.0], [], [5.0, 6.0]])
    some = lodcore.array([[True, True], [], [False, False]], "?")
    np.testing.assert_array_equal(lodcore.ops.mean(x, 1, where=some, empty=empty), [2, empty, empty])
    np.testing.assert_array_equal(lodcore.ops.mean(x, 1, empty=empty), [2, empty, 5.5])
    kept = lodcore.ops.mean(x, 1, keepdims=True, where=some, empty=empty)
    np.testing.assert_array_equal(kept, [[2], [empty], [empty]])
    assert lodcore.ops.max(x, 1, empty=empty).tolist()[::2] == [3, 6]
    np.testing.assert_array_equal(lodcore.ops.min(x, 1, empty=empty), [1, empty, 5])


def test_concatenate_of_numbers_and_arrays_beside_deep_rows():
    """Numbers and arrays with rows of several axes; a wrong length is named on any level."""
    deep = LoDTensor.from_lengths(np.arange(12.0).reshape(3, 2, 2), [1, 1], [2, 1])
    joined = np.concatenate([deep, 7, deep], axis=2)
    assert joined.tolist()[1] == [[[[8, 9], [10, 11]], [[7, 7], [7, 7]], [[8, 9], [10, 11]]]]
    narrow = LoDTensor(np.arange(3, dtype="i1").reshape(3, 1), deep.lod)
    wide = narrow.astype("i8")
    assert np.concatenate([300, wide, narrow], axis=-1).values[0].tolist() == [300, 0, 0]
    for shape in ((2, 1, 2, 1, 2), (2, 2, 1, 1, 2), (2, 1, 3, 2, 2)):
        with pytest.raises(ShapeError, match=r"arrays\[1\]: has shape .*; along the axes of levels, 1 .. 2, length 1"):
            np.concatenate([deep, np.zeros(shape)], axis=-1)
    for axes in (4, 6):
        with pytest.raises(ShapeError, match=rf"join\[1\]: has {axes} axes; the sequences have 5"):
            lodcore.ops.joined_sequences("join", [deep, np.zeros((1,) * axes)], 1)
