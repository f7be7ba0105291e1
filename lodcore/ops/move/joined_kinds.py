"""Conversion of numbers and dense arrays to sequences, for joining them with sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.dispatch import Symbol
from lodcore.errors import ShapeError
from lodcore.operators.lod_rules import levels_of
from lodcore.ops.elementwise.convert import full_like
from lodcore.ops.index.index_values import index_values
from lodcore.ops.move.arrange import rows_to_level
from lodcore.ops.move.expand import per_sequence
from lodcore.ops.move.lod_data import lod_num
from lodcore.ops.move.position import insert_level
from lodcore.ops.move.values import spread

__all__ = ["joined_rows", "joined_sequences"]


def joined_sequences(where: str, xs: list[Any], axis: int) -> list[Any]:
    """Convert the numbers and dense arrays among joined tensors to sequences.

    Parameters
    ----------
    where : str
        The names of function and argument, for the message.
    xs : list of LoDTensor, Variable, ndarray or number
    axis : int
        The axis along which they are joined; that of the batch, or of a level.

    Returns
    -------
    list
        An array, which must have as many axes as the tensors, becomes equally long sequences. A number becomes one
        element of each sequence of the last level, with the dtype of the tensors, or as much text as it has.

    Raises
    ------
    ShapeError
        If an array has another number of axes, or a number is given where elements are not numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> x = lodcore.array([[1, 2], [3]])
    >>> lodcore.ops.joined_sequences("join", [0, x, np.array([[7], [8]])], 1)[2]
    LoDTensor(2 sequences of length 1, int64: [[7], [8]])
    """
    model = next(x for x in xs if _levels(x))
    return [x if _levels(x) else _sequences(f"{where}[{j}]", x, model, axis) for j, x in enumerate(xs)]


def joined_rows(where: str, xs: list[Any], axis: int) -> list[Any]:
    """Convert the numbers and dense arrays among tensors whose rows are joined to rows.

    Parameters
    ----------
    where : str
        The names of function and argument, for the message.
    xs : list of LoDTensor, Variable, ndarray or number
    axis : int
        The axis of a row along which they are joined.

    Returns
    -------
    list
        The row of an array, which must have as many axes as the tensors and length 1 along those of levels, is repeated
        for each row of the sequence. A number becomes one more entry of each row, with the dtype of the tensors.

    Raises
    ------
    ShapeError
        If an array has another number of axes.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> x = lodcore.LoDTensor.from_lengths(np.ones((3, 2)), [2, 1])
    >>> lodcore.ops.joined_rows("join", [x, np.array([[[7.0]], [[8.0]]])], 2)[1].values.tolist()
    [[7.0], [7.0], [8.0]]
    """
    model = next(x for x in xs if _levels(x))
    return [x if _levels(x) else _rows(f"{where}[{j}]", x, model, axis) for j, x in enumerate(xs)]


def _rows(where: str, x: Any, model: Any, axis: int) -> Any:
    """Return a number, or an array with one entry per sequence, as one entry per row."""
    levels = _levels(model)
    if x.ndim == 0:
        one = index_values(model, [slice(None)] * (axis - levels) + [slice(0, 1)])
        return full_like(one, x, model.dtype)
    if x.shape[1 : levels + 1] != (1,) * levels:
        raise ShapeError(f"{where}: has shape {x.shape}; along the axes of levels, 1 .. {levels}, length 1 is needed")
    return per_sequence(model, index_values(x, [slice(None), *[0] * levels]), 0)


def _levels(x: Any) -> int:
    return int(getattr(x, "num_levels", 0)) or levels_of(x)


def _sequences(where: str, x: Any, model: Any, axis: int) -> Any:
    """Return one number, or a dense array, as sequences."""
    levels = _levels(model)
    if np.ndim(x) == 0:
        if axis != levels:
            raise ShapeError(
                f"{where}: is a number; along axis {axis} sequences are joined, axis {levels} takes numbers"
            )
        dtype = model.dtype
        if dtype.kind in "US" and not isinstance(x, Symbol) and np.asarray(x).dtype.kind == dtype.kind:
            dtype = np.promote_types(dtype, np.asarray(x).dtype)
        each = full_like(lod_num(model, axis - 1), x, dtype)
        row_shape = model.shape[levels + 1 :]
        if row_shape:
            each = spread(index_values(each, [slice(None), *[None] * len(row_shape)]), np.zeros(row_shape, bool))
        return insert_level(each, axis - 1)
    if x.ndim != model.ndim:
        raise ShapeError(f"{where}: has {x.ndim} axes; the sequences have {model.ndim}")
    for _ in range(levels):
        x = rows_to_level(x)
    return x
