"""SparseTensor: some rows of a large array, as the gradient of a table has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import check_out, check_size, integer
from lodcore.errors import DTypeError, ShapeError
from lodcore.tensors.nested import as_values
from lodcore.tensors.tensor import DenseTensor, Tensor

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["SparseTensor"]

Array = np.ndarray[Any, Any]


class SparseTensor(Tensor):
    """Selected rows of an array of `height` rows; all others are zero, and rows that are given twice are added.

    Parameters
    ----------
    indices : array_like of integers, shape (n,) or (n, 1)
        The numbers of the rows, in any order, with repeats. Copied.
    values : array_like, shape (n, ...)
        The rows, any dtype of numbers. Shared, if they are a C-contiguous array.
    height : int

    Raises
    ------
    IndexError
        Naming the place and the number that is outside 0 .. height - 1.
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

    __slots__ = ("_height", "_parts")

    #: What to do where a dense array is needed: operators refuse it rather than fill the memory.
    instead_of_dense = "to_dense() makes an array of it"

    __array_ufunc__ = None  # so that ndarray + SparseTensor asks this class
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

    # -- questions -----------------------------------------------------------------------------------------

    @property
    def indices(self) -> npt.NDArray[np.int64]:
        """The number of each row: int64, shape (n,), read-only for good."""
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
        """Lengths of the axes of the whole array."""
        return (self._height, *self._parts[0][1].shape[1:])

    @property
    def ndim(self) -> int:
        """Number of axes of the whole array."""
        return int(self._parts[0][1].ndim)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return np.result_type(*{rows.dtype for _, rows in self._parts})

    def _joined(self) -> tuple[Any, Array]:
        """Put the parts of a sum one after another, once."""
        parts = self._parts
        if len(parts) > 1:
            index = buffers.sealed(np.concatenate([index for index, _ in parts]))
            self._parts = parts = [(index, np.concatenate([rows for _, rows in parts]))]
        return parts[0]

    # -- other forms ---------------------------------------------------------------------------------------

    def to_dense(self, out: Array | None = None) -> Array:
        """Return the whole array: the sums of its rows, in the order in which they stand here.

        Parameters
        ----------
        out : ndarray, optional
            shape (height, ...): where to write.

        Returns
        -------
        ndarray

        Raises
        ------
        MemoryError
            If the result does not fit in the machine.
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
        """Add up the rows that are given more than once, in the order in which they stand here.

        Returns
        -------
        SparseTensor
            Its indices rise.
        """
        index, rows = self._joined()
        unique, places = numbered("SparseTensor.merge", index, self._height)
        merged = np.empty((len(unique), *rows.shape[1:]), rows.dtype)
        add_rows("SparseTensor.merge", rows, places, merged)
        return new_sparse(unique, merged, self._height)

    def clone(self) -> SparseTensor:
        """Make a copy that shares no values."""
        index, rows = self._joined()
        return new_sparse(index, rows.copy(), self._height)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("SparseTensor: as an array: is a copy; copy=False cannot be")
        return np.asarray(self.to_dense(), dtype)

    # -- sums ----------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        """Add: with a SparseTensor sparse (its rows come last), with an array dense."""
        if isinstance(other, SparseTensor):
            if other.shape != self.shape:
                raise ShapeError(f"SparseTensor: +: the other has shape {other.shape}; {self.shape} is needed")
            made = SparseTensor.__new__(SparseTensor)
            made._height, made._parts = self._height, [*self._parts, *other._parts]
            return made
        if not isinstance(other, (np.ndarray, np.generic, DenseTensor, bool, int, float, complex)):
            return NotImplemented
        return self.to_dense() + (other.values if isinstance(other, DenseTensor) else other)

    def __radd__(self, other: Any) -> Any:
        """Add to an array: dense."""
        return self.__add__(other)

    # -- protocols -----------------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        index, rows = self._joined()
        return SparseTensor, (np.array(index), rows, self._height)

    def __repr__(self) -> str:
        count = sum(len(index) for index, _ in self._parts)
        return f"SparseTensor({count} of {self._height} rows, shape {self.shape}, {self.dtype})"


def new_sparse(index: npt.NDArray[np.int64], values: Array, height: int) -> SparseTensor:
    """Make a SparseTensor of checked numbers that nobody else writes, and a contiguous array."""
    made = SparseTensor.__new__(SparseTensor)
    made._height, made._parts = height, [(buffers.sealed(index), values)]
    return made


def check_index(where: str, name: str, index: npt.NDArray[np.int64], height: int) -> None:
    """Raise if a number is not a row."""
    bad = kernels.embedding.check_index(index, height)
    if bad >= 0:
        raise IndexError(f"{where}: {name}: is {index[bad]} at position {bad}; there are {height} rows")


def numbered(where: str, index: npt.NDArray[np.int64], height: int) -> tuple[Any, Any]:
    """Return the rows that are named, in rising order, and for each name the place of its row among them."""
    if height > 8 * len(index) + 1024:  # too many rows to look at each
        check_index(where, "indices", index, height)
        unique, places = np.unique(index, return_inverse=True)
        return unique, np.ascontiguousarray(places.reshape(-1), np.int64)
    places, found = buffers.new_int64(len(index)), buffers.new_int64(len(index) + 1)
    bad = kernels.embedding.number_rows(index, buffers.new_int64(height), places, found)
    if bad >= 0:
        raise IndexError(f"{where}: indices: is {index[bad]} at position {bad}; there are {height} rows")
    return found[1 : found[0] + 1].copy(), places


def add_rows(where: str, rows: Array, index: npt.NDArray[np.int64], out: Array) -> None:
    """Add rows to zeros in `out`, each to the one that its number names, in order."""
    if rows.dtype.char in "fd":
        bad = kernels.embedding.add_rows(buffers.as_cells(rows), index, buffers.as_cells(out))
        if bad >= 0:
            raise IndexError(f"{where}: indices: is {index[bad]} at position {bad}; there are {len(out)} rows")
        return
    out[...] = 0
    np.add.at(out, index, rows)
