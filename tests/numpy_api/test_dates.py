"""Extremes of dates and sums of durations, per sequence, against NumPy."""

from itertools import pairwise

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDTensor

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
