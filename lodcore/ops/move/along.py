"""Computation along the axes of coarser levels: elements at the same position of the sequences are grouped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lodcore.ops.elementwise.convert import rows as values_of
from lodcore.ops.elementwise.convert import with_values
from lodcore.ops.elementwise.math import add, minus
from lodcore.ops.index.index_values import index_values
from lodcore.ops.move.lod_data import lod_index, lod_positions
from lodcore.ops.order.group import group_rows
from lodcore.ops.order.order import sequence_argsort
from lodcore.ops.order.sort import sequence_sort
from lodcore.ops.reduce.reduce_values import brought_last, row_numbers

__all__: list[str] = []


def along(x: Any, axis: int, compute: Callable[[Any], Any]) -> Any:
    """Compute along an axis of sequences, grouping the elements at the same position in the order of the sequences.

    Parameters
    ----------
    x : LoDTensor
    axis : int
        The axis of a level.
    compute : callable
        A function of x, regrouped so that the sequences of its last level hold the elements at the same position. It
        returns one row per row.

    Returns
    -------
    LoDTensor
        Has the LoD of x.
    """
    if axis == getattr(x, "num_levels", 0):
        return compute(x)
    made = compute(brought_last(x, [axis]))
    back = group_rows(values_of(brought_last(row_numbers(x), [axis])))[1]  # the new position of each row
    return with_values(x, index_values(values_of(made), [values_of(back)]))


def sort_along(x: Any, axis: int) -> Any:
    """Sort the elements at the same position of the sequences along an axis."""
    return along(x, axis, sequence_sort)


def argsort_along(x: Any, axis: int) -> Any:
    """Return the indices along an axis that sort the elements at the same position of the sequences."""
    if axis == x.num_levels:
        return sequence_argsort(x)
    numbers = lod_index(x, axis)

    def found(x: Any) -> Any:
        order = values_of(sequence_argsort(x))
        firsts = values_of(minus(row_numbers(x), lod_positions(x, -1)))  # the first row of the sequence of each row
        for _ in range(order.ndim - 1):
            firsts = index_values(firsts, [..., None])
        return with_values(x, index_values(values_of(brought_last(numbers, [axis])), [add(order, firsts)]))

    return along(x, axis, found)
