"""Ranges of sequences and rows; rows joined; nested lists."""

import gc
import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import (
    DTYPES,
    ROW_SHAPES,
    indices,
    int64,
    lengths,
    nested_lists,
    ranges,
    read_only,
    running_sum,
    values_from_seed,
)
from tests.helpers.tables import for_each

ANY_INT64 = st.integers(-(2**63), 2**63 - 1)
NEAR_INT64 = st.one_of(st.integers(-1, 6), ANY_INT64)
ROW_BYTES = st.sampled_from([4, 1, 2, 8, 16, 3, 24, 256, 0])
OFFSETS = lengths(most=12).map(running_sum).map(int64)
HUGE = int64([0, 1, 2**62, 2**63 - 1])


def opaque(n_rows, row_bytes, seed):
    """Make rows of random bytes."""
    return read_only(values_from_seed(seed, n_rows, np.dtype("u1"), (row_bytes,)))


def pieces(count):
    """Make the arrays for the ranges of `count` slices and for their offsets."""
    return unwritten(count, 2), unwritten(count + 1)


@st.composite
def rows_and_ranges(draw):
    """Draw opaque rows, and ranges of them: short and long ones, in any order."""
    row_bytes = draw(ROW_BYTES)
    n_rows = draw(st.integers(0, 40 if row_bytes < 256 else 8))
    return opaque(n_rows, row_bytes, draw(st.integers(0, 2**32))), draw(ranges(n_rows, most=12))


def digest():
    """Copy ranges of rows of every size, short and long ones, and hash the copies."""
    found = hashlib.sha256()
    for seed, row_bytes in enumerate([1, 2, 3, 4, 8, 16, 24, 40, 64, 256] * 3):
        random = np.random.default_rng(seed)
        first = random.integers(0, 500, 60)
        pairs = int64(np.stack([first, first + random.integers(0, [2, 9, 200][seed % 3], 60)], axis=1))
        out = unwritten(int(np.diff(pairs).sum()), row_bytes, dtype="u1")
        kernels.gather.copy_ranges(opaque(700, row_bytes, seed), pairs, out)
        found.update(out.tobytes())
    return found.hexdigest()


@pytest.mark.not_on_reference
class TestTwins:
    @given(OFFSETS, st.data())
    def test_take_sequences(self, offsets, data):
        index = int64(data.draw(indices(len(offsets) - 1, most=40)))
        assert agree("gather.take_sequences", offsets, index, *pieces(len(index))) == -1

    @given(OFFSETS, st.lists(NEAR_INT64))
    def test_take_sequences_by_any_index(self, offsets, index):
        agree("gather.take_sequences", offsets, int64(index), *pieces(len(index)))

    @given(st.lists(st.integers(-3, 2), max_size=8))
    def test_take_sequences_that_overflow(self, index):
        agree("gather.take_sequences", HUGE, int64(index), *pieces(len(index)))

    @given(OFFSETS, st.data())
    def test_slice_ranges(self, offsets, data):
        ends = [sorted(data.draw(st.tuples(*2 * [st.integers(0, int(length))]))) for length in np.diff(offsets)]
        start, size = int64([first for first, _ in ends]), int64([last - first for first, last in ends])
        assert agree("gather.slice_ranges", offsets, start, size, *pieces(len(ends))) == -1

    @given(OFFSETS, st.data())
    def test_any_slice_ranges(self, offsets, data):
        count = len(offsets) - 1
        start, size = (int64(data.draw(st.lists(NEAR_INT64, min_size=count, max_size=count))) for _ in range(2))
        agree("gather.slice_ranges", offsets, start, size, *pieces(count))

    @given(st.integers(0, 6).flatmap(lambda count: st.tuples(st.just(count), ranges(count))))
    def test_check_ranges(self, drawn):
        size, pairs = drawn
        start, stop = int64(pairs[:, 0]), int64(pairs[:, 1])
        assert agree("gather.check_ranges", start, stop, size, unwritten(len(pairs), 2)) == -1

    @given(st.lists(st.tuples(NEAR_INT64, NEAR_INT64)), st.integers(0, 6))
    def test_any_check_ranges(self, pairs, size):
        start, stop = int64([first for first, _ in pairs]), int64([last for _, last in pairs])
        agree("gather.check_ranges", start, stop, size, unwritten(len(pairs), 2))

    @given(st.lists(st.tuples(*2 * [st.integers(0, 2**63 - 1)]).map(sorted)))
    def test_count_ranges(self, pairs):
        agree("gather.count_ranges", int64(pairs).reshape(-1, 2), unwritten(len(pairs) + 1))

    @given(OFFSETS.flatmap(lambda offsets: st.tuples(st.just(offsets), ranges(len(offsets) - 1))))
    def test_take_offsets(self, drawn):
        offsets, pairs = drawn
        size = int((pairs[:, 1] - pairs[:, 0]).sum())
        assert agree("gather.take_offsets", offsets, pairs.copy(), unwritten(size + 1)) == -1

    @given(st.lists(st.integers(0, 2), min_size=1, max_size=8))
    def test_take_offsets_that_overflow(self, index):
        pairs = np.array([[s, s + 1] for s in index])
        agree("gather.take_offsets", HUGE, pairs, unwritten(len(index) + 1))

    @given(rows_and_ranges())
    def test_copy_ranges(self, drawn):
        rows, pairs = drawn
        size = int((pairs[:, 1] - pairs[:, 0]).sum())
        agree("gather.copy_ranges", rows, pairs, unwritten(size, rows.shape[1], dtype="u1"))

    @given(st.integers(0, 60), st.data())
    def test_copy_many_short_ranges(self, n_rows, data):
        pairs = np.repeat(np.array(data.draw(indices(n_rows, most=50)), np.int64).reshape(-1, 1), 2, axis=1)
        pairs = read_only(pairs % max(n_rows, 1) + [0, 1])
        rows = opaque(n_rows, data.draw(ROW_BYTES.filter(lambda size: size < 256)), 0)
        agree("gather.copy_ranges", rows, pairs, unwritten(len(pairs), rows.shape[1], dtype="u1"))

    @given(
        st.integers(0, 6).flatmap(lambda count: st.tuples(st.just(count), ranges(count))),
        st.sampled_from(["f4", "f8"]),
        st.sampled_from([1, 3, 8, 0]),
        st.integers(0, 2**32),
    )
    def test_add_ranges(self, drawn, dtype, width, seed):
        n_rows, pairs = drawn
        size = int((pairs[:, 1] - pairs[:, 0]).sum())
        rows = values_from_seed(seed, size, np.dtype(dtype), (width,))
        rows[np.isnan(rows)] = np.inf  # inf - inf is also nan, with the same bits everywhere
        with np.errstate(all="ignore"):
            agree("gather.add_ranges", read_only(rows), pairs, unwritten(n_rows, width, dtype=dtype))

    @given(st.lists(st.integers(0, 4), max_size=5), st.sampled_from(DTYPES), st.sampled_from(ROW_SHAPES))
    def test_count_and_join_rows(self, sizes, dtype, row_shape):
        arrays = [read_only(values_from_seed(j, n_rows, dtype, row_shape)) for j, n_rows in enumerate(sizes)]
        assert agree("gather.count_rows", arrays, unwritten(len(sizes) + 1)) == -1
        out = unwritten(sum(sizes), int(np.prod(row_shape)) * dtype.itemsize, dtype="u1")
        assert agree("gather.join_rows", arrays, out) == -1
        if out.size:
            assert agree("gather.join_rows", [*arrays, arrays[0][:0]], out[:-1]) == max(np.flatnonzero(sizes))
            assert agree("gather.join_rows", arrays, unwritten(len(out) + 1, out.shape[1], dtype="u1")) == len(sizes)

    def test_join_rows_that_are_not_contiguous(self):
        whole = np.zeros((3, 8), "u1")
        assert agree("gather.join_rows", [whole, whole.T[:3]], unwritten(6, 8, dtype="u1")) == 1

    @pytest.mark.parametrize(
        "odd",
        [
            [1.0, 2.0],
            np.float64(1.0),
            np.array(1.0),
            np.zeros((2, 2)),
            np.zeros((2, 3), "f4"),
            np.zeros((2, 3), ">f8"),
            np.zeros((3, 2)).T,
            np.zeros((2, 6))[:, ::2],
            np.zeros((2, 3)).view(np.matrix),
            None,
        ],
        ids=["list", "scalar", "0-d", "width", "dtype", "byte order", "transposed", "strided", "subclass", "None"],
    )
    @pytest.mark.parametrize("at", [0, 1, 3])
    def test_count_rows_that_cannot_be_joined(self, odd, at):
        arrays = [np.zeros((2, 3)) for _ in range(4)]
        arrays[at] = odd
        bad = at if at > 0 or type(odd) is not np.ndarray or odd.ndim == 0 or not odd.flags.c_contiguous else 1
        assert agree("gather.count_rows", arrays, unwritten(5)) == bad

    def test_count_rows_that_overflow(self):
        assert agree("gather.count_rows", [np.empty((2**62, 0), "u1")] * 3, unwritten(4)) == 1

    def test_count_rows_of_a_list_that_has_changed(self):
        assert agree("gather.count_rows", [np.empty(1)] * 3, unwritten(3)) == 2
        assert agree("gather.count_rows", [np.empty(1)] * 3, unwritten(6)) == 5

    @given(st.tuples(*2 * [st.integers(0, 12)]).map(sorted), st.lists(st.tuples(*2 * [st.integers(0, 12)]).map(sorted)))
    def test_first_overlap(self, place, places):
        memory = np.zeros(12, "u1")
        arrays = [read_only(memory[first:last]) for first, last in places]
        out = read_only(memory[place[0] : place[1]].reshape(-1, 1).view())  # is only read
        expected = [j for j, array in enumerate(arrays) if np.shares_memory(array, out)]
        assert agree("gather.first_overlap", arrays, out, in_place=True) == (expected[0] if expected else -1)

    @given(st.lists(st.sampled_from([[], [1], (), np.zeros(2), np.zeros((0, 2)), np.array(1.0), 1, "ab", None])))
    def test_kinds(self, nodes):
        agree("gather.kinds", nodes)

    @given(nested_lists(1, 1), st.booleans())
    def test_chain(self, drawn, tuples):
        lists = [tuple(entry) if tuples else entry for entry in drawn[0]]
        agree("gather.chain", lists, unwritten(len(lists) + 1))

    @given(OFFSETS)
    def test_nest(self, offsets):
        agree("gather.nest", [object() for _ in range(offsets[-1])], offsets)


@for_each(("start", "length"), [(a, n) for a in (-1, 0, 1, 2, 3, 2**63 - 1) for n in (-1, 0, 1, 2, 3, 2**63 - 1)])
def test_slices_end_in_their_sequence(start, length):
    offsets, fits = int64([0, 4, 6, 9]), start >= 0 and length >= 0 and start + length <= 2
    ranges, out = pieces(3)
    bad = kernels.gather.slice_ranges(offsets, int64([0, start, 3]), int64([4, length, 0]), ranges, out)
    assert bad == (-1 if fits else 1)
    if fits:
        assert ranges.tolist() == [[0, 4], [4 + start, 4 + start + length], [9, 9]]
        assert out.tolist() == [0, 4, 4 + length, 4 + length]


@for_each(("start", "stop"), [(a, b) for a in (-2, -1, 0, 3, 5, 6) for b in (-2, -1, 0, 3, 5, 6)])
def test_ranges_end_in_the_array(start, stop):
    out, fits = unwritten(2, 2), 0 <= start <= stop <= 5
    assert kernels.gather.check_ranges(int64([1, start]), int64([1, stop]), 5, out) == (-1 if fits else 1)
    if fits:
        assert out.tolist() == [[1, 1], [start, stop]]


def test_rows_are_added_from_any_number_of_ranges():
    for dtype in ("f4", "f8"):
        ranges, out = np.array([[0, 2], [1, 3], [1, 2], [0, 3], [2, 2], [1, 2]]), np.full((4, 3), 9, dtype)
        rows, wanted = np.arange(1.0, 28).reshape(9, 3).astype(dtype), np.zeros((4, 3))
        kernels.gather.add_ranges(rows, ranges, out)
        np.add.at(wanted, [row for pair in ranges for row in range(*pair)], rows)
        np.testing.assert_array_equal(out, wanted)


@for_each("shape", [(2, 3, 4, 6), (2, 3, 5, 5), (2, 4, 4, 5), (2, 3, 4), (2, 3, 4, 5, 1), (2,)])
def test_every_axis_of_rows_must_agree(shape):
    arrays = [np.zeros((2, 3, 4, 5)), np.zeros((0, 3, 4, 5)), np.zeros(shape)]
    assert kernels.gather.count_rows(arrays, unwritten(4)) == 2
    assert kernels.gather.count_rows(arrays[:2], unwritten(3)) == -1


@pytest.mark.not_on_reference
def test_nest_leaves_the_garbage_collector_as_it_was():
    for enabled in (False, True):
        (gc.enable if enabled else gc.disable)()
        try:
            kernels.gather.nest([1, 2], int64([0, 2]))
            assert gc.isenabled() == enabled
        finally:
            gc.enable()


def test_copying_refuses_rows_of_another_size():
    with pytest.raises(ValueError, match="rows and out have rows of different sizes"):
        kernels.gather.copy_ranges(opaque(2, 4, 0), np.array([[0, 2]]), unwritten(2, 3, dtype="u1"))


@for_each(
    ("start", "stop", "shared"),
    [(0, 8, False), (0, 9, True), (7, 9, True), (9, 10, True), (15, 16, True), (16, 24, False), (8, 8, False)],
)
def test_first_overlap_of_adjacent_memory_is_none(start, stop, shared):
    memory = np.zeros(24, "u1")
    first = kernels.gather.first_overlap([np.zeros(3), memory[start:stop]], memory[8:16].reshape(2, 4))
    assert first == (1 if shared else -1)
