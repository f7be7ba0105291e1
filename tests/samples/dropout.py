"""Samples of dropout, with a Generator that returns the same numbers in every call."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LoDTensor
from reference.ops.dropout import dropout
from reference.ops.levels import each_at_level
from tests.helpers.draw import composite, sampled_from
from tests.samples import Samples, call
from tests.samples.common import batches, smooth_batches

SEED = 5


class Repeating(np.random.Generator):
    """Draws the same numbers in every call, so that all ways of running have the same mask."""

    def __init__(self):
        super().__init__(np.random.PCG64(0))

    def random(self, *args, **kwargs):
        return np.random.default_rng(SEED).random(*args, **kwargs)


@composite
def calls(draw, tensors):
    x, rate = draw(tensors), draw(sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
    x = x if draw(st.booleans()) else x.values
    return call(x, rate, draw(sampled_from([Repeating(), Repeating(), None])))


def expected(arguments):
    x, rate, rng = arguments["x"], arguments["rate"], arguments["rng"]
    values = x.values if isinstance(x, LoDTensor) else x
    if rng is None:
        return x.tolist()
    if rate == 1:
        made = np.zeros_like(values)
    else:
        draws = rng.random(values.shape, np.float32).reshape(-1).tolist()
        made = np.array(dropout(values.reshape(-1).tolist(), draws, rate)).reshape(values.shape)
    return each_at_level(made.tolist(), x.tolist(), x.num_levels) if isinstance(x, LoDTensor) else made.tolist()


COSTS = """
ops.dropout(w, 0.5, np.random.default_rng(0))
"""
SAMPLES = {
    "dropout": Samples(
        calls(batches(["f4", "f8", "f2"])),
        expected,
        calls(smooth_batches()),
        [
            ("nn.dropout(flat, 0.5, None)", DTypeError, "x: has dtype int64; floating-point numbers are needed"),
            ("nn.dropout(wide, 1.5, None)", ValueError, "rate: is 1.5; 0 .. 1 is valid"),
            ("nn.dropout(wide, float('nan'), None)", ValueError, "rate: is nan; 0 .. 1 is valid"),
            ("nn.dropout(wide, '1', None)", DTypeError, "rate: is '1'; a number is needed"),
            ("nn.dropout(wide, 0.5, 0)", DTypeError, "rng: is int; a numpy.random.Generator or None is needed"),
            ("nn.dropout(None, 0.5, None)", DTypeError, "x: is None"),
        ],
        exact=False,
    ),
}
