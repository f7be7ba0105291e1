"""Sorting of cells, selection of the first ones, and the backward pass."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum, values_from_seed
from tests.helpers.tables import for_each

SHAPES = st.sampled_from([(8, 5), (4, 17), (2, 20)])  # maximum number of sequences, maximum length
OFFSETS = SHAPES.flatmap(lambda shape: lengths(None, *shape)).map(running_sum).map(int64)
CELLS = [np.dtype(name) for name in ("?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8")]
REALS = [np.dtype(name) for name in ("f2", "f4", "f8")]
WIDTHS = [1, 1, 2, 3, 5, 17, 0]  # four columns and more are sorted side by side


def cells(seed, n_rows, dtype, width):
    """Make cells of any bits, or of few different values, including equal ones with different bits."""
    random = np.random.default_rng(seed)
    if random.random() < 0.5:
        return values_from_seed(seed, n_rows, dtype, (width,))
    few = random.integers(0, 4, (n_rows, width)).astype(dtype)
    if dtype.kind == "f":
        for odd in (-0.0, 0.0, np.nan, -np.nan, np.inf, -np.inf, -1.5):
            few[random.random(few.shape) < 0.1] = odd
    return few


def first(offsets, k):
    """Return the offsets of the first k rows of each sequence."""
    return int64(running_sum(np.minimum(np.diff(offsets), k).tolist()))


@st.composite
def batches(draw, dtypes=CELLS):
    """Draw cells, offsets, and the offsets of the kept rows."""
    offsets, dtype, width = draw(OFFSETS), draw(st.sampled_from(dtypes)), draw(st.sampled_from(WIDTHS))
    x = read_only(cells(draw(st.integers(0, 2**32)), offsets[-1], dtype, width))
    k = draw(st.none() | st.integers(0, 40))
    return x, offsets, offsets if k is None else first(offsets, k)


def ordered(x, offsets, kept, descending):
    """Sort with the kernels: return the cells and their positions."""
    out, positions = unwritten(kept[-1], x.shape[1], dtype=x.dtype), unwritten(kept[-1], x.shape[1])
    kernels.sort.sort_rows(x, offsets, kept, descending, out, positions)
    return out, positions


@pytest.mark.not_on_reference
class TestTwins:
    @given(OFFSETS, st.integers(0, 30) | st.just(2**63 - 1))
    def test_keep_first(self, offsets, k):
        agree("sort.keep_first", offsets, k, unwritten(len(offsets)))

    @given(batches(), st.booleans(), st.booleans())
    def test_sort(self, drawn, descending, wanted):
        x, offsets, kept = drawn
        positions = unwritten(kept[-1], x.shape[1]) if wanted else None
        out = unwritten(kept[-1], x.shape[1], dtype=x.dtype)
        agree("sort.sort_rows", x, offsets, kept, descending, out, positions)

    @given(batches(REALS), st.booleans(), st.data())
    def test_place(self, drawn, descending, data):
        x, offsets, kept = drawn
        out, positions = ordered(x, offsets, kept, descending)
        if len(positions) and positions.size and data.draw(st.booleans()):
            place = data.draw(st.integers(0, positions.size - 1))
            positions.flat[place] = data.draw(st.sampled_from([-1, 0, 3, 1000, 2**63 - 1, -(2**63)]))
        agree(
            "sort.place_cells", read_only(out), offsets, kept, read_only(positions), unwritten(*x.shape, dtype=x.dtype)
        )


@pytest.mark.large
@pytest.mark.parametrize("length", [2, 63, 64, 65, 128, 129, 400, 3000])
@pytest.mark.parametrize("dtype", CELLS, ids=str)
def test_long_sequences(length, dtype):
    """Every sorting method, compared with NumPy's stable sort."""
    offsets = int64([0, length, length, length + 7])
    for seed in range(4):
        x = cells(seed, offsets[-1], dtype, 2 if seed < 2 else 5)
        for k in (1, 5, 32, 33, length):
            kept = first(offsets, k)
            for descending in (False, True):
                out, positions = ordered(x, offsets, kept, descending)
                for s in (0, 2):
                    column, where = x[offsets[s] : offsets[s + 1]], positions[kept[s] : kept[s + 1]]
                    order = np.argsort(column[::-1] if descending else column, axis=0, kind="stable")
                    order = len(column) - 1 - order[::-1] if descending else order
                    np.testing.assert_array_equal(where, order[:k])
                    want = np.take_along_axis(column, order, 0)[:k]
                    assert out[kept[s] : kept[s + 1]].tobytes() == want.tobytes()


@pytest.mark.large
@pytest.mark.parametrize("dtype", ["i8", "u8", "f8"])
@pytest.mark.parametrize("descending", [False, True])
def test_numbers_that_differ_in_their_last_bits(dtype, descending):
    """Many cells of 64 bits, not all of which fit beside a row number."""
    random = np.random.default_rng(5)
    heads, tails = random.integers(0, 4, 5000), random.integers(0, 60, 5000)
    x = (heads.astype("u8") << 61 | tails.astype("u8")).view(dtype)[:, None]
    x[:2000] = x[0]
    offsets = int64([0, 4000, 5000])
    out, positions = ordered(read_only(x), offsets, offsets, descending)
    for s in (0, 1):
        column, where = x[offsets[s] : offsets[s + 1], 0], positions[offsets[s] : offsets[s + 1], 0]
        order = np.argsort(column[::-1] if descending else column, kind="stable")
        np.testing.assert_array_equal(where, len(column) - 1 - order[::-1] if descending else order)
    alone = unwritten(*x.shape, dtype=x.dtype)
    kernels.sort.sort_rows(read_only(x), offsets, offsets, descending, alone, None)
    assert alone.tobytes() == out.tobytes()


@pytest.mark.large
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", CELLS, ids=str)
def test_sort_rows_without_positions_gives_the_same_cells(dtype, descending):
    """Any length and step, any alignment; all cells, or the first ones."""
    for seed, length in enumerate([39, 40, 41, 64, 65, 700, 700, 700]):
        x, offsets = cells(seed, length, dtype, 1 + seed % 3), int64([0, length])
        for k in (length, 35):
            out, _ = ordered(read_only(x), offsets, first(offsets, k), descending)
            memory = np.zeros(out.nbytes + 1, np.uint8)
            alone = memory[1:].view(dtype).reshape(out.shape)
            kernels.sort.sort_rows(read_only(x), offsets, first(offsets, k), descending, alone, None)
            assert alone.tobytes() == out.tobytes()


@pytest.mark.not_on_reference
@for_each("descending", [False, True])
@for_each("bit", range(54, 64))
def test_sort_of_keys_at_the_limit_of_packing_with_row_numbers(bit, descending):
    for count in (65, 128, 129):
        x = (np.arange(count, dtype="u8") * 37 % 5 << bit | np.arange(count, dtype="u8") * 11 % 3)[:, None]
        _, positions = ordered(read_only(x), int64([0, count]), int64([0, count]), descending)
        numbers = x[:, 0].tolist()
        assert positions[:, 0].tolist() == sorted(range(count), key=numbers.__getitem__, reverse=descending)


@pytest.mark.large
def test_sort_rows_of_more_rows_than_sixteen_bits_can_count():
    x, offsets = (np.arange(70_000, dtype="i4") * 7919 % 30_011)[:, None], int64([0, 70_000])
    _, positions = ordered(x, offsets, offsets, False)
    assert (positions[:, 0] == np.argsort(x[:, 0], kind="stable")).all()


@for_each("dtype", REALS)
@for_each(("place", "bad"), [(1, -1), (2, 2), (3, 2), (-1, 2), (2**62, 2)])
def test_the_first_position_after_the_end_of_a_sequence(place, bad, dtype):
    positions, x = int64([[0], [1], [place], [0]]), np.ones((4, 1), dtype)
    offsets = int64([0, 2, 4])
    assert kernels.sort.place_cells(x, offsets, offsets, positions, np.zeros((4, 1), dtype)) == bad


def digest():
    """Sort cells of all kinds, and hash the results."""
    found = hashlib.sha256()
    random = np.random.default_rng(3)
    for seed in range(200):
        longest = int(random.choice([2, 9, 40, 70, 140]))
        offsets = np.append(0, np.cumsum(random.integers(0, longest, random.integers(1, 6))))
        x = cells(seed, offsets[-1], CELLS[seed % len(CELLS)], int(random.choice([1, 3, 20])))
        for array in ordered(x, offsets, first(offsets, int(random.choice([3, 1000]))), bool(seed % 2)):
            found.update(array.tobytes())
    return found.hexdigest()


@pytest.mark.parametrize("odd", [int64([0, 1]), int64([0, 3]), int64([0, 1, 1])], ids=str)
def test_arrays_that_do_not_belong_together(odd):
    x, offsets, wide, out = np.ones((2, 3)), int64([0, 2]), np.ones((2, 4)), np.full((2, 3), 7.0)
    rows, narrow = np.zeros((2, 3), np.int64), np.ones((2, 3), "f4")
    sort, place = kernels.sort.sort_rows, kernels.sort.place_cells
    for call in [
        lambda: kernels.sort.keep_first(offsets, 1, np.zeros(3, np.int64)),
        lambda: sort(x, odd, odd, False, out, None),
        lambda: sort(x, offsets, odd, False, out, None),
        lambda: sort(x, offsets, offsets, False, wide, None),
        lambda: sort(x, offsets, offsets, False, narrow, None),
        lambda: sort(x, offsets, offsets, False, out, np.zeros((2, 4), np.int64)),
        lambda: place(x, odd, odd, rows, out),
        lambda: place(x, offsets, odd, rows, out),
        lambda: place(wide, offsets, offsets, rows, out),
        lambda: place(narrow, offsets, offsets, rows, out),
        lambda: place(x, offsets, offsets, np.zeros((2, 4), np.int64), out),
    ]:
        with pytest.raises(ValueError, match=r"belong together|as many as the offsets|different shapes"):
            call()
    assert (out == 7).all()


@pytest.mark.beyond_the_rules
@pytest.mark.parametrize("dtype", ["c16", "S3", "M8[s]", "g", ">i4"])
def test_cells_without_an_order(dtype):
    x = np.zeros((2, 1), dtype)
    with pytest.raises(TypeError, match="cells are"):
        kernels.sort.sort_rows(x, int64([0, 2]), int64([0, 2]), False, x.copy(), None)
