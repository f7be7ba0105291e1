"""Variances and standard deviations of sequences; rows are numbers, or nested lists of numbers."""

import math

from reference.case import cases
from reference.corners import ROWS, STRUCTURES, walks
from reference.draw import DTYPES
from reference.draw_tensors import level_of, ragged
from reference.dtypes import float_of
from reference.ops.columns import each_column
from reference.ops.levels import each_at_level, sequences
from reference.reals import add_up, sqrt

__all__ = ["sequence_std", "sequence_var"]


def variance(column, ddof):
    """Compute the mean of the squared distances from the mean."""
    left = len(column) - ddof
    if left <= 0 or not column:
        return math.nan
    mean = add_up(column, 0.0) / len(column)
    return add_up([(number - mean) * (number - mean) for number in column], 0.0) / left


def deviation(column, ddof):
    """Compute the square root of a variance; its derivative is 0 at 0."""
    found = variance(column, ddof)
    return sqrt(found) if found != 0 else found * 0.0


def one_row(function, nested, ddof, level, num_levels, row_shape):
    """Replace each sequence of a level by a row that a function computes from its columns."""
    below = [sequences(one, num_levels - level - 1) for one in sequences(nested, level)]
    found = [each_column(lambda column: [function(column, ddof)], rows, row_shape)[0] for rows in below]
    return each_at_level(found, nested, level)


def sequence_var(nested, ddof, level, num_levels, row_shape):
    """Compute the variance below each sequence of a level."""
    return one_row(variance, nested, ddof, level, num_levels, row_shape)


def sequence_std(nested, ddof, level, num_levels, row_shape):
    """Compute the standard deviation below each sequence of a level."""
    return one_row(deviation, nested, ddof, level, num_levels, row_shape)


# -- cases -------------------------------------------------------------------------------------------------------------


EVERY = STRUCTURES | ROWS | walks(4) | {*DTYPES, "nan", "ties"}


def arguments(source):
    x = ragged(source)
    return {"x": x, "ddof": source.choice([0, 1, 0.5]), "level": level_of(source, x)}


@cases(EVERY, exact=False)
def draw_sequence_var(source):
    return arguments(source)


@draw_sequence_var.expected
def _(x, ddof, level):
    at = x.level(level)
    return x.made(sequence_var(x.nested, ddof, at, x.num_levels, x.row_shape), at, dtype=float_of(x.dtype))


@cases(EVERY, exact=False)
def draw_sequence_std(source):
    return arguments(source)


@draw_sequence_std.expected
def _(x, ddof, level):
    at = x.level(level)
    return x.made(sequence_std(x.nested, ddof, at, x.num_levels, x.row_shape), at, dtype=float_of(x.dtype))
