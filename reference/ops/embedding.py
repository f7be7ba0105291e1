"""Rows of a table by their numbers, one by one or pooled."""

from reference.ops.levels import at_level
from reference.ops.pool import pooled

__all__ = ["embedding_bag", "lookup_table"]


def lookup_table(table, nested, num_levels, zeros, padding_idx):
    """Replace each number by its row of the table, `padding_idx` by zeros."""
    if num_levels == 0:
        return [zeros if number == padding_idx else table[number] for number in nested]
    return [lookup_table(table, inner, num_levels - 1, zeros, padding_idx) for inner in nested]


def embedding_bag(table, nested, pool_type, num_levels, zeros):
    """Pool the rows that each sequence of numbers names; an empty one gives zeros."""
    return at_level(
        lambda numbers: pooled([table[number] for number in numbers], pool_type) if numbers else zeros,
        nested,
        num_levels - 1,
    )
