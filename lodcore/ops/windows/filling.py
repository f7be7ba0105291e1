"""Missing values filled from their neighbours within a sequence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore.base.naming import named
from lodcore.errors import ShapeError
from lodcore.operators.arguments import choice_of, integer_of, level_of
from lodcore.operators.copies import nested_operand
from lodcore.ops.elementwise.compare import equal, logical_and
from lodcore.ops.elementwise.convert import full_like, rows, with_values
from lodcore.ops.elementwise.math import add, minus, mul, where
from lodcore.ops.move.expand import sequence_reverse
from lodcore.ops.move.gather import gather_nested
from lodcore.ops.move.lod_data import lod_positions
from lodcore.ops.move.position import drop_level
from lodcore.ops.move.values import reshape
from lodcore.ops.windows.neighbours import sequence_accumulate

__all__ = ["sequence_fill"]


@named
def sequence_fill(x: Any, direction: str = "forward", limit: int | None = None, level: int = -1) -> Any:
    """Replace nan and NaT by the last other value before it in its sequence, or by the next one, column by column.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Numbers, dates or durations; other dtypes have nothing to fill.
    direction : {"forward", "backward"}
        Whether values are carried to later rows or to earlier ones.
    limit : int, optional
        The most rows that a value is carried, 1 or more.
    level : int
        The level of the sequences, with all rows below each; nothing is carried from one to another.

    Returns
    -------
    LoDTensor
        Has the LoD and the dtype of x; nan and NaT where there is no such value. Gradients go to the value.

    Raises
    ------
    ValueError, DTypeError, LevelError
        If the direction is unknown, limit is below 1 or not an integer, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> nan = float("nan")
    >>> lodcore.sequence_fill([[nan, 1.0, nan, nan], [nan], [2.0, nan]])
    LoDTensor(3 sequences of lengths 1..4, float64: [[nan, 1., 1., 1.], [nan], [2., 2.]])
    >>> lodcore.sequence_fill([[nan, 1.0, nan, nan, 2.0]], "backward", limit=1)
    LoDTensor(1 sequence of length 5, float64: [[1., 1., nan, 2., 2.]])
    """
    name = "sequence_fill"
    x = nested_operand(f"{name}: x", x)
    k = level_of(name, x.num_levels, level)
    choice_of(f"{name}: direction", direction, ("forward", "backward"))
    most = None if limit is None else integer_of(f"{name}: limit", limit, 1)
    row_shape = x.shape[x.num_levels + 1 :]
    if None in row_shape:
        raise ShapeError(f"{name}: x: has rows of shape {row_shape}; their lengths must be known where it is recorded")
    width = math.prod(row_shape)
    if x.dtype.kind not in "fcmM" or not width:
        return x.copy()
    flat = x
    for _ in range(x.num_levels - 1 - k):
        flat = drop_level(flat, -1)
    number = lod_positions(flat, -1)
    place = where(equal(flat, flat), number, -1)
    if direction == "forward":
        place = sequence_accumulate(place, np.maximum)
        found = np.greater_equal(place, 0)
    else:
        behind = where(equal(flat, flat), number, 2**62)
        place = sequence_reverse(sequence_accumulate(sequence_reverse(behind), np.minimum))
        found = np.less(place, 2**62)
    apart = minus(place, number)
    if most is not None:
        found = logical_and(found, np.less_equal(np.abs(apart), most))
    return with_values(x, _taken(rows(flat), rows(where(found, apart, 0)), row_shape, width))


def _taken(values: Any, apart: Any, row_shape: tuple[int, ...], width: int) -> Any:
    """Return for each cell the cell of the same column that is a number of rows apart."""
    if not row_shape:
        return gather_nested(values, add(np.cumsum(full_like(apart, 1)), minus(apart, 1)))
    cells = reshape(mul(apart, width), [-1])
    taken = gather_nested(reshape(values, [-1]), add(np.cumsum(full_like(cells, 1)), minus(cells, 1)))
    return reshape(taken, [-1, *row_shape])
