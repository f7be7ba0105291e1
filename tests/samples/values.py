"""Samples of the operators on the axes of rows, of positions, and of bits."""

import numpy as np

from lodcore import DTypeError, LevelError, LoDError, LoDTensor, ShapeError
from reference.ops import values as oracle
from reference.ops.levels import each_at_level, sequences
from tests.helpers.agree import from_the_first
from tests.helpers.draw import DTYPES, composite, integers, lods, read_only, sampled_from, values
from tests.samples import Samples, call
from tests.samples.common import SEEDS, batches, operands, small_values, smooth_values

PLAIN = [dtype for dtype in DTYPES if dtype.names is None]
SHAPES = [(2, 3), (3,), (2, 1, 2), (), (0, 2)]
ORDERS = {(2, 3): [(2, 1), (1, 2)], (3,): [(1,)], (2, 1, 2): [(3, 1, 2), (2, 3, 1)], (): [()], (0, 2): [(2, 1)]}
FORMS = {
    (2, 3): [(6,), (3, 2), (-1,), (3, -1)],
    (3,): [(3, 1), (-1,), (1, 3)],
    (2, 1, 2): [(4,), (2, -1)],
    (): [(1,), (), (-1, 1)],
    (0, 2): [(0,), (2, 0), (3, 0, 1)],
}


@composite
def row_calls(draw, table, smooth=False):
    shape = draw(sampled_from(SHAPES[:3] if smooth else SHAPES))
    lod = draw(lods(0, 3, 5))
    rows = smooth_values(draw(SEEDS), (lod.num_rows, *shape)) if smooth else draw(values(lod.num_rows, PLAIN, [shape]))
    return call(LoDTensor(rows, lod) if lod.num_levels else rows, draw(sampled_from(table[shape])))


def nested_rows(x, rows):
    """Replace the rows of x."""
    return each_at_level(rows, x.tolist(), x.num_levels) if isinstance(x, LoDTensor) else rows


def rows_of(x):
    return sequences(x.tolist(), x.num_levels) if isinstance(x, LoDTensor) else x.tolist()


def shape_of(x):
    return (x.values if isinstance(x, LoDTensor) else x).shape[1:]


def transposed(arguments):
    x, axes = arguments["x"], [axis - 1 for axis in arguments["axes"]]
    return nested_rows(x, [oracle.transpose_row(row, shape_of(x), axes) for row in rows_of(x)])


def reshaped(arguments):
    x, shape = arguments["x"], list(arguments["shape"])
    count = int(np.prod(shape_of(x)))
    if -1 in shape:
        shape[shape.index(-1)] = count // -int(np.prod(shape))
    numbers = [iter(oracle.spread_row(row, len(shape_of(x)))) for row in rows_of(x)]
    return nested_rows(x, [oracle.shaped(one, shape) for one in numbers])


WHOLE = {
    (2, 3): [[3, 2], [-1], [6], [1, 2, -1, 3]],
    (4,): [[2, 2], [-1, 1], [4]],
    (2, 1, 3): [[6], [-1, 2]],
    (): [[], [1, 1], [-1]],
    (0, 2): [[0], [2, 0], [0, 5], [-1, 2]],
}


@composite
def whole_calls(draw, smooth=False):
    shape = draw(sampled_from([(2, 3), (4,), (2, 1, 3)] if smooth else list(WHOLE)))
    x = (
        smooth_values(draw(SEEDS), shape)
        if smooth
        else small_values(draw(SEEDS), shape, draw(sampled_from(["?", "i8", "u1", "f4", "f8"])))
    )
    return call(read_only(x), draw(sampled_from(WHOLE[shape])))


def whole(arguments):
    x, shape = arguments["x"], list(arguments["shape"])
    if -1 in shape:
        shape[shape.index(-1)] = x.size // -int(np.prod(shape))
    return oracle.shaped(iter(oracle.spread_row(x.tolist(), x.ndim)), shape)


@composite
def sparse(draw, dtypes=("?", "i8", "u1", "f4", "f8", "c8")):
    lod = draw(lods(0, 3, 5))
    shape = (lod.num_rows, *draw(sampled_from([(), (3,), (2, 2), (0,)])))
    dtype = draw(sampled_from(dtypes))
    rows = read_only(np.random.default_rng(draw(SEEDS)).integers(0, 2, shape).astype(dtype))
    if draw(integers(0, 8)) == 0:
        return call(np.array(draw(integers(0, 1))).astype(dtype))
    return call(LoDTensor(rows, lod) if lod.num_levels else rows)


@composite
def bit_calls(draw):
    x = draw(batches(["i8", "u1", "i2", "?", "u4"]))
    return call(x, draw(sampled_from(["and", "or", "xor"])), draw(integers(-x.num_levels, x.num_levels - 1)))


def combined(arguments):
    x, name = arguments["x"], arguments["name"]
    level = from_the_first(arguments["level"], x.lod)
    nothing = np.array(-1 if name == "and" else 0).astype(x.dtype).item()
    return oracle.sequence_bitwise(x.tolist(), name, level, x.num_levels, shape_of(x), nothing)


def spreads(draw_from):
    return draw_from.map(lambda drawn: call(*drawn))


def together(arguments):
    """Broadcast x to the shape of x + 0 * y."""
    x, y = arguments["x"], arguments["y"]
    shape = np.zeros_like(x, bool) | np.zeros_like(y, bool)
    if not isinstance(x, LoDTensor):
        x = np.asarray(x)
    one = (
        LoDTensor(np.ones(shape.values.shape, x.dtype), shape.lod)
        if isinstance(shape, LoDTensor)
        else np.ones_like(shape, x.dtype)
    )
    return (one * x).tolist()


COSTS = """
ops.sequence_bitwise(i, "xor")
ops.spread(x, x)
ops.reshape(v, (-1, 1))
ops.reshape_rows(w, (2, 2))
ops.transpose_rows(ops.reshape_rows(w, (2, 2)), (2, 1))
"""
SAMPLES = {
    "transpose_rows": Samples(
        row_calls(ORDERS),
        transposed,
        row_calls(ORDERS, True),
        [
            ("ops.transpose_rows(wide, (0, 1))", ShapeError, r"axes: are \(0, 1\); each of 1 .. 1"),
            ("ops.transpose_rows(wide, (1.0,))", DTypeError, r"axes\[0\]: is 1.0"),
            ("ops.transpose_rows(wide, 1)", DTypeError, "axes: is int"),
            ("ops.transpose_rows(wide, (2,))", ShapeError, r"axes: are \(2,\); each of 1 \.\. 1"),
        ],
    ),
    "reshape_rows": Samples(
        row_calls(FORMS),
        reshaped,
        row_calls(FORMS, True),
        [
            ("ops.reshape_rows(wide, (3,))", ShapeError, r"shape: is \(3,\); a row has shape \(2,\), 2 values"),
            ("ops.reshape_rows(np.array(1.0), (1,))", ShapeError, "x: is a number; rows are needed"),
            ("ops.reshape_rows(wide, (-1, -1))", ShapeError, "-1 once"),
            ("ops.reshape_rows(wide, (-1, 3))", ShapeError, r"shape: is \(-1, 3\)"),
            ("ops.reshape_rows(wide, ('a',))", DTypeError, r"shape\[0\]: is 'a'"),
            ("ops.reshape_rows(3, ())", ShapeError, "x: is a number"),
            ("ops.reshape_rows(wide, (-2, -1))", ShapeError, r"shape: is \(-2, -1\)"),
            (
                "ops.reshape_rows(LoDTensor.from_lengths(np.ones((1, 6)), [1]), (-2, -3))",
                ShapeError,
                r"shape: is \(-2, -3\)",
            ),
            ("ops.reshape_rows(wide, (-2,))", ShapeError, r"shape: is \(-2,\)"),
        ],
    ),
    "reshape": Samples(
        whole_calls(),
        whole,
        whole_calls(True),
        [
            ("ops.reshape(rows, [7])", ShapeError, r"shape: is \(7,\); x has shape"),
            ("ops.reshape(rows, [-1, -1])", ShapeError, "-1 once"),
            ("ops.reshape(rows, [-2])", ShapeError, "-1 once"),
            ("ops.reshape(rows, [0.5])", DTypeError, r"shape\[0\]: is 0.5"),
            ("ops.reshape(rows, 3)", DTypeError, "shape: is int"),
            ("ops.reshape(x, [-1])", LoDError, "x: has 2 levels"),
        ],
    ),
    "argwhere": Samples(
        sparse(),
        lambda arguments: oracle.argwhere(arguments["x"].tolist(), arguments["x"].ndim),
        None,
        [
            ("ops.argwhere(array([['a']]))", DTypeError, "x: has dtype <U1; numbers or bool"),
            ("ops.argwhere(None)", DTypeError, "x: is None"),
        ],
    ),
    "sequence_bitwise": Samples(
        bit_calls(),
        combined,
        None,
        [
            ("ops.sequence_bitwise(flat, 'nor')", ValueError, "name: is 'nor'; one of 'and'"),
            ("ops.sequence_bitwise(wide, 'or')", DTypeError, "x: has dtype float64; integers or bool"),
            ("ops.sequence_bitwise(flat, 'or', 1)", LevelError, "level: is 1"),
        ],
    ),
    "spread": Samples(
        spreads(operands(2, ["f4", "f8", "i8", "i2"], lambda *given: np.abs(small_values(*given, nans=False)) + 1)),
        together,
        spreads(operands(2, ["f8"], lambda seed, shape, _: smooth_values(seed, shape))),
        [
            ("ops.spread(flat, x)", LoDError, "y: has 2 levels; x has 1"),
            ("ops.spread(None, x)", DTypeError, "x: is None"),
        ],
    ),
}
