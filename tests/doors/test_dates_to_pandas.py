"""Dates and durations that go out to pandas: exactly, or not at all."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, to_pandas
from lodcore.errors import DTypeError
from lodcore.interop import Groups
from tests.helpers.libraries import MARKS, imported
from tests.helpers.tables import for_each

pandas = imported("pandas")
pytestmark = MARKS


def column_of(values):
    return LoDTensor.from_lengths(values, [1, len(values) - 1])


@for_each("dtype", ["m8[Y]", "m8[M]", "m8", "m8[ps]", "m8[fs]", "m8[as]", "M8", "M8[ps]", "M8[fs]", "M8[as]"])
def test_units_that_pandas_does_not_have_are_refused(dtype):
    values = np.array([1, 2, 3]).astype(dtype)
    with pytest.raises(
        DTypeError, match=r"^lodcore.to_pandas: columns\['v'\]: has dtype .*, which pandas does not have"
    ):
        to_pandas({"v": column_of(values)})
    with pytest.raises(DTypeError, match=r"^lodcore.to_pandas: keys\['k'\]: has dtype .*, which pandas does not have"):
        to_pandas(Groups({"v": lodcore.array([[1], [2], []])}, {"k": values}))
    with pytest.raises(DTypeError, match=r"^lodcore.to_pandas: columns\['v'\]: has dtype .*, which .* does not have"):
        to_pandas({"v": column_of(values)}, lists=True)


@for_each(
    ("dtype", "made"),
    [
        ("M8[Y]", "M8[s]"),
        ("M8[M]", "M8[s]"),
        ("M8[7D]", "M8[s]"),
        ("M8[10m]", "M8[s]"),
        ("M8[25s]", "M8[s]"),
        ("M8[3ms]", "M8[ms]"),
        ("M8[5us]", "M8[us]"),
        ("M8[7ns]", "M8[ns]"),
        ("m8[W]", "m8[s]"),
        ("m8[10m]", "m8[s]"),
        ("m8[25us]", "m8[us]"),
    ],
)
def test_multiples_of_a_unit_are_converted_exactly(dtype, made):
    values = np.array([1, -2, "NaT", 4], dtype)
    series = to_pandas(column_of(values))
    if int(pandas.__version__.split(".")[0]) >= 2:  # before, there were nanoseconds alone
        assert series.dtype == np.dtype(made)
    np.testing.assert_array_equal(series.to_numpy().astype(made), values.astype(made))
    frame = to_pandas(Groups({"v": lodcore.array([[1], [2], [], [3]])}, {"k": values}))
    keys = frame.index.get_level_values("k").to_numpy().astype(made)
    np.testing.assert_array_equal(keys, values[[0, 1, 3]].astype(made))


@for_each(
    ("value", "dtype"), [(2**40, "M8[Y]"), (2**50, "M8[D]"), (-(2**50), "M8[D]"), (2**50, "m8[D]"), (2**62, "M8[10m]")]
)
def test_dates_out_of_range_are_refused(value, dtype):
    values = np.array([0, value], dtype)
    with pytest.raises(DTypeError, match=r"^lodcore.to_pandas: columns\['v'\]: is .*; .* cannot hold it"):
        to_pandas({"v": column_of(values)})


def test_nanoseconds_in_lists_and_rows_with_axes_stay_dates():
    times = np.array(["2024-01-01T00:00:00.000000001", "2024-01-02"], "M8[ns]")
    deep = LoDTensor.from_lengths(times, [1], [2])
    frame = to_pandas({"v": deep, "w": lodcore.array([[1]])}, {"k": [1]})
    assert frame["v"].tolist() == [[pandas.Timestamp(time) for time in times]]
    wide = LoDTensor(times.reshape(1, 2), lodcore.LoD.from_offsets([0, 1]))
    assert to_pandas({"v": wide})["v"].tolist() == [[pandas.Timestamp(time) for time in times]]
    deep_and_wide = LoDTensor(times.reshape(1, 2), lodcore.LoD.from_offsets([0, 1], [0, 1]))
    frame = to_pandas({"v": deep_and_wide, "w": lodcore.array([[1]])}, {"k": [1]})
    assert frame["v"].tolist() == [[[pandas.Timestamp(time) for time in times]]]
