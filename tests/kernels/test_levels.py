"""Levels among each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, levels, running_sum

OFFSETS = lengths(most=12).map(running_sum).map(int64)
TWO_LEVELS = levels(2, 2).map(lambda drawn: [int64(offsets) for offsets in drawn])
MORE_LEVELS = levels(2, 4).map(lambda drawn: [int64(offsets) for offsets in drawn])


def split_size(all_levels):
    """Count what `split` writes."""
    return sum(len(offsets) - 1 + len(all_levels[0]) - 1 for offsets in all_levels[1:])


@pytest.mark.not_on_reference
class TestTwins:
    @given(OFFSETS, st.data())
    def test_rebase(self, offsets, data):
        start = data.draw(st.integers(0, len(offsets) - 1))
        stop = data.draw(st.integers(start, len(offsets) - 1))
        agree("levels.rebase", offsets, start, stop, unwritten(stop - start + 1))

    @given(TWO_LEVELS)
    def test_compose(self, drawn):
        outer, inner = drawn
        agree("levels.compose", outer, inner, unwritten(len(outer)))

    @given(TWO_LEVELS)
    def test_relative(self, drawn):
        outer, inner = drawn
        absolute = inner[outer]
        fits = len(outer) > 1 or len(inner) == 1
        assert agree("levels.relative", int64(absolute), inner, unwritten(len(outer))) == (-1 if fits else 0)

    @given(OFFSETS, OFFSETS)
    def test_relative_of_levels_that_do_not_fit(self, outer, inner):
        agree("levels.relative", outer, inner, unwritten(len(outer)))

    @given(st.lists(OFFSETS, min_size=1, max_size=4))
    def test_join(self, batches):
        agree("levels.join", batches, unwritten(sum(len(offsets) - 1 for offsets in batches) + 1))

    @given(MORE_LEVELS)
    def test_split(self, drawn):
        agree("levels.split", drawn, unwritten(split_size(drawn)))


class TestLaws:
    @given(TWO_LEVELS)
    def test_compose_undoes_relative(self, drawn):
        outer, inner = drawn
        absolute, between, back = (unwritten(len(outer)) for _ in range(3))
        kernels.levels.compose(outer, inner, absolute)
        if kernels.levels.relative(absolute, inner, between) == -1:
            kernels.levels.compose(between, inner, back)
            np.testing.assert_array_equal(back, absolute)
        else:  # sequences without an outer one to belong to
            assert len(outer) == 1 < len(inner)

    @given(st.lists(OFFSETS, min_size=1, max_size=4))
    def test_rebase_cuts_what_join_put_together(self, batches):
        joined = unwritten(sum(len(offsets) - 1 for offsets in batches) + 1)
        kernels.levels.join(batches, joined)
        start = 0
        for offsets in batches:
            cut = unwritten(len(offsets))
            kernels.levels.rebase(joined, start, start + len(offsets) - 1, cut)
            np.testing.assert_array_equal(cut, offsets)
            start += len(offsets) - 1

    @given(MORE_LEVELS)
    def test_join_undoes_split(self, drawn):
        pieces = unwritten(split_size(drawn))
        kernels.levels.split(drawn, pieces)
        counts, at = np.diff(drawn[0]), 0
        of_level = [[np.zeros(1, np.int64)] for _ in drawn[1:]]  # the pieces of each finer level
        for count in counts:
            for found in of_level:
                found.append(pieces[at : at + count + 1])
                at, count = at + count + 1, found[-1][-1]
        for offsets, found in zip(drawn[1:], of_level, strict=True):
            joined = unwritten(len(offsets))
            kernels.levels.join(found, joined)
            np.testing.assert_array_equal(joined, offsets)
