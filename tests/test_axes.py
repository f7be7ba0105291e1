"""Reductions over axes: which of equal extremes has the gradient, and axes along which sequences differ."""

import numpy as np
import pytest

import lodcore
from lodcore import ops, vjp


@pytest.mark.not_on_reference
@pytest.mark.parametrize(("name", "extreme"), [("max", 2.0), ("min", -2.0)])
@pytest.mark.parametrize("axes", [(1,), (0,), None])
def test_the_first_of_equal_extremes_of_rows_has_the_gradient(name, extreme, axes):
    values = np.zeros((3, 4))
    values[1:, 1:] = extreme
    out, pullback = vjp(lambda x: ops.reduce_values(x, name, axes), values)
    (d_x,) = pullback(np.ones_like(out))
    wanted = np.zeros((3, 4))
    wanted[
        {(1,): [0, 1, 2], (0,): [0, 1, 1, 1], None: [1]}[axes], {(1,): [0, 1, 1], (0,): [0, 1, 2, 3], None: [1]}[axes]
    ] = 1
    np.testing.assert_array_equal(d_x, wanted)


def test_the_first_of_equal_extremes_of_sequences_has_the_gradient():
    x = lodcore.array([[1.0, 3.0, 3.0], [], [3.0, 3.0, 1.0]])
    (d_x,) = vjp(lambda x: x.max(axis=0), x)[1](np.ones(3))
    assert d_x.tolist() == [[0.0, 1.0, 1.0], [], [1.0, 0.0, 0.0]]
    (d_x,) = vjp(lambda x: x.max(axis=1, initial=0.0), x)[1](np.ones(3))
    assert d_x.tolist() == [[0.0, 1.0, 0.0], [], [1.0, 0.0, 0.0]]
