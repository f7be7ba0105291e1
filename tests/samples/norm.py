"""Samples of layer norm."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LoDError, LoDTensor, ShapeError
from reference.ops.levels import at_level
from reference.ops.norm import layer_norm
from tests.helpers.draw import composite, integers, lods, read_only, sampled_from
from tests.samples import Samples, call
from tests.samples.common import SEEDS, small_values, smooth_values


@composite
def calls(draw, smooth=False):
    lod, width = draw(lods(1, 3, 6)), draw(integers(1 if smooth else 0, 4))
    shape = (lod.num_rows, *draw(sampled_from([(width,), (2, width)])))

    def array(shape):
        if smooth:
            return smooth_values(draw(SEEDS), shape, -2, 2)
        return small_values(draw(SEEDS), shape, draw(sampled_from(["f4", "f8", "f2", "i4"])), nans=False)

    x, scale, shift = array(shape), array((width,)), array((width,))
    if not smooth and draw(st.booleans()):
        x = read_only(np.asfortranarray(x))
    x = LoDTensor(x, lod) if draw(st.booleans()) else x
    return call(x, scale, shift, *draw(sampled_from([(0.25,), (1,)])))


def expected(arguments):
    x = arguments["x"]
    settings = (arguments["scale"].tolist(), arguments["shift"].tolist(), arguments["eps"])
    nested = isinstance(x, LoDTensor)
    deep = (x.values.ndim if nested else x.ndim) - 2
    level = x.num_levels + deep if nested else deep
    return at_level(lambda row: layer_norm(row, *settings), x.tolist(), level)


COSTS = """
ops.layer_norm(w, np.ones(4), np.zeros(4))
"""
SAMPLES = {
    "layer_norm": Samples(
        calls(),
        expected,
        calls(smooth=True),
        [
            ("ops.layer_norm(wide, [1.0], [0.0, 0.0])", ShapeError, r"scale: has shape \(1,\); \(2,\) is needed"),
            ("ops.layer_norm(wide, [1.0, 1.0], np.ones((2, 2)))", ShapeError, r"shift: has shape \(2, 2\)"),
            ("ops.layer_norm(flat, [1.0], [1.0])", ShapeError, r"x: has rows of shape \(\)"),
            ("ops.layer_norm(3.0, [1.0], [1.0])", ShapeError, r"x: has rows of shape \(\)"),
            ("ops.layer_norm(wide, wide, [1.0, 1.0])", LoDError, "scale: has 1 level"),
            ("ops.layer_norm(wide, [1.0, 1.0], ['a', 'b'])", DTypeError, "shift: has dtype <U1"),
            ("ops.layer_norm(wide, [1.0, 1.0], [1.0, 1.0], -1)", ValueError, "eps: is -1; 0 or more is needed"),
            ("ops.layer_norm(wide, [1.0, 1.0], [1.0, 1.0], None)", DTypeError, "eps: is None; a number is needed"),
            ("ops.layer_norm(wide, [1, 1], [1, 1], out=np.ones(3))", ShapeError, r"out: shape \(3,\)"),
            ("ops.layer_norm(wide, [1.0, 1.0], [1.0, 1.0], np.nan)", ValueError, "eps: is nan; 0 or more"),
        ],
        exact=False,
    ),
}
