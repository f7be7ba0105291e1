"""Comparisons and logic."""

from lodcore import DTypeError, LoDError, ShapeError
from reference.ops.compare import COMPARE, LOGIC
from reference.ops.math import elementwise
from tests.samples import Samples, call
from tests.samples.common import operand, operands

DTYPES = ["f4", "f8", "i8", "i2", "u1", "?"]


def wrong(name):
    """List wrong calls of an operator of two operands."""
    return [
        (f"ops.{name}(flat, x)", LoDError, "y: has 2 levels; x has 1"),
        (f"ops.{name}(flat, array([[1, 2], [3], [4, 5]]))", LoDError, "sequence 1 of level 0 has length 1.*0"),
        (f"ops.{name}(flat, np.ones(3))", ShapeError, "y: has length 3 on axis 1.*ragged"),
        (f"ops.{name}(flat, np.ones((5, 1)))", ShapeError, "y: has length 5 on axis 0; x has 3 sequences"),
        (f"ops.{name}(flat, None)", DTypeError, "y: is None"),
        (f"ops.{name}(flat, [[1], [2, 3]])", ShapeError, "y.*uneven"),
        (f"ops.{name}(flat, masked)", DTypeError, "y: is a masked array"),
    ]


def samples(name, function, count):
    """Return the samples of one operator."""

    def expected(arguments):
        return elementwise(function, *map(operand, list(arguments.values())[:count]))

    errors = wrong(name) if count == 2 else [(f"ops.{name}(None)", DTypeError, "x: is None")]
    return Samples(operands(count, DTYPES).map(lambda drawn: call(*drawn)), expected, None, errors)


SAMPLES = {name: samples(name, function, 2) for name, function in COMPARE.items()}
SAMPLES |= {name: samples(name, LOGIC[name], 2) for name in ("logical_and", "logical_or")}
SAMPLES["logical_not"] = samples("logical_not", LOGIC["logical_not"], 1)
