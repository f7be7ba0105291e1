"""Windows of rows, multiplied by a matrix or weighted column by column."""

import math

from reference.case import cases
from reference.corners import STRUCTURES, walks
from reference.draw import FLOATS, INTEGERS
from reference.draw_tensors import ROW_SHAPES, dense, level_of, ragged
from reference.dtypes import promoted
from reference.ops import window as oracle
from reference.ops.levels import each_at_level, sequences
from reference.tensors import fill, spread

FINITE = ("quarters", "any")
MUST = STRUCTURES | walks(3) | {*FLOATS, "int64", "nan", "rows of no axis", "rows of width 1", "rows of no width"}


def flat_rows(x):
    """Return a batch whose rows are lists of numbers."""
    return each_at_level([spread(row, len(x.row_shape)) for row in x.rows], x.nested, x.num_levels)


@cases(MUST, exact=False)
def sequence_conv(source):
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


@sequence_conv.expected
def _(x, filter, context_length, context_start, padding_data, level):
    start = -(context_length // 2) if context_start is None else context_start
    edge = None if padding_data is None else padding_data.nested
    weights, new_width = filter.nested, filter.shape[1]
    made = oracle.sequence_conv(
        flat_rows(x), weights, new_width, context_length, start, edge, x.level(level), x.num_levels
    )
    return x.made(made, row_shape=(new_width,), dtype=promoted(x.dtype, filter.dtype))


@cases(MUST | {"rows of two axes"}, exact=False)
def row_conv(source):
    x = ragged(source, 3, [*FLOATS, *INTEGERS], ROW_SHAPES)
    weights = dense(source, (source.integer(1, 4), *x.row_shape), FLOATS, FINITE)
    return {"x": x, "filter": weights, "level": level_of(source, x)}


@row_conv.expected
def _(x, filter, level):
    taps = [spread(row, len(x.row_shape)) for row in filter.nested]
    made = oracle.row_conv(flat_rows(x), taps, x.level(level), x.num_levels)
    rows = [fill(row, x.row_shape) for row in sequences(made, x.num_levels)]
    return x.made(each_at_level(rows, x.nested, x.num_levels), dtype=promoted(x.dtype, filter.dtype))
