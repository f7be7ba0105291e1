"""Axes of rows in another order and shape, positions of nonzero numbers, bits of sequences."""

from functools import reduce

from reference.ops.levels import at_level, sequences

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
