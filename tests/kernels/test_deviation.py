"""Variances of the rows of sequences: kernels and their twins, and NumPy."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum, values_from_seed
from tests.helpers.paths import on_each_path

OFFSETS = st.sampled_from([(8, 5), (3, 80)]).flatmap(lambda most: lengths(None, *most)).map(running_sum).map(int64)
SEEDS = st.integers(0, 2**32)


@st.composite
def rows(draw):
    """Draw rows of floats, of any bits or of usual values, and offsets."""
    offsets, dtype, width = (
        draw(OFFSETS),
        np.dtype(draw(st.sampled_from(["f4", "f8"]))),
        draw(st.sampled_from([1, 3, 0])),
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


def digest():
    """Compute variances of sequences of all lengths, and hash the results."""
    found, random = hashlib.sha256(), np.random.default_rng(3)
    for k in range(60):
        sizes = random.integers(0, [4, 40, 6000][k % 3], 5)
        x = random.normal(3, 1, (sizes.sum(), [1, 1, 7][k // 3 % 3])).astype(["f4", "f8"][k % 2])
        means, out = np.empty((5, x.shape[1])), np.empty((5, x.shape[1]))
        kernels.deviation.vary_rows(x, np.append(0, np.cumsum(sizes)), 0.0, means, out)
        found.update(means.tobytes() + out[sizes > 0].tobytes())
    return found.hexdigest()


@pytest.mark.not_on_reference
def test_every_path_has_the_same_bits():
    assert set(on_each_path("tests.kernels.test_deviation", "digest").values()) == {digest()}


def test_arrays_that_do_not_belong_together():
    x, offsets, one = np.zeros((2, 3)), int64([0, 2]), np.zeros((1, 3))
    vary, spread = kernels.deviation.vary_rows, kernels.deviation.spread_distances
    for call in [
        lambda: vary(x, int64([0, 1]), 0.0, one, one),
        lambda: vary(x, offsets, 0.0, one, x),
        lambda: vary(x, offsets, 0.0, one[:, :2].copy(), one[:, :2].copy()),
        lambda: spread(x, int64([0, 1]), one, one, x),
        lambda: spread(x, offsets, one, x, x),
        lambda: spread(x, offsets, one, one, one),
    ]:
        with pytest.raises(ValueError, match="belong together"):
            call()
