"""Reductions over one axis of nested lists, for sequences and rows alike.

Lists along an axis may have different lengths: entries at the same position are reduced, of the lists that have them.
"""

from reference.ops.levels import at_level, sequences
from reference.ops.reduce_values import REDUCTIONS

__all__ = ["insert_axis", "reduce_axis", "reduce_below", "reduction"]


def reduce_axis(function, nested, axis, depth, row_shape):
    """Reduce one axis of lists that are nested `depth` deep and contain rows of a shape."""
    if axis > 0:
        return [reduce_axis(function, entry, axis - 1, depth - 1, row_shape) for entry in nested]
    if depth == 1:
        return function(nested)
    if depth - 1 == len(row_shape):
        columns = [[row[c] for row in nested] for c in range(row_shape[0])]
        return [reduce_axis(function, column, 0, depth - 1, row_shape[1:]) for column in columns]
    longest = max(map(len, nested), default=0)
    places = [[entry[t] for entry in nested if len(entry) > t] for t in range(longest)]
    return [reduce_axis(function, place, 0, depth - 1, row_shape) for place in places]


def reduce_below(function, nested, level, num_levels, row_shape):
    """Reduce all rows below each sequence of a level."""

    def reduced(sequence):
        rows = sequences([sequence], num_levels - level)
        return reduce_axis(function, rows, 0, 1 + len(row_shape), row_shape)

    return at_level(reduced, nested, level)


def insert_axis(nested, axis):
    """Insert an axis of length 1."""
    if axis == 0:
        return [nested]
    return [insert_axis(entry, axis - 1) for entry in nested]


def reduction(name, initial=None):
    """Return the function that reduces a list of numbers."""
    return lambda numbers: REDUCTIONS[name](numbers, initial)
