"""Samples of windows that end at each row."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError
from reference.ops import rolling as oracle
from tests.helpers.draw import composite, integers, sampled_from
from tests.samples import Samples, call
from tests.samples.common import batches, full_batches
from tests.samples.sort import by

POOL_TYPES = ["sum", "mean", "max", "min", "var", "std", "median"]


@composite
def calls(draw, drawn, least=(None, 0, 1, 2, 9, 2**70)):
    x, size, pool_type = (
        draw(drawn),
        draw(sampled_from([1, 2, 3, 50, np.int8(2), 2**70])),
        draw(sampled_from(POOL_TYPES)),
    )
    level, fewest = draw(integers(-x.num_levels, x.num_levels - 1)), draw(sampled_from(least))
    ddof = draw(sampled_from([0, 1])) if least != (1,) else 0
    return draw(
        st.sampled_from([call(x, size, pool_type, fewest), call(x, size, pool_type, fewest, ddof, level=level)])
    )


COSTS = """
lodcore.sequence_rolling(x, n)
lodcore.sequence_rolling(x, n // 2, "max", min_periods=1)
"""
SAMPLES = {
    "sequence_rolling": Samples(
        calls(batches(["f8", "f4", "i8", "u1", "?"])),
        by(oracle.sequence_rolling, "size", "pool_type", "min_periods", "ddof"),
        calls(full_batches([(), (2,)]), (1,)),
        [
            ("sequence_rolling(flat, 0)", ValueError, "size: is 0; 1 or more"),
            ("sequence_rolling(flat, 1.5)", DTypeError, "size: is 1.5"),
            ("sequence_rolling(flat, 2, 'mode')", ValueError, "pool_type: is 'mode'; one of"),
            ("sequence_rolling(flat, 2, min_periods=-1)", ValueError, "min_periods: is -1; 0 or more"),
            ("sequence_rolling(flat, 2, ddof='a')", DTypeError, "ddof: is 'a'"),
            ("sequence_rolling([['a']], 2)", DTypeError, "x: has dtype <U1"),
            ("sequence_rolling(flat, 2, level=1)", LevelError, "level: is 1; there is 1 level"),
        ],
        exact=False,
    ),
}
