"""Softmax, logarithms of sums of exponentials and running sums, of sequences and along an axis of values."""

from math import inf, nan

from reference.case import cases
from reference.corners import ROWS, STRUCTURES, depths, walks
from reference.draw import DTYPES, FLOATS
from reference.draw_tensors import level_of, ragged
from reference.dtypes import float_of
from reference.ops.columns import each_column, within
from reference.ops.levels import at_level, each_at_level, sequences
from reference.reals import add_up, exp, floating, log

__all__ = ["along_axis", "log_softmax", "sequence_cumsum", "sequence_logsumexp", "sequence_softmax", "softmax"]


def sequence_softmax(nested, level, num_levels, row_shape):
    """Divide exp(x - max) by the sum of these."""
    return within(softmax, nested, level, num_levels, row_shape)


def softmax(column):
    """Divide exp(x - max) by the sum of these, for a list of numbers."""
    column = [floating(x) for x in column]
    if any(x != x for x in column):
        return [add_up(column) * nan for _ in column]  # the result is nan, and so are its derivatives
    powers = [exp(x - max(column)) for x in column]
    total = add_up(powers)
    return [power / total for power in powers]


def log_softmax(column):
    """Compute the logarithm of the softmax of a list of numbers, also where it rounds to 0."""
    column = [floating(x) for x in column]
    if any(x != x for x in softmax(column)):
        return [add_up(column) * nan for _ in column]
    total = log(add_up(exp(x - max(column)) for x in column)) if column else 0.0
    return [x - max(column) - total for x in column]


def along_axis(function, nested, axis, shape):
    """Apply a function of a list of numbers along an axis of nested lists."""
    if axis:
        return [along_axis(function, one, axis - 1, shape[1:]) for one in nested]
    return each_column(function, nested, shape[1:])


def sequence_logsumexp(nested, level, num_levels, row_shape):
    """Compute the logarithm of the sum of exp(x)."""
    inner = num_levels - level - 1
    return at_level(lambda sequence: each_column(logsumexp, sequences(sequence, inner), row_shape), nested, level)


def logsumexp(column):
    column = [floating(x) for x in column]
    if any(x != x for x in column):
        return add_up(column) * nan
    most = max(column, default=-inf)
    if most in (inf, -inf):
        greatest = [x for x in column if x == most]
        return add_up(greatest) / len(greatest) if greatest else most
    return most + log(add_up(exp(x - most) for x in column))


def sequence_cumsum(nested, level, num_levels, row_shape):
    """Compute running sums."""
    return within(cumsum, nested, level, num_levels, row_shape)


def cumsum(column):
    return [add_up(column[1 : r + 1], column[0]) for r in range(len(column))]


# -- cases -------------------------------------------------------------------------------------------------------------


EVERY = STRUCTURES | ROWS | walks(4) | {*DTYPES, "ties"}


def with_level(source, *flavours):
    """Draw a batch, and a level of it."""
    x = ragged(source, flavours=("quarters", "any", "equal", *flavours))
    return {"x": x, "level": level_of(source, x)} if source.integer(0, 3) else {"x": x}


@cases(EVERY | {"infinite"}, exact=False)
def draw_sequence_softmax(source):
    return with_level(source, "infinite")


@draw_sequence_softmax.expected
def _(x, level=-1):
    nested = sequence_softmax(x.nested, x.level(level), x.num_levels, x.row_shape)
    return x.made(nested, dtype=float_of(x.dtype))


@cases(EVERY, exact=False)
def draw_sequence_logsumexp(source):
    return with_level(source)


@draw_sequence_logsumexp.expected
def _(x, level=-1):
    k = x.level(level)
    return x.made(sequence_logsumexp(x.nested, k, x.num_levels, x.row_shape), k, dtype=float_of(x.dtype))


@cases(EVERY | {"nan", "infinite"}, exact=False)
def draw_sequence_cumsum(source):
    return with_level(source, "nan", "infinite")


@draw_sequence_cumsum.expected
def _(x, level=-1):
    nested = sequence_cumsum(x.nested, x.level(level), x.num_levels, x.row_shape)
    wide = x.dtype if x.dtype.startswith("float") else "uint64" if x.dtype == "uint8" else "int64"
    return x.made(nested, dtype=wide)


NUMBERS = (*FLOATS, "int64", "int32")
ALONG = STRUCTURES | depths(4) | {*FLOATS, "no levels", "int64", "infinite", "rows of width 1"}


def of_rows(function, x, row_shape, dtype):
    """Replace each row by the result of a function."""
    made = [function(row) for row in x.rows]
    if x.num_levels:
        made = each_at_level(made, x.nested, x.num_levels)
    return x.made(made, row_shape=row_shape, dtype=dtype)


def loose(source, x):
    """Remove the levels of a tensor, in some cases."""
    return x.made(x.rows, 0) if source.integer(0, 3) == 0 else x


def with_axis(source):
    """Draw numbers, and an axis of their rows."""
    x = loose(source, ragged(source, 4, NUMBERS, [(1,), (3,), (2, 2)], ("quarters", "any", "infinite")))
    return {"x": x, "axis": source.choice([-1, len(x.row_shape)])}


def of_last_axis(function, x):
    """Apply a function along the last axis of the rows."""
    axis = len(x.row_shape) - 1
    return of_rows(lambda row: along_axis(function, row, axis, x.row_shape), x, x.row_shape, float_of(x.dtype))


@cases(ALONG, exact=False)
def draw_softmax(source):
    return with_axis(source)


@draw_softmax.expected
def _(x, axis):
    return of_last_axis(softmax, x)


@cases(ALONG, exact=False)
def draw_log_softmax(source):
    return with_axis(source)


@draw_log_softmax.expected
def _(x, axis):
    return of_last_axis(log_softmax, x)
