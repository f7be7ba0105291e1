"""Columns of Python objects in pandas: dates beside times, arrays of several dtypes, times of several zones."""

import datetime as dt

import numpy as np
import pytest

import lodcore
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.interop import from_pandas, from_polars
from tests.helpers.libraries import MARKS, imported
from tests.helpers.tables import for_each

pandas, polars = imported("pandas"), imported("polars")
pytestmark = MARKS

DAY, NOON, NAT = dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 12), pandas.NaT
UTC, EAST = dt.timezone.utc, dt.timezone(dt.timedelta(hours=1))


def grouped(values):
    """Return the rows of a column of objects, of which one group is made."""
    return from_pandas(pandas.DataFrame({"k": [1] * len(values), "v": pandas.Series(values, dtype=object)}), by="k")[
        "v"
    ]


@for_each("values", [[DAY, NOON], [NOON, DAY], [DAY, pandas.Timestamp("2020-01-01 00:00:00.000000001")], [DAY, DAY]])
def test_times_of_day_beside_dates_stay(values):
    wanted = lodcore.array([values])
    assert grouped(values).tolist() == wanted.tolist()
    assert grouped(values).dtype == wanted.dtype
    assert from_pandas(pandas.Series([values, []])).tolist() == [wanted.tolist()[0], []]
    frame = pandas.DataFrame({"k": pandas.Series([*values, values[0]], dtype=object), "v": [1, 2, 3]})
    groups = from_pandas(frame, by="k")
    assert groups["k"].tolist() == list(dict.fromkeys(wanted.values.tolist()))
    assert groups["v"].tolist() == ([[1, 2, 3]] if values[0] is values[1] else [[1, 3], [2]])


def test_missing_dates_beside_times_are_nat():
    assert repr(grouped([DAY, None, NOON, NAT]).values.astype("M8[h]").tolist()) == repr(
        [dt.datetime(2020, 1, 1), None, NOON, None]
    )


@for_each(
    ("values", "says"),
    [
        ([NOON.replace(tzinfo=UTC), NOON], "has dtype object, of datetime objects that no dtype holds: "),
        ([NOON.replace(tzinfo=UTC), NOON.replace(tzinfo=EAST)], "has dtype object, of datetime objects that no dtype"),
        ([pandas.Timestamp("2020-01-01 00:00:00.000000001"), NOON.replace(year=9999)], "has dtype object, of datetime"),
        ([pandas.Timestamp("2020-01-01 00:00:00.000000001"), dt.date(9999, 1, 1)], "is 9999-01-01"),
        ([dt.timedelta(days=999999999)], "has dtype object, of timedelta objects that no dtype holds: "),
        ([DAY, NOON.replace(tzinfo=UTC)], r"value 1 is datetime.datetime\(.*, and dtypes of dates have no zones"),
    ],
)
def test_times_that_no_dtype_holds_name_their_column(values, says):
    with pytest.raises(DTypeError, match=rf"^lodcore.from_pandas: data\['v'\]: {says}"):
        grouped(values)


@for_each(
    ("values", "wanted"),
    [
        ([NAT, DAY], np.array(["NaT", "2020-01-01"], "M8[D]")),
        ([NOON, NAT], np.array(["2020-01-01T12", "NaT"], "M8[us]")),
        ([NAT], np.array(["NaT"], "M8[us]")),
        ([NAT, dt.timedelta(days=1)], np.array(["NaT", 86400 * 10**6], "m8[us]")),
    ],
)
def test_nat_of_pandas_in_nested_lists(values, wanted):
    found = lodcore.array([values]).values
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


HUGE = 2**53 + 1


@for_each(
    "cells",
    [
        [np.array([HUGE]), np.array([0.5])],
        [np.array([[HUGE, 1]]), np.array([[0.5, 2]])],
        [np.array([2**63 + 1], "u8"), np.array([-5])],
        [[HUGE], [0.5]],
        [[[HUGE]], [[0.5]]],
    ],
)
def test_numbers_that_have_no_common_dtype_do_not_join(cells):
    with pytest.raises(DTypeError, match=r"^lodcore.from_pandas: data: has "):
        from_pandas(pandas.Series(cells))


def test_arrays_join_exactly():
    found = from_pandas(pandas.Series([np.array([2]), np.array([0.5])]))
    assert (found.dtype, found.tolist()) == (np.float64, [[2.0], [0.5]])
    found = from_pandas(pandas.Series([np.array([2], "i1"), np.array([5], "i2")]))
    assert (found.dtype, found.tolist()) == (np.int16, [[2], [5]])
    assert from_pandas(pandas.Series([np.array([[1, 2]]), []])).shape == (2, None, 2)
    days = from_pandas(pandas.Series([np.array(["2020-01-01"], "M8[ns]"), [np.datetime64("2020-01-02", "ns")]]))
    assert days.dtype == "M8[ns]"
    with pytest.raises(DTypeError, match=r"^lodcore.from_pandas: data: arrays\[1\]: has dtype int64"):
        from_pandas(pandas.Series([np.array(["a"]), np.array([1])]))
    with pytest.raises(ShapeError, match=r"^lodcore.from_pandas: data: entry 1 at depth 2 is list"):
        from_pandas(pandas.Series([[1, [2]], []]))


def test_nested_lists_have_the_values_of_any_column():
    assert from_pandas(pandas.Series([[[DAY]], [[], [NOON]]])).dtype == "M8[us]"
    with pytest.raises(LoDError, match=r"^lodcore.from_pandas: data: row 1 is null"):
        from_pandas(pandas.Series([[[1, None]], []]))
    x, mask = from_pandas(pandas.Series([[[1, None]], []]), nulls="mask")
    assert (x.tolist(), mask.tolist()) == ([[[1, 0]], []], [[[True, False]], []])
    assert from_pandas(pandas.Series([[{"a": 1}], []]))["a"].tolist() == [[1], []]


@for_each("entry", ["bc", b"bc", {"b": 1}, {1}, 3])
def test_an_entry_beside_lists_that_is_no_list_is_refused(entry):
    for first in (["a"], (1, 2), np.array([1])):
        with pytest.raises(ShapeError, match=r"^lodcore.from_pandas: data: is .* in row 2, among lists"):
            from_pandas(pandas.Series([first, None, entry], dtype=object))
    assert from_pandas(pandas.Series([[1], pandas.Series([2, 3])])).tolist() == [[1], [2, 3]]


@for_each("make", [pandas.Series, polars.Series])
def test_with_a_mask_missing_lists_are_empty(make):
    read = from_pandas if make is pandas.Series else from_polars
    x, mask = read(make([[1], None]), nulls="mask")
    assert (x.tolist(), mask.tolist()) == ([[1], []], [[True], []])
    frame = (pandas if make is pandas.Series else polars).DataFrame({"k": [1, 1], "c": make([[1, None], None])})
    groups = read(frame, by="k", nulls="mask")
    assert (groups["c"].tolist(), groups.masks["c"].tolist()) == ([[[1, 0], []]], [[[True, False], []]])
    with pytest.raises(LoDError, match=r"data\['c'\]: sequence 1 of level 0 is null"):
        read(frame, by="k")
