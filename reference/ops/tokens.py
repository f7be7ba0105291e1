"""Rows that are ids."""

from reference.ops.levels import at_level, sequences
from reference.ops.window import of_rows

__all__ = ["sequence_enumerate", "sequence_erase", "sequence_scatter"]


def sequence_enumerate(nested, win_size, pad_value, level, num_levels):
    """List for each row (a number) the numbers from this row on."""

    def windows(rows):
        return [[rows[t + j] if t + j < len(rows) else pad_value for j in range(win_size)] for t in range(len(rows))]

    return of_rows(windows, nested, level, num_levels)


def sequence_erase(nested, tokens, num_levels):
    """Remove the rows (numbers) that are tokens."""
    return at_level(lambda rows: [number for number in rows if number not in tokens], nested, num_levels - 1)


def sequence_scatter(x, ids, updates, level, num_levels):
    """Add updates (rows of all sequences) to the columns of lines given by ids."""
    out = [list(line) for line in x]
    rest = iter(updates)
    for line, sequence in zip(out, sequences(ids, level), strict=True):
        for column in sequences(sequence, num_levels - level - 1):
            line[column] = added(line[column], next(rest))
    return out


def added(cell, more):
    """Add two numbers, or nested lists of numbers."""
    return [added(*pair) for pair in zip(cell, more, strict=True)] if isinstance(cell, list) else cell + more
