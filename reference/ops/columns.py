"""Functions of a list of numbers, on the columns of rows: a row is a number, or nested lists of one shape."""

__all__ = ["each_column", "within"]

from reference.ops.levels import at_level, each_at_level, sequences


def each_column(function, rows, row_shape):
    """Put what a function makes of each column in its place: numbers of one row, or lists that become as many rows."""
    if not row_shape:
        return function(rows)
    columns = [each_column(function, [row[c] for row in rows], row_shape[1:]) for c in range(row_shape[0])]
    made = function([0 for _ in rows])
    if not isinstance(made, list):
        return columns
    return [[column[r] for column in columns] for r in range(len(made))]


def within(function, nested, level, num_levels, row_shape):
    """Replace the rows below each sequence of a level, column by column, and leave the structure as it is."""
    inner = num_levels - level - 1

    def replaced(sequence):
        return each_at_level(each_column(function, sequences(sequence, inner), row_shape), sequence, inner)

    return at_level(replaced, nested, level)
