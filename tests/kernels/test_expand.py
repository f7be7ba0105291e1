"""Rows repeated, in reverse order, and joined from several batches."""

import hashlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, guarded, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum
from tests.helpers.rows import opaque
from tests.helpers.tables import for_each

ROW_BYTES = st.sampled_from([4, 8, 1, 2, 16, 3, 12, 24, 40, 64, 100, 0])


@st.composite
def many_offsets(draw):
    """Draw the offsets of many sequences: of about one length, mixed, or with runs of single rows."""
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
    """Draw a mask as bytes, where any byte but 0 is true."""
    drawn = st.lists(st.sampled_from([0, 1, 1, 0, 255]), min_size=count, max_size=count)
    return drawn.map(lambda chosen: read_only(np.array(chosen, np.uint8)))


@st.composite
def batches(draw):
    """Draw opaque rows and offsets of batches of the same number of sequences: (arrays, offsets, row_bytes)."""
    n_seqs, row_bytes = draw(st.sampled_from([0, 1, 4, 12])), draw(ROW_BYTES)
    levels = [int64(running_sum(draw(lengths(count=n_seqs)))) for _ in range(draw(st.integers(1, 4)))]
    return [opaque(offsets[-1], row_bytes, j) for j, offsets in enumerate(levels)], levels, row_bytes


@st.composite
def two_sides(draw, too_many):
    """Draw a mask, and rows and offsets of two batches that fit it exactly or nearly."""
    mask, row_bytes = draw(st.integers(0, 30).flatmap(masks)), draw(ROW_BYTES)
    n_true = min(max(0, int(np.count_nonzero(mask)) + draw(too_many)), len(mask))
    levels = [int64(running_sum(draw(lengths(count=count)))) for count in (n_true, len(mask) - n_true)]
    arrays = [opaque(offsets[-1], row_bytes, j) for j, offsets in enumerate(levels)]
    out = unwritten(sum(map(len, arrays)), row_bytes, dtype="u1")
    return arrays, levels, mask, unwritten(len(mask) + 1), out


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

    @given(batches())
    def test_join_sequences(self, drawn):
        arrays, levels, row_bytes = drawn
        out = unwritten(sum(map(len, arrays)), row_bytes, dtype="u1")
        agree("expand.join_sequences", arrays, levels, unwritten(len(levels[0])), out)

    @given(batches())
    def test_split_sequences(self, drawn):
        arrays, levels, row_bytes = drawn
        rows = opaque(sum(map(len, arrays)), row_bytes, 9)
        guards = [guarded(array) for array in arrays]
        agree("expand.split_sequences", rows, levels, [copy for _, copy in guards])  # the twin runs last
        twin = [buffer.copy() for buffer, _ in guards]
        for _, copy in guards:
            copy[...] = 0
        kernels.expand.split_sequences(rows, levels, [copy for _, copy in guards])
        for (buffer, _), wanted in zip(guards, twin, strict=True):
            np.testing.assert_array_equal(buffer, wanted)

    @given(st.integers(0, 12).flatmap(masks))
    def test_split_mask(self, mask):
        n_true = agree("expand.split_mask", mask, unwritten(len(mask)))
        assert n_true == np.count_nonzero(mask)

    @given(two_sides(st.integers(-1, 1)))
    def test_merge_sequences(self, drawn):
        bad = agree("expand.merge_sequences", *drawn)
        mask, offsets = drawn[2], drawn[1][0]
        assert (bad < 0) == (len(offsets) - 1 == np.count_nonzero(mask))

    @given(OFFSETS, st.integers(0, 6), st.integers(1, 6))
    def test_scale_offsets(self, offsets, width, new_width):
        bad = agree("expand.scale_offsets", offsets, width, new_width, unwritten(len(offsets)))
        odd = np.flatnonzero(np.diff(offsets) * width % new_width)
        assert bad == (odd[0] if len(odd) else -1)


def digest():
    """Repeat, reverse, join, split and merge rows of every size, and hash the results."""
    found = hashlib.sha256()
    for seed, row_bytes in enumerate([1, 2, 3, 4, 8, 12, 16, 24, 32, 40, 64, 96, 100, 128, 300] * 3):
        random = np.random.default_rng(seed)
        levels = [int64(running_sum(random.integers(0, [2, 9, 70][seed % 3], 50))) for _ in range(2)]
        arrays = [opaque(offsets[-1], row_bytes, seed) for offsets in levels]
        out, all_rows = np.zeros_like(arrays[0]), np.zeros((sum(map(len, arrays)), row_bytes), "u1")
        for name, rows in (("repeat_rows", opaque(50, row_bytes, seed)), ("reverse_rows", arrays[0])):
            getattr(kernels.expand, name)(rows, levels[0], out)
            found.update(out.tobytes())
        ends, mask, back = unwritten(101), (np.arange(100) % 2).astype("u1"), [np.zeros_like(one) for one in arrays]
        kernels.expand.join_sequences(arrays, levels, ends[:51], all_rows)
        found.update(ends[:51].tobytes() + all_rows.tobytes())
        kernels.expand.split_sequences(all_rows, levels, back)
        found.update(b"".join(one.tobytes() for one in back))
        bad = kernels.expand.merge_sequences(arrays, levels, mask, ends, all_rows)
        found.update(bytes([bad < 0]) + ends.tobytes() + all_rows.tobytes())
    return found.hexdigest()


@pytest.mark.not_on_reference
@pytest.mark.parametrize("odd", [0, 2, 5])
@pytest.mark.parametrize("row_bytes", [1, 4, 8])
def test_one_longer_or_empty_sequence_among_sequences_of_one_row(odd, row_bytes):
    for place in range(36):
        sizes = [1] * 60
        sizes[place] = odd
        offsets = int64(running_sum(sizes))
        rows = opaque(offsets[-1], row_bytes)
        agree("expand.reverse_rows", rows, offsets, unwritten(offsets[-1], row_bytes, dtype="u1"))
        rows = opaque(60, row_bytes)
        agree("expand.repeat_rows", rows, offsets, unwritten(offsets[-1], row_bytes, dtype="u1"))


@pytest.mark.not_on_reference
@for_each("row_bytes", [1, 2, 4, 8, 16, 12, 32, 40, 64])
def test_ends_of_groups_and_chunks(row_bytes):
    """Runs of 16 sequences up to the very end, last sequences of any length, and nothing after the last row changes."""
    for first in ([2] * 15, [1] * 15, [1] * 31, [3, 1] * 15 + [1], [40] * 3, [0] * 15 + [33], [2] * 32):
        for last in (0, 1, 8, 9, 15, 17, 70):
            bounds = running_sum([*first, last])
            offsets, rows = int64(bounds), opaque(bounds[-1], row_bytes, 5)
            for name, given_rows, index in [
                ("reverse_rows", rows, [r for a, b in pairwise(bounds) for r in range(b - 1, a - 1, -1)]),
                ("repeat_rows", opaque(len(bounds) - 1, row_bytes), np.repeat(range(len(first) + 1), np.diff(bounds))),
            ]:
                buffer, out = guarded(unwritten(bounds[-1], row_bytes, dtype="u1"))
                getattr(kernels.expand, name)(given_rows, offsets, out)
                np.testing.assert_array_equal(out, given_rows[index])
                assert (buffer[:64] == 0xA5).all(), name
                assert (buffer[-64:] == 0xA5).all(), name


@pytest.mark.large
def test_rows_that_are_written_past_the_caches():
    """Results of 32 MiB, of rows whose size is no power of two, in memory that is in use."""
    count, rows = 2**25 // 48 + 2, opaque(2, 48)
    out = np.ones((count, 48), "u1")
    kernels.expand.repeat_rows(rows, int64([0, 1000, count]), out)
    words, wanted = out.view("u8"), rows.view("u8")
    assert (words[:1000] == wanted[0]).all()
    assert all((words[1000:, k] == wanted[1, k]).all() for k in range(6))


def test_many_batches_are_joined_and_split():
    levels = [int64([0, j % 3, j % 3 + 1, j % 3 + 1]) for j in range(20)]
    arrays = [np.full((level[-1], 4), j, "u1") for j, level in enumerate(levels)]
    out, offsets = np.empty((sum(map(len, arrays)), 4), "u1"), np.empty(4, np.int64)
    kernels.expand.join_sequences(arrays, levels, offsets, out)
    wanted = [j for j in range(20) for _ in range(j % 3)] + list(range(20))
    assert out[:, 0].tolist() == wanted
    assert offsets.tolist() == [0, len(wanted) - 20, len(wanted), len(wanted)]
    back = [np.zeros_like(array) for array in arrays]
    kernels.expand.split_sequences(out, levels, back)
    assert [array.tolist() for array in back] == [array.tolist() for array in arrays]


@pytest.mark.beyond_the_rules
def test_batches_that_do_not_belong_together():
    one, two, out, place = np.ones((2, 4), "u1"), np.ones((3, 4), "u1"), np.ones((5, 4), "u1"), np.empty(3, np.int64)
    levels, mask, kernel = [int64([0, 1, 2]), int64([0, 2, 3])], np.array([1, 0, 1, 0], "u1"), kernels.expand
    wide, shorter = np.empty(5, np.int64), int64([0, 3])
    kernel.join_sequences([one, two], levels, place, out)
    kernel.merge_sequences([one, two], levels, mask, wide, out)
    kernel.split_sequences(out, levels, [one, two])
    for rows in (out[:4].copy(), np.ones((6, 4), "u1"), np.ones((5, 3), "u1")):
        for function, given_arrays in [
            (kernel.join_sequences, ([one, two], levels, place, rows)),
            (kernel.merge_sequences, ([one, two], levels, mask, wide, rows)),
            (kernel.split_sequences, (rows, levels, [one, two])),
        ]:
            with pytest.raises(ValueError, match="belong together"):
                function(*given_arrays)
    for arrays, bounds in [
        ([one, two], [levels[0], shorter]),
        ([one, two], [int64([0, 2]), levels[1]]),
        ([one, two], [levels[0], int64([0, 2, 4])]),
        ([one], levels),
        ([one, two, one], levels),
        ([one, two[:2].copy()], levels),
        ([one, out[::2]], levels),
        ([one, two.tolist()], levels),
    ]:
        with pytest.raises(ValueError, match="belong together"):
            kernel.join_sequences(arrays, bounds, place, out)
        with pytest.raises(ValueError, match="belong together"):
            kernel.split_sequences(out, bounds, arrays)
    with pytest.raises(ValueError, match="belong together"):
        kernel.reverse_rows(out, int64([0, 5]), np.ones((6, 4), "u1"))
    with pytest.raises(ValueError, match="belong together"):
        kernel.reverse_rows(out, int64([0, 5]), np.ones((4, 4), "u1"))


@for_each(("sizes", "width", "new_width", "bad"), [
    ([1, 2, 4], 2, 2, -1), ([1, 2, 3], 2, 4, 0), ([2, 2, 3], 2, 4, 2), ([2, 3, 2], 2, 4, 1), ([3], 1, 2, 0),
    ([2, 0, 1], 3, 2, 2), ([2, 0], 3, 2, -1), ([], 3, 2, -1), ([4, 1], 3, 6, 1),
])  # fmt: skip
def test_the_sequence_that_cannot_be_divided(sizes, width, new_width, bad):
    out = np.empty(len(sizes) + 1, np.int64)
    assert kernels.expand.scale_offsets(int64(running_sum(sizes)), width, new_width, out) == bad
    if bad < 0:
        assert out.tolist() == [n * width // new_width for n in running_sum(sizes)]


@for_each("true", [1, 2, 255])
def test_every_byte_but_0_is_true(true):
    mask = np.array([0, true, true, 0, true], "u1")
    places, offsets, out = np.empty(5, np.int64), np.empty(6, np.int64), np.empty((5, 1), "u1")
    assert kernels.expand.split_mask(mask, places) == 3
    assert places.tolist() == [1, 2, 4, 0, 3]
    arrays, levels = (
        [np.array([[1], [2], [3]], "u1"), np.array([[8], [9]], "u1")],
        [int64([0, 1, 2, 3]), int64([0, 1, 2])],
    )
    assert kernels.expand.merge_sequences(arrays, levels, mask, offsets, out) == -1
    assert out[:, 0].tolist() == [8, 1, 2, 9, 3]
    for wrong, bad in (([true] * 4 + [0], 3), ([0, true, true, true, true], 4), ([true, 0, 0, true, 0], 4)):
        assert kernels.expand.merge_sequences(arrays, levels, np.array(wrong, "u1"), offsets, out) == bad


@pytest.mark.parametrize("name", ["repeat_rows", "reverse_rows"])
def test_rows_of_another_size_are_refused(name):
    with pytest.raises(ValueError, match="rows and out have rows of different sizes"):
        getattr(kernels.expand, name)(opaque(2, 4), int64([0, 1, 2]), unwritten(2, 3, dtype="u1"))


@for_each(
    ("offsets", "bad"),
    [([0, 2, 4, 6], -1), ([0, 2, 4, 5], 2), ([0, 1, 2], 0), ([0, 2, 3, 4], 1), ([0, 0], -1), ([0], -1)],
)
def test_scale_offsets_returns_the_first_sequence_that_is_not_divisible(offsets, bad):
    out = unwritten(len(offsets))
    assert kernels.expand.scale_offsets(int64(offsets), 3, 6, out) == bad
    assert bad >= 0 or out.tolist() == [number // 2 for number in offsets]
