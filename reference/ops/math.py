"""Elementwise math of nested lists.

An operand is a pair of the number of levels and the number of axes of a row (for a dense operand: None and the number
of its axes), followed by the nested lists.
"""

import math
import operator
from dataclasses import replace

from reference.case import cases
from reference.corners import STRUCTURES, VALUES, depths
from reference.draw import DTYPES, FLOATS
from reference.draw_tensors import dense, ragged, rows_for
from reference.dtypes import float_of, promoted
from reference.dual import value
from reference.reals import divide, exp, floating, log, sqrt, tanh
from reference.tensors import Dense, Ragged

__all__ = ["UNARY", "broadcast", "elementwise", "relu", "sigmoid"]


def broadcast(function, operands):
    """Apply a function to pairs (number of axes, nested lists), broadcasting lists of length 1."""
    depth = max(axes for axes, _ in operands)
    if depth == 0:
        return function(*[x for _, x in operands])
    sizes = {len(x) for axes, x in operands if axes == depth}
    (size,) = sizes if len(sizes) == 1 else sizes - {1}

    def entry(axes, x, i):
        return (axes, x) if axes < depth else (axes - 1, x[i if len(x) > 1 else 0])

    return [broadcast(function, [entry(axes, x, i) for axes, x in operands]) for i in range(size)]


def elementwise(function, *operands):
    """Apply a function to operands (levels, axes of a row, nested), which broadcast from the last axis.

    A number per row of a batch is used for the whole row.
    """
    widest = max((levels + 1 + axes for levels, axes, _ in operands if levels is not None), default=0)

    def lists(levels, axes, x):
        if levels is None:
            return axes, x
        if axes:
            return levels + 1 + axes, x
        return widest, wrapped(x, levels + 1, widest - levels - 1)

    return broadcast(function, [lists(*operand) for operand in operands])


def wrapped(x, depth, count):
    """Replace each number in nested lists by `count` nested lists of one."""
    if depth:
        return [wrapped(inner, depth - 1, count) for inner in x]
    for _ in range(count):
        x = [x]
    return x


def sigmoid(x):
    """Compute 1 / (1 + exp(-x))."""
    return 1 / (1 + exp(-x)) if x > 0 else exp(x) / (1 + exp(x))


def relu(x):
    """Compute the larger of x and 0; nan propagates, and has no derivative."""
    return x if x > 0 else math.nan if x != x else 0 if isinstance(x, int) else 0.0


UNARY = {
    "sigmoid": sigmoid,
    "tanh": tanh,
    "relu": relu,
    "exp": exp,
    "log": log,
    "sqrt": sqrt,
}


# -- cases -------------------------------------------------------------------------------------------------------------


NUMBERS = (*FLOATS, "int64", "int32")
EVERY = STRUCTURES | depths(4) | {*NUMBERS, "no levels", "rows of no width", "ties"}
USUAL = ("quarters", "any", "nan", "infinite")


def operands(source, count, dtypes=NUMBERS, flavours=USUAL):
    """Draw operands that broadcast: of one structure, of its first levels, dense; axes of length 1, or none."""
    first = ragged(source, dtypes=dtypes, flavours=flavours)
    if not source.integer(0, 3):
        first = dense(source, first.shape, dtypes, flavours)
    made = [beside(source, first, dtypes, flavours) for _ in range(count)]
    made[source.integer(0, count - 1)] = first
    return made


def beside(source, first, dtypes, flavours):
    """Draw an operand that aligns with another one."""
    form = source.choice(["same", "same", "weights", "outer", "row", "rows", "dense"])
    stretched = tuple(source.choice([1, size]) for size in first.row_shape)
    levels = first.num_levels
    if form == "row":
        return dense(source, stretched[source.integer(0, len(stretched)) :], dtypes, flavours)
    if form == "rows":
        return dense(source, (1, *stretched), dtypes, flavours)
    if not levels:
        return dense(source, (first.shape[0], *stretched), dtypes, flavours)
    if form == "dense":
        return dense(source, (len(first.nested), *(1,) * levels, *stretched), dtypes, flavours)
    kept = source.integer(1, levels) if form == "outer" else levels
    shape = {"same": first.row_shape, "weights": (), "outer": (*(1,) * (levels - kept), *stretched)}[form]
    return rows_for(source, first.offsets[:kept], dtypes, [shape], flavours)


def applied(function, dtype, *given):
    """Compute elementwise, by the oracle, with NumPy's rule of shapes."""
    nested = elementwise(function, *[described(x) for x in given])
    batch = max(given, key=lambda x: x.num_levels)
    if not batch.num_levels:
        return Dense(nested, broadcast_shape([x.shape for x in given]), dtype)
    width = max(x.num_levels + len(x.row_shape) for x in given if x.num_levels) - batch.num_levels
    axes = [x.row_shape if x.num_levels else x.shape for x in given]
    rows = [shape[max(0, len(shape) - width) :] for shape in axes]
    return batch.made(nested, row_shape=broadcast_shape(rows), dtype=dtype)


def described(x):
    """Return an operand in the form that the oracle takes."""
    return (x.num_levels, len(x.row_shape), x.nested) if isinstance(x, Ragged) else (None, len(x.shape), x.nested)


def broadcast_shape(shapes):
    """Return the shape to which several shapes broadcast."""
    longest = max(map(len, shapes))
    aligned = [(1,) * (longest - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(next((size for size in sizes if size != 1), 1) for sizes in zip(*aligned, strict=True))


# -- two operands --------------------------------------------------------------------------------------------------


def pairs(source):
    x, y = operands(source, 2)
    return {"x": x, "y": y}


BINARY = {"add": operator.add, "minus": operator.sub, "mul": operator.mul, "div": divide}


def binary(name):
    """Make the cases of an operator of two operands."""
    made = cases(EVERY | VALUES, exact=False, name=name)(pairs)

    @made.expected
    def _(x, y):
        dtype = promoted(x.dtype, y.dtype)
        return applied(BINARY[name], float_of(dtype) if name == "div" else dtype, x, y)


for _name in BINARY:
    binary(_name)


# -- one operand ---------------------------------------------------------------------------------------------------


def unary(name):
    """Make the cases of an operator of one operand."""

    def draw(source):
        return {"x": operands(source, 1)[0]}

    made = cases(EVERY | VALUES, exact=False, name=name)(draw)

    @made.expected
    def _(x):
        return applied(UNARY[name], x.dtype if name == "relu" else float_of(x.dtype), x)


for _name in UNARY:
    unary(_name)


# -- functions by their name ---------------------------------------------------------------------------------------

BY_NAME = {
    "negative": operator.neg,
    "absolute": abs,
    "square": lambda a: a * a,
    "maximum": lambda a, b: a if a >= b or a != a else b,
    "minimum": lambda a, b: a if a <= b or a != a else b,
}


@cases(EVERY | {"infinite"}, exact=False, walked="xs", name="elementwise")
def draw_by_name(source):
    name = source.choice(list(BY_NAME))
    count = 2 if name in ("maximum", "minimum") else 1
    return {"xs": operands(source, count, flavours=("quarters", "any", "infinite")), "ufunc": name}


@draw_by_name.expected
def _(xs, ufunc):
    return applied(BY_NAME[ufunc], promoted(*[x.dtype for x in xs]), *xs)


# -- selection, types, constants ----------------------------------------------------------------------------------


@cases(EVERY | VALUES, walked="x")
def draw_where(source):
    condition, x, y = operands(source, 3)
    chosen = condition.with_numbers([number > 0 for number in condition.numbers()])
    return {"condition": replace(chosen, dtype="bool"), "x": x, "y": y}


@draw_where.expected
def _(condition, x, y):
    return applied(lambda c, a, b: a if c else b, promoted(x.dtype, y.dtype), condition, x, y)


@cases(EVERY | {"uint8", "bool"}, exact=False)
def draw_cast(source):
    x = operands(source, 1, DTYPES, ("quarters", "any"))[0]
    signed = x.dtype not in ("uint8", "bool")  # negative numbers are undefined as uint8
    return {"x": x, "dtype": source.choice([dtype for dtype in DTYPES if not signed or dtype != "uint8"])}


@draw_cast.expected
def _(x, dtype):
    if dtype in FLOATS:
        return applied(floating, dtype, x)
    return applied(lambda number: (bool if dtype == "bool" else int)(value(number)), dtype, x)


@cases((EVERY | {"uint8", "bool"}) - {"ties"}, gradient=False)
def draw_stop_gradient(source):
    return {"x": operands(source, 1, DTYPES)[0]}


@draw_stop_gradient.expected
def _(x):
    return applied(lambda number: number, x.dtype, x)


@cases((EVERY | {"uint8", "bool"}) - {"ties"}, gradient=False)
def draw_full_like(source):
    x = operands(source, 1, DTYPES)[0]
    dtype, fill_value = source.choice([(None, 1), ("float32", 0.5), ("bool", True), ("int64", -3), ("float64", 2)])
    return {"x": x, "fill_value": fill_value, "dtype": dtype}


@draw_full_like.expected
def _(x, fill_value, dtype):
    kind = {"bool": bool, "float64": float, "float32": float}.get(dtype or x.dtype, int)
    return applied(lambda number: kind(fill_value), dtype or x.dtype, x)
