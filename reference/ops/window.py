"""Windows of the rows of a sequence."""

import math

from reference.case import cases
from reference.corners import STRUCTURES, walks
from reference.draw import FLOATS, INTEGERS
from reference.draw_tensors import ROW_SHAPES, dense, level_of, ragged
from reference.dtypes import promoted
from reference.ops.levels import each_at_level, sequences
from reference.reals import add_up
from reference.tensors import fill, spread

__all__ = ["of_rows", "row_conv", "sequence_conv"]


def of_rows(function, nested, level, num_levels):
    """Replace the rows of each sequence of a level by the results of a function of them, one row per row."""
    parts = [function(sequences(sequence, num_levels - level - 1)) for sequence in sequences(nested, level)]
    return each_at_level([row for part in parts for row in part], nested, num_levels)


def sequence_conv(nested, filter, new_width, length, start, padding, level, num_levels):
    """Multiply the window around each row (a list) by a matrix."""
    before = max(0, -start)

    def row_at(rows, at):
        if 0 <= at < len(rows):
            return rows[at]
        if padding is None:
            return [0.0] * (len(filter) // length)
        return padding[before + at] if at < 0 else padding[before + at - len(rows)]

    def convolve(rows):
        windows = [[cell for j in range(length) for cell in row_at(rows, t + start + j)] for t in range(len(rows))]
        return [[add_up(w[i] * filter[i][c] for i in range(len(w))) for c in range(new_width)] for w in windows]

    return of_rows(convolve, nested, level, num_levels)


def row_conv(nested, filter, level, num_levels):
    """Sum each row (a list) and those after it, weighted column by column."""

    def convolve(rows):
        found = [[(rows[t + j], filter[j]) for j in range(min(len(filter), len(rows) - t))] for t in range(len(rows))]
        return [[add_up(row[c] * taps[c] for row, taps in pairs) for c in range(len(rows[0]))] for pairs in found]

    return of_rows(convolve, nested, level, num_levels)


# -- cases -------------------------------------------------------------------------------------------------------------


FINITE = ("quarters", "any")
MUST = STRUCTURES | walks(3) | {*FLOATS, "int64", "nan", "rows of no axis", "rows of width 1", "rows of no width"}


def flat_rows(x):
    """Return a batch whose rows are lists of numbers."""
    return each_at_level([spread(row, len(x.row_shape)) for row in x.rows], x.nested, x.num_levels)


@cases(MUST, exact=False)
def draw_sequence_conv(source):
    x = ragged(source, 3, [*FLOATS, *INTEGERS], [(), (1,), (3,), (0,)])
    width, length = math.prod(x.row_shape), source.integer(1, 4)
    start = source.choice([None, source.integer(-5, 5)])
    first = -(length // 2) if start is None else start
    weights = dense(source, (length * width, source.choice([1, 2, 3, 0])), FLOATS, FINITE)
    edge = dense(source, (max(0, -first) + max(0, first + length - 1), width), [weights.dtype], FINITE)
    return {
        "x": x,
        "filter": weights,
        "context_length": length,
        "context_start": start,
        "padding_data": source.choice([None, edge]),
        "level": level_of(source, x),
    }


@draw_sequence_conv.expected
def _(x, filter, context_length, context_start, padding_data, level):
    start = -(context_length // 2) if context_start is None else context_start
    edge = None if padding_data is None else padding_data.nested
    weights, new_width = filter.nested, filter.shape[1]
    made = sequence_conv(flat_rows(x), weights, new_width, context_length, start, edge, x.level(level), x.num_levels)
    return x.made(made, row_shape=(new_width,), dtype=promoted(x.dtype, filter.dtype))


@cases(MUST | {"rows of two axes"}, exact=False)
def draw_row_conv(source):
    x = ragged(source, 3, [*FLOATS, *INTEGERS], ROW_SHAPES)
    weights = dense(source, (source.integer(1, 4), *x.row_shape), FLOATS, FINITE)
    return {"x": x, "filter": weights, "level": level_of(source, x)}


@draw_row_conv.expected
def _(x, filter, level):
    taps = [spread(row, len(x.row_shape)) for row in filter.nested]
    made = row_conv(flat_rows(x), taps, x.level(level), x.num_levels)
    rows = [fill(row, x.row_shape) for row in sequences(made, x.num_levels)]
    return x.made(each_at_level(rows, x.nested, x.num_levels), dtype=promoted(x.dtype, filter.dtype))
