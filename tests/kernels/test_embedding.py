"""Rows of a table: gathered, scattered with addition, and pooled in bags."""

import hashlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, read_only, running_sum, values_from_seed
from tests.helpers.rows import REALS, ROW_BYTES, cells, structures
from tests.helpers.tables import for_each

WIDTHS = st.sampled_from([1, 1, 2, 3, 8, 9, 33, 64, 70, 0])
ANY_INT64 = st.one_of(st.integers(-1, 6), st.integers(-(2**63), 2**63 - 1))


def drawn_index(seed, count, n_rows):
    """Draw numbers of rows."""
    return int64(np.random.default_rng(seed).integers(0, max(n_rows, 1), count))


@st.composite
def bags(draw, nan=False):
    """Draw a table, numbers of its rows, and the offsets of bags."""
    offsets, width, n_rows = draw(structures()), draw(WIDTHS), draw(st.sampled_from([1, 3, 20]))
    width = width if offsets[-1] * width < 3000 else 1
    seed = draw(st.integers(0, 2**32))
    table = cells(seed, n_rows, width, draw(st.sampled_from(REALS)), nan)
    return table, drawn_index(seed, offsets[-1], n_rows), offsets


def like(table, count):
    """Make garbage of `count` rows like those of `table`."""
    return unwritten(count, table.shape[1], dtype=table.dtype)


@pytest.mark.not_on_reference
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
class TestTwins:
    @given(st.lists(ANY_INT64), st.integers(0, 7))
    def test_check_index(self, index, n_rows):
        agree("embedding.check_index", int64(index), n_rows)

    @given(ROW_BYTES, st.integers(1, 20), st.integers(0, 40), st.integers(-1, 3), st.integers(0, 2**32))
    def test_take_rows(self, row_bytes, n_rows, count, skip, seed):
        rows = read_only(values_from_seed(seed, n_rows, np.dtype("u1"), (row_bytes,)))
        out = unwritten(count, row_bytes, dtype="u1")
        assert agree("embedding.take_rows", rows, drawn_index(seed, count, n_rows), skip, out) == -1

    @given(st.lists(ANY_INT64, min_size=1), st.integers(0, 7), st.sampled_from([4, 0]))
    def test_take_rows_by_any_index(self, index, n_rows, row_bytes):
        rows = read_only(np.zeros((n_rows, row_bytes), "u1"))
        agree("embedding.take_rows", rows, int64(index), -1, unwritten(len(index), row_bytes, dtype="u1"))

    @given(st.integers(0, 40), st.integers(1, 9), WIDTHS, st.sampled_from(REALS), st.integers(0, 2**32))
    def test_add_rows(self, count, height, width, dtype, seed):
        rows = cells(seed, count, width, dtype)
        assert agree("embedding.add_rows", rows, drawn_index(seed, count, height), like(rows, height)) == -1

    @given(st.lists(ANY_INT64, min_size=1), st.integers(0, 7), st.sampled_from([2, 0]))
    def test_add_rows_by_any_index(self, index, height, width):
        rows = read_only(np.ones((len(index), width)))
        agree("embedding.add_rows", rows, int64(index), like(rows, height))

    @given(st.lists(st.integers(0, 9)), st.integers(10, 12))
    def test_number_rows(self, index, height):
        arrays = unwritten(height), unwritten(len(index)), unwritten(len(index) + 1)
        assert agree("embedding.number_rows", int64(index), *arrays) == -1

    @given(st.lists(ANY_INT64, min_size=1), st.integers(0, 7))
    def test_number_rows_of_any_index(self, index, height):
        arrays = unwritten(height), unwritten(len(index)), unwritten(len(index) + 1)
        agree("embedding.number_rows", int64(index), *arrays)

    @given(bags(), st.integers(0, 2))
    def test_sum_bags(self, drawn, divide):
        table, index, offsets = drawn
        assert agree("embedding.sum_bags", table, index, offsets, divide, like(table, len(offsets) - 1)) == -1

    @given(bags())
    def test_weigh_bags(self, drawn):
        table, index, offsets = drawn
        weights = cells(7, len(index), 1, table.dtype)[:, 0].copy()
        assert agree("embedding.weigh_bags", table, index, offsets, weights, like(table, len(offsets) - 1)) == -1

    @given(bags())
    def test_product_with_bags(self, drawn):
        table, index, offsets = drawn
        rows = cells(7, len(offsets) - 1, table.shape[1], table.dtype)
        out = unwritten(len(index), dtype=table.dtype)
        assert agree("embedding.product_with_bags", table, index, offsets, rows, out) == -1

    @given(bags(nan=True), st.booleans())
    def test_best_bags(self, drawn, least):
        table, index, offsets = drawn
        assert agree("embedding.best_bags", table, index, offsets, least, like(table, len(offsets) - 1)) == -1

    @given(bags(nan=True), st.booleans())
    def test_find_in_bags(self, drawn, least):
        table, index, offsets = drawn
        best = like(table, len(offsets) - 1)
        kernels.embedding.best_bags(table, index, offsets, least, best)
        agree("embedding.find_in_bags", table, index, offsets, read_only(best), unwritten(*best.shape))

    @pytest.mark.parametrize("place", range(5))
    @pytest.mark.parametrize("number", [-1, 4, -(2**63), 2**63 - 1])
    def test_find_in_bags_by_a_number_out_of_range(self, place, number):
        index, offsets = np.array([0, 3, 1, 2, 3]), int64([0, 2, 2, 5])
        index[place] = number
        for width in (1, 3):
            table, best = read_only(np.ones((4, width))), read_only(np.ones((3, width)))
            out = unwritten(3, width)
            assert agree("embedding.find_in_bags", table, int64(index), offsets, best, out) == place

    @given(st.lists(ANY_INT64, min_size=1), st.sampled_from([1, 3, 64, 0]), st.booleans())
    def test_bags_by_any_index(self, index, width, best):
        table, offsets = read_only(np.ones((4, width), "f4")), int64([0, 1, len(index)])
        kernel = "embedding.best_bags" if best else "embedding.sum_bags"
        agree(kernel, table, int64(index), offsets, 0, like(table, 2))
        weights, rows = read_only(np.ones(len(index), "f4")), read_only(np.ones((2, width), "f4"))
        agree("embedding.weigh_bags", table, int64(index), offsets, weights, like(table, 2))
        agree("embedding.product_with_bags", table, int64(index), offsets, rows, unwritten(len(index), dtype="f4"))

    @pytest.mark.parametrize("length", [4095, 4096, 4097, 9000])
    @pytest.mark.parametrize("dtype", REALS)
    def test_long_bags_of_cells(self, length, dtype):
        table, offsets = cells(length, 50, 1, dtype, nan=True), int64([0, 3, 3 + length, 5 + length])
        index = drawn_index(length, 5 + length, 50)
        agree("embedding.best_bags", table, index, offsets, False, like(table, 3))
        for sign in (-1, 1):  # otherwise an invented 0 would be neither the least nor the greatest
            one_sided = read_only(sign * (1 + np.abs(np.nan_to_num(table))))
            for least in (False, True):
                agree("embedding.best_bags", one_sided, index, offsets, least, like(table, 3))
        table = cells(length, 50, 1, dtype)
        agree("embedding.sum_bags", table, index, offsets, 1, like(table, 3))
        far = index.copy()
        far[3 + 4096 if length > 4096 else 5] = 50
        agree("embedding.sum_bags", table, read_only(far), offsets, 0, like(table, 3))


def counted(dtype, n_rows, width):
    """Make a table of small whole numbers, none of which is 0, whose sums are exact; no two columns are alike."""
    return read_only((1 + np.arange(n_rows * width).reshape(n_rows, width) * 7 % 11).astype(dtype))


WIDE = [1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 40, 63, 64, 65, 70, 96, 127, 129, 160, 200]


@pytest.mark.not_on_reference
@for_each(("dtype", "width"), [(dtype, width) for dtype in REALS for width in WIDE])
def test_bags_of_every_width(dtype, width):
    """Compared with NumPy, where every column and every row of a bag counts."""
    table, offsets = counted(dtype, 6, width), int64([0, 3, 3, 4, 9])
    index, weights = int64([5, 0, 2, 1, 4, 4, 5, 1, 3]), np.array([1, 2, -1, 3, 0.5, 2, 4, -2, 1], dtype)
    rows, kernel = table[index], kernels.embedding
    pieces = [slice(a, b) for a, b in pairwise(offsets)]
    out, lines = np.empty((4, width), dtype), table[2:6].copy()
    for divide, divisor in enumerate((lambda n: 1, lambda n: n, np.sqrt)):
        assert kernel.sum_bags(table, index, offsets, divide, out) == -1
        np.testing.assert_allclose(out, [rows[at].sum(0) / divisor(max(len(rows[at]), 1)) for at in pieces], rtol=1e-6)
    assert kernel.weigh_bags(table, index, offsets, weights, out) == -1
    np.testing.assert_array_equal(out, [(rows[at] * weights[at, None]).sum(0) for at in pieces])
    made, bag = np.empty(9, dtype), np.repeat(np.arange(4), np.diff(offsets))
    assert kernel.product_with_bags(table, index, offsets, lines, made) == -1
    np.testing.assert_array_equal(made, (rows * lines[bag]).sum(1))
    for sign in (1, -1):
        for nan in (False, True):
            part = (sign * table).astype(dtype)
            if nan:
                part[2, width // 2] = part[3, -1] = np.nan
            for least, choose in ((False, np.argmax), (True, np.argmin)):
                assert kernel.best_bags(part, index, offsets, least, out) == -1
                places = [choose(part[index[at]], 0) if at.stop > at.start else [-1] * width for at in pieces]
                wanted = [part[index[at]][n, range(width)] if n[0] >= 0 else [0] * width
                          for at, n in zip(pieces, places, strict=True)]  # fmt: skip
                np.testing.assert_array_equal(out, wanted)
                found = np.empty((4, width), np.int64)
                assert kernel.find_in_bags(part, index, offsets, out, found) == -1
                np.testing.assert_array_equal(found, places)


@pytest.mark.not_on_reference
@for_each(("dtype", "length"), [(dtype, n) for dtype in REALS for n in (4095, 4096, 4097, 8191, 8193, 12289, 13000)])
def test_every_cell_of_a_long_bag_counts(dtype, length):
    """In any block, and with sequences before and after it."""
    table, offsets = counted(dtype, 5, 1), int64([0, 2, 2 + length, 3 + length])
    index, out = np.arange(3 + length) * 3 % 5, np.empty((3, 1), dtype)
    total = float(table[index[2:-1]].sum(dtype="f8"))
    for divide, divisor in enumerate((1, length, np.sqrt(length))):
        assert kernels.embedding.sum_bags(table, index, offsets, divide, out) == -1
        np.testing.assert_allclose(out[1], total / divisor, rtol=1e-6)
    for at in {2, 1000, 4097, length + 1} - {length + 2}:
        for sign in (-1, 1):
            odd, other = np.full((2, 1), 5 * sign, dtype), np.zeros(3 + length, np.int64)
            odd[1], other[at] = 7 * sign, 1
            assert kernels.embedding.best_bags(read_only(odd), int64(other), offsets, sign < 0, out) == -1
            assert out[1] == 7 * sign


@for_each("row_bytes", [1, 3, 4, 8, 16, 24])
def test_take_rows_gives_zeros_for_the_skipped_row(row_bytes):
    """Anywhere in an index of few or of many rows."""
    rows = read_only(np.arange(1, 1 + 5 * row_bytes, dtype="u1").reshape(5, row_bytes))
    for count in (1, 2, 7, 60):
        index, out = int64(np.arange(count) * 2 % 5), unwritten(count, row_bytes, dtype="u1")
        for skip in range(-1, 5):
            assert kernels.embedding.take_rows(rows, index, skip, out) == -1
            np.testing.assert_array_equal(out, np.where(index[:, None] == skip, 0, rows[index]))


@for_each("height", [1, 2, 3, 70])
def test_rows_that_occur_once_or_at_the_ends(height):
    for index in ([0], [height - 1], [height - 1, 0, height - 1], list(range(height)), []):
        numbers, places, rows = np.full(height, 9), np.full(len(index), 9), np.full(len(index) + 1, 9)
        assert kernels.embedding.number_rows(int64(index), numbers, places, rows) == -1
        wanted = sorted(set(index))
        assert rows[: len(wanted) + 1].tolist() == [len(wanted), *wanted]
        assert places.tolist() == [wanted.index(row) for row in index]
        assert numbers.tolist() == [wanted.index(row) if row in wanted else -1 for row in range(height)]
        lines, out = np.arange(1.0, 2 * len(index) + 1).reshape(-1, 2), np.full((height, 2), 9.0)
        assert kernels.embedding.add_rows(lines, int64(index), out) == -1
        added = np.zeros((height, 2))
        np.add.at(added, index, lines)
        np.testing.assert_array_equal(out, added)


@for_each(("width", "n_rows"), [(width, n_rows) for width in (0, 1, 5, 70) for n_rows in (0, 4)])
def test_a_number_out_of_range_is_found_even_without_cells(width, n_rows):
    table, offsets, kernel = np.ones((n_rows, width)), int64([0, 1, 3]), kernels.embedding
    for bad, number in [(0, n_rows), (1, -1), (2, n_rows), (2, 2**63 - 1)]:
        index = int64([number if j == bad else 0 for j in range(3)])
        bad = bad if n_rows else 0
        out, line, lines = np.ones((2, width)), np.ones(3), np.ones((3, width))
        assert kernel.sum_bags(table, index, offsets, 0, out) == bad
        assert kernel.best_bags(table, index, offsets, True, out) == bad
        assert kernel.weigh_bags(table, index, offsets, line, out) == bad
        assert kernel.product_with_bags(table, index, offsets, out, line) == bad
        assert kernel.add_rows(lines, index, table.copy()) == bad
        assert kernel.take_rows(table.view("u1"), index, -1, lines.view("u1")) == bad


def digest():
    """Hash the results of the kernels for many bags, on the path of this process."""
    hashed = hashlib.sha256()
    for seed in range(60):
        random = np.random.default_rng(seed)
        offsets = int64(running_sum(random.integers(0, [3, 20, 70, 300][seed % 4], random.integers(1, 60))))
        for dtype in REALS:
            for width in (1, [2, 9, 64, 70][seed % 4]):
                index = drawn_index(seed, offsets[-1], 30)
                for divide in range(3):
                    out = unwritten(len(offsets) - 1, width, dtype=dtype)
                    kernels.embedding.sum_bags(cells(seed, 30, width, dtype), index, offsets, divide, out)
                    hashed.update(out.tobytes())
                weights = cells(seed, len(index), 1, dtype)[:, 0].copy()
                kernels.embedding.weigh_bags(cells(seed, 30, width, dtype), index, offsets, weights, out)
                hashed.update(out.tobytes())
                kernels.embedding.product_with_bags(cells(seed, 30, width, dtype), index, offsets, out.copy(), weights)
                hashed.update(weights.tobytes())
                for least in (False, True):
                    kernels.embedding.best_bags(cells(seed, 30, width, dtype, nan=True), index, offsets, least, out)
                    hashed.update(out.tobytes())
    return hashed.hexdigest()


@for_each("skip", [-1, 0, 1, 2, 9])
@for_each("row_bytes", [1, 4, 8, 24])
def test_take_rows_fills_the_skipped_row_with_zeros(row_bytes, skip):
    rows, index = np.arange(3 * row_bytes, dtype="u1").reshape(3, row_bytes) + 1, int64([0, 1, 2, 0, 2])
    out = unwritten(5, row_bytes, dtype="u1")
    assert kernels.embedding.take_rows(rows, index, skip, out) == -1
    wanted = [[0] * row_bytes if number == skip else rows[number].tolist() for number in index.tolist()]
    assert out.tolist() == wanted
