"""Windows, joins, fills and points in time, compared with plain Python."""

import bisect
import datetime
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, LevelError, LoD, LoDError, LoDTensor, ShapeError
from lodcore.graph import Executor, Program, data
from lodcore.testing import assert_equal
from reference.ops.levels import each_at_level, sequences
from tests.helpers.draw import lod_tensors, lods
from tests.helpers.recorded import assert_recorded
from tests.helpers.tables import for_each
from tests.samples.common import SEEDS, small_values

ANY = lod_tensors(1, 3, [np.dtype("i8"), np.dtype("U2")], [(), (2,)], 6)
FLOATS = lod_tensors(1, 3, [np.dtype("f8"), np.dtype("f4"), np.dtype("M8[s]")], [(), (2,), (2, 2)], 6)
LODS = lods(1, 3, 6)
KINDS = ["f8", "i8", "u8", "M8[s]", "m8[s]"]
CLOSED = {"both": (True, True), "left": (True, False), "right": (False, True), "neither": (False, False)}


def times_for(lod, seed, kind):
    """Make small whole times, sorted within each sequence, some equal."""
    made = np.random.default_rng(seed).integers(0, 8, lod.num_rows)
    for start, stop in itertools.pairwise(lod.row_offsets(-1)):
        made[start:stop].sort()
    return LoDTensor(made.astype(kind), lod)


def span(number, kind):
    return np.timedelta64(number, "s") if kind[0] in "mM" else number


@given(ANY, st.integers(0, 3), st.integers(0, 3))
def test_windows_of_rows_reach_to_both_sides(x, before, after):
    last = x.num_levels - 1
    cut = [[one[max(r - before, 0) : r + after + 1] for r in range(len(one))] for one in sequences(x.tolist(), last)]
    found = lodcore.windows_around(x, before, after)
    assert found.tolist() == each_at_level(cut, x.tolist(), last)
    assert found.num_levels == x.num_levels + 1
    assert lodcore.lod_lengths(found, last).tolist() == x.lod.lengths(last).tolist()
    assert_recorded(lambda x: lodcore.windows_around(x, before, after), x)


@given(LODS, SEEDS, st.sampled_from(KINDS), st.sampled_from(sorted(CLOSED)), st.integers(0, 3), st.integers(0, 3))
def test_windows_around_times_hold_the_rows_within_the_limits(lod, seed, kind, closed, before, after):
    times = times_for(lod, seed, kind)
    x = LoDTensor(np.arange(lod.num_rows), lod)
    lower, upper = CLOSED[closed]

    def window(at, one):
        low, high = at - before, at + after
        return [r for t, r in one if low <= t <= high and (lower or t > low) and (upper or t < high)]

    whole = times.with_values(times.values.astype("i8")).tolist()
    each = zip(sequences(whole, lod.num_levels - 1), sequences(x.tolist(), lod.num_levels - 1), strict=True)
    pairs = [list(zip(*both, strict=True)) for both in each]
    wanted = each_at_level([[window(t, one) for t, _ in one] for one in pairs], x.tolist(), lod.num_levels - 1)
    spans = span(before, kind), span(after, kind)
    assert lodcore.windows_around(x, *spans, times=times, closed=closed).tolist() == wanted


@for_each("dtype", [np.uint64, np.int64, np.uint8, np.int8])
def test_windows_around_the_limits_of_the_dtype_do_not_wrap(dtype):
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    times = lodcore.array([[least, least, least + 2, most], [most - 2, most, most]], dtype=dtype)
    x = LoDTensor(np.arange(7), times.lod)
    whole = [[(int(t), k) for t, k in zip(*both, strict=True)] for both in zip(times.tolist(), x.tolist(), strict=True)]
    for closed, far in itertools.product(CLOSED, (0, 1, 2, 3, most, most - least)):
        lower, upper = CLOSED[closed]

        def near(at, one, far=far, lower=lower, upper=upper):
            held = [(t, k) for t, k in one if (at - far <= t if lower else at - far < t)]
            return [k for t, k in held if (t <= at + far if upper else t < at + far)]

        wanted = [[near(at, one) for at, _ in one] for one in whole]
        assert lodcore.windows_around(x, far, far, times=times, closed=closed).tolist() == wanted, (closed, far)


@given(LODS, SEEDS, SEEDS, st.sampled_from(KINDS), st.sampled_from(["backward", "forward", "nearest"]), st.data())
def test_join_asof_equals_bisection(lod, seed, other, kind, direction, data):
    tolerance = data.draw(st.sampled_from([None, 0, 2]))
    last = lod.num_levels - 1
    lengths = np.random.default_rng(other).integers(0, 5, lod.num_sequences(last))
    y = times_for(LoD.from_lengths(*[lod.lengths(k) for k in range(last)], lengths), other, kind)
    x = times_for(lod, seed, kind)
    column = LoDTensor(np.arange(y.num_rows) + 0.5, y.lod)

    def place(t, known):
        back, forward = bisect.bisect_right(known, t) - 1, bisect.bisect_left(known, t)
        forward = forward if forward < len(known) else -1
        sides = {"backward": [back], "forward": [forward], "nearest": [back, forward]}[direction]
        near = [(abs(known[p] - t), n, p) for n, p in enumerate(sides) if p >= 0]
        best = min(near, default=(0, 0, -1))
        return best[2] if tolerance is None or best[0] <= tolerance else -1

    a, b = (sequences(one.with_values(one.values.astype("i8")).tolist(), last) for one in (x, y))
    wanted = [[place(t, known) for t in one] for one, known in zip(a, b, strict=True)]
    starts = y.lod.offsets(last)[:-1].tolist()
    rows = [[math.nan if p < 0 else s + p + 0.5 for p in one] for one, s in zip(wanted, starts, strict=True)]
    options = {"direction": direction, "tolerance": None if tolerance is None else span(tolerance, kind)}
    places, joined = lodcore.join_asof(x, y, column, **options)
    assert places.tolist() == each_at_level(wanted, x.tolist(), last)
    np.testing.assert_array_equal(joined.values, [row for one in rows for row in one])
    assert places.lod is x.lod
    assert_recorded(lambda x: lodcore.join_asof(x, y, column, **options)[0], x)


def test_join_asof_by_key_and_with_rows_of_several_columns():
    x, y = lodcore.array([[3, 9], [1], [5]]), lodcore.array([[2], [1, 8]])
    wide = LoDTensor(np.arange(6.0).reshape(3, 2), y.lod)
    places, rows, names = lodcore.join_asof(
        x, y, wide, lodcore.array([["u"], ["v", "w"]]), x_keys=["a", "b", "c"], y_keys=["b", "a"]
    )
    assert places.tolist() == [[0, 1], [-1], [-1]]
    assert np.nan_to_num(rows.values, nan=-1).tolist() == [[2, 3], [4, 5], [-1, -1], [-1, -1]]
    assert names.tolist() == [["v", "w"], [""], [""]]
    counts = lodcore.join_asof(x, y, lodcore.array([[7], [8, 9]]), x_keys=[0, 1, 2], y_keys=[1, 0], default=-1)[1]
    assert counts.tolist() == [[8, 9], [-1], [-1]]
    found, back = lodcore.vjp(
        lambda rows: lodcore.join_asof([[3, 4], [9]], y[::-1], rows)[1], LoDTensor(np.ones(3), y[::-1].lod)
    )
    assert back(found.with_values(np.array([1.0, 2, 4])))[0].values.tolist() == [3, 0, 4]


def test_join_asof_of_nan_finds_nothing_and_of_extreme_integers_does_not_wrap():
    nan = float("nan")
    assert lodcore.join_asof([[nan, 2.0]], [[1.0, nan]], direction="nearest")[0].tolist() == [[-1, 0]]
    assert lodcore.join_asof([[nan]], [[1.0, nan]], direction="forward")[0].tolist() == [[-1]]
    low, high = -(2**63), 2**63 - 1
    assert lodcore.join_asof([[high - 1]], [[low, high]], direction="nearest")[0].tolist() == [[1]]
    assert lodcore.join_asof([[high]], [[low]], tolerance=2**64 - 2)[0].tolist() == [[-1]]
    times = lodcore.array([[low, 0, high]])
    assert lodcore.windows_around(times, 2**63, times=times).tolist() == [[[low], [low, 0], [0, high]]]
    unsigned = LoDTensor.from_lengths(np.array([0, 1, 2**64 - 1], "u8"), [3])
    assert lodcore.windows_around(unsigned, 2, 2, times=unsigned).lengths.tolist() == [3]
    assert lodcore.lod_lengths(lodcore.windows_around(unsigned, 2, 2, times=unsigned), 1).tolist() == [2, 2, 1]


def test_join_asof_of_dates_that_are_further_apart_than_int64_holds_takes_the_nearest():
    known = LoDTensor.from_lengths(np.array(["1700-01-01", "2262-01-01"], "M8[ns]"), [2])
    times = LoDTensor.from_lengths(np.array(["1990-01-01", "1800-01-01"], "M8[ns]"), [2])
    assert lodcore.join_asof(times, known, direction="nearest")[0].tolist() == [[1, 0]]
    assert lodcore.join_asof(times, known)[0].tolist() == [[0, 0]]
    for days, wanted in ((105_000, [-1, 0]), (105_919, [-1, 0]), (105_920, [0, 0])):
        wide = np.timedelta64(days, "D")
        assert lodcore.join_asof(times, known, tolerance=wide)[0].tolist() == [wanted]
    in_days = times.with_values(times.values.astype("M8[D]"))
    assert lodcore.join_asof(in_days, known, direction="nearest")[0].tolist() == [[1, 0]]
    assert_recorded(lambda x: lodcore.join_asof(x, known, direction="nearest")[0], in_days)


@given(FLOATS, st.sampled_from(["forward", "backward"]), st.sampled_from([None, 1, 2]), SEEDS, st.data())
def test_fill_carries_values_within_each_column(x, direction, limit, seed, data):
    level = data.draw(st.integers(0, x.num_levels - 1))
    holes = np.random.default_rng(seed).random(x.values.shape) < 0.5
    x = x.with_values(np.where(holes, np.array("NaT" if x.dtype.kind == "M" else np.nan, x.dtype), x.values))
    wanted = x.values.copy()
    bounds = x.lod.row_offsets(level).tolist()
    for start, stop in itertools.pairwise(bounds):
        for cell in np.ndindex(x.values.shape[1:]):
            order = range(start, stop) if direction == "forward" else range(stop - 1, start - 1, -1)
            last = None
            for r in order:
                if x.values[r][cell] == x.values[r][cell]:
                    last = r
                elif last is not None and (limit is None or abs(r - last) <= limit):
                    wanted[(r, *cell)] = x.values[last][cell]
    found = lodcore.sequence_fill(x, direction, limit, level)
    np.testing.assert_array_equal(found.values, wanted)
    assert found.lod is x.lod
    assert found.dtype == x.dtype
    with_lod = lambda x: lodcore.sequence_fill(x, direction, limit, level)  # noqa: E731
    assert_equal(with_lod(x), found)


def test_sequence_fill_passes_gradients_to_the_values_it_repeats():
    nan = float("nan")
    x = lodcore.array([[1.0, nan, nan], [nan], [2.0]])
    found, back = lodcore.vjp(lodcore.sequence_fill, x)
    assert back(found.with_values(np.arange(1.0, 6)))[0].values.tolist() == [6, 0, 0, 4, 5]
    whole = lodcore.array([[1, 2], []])
    assert lodcore.sequence_fill(whole).tolist() == [[1, 2], []]
    finite = lodcore.array([[1.0, 2.0], [3.0]])
    assert_recorded(lambda x: lodcore.sequence_fill(x, "backward", 1), finite)


@given(LODS, SEEDS, st.sampled_from([(), (2,), (2, 1)]), st.integers(1, 4), st.booleans())
def test_resample_puts_points_on_the_lines_between_rows(lod, seed, row_shape, n, timed):
    x = LoDTensor(small_values(seed, (lod.num_rows, *row_shape), "f8", nans=False), lod)
    steps = np.random.default_rng(seed).uniform(0.5, 2, lod.num_rows)
    times = LoDTensor(np.cumsum(steps), lod) if timed else None
    found = lodcore.sequence_resample(x, n, times)
    assert found.lod.lengths(-1).tolist() == [n] * lod.num_sequences(-1)
    bounds = lod.row_offsets(-1).tolist()
    for s, (start, stop) in enumerate(itertools.pairwise(bounds)):
        got = found.values[s * n : (s + 1) * n].reshape(n, -1)
        if start == stop:
            assert np.isnan(got).all()
            continue
        at = times.values[start:stop] if timed else np.arange(stop - start)
        points = np.linspace(at[0], at[-1], n)
        columns = x.values[start:stop].reshape(stop - start, -1)
        for c in range(columns.shape[1]):
            np.testing.assert_allclose(got[:, c], np.interp(points, at, columns[:, c]), rtol=1e-12, atol=1e-12)
    if timed:
        assert lodcore.sequence_resample(times, n, times).shape[0] == len(x)


@given(LODS, SEEDS, st.integers(1, 4), st.sampled_from(["i8", ">i8", "u8", "M8[ns]", "m8[us]"]))
def test_resample_measures_times_from_the_first_of_their_sequence(lod, seed, n, dtype):
    """Float64 holds the distances of such times, but not the times."""
    draw = np.random.default_rng(seed)
    x = LoDTensor(small_values(seed, (lod.num_rows, 2), "f8", nans=False), lod)
    since = np.cumsum(draw.integers(1, 5, lod.num_rows)).astype("i8")
    start = np.repeat(draw.integers(2**60, 2**62, lod.num_sequences(-1)), lod.lengths(-1))
    times = LoDTensor((start + since).astype(dtype), lod)
    found, wanted = (lodcore.sequence_resample(x, n, at) for at in (times, LoDTensor(since, lod)))
    np.testing.assert_array_equal(found.values, wanted.values)
    assert_recorded(lambda at: lodcore.sequence_resample(x, n, at), times)


@for_each(
    ("times", "wanted"),
    [
        (np.array([-(2**63), 0, 2**63 - 1]), [0, 1, 2]),
        (np.array([0, 2**63, 2**64 - 1], np.uint64), [0, 1, 2]),
        (np.array([1 - 2**63, 0, 2**63 - 1]).view("M8[ns]"), [0, 1, 2]),
        (np.array([False, True, True]), [0, 0.5, 2]),
        (np.array(["2026", "2027", "NaT"], "M8[D]"), [np.nan] * 3),
        (np.array(["NaT"] * 3, "m8[s]"), [np.nan] * 3),
        (np.array([0, 1, np.nan]), [np.nan] * 3),
    ],
)
def test_resample_at_times_that_are_far_apart_or_missing(times, wanted):
    found = lodcore.sequence_resample([[0.0, 1.0, 2.0]], 3, LoDTensor.from_lengths(times, [3]))
    np.testing.assert_array_equal(found.values, wanted)


def test_resampled_rows_have_gradients():
    x = LoDTensor(np.array([[0.0, 1], [2, 5], [3, 3]]), LoD.from_lengths([3]))
    found, back = lodcore.vjp(lambda x: lodcore.sequence_resample(x, 5), x)
    assert back(found.with_values(np.ones((5, 2))))[0].values.tolist() == [[1.5, 1.5], [2, 2], [1.5, 1.5]]


def test_lines_of_rows_with_several_columns_are_fitted_together():
    t = lodcore.array([[0.0, 1, 2], [], [1, 3]])
    y = LoDTensor(np.array([[1.0, 0], [3, -1], [5, -2], [1, 1], [5, 1]]), t.lod)
    intercept, slope, *_ = lodcore.linear_fit(t, y, axis=1)
    np.testing.assert_allclose(slope, [[2, -1], [np.nan, np.nan], [2, 0]], atol=1e-12)
    np.testing.assert_allclose(intercept, [[1, 0], [np.nan, np.nan], [-1, 1]], atol=1e-12)
    for c in range(2):
        single = lodcore.linear_fit(t, y[:, :, c], axis=1)
        for one, both in zip(single, lodcore.linear_fit(t, y, axis=1), strict=True):
            np.testing.assert_allclose(both[:, c], one, rtol=1e-12)


FLAT = lodcore.array([[1, 2], [], [3, 4, 5]])
DATES = FLAT.with_values(FLAT.values.astype("M8[s]"))
FALLING = lodcore.array([[2, 1]])
NAN_FIRST = lodcore.array([[np.nan, 5.0]])


def spans(unit):
    """Return durations of a unit, for months and days have no common one."""
    return LoDTensor.from_lengths(np.array([1, 2, 3], f"m8[{unit}]"), [1, 2])


@for_each(
    ("call", "error", "text"),
    [
        (lambda: lodcore.windows_around(FLAT, -1), ValueError, "windows_around: before: is -1; 0 or more"),
        (lambda: lodcore.windows_around(FLAT, 1, 1.5), DTypeError, "windows_around: after: is 1.5"),
        (lambda: lodcore.windows_around(FLAT, 1, closed="up"), ValueError, "windows_around: closed: is 'up'"),
        (lambda: lodcore.windows_around(FLAT, 1, times=FLAT[:2]), LoDError, "windows_around: times: has 2 sequences"),
        (lambda: lodcore.windows_around(FALLING, 1, times=FALLING), ValueError, "times: row 1 is 1, below the row"),
        (lambda: lodcore.windows_around(FLAT, 1, times=DATES), DTypeError, "before: is 1; a duration is needed"),
        (lambda: lodcore.windows_around(FLAT, 0.5, times=FLAT), DTypeError, "before: is 0.5; whole numbers"),
        (lambda: lodcore.windows_around(np.arange(3), 1), DTypeError, "windows_around: x: is ndarray"),
        (lambda: lodcore.join_asof(FLAT, FLAT[:2]), LoDError, "join_asof: y: has 2 sequences; x has 3"),
        (lambda: lodcore.join_asof(FLAT, [[[1]]]), LoDError, "join_asof: y: has 2 levels; x has 1"),
        (
            lambda: lodcore.join_asof([[[1]]], [[[1], [2]]]),
            LoDError,
            "y: sequence 0 of level 0 has length 2",
        ),
        (
            lambda: lodcore.windows_around(NAN_FIRST, 1.0, times=NAN_FIRST),
            ValueError,
            "times: row 0 is nan, and row 1 after it is 5.0; nan and NaT must come last",
        ),
        (lambda: lodcore.join_asof(FALLING, FALLING), ValueError, "join_asof: y: row 1 is 1, below"),
        (lambda: lodcore.join_asof(FLAT, FLAT, direction="up"), ValueError, "join_asof: direction: is 'up'"),
        (lambda: lodcore.join_asof(FLAT, FLAT, tolerance=-1), ValueError, "join_asof: tolerance: is -1"),
        (lambda: lodcore.join_asof(FLAT, FLAT, FLAT), DTypeError, "join_asof: column 0: .*int64, which has no nan"),
        (lambda: lodcore.join_asof(FLAT, FLAT, FLAT[:1] * 1.0), LoDError, "join_asof: column 0: has 1 sequences"),
        (lambda: lodcore.join_asof(FLAT, FLAT, x_keys=[1, 2, 3]), ValueError, "join_asof: y_keys: is None"),
        (
            lambda: lodcore.join_asof(FLAT, FLAT, x_keys=[1, 2, 3], y_keys=[1, 1, 2]),
            ValueError,
            "join_asof: y_keys: repeat",
        ),
        (lambda: lodcore.join_asof(FLAT, DATES), DTypeError, "join_asof: "),
        (
            lambda: lodcore.join_asof(spans("M"), spans("D")),
            DTypeError,
            r"join_asof: y: has dtype timedelta64\[D\]; x has timedelta64\[M\], and they have no common one",
        ),
        (
            lambda: lodcore.join_asof(DATES, DATES, tolerance=np.timedelta64(1, "M")),
            DTypeError,
            r"join_asof: tolerance: has dtype timedelta64\[M\]; the values differ by",
        ),
        (
            lambda: lodcore.sequence_searchsorted(spans("M"), spans("D")),
            DTypeError,
            r"sequence_searchsorted: v: has dtype timedelta64\[D\]; x has timedelta64\[M\]",
        ),
        (
            lambda: lodcore.vjp(lambda x: lodcore.sequence_searchsorted(x, spans("D")), spans("M")),
            DTypeError,
            r"sequence_searchsorted: v: has dtype timedelta64\[D\]; x has timedelta64\[M\]",
        ),
        (
            lambda: lodcore.match_keys(spans("M").values, spans("D").values),
            DTypeError,
            r"match_keys: y_keys: has dtype timedelta64\[D\]; x_keys has timedelta64\[M\]",
        ),
        (
            lambda: np.concatenate([spans("D"), spans("D"), spans("M")]),
            DTypeError,
            r"numpy.concatenate: arrays\[2\]: has dtype timedelta64\[M\]; arrays\[0\] has timedelta64\[D\]",
        ),
        (
            lambda: lodcore.join_asof(FLAT, LoDTensor(np.ones((5, 2)), FLAT.lod)),
            ShapeError,
            "join_asof: y: has rows of 1 axes",
        ),
        (lambda: lodcore.sequence_fill(FLAT, "up"), ValueError, "sequence_fill: direction: is 'up'"),
        (lambda: lodcore.sequence_fill(FLAT, limit=0), ValueError, "sequence_fill: limit: is 0; 1 or more"),
        (lambda: lodcore.sequence_fill(FLAT, level=1), LevelError, "sequence_fill: level: is 1"),
        (lambda: lodcore.sequence_resample(FLAT, 0), ValueError, "sequence_resample: n: is 0; 1 or more"),
        (lambda: lodcore.sequence_resample(FLAT, 2, FLAT[:1]), LoDError, "sequence_resample: "),
        (lambda: lodcore.sequence_resample([["a"]], 2), DTypeError, "sequence_resample: x: has dtype <U1"),
        (
            lambda: lodcore.sequence_resample([[1.0]], 2, [["a"]]),
            DTypeError,
            "sequence_resample: times: has dtype <U1; real numbers, dates or durations are needed",
        ),
        (
            lambda: lodcore.sequence_resample(FLAT, 2, DATES.with_values(DATES.values[::-1])),
            ValueError,
            "sequence_resample: times: row 1 is .*, below the row before it",
        ),
    ],
)
def test_refusals_name_argument_and_value(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_durations_of_the_standard_library_are_distances():
    half = datetime.timedelta(seconds=1)
    assert lodcore.windows_around(FLAT, half, half, times=DATES).lengths.tolist() == [2, 0, 3]
    assert lodcore.join_asof(DATES, DATES, tolerance=half)[0].tolist() == [[0, 1], [], [0, 1, 2]]


def program_of(function, *tensors):
    """Return the result of a Program that knows the structure of none of its inputs."""
    with lodcore.Program() as program:
        fed = [lodcore.data(f"x{j}", (None,), x.dtype, num_levels=1) for j, x in enumerate(tensors)]
        made = function(*fed)
    return lodcore.Executor().run(program, {f"x{j}": x for j, x in enumerate(tensors)}, [made])[0]


@pytest.mark.parametrize("way", [lambda f, *xs: f(*xs), lambda f, *xs: lodcore.vjp(f, *xs), program_of])
def test_columns_and_times_of_another_structure_are_refused_in_every_way(way):
    times, other = lodcore.array([[1.0, 2.0], [3.0]]), lodcore.array([[10.0], [20.0, 30.0]])
    unlike = "sequence 0 of level 0 has length 1; that of {} has 2"
    with pytest.raises(LoDError, match="join_asof: column 0: " + unlike.format("y")):
        way(lambda t, column: lodcore.join_asof(t, t, column)[1], times, other)
    with pytest.raises(LoDError, match="windows_around: times: " + unlike.format("x")):
        way(lambda x, t: lodcore.windows_around(x, 1.0, times=t), times, other)
    with pytest.raises(LoDError, match="sequence_split: mask: " + unlike.format("x")):
        way(lambda x, mask: lodcore.sequence_split(x, mask > 0), times, other)


def test_dates_far_apart_have_windows_and_gaps():
    early = LoDTensor.from_lengths(np.array(["1700-01-01", "NaT"], "M8[ns]"), [2])
    for way in (lambda f, *xs: f(*xs), program_of):
        for days in (30_000, 300_000):
            found = way(
                lambda t, days=days: lodcore.windows_around(t, *[np.timedelta64(days, "D")] * 2, times=t), early
            )
            assert lodcore.lod_lengths(found, 1).tolist() == [1, 1]
        dates = LoDTensor.from_lengths(np.array(["1700", "2250", "NaT", "2251"], "M8[ns]"), [4])
        found = way(lambda x: lodcore.sequence_gaps(x, np.timedelta64(365, "D")), dates)
        assert found.tolist() == [[False, True, False, False]]
        found = way(lambda x: lodcore.sequence_gaps(x, np.timedelta64(300_000, "D")), dates)
        assert found.tolist() == [[False] * 4]


def test_join_asof_takes_equal_infinite_times():
    inf = math.inf
    for way in (lambda f, *xs: f(*xs), program_of):
        x, y = lodcore.array([[inf, -inf, 0.0]]), lodcore.array([[-inf, 1.0, inf, inf]])
        for tolerance in (None, 1.0):
            options = {"direction": "nearest", "tolerance": tolerance}
            assert way(lambda x, y, o=options: lodcore.join_asof(x, y, **o)[0], x, y).tolist() == [[3, 0, 1]]


FAR_UNITS = [
    lambda x, y, one: lodcore.join_asof(x, y),
    lambda x, y, one: lodcore.sequence_searchsorted(x, y),
    lambda x, y, one: lodcore.sequence_gaps(x, one),
    lambda x, y, one: lodcore.windows_around(x, one, times=x),
    lambda x, y, one: lodcore.arange(x[0][0], x[0][0] + np.timedelta64(1, "D"), one),
    lambda x, y, one: lodcore.less_than(x, y),
]


@pytest.mark.parametrize("call", FAR_UNITS)
def test_units_without_a_common_one_are_refused_by_name(call):
    x, y = (lodcore.array([np.array(["2020-01-01"], f"M8[{unit}]")]) for unit in ("D", "as"))
    with pytest.raises(lodcore.DTypeError, match=r"^\w+: .*(no common one|Integer overflow)"):
        call(x, y, np.timedelta64(1, "as"))


@pytest.mark.not_on_reference
def test_sequences_are_joined_by_keys_in_a_program():
    x, y = lodcore.array([[1.0], [5.0]]), lodcore.array([[1.0], [2.0]])
    with Program() as program:
        made = lodcore.join_asof(
            *(data(name, (None,), "f8", num_levels=1) for name in "xy"), x_keys=[1, 2], y_keys=[2, 1]
        )
    assert Executor().run(program, {"x": x, "y": y}, list(made))[0].tolist() == [[-1], [0]]
    with pytest.raises(lodcore.ShapeError, match="join_asof: x: has 1 rows; there are 2 keys"):
        Executor().run(program, {"x": x[:1], "y": y}, list(made))
    for keys in ([3, 3], [1, 1]):
        with pytest.raises(ValueError, match="join_asof: y_keys: repeat"):
            lodcore.join_asof(x, y, x_keys=[1, 2], y_keys=keys)


@for_each("dtype", ["f2", "f4"])
def test_distances_of_short_floats_are_not_rounded(dtype):
    """2**n + 1 is no number of the dtype, and still further from -1 than 2**n is from 0."""
    far = 2.0 ** (np.finfo(dtype).nmant + 1)
    times, last, before = (lodcore.array([one], dtype=dtype) for one in ([far, far + 2], [far], [-1, far - 1]))
    x = lodcore.array([[0, 1]])
    assert lodcore.windows_around(x, 1, 1, times).tolist() == [[[0], [1]]]
    assert lodcore.windows_around(x, 1, 0, times, "right").tolist() == [[[0], [1]]]
    assert lodcore.join_asof(last, before[:, :1], tolerance=far)[0].tolist() == [[-1]]
    assert lodcore.join_asof(last, before, direction="nearest", tolerance=1)[0].tolist() == [[1]]


def test_a_tolerance_beyond_the_dtype_of_the_times_is_not_infinite():
    x, y = lodcore.array([[np.inf]], dtype="f2"), lodcore.array([[1, 1000]], dtype="f2")
    assert lodcore.join_asof(x, y, tolerance=70_000)[0].tolist() == [[-1]]


@for_each(
    ("x", "y", "direction", "tolerance", "place"),
    [
        (2**64 - 1, [-1], "backward", 2, -1),
        (2**64 - 1, [-1, 2**63 - 1], "nearest", 2**63, 1),
        (2**64 - 3, [-(2**63)], "backward", 2**63, -1),
        (2**63, [-5], "backward", 2**63 + 5, 0),
        (2**63, [-5], "backward", 2**63 + 4, -1),
    ],
)
def test_join_asof_of_signed_and_unsigned_integers_does_not_wrap(x, y, direction, tolerance, place):
    times, known = lodcore.array([[x]], dtype="u8"), lodcore.array([y])
    assert lodcore.join_asof(times, known, direction=direction, tolerance=tolerance)[0].tolist() == [[place]]
    if direction == "backward":
        found = lodcore.join_asof(known, times, direction="forward", tolerance=tolerance)
        assert found[0].tolist() == [[0 if place >= 0 else -1]]


def test_the_last_point_of_a_resampled_sequence_is_its_last_row():
    x, times = lodcore.array([[7.5, 3.0, 3.25]]), lodcore.array([[-1e300, 0.5, 1e16]])
    assert lodcore.sequence_resample(x, 2, times).tolist() == [[7.5, 3.25]]
    assert lodcore.sequence_resample(x, 1, times).tolist() == [[7.5]]
