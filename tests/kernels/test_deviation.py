"""Variances of the rows of sequences: kernels and their twins, and NumPy."""

import hashlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import LoDTensor, kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum, values_from_seed
from tests.helpers.tables import for_each

OFFSETS = st.sampled_from([(8, 5), (3, 80)]).flatmap(lambda most: lengths(None, *most)).map(running_sum).map(int64)
SEEDS = st.integers(0, 2**32)


@st.composite
def rows(draw):
    """Draw rows of floats, of any bits or of usual values, and offsets."""
    offsets, dtype, width = (
        draw(OFFSETS),
        np.dtype(draw(st.sampled_from(["f4", "f8"]))),
        draw(st.sampled_from([1, 3, 0, 16, 35])),
    )
    shape, seed = (int(offsets[-1]), width), draw(SEEDS)
    if draw(st.booleans()):
        return read_only(np.random.default_rng(seed).normal(5, 2, shape).astype(dtype)), offsets
    with np.errstate(invalid="ignore"):  # a signalling nan becomes a quiet one
        return read_only(values_from_seed(seed, shape[0], np.dtype("f4"), (width,)).astype(dtype)), offsets


def without_signs_of_nan(x, offsets, ddof, means, out):
    """Replace all nans by one nan: their signs depend on the order of operands."""
    for array in (means, out):
        array[np.isnan(array)] = np.nan
    return [means, out]


@pytest.mark.not_on_reference
class TestTwins:
    @given(rows(), st.sampled_from([0.0, 1.0, 0.5, -1.0]))
    def test_vary(self, drawn, ddof):
        x, offsets = drawn
        shape = (len(offsets) - 1, x.shape[1])
        with np.errstate(all="ignore"):
            out = unwritten(*shape, dtype="f8"), unwritten(*shape, dtype="f8")
            agree("deviation.vary_rows", x, offsets, ddof, *out, seen=without_signs_of_nan)

    @given(rows(), SEEDS)
    def test_spread(self, drawn, seed):
        x, offsets = drawn
        made = np.random.default_rng(seed).normal(size=(2, len(offsets) - 1, x.shape[1]))
        made[1, ::3] = 0
        out = np.full(x.shape, 9, x.dtype)

        def seen(x, offsets, means, scales, out):
            out[np.isnan(out)] = np.nan
            return [out]

        with np.errstate(all="ignore"):
            agree("deviation.spread_distances", x, offsets, *map(read_only, made), out, seen=seen)


@pytest.mark.not_on_reference
@pytest.mark.parametrize("length", [1, 31, 32, 33, 4095, 4096, 4097, 9000])
def test_blocks(length):
    x = np.random.default_rng(length).normal(1000, 1, (length, 1)).astype("f4")
    means, out = np.empty((1, 1)), np.empty((1, 1))
    kernels.deviation.vary_rows(x, int64([0, length]), 0.0, means, out)
    np.testing.assert_allclose(means, x.mean(dtype="f8"), rtol=1e-14)
    np.testing.assert_allclose(out, x.var(dtype="f8"), rtol=1e-12)
    agree("deviation.vary_rows", read_only(x), int64([0, length]), 1.0, means, out)


def test_variances_of_equal_numbers_are_0_and_none_is_negative():
    """The mean of equal numbers is rounded, and so is one between two large numbers: variances are exact, never < 0."""
    for dtype in ("f4", "f8"):
        for number in (0.1, -0.3, 1 / 3, 1e-3, 1e17 / 3, 7.7e22):
            for length in (*range(1, 40), 100, 4097, 9000):
                x, out = np.full((length, 1), number, dtype), np.empty((2, 1, 1))
                kernels.deviation.vary_rows(x, int64([0, length]), 0.0, *out)
                assert 0 <= out[1, 0, 0] <= (1e-15 * number) ** 2
    x = 2.0**52 + np.array([[0.0], [1], [0]] * 2000)
    for length in (3, 6, 33, 300, 6000):
        means, out = np.empty((1, 1)), np.empty((1, 1))
        kernels.deviation.vary_rows(x[:length], int64([0, length]), 0.0, means, out)
        np.testing.assert_allclose(out, 2 / 9, rtol=1e-3)


@pytest.mark.parametrize("length", [2, 3, 5, 9, 40, 5000])
def test_variance_of_numbers_whose_squares_are_too_large_is_infinite(length):
    rows = np.ones(length)
    rows[1], rows[-1] = 1e200, -3e199
    x = LoDTensor.from_lengths(rows, [length])
    with np.errstate(over="ignore"):
        assert np.isinf(rows.var())
    assert x.var(axis=1).tolist() == x[..., None].var(axis=1).ravel().tolist() == [np.inf]


@for_each("width", [1, 2, 3, 16, 35])
def test_vary_rows_of_ddof_rows_or_fewer_is_nan(width):
    """Of as many rows as `ddof`, of fewer, and of none; and distances of nan that do not count."""
    x, offsets = np.arange(6.0 * width).reshape(6, width) ** 2, int64([0, 1, 3, 3, 6])
    means, out = np.empty((4, width)), np.empty((4, width))
    for ddof in (0.0, 1.0, 2.0, 3.0, 0.5, -1.0):
        kernels.deviation.vary_rows(x, offsets, ddof, means, out)
        for s, (start, stop) in enumerate(pairwise(offsets)):
            left, rows = stop - start - ddof, x[start:stop]
            wanted = ((rows - rows.mean(0)) ** 2).sum(0) / left if left > 0 and len(rows) else np.full(width, np.nan)
            np.testing.assert_allclose(out[s], wanted, err_msg=f"{ddof}, {s}")
        assert (means[2] == 0).all()
    x[3:, -1] = np.nan
    scales, spread = np.full((4, width), 2.0), np.empty_like(x)
    scales[3, -1], means[:] = 0, 1
    kernels.deviation.spread_distances(x, offsets, means, scales, spread)
    wanted = 2 * (x - 1)
    wanted[3:, -1] = 0
    np.testing.assert_array_equal(spread, wanted)


def digest():
    """Compute variances of sequences of all lengths, and hash the results."""
    found, random = hashlib.sha256(), np.random.default_rng(3)
    for k in range(60):
        sizes = random.integers(0, [4, 40, 6000][k % 3], 5)
        x = random.normal(3, 1, (sizes.sum(), [1, 7, 35][k // 3 % 3])).astype(["f4", "f8"][k % 2])
        means, out = np.empty((5, x.shape[1])), np.empty((5, x.shape[1]))
        kernels.deviation.vary_rows(x, np.append(0, np.cumsum(sizes)), 0.0, means, out)
        found.update(means.tobytes() + out[sizes > 0].tobytes())
    return found.hexdigest()


def test_arrays_that_do_not_belong_together():
    x, offsets, one = np.zeros((2, 3)), int64([0, 2]), np.zeros((1, 3))
    vary, spread = kernels.deviation.vary_rows, kernels.deviation.spread_distances
    for call in [
        lambda: vary(x, int64([0, 1]), 0.0, one, one),
        lambda: vary(x, offsets, 0.0, one, x),
        lambda: vary(x, offsets, 0.0, one[:, :2].copy(), one[:, :2].copy()),
        lambda: vary(x, offsets, 0.0, one[:, :2].copy(), one),
        lambda: vary(x, offsets, 0.0, one, one[:, :2].copy()),
        lambda: vary(x, offsets, 0.0, x, one),
        lambda: spread(x, int64([0, 1]), one, one, x),
        lambda: spread(x, offsets, one, x, x),
        lambda: spread(x, offsets, x, one, x),
        lambda: spread(x, offsets, one[:, :2].copy(), one, x),
        lambda: spread(x, offsets, one, one[:, :2].copy(), x),
        lambda: spread(x, offsets, one, one, one),
        lambda: spread(x, offsets, one, one, x[:, :2].copy()),
    ]:
        with pytest.raises(ValueError, match="belong together"):
            call()
