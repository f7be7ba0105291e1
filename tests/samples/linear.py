"""Samples of the linear layer."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LoDError, LoDTensor, ShapeError
from reference.ops.levels import at_level
from reference.ops.linear import linear
from tests.helpers.draw import composite, integers, lods, read_only, sampled_from
from tests.samples import Samples, call
from tests.samples.common import SEEDS, small_values, smooth_values


@composite
def calls(draw, smooth=False):
    lod, width, columns = draw(lods(1, 3, 6)), draw(integers(1 if smooth else 0, 4)), draw(integers(0, 4))
    shape = (lod.num_rows, *draw(sampled_from([(width,), (2, width)])))

    def array(shape):
        if smooth:
            return smooth_values(draw(SEEDS), shape, -2, 2)
        return small_values(draw(SEEDS), shape, draw(sampled_from(["f4", "f8", "f2", "i4"])), nans=False)

    x, weight, bias = array(shape), array((width, columns)), array((columns,))
    if not smooth and draw(st.booleans()):
        x, weight = (read_only(np.asfortranarray(one)) for one in (x, weight))
    return call(LoDTensor(x, lod) if draw(st.booleans()) else x, weight, bias)


def expected(arguments):
    x = arguments["x"]
    nested = isinstance(x, LoDTensor)
    deep = (x.values.ndim if nested else x.ndim) - 2
    level = x.num_levels + deep if nested else deep
    settings = arguments["weight"].tolist(), arguments["bias"].tolist()
    return at_level(lambda row: linear(row, *settings), x.tolist(), level)


COSTS = """
ops.linear(w, np.ones((4, 3)), np.zeros(3))
"""
SAMPLES = {
    "linear": Samples(
        calls(),
        expected,
        calls(smooth=True),
        [
            ("ops.linear(wide, [[1.0]], [0.0])", ShapeError, r"weight: has shape \(1, 1\); \(2, n_out\) is needed"),
            ("ops.linear(wide, [1.0, 1.0], [0.0])", ShapeError, r"weight: has shape \(2,\)"),
            ("ops.linear(wide, np.ones((2, 3)), [0.0])", ShapeError, r"bias: has shape \(1,\); \(3,\) is needed"),
            ("ops.linear(flat, [[1.0]], [1.0])", ShapeError, r"x: has rows of shape \(\)"),
            ("ops.linear(3.0, [[1.0]], [1.0])", ShapeError, r"x: has rows of shape \(\)"),
            ("ops.linear(wide, wide, [1.0, 1.0])", LoDError, "weight: has 1 level"),
            ("ops.linear(wide, [['a'], ['b']], [1.0])", DTypeError, "weight: has dtype <U1"),
            ("ops.linear(wide, np.ones((2, 1)) * 1j, [1.0])", DTypeError, "weight: has dtype complex128"),
        ],
        exact=False,
    ),
}
