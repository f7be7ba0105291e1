"""Sequences along the axes of coarser levels: what stands at the same place of them is computed together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lodcore.ops.axes_of_levels import brought_last, row_numbers
from lodcore.ops.convert import rows as values_of
from lodcore.ops.convert import with_values
from lodcore.ops.group import group_rows
from lodcore.ops.index_values import index_values
from lodcore.ops.math import add, minus
from lodcore.ops.order import sequence_argsort
from lodcore.ops.places import lod_index, lod_positions
from lodcore.ops.sort import sequence_sort

__all__: list[str] = []


def along(x: Any, axis: int, compute: Callable[[Any], Any]) -> Any:
    """Compute along an axis of sequences: what stands at the same place of them is together, in their order.

    Parameters
    ----------
    x : LoDTensor
    axis : int
        Of a level.
    compute : callable
        Gets x whose last level holds what stands at the same place; returns one row for each row.

    Returns
    -------
    LoDTensor
        With the LoD of x.
    """
    if axis == getattr(x, "num_levels", 0):
        return compute(x)
    made = compute(brought_last(x, [axis]))
    back = group_rows(values_of(brought_last(row_numbers(x), [axis])))[1]  # of each row of x, where it has been brought
    return with_values(x, index_values(values_of(made), [values_of(back)]))


def sort_along(x: Any, axis: int) -> Any:
    """Sort what stands at the same place of sequences along an axis."""
    return along(x, axis, sequence_sort)


def argsort_along(x: Any, axis: int) -> Any:
    """Find the order of what stands at the same place of sequences: their numbers along the axis."""
    if axis == x.num_levels:
        return sequence_argsort(x)
    numbers = lod_index(x, axis)

    def found(x: Any) -> Any:
        order = values_of(sequence_argsort(x))
        firsts = values_of(minus(row_numbers(x), lod_positions(x, -1)))  # of the sequence of each row
        for _ in range(order.ndim - 1):
            firsts = index_values(firsts, [..., None])
        return with_values(x, index_values(values_of(brought_last(numbers, [axis])), [add(order, firsts)]))

    return along(x, axis, found)
