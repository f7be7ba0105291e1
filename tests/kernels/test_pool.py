"""Sums, maxima and minima, first and last rows of sequences, and the backward pass."""

import hashlib
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, read_only, running_sum, values_from_seed
from tests.helpers.rows import REALS, ROW_BYTES, cells, structures
from tests.helpers.tables import for_each

NUMBERS = [*REALS, np.dtype("i8"), np.dtype("u8")]
SMALL = [np.dtype(name) for name in ("u1", "u2", "u4", "i1", "i2", "i4")]
WIDTHS = st.sampled_from([1, 1, 2, 3, 5, 8, 9, 16, 19, 64, 0])


@st.composite
def rows(draw, dtypes, nan=False):
    """Draw offsets, and rows of numbers for them."""
    offsets, width = draw(structures()), draw(WIDTHS)
    width = width if offsets[-1] * width < 3000 else 1
    return offsets, cells(draw(st.integers(0, 2**32)), offsets[-1], width, draw(st.sampled_from(dtypes)), nan)


@st.composite
def opaque_rows(draw, a_sequence):
    """Draw offsets, and opaque rows: one per sequence, or those of all sequences."""
    offsets, row_bytes = draw(structures()), draw(ROW_BYTES)
    count = len(offsets) - 1 if a_sequence else offsets[-1]
    return offsets, read_only(values_from_seed(draw(st.integers(0, 2**32)), count, np.dtype("u1"), (row_bytes,)))


def like(x, count):
    """Make garbage of `count` rows like those of `x`."""
    return unwritten(count, x.shape[1], dtype=x.dtype)


@pytest.mark.not_on_reference
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
class TestTwins:
    @given(rows(NUMBERS), st.integers(0, 2))
    def test_sum_rows(self, drawn, divide):
        offsets, x = drawn
        agree("pool.sum_rows", x, offsets, divide if x.dtype.kind == "f" else 0, like(x, len(offsets) - 1))

    @given(rows(NUMBERS, nan=True), st.booleans())
    def test_best_rows(self, drawn, least):
        offsets, x = drawn
        agree("pool.best_rows", x, offsets, least, like(x, len(offsets) - 1))

    @given(rows(SMALL))
    def test_sum_small_rows(self, drawn):
        offsets, x = drawn
        agree("pool.sum_small_rows", x, offsets, unwritten(len(offsets) - 1, x.shape[1], dtype=np.uint64))

    @given(rows(SMALL), st.booleans())
    def test_best_small_rows(self, drawn, least):
        offsets, x = drawn
        agree("pool.best_small_rows", x, offsets, least, like(x, len(offsets) - 1))

    @given(rows(NUMBERS, nan=True), st.booleans())
    def test_find_best_rows(self, drawn, least):
        offsets, x = drawn
        found = like(x, len(offsets) - 1)
        agree("pool.find_best_rows", x, offsets, least, found, unwritten(*found.shape))

    @pytest.mark.parametrize("width", [1, 2, 16, 33, 70])
    @pytest.mark.parametrize("dtype", REALS)
    @pytest.mark.parametrize("least", [False, True])
    def test_best_of_zeros(self, width, dtype, least):
        """Of 0.0 and -0.0 the first one stays, also next to numbers of the other sign."""
        random = np.random.default_rng(width)
        for worse in (0.0, 1.0 if least else -1.0):
            x = read_only(random.choice([0.0, -0.0, worse, -0.0], (300, width)).astype(dtype))
            offsets = int64([0, 1, 1, 3, 10, 60, 300])
            agree("pool.best_rows", x, offsets, least, like(x, 6))

    @given(structures(), WIDTHS, st.sampled_from(REALS), st.integers(0, 2), st.integers(0, 2**32))
    def test_spread_rows(self, offsets, width, dtype, divide, seed):
        given_rows = cells(seed, len(offsets) - 1, width, dtype)
        agree("pool.spread_rows", given_rows, offsets, divide, like(given_rows, offsets[-1]))

    @given(rows(REALS), st.booleans(), st.integers(0, 2**32))
    def test_scatter_cells(self, drawn, least, seed):
        offsets, x = drawn
        found = like(x, len(offsets) - 1)
        index = unwritten(*found.shape)
        kernels.pool.find_best_rows(x, offsets, least, found, index)
        given_rows = cells(seed, *found.shape, x.dtype)
        agree("pool.scatter_cells", given_rows, offsets, read_only(index), like(x, len(x)))

    @given(opaque_rows(a_sequence=False), st.booleans())
    def test_pick_rows(self, drawn, last):
        offsets, given_rows = drawn
        agree("pool.pick_rows", given_rows, offsets, last, like(given_rows, len(offsets) - 1))

    @pytest.mark.parametrize("row_bytes", [1, 3, 4, 8, 16])
    @pytest.mark.parametrize("last", [False, True])
    def test_pick_rows_of_empty_sequences_at_both_ends(self, row_bytes, last):
        given_rows = read_only(np.arange(1, 6 * row_bytes + 1, dtype="u1").reshape(6, row_bytes))
        agree("pool.pick_rows", given_rows, int64([0, 0, 2, 6, 6, 6]), last, like(given_rows, 5))

    @given(opaque_rows(a_sequence=True), st.booleans())
    def test_place_rows(self, drawn, last):
        offsets, given_rows = drawn
        agree("pool.place_rows", given_rows, offsets, last, like(given_rows, offsets[-1]))

    @given(opaque_rows(a_sequence=True))
    def test_fill_empty(self, drawn):
        offsets, given_rows = drawn
        row = read_only(np.arange(given_rows.shape[1]).astype("u1"))
        agree("pool.fill_empty", row, offsets, given_rows.copy())

    @given(structures(), WIDTHS, st.sampled_from(REALS), st.integers(0, 2**32))
    def test_sum_empty(self, offsets, width, dtype, seed):
        given_rows = cells(seed, len(offsets) - 1, width, dtype)
        agree("pool.sum_empty", given_rows, offsets, unwritten(width, dtype=dtype))


def pooled(kernel, x, offsets, *arguments):
    """Call a kernel that makes one row per sequence."""
    out = like(x, len(offsets) - 1)
    getattr(kernels.pool, kernel)(x, offsets, *arguments, out)
    return out


class TestLaws:
    @given(rows(NUMBERS, nan=True), st.booleans())
    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    def test_best_rows_equals_find_best_rows(self, drawn, least):
        offsets, x = drawn
        found = like(x, len(offsets) - 1)
        index = unwritten(*found.shape)
        kernels.pool.find_best_rows(x, offsets, least, found, index)
        best = pooled("best_rows", x, offsets, least)
        assert best.tobytes() == found.tobytes()
        places = np.where(index < 0, len(x), index + offsets[:-1, None])  # the last row of x with one of zeros
        taken = np.append(x, np.zeros((1, x.shape[1]), x.dtype), axis=0)[places, np.arange(x.shape[1])]
        assert taken.tobytes() == found.tobytes()
        for s in range(len(offsets) - 1):
            if offsets[s] < offsets[s + 1]:
                sequence = x[offsets[s] : offsets[s + 1]]
                np.testing.assert_array_equal(best[s], (np.min if least else np.max)(sequence, axis=0))
                places = (np.argmin if least else np.argmax)(sequence, axis=0)
                np.testing.assert_array_equal(index[s], places)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
class TestExamples:
    def test_sums_of_a_million_cells_are_close(self):
        x = np.full((10**6, 1), 0.1, "f4")
        total = pooled("sum_rows", x, int64([0, 10**6]), 0)[0, 0]
        assert abs(total - 10**5) < 20  # added one after another, they would be off by 958

    @pytest.mark.parametrize("dtype", REALS)
    @pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 64, 65, 129])
    def test_no_sum_is_a_negative_zero(self, dtype, count):
        for width in (1, 2, 9):
            x = np.full((count, width), -0.0, dtype)
            assert not np.signbit(pooled("sum_rows", x, int64([0, count]), 0)).any()

    @pytest.mark.parametrize("width", [1, 2, 9, 20])
    @pytest.mark.parametrize("length", [1, 5, 17, 40, 70, 200])
    def test_the_first_zero_stays(self, width, length):
        for first, second in ((-0.0, 0.0), (0.0, -0.0)):
            x = np.full((length, width), -1, "f4")
            x[length // 2] = first
            x[length // 2 + 1 :] = second
            best = pooled("best_rows", x, int64([0, length]), False)
            assert (np.signbit(best) == np.signbit(np.float32(first))).all()

    @pytest.mark.parametrize("width", [1, 2, 9, 20])
    def test_the_first_nan_stays(self, width):
        x = np.zeros((70, width), "u4")
        x[3:] = 0x7FC00001  # nan with a payload
        x[50:] = 0x7FC00002
        best = pooled("best_rows", x.view("f4"), int64([0, 70]), False)
        assert (best.view("u4") == 0x7FC00001).all()

    @pytest.mark.parametrize("dtype", REALS)
    def test_no_sum_of_sequences_of_one_row_is_a_negative_zero(self, dtype):
        for count in (1, 4, 8, 16, 17, 33):
            for width in (1, 2):
                x = np.full((count, width), -0.0, dtype)
                assert not np.signbit(pooled("sum_rows", x, int64(range(count + 1)), 0)).any()

    @pytest.mark.large
    @for_each("dtype", REALS)
    @for_each("width", [1, 9, 16, 17, 31, 33])
    def test_one_nan_or_zero_in_any_row(self, width, dtype):
        """In the last column, too, and in one of many sequences, among empty ones."""
        for length in (*range(1, 10), 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 128, 130)[:: 1 if width == 1 else 4]:
            offsets = int64(running_sum([0, 1, *[length] * 20, 0]))
            for at in {0, 1, length // 2, length - 2, length - 1} & set(range(length)):
                for odd in (np.nan, -0.0):
                    x = np.full((int(offsets[-1]), width), -1, dtype)
                    x[offsets[9] + at, -1] = odd
                    x[offsets[9] + at + 1 : offsets[10], -1] = 0.0 if odd == 0 else -1  # the first zero stays
                    best, index = like(x, 23), unwritten(23, width)
                    kernels.pool.find_best_rows(x, offsets, False, best, index)
                    again = pooled("best_rows", x, offsets, False)
                    np.testing.assert_array_equal(best, again)
                    assert (np.signbit(best) == np.signbit(again))[best == best].all()
                    assert (best[9, -1] != best[9, -1]) == (odd != odd)
                    assert np.signbit(best).sum() == 21 * width - (odd != odd)
                    assert index[9, -1] == at
                    assert index.sum() == at - 2 * width

    @for_each("dtype", NUMBERS)
    @for_each("width", [1, 255, 256, 257, 512, 513, 770])
    def test_the_best_row_of_every_column(self, width, dtype):
        x = (np.arange(4 * width).reshape(4, width) * 7 % 5).astype(dtype)
        for least in (False, True):
            found, index = like(x, 2), unwritten(2, width)
            kernels.pool.find_best_rows(x, int64([0, 3, 4]), least, found, index)
            best = x[:3].argmin(axis=0) if least else x[:3].argmax(axis=0)
            assert index.tolist() == [best.tolist(), [0] * width]
            assert (found == [x[best, np.arange(width)], x[3]]).all()

    @for_each("dtype", REALS)
    @for_each("width", [1, 2, 5, 9])
    @for_each("divide", [0, 1, 2])
    def test_quotients_are_rounded_once(self, divide, width, dtype):
        """In more than two blocks of 16 sequences, few rows and many."""
        sizes = np.array([3, 0, 7, 1, 11, 49, 5] * 6)
        rows, out = (np.arange(42 * width).reshape(42, width) / 10).astype(dtype), np.empty((sizes.sum(), width), dtype)
        kernels.pool.spread_rows(rows, int64(running_sum(sizes.tolist())), divide, out)
        by = np.maximum([np.ones(42), sizes, np.sqrt(sizes)][divide], 1).astype(dtype)
        assert (out == np.repeat(rows / by[:, None], sizes, axis=0)).all()

    def test_numbers_wrap_around(self):
        top = np.array([[2**63 - 1], [1]])
        assert pooled("sum_rows", top, int64([0, 2]), 0)[0, 0] == -(2**63)


@pytest.mark.not_on_reference
@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("width", [1, 2, 3, 48, 64, 100])
def test_sums_of_many_small_integers_are_exact(dtype, width):
    """More of the greatest, and of the least, than lanes of 32 bits can hold."""
    for extreme in (np.iinfo(dtype).max, np.iinfo(dtype).min):
        count = 300_000 if width == 1 else 70_000
        x, sums = np.full((count, width), extreme, dtype), unwritten(2, width, dtype=np.uint64)
        kernels.pool.sum_small_rows(x, int64([0, count - 3, count]), sums)
        assert np.array_equal(sums.view(np.int64), [[int(extreme) * (count - 3)] * width, [int(extreme) * 3] * width])


def digest():
    """Hash the results of the kernels for many batches, on the path of this process."""
    hashed = hashlib.sha256()
    for seed in range(60):
        random = np.random.default_rng(seed)
        longest = [3, 20, 70, 300][seed % 4]
        offsets = int64(running_sum(random.integers(0, longest, random.integers(1, 60))))
        for dtype in REALS:
            for width in (1, [2, 8, 9, 16, 40, 64, 100][seed % 7]):
                x = cells(seed, offsets[-1], width, dtype)
                for divide in range(3):
                    hashed.update(pooled("sum_rows", x, offsets, divide).tobytes())
                    back = like(x, len(x))
                    kernels.pool.spread_rows(cells(seed, len(offsets) - 1, width, dtype), offsets, divide, back)
                    hashed.update(back.tobytes())
                hashed.update(pooled("sum_rows", np.full_like(x, -0.0), offsets, 0).tobytes())
                x = cells(seed, offsets[-1], width, dtype, nan=True)
                for least in (False, True):
                    found = like(x, len(offsets) - 1)
                    index = unwritten(*found.shape)
                    kernels.pool.find_best_rows(x, offsets, least, found, index)
                    for array in (pooled("best_rows", x, offsets, least), found, index):
                        hashed.update(array.tobytes())
        for dtype in SMALL:
            x = cells(seed, offsets[-1], [1, 2, 3, 16, 50, 64, 100][seed % 7], dtype)
            sums = unwritten(len(offsets) - 1, x.shape[1], dtype=np.uint64)
            kernels.pool.sum_small_rows(x, offsets, sums)
            hashed.update(sums.tobytes())
            for least in (False, True):
                hashed.update(pooled("best_small_rows", x, offsets, least).tobytes())
    return hashed.hexdigest()


def stretches(random):
    """Draw stretches of sequences, each short or long, of one length or of many, empty or not: several groups."""
    drawn = [
        random.poisson(5, 70),
        np.full(40, random.integers(0, 4)),
        random.integers(0, 120, 10),
        random.poisson(1, 50) * (random.random(50) < 0.3),
        random.integers(0, 9, 33),
        random.integers(300, 900, 2),
    ]
    picked = random.permutation(len(drawn))[: random.integers(1, len(drawn) + 1)]
    return np.concatenate([drawn[j] for j in picked])


@for_each(("dtype", "width"), list(itertools.product((*SMALL, *NUMBERS[-2:]), (1, 2, 3, 4, 5, 7, 8))))
def test_integers_of_short_and_long_sequences_are_pooled_exactly(dtype, width):
    """Sums, maxima, minima and their places in sequences that are computed together, and in those beside them."""
    random = np.random.default_rng(dtype.num * 16 + width)
    for _ in range(6):
        lengths = stretches(random)
        offsets = int64(running_sum(lengths.tolist()))
        bounds = np.iinfo(dtype)
        whole = random.integers(bounds.min, bounds.max, (offsets[-1], width), dtype, endpoint=True)
        x = read_only(
            np.where(random.random(whole.shape) < 0.5, whole, random.integers(0, 3, whole.shape).astype(dtype))
        )
        wide, filled = np.dtype("u8") if dtype.kind == "u" else np.dtype("i8"), lengths > 0
        parts = np.split(x, offsets[1:-1])
        sums, best = np.empty((len(parts), width), wide), np.empty((len(parts), width), dtype)
        if dtype.itemsize < 8:
            kernels.pool.sum_small_rows(x, offsets, sums.view("u8"))
        else:
            kernels.pool.sum_rows(x, offsets, 0, sums)
        np.testing.assert_array_equal(sums, [part.astype(wide).sum(axis=0, dtype=wide) for part in parts])
        for least in (False, True):
            place = np.empty(best.shape, np.int64)
            if dtype.itemsize < 8:
                kernels.pool.best_small_rows(x, offsets, least, best)
            else:
                kernels.pool.best_rows(x, offsets, least, best)
                found = np.empty_like(best)
                kernels.pool.find_best_rows(x, offsets, least, found, place)
                np.testing.assert_array_equal(found, best)
                wanted = [(part.argmin(0) if least else part.argmax(0)) for part in parts if len(part)]
                np.testing.assert_array_equal(place[filled], np.reshape(wanted, (-1, width)))
                assert (place[~filled] == -1).all()
            wanted = [(part.min(0) if least else part.max(0)) for part in parts if len(part)]
            np.testing.assert_array_equal(best[filled], np.reshape(wanted, (-1, width)))
            assert not best[~filled].any()
