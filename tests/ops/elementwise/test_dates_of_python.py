"""Dates, times and durations of the standard library as operands, values and fillings, as NumPy's own."""

import datetime

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, Executor, LoDTensor, Program, data, vjp
from lodcore.testing import assert_equal
from tests.helpers.tables import for_each

DATES = LoDTensor.from_lengths(np.array(["2024-01-01", "2024-01-03", "NaT", "2024-01-07"], "M8[s]"), [2, 0, 1, 1])
GAPS = LoDTensor.from_lengths(np.array([86400, 172800, "NaT", 5], "m8[s]"), [2, 0, 1, 1])
DATE, DAY = datetime.datetime(2024, 1, 3), datetime.timedelta(days=1)
ZONE = datetime.datetime(2024, 1, 3, tzinfo=datetime.timezone.utc)
NUMPYS = {DATE: np.datetime64(DATE), DAY: np.timedelta64(DAY), DATE.date(): np.datetime64(DATE.date())}

CALLS = {
    "equal": (lambda x, y: x == y, DATES, DATE),
    "equal to a date": (lambda x, y: x == y, DATES, DATE.date()),
    "not equal": (lambda x, y: x != y, DATES, DATE),
    "before": (lambda x, y: y < x, DATES, DATE),
    "durations": (lambda x, y: x >= y, GAPS, DAY),
    "sum": (lambda x, y: x + y, DATES, DAY),
    "difference": (lambda x, y: x - y, DATES, DATE),
    "reflected difference": (lambda x, y: y - x, DATES, DATE),
    "ratio": (lambda x, y: x / y, GAPS, DAY),
    "where": (lambda x, y: np.where(x < y, x, y), DATES, DATE),
    "maximum": (np.maximum, DATES, DATE),
}


@pytest.mark.parametrize("name", CALLS)
def test_operands(name):
    call, x, y = CALLS[name]
    wanted = call(x, NUMPYS[y])
    assert_equal(call(x, y), wanted)
    with Program() as program:
        found = call(data("x", (None,), x.dtype, 1), y)
    assert_equal(Executor().run(program, {"x": x}, [found])[0], wanted)


def test_values_and_fillings():
    numpys = NUMPYS[DATE]
    assert_equal(DATES.to_padded(DATE), DATES.to_padded(numpys))
    assert_equal(DATES.max(axis=1, empty=DATE), DATES.max(axis=1, empty=numpys))
    assert_equal(DATES.pool("first", DATE), DATES.pool("first", numpys))
    assert_equal(lodcore.sequence_shift(DATES, 1, DATE), lodcore.sequence_shift(DATES, 1, numpys))
    assert_equal(DATES.per_sequence([DATE] * 4), DATES.per_sequence(np.array([numpys] * 4)))
    one, other = DATES.copy(), DATES.copy()
    one[0], other[0] = DATE, numpys
    assert_equal(one, other)
    one[0], other[0] = [DATE, DATE + DAY], [numpys, numpys + NUMPYS[DAY]]
    assert_equal(one, other)
    assert DATE in DATES
    assert DATE + DAY not in DATES
    assert DATES[DATES == DATE].tolist() == [[DATE], [], [], []]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: DATES == ZONE, "^equal: y: value 0 is .*zones"),
        (lambda: DATES.to_padded(ZONE), "LoDTensor.to_padded: fill_value: value 0 is .*zones"),
        (lambda: DATES.to_padded(DATE + DAY / 7e10), "to_padded: fill_value: is .*; datetime64.s. cannot hold it"),
        (lambda: DATES.per_sequence([DATE, DAY, DATE, DATE]), "per_sequence: v: value 1 is .* among dates"),
        (lambda: datetime.time(1) == DATES, None),
    ],
)
def test_times_with_a_zone_and_values_of_another_kind(call, says):
    if says is None:
        assert call() is False
        return
    with pytest.raises(DTypeError, match=says):
        call()


@pytest.mark.parametrize("axis", [0, 1])
def test_cumulative_sums_of_durations(axis):
    found = GAPS.cumsum(axis=axis)
    assert axis == 0 or found.tolist() == lodcore.sequence_cumsum(GAPS).tolist()
    assert_equal(found, np.add.accumulate(GAPS, axis=axis))
    assert found.dtype == GAPS.dtype
    if axis:
        assert_equal(found.values, np.concatenate([np.cumsum(one) for one in GAPS.to_arrays()]))
    else:
        assert np.isnat(found.values).tolist() == [False, False, True, True]
        assert found.values[1] == np.timedelta64(172800, "s")


LONG = datetime.timedelta(days=999_999)  # which int64 cannot hold in nanoseconds
FAR = datetime.datetime(9999, 1, 1)


def test_a_distance_that_the_unit_cannot_hold_is_longer_than_any():
    x = LoDTensor.from_lengths(np.array(["2020-01-01", "2020-01-02"], "M8[ns]"), [2])
    for long in (LONG, np.timedelta64(LONG), datetime.timedelta.max):
        assert lodcore.sequence_gaps(x, long).tolist() == [[False, False]]
        assert lodcore.join_asof(x, x, tolerance=long)[0].tolist() == [[0, 1]]
    assert lodcore.sequence_gaps(x, datetime.timedelta(hours=36)).tolist() == [[False, False]]
    days = LoDTensor.from_lengths(np.array([1, 2, 4], "M8[D]"), [3])
    assert lodcore.sequence_gaps(days, datetime.timedelta(hours=36)).tolist() == [[False, False, True]]


@pytest.mark.parametrize("far", [FAR, np.datetime64(FAR)])
def test_values_that_the_unit_cannot_hold_are_refused(far):
    x = LoDTensor.from_lengths(np.array(["2020-01-01", "2020-01-02"], "M8[ns]"), [2])
    for call in (
        lambda: x.max(axis=1, initial=far),
        lambda: x.max(axis=1, empty=far),
        lambda: x.to_padded(far),
        lambda: lodcore.sequence_shift(x, 1, far),
        lambda: np.full_like(x, far),
        lambda: x.copy().__setitem__(0, far),
    ):
        with pytest.raises(DTypeError, match=r"datetime64\[ns\] cannot hold it"):
            call()
    with pytest.raises(DTypeError, match=r"value 0 is .*; int64 cannot hold its microseconds"):
        datetime.timedelta.max == GAPS  # noqa: B015


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x % DAY,
        lambda x: DAY % x,
        lambda x: divmod(x, DAY)[0],
        lambda x: x // DAY,
        lambda x: np.minimum(x, DAY),
        lambda x: np.clip(x, DAY, None),
        lambda x: np.full_like(x, DAY),
        lambda x: lodcore.sequence_shift(x, 1, fill=DAY),
    ],
)
def test_programs_with_durations_of_python_are_saved(call, tmp_path):
    with np.errstate(all="ignore"):
        wanted = call(GAPS)
        with Program() as program:
            found = call(data("x", (None,), GAPS.dtype, 1))
        assert_equal(Executor().run(program, {"x": GAPS}, [found])[0], wanted)
        lodcore.save(tmp_path / "program.npz", program)
        loaded = lodcore.load(tmp_path / "program.npz")
        assert_equal(Executor().run(loaded, {"x": GAPS}, [found.name])[0], wanted)


def test_membership_and_feeds_of_dates_of_python():
    assert np.isin(DATES, [DATE]).tolist() == [[False, True], [], [False], [False]]
    assert np.isin(GAPS, [DAY]).tolist() == [[True, False], [], [False], [False]]
    with pytest.raises(DTypeError, match=r"isin: test_elements: value 0 is .*zones"):
        np.isin(DATES, [ZONE])
    with Program() as program:
        x = data("x", (), "m8[D]")
    assert Executor().run(program, {"x": DAY}, [x])[0] == np.timedelta64(1, "D")


class Timestamp(datetime.datetime):
    """A time of pandas, which also counts nanoseconds."""

    def to_numpy(self):
        return np.datetime64(datetime.datetime(*self.timetuple()[:6]), "ns") + np.timedelta64(1, "ns")


def test_times_of_pandas_keep_their_nanoseconds():
    time = Timestamp(2024, 1, 1)
    x = LoDTensor.from_lengths(np.array([time.to_numpy(), np.datetime64("2024-01-01")]), [1, 1])
    assert (x == time).tolist() == [[True], [False]]
    assert np.isin(x, [time]).tolist() == [[True], [False]]
    np.testing.assert_array_equal(lodcore.array([[time], [DATE]]).values, [time.to_numpy(), NUMPYS[DATE]])
    filled = x.copy()
    filled[1] = time
    assert filled.values.tolist() == [time.to_numpy().astype(int)] * 2


def test_numbers_of_the_standard_library_that_are_no_operands_are_refused():
    import decimal
    import fractions

    x = lodcore.array([[1.0], [0.5]])
    for number in (decimal.Decimal(1), fractions.Fraction(1, 2)):
        with pytest.raises(DTypeError, match=rf"^equal: y: is a {type(number).__name__}; a LoDTensor or an array"):
            x == number  # noqa: B015
    assert (x == None) is False  # noqa: E711


OLD = np.array(["1000-01-01", "2020-01-01", "NaT"], "M8[D]")
NEW = np.array(["1980-01-01", "2020-01-01", "2030-01-01"], "M8[ns]")


@for_each(
    "call",
    [
        lambda x, y: lodcore.sequence_searchsorted(x, y),
        lambda x, y: lodcore.sequence_searchsorted(y, x),
        lambda x, y: lodcore.join_asof(x, y),
        lambda x, y: np.concatenate([x, y], axis=1),
        lambda x, y: LoDTensor.from_arrays([y.values, x.values]),
        lambda x, y: x.astype("M8[ns]"),
        lambda x, y: vjp(lambda x: x.astype("M8[ns]"), x),
        lambda x, y: lodcore.match_keys(y.values, x.values),
        lambda x, y: lodcore.array([list(y.values), list(x.values)]),
        lambda x, y: lodcore.array([[str(x.values[0])]], "M8[ns]"),
        lambda x, y: lodcore.array([[x.values[0].item()]], "M8[ns]"),
    ],
)
def test_dates_of_two_units_that_one_cannot_hold_are_refused(call):
    """NumPy before 2.5 lets them wrap, and then raises a bare OverflowError."""
    x, y = (LoDTensor.from_lengths(values, [3]) for values in (OLD, NEW))
    with pytest.raises(DTypeError, match=r"is 1000-01-01(T00:00:00.000000)?; datetime64\[ns\] cannot hold it"):
        call(x, y)
    call(x[:, 1:], y)


def test_a_coarser_unit_rounds_down_as_in_numpy():
    x = LoDTensor.from_lengths(NEW + np.timedelta64(1, "h"), [3])
    for found in (x.astype("M8[D]"), vjp(lambda x: x.astype("M8[D]"), x)[0], x.astype("M8[M]")):
        np.testing.assert_array_equal(found.values, x.values.astype(found.dtype))
    assert lodcore.array([[datetime.datetime(2024, 1, 2, 12)]], "M8[D]").values[0] == np.datetime64("2024-01-02")


def test_a_conversion_to_the_same_unit_is_a_copy():
    x = LoDTensor.from_lengths(NEW, [3])
    copied = x.copy()
    copied[0] = NEW[::-1]
    assert x.values.tolist() == NEW.tolist()
    assert x.astype("M8[ns]") is not x


def test_years_and_months_become_weeks_as_in_numpy():
    for unit in ("Y", "M"):
        x = LoDTensor.from_lengths(np.array(["2022", "1969", "NaT"], f"M8[{unit}]"), [2, 1])
        np.testing.assert_array_equal(x.astype("M8[W]").values, x.values.astype("M8[W]"))


def test_dates_and_durations_do_not_become_one_tensor():
    dates, gaps = np.array(["2024-01-01"], "M8[D]"), np.array([31, 70], "m8[D]")
    for call in (lambda: LoDTensor.from_arrays([dates, gaps]), lambda: LoDTensor.from_arrays([gaps, np.arange(2)])):
        with pytest.raises(DTypeError, match="dates, durations and other values do not join"):
            call()
    for one, other, kinds in ((dates[0], gaps[0], "dates"), (gaps[0], dates[0], "dates"), (DATE, DAY, "dates")):
        with pytest.raises(DTypeError, match=f"among {kinds}; values are of one kind"):
            lodcore.array([[one, other]])


FAR = lodcore.array([np.array(["9999-12-31"], "M8[D]")])


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x < datetime.date(9999, 12, 31),
        lambda x: np.minimum(x, np.datetime64("3000-01-01")),
        lambda x: np.clip(x, None, np.datetime64("3000-01-01")),
        lambda x: lodcore.where(x != np.datetime64("NaT", "D"), x, np.datetime64("3000-01-01")),
        lambda x: x - FAR,
        lambda x: x == FAR,
        lambda x: (x - x) < np.timedelta64(2**40, "D"),
    ],
)
def test_dates_that_the_common_unit_cannot_hold_are_refused(call):
    x = lodcore.array([np.array(["2020-01-01"], "M8[ns]")])
    with lodcore.Program() as program:
        made = call(lodcore.data("x", (None,), "M8[ns]", num_levels=1))
    for way in (call, lambda x: lodcore.vjp(call, x), lambda x: lodcore.Executor().run(program, {"x": x}, [made])):
        with pytest.raises(lodcore.DTypeError, match=r"(9999-12-31|3000-01-01|days) is too far for .*\[ns\], in w"):
            way(x)


def test_dates_of_several_units_are_compared_where_the_common_one_holds_them():
    x = lodcore.array([np.array(["2020-01-01", "NaT"], "M8[ns]")])
    assert (x < datetime.date(2021, 12, 31)).tolist() == [[True, False]]
    assert (x < np.datetime64("NaT", "D")).tolist() == [[False, False]]
    assert ((x - x) / np.timedelta64(1, "D")).values[0] == 0
    assert np.isnat((x + np.timedelta64(1, "D")).values).tolist() == [False, True]
