"""Reductions that ignore nan, and values in the place of nan, compared with NumPy."""

import itertools
import warnings

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDTensor, ops
from tests.helpers.agree import values_of
from tests.helpers.tables import for_each

AXES = (0, 1, 2, (0, 1), (1, 2), None)


@pytest.mark.not_on_reference
@for_each(
    ("name", "dtype", "axis"),
    [
        *itertools.product(("sum", "prod", "mean", "var", "std"), ("f4", "f8"), AXES),
        *itertools.product(("sum", "mean"), ("c8", "c16"), AXES),
        *itertools.product(("prod",), ("c8", "c16"), (2,)),  # along axes of levels, real numbers are needed
    ],
)
def test_nan_reductions_of_any_dtype_axis_and_mask_equal_numpy(name, dtype, axis):
    dense = np.random.default_rng(4).normal(size=(2, 3, 2)).astype(dtype)
    if dtype[0] == "c":
        dense.imag = dense[::-1].real
        dense[0, 1, 0] = complex(1, np.nan)
    dense[1, 0, 1] = np.nan
    x = LoDTensor.from_lengths(dense.reshape(6, 2), [3, 3])
    for where in (True, np.arange(12).reshape(2, 3, 2) % 5 > 0):
        chosen = where if where is True else x.with_values(where.reshape(6, 2))
        found, wanted = (
            getattr(ops, f"nan{name}")(x, axis, where=chosen),
            getattr(np, f"nan{name}")(dense, axis, where=where),
        )
        found = found.to_regular() if isinstance(found, LoDTensor) else found
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.not_on_reference
@for_each(("dtype", "numbers"), [("i4", [1, -2]), ("?", [True, False]), ("u1", [3, 200]), ("f4", [1, 2]), (">i2", [5])])
def test_fill_nan_of_dtypes_without_nan_is_a_copy(dtype, numbers):
    values = np.array(numbers, dtype)
    for x in (values, LoDTensor.from_lengths(values, [len(values)]), values.reshape(-1, 1)):
        found = ops.fill_nan(x, 7)
        assert values_of(found).ravel().tolist() == numbers
        assert not np.shares_memory(values_of(found), values)


@pytest.mark.not_on_reference
@for_each("ddof", [0.5, np.float32(1.5), np.int8(1), 2])
def test_var_and_std_take_fractional_ddof(ddof):
    numbers = [[1.0, 2.0, 4.0, 9.0], [3.0, 5.0, 7.0]]
    wanted = [sum((np.array(one) - np.mean(one)) ** 2) / (len(one) - float(ddof)) for one in numbers]
    x, holes = lodcore.array(numbers), lodcore.array([[np.nan, *one, np.nan] for one in numbers])
    for axis in (1, -1, (1,)):
        for given, var, std in ((x, ops.var, ops.std), (x, ops.nanvar, ops.nanstd), (holes, ops.nanvar, ops.nanstd)):
            np.testing.assert_allclose(values_of(var(given, axis, ddof=ddof)), wanted, rtol=1e-12)
            np.testing.assert_allclose(values_of(std(given, axis, ddof=ddof)), np.sqrt(wanted), rtol=1e-12)


LOD = LoD.from_lengths([2, 0, 2], [3, 2, 6, 1])


@for_each(
    ("dtype", "shape", "ddof", "axis"),
    [(d, s, n, a) for d in ("f8", "f4") for s in [(3,), (2, 2), (0,)] for n in (0, 1, 1.5) for a in (2, (1, 2))],
)
def test_nanvar_and_nanstd_leave_out_nan_column_by_column(dtype, shape, ddof, axis):
    random = np.random.default_rng(0)
    values = np.where(random.random((12, *shape)) < 0.4, np.nan, random.normal(5, 1, (12, *shape))).astype(dtype)
    x = LoDTensor(values, LOD)
    parts = np.split(values, [3, 5, 11] if axis == 2 else [5, 5])
    for function in (np.nanvar, np.nanstd):
        found = function(x, axis=axis, ddof=ddof)
        assert found.dtype == values.dtype
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = np.stack([function(part, axis=0, ddof=ddof) for part in parts])
        np.testing.assert_allclose(getattr(found, "values", found), wanted, rtol=1e-4 if dtype == "f4" else 1e-11)


def test_nanvar_and_nanstd_have_gradients_and_are_recorded():
    random = np.random.default_rng(1)
    values = np.where(random.random((12, 2)) < 0.3, np.nan, random.normal(5, 1, (12, 2)))
    x = LoDTensor(values, LOD)
    found, back = lodcore.vjp(lambda x: np.nanvar(x, axis=2), x)
    (d,) = back(found.with_values(np.ones((4, 2))))
    for start, stop in ((0, 3), (3, 5), (5, 11)):
        part = values[start:stop]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = 2 * (part - np.nanmean(part, axis=0)) / np.maximum((part == part).sum(0), 1)
        np.testing.assert_allclose(d.values[start:stop], np.nan_to_num(wanted), atol=1e-12)
    constant = LoDTensor(np.array([[1.0, 1], [1, np.nan]]), LoD.from_lengths([2]))
    found, back = lodcore.vjp(lambda x: np.nanstd(x, axis=1), constant)
    assert back(np.ones((1, 2)))[0].values.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("value", [0.0, -2.5, np.inf])
def test_fill_nan_keeps_infinities_and_negative_zeros(dtype, value):
    rows = np.array([np.inf, np.nan, 1.0, -np.inf, -np.nan, np.finfo(dtype).max, -0.0], dtype)
    for values in (rows, np.stack([rows, rows[::-1]], 1)):
        x = lodcore.LoDTensor.from_lengths(values, [2, 0, 5])
        found = lodcore.ops.fill_nan(x, value)
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(found.values, np.where(np.isnan(values), np.array(value, dtype), values))
        np.testing.assert_array_equal(np.signbit(found.values[-1]), np.signbit(values[-1]))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("name", ["nansum", "nanmean", "nanmax", "nanmin", "nanprod"])
def test_nan_reductions_keep_infinities(name, dtype):
    x = lodcore.LoDTensor.from_lengths(np.array([np.inf, np.nan, 1.0, -np.inf, np.nan, 2.0, np.nan], dtype), [3, 2, 2])
    found = getattr(np, name)(x, axis=1)
    wanted = [getattr(np, name)(part) for part in x.to_arrays()]
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("unit", ["M8[D]", "m8[D]", ">M8[D]"])
@pytest.mark.parametrize("name", ["nanmax", "nanmin"])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.filterwarnings("ignore:All-NaN:RuntimeWarning")  # of NumPy
def test_extremes_of_times_ignore_nat(name, axis, unit):
    nat, edges = np.iinfo(np.int64).min, (np.iinfo(np.int64).min + 1, np.iinfo(np.int64).max)
    numbers = np.array([3, nat, -1, nat, nat, nat, 5, *edges, nat])
    values = numbers.view(f"<{unit[-5:]}").astype(unit)
    x = lodcore.LoDTensor.from_lengths(values, [3, 2, 0 if axis == 0 else 2, 3 if axis == 0 else 1, 2])
    if axis in (None, (0, 1)):
        wanted = getattr(np, name)(values)
    elif axis == 1:
        wanted = [getattr(np, name)(part) for part in x.to_arrays()]
    else:
        columns = [[part[j] for part in x.to_arrays() if j < len(part)] for j in range(3)]
        wanted = [getattr(np, name)(np.array(column, values.dtype)) for column in columns]
    found = getattr(np, name)(x, axis=axis)
    assert found.dtype == values.dtype.newbyteorder("=")
    np.testing.assert_array_equal(found, np.array(wanted, found.dtype))


def test_advice_about_empty_sequences_names_what_takes_empty():
    x = lodcore.array([[1.0], []])
    for function, name in ((ops.max, "max"), (ops.nanmax, "nanmax"), (np.max, "max"), (np.nanmax, "nanmax")):
        with pytest.raises(ValueError, match=rf"^{name}: sequence 1 .* give empty= to x\.max, or an initial value$"):
            function(x, axis=1)
    with pytest.raises(ValueError, match=r"^nanmin: x: has no values .* give empty= to x\.min, or an initial value$"):
        ops.nanmin(x[1:])


@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
@pytest.mark.parametrize("axis", [0, 1])
def test_places_of_extremes_in_a_program_refuse_sequences_of_nan(name, axis):
    function, nan = getattr(lodcore.ops, name), float("nan")
    with lodcore.Program() as program:
        found = function(lodcore.data("x", (None,), np.float64, num_levels=1), axis=axis)

    def run(x):
        return lodcore.Executor().run(program, {"x": lodcore.array(x)}, [found])[0].tolist()

    good = [[2.0, nan, 1.0], [nan, 3.0, nan]]
    assert run(good) == function(lodcore.array(good), axis=axis).tolist()
    for bad in ([[1.0, nan], [nan, nan]], [[1.0, nan], [nan]]):
        with pytest.raises(ValueError, match=f"{name}: sequence 1 of level 0"):
            run(bad)
