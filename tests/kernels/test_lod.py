"""Offsets, lengths, segment ids, positions; levels that are sliced, composed, joined and split."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import LoD, kernels
from lodcore.errors import LoDError
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, levels, running_sum, wounded_levels
from tests.helpers.tables import for_each

ANY_INT64 = st.integers(-(2**63), 2**63 - 1)
SHAPES = st.sampled_from([(8, 5), (40, 3), (12, 20), (8, 60)])  # maximum number of sequences, maximum length
LENGTHS = SHAPES.flatmap(lambda shape: lengths(None, *shape))
OFFSETS = LENGTHS.map(running_sum).map(int64)
SHORT_OFFSETS = lengths(most=12).map(running_sum).map(int64)
TWO_LEVELS = levels(2, 2).map(lambda drawn: [int64(offsets) for offsets in drawn])
MORE_LEVELS = levels(2, 4).map(lambda drawn: [int64(offsets) for offsets in drawn])


@pytest.mark.not_on_reference
class TestTwins:
    @given(LENGTHS)
    def test_offsets_from_lengths(self, drawn):
        assert agree("lod.offsets_from_lengths", int64(drawn), unwritten(len(drawn) + 1)) == -1

    @given(LENGTHS, st.data())
    def test_offsets_from_lengths_names_the_first_bad_one(self, drawn, data):
        drawn = drawn or [0]
        bad = data.draw(st.integers(0, len(drawn) - 1))
        drawn[bad] = data.draw(st.sampled_from([-1, -(2**63)] + [2**63 - 1] * (sum(drawn[:bad]) > 0)))
        if data.draw(st.booleans()):
            drawn[bad + 1 :] = [data.draw(ANY_INT64) for _ in drawn[bad + 1 :]]
        assert agree("lod.offsets_from_lengths", int64(drawn), unwritten(len(drawn) + 1)) == bad

    @given(st.lists(ANY_INT64, max_size=9) | st.lists(st.sampled_from([0, 1, 2, 2**62, 2**63 - 1]), max_size=9))
    def test_offsets_from_any_lengths(self, drawn):
        """Sums that wrap around to valid offsets."""
        agree("lod.offsets_from_lengths", int64(drawn), unwritten(len(drawn) + 1))

    @pytest.mark.parametrize("bad", range(9))
    def test_offsets_from_lengths_returns_the_position_of_a_negative_length(self, bad):
        drawn = [2] * 9
        drawn[bad] = -1
        assert agree("lod.offsets_from_lengths", int64(drawn), unwritten(10)) == bad

    @pytest.mark.parametrize("before", range(9))
    @pytest.mark.parametrize("between", range(4))
    def test_offsets_from_lengths_that_wrap_around_twice(self, before, between):
        drawn = [0] * before + [2**63 - 1] + [0] * between + [2**63 - 1, 2, 0, 0, 0, 0]
        assert agree("lod.offsets_from_lengths", int64(drawn), unwritten(len(drawn) + 1)) == before + between + 1

    @given(OFFSETS)
    def test_valid_offsets(self, offsets):
        rows = int(offsets[-1])
        agree("lod.lengths_from_offsets", offsets, unwritten(len(offsets) - 1))
        agree("lod.max_length", offsets)
        agree("lod.segment_ids", offsets, unwritten(rows))
        agree("lod.positions", offsets, unwritten(rows))
        for stop in (-1, rows):
            assert agree("lod.first_bad_offset", offsets, stop) == -1
        for stop in {0, rows - 1, rows + 1} - {rows, -1}:
            assert agree("lod.first_bad_offset", offsets, stop) == len(offsets) - 1

    @given(wounded_levels())
    def test_first_bad_offset_of_invalid_offsets(self, wounded):
        offsets = wounded.levels[wounded.level]
        if wounded.wound not in ("no offsets", "end"):
            assert agree("lod.first_bad_offset", int64(offsets), -1) == wounded.position
        elif wounded.wound == "end":
            assert agree("lod.first_bad_offset", int64(offsets), offsets[-1] - 1) == wounded.position

    @given(st.lists(st.sampled_from([0, 1, 2, 3, -1, 2**63 - 1, -(2**63)]), min_size=1, max_size=6), ANY_INT64)
    def test_first_bad_offset_of_any_integers(self, drawn, stop):
        agree("lod.first_bad_offset", int64(drawn), stop)

    @given(st.lists(st.integers(-1, 5)), st.integers(0, 5))
    def test_offsets_from_any_segment_ids(self, ids, n_seqs):
        agree("lod.offsets_from_segment_ids", int64(ids), unwritten(n_seqs + 1))

    @given(OFFSETS)
    def test_offsets_from_segment_ids(self, offsets):
        ids = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        assert agree("lod.offsets_from_segment_ids", int64(ids), unwritten(len(offsets))) == -1


def digest():
    """Compute offsets from lengths, and check offsets, with a bad one at any position."""
    found = []
    for count in (0, 1, 3, 4, 7, 8, 9, 17, 40):
        drawn = np.random.default_rng(count).integers(0, 9, count)
        out = unwritten(count + 1)
        found.append((kernels.lod.offsets_from_lengths(drawn, out), out.tolist()))
        for bad in range(count):
            for value in (-1, 2**63 - 1, -(2**63)):
                lengths, offsets = drawn.copy(), out.copy()
                lengths[bad] = offsets[bad] = value
                found.append(kernels.lod.offsets_from_lengths(lengths, unwritten(count + 1)))
                try:
                    found.append(LoD.from_offsets(offsets).num_rows)
                except LoDError as error:
                    found.append(str(error))
    return repr(found)


def split_size(all_levels):
    """Count the numbers that `split` writes."""
    return sum(len(offsets) - 1 + len(all_levels[0]) - 1 for offsets in all_levels[1:])


@pytest.mark.not_on_reference
class TestTwinsOfLevels:
    @given(SHORT_OFFSETS, st.data())
    def test_rebase(self, offsets, data):
        start = data.draw(st.integers(0, len(offsets) - 1))
        stop = data.draw(st.integers(start, len(offsets) - 1))
        agree("lod.rebase", offsets, start, stop, unwritten(stop - start + 1))

    @given(TWO_LEVELS)
    def test_compose(self, drawn):
        outer, inner = drawn
        agree("lod.compose", outer, inner, unwritten(len(outer)))

    @given(TWO_LEVELS)
    def test_relative(self, drawn):
        outer, inner = drawn
        absolute = inner[outer]
        fits = len(outer) > 1 or len(inner) == 1
        assert agree("lod.relative", int64(absolute), inner, unwritten(len(outer))) == (-1 if fits else 0)

    @given(SHORT_OFFSETS, SHORT_OFFSETS)
    def test_relative_of_levels_that_do_not_fit(self, outer, inner):
        agree("lod.relative", outer, inner, unwritten(len(outer)))

    @given(st.lists(SHORT_OFFSETS, min_size=1, max_size=4))
    def test_join(self, batches):
        agree("lod.join", batches, unwritten(sum(len(offsets) - 1 for offsets in batches) + 1))

    @given(MORE_LEVELS)
    def test_split(self, drawn):
        agree("lod.split", drawn, unwritten(split_size(drawn)))


@for_each(
    ("outer", "inner", "bad", "found"),
    [
        ([0], [0], -1, [0]),
        ([0], [0, 0], 0, None),  # sequences that belong to no outer one
        ([0], [0, 2], 0, None),
        ([0, 0], [0], -1, [0, 0]),
        ([0, 0], [0, 0, 0], -1, [0, 2]),
        ([0, 2, 2], [0, 2, 2, 2], -1, [0, 1, 3]),  # the last one has those at the very end
        ([0, 2], [0, 2, 2, 3], 1, None),
        ([0, 1, 3], [0, 2, 3], 1, None),
    ],
)
def test_empty_sequences_at_the_end_of_a_relative_level(outer, inner, bad, found):
    out = unwritten(len(outer))
    assert kernels.lod.relative(int64(outer), int64(inner), out) == bad
    assert found is None or out.tolist() == found


@for_each(
    ("ids", "n_seqs", "bad"),
    [([0, 1, 2], 2, 2), ([0, 1], 2, -1), ([0, 2], 2, 1), ([1, 0], 2, 1), ([-1], 2, 0), ([0], 0, 0), ([], 0, -1)],
)
def test_the_first_segment_id_out_of_range(ids, n_seqs, bad):
    assert kernels.lod.offsets_from_segment_ids(int64(ids), unwritten(n_seqs + 1)) == bad


@pytest.mark.beyond_the_rules
def test_levels_that_do_not_belong_together():
    """Memory beyond a level is not read, not even the number after its last one."""
    lod, offsets, none = kernels.lod, int64([0, 1, 3]), int64([])
    for call in [
        lambda: lod.compose(int64([0, 3]), offsets, unwritten(2)),
        lambda: lod.compose(int64([0, -1]), offsets, unwritten(2)),
        lambda: lod.rebase(offsets, 0, 3, unwritten(4)),
        lambda: lod.rebase(offsets, -1, 1, unwritten(3)),
        lambda: lod.rebase(offsets, 2, 1, unwritten(0)),
        lambda: lod.join([offsets, none], unwritten(3)),
        lambda: lod.join([offsets, offsets], unwritten(4)),
        lambda: lod.split([offsets, int64([0, 1, 2])], unwritten(4)),
        lambda: lod.split([offsets, int64([0, 1, 2, 3, 4])], unwritten(5)),
        lambda: lod.split([int64([0, 1]), int64([0, 1]), int64([0, 1, 2])], unwritten(4)),
        lambda: lod.offsets_from_lengths(offsets, unwritten(3)),
        lambda: lod.segment_ids(offsets, unwritten(2)),
        lambda: lod.positions(offsets, unwritten(4)),
    ]:
        with pytest.raises(ValueError, match="belong together"):
            call()


@for_each("longer", [0, 1, 14, 15, 16, 31, 32, 39])
@for_each("empty", [0, 15, 17, 31, 38])
def test_segment_ids_and_positions_of_as_many_rows_as_sequences(longer, empty):
    sizes = [1] * 40
    sizes[longer] += 1
    sizes[empty] -= 1
    ids, places = unwritten(40), unwritten(40)
    kernels.lod.segment_ids(int64(running_sum(sizes)), ids)
    kernels.lod.positions(int64(running_sum(sizes)), places)
    assert ids.tolist() == [s for s in range(40) for _ in range(sizes[s])]
    assert places.tolist() == [k for size in sizes for k in range(size)]
