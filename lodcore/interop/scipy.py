"""Conversions for SciPy's CSR matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.libraries import library
from lodcore.base.memory import integer
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.interop.foreign_data import private_lod
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import guarded_values

__all__ = ["from_scipy", "records_of_scipy", "to_scipy"]

MOST_COLUMNS = 2**63 - 1


def from_scipy(matrix: Any) -> tuple[LoDTensor, LoDTensor]:
    """Convert a CSR matrix to two LoDTensors: the column and the value of each entry, row by row.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array or csr_matrix

    Returns
    -------
    (LoDTensor, LoDTensor)
        Columns and values with one LoD, which share the memory of the matrix and are read-only.

    Raises
    ------
    LoDError
        If the offsets decrease, or end after the entries.
    IndexError
        If a column is out of range.
    """
    where = "lodcore.from_scipy"
    if getattr(matrix, "format", None) != "csr":
        raise DTypeError(f"{where}: matrix: is {type(matrix).__name__}; a sparse matrix of rows is needed: m.tocsr()")
    lod, first, stop = private_lod(f"{where}: matrix.indptr", matrix.indptr)
    columns, values = (guarded_values(f"{where}: matrix", part) for part in (matrix.indices, matrix.data))
    if lod.num_sequences() != matrix.shape[0] or stop > min(len(columns), len(values)):
        raise LoDError(
            f"{where}: matrix.indptr: has {lod.num_sequences()} rows and ends at {stop}; the matrix has "
            f"{matrix.shape[0]} rows and {min(len(columns), len(values))} entries"
        )
    columns, values = columns[first:stop], values[first:stop]
    if len(columns) and not (int(columns.min()) >= 0 and int(columns.max()) < matrix.shape[1]):
        at = int(np.argmax((columns < 0) | (columns >= matrix.shape[1])))
        raise IndexError(f"{where}: matrix.indices: is {columns[at]} at {at}; there are {matrix.shape[1]} columns")
    return lod_tensor_body.new_tensor(columns, lod), lod_tensor_body.new_tensor(values, lod)


def records_of_scipy(matrix: Any) -> LoDTensor:
    """Convert a CSR matrix to a LoDTensor of records, as `lodcore.array` does.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array or csr_matrix

    Returns
    -------
    LoDTensor
        Copied records with the fields `column` and `value`.
    """
    columns, values = from_scipy(matrix)
    records = np.empty(columns.num_rows, [("column", columns.dtype), ("value", values.dtype)])
    records["column"], records["value"] = columns.values, values.values
    return lod_tensor_body.new_tensor(records, columns.lod)


def to_scipy(columns: Any, values: Any = None, num_columns: int | None = None) -> Any:
    """Convert LoDTensors to a CSR matrix, whose row i has the columns and values of sequence i.

    Parameters
    ----------
    columns : LoDTensor of integers, or nested lists
        One level.
    values : LoDTensor of numbers, or nested lists, optional
        Must have an equal LoD; by default ones.
    num_columns : int, optional
        By default one more than the largest column.

    Returns
    -------
    scipy.sparse.csr_array

    Raises
    ------
    IndexError
        If a column is out of range.
    LoDError, ShapeError, DTypeError
        If columns and values have other levels, rows with axes, or dtypes that SciPy does not have.
    """
    where = "lodcore.to_scipy"
    sparse = library("scipy.sparse", "scipy", where)
    ids = as_nested(f"{where}: columns", columns)
    if ids.num_levels != 1 or ids.values.ndim != 1:
        raise LoDError(f"{where}: columns: have shape {ids.shape}; one level of numbers is needed")
    if ids.dtype.kind not in "iu" and ids.num_rows:
        raise DTypeError(f"{where}: columns: have dtype {ids.dtype}; integers are needed")
    data = np.ones(ids.num_rows) if values is None else _like(where, ids, as_nested(f"{where}: values", values))
    most = int(ids.values.max()) + 1 if ids.num_rows else 0
    width = min(most, MOST_COLUMNS) if num_columns is None else integer(f"{where}: num_columns", num_columns)
    if not 0 <= width <= MOST_COLUMNS:
        raise ValueError(f"{where}: num_columns: is {width}; 0 .. {MOST_COLUMNS} is needed")
    if ids.num_rows and (int(ids.values.min()) < 0 or most > width):
        at = int(np.argmax((ids.values < 0) | (ids.values >= width)))
        raise IndexError(f"{where}: columns: is {ids.values[at]} at row {at}; there are {width} columns")
    numbers = np.int32 if max(width, ids.num_rows) < 2**31 else np.int64
    parts = (data, ids.values.astype(numbers), ids.offsets.astype(numbers))
    return sparse.csr_array(parts, shape=(len(ids), width))


def _like(where: str, ids: LoDTensor, values: LoDTensor) -> np.ndarray[Any, Any]:
    """Return the values of columns, one number for each."""
    if values.values.ndim != 1:
        raise ShapeError(f"{where}: values: have rows of shape {values.values.shape[1:]}; one number a row is needed")
    if values.dtype.kind not in "biufc" or values.dtype == np.float16:
        raise DTypeError(f"{where}: values: have dtype {values.dtype}, which sparse arrays of SciPy do not have")
    if values.lod != ids.lod:
        raise LoDError(f"{where}: values: have a different structure from columns; equal LoDs are needed")
    return values.values
