"""Samples of the operator that gathers by numbers, in the structure of the numbers."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LoDTensor
from reference.ops import pick as oracle
from tests.helpers.draw import DTYPES, ROW_SHAPES, composite, integers, lods, odd_forms, read_only, sampled_from
from tests.samples import Samples, call
from tests.samples.common import SEEDS
from tests.samples.expand import tame, tensors_of

PLAIN = [dtype for dtype in DTYPES if dtype.names is None]
FLOAT = [np.dtype("f8")]


@composite
def gather_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    levels = draw(integers(0, 2))
    x = draw(tensors_of(draw(integers(1, 5)), levels, dtypes, row_shapes))
    default = draw(sampled_from([None, [] if levels else 1]))
    if default == 1 and x.dtype.kind not in "iufc":
        default = None
    least, most = (-len(x), len(x) - 1) if default is None else (-3, len(x) + 3)
    random = np.random.default_rng(draw(SEEDS))
    if draw(st.booleans()):
        lod = draw(lods(1, 2, 4))
        numbers = random.integers(least, most + 1, lod.num_rows).astype(draw(sampled_from(["i8", "i4"])))
        return call(x, LoDTensor(read_only(numbers), lod), default)
    numbers = random.integers(least, most + 1, draw(integers(0, 5)))
    return call(x, draw(odd_forms(numbers)) if len(numbers) else numbers, default)


def filled(default, row_shape):
    """Make a row of one number."""
    return [filled(default, row_shape[1:])] * row_shape[0] if row_shape else default


def gathered(arguments):
    x, index, default = arguments["x"], arguments["index"], arguments["default"]
    if default == 1:
        default = filled(np.ones((), x.dtype).item(), x.shape[1:])
    nested = index.tolist() if isinstance(index, LoDTensor) else np.ravel(index).tolist()
    return oracle.gather_nested(x.tolist(), nested, getattr(index, "num_levels", 0), default)


SAMPLES = {
    "gather_nested": Samples(
        gather_calls(),
        gathered,
        gather_calls(FLOAT, [(), (2,), (0,)]).map(tame),
        [
            ("gather_nested(rows, [0, 5])", IndexError, "index: is 5 at position 1; there are 5 rows"),
            ("gather_nested(flat, [[0], [-4]])", IndexError, "index: is -4 at position 1; there are 3 sequences"),
            ("gather_nested(rows, [0.5])", DTypeError, "index: has dtype float64"),
            ("gather_nested(rows, [0], default='a')", DTypeError, "default: is 'a'; int64 cannot hold it"),
            ("gather_nested(flat, [0], default=0)", DTypeError, "default: is 0; x has levels"),
            ("gather_nested(None, [0])", DTypeError, "x: is None"),
        ],
    )
}
