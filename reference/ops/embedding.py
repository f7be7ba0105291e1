"""Rows of a table by their numbers, single or pooled."""

from reference.ops.levels import at_level
from reference.ops.pool import pooled

__all__ = ["embedding_bag", "lookup_table", "weighted_bag"]


def lookup_table(table, nested, num_levels, zeros, padding_idx):
    """Replace each number by its row of the table, `padding_idx` by zeros."""
    if num_levels == 0:
        return [zeros if number == padding_idx else table[number] for number in nested]
    return [lookup_table(table, inner, num_levels - 1, zeros, padding_idx) for inner in nested]


def embedding_bag(table, nested, pool_type, num_levels, zeros):
    """Pool the rows whose numbers are in each sequence; zeros for an empty one."""
    return at_level(
        lambda numbers: pooled([table[number] for number in numbers], pool_type) if numbers else zeros,
        nested,
        num_levels - 1,
    )


def weighted_bag(table, nested, weights, num_levels, zeros):
    """Sum the rows whose numbers are in each sequence, each times its weight; zeros for an empty one."""
    if num_levels > 1:
        return [
            weighted_bag(table, inner, factors, num_levels - 1, zeros)
            for inner, factors in zip(nested, weights, strict=True)
        ]
    return [_weighted(table, numbers, factors, zeros) for numbers, factors in zip(nested, weights, strict=True)]


def _weighted(table, numbers, factors, zeros):
    total = zeros
    for number, factor in zip(numbers, factors, strict=True):
        total = _added(total, table[number], factor)
    return total


def _added(total, row, factor):
    if isinstance(row, list):
        return [_added(one, cell, factor) for one, cell in zip(total, row, strict=True)]
    return total + row * factor
