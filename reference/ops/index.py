"""Indexing along an axis: axis 0 is the batch, axis k the elements of level k - 1."""

from reference.ops.levels import at_level, each_at_level, sequences

__all__ = ["pick_along", "select_by_mask", "slice_along", "take_nested", "take_of_each"]


def slice_along(nested, start, stop, step, axis):
    """Slice every sequence alike."""
    if axis == 0:
        return nested[start:stop:step]
    found = sequences(nested, axis - 1)
    return each_at_level([sequence[start:stop:step] for sequence in found], nested, axis - 1)


def pick_along(nested, index, axis):
    """Select one element of every sequence; the index has one entry per sequence."""
    if axis == 0:
        return nested[index[0]]
    found = sequences(nested, axis - 1)
    return each_at_level([found[s][index[s]] for s in range(len(found))], nested, axis - 1)


def select_by_mask(nested, mask, axis):
    """Keep the elements along an axis for which a mask is true."""
    if axis == 0:
        return [entry for entry, kept in zip(nested, mask, strict=True) if kept]
    pairs = zip(sequences(nested, axis - 1), sequences(mask, axis - 1), strict=True)
    chosen = [[entry for entry, kept in zip(sequence, part, strict=True) if kept] for sequence, part in pairs]
    return each_at_level(chosen, nested, axis - 1)


def take_nested(nested, index, axis):
    """Select elements of every sequence by their numbers; the index has as many levels as the axis requires."""
    pairs = zip(sequences(nested, axis - 1), sequences(index, axis - 1), strict=True)
    return each_at_level([[sequence[i] for i in numbers] for sequence, numbers in pairs], nested, axis - 1)


def take_of_each(nested, index, axis):
    """Select the same elements of every sequence."""
    return at_level(lambda sequence: [sequence[i] for i in index], nested, axis - 1)
