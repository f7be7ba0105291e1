"""Chunks and truncated sequences, compared with slices of lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDTensor
from reference.ops.levels import at_level
from tests.helpers.draw import lod_tensors
from tests.helpers.recorded import assert_recorded

ANY = lod_tensors(1, 3, [np.dtype("i8"), np.dtype("U2")], [(), (2,)], 5)


@given(ANY, st.data())
def test_sequence_truncate_keeps_the_first_or_the_last_elements(x, data):
    size, level = data.draw(st.integers(0, 4)), data.draw(st.integers(0, x.num_levels - 1))
    first = lodcore.sequence_truncate(x, size, level=level)
    last = lodcore.sequence_truncate(x, size, side="left", level=level - x.num_levels)
    assert first.tolist() == at_level(lambda one: one[:size], x.tolist(), level)
    assert last.tolist() == at_level(lambda one: one[max(len(one) - size, 0) :], x.tolist(), level)
    assert_recorded(lambda x: lodcore.sequence_truncate(x, size, "left"), x)


#: Sequences of every length from 0 to 3 on each of three levels.
DEEP = [[[[1, 2, 3], [], [4]], [[5]], [[6, 7], [8]]], [], [[[9]], [], [[], [10, 11]]], [[[12, 13, 14]]]]


@pytest.mark.parametrize("level", [0, 1, 2, -1, -2, -3])
def test_sequence_truncate_to_every_size_from_both_sides(level):
    x, at = lodcore.array(DEEP), level % 3
    for size in (0, 1, 2, 3, 4, 2**62, np.int8(0), np.uint8(1)):
        n = int(size)
        right = at_level(lambda one, n=n: one[:n], DEEP, at)
        left = at_level(lambda one, n=n: one[max(len(one) - n, 0) :], DEEP, at)
        for side, wanted in ((["right"], right), ([], right), (["left"], left)):
            assert lodcore.sequence_truncate(x, size, *side, level=level).tolist() == wanted


def plain_chunks(length, size, stride, last):
    """List the bounds of chunks as a loop finds them."""
    found, start = [], 0
    while start < length and (start == 0 or start + size - stride < length):
        stop = min(start + size, length)
        if last != "drop" or stop - start == size:
            found.append((max(stop - size, 0) if last == "full" else start, stop))
        start += stride
    return found


@pytest.mark.parametrize("last", ["short", "full", "drop"])
def test_sequence_chunk_of_every_length_size_and_stride(last):
    """At the last level and above it."""
    lengths = [0, 1, 2, 3, 4, 5, 6, 7, 8, 0]
    x = LoDTensor.from_lengths(np.arange(36), lengths)
    deep = LoDTensor.from_lengths(np.arange(36), lengths, [1] * 36)
    parts = x.tolist()
    for size in range(1, 6):
        for stride in range(1, size + 1):
            wanted = [[part[a:b] for a, b in plain_chunks(len(part), size, stride, last)] for part in parts]
            assert lodcore.sequence_chunk(x, size, stride, last).tolist() == wanted
            nested = [[[[row] for row in chunk] for chunk in part] for part in wanted]
            assert lodcore.sequence_chunk(deep, size, stride, last, level=0).tolist() == nested
        assert lodcore.sequence_chunk(x, size, last=last).equals(lodcore.sequence_chunk(x, size, size, last))


@pytest.mark.parametrize("last", ["short", "full", "drop"])
@pytest.mark.parametrize("align", ["start", "middle", "end"])
def test_chunks_that_neither_overlap_nor_leave_anything_out_share_the_values(last, align):
    x = LoDTensor.from_lengths(np.arange(10.0), [4, 0, 6])
    for chunked in (
        lodcore.sequence_chunk(x, 2, last=last, align=align),
        lodcore.sequence_chunk(x, 6, 2, last, -1, align),
    ):
        whole = (
            chunked.num_rows == 10
            and [row for one in chunked.tolist() for part in one for row in part] == x.values.tolist()
        )
        assert np.shares_memory(chunked.values, x.values) == whole
    assert np.shares_memory(lodcore.sequence_chunk(x, 2, last=last, align=align).values, x.values)
    assert_recorded(lambda x: lodcore.sequence_chunk(x, 2, last=last, align=align), x)
    odd = LoDTensor.from_lengths(np.arange(7.0), [3, 4])
    assert np.shares_memory(lodcore.sequence_chunk(odd, 2, last=last, align=align).values, odd.values) == (
        last == "short"
    )
