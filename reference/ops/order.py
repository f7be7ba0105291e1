"""The order of the rows of sequences; nan is the greatest, and equal numbers keep their order."""

from reference.ops.columns import within
from reference.ops.sort import order_of

__all__ = ["sequence_argsort"]


def sequence_argsort(nested, level, descending, num_levels, row_shape):
    """Compute for the rows below each sequence of a level the positions that sort them."""
    return within(lambda column: order_of(column, descending), nested, level, num_levels, row_shape)
