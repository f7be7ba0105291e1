"""Windows of the rows of a sequence."""

from reference.ops.levels import each_at_level, sequences
from reference.reals import add_up

__all__ = ["of_rows", "row_conv", "sequence_conv"]


def of_rows(function, nested, level, num_levels):
    """Replace the rows of each sequence of a level by the results of a function of them, one row per row."""
    parts = [function(sequences(sequence, num_levels - level - 1)) for sequence in sequences(nested, level)]
    return each_at_level([row for part in parts for row in part], nested, num_levels)


def sequence_conv(nested, filter, new_width, length, start, padding, level, num_levels):
    """Multiply the window around each row (a list) by a matrix."""
    before = max(0, -start)

    def row_at(rows, at):
        if 0 <= at < len(rows):
            return rows[at]
        if padding is None:
            return [0.0] * (len(filter) // length)
        return padding[before + at] if at < 0 else padding[before + at - len(rows)]

    def convolve(rows):
        windows = [[cell for j in range(length) for cell in row_at(rows, t + start + j)] for t in range(len(rows))]
        return [[add_up(w[i] * filter[i][c] for i in range(len(w))) for c in range(new_width)] for w in windows]

    return of_rows(convolve, nested, level, num_levels)


def row_conv(nested, filter, level, num_levels):
    """Sum each row (a list) and those after it, weighted column by column."""

    def convolve(rows):
        found = [[(rows[t + j], filter[j]) for j in range(min(len(filter), len(rows) - t))] for t in range(len(rows))]
        return [[add_up(row[c] * taps[c] for row, taps in pairs) for c in range(len(rows[0]))] for pairs in found]

    return of_rows(convolve, nested, level, num_levels)
