"""Products of many batches of rows with one matrix, as the steps of a loop make them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.ops.common import Array
from lodcore.ops.gates import Weight

__all__ = ["SharedMatrix"]

FLOATS = frozenset((np.dtype(np.float32), np.dtype(np.float64)))
NARROW = 2**27  # multiplications of a product; NumPy may use several threads for more


class SharedMatrix:
    """A matrix that is packed once, and multiplied with the rows of many steps.

    Parameters
    ----------
    values : ndarray of float32 or float64, shape (depth, columns)
    """

    __slots__ = ("_back", "_forth", "_values")

    def __init__(self, values: Array) -> None:
        self._values = values
        self._forth: Weight | None = None
        self._back: Weight | None = None

    @classmethod
    def of(cls, values: Any) -> SharedMatrix | None:
        """Prepare a matrix, if the kernel is made for it and for this processor."""
        if type(values) is not np.ndarray or values.ndim != 2 or values.dtype not in FLOATS or not values.size:
            return None
        return cls(np.ascontiguousarray(values)) if kernels.matrix.is_fast() else None

    def forward(self, rows: Array) -> Array | None:
        """Multiply rows with the matrix."""
        if not self._fits(rows, 0):
            return None
        if self._forth is None:
            self._forth = Weight(self._values)
        return self._forth.times(rows, np.empty((len(rows), self._values.shape[1]), rows.dtype))

    def backward(self, d: Array) -> Array | None:
        """Multiply rows with the transposed matrix."""
        if not self._fits(d, 1):
            return None
        if self._back is None:
            self._back = Weight(self._values, True)
        return self._back.times(d, np.empty((len(d), self._values.shape[0]), d.dtype))

    def accumulate(self, rows: Array, d: Array, total: Array | None) -> Array | None:
        """Add the gradient of the matrix, the sum of the outer products of each row and its cotangent."""
        if not self._fits(rows, 0) or not self._fits(d, 1):
            return None
        made = np.empty(self._values.shape, self._values.dtype) if total is None else total
        kernels.matrix.multiply_pairs(rows, None, d, None, total is not None, made)
        return made

    def _fits(self, rows: Array, axis: int) -> bool:
        """Tell whether the kernel takes rows, which are a matrix, and whether they are few enough."""
        values, itemsize = self._values, rows.itemsize
        if rows.dtype != values.dtype or rows.shape[1] != values.shape[axis] or len(rows) * values.size > NARROW:
            return False
        return rows.strides[1] == itemsize and rows.strides[0] % itemsize == 0 and rows.strides[0] > 0
