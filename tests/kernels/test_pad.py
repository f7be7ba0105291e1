"""Sequences padded to an array, and back."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum, values_from_seed
from tests.helpers.tables import for_each


@st.composite
def paddable(draw):
    """Draw rows, offsets, the padding, its side, and the padded length."""
    sizes = draw(st.one_of(lengths(most=6), lengths(most=40)))
    row_bytes = draw(st.sampled_from([1, 4, 3, 8, 12, 24, 48, 64, 0]))
    n_rows = sum(sizes)
    fill = draw(st.sampled_from(["zeros", "one byte", "any bytes"]))
    filling = {"zeros": bytes(row_bytes), "one byte": b"\x7f" * row_bytes}.get(fill, bytes(range(row_bytes)))
    rows = read_only(values_from_seed(n_rows, n_rows, np.dtype("u1"), (row_bytes,)))
    padded_length = max(sizes, default=0) + draw(st.sampled_from([0, 1, 3, 90]))
    return rows, int64(running_sum(sizes)), np.frombuffer(filling, "u1"), draw(st.booleans()), padded_length


@pytest.mark.not_on_reference
class TestTwins:
    @given(paddable())
    def test_pad_and_unpad_rows(self, drawn):
        rows, offsets, fill, left, padded_length = drawn
        shape = (len(offsets) - 1, padded_length, rows.shape[1])
        agree("pad.pad_rows", rows, offsets, fill, left, unwritten(*shape, dtype="u1"))
        agree("pad.pad_rows", rows, offsets, fill[:0], left, unwritten(*shape, dtype="u1"))
        padded = read_only(values_from_seed(0, shape[0], np.dtype("u1"), shape[1:]))
        agree("pad.repeat_ends", offsets, left, np.array(padded))
        agree("pad.unpad_rows", padded, offsets, left, unwritten(*rows.shape, dtype="u1"))

    @pytest.mark.parametrize("row_bytes", [1, 2, 3, 4, 8, 12, 16, 20, 24, 48, 60, 64, 72])
    @pytest.mark.parametrize("left", [False, True])
    def test_short_lines(self, row_bytes, left):
        """Gaps that are longer than a chunk of 64 bytes, and shorter ones."""
        sizes = np.random.default_rng(row_bytes).integers(0, 9, 60).tolist()
        rows = read_only(values_from_seed(7, sum(sizes), np.dtype("u1"), (row_bytes,)))
        fill = read_only(np.arange(1, row_bytes + 1, dtype="u1"))
        agree("pad.pad_rows", rows, int64(running_sum(sizes)), fill, left, unwritten(60, 9, row_bytes, dtype="u1"))

    @given(st.lists(st.integers(-(2**63), 2**63 - 1)))
    def test_greatest(self, sizes):
        assert agree("pad.greatest", int64(sizes)) == max([0, *sizes])

    @given(
        st.lists(st.integers(0, 9), max_size=9),
        st.integers(0, 12),
        st.sampled_from([b"\x01", b"\xff\xff", np.float32(1).tobytes(), np.float64(1).tobytes(), b""]),
        st.sampled_from([None, -1, -(2**63), 2**63 - 1]),
    )
    def test_mask_rows(self, sizes, padded_length, one, odd):
        counts = int64(sizes if odd is None else [*sizes, odd])
        out = unwritten(len(counts), padded_length, len(one), dtype="u1")
        bad = agree("pad.mask_rows", counts, np.frombuffer(one, "u1"), out)
        assert bad == (len(sizes) if odd is not None and odd < 0 else -1)


def digest():
    """Pad rows of every size with every kind of filling, on both sides, and back, and hash the results."""
    found = hashlib.sha256()
    for seed, row_bytes in enumerate([1, 2, 3, 4, 8, 12, 16, 24, 48, 60, 64, 72, 300] * 3):
        random = np.random.default_rng(seed)
        sizes, left = random.integers(0, [4, 30, 90][seed % 3], 40), bool(seed % 2)
        rows, offsets = random.integers(0, 256, (sizes.sum(), row_bytes), np.uint8), int64(running_sum(sizes))
        back, ones = np.zeros_like(rows), np.full(row_bytes, 0x7F, "u1")
        for fill in (ones[:0], ones, np.arange(row_bytes).astype("u1")):
            out = unwritten(40, max(sizes) + seed % 5, row_bytes, dtype="u1")
            kernels.pad.pad_rows(rows, offsets, fill, left, out)
            found.update(out.tobytes())
        kernels.pad.repeat_ends(offsets, left, out)
        kernels.pad.unpad_rows(out, offsets, left, back)
        found.update(out.tobytes() + back.tobytes() + repr(kernels.pad.greatest(sizes)).encode())
        kernels.pad.mask_rows(sizes, ones, out)
        found.update(out.tobytes())
    return found.hexdigest()


def test_padding_refuses_rows_of_another_size():
    rows, padded, offsets = unwritten(2, 4, dtype="u1"), unwritten(1, 2, 3, dtype="u1"), int64([0, 2])
    with pytest.raises(ValueError, match="rows, fill and out have rows of different sizes"):
        kernels.pad.pad_rows(rows, offsets, rows[0], False, padded)
    with pytest.raises(ValueError, match="rows, fill and out have rows of different sizes"):
        kernels.pad.pad_rows(rows, offsets, rows[0, :3], False, unwritten(1, 2, 4, dtype="u1"))
    with pytest.raises(ValueError, match="one and out have items of different sizes"):
        kernels.pad.mask_rows(offsets, rows[0], padded)
    with pytest.raises(ValueError, match="padded and out have rows of different sizes"):
        kernels.pad.unpad_rows(padded, offsets, False, rows)


def test_padding_with_a_filling_whose_first_and_last_bytes_are_equal():
    offsets, fill = np.array([0, 1]), np.array([1, 2, 1], np.uint8)
    out = np.zeros((1, 3, 3), np.uint8)
    kernels.pad.pad_rows(np.full((1, 3), 7, np.uint8), offsets, fill, False, out)
    assert out.tolist() == [[[7, 7, 7], [1, 2, 1], [1, 2, 1]]]


@for_each("fill", [[7, 7, 8], [8, 7, 7], [7, 7, 7, 9], [0, 0, 1], [7, 8], [*[7] * 63, 9], [*[7] * 64, 9]])
def test_pad_rows_with_equal_bytes_except_one(fill):
    for length in (3, 40):
        out = np.zeros((3, length, len(fill)), np.uint8)
        kernels.pad.pad_rows(np.full((2, len(fill)), 5, "u1"), int64([0, 1, 2, 2]), np.array(fill, "u1"), False, out)
        assert (out[:2, 1:] == fill).all()
        assert (out[2] == fill).all()


@pytest.mark.not_on_reference
@for_each("left", [False, True])
@for_each("line", [63, 64, 65, 96, 127, 129, 191, 255, 257, 300, 511, 513])
def test_lines_that_are_full_at_the_very_end(line, left):
    """Chunks never leave the result."""
    for sizes in ([line, line - 1], [line - 1, line], [line, line, line - 2], [0, line, line - 3, line]):
        offsets, row = int64(running_sum(sizes)), np.array([3], "u1")
        rows = read_only(values_from_seed(1, sum(sizes), np.dtype("u1"), (1,)))
        wanted = np.full((len(sizes), line), 3, "u1")
        for s, size in enumerate(sizes):
            wanted[s, line - size if left else 0 : line if left else size] = rows[offsets[s] : offsets[s + 1], 0]
        memory, back = np.full(wanted.size + 128, 0xA5, "u1"), np.full(len(rows) + 128, 0xA5, "u1")
        out, rows_again = memory[64:-64].reshape(len(sizes), line, 1), back[64:-64, None]
        kernels.pad.pad_rows(rows, offsets, row, left, out)
        kernels.pad.unpad_rows(out, offsets, left, rows_again)
        assert (out[:, :, 0] == wanted).all()
        assert (rows_again == rows).all()
        assert all((edge == 0xA5).all() for one in (memory, back) for edge in (one[:64], one[-64:]))


@for_each("padded_length", [0, 1, 3])
@for_each("item_bytes", [0, 1, 4])
@for_each(("sizes", "bad"), [([1, -1, -2], 1), ([-1], 0), ([2**62, 0], -1), ([0, 0, -(2**63)], 2), ([], -1)])
def test_the_first_negative_length(sizes, bad, item_bytes, padded_length):
    """Also if nothing is written."""
    out = np.zeros((len(sizes), padded_length, item_bytes), "u1")
    assert kernels.pad.mask_rows(int64(sizes), np.ones(item_bytes, "u1"), out) == bad
