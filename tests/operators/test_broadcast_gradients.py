"""Gradients of dense operands that NumPy broadcasts: summed over every axis along which an operand is repeated."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import ops, vjp
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # no kernels
SHAPES = [(2, 3, 4), (1, 3, 1), (2, 1, 1), (1, 1, 1), (1, 1, 4), (1, 3, 4), (3, 1), (1, 4), (1, 1), (4,), (1,), ()]
BIG = 1 + np.arange(24.0).reshape(2, 3, 4) / 8
D = np.cos(BIG)
#: Functions of two operands, and their derivatives.
FUNCTIONS = [
    (lodcore.add, lambda x, y: (1, 1)),
    (lodcore.minus, lambda x, y: (1, -1)),
    (lodcore.mul, lambda x, y: (y, x)),
    (lodcore.div, lambda x, y: (1 / y, -x / y**2)),
    (lambda x, y: ops.where(BIG > 2, x, y), lambda x, y: (BIG > 2, BIG <= 2)),
    (lambda x, y: ops.elementwise([x, y], np.hypot), lambda x, y: (x / np.hypot(x, y), y / np.hypot(x, y))),
]


def summed(full, shape):
    """Sum over the axes along which an operand of a shape was repeated, one axis at a time."""
    while full.ndim > len(shape):
        full = full.sum(0)
    for axis, size in enumerate(shape):
        if size == 1:
            full = full.sum(axis, keepdims=True)
    return full


@for_each("shape", SHAPES)
def test_gradients_of_elementwise_operands_are_summed_over_broadcast_axes(shape):
    small = 2 + np.arange(np.prod(shape, dtype=int)).reshape(shape) / 4
    for function, derivatives in FUNCTIONS:
        for operands in ((BIG, small), (small, BIG)):
            found = vjp(function, *operands)[1](D)
            for one, x, derivative in zip(found, operands, derivatives(*operands), strict=True):
                np.testing.assert_allclose(one, summed(D * derivative, x.shape), strict=True)


LEFT = [(3,), (2, 3), (1, 2, 3), (4, 2, 3), (5, 1, 2, 3), (5, 4, 2, 3)]
RIGHT = [(3,), (3, 5), (1, 3, 5), (4, 3, 5), (1, 4, 3, 5), (5, 1, 3, 5)]


@for_each(("left", "right"), itertools.product(LEFT, RIGHT))
def test_products_of_matrices(left, right):
    """One factor has no gradient, or both have."""
    x, y = (np.sin(np.arange(np.prod(shape, dtype=float))).reshape(shape) for shape in (left, right))
    product, back = vjp(lodcore.matmul, x, y)
    d = np.cos(np.arange(product.size)).reshape(product.shape)
    rows, columns = x if x.ndim > 1 else x[None], y if y.ndim > 1 else y[:, None]
    wide = d.reshape(np.matmul(rows, columns).shape)
    front = wide.shape[:-2]
    d_x = np.einsum("...ik,...jk->...ij", wide, np.broadcast_to(columns, (*front, *columns.shape[-2:])))
    d_y = np.einsum("...ji,...jk->...ik", np.broadcast_to(rows, (*front, *rows.shape[-2:])), wide)
    wanted = summed(d_x, rows.shape).reshape(left), summed(d_y, columns.shape).reshape(right)
    for one, other in zip(back(d), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12, strict=True)
    np.testing.assert_allclose(vjp(lambda x: lodcore.matmul(x, y), x)[1](d)[0], wanted[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(vjp(lambda y: lodcore.matmul(x, y), y)[1](d)[0], wanted[1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("count", [1, 255, 256, 257, 600, 1025])
def test_gradients_of_shared_operands_of_many_rows_are_sums_over_their_parts(count):
    """For any number of blocks, the gradient of many rows is that of their parts."""
    random = np.random.default_rng(count)
    x, d = random.normal(size=(2, count, 3))
    scale, shift, matrix = random.normal(size=3), random.normal(size=3), random.normal(size=(3, 2))
    calls = {
        "layer_norm": (lambda x, scale, shift: ops.layer_norm(x, scale, shift), [scale, shift], d),
        "matmul": (lambda x, w: lodcore.matmul(x, w), [matrix], d[:, :2].copy()),
        "add": (lambda x, b: lodcore.add(x, b), [shift], d),
        "mul": (lambda x, b: lodcore.mul(x, b), [scale], d),
    }
    for function, shared, cotangent in calls.values():
        whole = vjp(function, x, *shared)[1](cotangent)
        pieces = [slice(start, start + 100) for start in range(0, count, 100)]
        parts = [vjp(function, x[one], *shared)[1](cotangent[one]) for one in pieces]
        np.testing.assert_allclose(whole[0], np.concatenate([part[0] for part in parts]), rtol=1e-9, atol=1e-12)
        for j in range(1, 1 + len(shared)):
            np.testing.assert_allclose(whole[j], sum(part[j] for part in parts), rtol=1e-9, atol=1e-9)
