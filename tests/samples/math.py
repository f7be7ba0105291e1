"""Elementwise math, types and constants."""

import math
import operator

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LoDError, LoDTensor, ShapeError
from lodcore.ops.elementwise.ufuncs import UFUNC_RULES
from reference.ops.math import UNARY, elementwise
from tests.helpers.draw import composite, read_only, sampled_from
from tests.samples import Samples, call
from tests.samples.common import batches, operand, operands, smooth_batches, smooth_values

FLOATS = ["f4", "f8"]
NUMBERS = ["f4", "f8", "i8", "i2"]
ANY = [*NUMBERS, "u1", "?"]


def smooth_operands(count, low=0.1, high=0.9):
    return operands(count, ["f8"], lambda seed, shape, _: smooth_values(seed, shape, low, high))


# -- two operands --------------------------------------------------------------------------------------------------


def divided(a, b):
    """Divide as floats do."""
    return a / b


def nonzero(seed, shape, dtype):
    """Make values for a divisor."""
    random = np.random.default_rng(seed)
    return (random.integers(1, 5, shape) * random.choice([-1, 1], shape)).astype(dtype)


def wrong(name):
    """List wrong calls of an operator of two operands."""
    return [
        (
            f"ops.{name}(flat, [1.0, 2.0, 3.0])",
            ShapeError,
            "y: has length 3 on axis 1, along which x is rag.*with_values.*per_sequence",
        ),
        (f"ops.{name}(flat, x)", LoDError, "y: has 2 levels; x has 1"),
        (f"ops.{name}(flat, array([[1, 2], [3], [4, 5]]))", LoDError, "sequence 1 of level 0 has length 1.*0"),
        (f"ops.{name}(flat, array([[1, 2], []]))", LoDError, "y: has 2 sequences at level 0; x has 3"),
        (f"ops.{name}(flat, np.ones(3))", ShapeError, "y: has length 3 on axis 1.*ragged"),
        (
            f"ops.{name}(flat, np.ones((5, 1)))",
            ShapeError,
            "y: has length 5 on axis 0; x has 3 sequences.*per_sequence",
        ),
        (f"ops.{name}(flat, np.ones((3, 5)))", ShapeError, "y: has length 5 on axis 1.*ragged.*with_values"),
        (f"ops.{name}(wide, np.ones((2, 1, 1)))", ShapeError, "y: has length 2 on axis 0; x has 3 sequences"),
        (f"ops.{name}(wide, np.ones((5, 2)))", ShapeError, "y: has length 5 on axis 1.*ragged.*with_values"),
        (f"ops.{name}(wide, np.ones((3, 1, 3)))", ShapeError, "y: has length 3 on axis 2; that of x is 2"),
        (f"ops.{name}(np.ones((1, 3, 1, 2)), wide)", ShapeError, "x: has 4 axes; y has 3"),
        (f"ops.{name}(x, array([[[1, 1]], [], [[3, 3]]]))", LoDError, "y: sequence 0 of level 0 has length 1.*2"),
        (f"ops.{name}(flat, [[1], [2, 3]])", ShapeError, "y.*uneven"),
        (f"ops.{name}(flat, None)", DTypeError, "y: is None"),
        (f"ops.{name}(flat, 'a')", DTypeError, "dtypes int64, str"),
        (f"ops.{name}(flat, objects)", DTypeError, "dtype object"),
        (f"ops.{name}(flat, masked)", DTypeError, "y: is a masked array"),
    ]


def binary(name, function, dtypes, draw=None):
    """Return the samples of an operator of two operands."""

    def expected(arguments):
        return elementwise(function, operand(arguments["x"]), operand(arguments["y"]))

    calls = (operands(2, dtypes) if draw is None else draw).map(lambda drawn: call(*drawn))
    smooth = smooth_operands(2).map(lambda drawn: call(*drawn))
    return Samples(calls, expected, smooth, wrong(name), exact=False)


COSTS = """
ops.elementwise([x, x], np.maximum)
lodcore.where(x > 1, x, 0.0)
ops.cast(x, "f4")
ops.full_like(x, 1)
"""
SAMPLES = {
    "add": binary("add", operator.add, [*NUMBERS, "u1"]),
    "minus": binary("minus", operator.sub, NUMBERS),
    "mul": binary("mul", operator.mul, [*NUMBERS, "u1"]),
    "div": binary("div", divided, [], operands(2, NUMBERS, nonzero)),
}

# -- one operand ---------------------------------------------------------------------------------------------------

POSITIVE = {"log", "sqrt"}


def positive(seed, shape, dtype):
    return abs(nonzero(seed, shape, dtype))


def unary(name):
    """Return the samples of an operator of one operand."""

    def expected(arguments):
        return elementwise(UNARY[name], operand(arguments["x"]))

    make = {"make": positive} if name in POSITIVE else {}
    dtypes = NUMBERS if name in ("relu", "log", "sqrt") else ANY
    calls = operands(1, dtypes, **make).map(lambda drawn: call(*drawn))
    smooth = smooth_operands(1, *((0.1, 2) if name in POSITIVE else (-2, 2))).map(lambda drawn: call(*drawn))
    errors = [
        (f"ops.{name}(None)", DTypeError, "x: is None"),
        (f"ops.{name}([[1], [2, 3]])", ShapeError, "x.*uneven"),
        (f"ops.{name}(np.array(['a']))", DTypeError, "<U1"),
    ]
    if name == "sigmoid":
        errors.append(("ops.sigmoid(np.ones(2, complex))", DTypeError, "sigmoid: dtypes complex128: real numbers"))
    if name == "relu":
        errors.append(
            ("ops.relu(np.zeros(2, 'M8[D]'))", DTypeError, r"relu: dtypes datetime64\[D\]: numbers are needed")
        )
    return Samples(calls, expected, smooth, errors, exact=name == "relu")


SAMPLES |= {name: unary(name) for name in UNARY}

# -- any ufunc -----------------------------------------------------------------------------------------------------

SAMPLED = {  # ufuncs, and their definitions
    np.negative: operator.neg,
    np.absolute: abs,
    np.square: lambda a: a * a,
    np.floor: lambda a: a if a != a else float(math.floor(a)),
    np.isnan: lambda a: a != a,
    np.maximum: lambda a, b: a if a >= b or a != a else b,
    np.minimum: lambda a, b: a if a <= b or a != a else b,
}
#: The range in which the derivatives of a ufunc can be measured, if not between 0.1 and 0.9.
DOMAINS = {"arccosh": (1.1, 2.0)}


@composite
def ufunc_calls(draw):
    ufunc = draw(sampled_from(list(SAMPLED)))
    return call(draw(operands(ufunc.nin, FLOATS)), ufunc)


@composite
def smooth_ufunc_calls(draw):
    ufunc = getattr(np, draw(sampled_from(sorted(UFUNC_RULES))))
    first, *others = draw(smooth_operands(ufunc.nin, *DOMAINS.get(ufunc.__name__, (0.1, 0.9))))
    return call([first, *map(apart, others)], ufunc)


def apart(x):
    """Move values away from those of another operand, which may be equal if they have one seed: there is a kink."""
    if isinstance(x, LoDTensor):
        return LoDTensor(read_only(x.values * 0.77), x.lod)
    return read_only(np.asarray(x * 0.77))


def expected_of_ufunc(arguments):
    return elementwise(SAMPLED[arguments["ufunc"]], *map(operand, arguments["xs"]))


SAMPLES["elementwise"] = Samples(
    ufunc_calls(),
    expected_of_ufunc,
    smooth_ufunc_calls(),
    [
        (
            "ops.elementwise([flat], np.frompyfunc(abs, 1, 1))",
            DTypeError,
            "the result has dtype object; Python objects",
        ),
        ("ops.elementwise([flat], np.divmod)", DTypeError, "ufunc.*divmod"),
        ("ops.elementwise([flat, flat], np.matmul)", DTypeError, "ufunc.*matmul"),
        ("ops.elementwise([flat], np.sum)", DTypeError, "ufunc.*function sum"),
        ("ops.elementwise([flat], np.add)", DTypeError, "xs: a list of 2 operands.*add"),
        ("ops.elementwise(flat, np.negative)", DTypeError, "xs: is LoDTensor; a list is needed"),
        ("ops.elementwise([flat, x], np.add)", LoDError, "y: has 2 levels; x has 1"),
        ("ops.elementwise([array([['a']])], np.negative)", DTypeError, "negative: dtypes <U1"),
    ],
    exact=False,
)

# -- selection, types, constants --------------------------------------------------------------------------------------


@composite
def choices(draw, make):
    condition, x, y = draw(make)
    rows = condition.values if isinstance(condition, LoDTensor) else np.asarray(condition)
    chosen = rows < np.median(rows) if rows.size and draw(st.booleans()) else rows > 0
    return call(LoDTensor(chosen, condition.lod) if isinstance(condition, LoDTensor) else chosen, x, y)


def expected_choice(arguments):
    return elementwise(lambda c, a, b: a if c else b, *map(operand, arguments.values()))


SAMPLES["where"] = Samples(
    choices(operands(3, FLOATS)),
    expected_choice,
    choices(smooth_operands(3)),
    [
        ("ops.where(flat, flat, x)", LoDError, "y: has 2 levels; condition has 1"),
        ("ops.where(flat, np.ones(3), 0)", ShapeError, "x: has length 3 on axis 1.*ragged"),
        ("ops.where(flat, None, 0)", DTypeError, "x: is None"),
    ],
)

SAMPLES["stop_gradient"] = Samples(
    operands(1, ANY).map(lambda drawn: call(drawn[0])),
    lambda arguments: elementwise(lambda a: a, operand(arguments["x"])),
    None,
    [
        ("ops.stop_gradient(None)", DTypeError, "x: is None"),
        ("ops.stop_gradient([[1], [2, 3], 4])", ShapeError, "stop_gradient"),
    ],
)

SAMPLES["cast"] = Samples(
    st.tuples(operands(1, ["i8", "i2", "u1", "?"]), st.sampled_from(["f4", "f8", "i4", ">f4", "?"])).map(
        lambda drawn: call(drawn[0][0], drawn[1])
    ),
    lambda arguments: elementwise(
        bool if arguments["dtype"] == "?" else float if "f" in arguments["dtype"] else int, operand(arguments["x"])
    ),
    st.tuples(smooth_batches(), st.sampled_from(["f8", "f4"])).map(lambda drawn: call(drawn[0], "f8")),
    [
        ("ops.cast(flat, object)", DTypeError, "dtype: is object"),
        ("ops.cast(flat, 'no such')", DTypeError, "dtype: .*no such"),
        ("ops.cast(None, float)", DTypeError, "x: is None"),
        ("ops.cast(flat, 'i4, O')", DTypeError, "dtype: is .*'O'"),
        ("ops.cast(flat, [('a', 'f4', 2), ('b', [('c', 'O')])])", DTypeError, "dtype: is .*'O'"),
        ("ops.full_like(flat, 0, 'i4, O')", DTypeError, "dtype: is .*'O'"),
    ],
)

SAMPLES["full_like"] = Samples(
    st.tuples(batches(ANY), st.sampled_from([(1, None), (0.5, "f4"), (True, "?"), (-3.0, "i8")])).map(
        lambda drawn: call(drawn[0], drawn[1][0], drawn[1][1])
    ),
    lambda arguments: elementwise(
        lambda a: (bool if np.dtype(arguments["dtype"] or arguments["x"].dtype).kind == "b" else float)(
            arguments["fill_value"]
        ),
        operand(arguments["x"]),
    ),
    None,
    [
        ("ops.full_like(flat, 1.5)", DTypeError, "fill_value: is 1.5; int64"),
        ("ops.full_like(flat, np.ones(5, int))", ShapeError, r"fill_value: has length 5 on axis 1.*with_values\(v\)"),
        ("ops.full_like(wide, np.ones((5, 2)))", ShapeError, r"fill_value: has length 5 on axis 1.*with_values\(v\)"),
        ("ops.full_like(wide, np.ones(3))", ShapeError, "fill_value: has length 3 on axis 2; that of x is 2"),
        ("ops.full_like(flat, 'a')", DTypeError, "fill_value: has dtype <U1"),
        ("ops.full_like(flat, -1, np.uint8)", DTypeError, "fill_value: is -1; uint8"),
        ("ops.full_like(flat, np.nan)", DTypeError, "fill_value: is nan"),
        ("ops.full_like(flat, 0, object)", DTypeError, "dtype: is object"),
    ],
)
