"""Sequences pooled to one row each; rows are numbers, or nested lists of numbers."""

from reference.ops.levels import each_at_level, sequences
from reference.reals import add_up, sqrt

__all__ = ["pooled", "sequence_pool"]


def sequence_pool(nested, pool_type, pad_row, level, num_levels):
    """Pool all rows below each sequence of a level, column by column; `pad_row` for an empty one."""
    below = [sequences([sequence], num_levels - level) for sequence in sequences(nested, level)]
    return each_at_level([pooled(rows, pool_type) if rows else pad_row for rows in below], nested, level)


def pooled(rows, pool_type):
    """Pool rows, of which there is at least one."""
    if isinstance(rows[0], list):
        return [pooled([row[c] for row in rows], pool_type) for c in range(len(rows[0]))]
    if pool_type == "sum":
        return add_up(rows)
    if pool_type == "mean":
        return add_up(rows) / len(rows)
    if pool_type == "sqrt":
        return add_up(rows) / sqrt(len(rows))
    if pool_type == "first":
        return rows[0]
    if pool_type == "last":
        return rows[-1]
    best = rows[0]
    for cell in rows:
        better = cell > best if pool_type == "max" else cell < best
        if best == best and (better or cell != cell):
            best = cell
    return best
