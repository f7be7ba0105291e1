"""Samples of the operator for NumPy's functions on dense arrays; NumPy itself is the oracle."""

import numpy as np

from lodcore import DTypeError, LoDError, ShapeError
from tests.helpers.draw import composite, integers, read_only, sampled_from
from tests.helpers.numpy_calls import OTHERS, SMOOTH
from tests.samples import Samples, call
from tests.samples.common import SEEDS, smooth_values

TABLE = {(one.name, repr(one.options)): one for one in [*SMOOTH, *OTHERS]}


@composite
def numpy_calls(draw, table, dtypes):
    one = table[draw(integers(0, len(table) - 1))]
    seed, dtype = draw(SEEDS), draw(sampled_from(dtypes))
    xs = [
        np.asarray(smooth_values(seed + j, shape), dtype) if isinstance(shape, tuple) else shape
        for j, shape in enumerate(one.shapes)
    ]
    return call([read_only(x.copy()) for x in xs], one.name, one.options)


def expected(arguments):
    found = TABLE[arguments["name"], repr(arguments["options"])].numpy(*arguments["operands"])
    return tuple(np.asarray(one).tolist() for one in found) if type(found) is tuple else np.asarray(found).tolist()


COSTS = """
ops.numpy_call([w.values], "transpose", {"axes": (1, 0)})
"""
SAMPLES = {
    "numpy_call": Samples(
        numpy_calls([*SMOOTH, *OTHERS], ["f8", "f4"]),
        expected,
        numpy_calls(SMOOTH, ["f8"]),
        [
            ("ops.numpy_call([np.ones(3)], 'sine', {})", ValueError, "name: is 'sine'; one of 'transpose'"),
            ("ops.numpy_call(np.ones(3), 'tile', {'reps': (2,)})", DTypeError, "operands: is ndarray; a list"),
            ("ops.numpy_call([flat], 'tile', {'reps': (2,)})", LoDError, "numpy.tile: operand 0: has 1 level"),
            ("ops.numpy_call([np.ones((2, 3))], 'linalg.inv', {})", ShapeError, "linalg.inv: a: .* square ones"),
            ("ops.numpy_call([None], 'linalg.inv', {})", DTypeError, "operand 0: is None"),
            ("ops.numpy_call([np.ones(2)], 'tile', {'rep': 2})", DTypeError, "^numpy.tile: got an unexpected keyword"),
            ("ops.numpy_call([np.ones(2)] * 2, 'tile', {'reps': (2,)})", DTypeError, "numpy.tile: got multiple values"),
            ("ops.numpy_call([np.ones(2)], 'repeat', {'repeats': 2, 'axis': 5})", ShapeError, "^numpy.repeat: "),
        ],
        exact=False,
    )
}
