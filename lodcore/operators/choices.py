"""NumPy's `where`, by a kernel without a branch for each number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.dtypes import alike
from lodcore.operators.operands import Array

__all__ = ["choose"]

#: NumPy is faster for fewer numbers; for more, it mispredicts a branch for each.
FEW = 4096

#: The kinds of dtypes that can hold a Python number.
HOLDS = {bool: "biufc", int: "iufc", float: "fc"}


def choose(condition: Any, x: Any, y: Any) -> Any:
    """Return elements of x where a condition holds, of y elsewhere: `np.where`, with the same results.

    Parameters
    ----------
    condition, x, y : array_like
        They broadcast.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from lodcore.operators.choices import choose
    >>> choose([True, False], [1.0, 2.0], 0)
    array([1., 0.])
    """
    if type(condition) is np.ndarray and condition.size >= FEW and condition.dtype == np.bool_:
        made = _chosen(condition, x, y)
        if made is not None:
            return made
    if type(x) is not float and getattr(getattr(x, "dtype", None), "names", None) is not None:
        x, y = alike((x, y))
    return np.where(condition, x, y)


def _chosen(condition: Array, x: Any, y: Any) -> Array | None:
    """Return the result for operands that no conversion changes, or None."""
    wide = next((one for one in (x, y) if type(one) is np.ndarray and one.ndim), None)
    if wide is not None:
        shape, dtype = wide.shape, wide.dtype
    elif type(x) in HOLDS and type(y) in HOLDS:
        shape, dtype = condition.shape, np.result_type(x, y)
    else:
        return None
    by_row = condition.shape == (shape[0], *[1] * (len(shape) - 1))
    width = math.prod(shape[1:]) if by_row else 1
    if not (by_row or condition.shape == shape) or not buffers.is_plain(condition) or not width:
        return None
    first, second = (_rows(one, dtype, shape, width) for one in (x, y))
    if first is None or second is None:
        return None
    out = np.empty(shape, dtype)
    mask = condition.reshape(-1).view(np.uint8)
    kernels.index.choose(mask, first, second, out.reshape(-1, width).view(np.uint8))
    return out


def _rows(x: Any, dtype: np.dtype[Any], shape: tuple[int, ...], width: int) -> Array | None:
    """Return the bytes of an operand, row by row, or of the one row of a number; None if NumPy converts them."""
    if buffers.is_plain(x) and x.shape == shape and x.dtype == dtype:
        made: Array = x.reshape(-1, width).view(np.uint8)
        return made
    if isinstance(x, np.generic) or (type(x) is np.ndarray and not x.ndim):
        held = x.dtype == dtype
    else:
        held = dtype.kind in HOLDS.get(type(x), "") and _is_small(x, dtype)
    return np.full((1, width), x, dtype).view(np.uint8) if held else None


def _is_small(x: float, dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype can hold a Python number without a warning or an error."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min <= x <= np.iinfo(dtype).max
    return not abs(x) > 65504  # the greatest float16
