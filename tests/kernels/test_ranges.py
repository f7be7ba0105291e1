"""Ranges of numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum


@pytest.mark.not_on_reference
class TestTwins:
    @given(lengths(most=8), st.sampled_from([np.int64, np.float64]), st.integers(0, 2**32))
    def test_fill_ranges(self, sizes, dtype, seed):
        random = np.random.default_rng(seed)
        starts, steps = (
            read_only((random.integers(-50, 50, len(sizes)) / (1, 3)[dtype == np.float64]).astype(dtype))
            for _ in range(2)
        )
        offsets = int64(running_sum(sizes))
        agree("ranges.fill_ranges", starts, steps, offsets, unwritten(int(offsets[-1]), dtype=dtype))


def test_no_rounding_accumulates():
    """As in NumPy, element k is start + k * step."""
    out = np.empty(41)
    kernels.ranges.fill_ranges(np.array([0.1]), np.array([0.1]), int64([0, 41]), out)
    assert out.tolist() == [0.1 + k * 0.1 for k in range(41)]


def test_ranges_begin_with_their_start():
    out = np.empty(5, np.int64)
    kernels.ranges.fill_ranges(int64([7, 0, 5]), int64([1, 9, -2]), int64([0, 2, 2, 5]), out)
    assert out.tolist() == [7, 8, 5, 3, 1]
