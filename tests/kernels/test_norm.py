"""Layer norm of rows and its gradients: kernel and twin, and every path."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.rows import REALS, scores
from tests.helpers.tables import for_each

WIDTHS = [0, 1, 2, 5, 15, 16, 17, 33, 64]


def drawn_rows(seed, n_rows, dtype, width):
    """Draw rows of any scale, some of them unusual, a scale and a shift."""
    return *(scores(seed + k, n_rows, dtype, width) for k in range(2)), *scores(seed + 2, 2, dtype, width)


@pytest.mark.not_on_reference
@given(st.integers(0, 2**32), st.sampled_from([0, 1, 3, 256, 257]), st.sampled_from(REALS), st.sampled_from(WIDTHS))
def test_twins(seed, n_rows, dtype, width):
    width = min(width, 5) if n_rows > 3 else width
    x, d, scale, shift = drawn_rows(seed, n_rows, dtype, width)
    blocks = (n_rows + 255) // 256
    rows, line = unwritten(n_rows, width, dtype=dtype), unwritten(n_rows, dtype=dtype)
    agree("norm.normalize_rows", x, scale, shift, 1e-5, rows, line, line.copy())
    means, factors = np.empty(n_rows, dtype), np.empty(n_rows, dtype)
    kernels.norm.normalize_rows(x, scale, shift, 1e-5, rows.copy(), means, factors)
    sums = unwritten(blocks, width, dtype=dtype)
    agree("norm.normalize_rows_back", d, x, scale, means, factors, rows, sums, sums.copy())


def test_normalized_rows_have_mean_0_and_variance_1():
    x = np.random.default_rng(0).normal(3.0, 5.0, (7, 40))
    out, means, factors = np.empty_like(x), np.empty(7), np.empty(7)
    kernels.norm.normalize_rows(x, np.ones(40), np.zeros(40), 0.0, out, means, factors)
    np.testing.assert_allclose(out.mean(axis=1), 0, atol=1e-14)
    np.testing.assert_allclose(out.var(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(means, x.mean(axis=1))
    np.testing.assert_allclose(factors, 1 / x.std(axis=1))


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("n_rows", [1, 3, 257])
def test_normalize_rows_of_every_width(n_rows, dtype):
    """Every column counts, in blocks of 16 and in the remaining columns, forward and backward."""
    random = np.random.default_rng(n_rows)
    for width in [*range(1, 36), 47, 48, 49, 63, 64, 65]:
        x, d, scale, shift = (random.normal(size=(n, width)).astype(dtype) for n in (n_rows, n_rows, 1, 1))
        found = [np.empty_like(x), np.empty(n_rows, dtype), np.empty(n_rows, dtype)]
        kernels.norm.normalize_rows(x, scale[0], shift[0], 0.5, *found)
        wide = x.astype(float)
        factor = 1 / np.sqrt(wide.var(axis=1, keepdims=True) + 0.5)
        rows, g = (wide - wide.mean(axis=1, keepdims=True)) * factor, d.astype(float) * scale
        of_x = factor * (g - g.mean(axis=1, keepdims=True) - rows * (g * rows).mean(axis=1, keepdims=True))
        back = [np.empty_like(x), *np.empty((2, (n_rows + 255) // 256, width), dtype)]
        kernels.norm.normalize_rows_back(d, x, scale[0], *found[1:], *back)
        tolerance = {"rtol": 0, "atol": 1e-12 if dtype == np.float64 else 3e-4, "err_msg": f"width {width}"}
        np.testing.assert_allclose(found[0], rows * scale + shift, **tolerance)
        np.testing.assert_allclose(back[0], of_x, **tolerance)
        np.testing.assert_allclose(back[1].sum(axis=0), (d * rows).sum(axis=0), **tolerance)
        np.testing.assert_allclose(back[2].sum(axis=0), d.astype(float).sum(axis=0), **tolerance)


@for_each("dtype", REALS)
def test_blocks_of_256_rows_and_the_bits_of_nan(dtype):
    """More than two blocks, in memory that is not zero; each result with nan has one kind of it."""
    x, d = (np.arange(1200).reshape(600, 2) % prime / 4 for prime in (7, 5))
    x, d = x.astype(dtype), d.astype(dtype)
    line, rows = unwritten(600, dtype=dtype), unwritten(600, 2, dtype=dtype)
    means, sums = line.copy(), unwritten(3, 2, dtype=dtype)
    sums[:] = np.nan
    shifts = sums.copy()
    kernels.norm.normalize_rows(x, np.ones(2, dtype), np.zeros(2, dtype), 0.5, rows.copy(), means, line)
    kernels.norm.normalize_rows_back(d, x, np.ones(2, dtype), means, line, rows, sums, shifts)
    normal = (x - means[:, None].astype(float)) * line[:, None]
    for block, start in enumerate((0, 256, 512)):
        part = slice(start, start + 256)
        np.testing.assert_allclose(sums[block], (d * normal)[part].sum(axis=0), rtol=0, atol=1e-3)
        np.testing.assert_allclose(shifts[block], d[part].sum(axis=0, dtype=float), rtol=1e-6)
    word, minus = dtype.str.replace("f", "u"), -np.array(np.nan, dtype)
    x[1], d[2] = minus, minus
    found = [unwritten(*shape, dtype=dtype) for shape in ((600, 2), (600,), (600,), (600, 2), (3, 2), (3, 2))]
    kernels.norm.normalize_rows(x, np.ones(2, dtype), np.zeros(2, dtype), 0.5, *found[:3])
    kernels.norm.normalize_rows_back(d, x, np.ones(2, dtype), *found[1:])
    for array in found:
        assert set(array[array != array].view(word).tolist()) == {np.array(np.nan, dtype).view(word).item()}


def digest():
    """Compute seeded rows of all kinds of widths, and hash the results."""
    found = hashlib.sha256()
    for seed in range(100):
        dtype, width = REALS[seed % 2], WIDTHS[1:][seed % 8]
        x, d, scale, shift = drawn_rows(3 * seed, 300, dtype, width)
        made = [np.empty_like(x), np.empty(300, dtype), np.empty(300, dtype)]
        kernels.norm.normalize_rows(x, scale, shift, 1e-5, *made)
        back = [np.empty_like(x), np.empty((2, width), dtype), np.empty((2, width), dtype)]
        kernels.norm.normalize_rows_back(d, x, scale, made[1], made[2], *back)
        for array in [*made, *back]:
            found.update(array.tobytes())
    return found.hexdigest()


def test_arrays_that_do_not_belong_together():
    x, line, rows = np.ones((2, 3)), np.ones(3), np.ones(2)
    out = np.full((2, 3), 7.0)
    good = [x, line, line, 1e-5, out, rows, rows]
    back = [x, x, line, rows, rows, out, np.ones((1, 3)), np.ones((1, 3))]
    for function, arguments in [(kernels.norm.normalize_rows, good), (kernels.norm.normalize_rows_back, back)]:
        for at, argument in enumerate(arguments):
            if isinstance(argument, float) or (function is kernels.norm.normalize_rows_back and at == 1):
                continue
            wrong = np.ones([n + 1 for n in argument.shape])
            with pytest.raises(ValueError, match="belong together"):
                function(*arguments[:at], wrong, *arguments[at + 1 :])
    assert (out == 7).all()
