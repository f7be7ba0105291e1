"""Slices, single elements, masks and numbers of each sequence."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum, values_from_seed
from tests.helpers.tables import for_each

OFFSETS = lengths(most=10).map(running_sum).map(int64)
FAR = [2**63 - 1, -(2**63)]
BOUNDS = st.one_of(st.integers(-7, 7), st.sampled_from(FAR))
STEPS = st.one_of(st.integers(-4, 4), st.sampled_from([2**63 - 1, 1 - 2**63])).filter(bool)
ANY_INT64 = st.one_of(st.integers(-3, 5), st.integers(-(2**63), 2**63 - 1))


def masks(count):
    """Draw a mask: uint8, 0 or not."""
    entries = st.sampled_from([0, 0, 1, 1, 255])
    return st.lists(entries, min_size=count, max_size=count).map(lambda drawn: np.array(drawn, np.uint8))


def bounds_of(start, stop, step):
    """Convert a slice to the numbers that kernels take."""
    ends = (0, FAR[0]) if step > 0 else FAR
    return ends[0] if start is None else start, ends[1] if stop is None else stop


@pytest.mark.not_on_reference
class TestTwins:
    @given(OFFSETS, BOUNDS, BOUNDS)
    def test_cut_ranges(self, offsets, start, stop):
        count = len(offsets) - 1
        agree("index.cut_ranges", offsets, start, stop, unwritten(count, 2), unwritten(count + 1))

    @given(OFFSETS, BOUNDS, BOUNDS, STEPS)
    def test_strided_offsets_and_ranges(self, offsets, start, stop, step):
        agree("index.strided_offsets", offsets, start, stop, step, unwritten(len(offsets)))
        taken = unwritten(len(offsets))
        kernels.index.strided_offsets(offsets, start, stop, step, taken)
        agree("index.strided_ranges", offsets, start, step, int64(taken), unwritten(int(taken[-1]), 2))

    @given(OFFSETS, st.data())
    def test_pick_ranges(self, offsets, data):
        count = len(offsets) - 1
        index = data.draw(st.lists(ANY_INT64, min_size=count, max_size=count))
        agree("index.pick_ranges", offsets, int64(index), unwritten(count, 2))

    @given(OFFSETS, st.data())
    def test_true_offsets_and_ranges(self, offsets, data):
        mask = data.draw(masks(int(offsets[-1])))
        mask.flags.writeable = False
        runs = agree("index.true_offsets", offsets, mask, unwritten(len(offsets)))
        agree("index.true_ranges", mask, unwritten(runs, 2))

    @given(OFFSETS, st.sampled_from([1, 2, 4, 8, 3, 16, 0]), st.data())
    def test_take_and_put_true(self, offsets, row_bytes, data):
        mask = data.draw(masks(int(offsets[-1])))
        mask.flags.writeable = False
        rows = read_only(values_from_seed(len(mask), len(mask), np.dtype("u1"), (row_bytes,)))
        taken = unwritten(int(np.count_nonzero(mask)), row_bytes, dtype="u1")
        agree("index.take_true", rows, mask, taken)
        kernels.index.take_true(rows, mask, taken)
        agree("index.put_true", read_only(taken), mask, unwritten(*rows.shape, dtype="u1"))

    @given(st.integers(0, 70), st.sampled_from([1, 2, 4, 8, 3, 16, 0]), st.booleans(), st.booleans(), st.data())
    def test_choose(self, count, row_bytes, repeat_x, repeat_y, data):
        mask = data.draw(masks(count))
        x, y = (
            read_only(values_from_seed(seed, 1 if repeated else count, np.dtype("u1"), (row_bytes,)))
            for seed, repeated in ((count, repeat_x), (count + 1, repeat_y))
        )
        agree("index.choose", mask, x, y, unwritten(count, row_bytes, dtype="u1"))

    @given(lengths(most=8), st.data())
    def test_nested_ranges(self, sizes, data):
        offsets = int64(running_sum(sizes))
        pieces = int64(running_sum(data.draw(lengths(count=len(sizes)))))
        count = int(pieces[-1])
        index = int64(data.draw(st.lists(ANY_INT64, min_size=count, max_size=count)))
        agree("index.nested_ranges", offsets, pieces, index, unwritten(count, 2))


# -- what Python does ----------------------------------------------------------------------------------------------


@given(OFFSETS, *[st.one_of(st.none(), BOUNDS)] * 2, STEPS)
def test_slices_are_those_of_python(offsets, start, stop, step):
    count = len(offsets) - 1
    wanted = [list(range(a, b))[start:stop:step] for a, b in pairwise(offsets)]
    taken = np.empty(count + 1, np.int64)
    numbers = bounds_of(start, stop, step)
    kernels.index.strided_offsets(offsets, *numbers, step, taken)
    assert taken.tolist() == running_sum(map(len, wanted))
    ranges = np.empty((taken[-1], 2), np.int64)
    kernels.index.strided_ranges(offsets, numbers[0], step, taken, ranges)
    assert ranges.tolist() == [[at, at + 1] for piece in wanted for at in piece]
    if step == 1:
        ranges, cut = np.empty((count, 2), np.int64), np.empty(count + 1, np.int64)
        kernels.index.cut_ranges(offsets, *numbers, ranges, cut)
        assert cut.tolist() == taken.tolist()
        assert [list(range(*pair)) for pair in ranges] == wanted


@pytest.mark.not_on_reference
@for_each("step", [1, 2, 3, 4, -1, -2, -3, -4, 2**63 - 1, 1 - 2**63])
def test_every_slice_is_that_of_python(step):
    offsets = int64(running_sum([0, 1, 5, 2, 0, 3]))
    pieces, taken = [list(range(a, b)) for a, b in pairwise(offsets.tolist())], np.empty(7, np.int64)
    ends = [None, *range(-7, 8), *FAR]
    for start, stop in product(ends, ends):
        wanted, numbers = [piece[start:stop:step] for piece in pieces], bounds_of(start, stop, step)
        kernels.index.strided_offsets(offsets, *numbers, step, taken)
        assert taken.tolist() == running_sum(map(len, wanted)), (start, stop)
        ranges = np.empty((taken[-1], 2), np.int64)
        kernels.index.strided_ranges(offsets, numbers[0], step, taken, ranges)
        assert ranges.tolist() == [[at, at + 1] for piece in wanted for at in piece], (start, stop)
        if step == 1:
            ranges, cut = np.empty((6, 2), np.int64), np.empty(7, np.int64)
            kernels.index.cut_ranges(offsets, *numbers, ranges, cut)
            assert cut.tolist() == taken.tolist(), (start, stop)
            assert [list(range(*pair)) for pair in ranges] == wanted, (start, stop)


@for_each("size", [1, 2, 8, 16, 63, 64, 65, 130])
def test_runs_of_masks(size):
    """At the start, in the middle and up to the end; every byte but 0 is true."""
    for true in (1, 2, 255):
        for first, last in ((0, 0), (0, size), (0, 1), (size - 1, size), (size // 2, size), (size // 2, size - 1)):
            mask = np.zeros(size, "u1")
            mask[first:last] = true
            mask[:: size // 2 + 1] = true
            edges = np.flatnonzero(np.diff(np.concatenate([[0], mask > 0, [0]]))).reshape(-1, 2).tolist()
            offsets, out = int64([0, 0, size // 3, size]), np.empty(4, np.int64)
            assert kernels.index.true_offsets(offsets, mask, out) == len(edges)
            assert out.tolist() == [0, 0, int((mask[: size // 3] > 0).sum()), int((mask > 0).sum())]
            ranges = np.empty((len(edges), 2), np.int64)
            kernels.index.true_ranges(mask, ranges)
            assert ranges.tolist() == edges


@given(OFFSETS, st.data())
def test_true_offsets_and_true_ranges_equal_flatnonzero(offsets, data):
    mask = data.draw(masks(int(offsets[-1])))
    out = np.empty(len(offsets), np.int64)
    ranges = np.empty((kernels.index.true_offsets(offsets, mask, out), 2), np.int64)
    kernels.index.true_ranges(mask, ranges)
    assert [at for pair in ranges for at in range(*pair)] == np.flatnonzero(mask).tolist()
    assert out.tolist() == [int((mask[: offsets[s]] != 0).sum()) for s in range(len(offsets))]


@for_each("number", range(-4, 4))
def test_every_number_of_every_sequence(number):
    offsets = int64([0, 2, 5, 6])
    for s, length in enumerate([2, 3, 1]):
        index, out = [0, 0, 0], np.empty((3, 2), np.int64)
        index[s] = number
        fits = -length <= number < length
        for bad in (
            kernels.index.pick_ranges(offsets, int64(index), out),
            kernels.index.nested_ranges(offsets, int64([0, 1, 2, 3]), int64(index), out),
        ):
            assert bad == (-1 if fits else s)
            if fits:
                at = int(offsets[s]) + number + (length if number < 0 else 0)
                assert out[s].tolist() == [at, at + 1]


@pytest.mark.parametrize(("index", "bad"), [([0, 0, 0], 1), ([1, -1, -3], 1), ([0, -9, 0], 1), ([3, 0, 0], 0)])
def test_the_first_short_sequence_is_named(index, bad):
    assert kernels.index.pick_ranges(int64([0, 2, 2, 4]), int64(index), np.empty((3, 2), np.int64)) == bad
    pieces = int64([0, 1, 2, 3])
    assert kernels.index.nested_ranges(int64([0, 2, 2, 4]), pieces, int64(index), np.empty((3, 2), np.int64)) == bad


@for_each("true", [1, 2, 127, 128, 129, 255])
@for_each("count", [1, 7, 8, 9, 16, 23])
def test_every_byte_but_zero_is_true(count, true):
    out = unwritten(3)
    for at in range(count):
        mask = np.zeros(count, "u1")
        mask[at] = true
        assert kernels.index.true_offsets(int64([0, count, count]), mask, out) == 1
        assert out.tolist() == [0, 1, 1]
        mask = np.full(count, true, "u1")
        mask[at] = 0
        kernels.index.true_offsets(int64([0, 0, count]), mask, out)
        assert out.tolist() == [0, 0, count - 1]


@for_each("row_bytes", [1, 2, 3, 4, 8, 16])
@for_each("count", [1, 8, 9, 20])
def test_the_last_row_that_a_mask_selects(count, row_bytes):
    """Also if there is room for fewer rows than it selects, or if it is the last one."""
    rows = read_only(np.arange(1, count * row_bytes + 1, dtype="u2").astype("u1").reshape(count, row_bytes))
    for mask in (np.ones(count, "u1"), (np.arange(count) % 3 == 2) | (np.arange(count) >= count - 2)):
        mask = mask.astype("u1")
        chosen = np.flatnonzero(mask)
        for size in {len(chosen), len(chosen) - 1} - {0}:
            memory = np.full((size + 4, row_bytes), 7, "u1")
            kernels.index.take_true(rows, mask, memory[2:-2])
            assert (memory[2:-2] == rows[chosen[:size]]).all()
            assert (memory[:2] == 7).all()
            assert (memory[-2:] == 7).all()
        back, wanted = unwritten(count, row_bytes, dtype="u1"), np.zeros((count, row_bytes), "u1")
        wanted[chosen] = rows[: len(chosen)]
        kernels.index.put_true(rows[: len(chosen)], mask, back)
        assert (back == wanted).all()
