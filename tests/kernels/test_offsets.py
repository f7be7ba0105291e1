"""Offsets, lengths, segment ids, positions, and the check of offsets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, running_sum, wounded_levels

ANY_INT64 = st.integers(-(2**63), 2**63 - 1)
SHAPES = st.sampled_from([(8, 5), (40, 3), (12, 20), (8, 60)])  # most sequences, longest
LENGTHS = SHAPES.flatmap(lambda shape: lengths(None, *shape))
OFFSETS = LENGTHS.map(running_sum).map(int64)


@pytest.mark.not_on_reference
class TestTwins:
    @given(LENGTHS)
    def test_offsets_from_lengths(self, drawn):
        assert agree("offsets.offsets_from_lengths", int64(drawn), unwritten(len(drawn) + 1)) == -1

    @given(LENGTHS, st.data())
    def test_offsets_from_lengths_names_the_first_bad_one(self, drawn, data):
        drawn = drawn or [0]
        bad = data.draw(st.integers(0, len(drawn) - 1))
        drawn[bad] = data.draw(st.sampled_from([-1, -(2**63)] + [2**63 - 1] * (sum(drawn[:bad]) > 0)))
        if data.draw(st.booleans()):
            drawn[bad + 1 :] = [data.draw(ANY_INT64) for _ in drawn[bad + 1 :]]
        assert agree("offsets.offsets_from_lengths", int64(drawn), unwritten(len(drawn) + 1)) == bad

    @given(st.lists(ANY_INT64, max_size=9) | st.lists(st.sampled_from([0, 1, 2, 2**62, 2**63 - 1]), max_size=9))
    def test_offsets_from_any_lengths(self, drawn):
        """Sums that wrap around to what looks right among them."""
        agree("offsets.offsets_from_lengths", int64(drawn), unwritten(len(drawn) + 1))

    @pytest.mark.parametrize("bad", range(9))
    def test_offsets_from_lengths_of_which_one_is_negative(self, bad):
        drawn = [2] * 9
        drawn[bad] = -1
        assert agree("offsets.offsets_from_lengths", int64(drawn), unwritten(10)) == bad

    @pytest.mark.parametrize("before", range(9))
    @pytest.mark.parametrize("between", range(4))
    def test_offsets_from_lengths_that_wrap_around_twice(self, before, between):
        drawn = [0] * before + [2**63 - 1] + [0] * between + [2**63 - 1, 2, 0, 0, 0, 0]
        assert agree("offsets.offsets_from_lengths", int64(drawn), unwritten(len(drawn) + 1)) == before + between + 1

    @given(OFFSETS)
    def test_valid_offsets(self, offsets):
        rows = int(offsets[-1])
        agree("offsets.lengths_from_offsets", offsets, unwritten(len(offsets) - 1))
        agree("offsets.max_length", offsets)
        agree("offsets.segment_ids", offsets, unwritten(rows))
        agree("offsets.positions", offsets, unwritten(rows))
        for stop in (-1, rows):
            assert agree("offsets.first_bad_offset", offsets, stop) == -1
        for stop in {0, rows - 1, rows + 1} - {rows, -1}:
            assert agree("offsets.first_bad_offset", offsets, stop) == len(offsets) - 1

    @given(wounded_levels())
    def test_wounded_offsets(self, wounded):
        offsets = wounded.levels[wounded.level]
        if wounded.wound not in ("no offsets", "end"):
            assert agree("offsets.first_bad_offset", int64(offsets), -1) == wounded.position
        elif wounded.wound == "end":
            assert agree("offsets.first_bad_offset", int64(offsets), offsets[-1] - 1) == wounded.position

    @given(st.lists(st.sampled_from([0, 1, 2, 3, -1, 2**63 - 1, -(2**63)]), min_size=1, max_size=6), ANY_INT64)
    def test_any_offsets(self, drawn, stop):
        agree("offsets.first_bad_offset", int64(drawn), stop)

    @given(st.lists(st.integers(-1, 5)), st.integers(0, 5))
    def test_offsets_from_any_segment_ids(self, ids, n_seqs):
        agree("offsets.offsets_from_segment_ids", int64(ids), unwritten(n_seqs + 1))

    @given(OFFSETS)
    def test_offsets_from_segment_ids(self, offsets):
        ids = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        assert agree("offsets.offsets_from_segment_ids", int64(ids), unwritten(len(offsets))) == -1


class TestLaws:
    @given(OFFSETS)
    def test_lengths_and_back(self, offsets):
        drawn, back = unwritten(len(offsets) - 1), unwritten(len(offsets))
        kernels.offsets.lengths_from_offsets(offsets, drawn)
        assert kernels.offsets.offsets_from_lengths(drawn, back) == -1
        np.testing.assert_array_equal(back, offsets)

    @given(OFFSETS)
    def test_segment_ids_and_back(self, offsets):
        ids, back = unwritten(int(offsets[-1])), unwritten(len(offsets))
        kernels.offsets.segment_ids(offsets, ids)
        assert kernels.offsets.offsets_from_segment_ids(ids, back) == -1
        np.testing.assert_array_equal(back, offsets)

    @given(OFFSETS)
    def test_a_row_is_where_its_sequence_starts_plus_its_position(self, offsets):
        rows = int(offsets[-1])
        ids, places = unwritten(rows), unwritten(rows)
        kernels.offsets.segment_ids(offsets, ids)
        kernels.offsets.positions(offsets, places)
        np.testing.assert_array_equal(offsets[ids] + places, np.arange(rows))
