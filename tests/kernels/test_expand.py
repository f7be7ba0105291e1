"""Rows repeated, in reverse order, and put together from several batches."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.draw import int64, lengths, read_only, running_sum, values_from_seed
from tests.kernels.face_to_face import agree, unwritten

ROW_BYTES = st.sampled_from([4, 8, 1, 2, 16, 3, 12, 24, 40, 64, 100, 0])


def opaque(n_rows, row_bytes, seed=0):
    """Make rows of random bytes."""
    return read_only(values_from_seed(seed, n_rows, np.dtype("u1"), (row_bytes,)))


@st.composite
def many_offsets(draw):
    """Draw the offsets of many sequences: of about one length, mixed, or runs of single rows among others."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(0, 90))
    usual = draw(st.sampled_from([1, 2, 9, 40]))
    sizes = {
        "equal": np.full(count, usual),
        "mixed": random.integers(0, 2 * usual + 1, count),
        "mostly one": np.where(random.random(count) < 0.03, random.integers(0, 50, count), 1),
        "mostly empty": np.where(random.random(count) < 0.1, random.integers(0, 300, count), 0),
    }[draw(st.sampled_from(["equal", "mixed", "mostly one", "mostly empty"]))]
    return int64(running_sum(sizes.tolist()))


OFFSETS = st.one_of(lengths(most=12).map(running_sum).map(int64), many_offsets())


def masks(count):
    """Draw a mask as bytes, of which any but 0 is true."""
    drawn = st.lists(st.sampled_from([0, 1, 1, 0, 255]), min_size=count, max_size=count)
    return drawn.map(lambda chosen: read_only(np.array(chosen, np.uint8)))


@st.composite
def tiles(draw):
    """Draw ranges that cover rows once, dealt to some arrays, and the number of rows: (list of lists, int)."""
    offsets = running_sum(draw(lengths(most=10)))
    hands = [[] for _ in range(draw(st.integers(1, 4)))]
    for pair in draw(st.permutations(list(pairwise(offsets)))):
        draw(st.sampled_from(hands)).append(pair)
    return [int64(hand).reshape(-1, 2) for hand in hands], offsets[-1]


@pytest.mark.not_on_reference
class TestTwins:
    @given(OFFSETS, ROW_BYTES)
    def test_repeat_rows(self, offsets, row_bytes):
        rows = opaque(len(offsets) - 1, row_bytes)
        agree("expand.repeat_rows", rows, offsets, unwritten(offsets[-1], row_bytes, dtype="u1"))

    @given(OFFSETS, ROW_BYTES)
    def test_reverse_rows(self, offsets, row_bytes):
        agree(
            "expand.reverse_rows",
            opaque(offsets[-1], row_bytes),
            offsets,
            unwritten(offsets[-1], row_bytes, dtype="u1"),
        )

    @given(st.integers(0, 6), st.integers(1, 4), st.data())
    def test_interleave(self, n_seqs, n_batches, data):
        drawn = [data.draw(lengths(count=n_seqs)) for _ in range(n_batches)]
        levels = [int64(running_sum(sizes)) for sizes in drawn]
        agree("expand.interleave", levels, unwritten(n_batches, n_seqs, 2), unwritten(n_seqs + 1))

    @given(st.integers(0, 12).flatmap(masks))
    def test_split_mask(self, mask):
        n_true = agree("expand.split_mask", mask, unwritten(len(mask)))
        assert n_true == np.count_nonzero(mask)

    @given(st.integers(0, 12).flatmap(masks), st.integers(-1, 1), st.data())
    def test_merge_offsets(self, mask, too_many, data):
        n_true = min(max(0, int(np.count_nonzero(mask)) + too_many), len(mask))
        counts = n_true, len(mask) - n_true
        both = [int64(running_sum(data.draw(lengths(count=count)))) for count in counts]
        bad = agree(
            "expand.merge_offsets",
            *both,
            mask,
            *(unwritten(count, 2) for count in counts),
            unwritten(len(mask) + 1),
        )
        assert (bad < 0) == (n_true == np.count_nonzero(mask))

    @given(tiles(), ROW_BYTES)
    def test_join_ranges(self, drawn, row_bytes):
        ranges, n_rows = drawn
        arrays = [opaque(int((pairs[:, 1] - pairs[:, 0]).sum()), row_bytes, j) for j, pairs in enumerate(ranges)]
        agree("expand.join_ranges", arrays, ranges, unwritten(n_rows, row_bytes, dtype="u1"))

    @given(OFFSETS, st.integers(0, 6), st.integers(1, 6))
    def test_scale_offsets(self, offsets, width, new_width):
        bad = agree("expand.scale_offsets", offsets, width, new_width, unwritten(len(offsets)))
        odd = np.flatnonzero(np.diff(offsets) * width % new_width)
        assert bad == (odd[0] if len(odd) else -1)


class TestLaws:
    @given(OFFSETS, ROW_BYTES)
    def test_reverse_twice_is_the_identity(self, offsets, row_bytes):
        rows = opaque(offsets[-1], row_bytes)
        there, back = (unwritten(*rows.shape, dtype="u1") for _ in range(2))
        kernels.expand.reverse_rows(rows, offsets, there)
        kernels.expand.reverse_rows(there, offsets, back)
        np.testing.assert_array_equal(back, rows)

    @given(OFFSETS)
    def test_repeated_numbers_are_segment_ids(self, offsets):
        numbers = np.arange(len(offsets) - 1)
        repeated, ids = unwritten(offsets[-1]), unwritten(offsets[-1])
        kernels.expand.repeat_rows(
            numbers.reshape(-1, 1).view("u1"), offsets, repeated.reshape(-1, 1).view("u1").reshape(-1, 8)
        )
        kernels.offsets.segment_ids(offsets, ids)
        np.testing.assert_array_equal(repeated, ids)

    @given(tiles(), st.sampled_from([1, 4, 12]))
    def test_copy_ranges_undoes_join_ranges(self, drawn, row_bytes):
        ranges, n_rows = drawn
        arrays = [opaque(int((pairs[:, 1] - pairs[:, 0]).sum()), row_bytes, j) for j, pairs in enumerate(ranges)]
        joined = unwritten(n_rows, row_bytes, dtype="u1")
        kernels.expand.join_ranges(arrays, ranges, joined)
        for array, pairs in zip(arrays, ranges, strict=True):
            back = unwritten(*array.shape, dtype="u1")
            kernels.gather.copy_ranges(joined, pairs, back)
            np.testing.assert_array_equal(back, array)

    @given(st.integers(0, 12).flatmap(masks), st.data())
    def test_merge_undoes_split(self, mask, data):
        offsets = int64(running_sum(data.draw(lengths(count=len(mask)))))
        places, merged = unwritten(len(mask)), unwritten(len(mask) + 1)
        n_true = kernels.expand.split_mask(mask, places)
        sizes = np.diff(offsets)[places]
        both = [int64(running_sum(part.tolist())) for part in (sizes[:n_true], sizes[n_true:])]
        ranges = [unwritten(len(part) - 1, 2) for part in both]
        assert kernels.expand.merge_offsets(*both, mask, *ranges, merged) == -1
        np.testing.assert_array_equal(merged, offsets)
        starts = np.concatenate(ranges)[:, 0]
        np.testing.assert_array_equal(starts, offsets[places])


@pytest.mark.parametrize("name", ["repeat_rows", "reverse_rows"])
def test_rows_of_another_size_are_refused(name):
    with pytest.raises(ValueError, match="rows and out have rows of different sizes"):
        getattr(kernels.expand, name)(opaque(2, 4), int64([0, 1, 2]), unwritten(2, 3, dtype="u1"))
