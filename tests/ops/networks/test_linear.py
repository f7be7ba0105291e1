"""The linear layer with many rows, whose products are those of packed matrices."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, ops

RANDOM = np.random.default_rng(3)
LENGTHS = [40, 0, 3, 61]


def operands(dtype):
    """Draw rows, a matrix and a bias."""
    shapes = ((sum(LENGTHS), 70), (70, 45), (45,))
    rows, weight, bias = (RANDOM.standard_normal(shape).astype(dtype) for shape in shapes)
    return LoDTensor.from_lengths(rows, LENGTHS), weight, bias


def test_linear_row_has_the_same_bits_in_any_batch_and_for_any_threads():
    x, weight, bias = operands(np.float32)
    values = np.tile(x.values, (30, 1))
    alone = ops.linear(values, weight, bias)
    before = lodcore.get_num_threads()
    try:
        lodcore.set_num_threads(2)
        np.testing.assert_array_equal(ops.linear(values, weight, bias), alone)
    finally:
        lodcore.set_num_threads(before)
    if lodcore.kernels.matrix.is_fast():
        np.testing.assert_array_equal(ops.linear(values[5:40], weight, bias), alone[5:40])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_linear_and_gradients_of_any_number_of_rows_equal_numpy(dtype):
    """At the limits of blocks, and one below and above: result and gradients."""
    weight, bias = (np.sin(np.arange(n, dtype=dtype)).reshape(shape) for n, shape in ((15, (5, 3)), (3, (3,))))
    for count in (0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129):
        x = np.cos(np.arange(count * 5, dtype=dtype)).reshape(count, 5)
        found, back = lodcore.vjp(ops.linear, x, weight, bias)
        d = np.sin(1 + np.arange(count * 3, dtype=dtype)).reshape(count, 3)
        for one, wanted in zip((found, *back(d)), (x @ weight + bias, d @ weight.T, x.T @ d, d.sum(0)), strict=True):
            np.testing.assert_allclose(one, wanted, rtol=1e-5, atol=1e-5, strict=True)
