"""Products of matrices, and the loss of rows of numbers."""

from reference.case import cases
from reference.corners import STRUCTURES, depths
from reference.draw import DTYPES, FLOATS
from reference.draw_tensors import dense, level_of, levels_below, ragged, rows_for
from reference.dtypes import float_of, promoted
from reference.ops.levels import at_level, each_at_level, sequences
from reference.ops.reduce_values import REDUCTIONS, reduce_axes
from reference.ops.softmax import loose, of_rows, softmax
from reference.reals import add_up, divide, log
from reference.tensors import Dense

__all__ = ["cross_entropy", "product", "sequence_matmul"]


def product(row, matrix):
    """Multiply a row by a matrix, or by a column."""
    if matrix and not isinstance(matrix[0], list):
        return add_up(a * b for a, b in zip(row, matrix, strict=True))
    width = len(matrix[0]) if matrix else 0
    return [add_up(row[k] * matrix[k][c] for k in range(len(row))) for c in range(width)]


def sequence_matmul(x, y, transpose_y, level, width):
    """Multiply the rows of x, sequence by sequence of a level, by those of y; both are pairs (levels, nested)."""
    following = iter(sequences(y[1], level))

    def multiplied(sequence):
        rows = sequences(next(following), y[0] - 1 - level)

        def row_of_products(row):
            if transpose_y:
                return [add_up(a * b for a, b in zip(row, other, strict=True)) for other in rows]
            return [add_up(a * other[c] for a, other in zip(row, rows, strict=True)) for c in range(width)]

        return at_level(row_of_products, sequence, x[0] - (1 if transpose_y else 2) - level)

    return at_level(multiplied, x[1], level)


def cross_entropy(row, label, label_smoothing=0.0):
    """Compute the loss of a row of logits; label smoothing distributes a part of the target over all classes."""
    logs = [log(x) for x in softmax(row)]
    if not label_smoothing:
        return -logs[label]
    return (label_smoothing - 1) * logs[label] - divide(label_smoothing, len(row)) * add_up(logs)


# -- cases -------------------------------------------------------------------------------------------------------------


NUMBERS = (*FLOATS, "int64", "int32")
EVERY = STRUCTURES | depths(4) | {*FLOATS, "no levels"}
FINITE = ("quarters", "any")


@cases(EVERY | {"int64", "rows of no width", "rows of two axes", "nan"}, exact=False)
def draw_matmul(source):
    inner, outer = source.integer(0, 3), source.integer(0, 3)
    x = loose(source, ragged(source, 4, NUMBERS, [(inner,), (inner,), (2, inner)]))
    y = dense(source, source.choice([(inner, outer), (inner,)]), NUMBERS, FINITE)
    return {"x": x, "y": y}


@draw_matmul.expected
def _(x, y):
    dtype = promoted(x.dtype, y.dtype)

    def multiplied(row):
        if len(y.shape) == 1:
            return dot(row, y.nested)
        return [dot(row, [line[c] for line in y.nested]) for c in range(y.shape[1])]

    def dot(row, column):
        return add_up((a * b for a, b in zip(row, column, strict=True)), 0.0 if dtype in FLOATS else 0)

    deep = len(x.row_shape) == 2
    shape = (*x.row_shape[:-1], *y.shape[1:])
    return of_rows(lambda row: [multiplied(one) for one in row] if deep else multiplied(row), x, shape, dtype)


@cases(STRUCTURES | depths(3) | {*FLOATS, "int64"}, exact=False, walked="y")
def draw_sequence_matmul(source):
    width, transpose_y = source.integer(0, 3), bool(source.integer(0, 1))
    y = ragged(source, 3, NUMBERS, [(width,)], FINITE)
    level = level_of(source, y)
    k = y.level(level)
    found = sequences(y.nested, k)
    below = levels_below(source, len(found), source.integer(1, 2), 2)
    offsets = [*y.offsets[:k], *below]
    if not transpose_y:
        bounds = list(range(len(found) + 1))
        for one in below:
            bounds = [one[at] for at in bounds]
        counts = [len(sequences(sequence, y.num_levels - 1 - k)) for sequence in found]
        ends = [0]
        for count, start, stop in zip(counts, bounds[:-1], bounds[1:], strict=True):
            for _ in range(stop - start):
                ends.append(ends[-1] + count)
        offsets.append(ends)
    x = rows_for(source, offsets, NUMBERS, [(width,) if transpose_y else ()], FINITE)
    return {"x": x, "y": y, "transpose_y": transpose_y, "level": level}


@draw_sequence_matmul.expected
def _(x, y, transpose_y, level):
    width = y.row_shape[0]
    made = sequence_matmul((x.num_levels, x.nested), (y.num_levels, y.nested), transpose_y, y.level(level), width)
    dtype = promoted(x.dtype, y.dtype)
    if transpose_y:
        return x.made(made, x.num_levels + 1, (), dtype)
    return x.made(made, x.num_levels - 1, (width,), dtype)


@cases(EVERY, exact=False, walked="logits")
def draw_cross_entropy(source):
    width = source.integer(1, 4)
    x = loose(source, ragged(source, 4, FLOATS, [(width,)], FINITE))
    shape = source.choice([(), (1,)])
    labels = rows_for(source, x.offsets if source.integer(0, 1) else [], ["int64"], [shape], count=len(x.rows))
    return {
        "logits": x,
        "labels": labels.with_numbers(source.integers(len(x.rows), 0, width - 1)),
        "label_smoothing": source.choice([0.0, 0.25, 1.0]),
    }


@draw_cross_entropy.expected
def _(logits, labels, label_smoothing):
    pairs = zip(logits.rows, labels.numbers(), strict=True)
    found = [cross_entropy(row, label, label_smoothing) for row, label in pairs]
    levels = next((x for x in (logits, labels) if x.num_levels), logits)
    if levels.num_levels:
        found = each_at_level(found, levels.nested, levels.num_levels)
    return levels.made(found, row_shape=(), dtype=logits.dtype)


@cases(EVERY | {"int64", "uint8", "bool", "nan", "ties", "rows of no width"}, exact=False)
def draw_reduce_values(source):
    name = source.choice(list(REDUCTIONS))
    x = loose(source, ragged(source, 4, DTYPES, [(), (1,), (3,), (2, 2), (0,)]))
    axes = [axis for axis in range(len(x.shape)) if source.integer(0, 1)]
    if name.startswith("arg"):
        axes = [source.choice(range(len(x.shape)))]
    if name in ("max", "min", "argmax", "argmin") and 0 in [x.shape[axis] for axis in axes]:
        name = "sum"  # an empty array has no extreme
    return {"x": x, "name": name, "axes": axes, "keepdims": source.choice([False, True])}


@draw_reduce_values.expected
def _(x, name, axes, keepdims):
    made = reduce_axes(lambda numbers: REDUCTIONS[name](numbers, None), [x.rows], x.shape, axes, keepdims)
    dtype = "bool" if name in ("any", "all") else "int64" if name.startswith("arg") else x.dtype
    if name == "mean":
        dtype = float_of(dtype)
    elif name in ("sum", "prod") and x.dtype not in FLOATS:
        dtype = "uint64" if x.dtype == "uint8" else "int64"
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape) if keepdims or axis not in axes)
    if 0 in axes or not x.num_levels:
        return Dense(made, shape, dtype)
    return x.made(each_at_level(made, x.nested, x.num_levels), row_shape=shape[1:], dtype=dtype)
