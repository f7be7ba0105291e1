"""Binary search and interpolation: kernels and their twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum
from tests.helpers.rows import SEEDS
from tests.helpers.tables import for_each


@st.composite
def searches(draw, dtypes):
    """Draw two lists of sequences of few different numbers, the first one mostly sorted."""
    count, dtype, random = draw(st.integers(0, 6)), np.dtype(draw(dtypes)), np.random.default_rng(draw(SEEDS))
    made = []
    for _ in range(2):
        offsets = int64(running_sum(draw(lengths(count, longest=8))))
        numbers = random.integers(0, 6, int(offsets[-1])).astype(dtype)
        if dtype.kind == "f":
            numbers[random.random(len(numbers)) < 0.2] = np.nan
        made += [numbers, offsets]
    if draw(st.integers(0, 4)):
        for first, stop in zip(made[1][:-1], made[1][1:], strict=True):
            made[0][first:stop].sort()
    return read_only(made[0]), made[1], read_only(made[2]), made[3]


@pytest.mark.not_on_reference
class TestTwins:
    @given(searches(st.sampled_from(["f4", "f8", "i8", "u8"])), st.booleans())
    def test_search(self, drawn, right):
        agree("search.search_rows", *drawn, right, unwritten(len(drawn[2])))

    @given(searches(st.sampled_from(["f8", "i8", "u8"])), SEEDS)
    def test_interpolate(self, drawn, seed):
        xp, offsets, x, wanted = drawn
        random = np.random.default_rng(seed)
        fp = random.normal(size=len(xp))
        fp[random.random(len(xp)) < random.choice([0, 0.5])] = random.choice([np.inf, -np.inf])
        fp = read_only(fp)
        results = np.zeros(len(x)), np.zeros(len(x), np.int64), np.zeros(len(x))

        def seen(*arguments):
            for array in (arguments[5], arguments[7]):
                array[np.isnan(array)] = np.nan
            return list(arguments[5:])

        agree("search.interpolate_rows", x, wanted, xp, fp, offsets, *results, seen=seen)

    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    @pytest.mark.parametrize("right", [False, True])
    def test_search_for_nan(self, right, dtype):
        """nan sorts after all numbers, and before or after other nans."""
        x = read_only(np.array([1, np.nan, np.nan, 0, np.inf, np.nan, np.nan, np.nan], dtype))
        v = read_only(np.array([np.nan, np.inf, np.nan, np.nan, 2], dtype))
        out = unwritten(5)
        agree("search.search_rows", x, int64([0, 3, 6, 8]), v, int64([0, 2, 3, 5]), right, out)
        kernels.search.search_rows(x, int64([0, 3, 6, 8]), v, int64([0, 2, 3, 5]), right, out)
        assert out.tolist() == ([3, 1, 3, 2, 0] if right else [1, 1, 2, 0, 0])

    def test_interpolate_rows_at_infinite_points_equals_numpy(self):
        """At a point, the result is its value, for any other points."""
        xp, fp = read_only(np.array([0.0, 1, 2, 3])), read_only(np.array([5.0, np.inf, -np.inf, 7]))
        x, out = read_only(np.array([0.0, 1, 2, 3, 0.5, 2.5])), np.zeros(6)
        kernels.search.interpolate_rows(
            x, int64([0, 6]), xp, fp, int64([0, 4]), out, np.zeros(6, np.int64), np.zeros(6)
        )
        np.testing.assert_array_equal(out, [5, np.inf, -np.inf, 7, np.inf, -np.inf])
        np.testing.assert_array_equal(out, np.interp(x, xp, fp))


@for_each(
    ("fp", "x", "wanted"),
    [
        ([2, 2], 0.5, 2),
        ([np.inf, np.inf], 0.5, np.inf),  # equal points have no slope
        ([-np.inf, -np.inf], 0.5, -np.inf),
        ([np.inf, 1], 0.5, np.inf),
        ([1, -np.inf], 0.5, -np.inf),
        ([-np.inf, np.inf], 0.5, np.nan),
        ([1, 3], -1, 1),
        ([1, 3], 1, 3),
        ([1, 3], 7, 3),
        ([1, 3], np.nan, np.nan),
        ([1, np.nan], 0, 1),
    ],
)
def test_between_two_points(fp, x, wanted):
    out, places, weights = np.zeros(1), np.zeros(1, np.int64), np.zeros(1)
    arguments = np.array([x], float), int64([0, 0, 1]), np.array([0.0, 1]), np.array(fp, float), int64([0, 0, 2])
    kernels.search.interpolate_rows(*arguments, out, places, weights)
    np.testing.assert_array_equal(out, [wanted])
    np.testing.assert_array_equal(out, np.interp([x], [0, 1], fp))


def test_many_sequences_of_one_point_or_two():
    counts = [1, 2, 0, 1] * 6
    offsets, wanted = int64(running_sum(counts)), int64(range(25))
    xp = np.array([float(k) for count in counts for k in range(count)])
    x, out, places, weights = np.full(24, 0.25), np.empty(24), unwritten(24), np.empty(24)
    kernels.search.interpolate_rows(x, wanted, xp, xp + offsets[:-1].repeat(counts), offsets, out, places, weights)
    np.testing.assert_array_equal(out, [[np.nan, a, a + 0.25][n] for a, n in zip(offsets, counts, strict=False)])
    assert places.tolist() == [a if n else -1 for a, n in zip(offsets, counts, strict=False)]
    assert weights.tolist() == [0.25 * (n == 2) for n in counts]


@for_each(("dtype", "far"), [("i8", 2**62), ("u8", 2**63 + 2**62)])
def test_search_rows_distinguishes_integers_beyond_float64(dtype, far):
    x, v, out = (np.array([far + k for k in some], dtype) for some in ([0, 1, 1, 3], [0, 1, 2, 4], [0] * 4))
    for right, wanted in ((False, [0, 1, 3, 4]), (True, [1, 3, 3, 4])):
        out = unwritten(4)
        kernels.search.search_rows(x, int64([0, 4]), v, int64([0, 4]), right, out)
        assert out.tolist() == wanted


@for_each(("dtype", "start"), [("i8", -(2**63)), ("i8", 2**63 - 200), ("u8", 2**64 - 200)])
def test_interpolate_rows_between_integers_beyond_float64(dtype, start):
    """Distances are those from the neighbours, however far the first point is."""
    xp, x = np.array([-(2**63) if dtype == "i8" else 0, start + 1, start + 101], dtype), np.array([start + 26], dtype)
    out, places, weights = np.zeros(1), np.zeros(1, np.int64), np.zeros(1)
    arguments = x, int64([0, 1]), xp, np.array([7.0, 0.0, 8.0]), int64([0, 3])
    kernels.search.interpolate_rows(*arguments, out, places, weights)
    assert (out[0], places[0], weights[0]) == (2, 1, 0.25)


def test_arrays_that_do_not_belong_together():
    x, offsets, one, places = np.zeros(2), int64([0, 2]), np.zeros(1), np.zeros(2, np.int64)
    search, interpolate = kernels.search.search_rows, kernels.search.interpolate_rows
    for call in [
        lambda: search(x, int64([0, 1]), x, offsets, False, places),
        lambda: search(x, offsets, one, offsets, False, places),
        lambda: search(x, offsets, x, int64([0, 1, 2]), False, places),
        lambda: interpolate(x, offsets, x, one, offsets, x, places, x),
        lambda: interpolate(one, offsets, x, x, offsets, x, places, x),
        lambda: interpolate(x, offsets, x, x, offsets, one, places, x),
    ]:
        with pytest.raises(ValueError, match="belong together"):
            call()
