"""Helpers of the operators that copy whole sequences: operands, joined structures, gradients of copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.dispatch import Symbol
from lodcore.operators.arguments import nested_of, rows_given_of, structure_of
from lodcore.operators.operands import Array
from lodcore.tensors import lod_body
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.joining import concat_lods
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_values
from lodcore.tensors.tensor import Spec

__all__ = [
    "add_back",
    "as_rows_or_nested",
    "lod_of",
    "nested_operand",
    "put_together",
    "reals",
    "row_by_row",
    "row_ranges",
    "sequence_numbers",
    "spec_rows",
    "sum_copies",
]


# -- operands ----------------------------------------------------------------------------------------------------------


def lod_of(where: str, y: Any) -> LoD:
    """Return a LoD, or that of a LoDTensor or of nested lists."""
    if isinstance(y, LoDTensor):
        return y.lod
    return y if isinstance(y, LoD) else lod_of(where, structure_of(where, y))


def nested_operand(where: str, x: Any) -> Any:
    """Return a LoDTensor, converted from nested lists, or a Variable, for a function that calls several operators."""
    if isinstance(x, LoDTensor):
        return x
    if isinstance(x, Symbol):
        x = x.current()
        spec = getattr(x, "spec", None)
        if isinstance(spec, Spec):
            nested_of(where, spec)
            return x
    return nested_of(where, x)


def as_rows_or_nested(where: str, x: Any) -> Any:
    """Return a LoDTensor, or rows: an ndarray or a flat list; convert a list of lists to a LoDTensor."""
    if buffers.is_plain(x):
        return buffers.private(x)
    if isinstance(x, LoDTensor):
        return x if x.lod.num_levels else x.values
    if isinstance(x, (list, tuple)):
        nested = len(x) and isinstance(x[0], (list, tuple))
        return as_nested(where, x) if nested else as_values(where, x)
    return as_values(where, rows_given_of(where, x))


def spec_rows(x: Spec) -> tuple[int | None, ...]:
    """Return the shape of an unknown number of rows: None, followed by the shape of a row."""
    return (None, *x.shape[1:])


# -- structures --------------------------------------------------------------------------------------------------------


def put_together(
    where: str, lods: list[LoD], k: int, count: int, values: list[Array], rows: Array, join: Callable[..., Any]
) -> list[Array]:
    """Join the sequences of level k of several batches, with their contents.

    Parameters
    ----------
    where : str
    lods : list of LoD
    k : int
    count : int
        The number of sequences of level k of the result.
    values : list of ndarray
        The rows of each batch.
    rows : ndarray
        The array to write the rows of the result to.
    join : callable
        The kernel, called with arrays, their offsets, the offsets of the result, and its rows.

    Returns
    -------
    list of ndarray
        The offsets of level k of the result and of the levels below.
    """
    offsets: Array = buffers.new_offsets(count + 1)
    target = buffers.as_bytes(rows)
    if k + 1 == lods[0].num_levels:
        join(values, [lod_body.offsets_view(lod, k) for lod in lods], offsets, target)
        return [offsets]
    parts = [lod_body.slice_levels(lod, k + 1, lod.num_levels) for lod in lods]
    counts = [part.num_sequences(0) for part in parts]
    starts = [sum(counts[:j]) for j in range(len(counts))]
    numbers = [np.arange(start, start + size) for start, size in zip(starts, counts, strict=True)]
    index = buffers.new_int64(sum(counts))
    join(numbers, [lod_body.offsets_view(lod, k) for lod in lods], offsets, buffers.as_bytes(index))
    finer = concat_lods(where, parts).take(index)
    join(values, [lod.row_offsets(k) for lod in lods], buffers.new_int64(count + 1), target)
    return [offsets, *(finer.offsets(j) for j in range(finer.num_levels))]


# -- gradients ---------------------------------------------------------------------------------------------------------


def reals(rows: Array) -> Array:
    """Return a view of rows of real or complex numbers as real numbers: shape (n_rows, width)."""
    return buffers.as_cells(rows, rows.real.dtype)


def row_ranges(lod: LoD, k: int, index: Array) -> Array:
    """Return the ranges of the rows of sequences of level k, given by their numbers: int64, shape (n, 2)."""
    ranges: Array = buffers.new_int64(len(index), 2)
    bad = kernels.gather.take_sequences(lod.row_offsets(k), index, ranges, buffers.new_int64(len(index) + 1))
    if bad >= 0:
        raise IndexError(
            f"lodcore: index: is {index[bad]} at position {bad}; there are {lod.num_sequences(k)} sequences"
        )
    return ranges


def row_by_row(places: Array) -> Array:
    """Return ranges of one row each, given by their numbers: int64, shape (n, 2)."""
    return np.stack([places, places + 1], axis=1)


def add_back(d: Array, ranges: Array, place: Array) -> Array:
    """Accumulate the cotangent of copied ranges at the rows from which they were copied, in `place`."""
    return _summed(kernels.gather.add_ranges, d, place, ranges)


def sum_copies(d: Array, offsets: Any, place: Array) -> Array:
    """Sum the cotangents of the copies of each row, the rows of a sequence, into `place`."""
    return _summed(kernels.pool.sum_rows, d, place, offsets, 0)


def _summed(kernel: Callable[..., Any], d: Array, place: Array, *args: Any) -> Array:
    """Sum with a kernel for float32 and float64: complex numbers as pairs, other dtypes converted."""
    if d.dtype.char in "fdFD":
        kernel(reals(d), *args, reals(place))
        return place
    dtype = np.dtype(np.float32 if d.dtype.itemsize == 2 else np.complex128 if d.dtype.kind == "c" else np.float64)
    sums = np.empty(place.shape, dtype)
    kernel(reals(d.astype(dtype)), *args, reals(sums))
    place[...] = sums
    return place


def sequence_numbers(offsets: Any) -> Array:
    """Return the number of the sequence of each row."""
    numbers = buffers.new_int64(offsets[len(offsets) - 1])
    kernels.lod.segment_ids(offsets, numbers)
    return numbers
