"""Steps of optimizers and sums of squares: kernel and twin, and every path."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.rows import REALS, scores
from tests.helpers.tables import for_each

COUNTS = [0, 1, 2, 15, 16, 17, 40]
NUMBERS = st.sampled_from([0.0, 1e-3, 0.5, 0.9, 0.999, 1.0])


def lines(seed, count, dtype, number):
    return [scores(seed + k, count, dtype, 1).reshape(-1) for k in range(number)]


@pytest.mark.not_on_reference
class TestTwins:
    @given(st.integers(0, 2**32), st.sampled_from(COUNTS), st.sampled_from(REALS), *[NUMBERS] * 4)
    def test_adam(self, seed, count, dtype, rate, beta, other, kept):
        outs = [unwritten(count, dtype=dtype) for _ in range(3)]
        x, d, mean, square = lines(seed, count, dtype, 4)
        agree("optimizers.adam_step", x, d, mean, square * square, rate, beta, other, 1e-8, kept, 1.25, *outs)

    @given(st.integers(0, 2**32), st.sampled_from(COUNTS), st.sampled_from(REALS), *[NUMBERS] * 3, st.booleans())
    def test_sgd(self, seed, count, dtype, rate, momentum, decay, rolling):
        x, d, speed = lines(seed, count, dtype, 3)
        some = slice(count if rolling else 0)
        outs = unwritten(count, dtype=dtype), unwritten(count, dtype=dtype)[some]
        agree("optimizers.sgd_step", x, d, speed[some], rate, momentum, decay, *outs)

    @given(st.integers(0, 2**32), st.sampled_from(COUNTS), st.sampled_from(REALS))
    def test_squares(self, seed, count, dtype):
        (x,) = lines(seed, count, dtype, 1)
        x = np.where(np.isfinite(x), x, 1).astype(dtype)  # nan does not equal itself
        agree("optimizers.sum_squares", x)


def test_steps_in_place_give_the_same_bits():
    random = np.random.default_rng(0)
    x, d, m = random.normal(size=(3, 37))
    v = m * m
    outs = [np.empty(37) for _ in range(3)]
    rates = (0.1, 0.9, 0.99, 1e-8, 0.5, 2.0)
    kernels.optimizers.adam_step(x, d, m, v, *rates, *outs)
    kernels.optimizers.adam_step(x, d, m, v, *rates, x, m, v)
    for one, other in zip(outs, (x, m, v), strict=True):
        assert one.tobytes() == other.tobytes()
    kernels.optimizers.sgd_step(x, d, m, 0.1, 0.9, 0.01, *outs[:2])
    kernels.optimizers.sgd_step(x, d, m, 0.1, 0.9, 0.01, x, m)
    assert (outs[0].tobytes(), outs[1].tobytes()) == (x.tobytes(), m.tobytes())


def test_squares_of_nan_and_of_large_numbers():
    assert kernels.optimizers.sum_squares(np.full(2, 1e30, np.float32)) == pytest.approx(2e60)
    assert np.isnan(kernels.optimizers.sum_squares(np.array([1.0, np.nan])))


@pytest.mark.not_on_reference
@for_each("dtype", REALS)
@for_each("count", [1, 16, 33])
def test_decay_rates_near_one_and_the_bits_of_nan(count, dtype):
    """1 - 0.999 is rounded once; float32 would lose half of its digits."""
    x, d, mean, square = (np.linspace(k, k + 1, count, dtype=dtype) for k in range(4))
    outs = [unwritten(count, dtype=dtype) for _ in range(3)]
    for beta, other in ((0.9, 0.999), (0.999, 0.9), (0.99999, 0.0)):
        agree("optimizers.adam_step", x, d, mean, square, 0.1, beta, other, 1e-8, 0.99, 1.25, *outs)
    minus, word = -np.array(np.nan, dtype), dtype.str.replace("f", "u")
    for odd in (x, d, mean, square):
        kept = odd[-1]
        odd[-1] = minus
        agree("optimizers.adam_step", x, d, mean, square, 0.1, 0.9, 0.99, 1e-8, 0.99, 1.25, *outs)
        agree("optimizers.sgd_step", x, d, mean, 0.1, 0.9, 0.01, *outs[:2])
        agree("optimizers.sgd_step", x, d, mean[:0], 0.1, 0.9, 0.01, outs[0], outs[1][:0])
        kernels.optimizers.adam_step(x, d, mean, square, 0.1, 0.9, 0.99, 1e-8, 0.99, 1.25, *outs)
        for out in outs:
            assert set(out[out != out].view(word).tolist()) <= {np.array(np.nan, dtype).view(word).item()}
        odd[-1] = kept


def digest():
    """Compute seeded steps of all kinds of counts, and hash the results."""
    found = hashlib.sha256()
    for seed in range(60):
        dtype, count = REALS[seed % 2], [1, 7, 16, 33, 100, 1000][seed % 6]
        x, d, mean, square = lines(4 * seed, count, dtype, 4)
        outs = [np.empty_like(x) for _ in range(3)]
        kernels.optimizers.adam_step(x, d, mean, square, 0.01, 0.9, 0.999, 1e-8, 0.99, 3.0, *outs)
        found.update(b"".join(out.tobytes() for out in outs))
        kernels.optimizers.sgd_step(x, d, mean, 0.01, 0.9, 0.1, *outs[:2])
        found.update(b"".join(out.tobytes() for out in outs))
        kernels.optimizers.sgd_step(x, d, mean[:0], 0.01, 0.9, 0.1, outs[0], outs[1][:0])
        found.update(outs[0].tobytes() + repr(kernels.optimizers.sum_squares(x)).encode())
    return found.hexdigest()


def test_arrays_that_do_not_belong_together():
    x, wrong, out = np.ones(3), np.ones(4), np.full(3, 7.0)
    adam = [x, x, x, x, 0.1, 0.9, 0.9, 0.1, 1.0, 1.0, out, out.copy(), out.copy()]
    sgd = [x, x, x, 0.1, 0.9, 0.1, out, out.copy()]
    for function, arguments in [(kernels.optimizers.adam_step, adam), (kernels.optimizers.sgd_step, sgd)]:
        for at, argument in enumerate(arguments):
            if isinstance(argument, np.ndarray):
                with pytest.raises(ValueError, match="belong together"):
                    function(*arguments[:at], wrong, *arguments[at + 1 :])
    assert (out == 7).all()
