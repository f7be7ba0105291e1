"""Products, any and all, and positions of extremes, of all rows below each sequence of a level."""

from reference.ops.axes import reduce_below, reduction

__all__ = ["sequence_place", "sequence_prod", "sequence_truth"]


def sequence_prod(nested, level, num_levels, row_shape, multiply=None):
    """Multiply the numbers of each sequence."""
    return reduce_below(multiply or reduction("prod"), nested, level, num_levels, row_shape)


def sequence_truth(nested, name, level, num_levels, row_shape):
    """Return whether any of the numbers, or all of them, are true."""
    return reduce_below(reduction(name), nested, level, num_levels, row_shape)


def sequence_place(nested, name, level, num_levels, row_shape):
    """Find the position of the greatest or the least number; -1 in an empty sequence."""
    known = reduction(name)
    return reduce_below(lambda numbers: known(numbers) if numbers else -1, nested, level, num_levels, row_shape)
