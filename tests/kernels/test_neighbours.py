"""Rows and their predecessors: kernels and their twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, read_only, running_sum
from tests.helpers.rows import OFFSETS, REALS, SEEDS, alike, rows
from tests.helpers.tables import for_each


def shorter(offsets):
    """Return the offsets of one row fewer per sequence."""
    return int64(running_sum(np.maximum(np.diff(offsets) - 1, 0).tolist()))


@pytest.mark.not_on_reference
class TestTwins:
    @given(rows([*REALS, "u1", "u2", "u4", "u8"]))
    def test_subtract(self, drawn):
        x, offsets = drawn
        kept = shorter(offsets)
        out = np.zeros((int(kept[-1]), x.shape[1]), x.dtype)
        agree("neighbours.subtract_rows", x, offsets, kept, out, seen=alike)

    @given(OFFSETS, SEEDS, st.sampled_from(REALS))
    def test_spread_differences(self, offsets, seed, dtype):
        kept = shorter(offsets)
        given_rows = read_only(np.random.default_rng(seed).normal(size=(int(kept[-1]), 2)).astype(dtype))
        out = np.zeros((int(offsets[-1]), 2), dtype)
        agree("neighbours.spread_differences", given_rows, offsets, kept, out)

    @given(rows(["u1"]), st.integers(-6, 6) | st.sampled_from([2**63 - 1, -(2**63)]))
    def test_shift(self, drawn, n):
        x, offsets = drawn
        fill = read_only(np.full(x.shape[1], 7, "u1"))
        agree("neighbours.shift_rows", x, offsets, n, fill, unwritten(*x.shape, dtype="u1"))

    @given(rows([*REALS, "i8", "u8"]), st.integers(0, 2))
    def test_accumulate(self, drawn, kind):
        x, offsets = drawn
        agree("neighbours.accumulate_rows", x, offsets, kind, np.zeros(x.shape, x.dtype), seen=alike)

    @given(rows(REALS), st.integers(0, 2), SEEDS)
    def test_spread_accumulated(self, drawn, kind, seed):
        x, offsets = drawn
        d = read_only(np.random.default_rng(seed).normal(size=x.shape).astype(x.dtype))
        agree("neighbours.spread_accumulated", x, offsets, kind, d, np.zeros(x.shape, x.dtype), seen=alike)

    @given(rows(REALS), st.sampled_from([0.0, 0.5, 0.9]), st.booleans())
    def test_decay(self, drawn, share, reverse):
        x, offsets = drawn
        agree("neighbours.decay_rows", x, offsets, share, reverse, np.zeros(x.shape, x.dtype), seen=alike)


NAN, INF = float("nan"), float("inf")


@for_each("dtype", ["f4", "f8"])
@for_each(
    ("kind", "x", "wanted", "gradient"),
    [
        (0, [3, 0, 2], [3, 0, 0], [1, 9, 0]),  # cotangents are 1, 1, 1, ...
        (1, [1, NAN, 5, NAN], [1, NAN, NAN, NAN], [1, 3, 0, 0]),
        (2, [NAN, NAN, -INF, 0], [NAN] * 4, [4, 0, 0, 0]),
        (1, [2, 2, 1, 3], [2, 2, 2, 3], [3, 0, 0, 1]),
        (2, [2, 2, 3, 1], [2, 2, 2, 1], [3, 0, 0, 1]),
        (1, [-INF, -INF], [-INF, -INF], [2, 0]),
    ],
)
def test_running_products_and_extremes(dtype, kind, x, wanted, gradient):
    """The first of equal rows stays, and the first nan, regardless of the previous content of the result."""
    x, offsets = np.array(x, dtype)[:, None], int64([0, 0, len(x)])
    out, back = np.full_like(x, NAN), np.full_like(x, NAN)
    kernels.neighbours.accumulate_rows(x, offsets, kind, out)
    np.testing.assert_array_equal(out[:, 0], wanted)
    kernels.neighbours.spread_accumulated(x, offsets, kind, np.ones_like(x), back)
    np.testing.assert_array_equal(back[:, 0], gradient)


@for_each("dtype", ["i8", "u8"])
def test_running_extremes_of_integers_beyond_float64(dtype):
    x = np.array([[2**53], [2**53 + 1], [2**53], [2**62 + 1], [2**62]]).astype(dtype)
    for kind, by in ((1, np.maximum), (2, np.minimum)):
        out = np.empty_like(x)
        kernels.neighbours.accumulate_rows(x[::-1].copy() if kind == 2 else x, int64([0, 5]), kind, out)
        assert (out == by.accumulate(x[::-1] if kind == 2 else x)).all()


@for_each("reverse", [False, True])
def test_decaying_sums_are_float64_until_they_are_written(reverse):
    x, out = np.array([[2**24], [1], [1], [0]][:: -1 if reverse else 1], "f4"), np.empty((4, 1), "f4")
    kernels.neighbours.decay_rows(x, int64([0, 4]), 1.0, reverse, out)
    assert out[:: -1 if reverse else 1, 0].tolist() == [2**24, 2**24, 2**24 + 2, 2**24 + 2]


@for_each("n", [-(2**63), 1 - 2**63, -3, -2, -1, 0, 1, 2, 3, 2**63 - 1])
def test_shift_rows_by_more_rows_than_a_sequence_has(n):
    rows = [1, 2, 5, 6, 7]
    out = unwritten(5, 1, dtype="u1")
    fill = np.array([9], "u1")
    kernels.neighbours.shift_rows(np.array([rows], "u1").T.copy(), int64([0, 2, 2, 5]), n, fill, out)
    wanted = [part[k - n] if 0 <= k - n < len(part) else 9 for part in (rows[:2], rows[2:]) for k in range(len(part))]
    assert out[:, 0].tolist() == wanted


def test_arrays_that_do_not_belong_together():
    x, offsets, kept, wrong = np.zeros((2, 3)), int64([0, 2]), int64([0, 1]), int64([0, 1, 2])
    letters, one = np.zeros((2, 3), "u1"), np.zeros((1, 3))
    module = kernels.neighbours
    for call in [
        lambda: module.subtract_rows(x, offsets, offsets, x),
        lambda: module.subtract_rows(x, offsets, wrong, one),
        lambda: module.subtract_rows(x, offsets, kept, one[:, :2].copy()),
        lambda: module.subtract_rows(x, offsets, kept, x),
        lambda: module.subtract_rows(x, offsets, int64([1, 2]), x),
        lambda: module.spread_differences(x, offsets, kept, x),
        lambda: module.spread_differences(one, kept, kept, x),
        lambda: module.spread_differences(one[:, :2].copy(), offsets, kept, x),
        lambda: module.shift_rows(letters, kept, 1, np.zeros(3, "u1"), letters),
        lambda: module.shift_rows(letters, offsets, 1, np.zeros(2, "u1"), letters),
        lambda: module.accumulate_rows(x, offsets, 1, one),
        lambda: module.spread_accumulated(x, offsets, 1, one, x),
        lambda: module.decay_rows(x, kept, 0.5, False, x),
    ]:
        with pytest.raises(ValueError, match="belong together"):
            call()
