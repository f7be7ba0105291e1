"""Windows of rows copied, and rows weighted by a filter."""

import hashlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum, values_from_seed, whole_numbers
from tests.helpers.rows import SEEDS, opaque
from tests.helpers.tables import for_each

OFFSETS = lengths(most=12).map(running_sum).map(int64)
ROW_BYTES = st.sampled_from([4, 8, 1, 2, 3, 16, 40, 0])
WIDTHS = st.sampled_from([1, 2, 3, 15, 16, 17, 40, 0])
REALS = st.sampled_from(["f4", "f8"])


def numbers(seed, n_rows, width, dtype):
    """Make rows of all kinds of floats without nan, whose bits may differ: inf - inf makes one kind of nan."""
    made = values_from_seed(seed, n_rows, np.dtype(dtype), (width,))
    made[np.isnan(made)] = np.inf
    return read_only(made)


@st.composite
def windows(draw, starts=None):
    """Draw rows, offsets, padding, the start of a window, its number of rows, and the first row."""
    offsets, row_bytes = draw(OFFSETS), draw(ROW_BYTES)
    n_rows = int(offsets[-1])
    length = draw(st.integers(1, 6) | st.sampled_from([17, 40]))
    start = draw(st.integers(-n_rows - length, n_rows) | st.integers(-min(n_rows, 3), min(n_rows, 3)))
    places = draw(st.sampled_from([0, 1, max(0, -start) + max(0, start + length - 1)]))
    rows, padding = opaque(n_rows, row_bytes), opaque(places, row_bytes, 1)
    return rows, offsets, padding, start, length, draw(st.integers(0, n_rows))


@st.composite
def weighable(draw, whole=False):
    """Draw rows, offsets and a filter; small integers if sums must be exact."""
    offsets, width, dtype = draw(OFFSETS), draw(WIDTHS), draw(REALS)
    repeat = draw(st.sampled_from([1, 1, 7]))  # long sequences fill whole groups of rows
    offsets = int64(offsets * repeat)
    taps = draw(st.integers(1, 5) | st.sampled_from([16, 17, 35]))
    make = (
        (lambda n: draw(whole_numbers(n, dtype, width))) if whole else lambda n: numbers(draw(SEEDS), n, width, dtype)
    )
    return make(int(offsets[-1])), offsets, make(taps)


@pytest.mark.not_on_reference
class TestTwins:
    @given(windows())
    def test_copy_windows(self, drawn):
        rows, offsets, padding, start, length, first = drawn
        out = unwritten(len(rows) - first, length * rows.shape[1], dtype="u1")
        agree("window.copy_windows", rows, offsets, padding, start, length, first, out)
        some = (len(rows) - first) // 2
        agree("window.copy_windows", rows, offsets, padding, start, length, first, out[:some].copy())

    @pytest.mark.parametrize("row_bytes", [8, 24])
    @pytest.mark.parametrize(("start", "length"), [(0, 3), (-2, 5), (1, 2), (-9, 3)])
    def test_copy_windows_of_many_rows(self, start, length, row_bytes):
        offsets = int64(np.cumsum([0, *np.random.default_rng(0).integers(0, 40, 120)]))
        rows = opaque(int(offsets[-1]), row_bytes)
        out = unwritten(len(rows), length * row_bytes, dtype="u1")
        agree("window.copy_windows", rows, offsets, opaque(0, row_bytes), start, length, 0, out)

    @given(weighable())
    def test_weighed_rows(self, drawn):
        x, offsets, filter = drawn
        with np.errstate(all="ignore"):
            agree("window.correlate_rows", x, offsets, filter, unwritten(*x.shape, dtype=x.dtype))
            agree("window.convolve_rows", x, offsets, filter, unwritten(*x.shape, dtype=x.dtype))

    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    @pytest.mark.parametrize("width", [1, 2, 3, 7, 15, 16, 33])
    @pytest.mark.parametrize("taps", [1, 2, 5, 16, 17, 35])
    def test_weighed_rows_of_long_sequences(self, taps, width, dtype):
        random = np.random.default_rng(taps)
        offsets = int64([0, 1, 64, 64, 80, 113, 200, 203])
        x, filter = (read_only(random.standard_normal((n, width)).astype(dtype)) for n in (203, taps))
        for name in ("correlate_rows", "convolve_rows"):
            agree(f"window.{name}", x, offsets, filter, unwritten(*x.shape, dtype=dtype))

    @given(weighable(), SEEDS)
    def test_sum_lagged_products(self, drawn, seed):
        x, offsets, filter = drawn
        y = numbers(seed, *x.shape, x.dtype)
        with np.errstate(all="ignore"):
            agree("window.sum_lagged_products", x, y, offsets, unwritten(*filter.shape, dtype="f8"))

    @given(weighable(), st.integers(0, 6), st.integers(0, 6))
    def test_sum_edges(self, drawn, before, after):
        x, offsets, _ = drawn
        out = unwritten(before + after, x.shape[1], dtype="f8")
        with np.errstate(all="ignore"):
            agree("window.sum_edges", x, offsets, before, after, out)


@for_each(("start", "length"), [(-1, 3), (-2, 3), (0, 3), (-1, 2), (0, 2), (-3, 2), (2, 1), (1, 2), (-2, 6)])
@for_each("row_bytes", [1, 2, 3, 4, 8])
def test_padding_of_one_row_each_and_of_one_for_all(start, length, row_bytes):
    """Also of two rows, one before and one after."""
    rows, offsets = opaque(7, row_bytes), [0, 2, 2, 3, 7]
    before, after = max(0, -start), max(0, start + length - 1)
    for count in {0, 1, before + after}:
        padding, out = opaque(count, row_bytes, 1), unwritten(7, length * row_bytes, dtype="u1")
        kernels.window.copy_windows(rows, int64(offsets), padding, start, length, 0, out)
        for first, stop in pairwise(offsets):
            for t in range(first, stop):
                for j, at in enumerate(range(t + start, t + start + length)):
                    number = 0 if count == 1 else before + at - (first if at < first else stop)
                    row = rows[at] if first <= at < stop else padding[number] if count else np.zeros(row_bytes, "u1")
                    assert out[t, j * row_bytes : (j + 1) * row_bytes].tolist() == row.tolist()


@for_each("dtype", ["f4", "f8"])
@for_each("width", [1, 2])
@for_each("taps", range(1, 10))
def test_products_of_every_lag_and_sums_of_every_edge(taps, width, dtype):
    random = np.random.default_rng(taps)
    x, y = random.integers(-4, 5, (2, 14, width)).astype(dtype)
    offsets, out = [0, 1, 1, 4, 14], unwritten(taps, width, dtype="f8")
    parts = [(x[a:b].astype(float), y[a:b].astype(float)) for a, b in pairwise(offsets)]
    kernels.window.sum_lagged_products(x, y, int64(offsets), out)
    for j in range(taps):
        assert (out[j] == sum((a[j:] * b[: max(len(b) - j, 0)]).sum(axis=0) for a, b in parts)).all()
    for before in (0, taps // 2, taps):
        kernels.window.sum_edges(x, int64(offsets), before, taps - before, out)
        for i in range(taps):
            rows = [a[i : i + 1] if i < before else a[len(a) - taps + i :][:1] for a, _ in parts]
            rows = [row for row, (a, _) in zip(rows, parts, strict=True) if i < before or len(a) >= taps - i]
            assert (out[i] == sum((row.sum(axis=0) for row in rows), np.zeros(width))).all()
    kernels.window.sum_lagged_products(x[:0], y[:0], int64([0, 0]), out)
    assert not out.any()


def test_windows_refuse_rows_of_another_size():
    rows, offsets = opaque(2, 4), int64([0, 2])
    with pytest.raises(ValueError, match="out has windows of another size"):
        kernels.window.copy_windows(rows, offsets, opaque(0, 4), 0, 2, 0, unwritten(2, 7, dtype="u1"))
    with pytest.raises(ValueError, match="rows and padding have rows of different sizes"):
        kernels.window.copy_windows(rows, offsets, opaque(1, 3), 0, 2, 0, unwritten(2, 8, dtype="u1"))
    with pytest.raises(ValueError, match="out has another number of rows"):
        kernels.window.sum_edges(np.zeros((2, 1)), offsets, 1, 1, np.zeros((3, 1)))


@pytest.mark.beyond_the_rules
def test_arrays_that_do_not_belong_together():
    """Memory beyond an array is neither read nor written."""
    kernel, offsets = kernels.window, int64([0, 2])
    bytes_of, reals = (lambda n, width: np.zeros((n, width), "u1")), (lambda n, width: np.zeros((n, width)))
    for rows, padding, first, out in ((3, 0, 0, 2), (2, 0, 1, 2), (2, 0, -1, 2), (2, 2, 0, 2)):
        with pytest.raises(ValueError, match="number"):
            kernel.copy_windows(bytes_of(rows, 4), offsets, bytes_of(padding, 4), 0, 2, first, bytes_of(out, 8))
    for x, filter, out in (
        ((3, 2), (1, 2), (3, 2)),
        ((2, 2), (1, 2), (3, 2)),
        ((2, 2), (0, 2), (2, 2)),
        ((2, 2), (1, 3), (2, 2)),
        ((2, 2), (1, 2), (2, 3)),
    ):
        for name in ("correlate_rows", "convolve_rows"):
            with pytest.raises(ValueError, match="different"):
                getattr(kernel, name)(reals(*x), offsets, reals(*filter), reals(*out))
    for x, y, out in (
        ((3, 2), (3, 2), (1, 2)),
        ((2, 2), (3, 2), (1, 2)),
        ((2, 2), (2, 1), (1, 2)),
        ((2, 2), (2, 2), (1, 1)),
    ):
        with pytest.raises(ValueError, match="different"):
            kernel.sum_lagged_products(reals(*x), reals(*y), offsets, reals(*out))
    for x, before, after, out in (((3, 2), 1, 1, (2, 2)), ((2, 2), 1, 1, (2, 1)), ((2, 2), -1, 3, (2, 2))):
        with pytest.raises(ValueError, match=r"different|another"):
            kernel.sum_edges(reals(*x), offsets, before, after, reals(*out))


def digest():
    """Filter seeded rows of all kinds of widths, and hash the results."""
    found = hashlib.sha256()
    for seed in range(64):
        random = np.random.default_rng(seed)
        dtype, width, taps = ("f4", "f8")[seed % 2], (1, 2, 3, 7, 16, 17, 33, 64)[seed // 2 % 8], (1, 3, 18)[seed % 3]
        offsets = int64(np.cumsum([0, *random.integers(0, 60, 12)]))
        x, y, filter = (random.standard_normal((n, width)).astype(dtype) for n in (offsets[-1], offsets[-1], taps))
        out, sums, ends = np.empty_like(x), np.empty((taps, width)), np.empty((taps, width))
        for filtered in (kernels.window.correlate_rows, kernels.window.convolve_rows):
            filtered(x, offsets, filter, out)
            found.update(out.tobytes())
        kernels.window.sum_lagged_products(x, y, offsets, sums)
        kernels.window.sum_edges(x, offsets, taps // 2, taps - taps // 2, ends)
        windows = np.empty((len(x), 3 * x.itemsize * width), np.uint8)
        kernels.window.copy_windows(x.view("u1"), offsets, np.empty((0, width * x.itemsize), "u1"), -1, 3, 0, windows)
        for array in (sums, ends, windows):
            found.update(array.tobytes())
    return found.hexdigest()
