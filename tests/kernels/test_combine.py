"""Combinations of elements: pairs of one sequence, pairs of two, several sequences interleaved."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, running_sum

SIZES = lengths(most=8)


@pytest.mark.not_on_reference
class TestTwins:
    @given(SIZES, st.sampled_from([0, 1]))
    def test_pair_ranges(self, sizes, gap):
        offsets = int64(running_sum(sizes))
        count = int(offsets[-1])
        agree("combine.pair_ranges", offsets, gap, unwritten(count + 1), unwritten(count, 2), unwritten(len(offsets)))

    @given(SIZES, st.data())
    def test_product_ranges(self, sizes, data):
        offsets = int64(running_sum(sizes))
        others = int64(running_sum(data.draw(lengths(count=len(sizes)))))
        count = int(offsets[-1])
        outputs = unwritten(count + 1), unwritten(count, 2), unwritten(len(offsets))
        agree("combine.product_ranges", offsets, others, *outputs)

    def test_too_many_pairs_are_reported(self):
        offsets, others = int64([0, 1, 4]), int64([0, 5, 2**62])
        outputs = unwritten(5), unwritten(4, 2), unwritten(3)
        assert agree("combine.product_ranges", offsets, others, *outputs) == 1

    @given(SIZES.filter(lambda sizes: max(sizes, default=0) < 20), st.integers(1, 4), st.booleans(), st.data())
    def test_combinations(self, sizes, n, again, data):
        offsets, counts = int64(running_sum(sizes)), unwritten(len(sizes) + 1)
        agree("combine.combination_offsets", offsets, n, int(again), counts)
        kernels.combine.combination_offsets(offsets, n, int(again), counts)
        agree(
            "combine.list_combinations",
            offsets,
            n,
            int(again),
            data.draw(st.integers(0, n - 1)),
            data.draw(st.booleans()),
            unwritten(n),
            unwritten(int(counts[-1])),
            seen=lambda *given: [given[-1]],
        )

    @pytest.mark.parametrize(("sizes", "n"), [([3, 2**40], 2), ([3, 200], 64), ([2**31, 2**32], 2), ([1, 2**62], 1)])
    def test_combinations_that_cannot_be_counted_are_reported(self, sizes, n):
        found = agree("combine.combination_offsets", int64(running_sum(sizes)), n, 0, unwritten(3))
        assert found == {(2**40, 2): 1, (200, 64): 1, (2**32, 2): 1, (2**62, 1): -1}[sizes[1], n]

    @given(SIZES, st.data())
    def test_take_turns(self, sizes, data):
        parts = [sizes, *[data.draw(lengths(count=len(sizes))) for _ in range(data.draw(st.integers(0, 3)))]]
        levels = [int64(running_sum(part)) for part in parts]
        agree("combine.take_turns", levels, unwritten(sum(map(sum, parts))))


def test_partners_follow_their_element():
    repeats, ranges, out = np.empty(5, np.int64), np.empty((4, 2), np.int64), np.empty(3, np.int64)
    assert kernels.combine.pair_ranges(int64([0, 3, 4]), 1, repeats, ranges, out) == -1
    assert (repeats.tolist(), out.tolist()) == ([0, 2, 3, 3, 3], [0, 3, 3])
    assert ranges.tolist() == [[1, 3], [2, 3], [3, 3], [4, 4]]


def test_levels_must_agree():
    with pytest.raises((ValueError, IndexError)):
        kernels.combine.take_turns([int64([0, 1]), int64([0])], np.empty(1, np.int64))
