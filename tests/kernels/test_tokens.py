"""Rows that are numbers: removal of some, and columns given by ids."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum, values_from_seed
from tests.helpers.tables import for_each

OFFSETS = lengths(most=12).map(running_sum).map(int64)
CELLS = ["f4", "f8", "u1", "u2", "u4", "u8"]


@st.composite
def erasable(draw):
    """Draw numbers, offsets, and tokens: few or many, close together or far apart, within the dtype or beyond."""
    offsets = draw(OFFSETS) * draw(st.sampled_from([1, 1, 60]))
    dtype = np.dtype(draw(st.sampled_from(["i8", "u8", "i4", "u4", "i2", "u2", "i1", "u1"])))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    limits = np.iinfo(dtype)
    some = np.array([limits.min, limits.min + 1, 0, 1, 2, 3, 50, limits.max - 1, limits.max], dtype)
    pool = draw(st.sampled_from([some, np.arange(60, dtype=dtype), np.arange(60, dtype=dtype) * (limits.max // 60)]))
    x = random.choice(pool, int(offsets[-1]))
    tokens = [*random.choice(pool, draw(st.integers(0, 9))).tolist(), *draw(st.sampled_from([[], [256, -1, -(2**63)]]))]
    return read_only(x), int64(offsets), int64([token for token in tokens if token < 2**63])


def kept_rows(x, offsets, tokens, out, out_offsets):
    """Return the rows that remain."""
    return out[: out_offsets[-1]], out_offsets


@st.composite
def addressed(draw, dtypes=CELLS):
    """Draw offsets, numbers of columns, rows to add, and the table that they are added to."""
    offsets, dtype = draw(OFFSETS), draw(st.sampled_from(dtypes))
    n_columns, width = draw(st.integers(1, 4)), draw(st.sampled_from([1, 2, 3, 0]))
    n_rows, n_seqs = int(offsets[-1]), len(offsets) - 1
    ids = int64(draw(st.lists(st.integers(0, n_columns - 1), min_size=n_rows, max_size=n_rows)))
    seed = draw(st.integers(0, 2**32))
    rows = values_from_seed(seed, n_rows, np.dtype(dtype), (width,))
    table = values_from_seed(seed + 1, n_seqs, np.dtype(dtype), (n_columns * width,))
    for array in (rows, table):
        if array.dtype.kind == "f":
            array[np.isnan(array)] = np.inf
    return read_only(rows), ids, offsets, n_columns, table


def as_bytes(table):
    """Return a table of numbers as opaque rows."""
    return np.frombuffer(table.tobytes(), "u1").reshape(len(table), table.shape[1] * table.itemsize)


@pytest.mark.not_on_reference
class TestTwins:
    @given(erasable())
    def test_drop_tokens(self, drawn):
        x, offsets, tokens = drawn
        out = unwritten(len(x), dtype=x.dtype)
        agree("tokens.drop_tokens", x, offsets, tokens, out, unwritten(len(offsets)), seen=kept_rows)

    @pytest.mark.parametrize("dtype", ["i8", "u8", "i4", "u4"])
    @pytest.mark.parametrize("step", [1, 10**6], ids=["a table", "a search"])
    @pytest.mark.parametrize("count", [1, 4, 5, 8, 100])
    @pytest.mark.parametrize("below", [0, 75])
    def test_drop_many_tokens(self, dtype, step, count, below):
        random = np.random.default_rng(count)
        below = below if dtype.startswith("i") else 0
        pool = np.arange(-below, 150 - below).astype(dtype) * np.dtype(dtype).type(step)
        x, offsets = read_only(random.choice(pool, 2500)), int64([0, 0, 1023, 1024, 1025, 2500, 2500])
        tokens = int64(random.permutation(pool[5:])[:count])
        out, out_offsets = unwritten(len(x), dtype=dtype), unwritten(len(offsets))
        kernels.tokens.drop_tokens(x, offsets, tokens, out, out_offsets)
        kept = ~np.isin(x, tokens.astype(dtype))
        np.testing.assert_array_equal(out[: out_offsets[-1]], x[kept])
        np.testing.assert_array_equal(out_offsets, np.concatenate([[0], np.cumsum(kept)])[offsets])

    @given(addressed())
    def test_add_at_and_take_at(self, drawn):
        rows, ids, offsets, n_columns, table = drawn
        with np.errstate(all="ignore"):
            assert agree("tokens.add_at", rows.ravel(), ids, offsets, n_columns, table) == -1
        row_bytes = rows.shape[1] * rows.itemsize
        out = unwritten(len(ids), row_bytes, dtype="u1")
        assert agree("tokens.take_at", as_bytes(table), ids, offsets, n_columns, out) == -1

    @given(addressed(["f8"]).filter(lambda drawn: len(drawn[1])), st.data())
    def test_the_first_id_out_of_range(self, drawn, data):
        rows, ids, offsets, n_columns, table = drawn
        bad = data.draw(st.integers(0, len(ids) - 1))
        wrong = ids.copy()
        wrong[bad:] = data.draw(st.sampled_from([-1, n_columns, 2**63 - 1, -(2**63)]))
        with np.errstate(all="ignore"):
            assert agree("tokens.add_at", rows.ravel(), read_only(wrong), offsets, n_columns, table) == bad
        out = unwritten(len(ids), 8 * rows.shape[1], dtype="u1")
        assert agree("tokens.take_at", as_bytes(table), read_only(wrong), offsets, n_columns, out) == bad

    def test_add_at_and_take_at_of_rows_without_columns(self):
        ids, offsets = int64([0]), int64([0, 1])
        assert agree("tokens.add_at", np.ones(1), ids, offsets, 0, np.zeros((1, 0))) == 0
        assert agree("tokens.take_at", np.zeros((1, 0), "u1"), ids, offsets, 0, np.zeros((1, 4), "u1")) == 0


def digest():
    """Remove few and many tokens, close together and far apart, add to columns and take them; hash what is written."""
    found = hashlib.sha256()
    for seed in range(96):
        random = np.random.default_rng(seed)
        dtype, count = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"][seed % 8], (0, 1, 4, 5, 8, 60)[seed // 8 % 6]
        step = 1 if np.dtype(dtype).itemsize < 4 or seed < 48 else 10**6
        pool = np.arange(120).astype(dtype) * np.dtype(dtype).type(step)
        offsets = int64(running_sum([0, 5, *random.integers(0, 300, 12), 0]))
        x, tokens = random.choice(pool, offsets[-1]), int64(random.permutation(pool)[:count])
        out, ends = unwritten(len(x), dtype=dtype), unwritten(len(offsets))
        kernels.tokens.drop_tokens(x, offsets, tokens, out, ends)
        found.update(out[: ends[-1]].tobytes() + ends.tobytes())
        ids, table = int64(random.integers(0, 7, len(x))), np.zeros((len(offsets) - 1, 7))
        bad = kernels.tokens.add_at(random.standard_normal(len(x)), ids, offsets, 7, table)
        taken = unwritten(len(x), 8, dtype="u1")
        found.update(repr((bad, kernels.tokens.take_at(as_bytes(table), ids, offsets, 7, taken))).encode())
        found.update(table.tobytes() + taken.tobytes())
    return found.hexdigest()


@pytest.mark.not_on_reference
@for_each("dtype", ["i8", "u8", "i4", "u2", "u1"])
def test_sequences_that_end_near_a_block_of_1024_rows(dtype):
    """Of 1024 rows, the first and the second: few tokens, many that are close together, and many far apart."""
    most = np.iinfo(dtype).max
    sets = [[3], [0, 3, 9, 10, 11, 40], [0, 3, 9, 10, 11, min(most, 2**63 - 1)], [3, 3, 3, 3, 3, 3]]
    for n_rows in (1023, 1024, 1025, 2047, 2048, 2049, 3100):
        x = (np.arange(n_rows) % 43).astype(dtype)
        x[-1] = most
        ends = [0, 0, 5, 1022, 1023, 1024, 1025, 2047, 2048, 2049, n_rows - 1, n_rows]
        offsets = int64(sorted(min(end, n_rows) for end in ends))
        for tokens in sets:
            out, out_offsets = unwritten(n_rows, dtype=dtype), unwritten(len(offsets))
            kernels.tokens.drop_tokens(x, offsets, int64(tokens), out, out_offsets)
            kept = ~np.isin(x, np.array(tokens, dtype))
            np.testing.assert_array_equal(out[: out_offsets[-1]], x[kept])
            np.testing.assert_array_equal(out_offsets, np.concatenate([[0], np.cumsum(kept)])[offsets])


@for_each("dtype", ["i8", "u8", "i4", "u4"])
def test_tokens_that_are_far_apart(dtype):
    """With a difference of 16 bits, and around it, in a table of bits or without one."""
    for far in (255, 256, 65535, 65536, 69000, 10**6, 2**31 - 1):
        tokens = int64([0, 3, 9, 10, 11, far])
        x = np.array(sorted({0, 1, 3, 8, 9, 12, 65536, far - 1, far, far & 0xFFFF, far // 2, 2**31 - 1, 70000}), dtype)
        out, out_offsets = unwritten(len(x), dtype=dtype), unwritten(2)
        kernels.tokens.drop_tokens(read_only(x), int64([0, len(x)]), tokens, out, out_offsets)
        wanted = [number for number in x.tolist() if number not in tokens.tolist()]
        assert out[: out_offsets[1]].tolist() == wanted


@for_each("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_tokens_about_the_limits_of_a_dtype(dtype):
    """A token that the dtype cannot represent is no row, not one that it wraps around to."""
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    rows = [low, low + 1, 0, 1, high - 1, high, high // 2]
    x, offsets = np.array(rows, dtype), int64([0, 0, 3, 7, 7])
    near = [low - 1, low, high, high + 1, high + 2, 2 * high + 1, 2 * high + 2, low - high - 2, -1, 0]
    near = [token for token in near if -(2**63) <= token < 2**63]
    for tokens in [*([token] for token in near), near, near[::-1], [*range(40, 46), *near], []]:
        out, ends = unwritten(7, dtype=dtype), unwritten(5)
        kernels.tokens.drop_tokens(x, offsets, int64(tokens), out, ends)
        kept = [[row for row in part if row not in tokens] for part in ([], rows[:3], rows[3:], [])]
        assert ends.tolist() == running_sum(map(len, kept)), tokens
        assert out[: ends[-1]].tolist() == [row for part in kept for row in part], tokens


@for_each("width", [1, 2, 4, 8])
def test_first_id_out_of_range_is_returned_from_any_sequence(width):
    offsets = int64([0, 2, 2, 4])
    for ids, bad in (([0, 1, 2, 2], -1), ([0, 3, 1, 3], 1), ([0, 1, 3, 0], 2), ([0, 0, 0, -1], 3), ([3, 0, 0, 9], 0)):
        arguments = int64(ids), offsets, 3
        assert kernels.tokens.add_at(np.ones(4 * width), *arguments, np.zeros((3, 3 * width))) == bad
        out = np.zeros((4, width), "u1")
        assert kernels.tokens.take_at(np.ones((3, 3 * width), "u1"), *arguments, out) == bad


def test_columns_have_one_size():
    with pytest.raises(ValueError, match="columns of different sizes"):
        kernels.tokens.take_at(np.zeros((1, 8), "u1"), int64([0]), int64([0, 1]), 2, np.zeros((1, 3), "u1"))


@pytest.mark.beyond_the_rules
def test_arrays_that_do_not_belong_together():
    """Memory beyond an array is neither read nor written."""
    kernel, offsets = kernels.tokens, int64([0, 2])
    for x, out, ends in ((3, 3, 2), (2, 1, 2), (2, 2, 1)):
        with pytest.raises(ValueError, match="different"):
            kernel.drop_tokens(int64([1] * x), offsets, int64([1]), unwritten(out), unwritten(ends))
    for updates, ids, table in ((3, 3, (1, 4)), (1, 2, (1, 4)), (2, 2, (2, 4)), (2, 2, (1, 5)), (2, 2, (1, 8))):
        with pytest.raises(ValueError, match="different"):
            kernel.add_at(np.zeros(updates), int64([0] * ids), offsets, 4, np.zeros(table))
    for ids, table, out in ((3, (1, 16), (3, 4)), (2, (2, 16), (2, 4)), (2, (1, 16), (1, 4)), (2, (1, 12), (2, 4))):
        with pytest.raises(ValueError, match="different"):
            kernel.take_at(np.zeros(table, "u1"), int64([0] * ids), offsets, 4, np.zeros(out, "u1"))
