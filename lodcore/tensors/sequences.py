"""Conversion of nested lists, and lists of tensors, to tensors of the public class, which a higher module defines."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.joining import concat_lods
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor_body import LoDTensorBody
from lodcore.tensors.nested import join_arrays, levels_and_leaves, no_number, values_of_leaves
from lodcore.tensors.utf8 import utf8_of

__all__ = ["of_lists", "sequences_like"]


def of_lists(where: str, nested: Any, dtype: np.dtype[Any] | None = None, num_levels: int | None = None) -> Any:
    """Make a LoDTensor from nested lists."""
    if len(nested) and isinstance(nested[0], LoDTensorBody):
        return _of_sequences(where, list(nested), dtype, num_levels)
    of_records = dtype is not None and dtype.names is not None
    levels, leaves, arrays = levels_and_leaves(where, list(nested), num_levels, of_records)
    if arrays and all(leaf.dtype.kind == "T" and leaf.ndim == 1 for leaf in leaves):
        levels.append(LoD.from_lengths([len(leaf) for leaf in leaves]).offsets())
        offsets, values = utf8_of(where, np.concatenate(leaves))
        levels.append(offsets)
    elif arrays:
        values, offsets = join_arrays(where, leaves, dtype)
        levels.append(offsets)
    elif len(leaves) and isinstance(leaves[0], np.ndarray):
        values, _ = join_arrays(where, leaves, dtype)
    else:
        values = values_of_leaves(where, leaves, dtype)
        if values.dtype.hasobject:
            raise no_number(where, levels, leaves)
    return lod_tensor_body.new_tensor(values, lod_body.make_lod(levels, len(values)))


def _of_sequences(where: str, xs: list[Any], dtype: np.dtype[Any] | None, num_levels: int | None) -> Any:
    """Make a LoDTensor from sequences that have levels, such as those from iterating over a deeper one."""
    for j, x in enumerate(xs):
        if not isinstance(x, LoDTensorBody):
            raise ShapeError(f"{where}: entry {j} is {type(x).__name__}, entry 0 LoDTensor; all are of one kind")
        if x.lod.num_levels != xs[0].lod.num_levels:
            raise LoDError(f"{where}: entry {j} has num_levels {x.lod.num_levels}, entry 0 {xs[0].lod.num_levels}")
    if num_levels not in (None, xs[0].lod.num_levels + 1):
        raise LoDError(f"{where}: has num_levels {xs[0].lod.num_levels + 1}; {num_levels} is given")
    inner = concat_lods(where, [x.lod for x in xs])
    outer = LoD.from_lengths([len(x) for x in xs]).offsets()
    values, _ = join_arrays(where, [x.values for x in xs], dtype)
    levels = [outer, *(inner.offsets(k) for k in range(inner.num_levels))]
    return lod_tensor_body.new_tensor(values, lod_body.make_lod(levels, len(values)))


def sequences_like(given: Any, num_levels: int, row_shape: tuple[int | None, ...], dtype: np.dtype[Any]) -> Any:
    """Convert nested lists, used with a tensor, to sequences; rows may be lists as well.

    Parameters
    ----------
    given : list
    num_levels : int
        The levels of the tensor.
    row_shape : tuple of int or None
        The shape of its rows.
    dtype : dtype
        The dtype of its values: if it has fields, tuples are records, otherwise sequences of any dtype.

    Returns
    -------
    LoDTensor or None
        None if the lists are not sequences with as many levels and axes of rows.
    """
    try:
        records = dtype if dtype.names is not None else None
        made = of_lists("sequences", given, records)
        if made.num_levels < num_levels and not made.num_rows:
            made = of_lists("sequences", given, records, num_levels)
    except (LoDError, ShapeError, DTypeError):
        return None
    rows = row_shape[: max(made.num_levels - num_levels, 0)]
    for k, size in enumerate(rows, num_levels):
        if size is None or not np.all(made.lod.lengths(k) == size):
            return None
    if made.num_levels != num_levels + len(rows) or not num_levels:
        return None
    lod = lod_body.slice_levels(made.lod, 0, num_levels)
    shape = (lod.num_rows, *rows, *made.values.shape[1:])
    if not lod.num_rows and None not in row_shape:
        shape = (0, *row_shape)
    if len(shape) != len(row_shape) + 1:
        return None
    return lod_tensor_body.new_tensor(made.values.reshape(shape), lod)
