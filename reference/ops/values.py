"""Axes of rows in another order and shape, positions of nonzero numbers, bits of sequences."""

from functools import reduce

from reference.case import cases
from reference.corners import STRUCTURES, depths, walks
from reference.draw import DTYPES, INTEGERS
from reference.draw_tensors import dense, level_of, ragged, rows_for
from reference.ops.levels import at_level, each_at_level, sequences
from reference.tensors import Dense
from reference.tensors import spread as listed

__all__ = ["argwhere", "picked", "sequence_bitwise", "shaped"]


def picked(row, places):
    """Select a number of a row by its position along each axis."""
    for place in places:
        row = row[place]
    return row


def shaped(numbers, shape):
    """Build a row of a shape from an iterator over its numbers."""
    return [shaped(numbers, shape[1:]) for _ in range(shape[0])] if shape else next(numbers)


def transpose_row(row, shape, axes):
    """Permute the axes of a row, counted from 0."""

    def built(order, places):
        if not order:
            return picked(row, [places[axis] for axis in range(len(shape))])
        return [built(order[1:], {**places, order[0]: at}) for at in range(shape[order[0]])]

    return built(axes, {})


def spread_row(row, depth):
    """List the numbers of a row."""
    return [number for one in row for number in spread_row(one, depth - 1)] if depth else [row]


def argwhere(nested, ndim):
    """List the positions of nonzero numbers."""
    if ndim == 0:
        return [[]] if nested else []
    return [[at, *rest] for at, entry in enumerate(nested) for rest in argwhere(entry, ndim - 1)]


BITS = {"and": lambda x, y: x & y, "or": lambda x, y: x | y, "xor": lambda x, y: x ^ y}


def sequence_bitwise(nested, name, level, num_levels, row_shape, nothing):
    """Combine the bits of all rows below each sequence of a level."""

    def both(x, y):
        return [both(a, b) for a, b in zip(x, y, strict=True)] if isinstance(x, list) else BITS[name](x, y)

    def combined(sequence):
        rows = sequences(sequence, num_levels - level - 1)
        return reduce(both, rows) if rows else shaped(iter(lambda: nothing, None), row_shape)

    return at_level(combined, nested, level)


# -- cases -------------------------------------------------------------------------------------------------------------


AXES = {(2, 3): (2, 1), (2, 1, 2): (3, 1, 2), (3,): (1,)}
FORMS = {(2, 3): (3, -1), (2, 1, 2): (4,), (3,): (1, 3)}


def drawn(source, table):
    """Draw a batch, or an array, with one of some row shapes."""
    offsets = ragged(source, 3).offsets if source.integer(0, 3) else []
    return rows_for(source, offsets, row_shapes=list(table), count=source.integer(0, 4))


def of_rows(x, rows, row_shape):
    """Replace the rows of x by rows of another shape."""
    return x.made(each_at_level(rows, x.nested, x.num_levels) if x.num_levels else rows, row_shape=tuple(row_shape))


@cases(depths(3) | {*DTYPES, "no levels", "rows of two axes"})
def draw_transpose_rows(source):
    x = drawn(source, AXES)
    return {"x": x, "axes": list(AXES[x.row_shape])}


@draw_transpose_rows.expected
def _(x, axes):
    order = [axis - 1 for axis in axes]
    rows = [transpose_row(row, x.row_shape, order) for row in x.rows]
    return of_rows(x, rows, [x.row_shape[axis] for axis in order])


@cases(depths(3) | {*DTYPES, "no levels", "rows of two axes"})
def draw_reshape_rows(source):
    x = drawn(source, FORMS)
    return {"x": x, "shape": list(FORMS[x.row_shape])}


@draw_reshape_rows.expected
def _(x, shape):
    shape = [2 if size == -1 else size for size in shape]
    rows = [shaped(iter(listed(row, len(x.row_shape))), shape) for row in x.rows]
    return of_rows(x, rows, shape)


@cases({*DTYPES})
def draw_reshape(source):
    x = rows_for(source, [], row_shapes=[(2, 3), (4,), ()], count=source.integer(0, 4))
    return {"x": x, "shape": [*x.row_shape, -1] if x.row_shape else [1, -1]}


@draw_reshape.expected
def _(x, shape):
    numbers = [number for row in x.rows for number in listed(row, len(x.row_shape))]
    return Dense(shaped(iter(numbers), [*shape[:-1], len(x.rows)]), (*shape[:-1], len(x.rows)), x.dtype)


@cases(STRUCTURES | depths(3) | {"bool", "int64", "float64"}, gradient=False)
def draw_argwhere(source):
    x = ragged(source, 3, flavours=("quarters",))
    return {"x": x.with_numbers([number * source.integer(0, 1) for number in x.numbers()]) if x.dtype != "bool" else x}


@draw_argwhere.expected
def _(x):
    ndim = 1 + x.num_levels + len(x.row_shape)
    found = argwhere(x.nested, ndim)
    return Dense(found, (len(found), ndim), "int64")


@cases(STRUCTURES | walks(3) | set(INTEGERS), gradient=False)
def draw_sequence_bitwise(source):
    x = ragged(source, 3, INTEGERS)
    return {"x": x, "name": source.choice(["and", "or", "xor"]), "level": level_of(source, x)}


@draw_sequence_bitwise.expected
def _(x, name, level):
    nothing = (255 if x.dtype == "uint8" else -1) if name == "and" else 0
    k = x.level(level)
    return x.made(sequence_bitwise(x.nested, name, k, x.num_levels, x.row_shape, nothing), k)


@cases({"float64", "int64"})
def draw_spread(source):
    count = source.integer(0, 4)
    x = dense(source, (count, 1), ["float64", "float32", "int64"])
    return {"x": x, "y": dense(source, (count, 3), ["float64"])}


@draw_spread.expected
def _(x, y):
    return Dense([[row[0]] * 3 for row in x.nested], y.shape, x.dtype)
