"""Softmax, logarithms of sums of exponentials and running sums within sequences; rows are numbers, or nested lists."""

from math import inf, nan

from reference.ops.columns import each_column, within
from reference.ops.levels import at_level, sequences
from reference.reals import add_up, exp, floating, log, no_derivatives

__all__ = ["sequence_cumsum", "sequence_logsumexp", "sequence_softmax"]


def sequence_softmax(nested, level, num_levels, row_shape):
    """Divide exp(x - max) by the sum of these."""
    return within(softmax, nested, level, num_levels, row_shape)


def softmax(column):
    column = [floating(x) for x in column]
    if any(x != x for x in column):
        return [add_up(column) * nan for _ in column]  # the result is nan, and so are its derivatives
    powers = [exp(x - max(column)) for x in column]
    total = add_up(powers)
    return [power / total for power in powers]


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
        return no_derivatives(most, column)
    return most + log(add_up(exp(x - most) for x in column))


def sequence_cumsum(nested, level, num_levels, row_shape):
    """Compute running sums."""
    return within(cumsum, nested, level, num_levels, row_shape)


def cumsum(column):
    return [add_up(column[1 : r + 1], column[0]) for r in range(len(column))]
