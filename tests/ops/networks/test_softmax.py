"""Softmax, logarithms of sums and running sums, compared with NumPy; laws, and the limits of the range."""

from itertools import pairwise

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, ops, sequence_cumsum, sequence_logsumexp, sequence_softmax, vjp


def each(x, level, function):
    """Apply a function to the rows below each sequence of a level: an ndarray per sequence, in float64."""
    cuts = x.lod.row_offsets(level)
    values = x.values.astype(np.float64)
    return [function(values[start:stop]) for start, stop in pairwise(cuts)]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shift", [1000, -1000, 1e30])
def test_softmax_and_logsumexp_of_large_numbers_do_not_overflow(dtype, shift):
    x = lodcore.array([[0.0, 0.0], [1.0], []]).values.astype(dtype) + np.dtype(dtype).type(shift)
    x = LoDTensor.from_lengths(x, [2, 1, 0])
    assert sequence_softmax(x).values.tolist() == [0.5, 0.5, 1.0]
    assert np.isfinite(sequence_logsumexp(x)).tolist() == [True, True, False]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_softmax_and_logsumexp_with_infinities_and_nan(dtype):
    inf, nan = np.inf, np.nan
    rows = np.array([0, -inf, 0, -inf, -inf, inf, 0, nan, 0, -inf, -300], dtype)
    x = LoDTensor.from_lengths(rows, [3, 2, 2, 2, 0, 2])
    want = [0.5, 0, 0.5, nan, nan, nan, nan, nan, nan, 0, 1]
    np.testing.assert_array_equal(sequence_softmax(x).values, np.array(want, dtype))
    logs = sequence_logsumexp(x)
    np.testing.assert_allclose(logs, [np.log(2), -inf, inf, nan, -inf, -300], 1e-6)
    assert logs.dtype == dtype


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_gradients_of_logsumexp_at_infinities_are_limits(dtype):
    """As those of logaddexp: the greatest number has all of it, and equal ones, also infinities, have equal shares."""
    inf, nan = np.inf, np.nan
    sequences = [[0, -inf, 0], [inf, 1], [1, inf, inf, -inf], [-inf, -inf], [], [inf], [-inf], [nan, inf]]
    shares = [[0.5, 0, 0.5], [1, 0], [0, 0.5, 0.5, 0], [0.5, 0.5], [], [1], [1], [nan, nan]]
    x = LoDTensor.from_lengths(np.concatenate(sequences).astype(dtype), [len(one) for one in sequences])
    d, wanted = np.arange(2, 2 + len(sequences)), np.concatenate(shares).astype(dtype)
    with np.errstate(all="raise"):
        (found,) = vjp(sequence_logsumexp, x)[1](d.astype(dtype))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.values, np.repeat(d, x.lod.lengths()) * wanted)
    columns = x.with_values(np.stack([np.zeros(len(wanted), dtype), x.values], 1))
    (found,) = vjp(sequence_logsumexp, columns)[1](np.ones((len(d), 2), dtype))
    even = np.repeat(1 / np.maximum(x.lod.lengths(), 1), x.lod.lengths())
    np.testing.assert_allclose(found.values, np.stack([even, wanted], 1), rtol=2e-3)
    for share, name in ((x[1], np.logaddexp), (x[3], np.logaddexp)):
        pairs = vjp(name, share[:1], share[1:])[1](np.ones(1, dtype))
        both = vjp(sequence_logsumexp, LoDTensor.from_lengths(share, [2]))[1](np.ones(1, dtype))[0]
        np.testing.assert_array_equal(np.concatenate(pairs), both.values)


@pytest.mark.parametrize("dtype", ["f4", ">f8"])
@pytest.mark.parametrize("shape", [(7,), (2, 9), (3, 1, 5), (2, 3, 4, 2), (0, 3), (3, 0, 2)])
@pytest.mark.parametrize("order", [lambda x: x, np.transpose, lambda x: np.repeat(x, 2, 0)[::-2]])
def test_softmax_along_an_axis_is_that_of_sequences_along_it(dtype, shape, order):
    rng = np.random.default_rng(0)
    x = order(rng.normal(scale=3, size=shape).astype(dtype))
    d = order(rng.normal(size=shape).astype(dtype))
    for axis in range(x.ndim):
        if not x.shape[axis]:
            continue
        native = x.dtype.newbyteorder("=")
        moved, turned = (np.moveaxis(y, axis, 0).astype(native, order="C") for y in (x, d))
        columns = LoDTensor.from_lengths(moved, [len(moved)])
        want, pull = vjp(sequence_softmax, columns)
        for given in (axis, axis - x.ndim):
            out, pullback = vjp(lambda x, given=given: ops.softmax(x, given), x)
            close = {"rtol": 1e-6, "atol": 1e-6}  # columns are added in another order than rows of one number
            np.testing.assert_allclose(np.moveaxis(out, axis, 0), want.values, **close)
            (gradient,) = pullback(d)
            assert out.dtype == native
            assert gradient.dtype == x.dtype
            np.testing.assert_allclose(np.moveaxis(gradient, axis, 0), pull(turned)[0].values, **close)


def test_log_softmax_of_large_numbers():
    found = ops.log_softmax(np.array([[1000.0, 1000.0, -1000.0], [-5000.0, -5001.0, -9000.0]]))
    np.testing.assert_allclose(found[0], [-np.log(2), -np.log(2), -2000 - np.log(2)])
    np.testing.assert_allclose(found[1], -np.log1p(np.exp(-1)) - np.array([0, 1, 4000]))
    with np.errstate(all="raise"):
        odd = ops.log_softmax(np.array([[np.inf, 0.0], [-np.inf, -np.inf], [-np.inf, 0.0], [np.nan, 0.0]]))
    np.testing.assert_array_equal(odd, [[np.nan] * 2, [np.nan] * 2, [-np.inf, 0.0], [np.nan] * 2])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("width", [1, 3, 40])
def test_results_that_would_be_subnormal_are_0(dtype, width):
    edge, least = {"f4": (-87.33654, 2.0**-126), "f8": (-708.396418532264, 2.0**-1022)}[dtype]
    for length in (2, 3, 70, 300):
        rows = np.zeros((length, width), dtype)
        rows[1::2] = np.linspace(edge + 8, edge - 30, length // 2)[:, None]
        x = LoDTensor.from_lengths(rows, [length])
        found = sequence_softmax(x).values
        assert ((found == 0) | (found >= least * (1 - 1e-6))).all()
        small = (rows < edge - 1) | (rows < edge + np.log((length + 1) // 2) - 0.01)
        assert (found[small] == 0).all()
        assert (found[(rows > edge + 6) & (rows < 0)] > 0).all()
        (spread,) = vjp(sequence_logsumexp, x)[1](np.ones((1, width), dtype))
        assert spread.values.tobytes() == found.tobytes()


def test_sums_of_integers_wrap_around_and_are_wide():
    x = LoDTensor.from_lengths(np.array([200, 100, 1], np.uint8), [3])
    assert sequence_cumsum(x).values.tolist() == [200, 300, 301]
    x = LoDTensor.from_lengths(np.array([2**63 - 1, 1]), [2])
    assert sequence_cumsum(x).values.tolist() == [2**63 - 1, -(2**63)]
    assert sequence_cumsum([[True, True]]).values.tolist() == [1, 2]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (40,)])
def test_the_logarithm_of_1_is_a_positive_0(dtype, shape):
    """With a 0 of either sign, with impossible entries, and with powers that add up to 1."""
    ones = np.ones(shape)
    for rows in ([0.0], [-0.0], [0.0, -np.inf], [-0.0, -np.inf, -np.inf], [-np.inf, 0.0]):
        x = LoDTensor.from_lengths(np.array([row * ones for row in rows], dtype), [len(rows), 0])
        found = sequence_logsumexp(x)
        assert found.dtype == dtype
        assert (found[0] == 0).all()
        assert not np.signbit(found[0]).any()
        assert (found[1] == -np.inf).all()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("width", [1, 3, 17])
def test_means_of_subnormal_numbers(dtype, width):
    """They are quotients, not products with a reciprocal."""
    least = np.finfo(dtype).smallest_subnormal
    for count in (1, 2, 3, 5, 7, 49, 100):
        rows = (np.arange(1, count * width + 1).reshape(count, width) % 7).astype(dtype) * least
        x = LoDTensor.from_lengths(rows, [count])
        wanted = rows.astype("f8").sum(0) / count if dtype == "f4" else np.add.reduce(rows) / np.float64(count)
        wanted = wanted.astype(dtype)
        for found in (
            lodcore.sequence_pool(x, "mean")[0],
            lodcore.mean(x, axis=1)[0],
            lodcore.mean(x, axis=(0, 1)),
            lodcore.ops.pool_positions(lodcore.LoDTensor.from_lengths(rows, [1] * count), "mean")[0],
            lodcore.sequence_rolling(x, count).values[-1],
        ):
            np.testing.assert_array_equal(np.asarray(found, dtype), wanted)
        np.testing.assert_array_equal((x / 3).values, rows / np.dtype(dtype).type(3))
        np.testing.assert_array_equal((x / count).values, rows / np.dtype(dtype).type(count))
