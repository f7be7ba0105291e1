"""Samples of the replacement of nan."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError
from reference.ops import nans as oracle
from tests.helpers.draw import composite, sampled_from
from tests.samples import Samples, call
from tests.samples.common import batches, smooth_batches

NUMBERS = batches(["f8", "f4", "f2", "i8", "u1", "?"])


@composite
def calls(draw, drawn):
    x = draw(drawn)
    x = x if draw(st.booleans()) else x.values
    return draw(sampled_from([call(x), call(x, 2), call(x, -np.inf)]))


def filled(arguments):
    """Compute `expected`."""
    x = arguments["x"]
    return oracle.fill_nan(x.tolist(), float(arguments["value"]), x.ndim)


SAMPLES = {
    "fill_nan": Samples(
        calls(NUMBERS),
        filled,
        calls(smooth_batches()),
        [
            ("ops.fill_nan(flat, 'a')", DTypeError, "value: is 'a'; a number"),
            ("ops.fill_nan(flat, True)", DTypeError, "value: is True"),
            ("ops.fill_nan([['a']])", DTypeError, "x: .*"),
            ("ops.fill_nan(LoDTensor(np.zeros(5, complex), flat.lod))", DTypeError, "x: has dtype complex128"),
        ],
    ),
}
