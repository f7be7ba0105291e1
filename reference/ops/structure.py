"""The same cells in another structure."""

from reference.nested import nest
from reference.ops.levels import each_at_level, sequences

__all__ = ["lod_append", "lod_reset", "sequence_reshape"]


def cells(row):
    """List the cells of a row, which is a number or lists of numbers."""
    return [cell for part in row for cell in cells(part)] if isinstance(row, list) else [row]


def sequence_reshape(nested, new_dim, num_levels):
    """Divide the cells of each sequence of the last level into rows of another width."""
    cut = []
    for sequence in sequences(nested, num_levels - 1):
        flat = [cell for row in sequence for cell in cells(row)]
        cut.append([flat[at : at + new_dim] for at in range(0, len(flat), new_dim)])
    return each_at_level(cut, nested, num_levels - 1)


def lod_reset(nested, num_levels, levels):
    """Replace the offsets of the rows of a batch."""
    return nest(sequences(nested, num_levels), levels)


def lod_append(nested, num_levels, lengths):
    """Replace rows by sequences of these lengths."""
    rows = iter(sequences(nested, num_levels))
    fresh = [[next(rows) for _ in range(length)] for length in lengths]
    return each_at_level(fresh, nested, num_levels) if num_levels else fresh
