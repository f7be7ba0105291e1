"""Which values are there: a bool per row, per number of a row, or per field of a record."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.errors import DTypeError, LoDError
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_values

__all__ = ["checked_mask", "every", "mask_dtype", "some", "whole"]

Array = np.ndarray[Any, Any]


def mask_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a mask: a bool or, for records, one per field."""
    if dtype.names is None:
        return np.dtype(np.bool_)
    return np.dtype([(name, mask_dtype(dtype[name].base), dtype[name].shape) for name in dtype.names])


def every(there: Array) -> Array:
    """Return for each row whether all of its values are there."""
    if there.dtype.names is not None:
        return np.asarray(np.logical_and.reduce([every(there[name]) for name in there.dtype.names]))
    return np.asarray(there.all(axis=tuple(range(1, there.ndim))))


def some(there: Array) -> Array:
    """Return for each row whether any of its values is there."""
    if there.dtype.names is not None:
        return np.asarray(np.logical_or.reduce([some(there[name]) for name in there.dtype.names]))
    return np.asarray(there.any(axis=tuple(range(1, there.ndim))))


def whole(there: Array) -> bool:
    """Return whether all values are there."""
    return bool(every(there).all())


def checked_mask(where: str, x: Any, given: Any) -> Any:
    """Return the mask of a column; raise if it has another structure, or anything but bools.

    Parameters
    ----------
    where : str
        The names of the function and the mask, for the message.
    x : LoDTensor or ndarray
        The column.
    given : LoDTensor or array_like

    Returns
    -------
    LoDTensor or ndarray, as the column is
    """
    made = given if isinstance(given, LoDTensor) else as_values(where, given)
    rows, there = (one.values if isinstance(one, LoDTensor) else one for one in (x, made))
    if not _of_bools(there.dtype):
        raise DTypeError(f"{where}: has dtype {there.dtype}; bools are needed")
    if there.dtype.names not in (None, rows.dtype.names):
        raise DTypeError(f"{where}: has the fields {there.dtype.names}; its column has {rows.dtype.names}")
    if getattr(x, "lod", None) != getattr(made, "lod", None) or rows.shape[: there.ndim] != there.shape:
        raise LoDError(f"{where}: has a different structure from its column")
    return made


def _of_bools(dtype: np.dtype[Any]) -> bool:
    if dtype.names is None:
        return dtype == np.bool_
    return all(_of_bools(dtype[name].base) for name in dtype.names)
