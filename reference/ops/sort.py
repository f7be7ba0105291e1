"""Sorting of the rows of sequences; nan is the greatest, and equal numbers keep their order."""

from reference.ops.columns import each_column, within
from reference.ops.levels import at_level, sequences

__all__ = ["sequence_sort", "sequence_topk"]


def order_of(column, descending):
    """List the positions of the numbers of a column, sorted; NaT, which is None or the least int64, is the greatest."""
    keys = [key_of(number) for number in column]
    return sorted(range(len(column)), key=keys.__getitem__, reverse=descending)


def key_of(number):
    """Return the sort key of a number; of a complex number its parts, of which nan is the greatest."""
    if isinstance(number, complex):
        parts = [key_of(number.real), key_of(number.imag)]
        return [lost for lost, _ in parts], [known for _, known in parts]
    lost = number is None or number != number
    return lost, 0 if lost else number


def sequence_sort(nested, level, descending, num_levels, row_shape):
    """Sort the rows below each sequence of a level."""

    def in_order(column):
        return [column[r] for r in order_of(column, descending)]

    return within(in_order, nested, level, num_levels, row_shape)


def sequence_topk(nested, k, level, num_levels, row_shape):
    """Select the k greatest rows below each sequence of a level, and their positions; finer levels are removed."""
    inner = num_levels - level - 1

    def each(function):
        return at_level(lambda sequence: each_column(function, sequences(sequence, inner), row_shape), nested, level)

    values = each(lambda column: [column[r] for r in order_of(column, True)[:k]])
    return values, each(lambda column: order_of(column, True)[:k])
