"""SparseTensor: some rows of a large array, such as the gradient of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import check_out, check_size, integer
from lodcore.errors import DTypeError, ShapeError
from lodcore.tensors.nested import as_values
from lodcore.tensors.tensor import Tensor, is_holder

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["SparseTensor"]

Array = np.ndarray[Any, Any]


class SparseTensor(Tensor):
    """Selected rows of an array with `height` rows; all others are zero, and repeated rows are added.

    Parameters
    ----------
    indices : array_like of integers, shape (n,) or (n, 1)
        The numbers of the rows, in any order, which may repeat. They are copied.
    values : array_like, shape (n, ...)
        The rows, with any dtype of numbers. A C-contiguous array is shared.
    height : int

    Raises
    ------
    IndexError
        If a number is outside 0 .. height - 1; the message names it and its position.
    ShapeError, DTypeError
        If there is not one number per row, or they are not integers, or the values are not numbers.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.SparseTensor([2, 0, 2], [[1.0], [2.0], [3.0]], height=4)
    >>> x
    SparseTensor(3 of 4 rows, shape (4, 1), float64)
    >>> x.to_dense()
    array([[2.],
           [0.],
           [4.],
           [0.]])
    >>> x.merge().indices
    array([0, 2])
    """

    __module__ = "lodcore"

    __slots__ = ("__weakref__", "_height", "_parts")

    #: The advice if a dense array is needed: operators raise an error rather than filling the memory.
    instead_of_dense = "to_dense() makes an array of it"

    __array_ufunc__ = None  # so that ndarray + SparseTensor calls __radd__
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, indices: npt.ArrayLike, values: npt.ArrayLike, height: int) -> None:
        where = "SparseTensor"
        self._height = integer(f"{where}: height", height, bools=True)
        if not 0 <= self._height < 2**63:
            raise ShapeError(f"{where}: height: is {height}; 0 .. 2**63 - 1 is valid")
        rows = as_values(f"{where}: values", values)
        if rows.dtype.kind not in "biufc":
            raise DTypeError(f"{where}: values: have dtype {rows.dtype}; numbers are needed")
        index = buffers.sealed(buffers.as_int64(indices, f"{where}: indices", IndexError))
        if len(rows) != len(index):
            raise ShapeError(f"{where}: values: have shape {rows.shape}; one row for each of {len(index)} is needed")
        check_index(where, "indices", index, self._height)
        self._parts = [(index, rows)]

    # -- properties ----------------------------------------------------------------------------------------------------

    @property
    def indices(self) -> npt.NDArray[np.int64]:
        """The number of each row: int64, shape (n,), permanently read-only."""
        return buffers.private(self._joined()[0])

    @property
    def values(self) -> Array:
        """The rows, shape (n, ...)."""
        return self._joined()[1]

    @property
    def height(self) -> int:
        """The number of all rows."""
        return self._height

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole array."""
        return (self._height, *self._parts[0][1].shape[1:])

    @property
    def ndim(self) -> int:
        """The number of axes of the whole array."""
        return int(self._parts[0][1].ndim)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values."""
        return np.result_type(*{rows.dtype for _, rows in self._parts})

    def _joined(self) -> tuple[Any, Array]:
        """Concatenate the parts of a sum, once."""
        parts = self._parts
        if len(parts) > 1:
            index = buffers.sealed(np.concatenate([index for index, _ in parts]))
            self._parts = parts = [(index, np.concatenate([rows for _, rows in parts]))]
        return parts[0]

    # -- conversions ---------------------------------------------------------------------------------------------------

    def to_dense(self, out: Array | None = None) -> Array:
        """Return the whole array; repeated rows are added in their order.

        Parameters
        ----------
        out : ndarray, optional
            shape (height, ...): the array to write to.

        Returns
        -------
        ndarray

        Raises
        ------
        MemoryError
            If the result does not fit in memory.
        """
        where = "SparseTensor.to_dense"
        index, rows = self._joined()
        if out is None:
            check_size(where, *self.shape, rows.itemsize)
            place = out = np.empty(self.shape, rows.dtype)
        else:
            place = check_out(where, out, self.shape, rows.dtype, rows)
        add_rows(where, rows, index, place)
        return out

    def merge(self) -> SparseTensor:
        """Return the tensor with repeated rows added, in their order.

        Returns
        -------
        SparseTensor
            Its indices increase.
        """
        index, rows = self._joined()
        unique, places = numbered("SparseTensor.merge", index, self._height)
        merged = np.empty((len(unique), *rows.shape[1:]), rows.dtype)
        add_rows("SparseTensor.merge", rows, places, merged)
        return new_sparse(unique, merged, self._height)

    def clone(self) -> SparseTensor:
        """Return a copy of the values."""
        index, rows = self._joined()
        return new_sparse(index, rows.copy(), self._height)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("SparseTensor: as an array: is a copy; copy=False is not possible")
        return np.asarray(self.to_dense(), dtype)

    # -- sums ----------------------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        """Add a SparseTensor, with a sparse result (its rows come last), or an array, with a dense result."""
        if isinstance(other, SparseTensor):
            if other.shape != self.shape:
                raise ShapeError(f"SparseTensor: +: the other has shape {other.shape}; {self.shape} is needed")
            made = SparseTensor.__new__(SparseTensor)
            made._height, made._parts = self._height, [*self._parts, *other._parts]
            return made
        if not isinstance(other, (np.ndarray, np.generic, bool, int, float, complex)) and not is_holder(other):
            return NotImplemented
        if isinstance(other, np.ndarray) and other.dtype.hasobject:
            raise DTypeError(f"SparseTensor: +: the other has dtype {other.dtype}; numbers are needed")
        return self.to_dense() + (other.values if is_holder(other) else other)

    def __radd__(self, other: Any) -> Any:
        """Add to an array, with a dense result."""
        return self.__add__(other)

    # -- protocols -----------------------------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        index, rows = self._joined()
        return SparseTensor, (np.array(index), rows, self._height)

    def __repr__(self) -> str:
        count = sum(len(index) for index, _ in self._parts)
        return f"SparseTensor({count} of {self._height} rows, shape {self.shape}, {self.dtype})"


def new_sparse(index: npt.NDArray[np.int64], values: Array, height: int) -> SparseTensor:
    """Make a SparseTensor from checked private numbers and a contiguous array."""
    made = SparseTensor.__new__(SparseTensor)
    made._height, made._parts = height, [(buffers.sealed(index), values)]
    return made


def check_index(where: str, name: str, index: npt.NDArray[np.int64], height: int) -> None:
    """Raise if a number is not that of a row."""
    bad = kernels.embedding.check_index(index, height)
    if bad >= 0:
        raise IndexError(f"{where}: {name}: is {index[bad]} at position {bad}; there are {height} rows")


def numbered(where: str, index: npt.NDArray[np.int64], height: int) -> tuple[Any, Any]:
    """Return the distinct numbers of rows, increasing, and the position of each given number among them."""
    if height > 8 * len(index) + 1024:  # too many rows for a table of all of them
        check_index(where, "indices", index, height)
        unique, places = np.unique(index, return_inverse=True)
        return unique, np.ascontiguousarray(places.reshape(-1), np.int64)
    places, found = buffers.new_int64(len(index)), buffers.new_int64(len(index) + 1)
    bad = kernels.embedding.number_rows(index, buffers.new_int64(height), places, found)
    if bad >= 0:
        raise IndexError(f"{where}: indices: is {index[bad]} at position {bad}; there are {height} rows")
    return found[1 : found[0] + 1].copy(), places


def add_rows(where: str, rows: Array, index: npt.NDArray[np.int64], out: Array) -> None:
    """Set `out` to zeros, and add each row to the row with its number, in order."""
    if rows.dtype.char in "fd":
        bad = kernels.embedding.add_rows(buffers.as_cells(rows), index, buffers.as_cells(out))
        if bad >= 0:
            raise IndexError(f"{where}: indices: is {index[bad]} at position {bad}; there are {len(out)} rows")
        return
    out[...] = 0
    np.add.at(out, index, rows)
