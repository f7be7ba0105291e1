"""Computation along the axes of coarser levels: elements at the same position of the sequences are grouped."""

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


def along(x: Any, axis: int, compute: Callable[[Any, Any], Any]) -> Any:
    """Compute along an axis of sequences, grouping the elements at the same position in the order of the sequences.

    Parameters
    ----------
    x : LoDTensor
    axis : int
        The axis of a coarser level than the last.
    compute : callable
        A function of x, regrouped so that the sequences of its last level hold the elements at the same position, and
        of a function that regroups another tensor with the structure of x. It returns one row per row.

    Returns
    -------
    LoDTensor
        Has the LoD of x.
    """

    def turned(one: Any) -> Any:
        return brought_last(one, [axis])

    made = compute(turned(x), turned)
    back = group_rows(values_of(turned(row_numbers(x))))[1]  # the new position of each row of x
    return with_values(x, index_values(values_of(made), [values_of(back)]))


def sort_along(x: Any, axis: int) -> Any:
    """Sort the elements at the same position of the sequences along an axis."""
    return along(x, axis, lambda x, _: sequence_sort(x))


def argsort_along(x: Any, axis: int) -> Any:
    """Return the indices along an axis that sort the elements at the same position of the sequences."""
    numbers = lod_index(x, axis)

    def found(x: Any, turned: Callable[[Any], Any]) -> Any:
        order = values_of(sequence_argsort(x))
        firsts = values_of(minus(row_numbers(x), lod_positions(x, -1)))  # the first row of the sequence of each row
        for _ in range(order.ndim - 1):
            firsts = index_values(firsts, [..., None])
        return with_values(x, index_values(values_of(turned(numbers)), [add(order, firsts)]))

    return along(x, axis, found)
