"""Large results, written past the caches if memory is already mapped: the same bytes as in small parts."""

import numpy as np
import pytest

from lodcore import kernels
from tests.helpers.draw import read_only

pytestmark = pytest.mark.large("expand", "gather", "pad")  # it would take a minute per megabyte

WIDE = 512  # bytes of a row
ROWS = 2**25 // WIDE + 1000


@pytest.fixture(scope="module")
def batch():
    """Make opaque rows, and the offsets of sequences of 0 to 40 of them."""
    random = np.random.default_rng(0)
    sizes = random.integers(0, 41, ROWS // 20 + 100)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    offsets = read_only(np.append(offsets[offsets < ROWS], ROWS))
    return read_only(random.integers(0, 256, (ROWS, WIDE), np.uint8)), offsets


def mapped(*shape):
    """Make an array whose pages are mapped."""
    return np.full(shape, 0xA5, np.uint8)


def test_copy_ranges(batch):
    rows, offsets = batch
    order = np.random.default_rng(1).permutation(len(offsets) - 1)
    ranges = np.stack([offsets[order], offsets[order + 1]], axis=1)
    out = mapped(ROWS, WIDE)
    kernels.gather.copy_ranges(rows, ranges, out)
    assert np.array_equal(out, np.concatenate([rows[start:stop] for start, stop in ranges]))


def test_repeat_and_reverse_rows(batch):
    rows, offsets = batch
    out = mapped(ROWS, WIDE)
    kernels.expand.repeat_rows(rows[: len(offsets) - 1], offsets, out)
    assert np.array_equal(out, np.repeat(rows[: len(offsets) - 1], np.diff(offsets), axis=0))
    kernels.expand.reverse_rows(rows, offsets, out)
    ends = np.repeat(offsets[:-1] + offsets[1:] - 1, np.diff(offsets))
    assert np.array_equal(out, rows[ends - np.arange(ROWS)])


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("filling", [b"", b"\x07" * WIDE, bytes(range(256)) * (WIDE // 256)], ids=["no", "even", "any"])
def test_pad_and_unpad_rows(batch, left, filling):
    rows, offsets = batch
    lengths = np.diff(offsets)
    longest = int(lengths.max())
    fill = np.frombuffer(filling, np.uint8)
    steps = np.arange(longest)
    inside = steps >= longest - lengths[:, None] if left else steps < lengths[:, None]
    wanted = np.empty((len(lengths), longest, WIDE), np.uint8)
    wanted[:] = fill if filling else 0
    wanted[inside] = rows
    padded, back = mapped(*wanted.shape), mapped(ROWS, WIDE)
    kernels.pad.pad_rows(rows, offsets, fill, left, padded)
    assert np.array_equal(padded, wanted)
    kernels.pad.unpad_rows(padded, offsets, left, back)
    assert np.array_equal(back, rows)


def test_a_filling_of_one_chunk():
    offsets = np.arange(0, 2 * 2**13 + 1, 2)
    rows, fill = np.ones((2**14, 64), np.uint8), np.arange(64, dtype=np.uint8)
    out = mapped(2**13, 70, 64)
    kernels.pad.pad_rows(rows, offsets, fill, False, out)
    assert (out[:, :2] == 1).all()
    assert (out[:, 2:] == fill).all()


def test_rows_that_are_not_aligned():
    rows = np.random.default_rng(0).integers(0, 256, (2**19, 65), np.uint8)
    memory = mapped(2**19 * 65 + 1)
    out = memory[1:].reshape(2**19, 65)
    offsets = np.array([0, 2**18, 2**19])
    kernels.expand.reverse_rows(rows, offsets, out)
    assert np.array_equal(out, np.concatenate([rows[2**18 - 1 :: -1], rows[: 2**18 - 1 : -1]]))
    assert memory[0] == 0xA5


def test_rows_of_half_a_unit():
    """Rows of eight bytes begin within a unit of sixteen."""
    out, offsets = mapped(2**14 + 1, 257, 8), np.arange(2**14 + 2)
    kernels.pad.pad_rows(np.ones((2**14 + 1, 8), np.uint8), offsets, np.arange(8, dtype=np.uint8), False, out)
    assert (out[:, 0] == 1).all()
    assert (out[:, 1:] == np.arange(8)).all()
