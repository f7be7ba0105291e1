"""Products of many batches of rows by one matrix, as in the steps of a loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base.dtypes import native_dtype
from lodcore.operators.operands import Array
from lodcore.ops.networks.gates import Weight

__all__ = ["SharedMatrix"]

FLOATS = frozenset((np.dtype(np.float32), np.dtype(np.float64)))
NARROW = 2**27  # multiplications per product; NumPy may use several threads for larger ones
SMALL = 2**10  # numbers of a matrix; packing smaller ones takes longer than it saves


class SharedMatrix:
    """A matrix that is packed once, and by which the rows of many steps are multiplied.

    Parameters
    ----------
    values : ndarray of float32 or float64, shape (depth, columns)
        C-contiguous.
    """

    __slots__ = ("_back", "_columns", "_depth", "_dtype", "_forth", "_most", "_values")

    def __init__(self, values: Array) -> None:
        self._values, self._dtype = values, values.dtype
        self._depth, self._columns = values.shape
        self._most = NARROW // values.size
        self._forth: Array | None = None
        self._back: Array | None = None

    @classmethod
    def of(cls, values: Any) -> SharedMatrix | None:
        """Prepare a matrix if it is large and the kernel supports it on this processor; return None otherwise."""
        if type(values) is not np.ndarray or values.ndim != 2 or values.size <= SMALL:
            return None
        values = np.ascontiguousarray(_native(values))
        return cls(values) if values.dtype in FLOATS and kernels.matrix.is_fast() else None

    def forward(self, rows: Array) -> Array | None:
        """Multiply rows by the matrix."""
        rows = _native(rows)
        if not self._takes(rows, self._depth):
            return None
        if self._forth is None:
            self._forth = Weight(self._values).packed
        out = np.empty((len(rows), self._columns), self._dtype)
        kernels.matrix.multiply_packed(rows, self._forth, False, out)
        return out

    def backward(self, d: Array) -> Array | None:
        """Multiply rows by the transposed matrix."""
        d = _native(d)
        if not self._takes(d, self._columns):
            return None
        if self._back is None:
            self._back = Weight(self._values, True).packed
        out = np.empty((len(d), self._depth), self._dtype)
        kernels.matrix.multiply_packed(d, self._back, False, out)
        return out

    def accumulate(self, rows: Array, d: Array, total: Array | None) -> Array | None:
        """Add the gradient of the matrix: the sum of the outer products of rows and their cotangents."""
        rows, d = _native(rows), _native(d)
        if not self._takes(rows, self._depth) or not self._takes(d, self._columns):
            return None
        made = np.empty(self._values.shape, self._dtype) if total is None else total
        kernels.matrix.multiply_pairs(rows, None, d, None, total is not None, made)
        return made

    def _takes(self, rows: Array, width: int) -> bool:
        """Return whether the kernel accepts a matrix of rows, and there are few enough of them."""
        count, columns = rows.shape
        if columns != width or rows.dtype != self._dtype or count > self._most:
            return False
        if rows.flags.c_contiguous:
            return True
        line, cell = rows.strides
        return cell == rows.itemsize and line > 0 and line % cell == 0


def _native(x: Array) -> Array:
    """Return numbers in native byte order, in which alone the kernels compute."""
    return x if x.dtype.isnative else x.astype(native_dtype(x.dtype))
