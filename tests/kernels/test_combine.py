"""Combinations of elements: pairs of one sequence, pairs of two, several sequences interleaved."""

import math
from itertools import combinations, combinations_with_replacement, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, running_sum
from tests.helpers.tables import for_each

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

    def test_product_ranges_reports_too_many_pairs(self):
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
    def test_take_turns_agrees_with_its_twin(self, sizes, data):
        parts = [sizes, *[data.draw(lengths(count=len(sizes))) for _ in range(data.draw(st.integers(0, 3)))]]
        levels = [int64(running_sum(part)) for part in parts]
        agree("combine.take_turns", levels, unwritten(sum(map(sum, parts))))


def test_partners_follow_their_element():
    repeats, ranges, out = np.empty(5, np.int64), np.empty((4, 2), np.int64), np.empty(3, np.int64)
    assert kernels.combine.pair_ranges(int64([0, 3, 4]), 1, repeats, ranges, out) == -1
    assert (repeats.tolist(), out.tolist()) == ([0, 2, 3, 3, 3], [0, 3, 3])
    assert ranges.tolist() == [[1, 3], [2, 3], [3, 3], [4, 4]]


@for_each("n", range(1, 6))
def test_combinations_are_those_of_python(n):
    """Of sequences that are too short, just long enough, and longer; each column, by both ways of counting."""
    offsets = int64(running_sum([0, n, 1, n - 1, 2, n + 2, 0, n + 1]))
    for again, function in enumerate((combinations, combinations_with_replacement)):
        found = [list(function(range(a, b), n)) for a, b in pairwise(offsets.tolist())]
        counts = np.empty(len(offsets), np.int64)
        assert kernels.combine.combination_offsets(offsets, n, again, counts) == -1
        assert counts.tolist() == running_sum(map(len, found))
        for column in range(n):
            for counted in (True, False):
                out = np.empty(counts[-1], np.int64)
                kernels.combine.list_combinations(offsets, n, again, column, counted, np.empty(n, np.int64), out)
                wanted = [
                    one[column] - (0 if counted else start)
                    for start, those in zip(offsets.tolist(), found, strict=False)
                    for one in those
                ]
                assert out.tolist() == wanted, (again, column, counted)


def test_pair_ranges_product_ranges_and_take_turns_of_long_sequences():
    sizes = [0, 1, 12, 3, 20]
    offsets, others = int64(running_sum(sizes)), int64(running_sum([2, 15, 0, 1, 9]))
    bounds, pieces = list(pairwise(offsets.tolist())), list(pairwise(others.tolist()))
    for gap in (0, 1):
        repeats, ranges, out = np.empty(37, np.int64), np.empty((36, 2), np.int64), np.empty(6, np.int64)
        assert kernels.combine.pair_ranges(offsets, gap, repeats, ranges, out) == -1
        assert ranges.tolist() == [[e + gap, b] for a, b in bounds for e in range(a, b)]
        assert repeats.tolist() == running_sum(b - e - gap for a, b in bounds for e in range(a, b))
        assert out.tolist() == running_sum(size * (size + 1 - 2 * gap) // 2 for size in sizes)
    assert kernels.combine.product_ranges(offsets, others, repeats, ranges, out) == -1
    assert ranges.tolist() == [list(pieces[s]) for s, size in enumerate(sizes) for _ in range(size)]
    assert repeats.tolist() == running_sum(
        pieces[s][1] - pieces[s][0] for s, size in enumerate(sizes) for _ in range(size)
    )
    assert out.tolist() == running_sum(size * (b - a) for size, (a, b) in zip(sizes, pieces, strict=True))
    for parts in ([sizes], [sizes, [2, 15, 0, 1, 9]], [sizes, sizes, [2, 15, 0, 1, 9], [0, 0, 13, 0, 1]]):
        wanted = []
        for lengths_here in zip(*parts, strict=True):
            before = running_sum(lengths_here)
            turns = sorted((turn, j) for j, size in enumerate(lengths_here) for turn in range(size))
            wanted += [before[j] + turn for turn, j in turns]
        out = np.empty(len(wanted), np.int64)
        kernels.combine.take_turns([int64(running_sum(part)) for part in parts], out)
        assert out.tolist() == wanted


def test_combinations_are_counted_up_to_the_limit_of_int64():
    for length in range(20, 90, 3):
        for n in range(1, length + 1):
            exact, out = math.comb(length, n), np.empty(3, np.int64)
            bad = kernels.combine.combination_offsets(int64([0, 2, 2 + length]), n, 0, out)
            if exact * length < 2**63:
                assert (bad, int(out[2])) == (-1, math.comb(2, n) + exact)
            elif exact >= 2**63:
                assert bad == 1
    pairs = int64(running_sum([2**31] * 5))  # 2**61 - 2**30 each
    assert kernels.combine.combination_offsets(pairs, 2, 0, np.empty(6, np.int64)) == 4
    assert kernels.combine.combination_offsets(pairs[:5].copy(), 2, 0, np.empty(5, np.int64)) == -1


@pytest.mark.beyond_the_rules
@for_each("at", range(3))
def test_levels_must_agree(at):
    levels = [int64([0, 1])] * 3
    kernels.combine.take_turns(levels, np.empty(3, np.int64))
    levels[at] = int64([0])
    with pytest.raises((ValueError, IndexError)):
        kernels.combine.take_turns(levels, np.empty(2, np.int64))
    for other in ([0, 0, 1], [0, 1, 1]):
        levels[at] = int64(other)
        with pytest.raises((ValueError, IndexError)):
            kernels.combine.take_turns(levels, np.empty(3, np.int64))
