"""Rows and their neighbours within sequences."""

from reference.ops.columns import each_column, within
from reference.ops.levels import at_level, each_at_level, sequences
from reference.reals import floating

__all__ = [
    "sequence_accumulate",
    "sequence_diff",
    "sequence_moving_average",
    "sequence_shift",
    "sliding_window",
]


def sequence_diff(nested, n, subtract, num_levels, row_shape):
    """Subtract from each row the one before it in its sequence of the last level, n times."""

    def differences(column):
        for _ in range(n):
            column = [subtract(column[k + 1], column[k]) for k in range(len(column) - 1)]
        return column

    return at_level(lambda sequence: each_column(differences, sequence, row_shape), nested, num_levels - 1)


def sequence_shift(nested, n, fill, level, num_levels):
    """Shift the rows below each sequence of a level; whole rows are moved."""

    def shifted(sequence):
        rows = sequences(sequence, num_levels - level - 1)
        moved = [rows[k - n] if 0 <= k - n < len(rows) else fill for k in range(len(rows))]
        return each_at_level(moved, sequence, num_levels - level - 1)

    return at_level(shifted, nested, level)


def sliding_window(nested, size, step, num_levels):
    """Replace the sequences of the last level by their windows."""

    def windows(sequence):
        return [sequence[k : k + size] for k in range(0, len(sequence) - size + 1, step)]

    return at_level(windows, nested, num_levels - 1)


def sequence_accumulate(nested, function, level, num_levels, row_shape):
    """Accumulate: apply a function to the result of the preceding rows and each row, below each sequence of a level."""

    def accumulated(column):
        made = []
        for number in column:
            made.append(function(made[-1], number) if made else number)
        return made

    return within(accumulated, nested, level, num_levels, row_shape)


def greatest(one, other):
    """Return the greater number, the first of equal ones, or nan."""
    return other if one == one and (other != other or other > one) else one


def least(one, other):
    """Return the lesser number, the first of equal ones, or nan."""
    return other if one == one and (other != other or other < one) else one


def sequence_moving_average(nested, alpha, adjust, level, num_levels, row_shape):
    """Compute exponentially weighted means of the rows up to each row below its sequence of a level."""

    def averages(column):
        made, total, weights = [], 0.0, 0.0
        for number in map(floating, column):
            if adjust:
                total, weights = number + (1 - alpha) * total, 1 + (1 - alpha) * weights
                made.append(total / weights)
            else:
                made.append(alpha * number + (1 - alpha) * made[-1] if made else number)
        return made

    return within(averages, nested, level, num_levels, row_shape)
