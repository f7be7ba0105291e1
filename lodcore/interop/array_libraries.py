"""Conversions for SciPy's CSR matrices, TensorFlow's RaggedTensor, JAX's segments, thinc's Ragged, and DLPack."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lodcore import kernels
from lodcore.base.libraries import library
from lodcore.base.memory import check_size, integer, narrow
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.foreign_data import private_lod
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import guarded_values

__all__ = [
    "Segments",
    "from_dlpack",
    "from_jax",
    "from_scipy",
    "from_tensorflow",
    "from_thinc",
    "records_of_scipy",
    "to_jax",
    "to_scipy",
    "to_tensorflow",
    "to_thinc",
]

Array = np.ndarray[Any, Any]


# -- SciPy -------------------------------------------------------------------------------------------------------------


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
    values : LoDTensor or nested lists, optional
        Must have an equal LoD; by default ones.
    num_columns : int, optional
        By default one more than the largest column.

    Returns
    -------
    scipy.sparse.csr_array
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
    width = most if num_columns is None else integer(f"{where}: num_columns", num_columns)
    if ids.num_rows and (int(ids.values.min()) < 0 or most > width):
        at = int(np.argmax((ids.values < 0) | (ids.values >= width)))
        raise IndexError(f"{where}: columns: is {ids.values[at]} at row {at}; there are {width} columns")
    numbers = np.int32 if max(width, ids.num_rows) < 2**31 else np.int64
    parts = (data, ids.values.astype(numbers), ids.offsets.astype(numbers))
    return sparse.csr_array(parts, shape=(len(ids), width))


def _like(where: str, ids: LoDTensor, values: LoDTensor) -> Array:
    if values.lod != ids.lod:
        raise LoDError(f"{where}: values: have another structure than columns; equal LoDs are needed")
    return values.values


# -- TensorFlow --------------------------------------------------------------------------------------------------------


def to_tensorflow(x: Any) -> Any:
    """Convert a LoDTensor to a TensorFlow RaggedTensor, which is a copy.

    Parameters
    ----------
    x : LoDTensor, or nested lists

    Returns
    -------
    tensorflow.RaggedTensor
    """
    where = "lodcore.to_tensorflow"
    tensorflow = library("tensorflow", "tensorflow", where)
    x = as_nested(f"{where}: x", x)
    if not x.num_levels:
        raise LoDError(f"{where}: x: has no level")
    splits = [x.lod.offsets(level) for level in range(x.num_levels)]
    return tensorflow.RaggedTensor.from_nested_row_splits(tensorflow.constant(x.values), splits, validate=False)


def from_tensorflow(x: Any) -> LoDTensor:
    """Convert an eager TensorFlow RaggedTensor to a LoDTensor.

    Parameters
    ----------
    x : tensorflow.RaggedTensor

    Returns
    -------
    LoDTensor
        Has one level per ragged axis; its offsets are checked.
    """
    where = "lodcore.from_tensorflow"
    if not hasattr(x, "nested_row_splits") or not hasattr(x, "flat_values"):
        raise DTypeError(f"{where}: x: is {type(x).__name__}; a RaggedTensor is needed")
    values = np.asarray(x.flat_values)
    if values.dtype.hasobject:
        raise DTypeError(f"{where}: x: has dtype {x.dtype.name}; tensorflow.io.decode_raw makes numbers of strings")
    return LoDTensor.from_offsets(values, *(np.asarray(level) for level in x.nested_row_splits))


# -- JAX ---------------------------------------------------------------------------------------------------------------


class Segments(NamedTuple):
    """Sequences in the form that JAX needs: arrays of a fixed size, and the number of the sequence of each row.

    Parameters
    ----------
    values : jax.Array, shape (size, ...)
        The rows, followed by zeros.
    segment_ids : jax.Array, int32, shape (size,)
        The sequence of each row, followed by `num_segments`, which `jax.ops.segment_sum` drops.
    positions : jax.Array, int32, shape (size,)
        The position of each row in its sequence.
    num_segments : int
    """

    values: Any
    segment_ids: Any
    positions: Any
    num_segments: int

    def to_lodtensor(self) -> LoDTensor:
        """Convert the segments to a LoDTensor; see `from_jax`."""
        return from_jax(self.values, self.segment_ids, self.num_segments)


def to_jax(x: Any, size: int | None = None, level: int = -1) -> Segments:
    """Convert a LoDTensor to segments for JAX.

    Parameters
    ----------
    x : LoDTensor, or nested lists
    size : int, optional
        The number of rows of the arrays, at least that of x, which is the default: a function compiled for one size is
        reused.
    level : int
        The level whose sequences are the segments.

    Returns
    -------
    Segments
    """
    where = "lodcore.to_jax"
    numpy = library("jax.numpy", "jax", where)
    x = as_nested(f"{where}: x", x)
    total = x.num_rows if size is None else integer(f"{where}: size", size)
    if total < x.num_rows:
        raise ValueError(f"{where}: size: is {total}; x has {x.num_rows} rows")
    check_size(where, total, x.values.nbytes // max(1, x.num_rows) or 1)
    count = x.lod.num_sequences(level)
    if max(count, total) >= 2**31:
        raise OverflowError(f"{where}: x: has {count} sequences and {total} rows; int32 numbers them")
    ids, places = np.full(total, count, np.int32), np.zeros(total, np.int32)
    ids[: x.num_rows], places[: x.num_rows] = x.lod.segment_ids(level), x.lod.positions(level)
    values = x.values
    if total > x.num_rows:
        values = np.zeros((total, *values.shape[1:]), values.dtype)
        values[: x.num_rows] = x.values
    return Segments(numpy.asarray(values), numpy.asarray(ids), numpy.asarray(places), count)


def from_jax(values: Any, segment_ids: Any, num_segments: int | None = None) -> LoDTensor:
    """Convert values and segment ids of JAX, as `to_jax` returns them, to a LoDTensor.

    Parameters
    ----------
    values : jax.Array, shape (size, ...)
    segment_ids : jax.Array of integers, shape (size,)
        Must not decrease; rows whose id is `num_segments` or more are padding.
    num_segments : int, optional
        By default one more than the last id.

    Returns
    -------
    LoDTensor
        Has one level; shares the memory of values on the CPU.
    """
    where = "lodcore.from_jax"
    ids = np.asarray(segment_ids).astype(np.int64)
    rows = guarded_values(f"{where}: values", np.asarray(values))
    if ids.ndim != 1 or len(ids) != len(rows):
        raise LoDError(f"{where}: segment_ids: have shape {ids.shape}; values have {len(rows)} rows")
    if num_segments is not None:
        count = integer(f"{where}: num_segments", num_segments)
        used = len(ids)
        filling = ids >= count
        if filling.any():
            used = int(np.argmax(filling))
            if not filling[used:].all():
                raise LoDError(f"{where}: segment_ids: decrease after row {used}; padding must be at the end")
        ids, rows = ids[:used], rows[:used]
    lod = LoD.from_segment_ids(ids, num_segments)
    return lod_tensor_body.new_tensor(rows, lod)


# -- thinc, DLPack -----------------------------------------------------------------------------------------------------


def to_thinc(x: Any) -> Any:
    """Convert a LoDTensor of one level to a thinc Ragged, which shares the values; its lengths are int32.

    Parameters
    ----------
    x : LoDTensor, or nested lists

    Returns
    -------
    thinc.types.Ragged
    """
    where = "lodcore.to_thinc"
    types = library("thinc.types", "thinc", where)
    x = as_nested(f"{where}: x", x)
    if x.num_levels != 1:
        raise LoDError(f"{where}: x: has {x.num_levels} levels; a Ragged has one: x.flatten(0)")
    return types.Ragged(
        x.values, narrow(where, np.append(x.lengths, kernels.lod.max_length(lod_body.offsets_view(x.lod, 0))))[:-1]
    )


def from_thinc(x: Any) -> LoDTensor:
    """Convert a thinc Ragged to a LoDTensor, which shares its data.

    Parameters
    ----------
    x : thinc.types.Ragged

    Returns
    -------
    LoDTensor
    """
    where = "lodcore.from_thinc"
    if not hasattr(x, "dataXd") or not hasattr(x, "lengths"):
        raise DTypeError(f"{where}: x: is {type(x).__name__}; a Ragged is needed")
    return LoDTensor.from_lengths(x.dataXd, x.lengths)


def from_dlpack(values: Any, *offsets: Any) -> LoDTensor:
    """Make a LoDTensor from flat buffers with DLPack: tensors on the CPU of torch or JAX, or NumPy arrays.

    Parameters
    ----------
    values : object with ``__dlpack__``, shape (num_rows, ...)
        The rows, whose memory is shared read-only.
    *offsets : object with ``__dlpack__``, or array_like of integers
        The offsets of each level, coarse first, which are copied and checked.

    Returns
    -------
    LoDTensor

    Notes
    -----
    The opposite direction needs no function, since `x.values` supports DLPack.

    Examples
    --------
    >>> import lodcore, numpy as np
    >>> lodcore.from_dlpack(np.arange(3), [0, 2, 3])
    LoDTensor(2 sequences of lengths 1..2, int64: [[0, 1], [2]])
    """
    where = "lodcore.from_dlpack"
    if not hasattr(values, "__dlpack__"):
        raise DTypeError(f"{where}: values: is {type(values).__name__}; something with __dlpack__ is needed")
    levels = [
        exchanged(f"{where}: offsets: level {k}", v) if hasattr(v, "__dlpack__") else v for k, v in enumerate(offsets)
    ]
    return LoDTensor.from_offsets(exchanged(f"{where}: values", values), *levels)


def exchanged(what: str, values: Any) -> Any:
    """Share the memory of something with DLPack; an array stays as it is, since NumPy 2.0 refuses read-only ones."""
    if isinstance(values, np.ndarray):
        return values
    try:
        return np.from_dlpack(values)
    except (BufferError, RuntimeError, TypeError) as error:
        raise DTypeError(f"{what}: cannot be shared: {error}") from None
