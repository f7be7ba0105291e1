"""What stands beside sequences where they are joined: numbers and dense arrays as sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.errors import ShapeError
from lodcore.ops.arrange import rows_to_level
from lodcore.ops.convert import full_like
from lodcore.ops.index_values import index_values
from lodcore.ops.lod_rules import levels_of
from lodcore.ops.places import lod_num
from lodcore.ops.position import insert_level
from lodcore.ops.values import spread

__all__ = ["sequences_beside"]


def sequences_beside(where: str, xs: list[Any], axis: int) -> list[Any]:
    """Make sequences of the numbers and dense arrays among tensors that are joined.

    Parameters
    ----------
    where : str
        The function and argument, for the message.
    xs : list of LoDTensor, Variable, ndarray or number
    axis : int
        Along which they are joined; that of the batch, or of a level.

    Returns
    -------
    list
        An array of as many axes as the tensors has sequences that are equally long. A number is one element of each
        sequence of the last level, with the dtype of the tensors.

    Raises
    ------
    ShapeError
        If an array has other axes, or a number stands where none is an element.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> x = lodcore.array([[1, 2], [3]])
    >>> lodcore.ops.sequences_beside("join", [0, x, np.array([[7], [8]])], 1)[2]
    LoDTensor(2 sequences of length 1, int64: [[7], [8]])
    """
    model = next(x for x in xs if _levels(x))
    return [x if _levels(x) else _sequences(f"{where}[{j}]", x, model, axis) for j, x in enumerate(xs)]


def _levels(x: Any) -> int:
    return int(getattr(x, "num_levels", 0)) or levels_of(x)


def _sequences(where: str, x: Any, model: Any, axis: int) -> Any:
    """Make sequences of one number, or of a dense array."""
    levels = _levels(model)
    if np.ndim(x) == 0:
        if axis != levels:
            raise ShapeError(
                f"{where}: is a number; along axis {axis} sequences are joined, axis {levels} takes numbers"
            )
        each = full_like(lod_num(model, axis - 1), x, model.dtype)
        row_shape = model.shape[levels + 1 :]
        if row_shape:
            each = spread(index_values(each, [slice(None), *[None] * len(row_shape)]), np.zeros(row_shape, bool))
        return insert_level(each, axis - 1)
    if x.ndim != model.ndim:
        raise ShapeError(f"{where}: has {x.ndim} axes; the sequences have {model.ndim}")
    for _ in range(levels):
        x = rows_to_level(x)
    return x
