"""Rows and their predecessors: kernels and their twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, read_only, running_sum
from tests.helpers.rows import OFFSETS, REALS, SEEDS, alike, rows


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


def test_arrays_that_do_not_belong_together():
    x, offsets, kept, wrong = np.zeros((2, 3)), int64([0, 2]), int64([0, 1]), int64([0, 1, 2])
    letters, one = np.zeros((2, 3), "u1"), np.zeros((1, 3))
    module = kernels.neighbours
    for call in [
        lambda: module.subtract_rows(x, offsets, offsets, x),
        lambda: module.subtract_rows(x, offsets, wrong, one),
        lambda: module.subtract_rows(x, offsets, kept, one[:, :2].copy()),
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
