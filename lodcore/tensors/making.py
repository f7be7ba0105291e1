"""How a LoDTensor is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.tensors import core, tensor_core
from lodcore.tensors.lod import LoD
from lodcore.tensors.nested import as_array, as_values, join_arrays, values_and_lender

if TYPE_CHECKING:
    import numpy.typing as npt

    from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["Makers", "guarded_values"]

Array = np.ndarray[Any, Any]


class Makers:
    """The class methods of LoDTensor that make one."""

    __slots__ = ()

    @classmethod
    def from_offsets(cls, values: npt.ArrayLike, *offsets: npt.ArrayLike) -> LoDTensor:
        """Make a LoDTensor of rows and offsets, coarse first; see `LoD.from_offsets`."""
        rows = guarded_values("LoDTensor.from_offsets: values", values)
        x: LoDTensor = tensor_core.new_of_class(cls, rows, LoD.from_offsets(*offsets, num_rows=len(rows)))
        return x

    from_row_splits = from_offsets

    @classmethod
    def from_lengths(cls, values: npt.ArrayLike, *lengths: npt.ArrayLike) -> LoDTensor:
        """Make a LoDTensor of rows and lengths, coarse first; see `LoD.from_lengths`."""
        rows = guarded_values("LoDTensor.from_lengths: values", values)
        x: LoDTensor = tensor_core.new_of_class(cls, rows, LoD.from_lengths(*lengths, num_rows=len(rows)))
        return x

    @classmethod
    def from_segment_ids(cls, values: npt.ArrayLike, ids: npt.ArrayLike, num_sequences: int | None = None) -> LoDTensor:
        """Make a LoDTensor of rows and the sequence number of each; see `LoD.from_segment_ids`."""
        rows = guarded_values("LoDTensor.from_segment_ids: values", values)
        lod = LoD.from_segment_ids(ids, num_sequences)
        if len(rows) != lod.num_rows:
            raise LoDError(f"LoDTensor.from_segment_ids: ids: has {lod.num_rows} entries; values has {len(rows)} rows")
        x: LoDTensor = tensor_core.new_of_class(cls, rows, lod)
        return x

    @classmethod
    def from_starts_stops(cls, values: npt.ArrayLike, starts: npt.ArrayLike, stops: npt.ArrayLike) -> LoDTensor:
        """Make a LoDTensor of runs of rows, which may overlap and leave gaps.

        Parameters
        ----------
        values : array_like, shape (num_rows, ...)
        starts, stops : array_like of integers, shape (n,), in rows
            0 <= start <= stop <= num_rows.

        Returns
        -------
        LoDTensor
            n sequences, copied.

        Raises
        ------
        IndexError
            Naming the first run that leaves the rows.

        Examples
        --------
        >>> from lodcore import LoDTensor
        >>> LoDTensor.from_starts_stops([10, 11, 12, 13], [2, 0], [4, 3])
        LoDTensor(2 sequences of lengths 2..3, int64: [[12, 13], [10, 11, 12]])
        """
        where = "LoDTensor.from_starts_stops"
        rows = buffers.private(as_values(f"{where}: values", values))
        first = buffers.as_int64(starts, f"{where}: starts", IndexError)
        last = buffers.as_int64(stops, f"{where}: stops", IndexError)
        if len(first) != len(last):
            raise ShapeError(f"{where}: stops: has {len(last)} entries; starts has {len(first)}")
        first, last = buffers.private(first), buffers.private(last)
        ranges = buffers.new_int64(len(first), 2)
        bad = kernels.gather.check_ranges(first, last, len(rows), ranges)
        if bad >= 0:
            raise IndexError(
                f"{where}: starts, stops: are {first[bad]}, {last[bad]} at position {bad}; "
                f"0 <= start <= stop <= {len(rows)} is needed"
            )
        offsets = buffers.new_offsets(len(ranges) + 1)
        if kernels.gather.count_ranges(ranges, offsets) >= 0:
            raise MemoryError(f"{where}: the result has more than 2**63 - 1 rows")
        total = offsets.item(len(ranges))
        taken = buffers.new_rows(where, rows, total)
        kernels.gather.copy_ranges(buffers.as_bytes(rows), ranges, buffers.as_bytes(taken))
        x: LoDTensor = tensor_core.new_of_class(cls, taken, core.make_lod([offsets], total))
        return x

    @classmethod
    def from_arrays(cls, arrays: Any, dtype: npt.DTypeLike | None = None, *, out: Array | None = None) -> LoDTensor:
        """Make a LoDTensor of one array a sequence, copied.

        Parameters
        ----------
        arrays : list of array_like, shape (length, ...)
            With equal row shapes.
        dtype : dtype_like, optional
            What NumPy promotes to, if not given; float64 for no arrays.
        out : ndarray, optional
            shape (num_rows, ...): where to write the rows.

        Returns
        -------
        LoDTensor
            One level.

        Raises
        ------
        ShapeError, DTypeError
            Naming the array that does not fit.

        Examples
        --------
        >>> import numpy as np
        >>> from lodcore import LoDTensor
        >>> LoDTensor.from_arrays([np.zeros((2, 3)), np.ones((1, 3))]).shape
        (2, None, 3)
        """
        if type(arrays) is not list:
            if isinstance(arrays, (str, bytes)) or not hasattr(arrays, "__iter__"):
                raise DTypeError(f"LoDTensor.from_arrays: arrays: is {type(arrays).__name__}; a list is needed")
            arrays = list(arrays)
        rows, offsets = join_arrays("LoDTensor.from_arrays", arrays, dtype, out)
        x: LoDTensor = tensor_core.new_of_class(cls, rows, core.make_lod([offsets], len(rows)))
        return x

    @classmethod
    def from_padded(
        cls, dense: npt.ArrayLike, lengths: npt.ArrayLike | None = None, *, mask: npt.ArrayLike | None = None
    ) -> LoDTensor:
        """Make a LoDTensor of a padded array.

        Parameters
        ----------
        dense : array_like, shape (n, padded_length, ...)
        lengths : array_like of integers, shape (n,), optional
            The first rows of each line are taken. A bool array is taken for the mask.
        mask : array_like of bool, shape (n, padded_length), optional
            Instead of lengths: the rows where it is true are taken, wherever they stand.

        Returns
        -------
        LoDTensor
            n sequences, copied.

        Raises
        ------
        ShapeError, DTypeError, LoDError
            Naming the length that does not fit, or the shape of the mask.

        Examples
        --------
        >>> from lodcore import LoDTensor
        >>> LoDTensor.from_padded([[1, 2, 0], [3, 0, 0]], [2, 1])
        LoDTensor(2 sequences of lengths 1..2, int64: [[1, 2], [3]])
        """
        where = "LoDTensor.from_padded"
        padded = as_values(f"{where}: dense", dense)
        if padded.ndim < 2:
            raise ShapeError(f"{where}: dense: has shape {padded.shape}; (n, padded_length, ...) is needed")
        if (lengths is None) == (mask is None):
            raise ValueError(f"{where}: lengths, mask: exactly one of the two is needed")
        if mask is None and getattr(lengths, "dtype", None) == np.bool_:
            lengths, mask = None, lengths
        if mask is not None:
            chosen = as_array(f"{where}: mask", mask)
            if chosen.dtype != np.bool_:
                raise DTypeError(f"{where}: mask: has dtype {chosen.dtype}; bool is needed")
            if chosen.shape != padded.shape[:2]:
                raise ShapeError(f"{where}: mask: has shape {chosen.shape}; dense has {padded.shape[:2]}")
            chosen = chosen.copy()
            kept: LoDTensor = tensor_core.new_of_class(
                cls, padded[chosen], LoD.from_lengths(chosen.sum(axis=1, dtype=np.int64))
            )
            return kept
        lod = LoD.from_lengths(buffers.as_int64(lengths, f"{where}: lengths", LoDError))
        if lod.num_sequences() != len(padded):
            raise LoDError(f"{where}: lengths: has {lod.num_sequences()} entries; dense has {len(padded)} lines")
        if kernels.offsets.max_length(lod._view(0)) > padded.shape[1]:
            j = int(np.argmax(lod.lengths() > padded.shape[1]))
            raise LoDError(
                f"{where}: lengths: is {lod.lengths()[j]} at position {j}; a line has {padded.shape[1]} rows"
            )
        rows = buffers.new_rows(where, padded, lod.num_rows, None, 2)
        kernels.pad.unpad_rows(buffers.as_lines(padded), lod._view(0), False, buffers.as_bytes(rows))
        x: LoDTensor = tensor_core.new_of_class(cls, rows, lod)
        return x


def guarded_values(where: str, given: Any) -> Array:
    """Take rows from a caller; what shares memory with it becomes read-only."""
    rows, lent = values_and_lender(where, given)
    if lent:
        rows = buffers.private(rows)
        buffers.seal(rows)
    return rows
