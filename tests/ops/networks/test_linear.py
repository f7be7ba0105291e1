"""The linear layer with many rows, whose products are those of packed matrices."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, ops, value_and_grad

RANDOM = np.random.default_rng(3)
LENGTHS = [40, 0, 3, 61]


def operands(dtype):
    """Draw rows, a matrix and a bias."""
    shapes = ((sum(LENGTHS), 70), (70, 45), (45,))
    rows, weight, bias = (RANDOM.standard_normal(shape).astype(dtype) for shape in shapes)
    return LoDTensor.from_lengths(rows, LENGTHS), weight, bias


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_linear_equals_matmul_and_add_with_gradients(dtype):
    x, weight, bias = operands(dtype)
    d = x.with_values(RANDOM.standard_normal((x.num_rows, 45)).astype(dtype))

    def weighed(layer):
        return value_and_grad(lambda *given: ops.sum(layer(*given) * d), (0, 1, 2))(x, weight, bias)

    value, found = weighed(ops.linear)
    wanted, gradients = weighed(lambda x, weight, bias: ops.add(ops.matmul(x, weight), bias))
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-11, "atol": 1e-11}
    np.testing.assert_allclose(value, wanted, **close)
    np.testing.assert_allclose(ops.linear(x, weight, bias).values, x.values @ weight + bias, **close)
    assert found[0].lod is x.lod
    for one, other in zip(found, gradients, strict=True):
        assert one.dtype == dtype
        np.testing.assert_allclose(getattr(one, "values", one), getattr(other, "values", other), **close)


@pytest.mark.parametrize("wanted", [(0,), (1,), (2,), (0, 2)])
def test_linear_gradients_asked_for_alone_equal_those_asked_for_together(wanted):
    given = operands(np.float64)
    some = value_and_grad(lambda *given: ops.sum(ops.linear(*given)), wanted)(*given)[1]
    every = value_and_grad(lambda *given: ops.sum(ops.linear(*given)), (0, 1, 2))(*given)[1]
    for place, one in zip(wanted, some, strict=True):
        np.testing.assert_array_equal(getattr(one, "values", one), getattr(every[place], "values", every[place]))


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
    """At the limits of blocks, and beside them: result and gradients."""
    weight, bias = (np.sin(np.arange(n, dtype=dtype)).reshape(shape) for n, shape in ((15, (5, 3)), (3, (3,))))
    for count in (0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129):
        x = np.cos(np.arange(count * 5, dtype=dtype)).reshape(count, 5)
        found, back = lodcore.vjp(ops.linear, x, weight, bias)
        d = np.sin(1 + np.arange(count * 3, dtype=dtype)).reshape(count, 3)
        for one, wanted in zip((found, *back(d)), (x @ weight + bias, d @ weight.T, x.T @ d, d.sum(0)), strict=True):
            np.testing.assert_allclose(one, wanted, rtol=1e-5, atol=1e-5, strict=True)
