"""Functions of a list of numbers, applied to the columns of rows: a row is a number, or nested lists of one shape."""

__all__ = ["each_column", "within"]

from reference.ops.levels import at_level, each_at_level, sequences


def each_column(function, rows, row_shape):
    """Replace each column by the result of a function: the numbers of one row, or lists that become several rows."""
    if not row_shape:
        return function(rows)
    columns = [each_column(function, [row[c] for row in rows], row_shape[1:]) for c in range(row_shape[0])]
    made = function([0 for _ in rows])
    if not isinstance(made, list):
        return columns
    return [[column[r] for column in columns] for r in range(len(made))]


def within(function, nested, level, num_levels, row_shape):
    """Replace the rows below each sequence of a level, column by column, and keep the structure."""
    inner = num_levels - level - 1

    def replaced(sequence):
        return each_at_level(each_column(function, sequences(sequence, inner), row_shape), sequence, inner)

    return at_level(replaced, nested, level)
