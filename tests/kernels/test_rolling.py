"""Rolling windows: kernels and their twins."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree
from tests.helpers.draw import int64, read_only
from tests.helpers.rows import REALS, SEEDS, alike, rows
from tests.helpers.tables import for_each

SIZES = st.integers(1, 9) | st.just(2**62)


@pytest.mark.not_on_reference
class TestTwins:
    @given(rows(REALS), SIZES, st.integers(0, 4), st.integers(0, 5), st.sampled_from([0.0, 1.0]), st.booleans())
    def test_roll(self, drawn, size, least, kind, ddof, reverse):
        x, offsets = drawn
        out = np.zeros(x.shape, x.dtype)
        agree("rolling.roll_rows", x, offsets, size, least, kind, ddof, reverse, out, seen=alike)

    @pytest.mark.parametrize("dtype", REALS)
    @pytest.mark.parametrize("kind", range(5))
    @pytest.mark.parametrize("size", [1, 2, 5])
    def test_rolling_windows_with_infinities_and_nan(self, size, kind, dtype):
        """A single row in a window, before and after others, and in one sequence after another."""
        random = np.random.default_rng(size)
        x = read_only(
            random.choice([np.inf, -np.inf, np.nan, 1.0, 2.0, 3.0], (120, 2), p=[0.1] * 3 + [0.2, 0.2, 0.3]).astype(
                dtype
            )
        )
        offsets = int64([0, 1, 1, 2, 5, 12, 40, 120])
        for reverse in (False, True):
            agree("rolling.roll_rows", x, offsets, size, 1, kind, 0.0, reverse, np.zeros(x.shape, dtype), seen=alike)

    @given(rows(REALS), SIZES, st.integers(0, 4), st.integers(2, 3), SEEDS)
    def test_spread(self, drawn, size, least, kind, seed):
        x, offsets = drawn
        d = read_only(np.random.default_rng(seed).integers(-4, 5, x.shape).astype(x.dtype))
        agree("rolling.spread_windows", x, offsets, size, least, kind, d, np.zeros(x.shape, x.dtype))

    @given(rows(REALS), SIZES, st.integers(0, 4), SEEDS)
    def test_medians(self, drawn, size, least, seed):
        ordered, positions, offsets = in_order(*drawn)
        room, out = np.zeros((len(ordered), 2), np.int64), np.zeros(ordered.shape, ordered.dtype)
        given_ = (ordered, positions, offsets, size, least)
        agree("rolling.roll_medians", *given_, room, out, seen=alike)
        d = read_only(np.random.default_rng(seed).integers(-4, 5, out.shape).astype(out.dtype))
        agree("rolling.spread_medians", *given_, d, room, out, seen=alike)


def in_order(x, offsets):
    """Sort the rows of each sequence, column by column; return also their positions."""
    places = np.zeros(x.shape, np.int64)
    for start, stop in itertools.pairwise(offsets):
        places[start:stop] = np.argsort(x[start:stop], axis=0, kind="stable")
    firsts = np.repeat(offsets[:-1], np.diff(offsets))[:, None]
    return read_only(np.take_along_axis(x, places + firsts, 0)), read_only(places), offsets


NAN, INF = float("nan"), float("inf")


@for_each("dtype", REALS)
@for_each(
    ("kind", "ddof", "x", "wanted"),
    [
        (4, 0.0, [1, 3, 3], [0, 1, 0]),
        (4, 1.0, [1, 3, 3], [NAN, 2, 0]),
        (4, 2.0, [1, 3, 3], [NAN] * 3),  # as many rows as are subtracted
        (4, 0.5, [1, 3, 3], [0, 4 / 3, 0]),
        (5, 1.0, [1, 3, 3], [NAN, 2**0.5, 0]),
        (5, 2.0, [5, 5, 5], [NAN] * 3),
        (4, 0.0, [INF, 1, 1], [NAN, NAN, 0]),
        (5, 0.0, [1, -INF, 1], [0, NAN, NAN]),
        (2, 0.0, [NAN, 1, 0], [NAN, NAN, 1]),
        (3, 0.0, [1, NAN, 0], [1, NAN, NAN]),
    ],
)
@for_each("reverse", [False, True])
def test_windows_of_two_rows(dtype, kind, ddof, x, wanted, reverse):
    turn = slice(None, None, -1 if reverse else 1)
    out, x = np.empty((6, 1), dtype), np.array([*x, *x], dtype)[turn, None].copy()
    kernels.rolling.roll_rows(x, int64([0, 3, 3, 6]), 2, 1, kind, ddof, reverse, out)
    np.testing.assert_allclose(out[turn, 0], [*wanted, *wanted], rtol=1e-6)


@for_each("dtype", REALS)
@for_each("size", [2, 3, 4, 5, 2**62])
@for_each("least", [1, 2, 3, 4, 5])
def test_windows_of_fewer_rows_than_are_required(least, size, dtype):
    """Also if no sequence has as many rows."""
    x, out, back = np.ones((5, 1), dtype), np.empty((5, 1), dtype), np.empty((5, 1), dtype)
    counts = [min(k, size) for k in (1, 2, 1, 2, 3)]
    kernels.rolling.roll_rows(x, int64([0, 2, 5]), size, least, 0, 0.0, False, out)
    np.testing.assert_array_equal(out[:, 0], [count if count >= least else NAN for count in counts])
    kernels.rolling.spread_windows(x, int64([0, 2, 5]), size, least, 2, np.ones_like(x), back)
    assert back.sum() == sum(count >= least for count in counts)


@for_each("dtype", REALS)
@for_each(
    ("kind", "x", "wanted"),
    [
        (2, [1, 1, 1, 0], [3, 1, 0, 0]),  # the first of equal rows, as long as it is in the window of three
        (3, [1, 1, 1, 2], [3, 1, 0, 0]),
        (3, [2, 2, 1, 1], [2, 0, 2, 0]),
        (2, [0, NAN, NAN, 5], [1, 3, 0, 0]),
        (3, [NAN, 0, 0, 0], [3, 1, 0, 0]),
        (2, [-INF, -INF, 0, 0], [2, 0, 2, 0]),
    ],
)
def test_the_first_of_equal_rows_receives_the_cotangents(dtype, kind, x, wanted):
    x, out = np.array([*x, *x], dtype)[:, None], np.full((8, 1), 9, dtype)
    kernels.rolling.spread_windows(x, int64([0, 4, 8]), 3, 1, kind, np.ones_like(x), out)
    assert out[:, 0].tolist() == [*wanted, *wanted]


def test_arrays_that_do_not_belong_together():
    x, offsets, one = np.zeros((2, 3)), int64([0, 2]), np.zeros((1, 3))
    places, room = np.zeros((2, 3), np.int64), np.zeros((2, 2), np.int64)
    for call in [
        lambda: kernels.rolling.roll_rows(x, offsets, 0, 1, 0, 0.0, False, x),
        lambda: kernels.rolling.roll_rows(x, offsets, 1, 1, 0, 0.0, False, one),
        lambda: kernels.rolling.roll_rows(x, int64([0, 1]), 1, 1, 0, 0.0, False, x),
        lambda: kernels.rolling.spread_windows(x, offsets, 1, 1, 2, one, x),
        lambda: kernels.rolling.spread_windows(x, offsets, 0, 1, 2, x, x),
        lambda: kernels.rolling.roll_medians(x, places, offsets, 0, 1, room, x),
        lambda: kernels.rolling.roll_medians(x, places, offsets, 1, 1, places, x),
        lambda: kernels.rolling.roll_medians(x, places, int64([0, 1]), 1, 1, room, x),
        lambda: kernels.rolling.roll_medians(x, places, offsets, 1, 1, room, one),
        lambda: kernels.rolling.spread_medians(x, places, offsets, 1, 1, one, room, x),
    ]:
        with pytest.raises(ValueError, match="belong together"):
            call()


@for_each("place", [-1, 2])
def test_medians_of_positions_outside_of_a_sequence_are_refused(place):
    x, places, room = np.zeros((3, 1)), int64([[0], [1], [place]]), np.zeros((3, 2), np.int64)
    with pytest.raises(ValueError, match="not in its sequence"):
        kernels.rolling.roll_medians(x, places, int64([0, 1, 3]), 2, 1, room, x.copy())
    with pytest.raises(ValueError, match="not in its sequence"):
        kernels.rolling.spread_medians(x, places, int64([0, 1, 3]), 2, 1, x, room, x.copy())
