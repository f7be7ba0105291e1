"""Conversions for JAX: arrays of a fixed size with the number of the sequence of each row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lodcore.base.libraries import library
from lodcore.base.memory import check_size, integer
from lodcore.errors import LoDError
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import guarded_values

__all__ = ["Segments", "from_jax", "to_jax"]


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


Segments.__module__ = "lodcore.interop"


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
