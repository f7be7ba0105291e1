"""Places among sorted numbers, and values between points: kernels and their twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum
from tests.helpers.rows import SEEDS


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

    @given(searches(st.just("f8")), SEEDS)
    def test_interpolate(self, drawn, seed):
        xp, offsets, x, wanted = drawn
        fp = read_only(np.random.default_rng(seed).normal(size=len(xp)))
        results = np.zeros(len(x)), np.zeros(len(x), np.int64), np.zeros(len(x))

        def seen(*arguments):
            for array in (arguments[5], arguments[7]):
                array[np.isnan(array)] = np.nan
            return list(arguments[5:])

        agree("search.interpolate_rows", x, wanted, xp, fp, offsets, *results, seen=seen)


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
