"""Products of sequences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, read_only, running_sum
from tests.helpers.tables import for_each

OFFSETS = lengths(most=8).map(running_sum).map(int64)
SEEDS = st.integers(0, 2**32)
REALS = ["f4", "f8"]


def rows(seed, count, width, dtype):
    """Make rows, a few of them 0, of numbers that neither overflow nor underflow; all bits for integers."""
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        return read_only(np.frombuffer(random.bytes(8 * count * width), dtype).reshape(count, width).copy())
    made = random.uniform(0.5, 2, (count, width)).astype(dtype)
    made[random.random((count, width)) < 0.1] = 0
    return read_only(made)


@pytest.mark.not_on_reference
class TestTwins:
    @given(OFFSETS, SEEDS, st.integers(0, 3), st.sampled_from([*REALS, "i8", "u8"]))
    def test_multiply_rows(self, offsets, seed, width, dtype):
        x = rows(seed, int(offsets[-1]), width, dtype)
        agree("product.multiply_rows", x, offsets, unwritten(len(offsets) - 1, width, dtype=dtype))

    @given(OFFSETS, SEEDS, st.integers(0, 3), st.sampled_from(REALS))
    def test_multiply_others_equals_its_twin(self, offsets, seed, width, dtype):
        x, d = rows(seed, int(offsets[-1]), width, dtype), rows(seed + 1, len(offsets) - 1, width, dtype)
        agree("product.multiply_others", x, offsets, d, unwritten(*x.shape, dtype=dtype))

    @given(OFFSETS, SEEDS, st.integers(0, 3), st.booleans())
    def test_true_sequences(self, offsets, seed, width, every):
        random = np.random.default_rng(seed)
        x = read_only(random.integers(0, 256, (int(offsets[-1]), width)) * (random.random((1, 1)) < 0.8)).astype("u1")
        x[random.random(x.shape) < random.random()] = 0
        agree("product.true_sequences", read_only(x), offsets, every, unwritten(len(offsets) - 1, width, dtype="u1"))


@given(OFFSETS, SEEDS, st.integers(1, 3))
def test_whole_numbers_wrap_around(offsets, seed, width):
    x = rows(seed, int(offsets[-1]), width, "i8")
    out = np.empty((len(offsets) - 1, width), np.int64)
    kernels.product.multiply_rows(x, offsets, out)
    for s in range(len(out)):
        assert out[s].tolist() == np.multiply.reduce(x[offsets[s] : offsets[s + 1]], axis=0).tolist()


def test_multiply_others_with_one_zero_is_nonzero_only_at_the_zero():
    out = np.empty((3, 1))
    kernels.product.multiply_others(np.array([[2.0], [0.0], [5.0]]), int64([0, 3]), np.array([[10.0]]), out)
    assert out.tolist() == [[0.0], [100.0], [0.0]]


@for_each("dtype", [*REALS, "i8", "u8"])
@for_each("width", [1, 3])
def test_many_sequences_some_of_them_empty(width, dtype):
    sizes = [0, 1, 2, 3] * 10
    offsets = int64(running_sum(sizes))
    x = (np.arange(60 * width).reshape(60, width) % 4 + 1).astype(dtype)
    out, d = np.empty((40, width), dtype), (np.arange(40 * width).reshape(40, width) + 1).astype(dtype)
    kernels.product.multiply_rows(x, offsets, out)
    assert out.tolist() == [x[a : a + n].prod(axis=0).tolist() for a, n in zip(offsets, sizes, strict=False)]
    if dtype in REALS:
        back = np.empty_like(x)
        kernels.product.multiply_others(x, offsets, d, back)
        np.testing.assert_allclose(back * x, np.repeat(out * d, sizes, axis=0), rtol=1e-6)
