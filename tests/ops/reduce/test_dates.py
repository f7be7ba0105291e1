"""Reductions of dates and durations, compared with exact arithmetic and with NumPy."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoD, LoDTensor
from tests.helpers.recorded import assert_recorded
from tests.helpers.tables import for_each
from tests.helpers.texts_in_every_way import rows_of

#: Whole numbers whose sum, or difference, may exceed int64.
PARTS = [[3, -8, 60], [], [5], [-3, 0], [2**62] * 7, [-(2**63) + 1, 2**63 - 1], [2**63 - 1, 2**63 - 1, 1], [-1, 0, 0]]


def of(parts, dtype="m8[s]"):
    lengths = [len(part) for part in parts]
    return LoDTensor.from_lengths(np.array([n for part in parts for n in part], "i8").astype(dtype), lengths)


def toward_zero(part):
    """Average whole numbers exactly."""
    return int(Fraction(sum(part), len(part)))  # int cuts toward zero


def test_means_of_durations_are_exact():
    x = of(PARTS)
    found = x.mean(axis=1)
    assert found.dtype == np.dtype("m8[s]")
    assert np.isnat(found[1])
    for part, one in zip(PARTS, found.astype("i8").tolist(), strict=True):
        assert not part or one == toward_zero(part)
    assert lodcore.ops.mean(x).astype("i8") == toward_zero(sum(PARTS, []))  # noqa: RUF017
    assert type(lodcore.mean(x.values[:3])) is np.timedelta64
    assert x.mean(axis=1, keepdims=True).shape == (8, 1)
    filled = lodcore.ops.mean(x, axis=1, empty=np.timedelta64(7, "s"))
    assert filled[1] == np.timedelta64(7, "s")
    chosen = np.mean(of([[1, 2, 9], [4]]), axis=1, where=lodcore.array([[True, True, False], [False]]))
    assert (chosen[0], np.isnat(chosen[1])) == (np.timedelta64(1, "s"), True)
    deep = lodcore.LoDTensor.from_lengths(np.arange(4).astype("m8[s]"), [2, 1], [1, 2, 1])
    assert deep.mean(axis=2).values.astype("i8").tolist() == [0, 1, 3]
    assert deep.mean(axis=(1, 2)).astype("i8").tolist() == [1, 3]
    wide = LoDTensor.from_lengths(np.array([[1, 2], [3, 8]], "m8[s]"), [2])
    assert wide.mean(axis=1).astype("i8").tolist() == [[2, 5]]
    assert_recorded(lambda x: lodcore.ops.mean(x, 1), of([[1, 2], [4]]))


@for_each(("dtype", "q"), [(dtype, q) for dtype in ("m8[ns]", "M8[ns]") for q in (0.0, 0.3, 0.5, 1.0)])
def test_quantiles_of_dates_are_those_of_their_numbers(dtype, q):
    random = np.random.default_rng(0)
    parts = [random.integers(-(10**9), 10**9, n).tolist() for n in (3, 1, 8, 6)]
    x = of(parts, dtype)
    for method in ("linear", "lower", "higher", "nearest", "midpoint", "hazen"):
        found = lodcore.sequence_quantile(x, q, method)
        assert found.dtype == x.dtype
        wanted = [np.quantile(np.array(part, float), q, method=method) for part in parts]
        assert np.abs(found.astype("i8") - np.array(wanted)).max() < 1.0
    assert_recorded(lambda x: lodcore.sequence_quantile(x, q), x)


def test_medians_of_durations():
    x = of(PARTS)
    medians = np.median(x, axis=1)
    assert medians.astype("i8").tolist() == [3, np.iinfo("i8").min, 5, -1, 2**62, 0, 2**63 - 1, 0]
    many = lodcore.sequence_quantile(x[[0, 2]], [0.0, 1.0])
    assert many.astype("i8").tolist() == [[-8, 60], [5, 5]]
    wide = LoDTensor.from_lengths(np.array([[1, 9], [3, 8], [4, 0]], "m8[s]"), [2, 1])
    assert lodcore.sequence_median(wide).astype("i8").tolist() == [[2, 8], [4, 0]]
    assert lodcore.sequence_median(x[:0]).shape == (0,)


def test_missing_durations_propagate_or_are_skipped():
    values = np.array([4, "NaT", 8, "NaT", 6], "m8[s]")
    x = LoDTensor.from_lengths(values, [3, 1, 1])
    nat = np.iinfo("i8").min
    assert x.mean(axis=1).astype("i8").tolist() == [nat, nat, 6]
    assert np.median(x, axis=1).astype("i8").tolist() == [nat, nat, 6]
    assert np.nanmean(x, axis=1).astype("i8").tolist() == [6, nat, 6]
    assert np.nanmedian(x, axis=1).astype("i8").tolist() == [6, nat, 6]
    assert np.nanquantile(x, 1.0, axis=1).astype("i8").tolist() == [8, nat, 6]


def test_dates_have_no_mean():
    with pytest.raises(DTypeError, match=r"mean: x: has dtype datetime64\[s\]"):
        of([[1, 2]], "M8[s]").mean(axis=1)


@for_each("pool_type", ["sum", "mean", "max", "min"])
def test_sequence_pool_of_durations_is_exact_and_loses_to_nat(pool_type):
    exact = {"sum": sum, "mean": toward_zero, "max": max, "min": min}[pool_type]
    parts = [part for part in PARTS if pool_type != "sum" or abs(sum(part)) < 2**63]
    found = lodcore.sequence_pool(of(parts), pool_type)
    assert found.dtype == np.dtype("m8[s]")
    assert found.astype("i8").tolist() == [exact(part) if part else 0 for part in parts]
    lost = lodcore.sequence_pool(of([[1, -(2**63)], [], [2]]), pool_type, np.timedelta64(7, "s"))
    assert (np.isnat(lost).tolist(), lost[1:].astype("i8").tolist()) == ([True, False, False], [7, 2])
    deep = LoDTensor.from_lengths(np.arange(12).reshape(6, 2).astype(">m8[m]"), [2, 1], [1, 2, 3])
    for level in (0, 1):
        found = lodcore.sequence_pool(deep, pool_type, level=level)
        plain = lodcore.sequence_pool(deep.astype("i8"), pool_type, level=level)
        assert getattr(found, "lod", None) == getattr(plain, "lod", None)
        assert np.array_equal(rows_of(found).astype("i8"), np.trunc(rows_of(plain)))
    out = np.empty((2, 2), "m8[m]")
    assert lodcore.sequence_pool(deep, pool_type, level=0, out=out) is out
    assert_recorded(lambda x: lodcore.sequence_pool(x, pool_type), of([[1, 2], [4]]))


def test_sequence_pool_of_durations_refuses_roots_and_numbers_that_are_no_durations():
    with pytest.raises(DTypeError, match=r"^sequence_pool: x: has dtype timedelta64\[s\]; .* needed for 'sqrt'$"):
        lodcore.sequence_pool(of([[1]]), "sqrt")
    with pytest.raises(DTypeError, match=r"^sequence_pool: pad_value: is 1\.5; timedelta64\[s\] cannot hold it"):
        lodcore.sequence_pool(of([[1]]), "sum", 1.5)
    with pytest.raises(DTypeError, match=r"^sequence_pool: x: has dtype datetime64"):
        lodcore.sequence_pool(of([[1]], "M8[s]"), "max")


# -- extremes, positions and sums of each sequence ---------------------------------------------------------------------

LOD = LoD.from_lengths([2, 1, 2], [2, 1, 3, 2, 1])
DTYPES = ["M8[D]", "m8[s]", ">M8[s]", "m8[ns]"]
NOT_A_TIME = np.datetime64("NaT", "D")
DAYS = LoDTensor(np.array(["2020-01-01"], "M8[D]"), LoD.from_lengths([0, 1]))


def drawn(dtype, lost):
    """Make days or durations, two of which are NaT."""
    values = np.random.default_rng(0).integers(-5, 9, (9, 2)).astype(dtype)
    if lost:
        values[3, 0] = values[0, 1] = "NaT"
    return LoDTensor(values, LOD)


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin", "ptp", "sum"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions_of_dates_and_durations_equal_numpy(dtype, name, lost):
    x, function = drawn(dtype, lost), getattr(np, name)
    if name == "sum" and x.dtype.kind == "M":
        with pytest.raises(lodcore.DTypeError, match=r"sum: x: has dtype .*; numbers are needed"):
            function(x, axis=2)
        return
    found = function(x, axis=2)
    want = np.array([function(x.values[start:stop], axis=0) for start, stop in pairwise(LOD.row_offsets(1))])
    np.testing.assert_array_equal(found.values, want)
    assert found.dtype == want.dtype.newbyteorder("=")
    np.testing.assert_array_equal(function(x, axis=3).values, function(x.values, axis=1))
    np.testing.assert_array_equal(function(x), function(x.values))
    if name not in ("argmax", "argmin", "ptp"):
        want = [function(x.values[start:stop], axis=0) for start, stop in pairwise(LOD.row_offsets(0))]
        np.testing.assert_array_equal(function(x, axis=(1, 2)), np.array(want))
    whole = x[:, :1].flatten(0)[:, :1]  # one row of each first sequence
    np.testing.assert_array_equal(function(whole, axis=0)[0], function(whole.values, axis=0))


def test_reductions_of_dates_with_empty_and_initial():
    assert str(DAYS.max(axis=1, empty=NOT_A_TIME)) == "[       'NaT' '2020-01-01']"
    assert DAYS.max(axis=1, initial=np.datetime64("2021-01-01")).tolist() == [np.datetime64("2021-01-01").item()] * 2
    assert DAYS.argmin(axis=1, empty=-1).tolist() == [-1, 0]
    assert (DAYS - DAYS).sum(axis=1, initial=np.timedelta64(2, "D")).tolist() == [np.timedelta64(2, "D").item()] * 2
    new_year = np.datetime64("2021-01-01")
    late = np.greater(DAYS, new_year)
    assert DAYS.min(axis=1, where=late, initial=np.datetime64("2022-01-01"))[1] == np.datetime64("2022-01-01")
    with pytest.raises(ValueError, match="max: sequence 0 of level 0 is empty; give empty="):
        DAYS.max(axis=1)
    with pytest.raises(ValueError, match="max: where: needs an initial value"):
        DAYS.max(axis=1, where=late)
    with pytest.raises(lodcore.DTypeError, match="max: empty: "):
        DAYS.max(axis=1, empty=1.5)


def test_sum_of_durations_with_where():
    x = LoDTensor(np.array([1, 2, 3], "m8[s]"), LoD.from_lengths([2, 0, 1]))
    chosen = x > np.timedelta64(1, "s")
    np.testing.assert_array_equal(x.sum(axis=1, where=chosen), np.array([2, 0, 3], "m8[s]"))
    assert x.sum(where=chosen) == np.timedelta64(5, "s")


def test_reductions_of_dates_in_programs():
    with lodcore.Program() as program:
        x = lodcore.data("x", (None,), "M8[D]", num_levels=1)
        results = [x.max(axis=1, empty=NOT_A_TIME), x.argmax(axis=1, empty=-1), (x - x).sum(axis=1)]
    found = lodcore.Executor().run(program, feed={"x": DAYS}, fetch=results)
    np.testing.assert_array_equal(found[0], np.array(["NaT", "2020-01-01"], "M8[D]"))
    assert found[1].tolist() == [-1, 0]
    assert found[2].dtype == np.dtype("m8[D]")


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1)])
@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize(
    "settings", [{}, {"initial": np.timedelta64(5, "s")}, {"where": np.arange(6).reshape(2, 3) > 3}]
)
def test_sums_of_dense_durations_equal_numpy_at_once_and_recorded(axis, lost, settings):
    x = np.arange(6).reshape(2, 3).astype("m8[s]")
    x[0, 1] = "NaT" if lost else 7
    wanted, recorded = np.sum(x, axis=axis, **settings), []

    def sums(x, weight):
        recorded[:] = [np.sum(x, axis=axis, **settings), lodcore.sum(x, axis=axis, **settings)]
        return weight * 2.0

    lodcore.vjp(sums, x, np.ones(2))
    with lodcore.Program() as program:
        total = np.sum(lodcore.data("x", (None, 3), "m8[s]"), axis=axis, **settings)
    found = [*(one.get() for one in recorded), *lodcore.Executor().run(program, {"x": x}, [total])]
    for one in (*found, lodcore.sum(x, axis=axis, **settings)):
        assert one.dtype == wanted.dtype
        np.testing.assert_array_equal(one, wanted)
    each = lodcore.map_fn(lambda row: row.sum(), x[1:])
    np.testing.assert_array_equal(each, x[1:].sum(axis=1))


def test_one_duration_or_date_of_a_whole_tensor_is_a_number():
    x = of([[1, 2], [4]])
    assert type(x.sum()) is type(x.max()) is type(x.mean()) is np.timedelta64
    assert type(DAYS.min(axis=None, initial=np.datetime64("2022-01-01"))) is np.datetime64
