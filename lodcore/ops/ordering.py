"""Cells of sequences in order, for the operators that need them so: numbers, text and dates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.threads import over_sequences
from lodcore.errors import DTypeError
from lodcore.ops.common import Array

__all__: list[str] = []

COST = 8  # of bringing numbers into order, beside copying them


def check_order(where: str, dtype: np.dtype[Any]) -> None:
    """Raise if a dtype has no order that kernels know, of numbers, text or dates."""
    if dtype.char not in "dfliqbhBHILQ?eSUMm":
        raise DTypeError(
            f"{where}: x: has dtype {dtype}; bool, integers, floats of at most float64, text or dates are needed"
        )


def ordered(where: str, values: Array, offsets: Any, descending: bool, cells: bool, positions: bool) -> tuple[Any, Any]:
    """Sort rows within sequences, column by column; return what is wanted of the cells and of where they stood.

    Parameters
    ----------
    where : str
    values : ndarray, shape (n_rows, ...)
        Of a dtype that has an order.
    offsets : int64, in rows
    descending : bool
    cells, positions : bool
        What is wanted.

    Returns
    -------
    cells : ndarray like values, or None
    positions : ndarray of int64, shape (n_rows, width), or None
        Rows count within their sequences; None, too, if there are no cells.
    """
    kind = values.dtype.kind
    if kind in "Mm":  # NaT is the lowest number of 64 bits, and the greatest date
        numbers = buffers.new_rows(where, values, len(values)).view(np.int64)
        np.subtract(values.view(np.int64), 1, out=numbers)
        found, places = ordered(where, numbers, offsets, descending, cells, positions)
        if found is not None:
            np.add(found, 1, out=found)
        return None if found is None else found.view(values.dtype), places
    if kind in "SU":
        return _text(where, values, offsets, descending, cells, positions)
    result = buffers.new_rows(where, values, len(values))
    source, target = buffers.as_cells(values), buffers.as_cells(result)
    places = buffers.new_int64(*target.shape) if positions and target.size else None
    roles = "roo.r." if places is None else "roo.rr"
    over_sequences(kernels.sort.sort_rows, roles, source, offsets, offsets, descending, target, places, cost=COST)
    return result, places


def _text(
    where: str, values: Array, offsets: Any, descending: bool, cells: bool, positions: bool
) -> tuple[Any, Array | None]:
    """Sort text by keys of its first characters, and what these leave open by all of them."""
    n_rows, width = len(values), math.prod(values.shape[1:])
    size, unit = values.dtype.itemsize, 1 if values.dtype.kind == "S" else 4
    result = buffers.new_rows(where, values, n_rows) if cells else None
    if not n_rows * width:
        return result, None
    letters = buffers.as_bytes(values)
    keys, kept = (buffers.new_int64(n_rows, width).view(np.uint64) for _ in range(2))
    several = kernels.order.prefix_keys(letters.reshape(n_rows * width, size), unit, keys.reshape(-1))
    places = buffers.new_int64(n_rows, width)
    over_sequences(kernels.sort.sort_rows, "roo.rr", keys, offsets, offsets, descending, kept, places, cost=COST)
    if several:
        over_sequences(kernels.order.order_ties, "r.ro.r", letters, unit, kept, offsets, descending, places, cost=COST)
    if result is not None:
        take(where, letters, offsets, places, buffers.as_bytes(result))
    return result, places if positions else None


def take(where: str, rows: Array, offsets: Any, positions: Array, out: Array) -> None:
    """Take cells by their positions, which somebody else may have seen."""
    bad = kernels.order.take_cells(rows, offsets, positions, out)
    if bad >= 0:
        raise IndexError(f"{where}: positions: row {bad} names no row of its sequence")


def placed(where: str, d: Array, offsets: Any, kept: Any, positions: Array | None, d_x: Array) -> Array:
    """Put a cotangent back to the rows that were taken."""
    if positions is None:  # there are no numbers
        return d_x
    bad = kernels.sort.place_cells(buffers.as_cells(d), offsets, kept, positions, buffers.as_cells(d_x))
    if bad >= 0:
        raise IndexError(f"{where}: positions: row {bad} was changed; it names no row of its sequence")
    return d_x
