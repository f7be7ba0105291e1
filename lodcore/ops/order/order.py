"""The order of rows within sequences, for all that sorts: numbers, complex numbers, text and dates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.articles import with_number
from lodcore.base.memory import flag
from lodcore.base.naming import named
from lodcore.base.threads import over_sequences
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.operators.arguments import level_of
from lodcore.operators.operands import Array
from lodcore.operators.registry import operator
from lodcore.operators.roles import Nested
from lodcore.ops.index.index import take_nested
from lodcore.ops.move.checked import check, same_sequences
from lodcore.ops.reduce.axes import tensor_of
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["sequence_argsort", "sort_by_key"]

COST = 8  # of sorting numbers, relative to copying them


def check_order(where: str, dtype: np.dtype[Any]) -> None:
    """Raise if a dtype cannot be sorted by kernels."""
    if dtype.char not in "dfliqbhBHILQ?eFDSUMm":
        raise DTypeError(
            f"{where}: x: has dtype {dtype}; bool, integers, floats of at most float64, complex numbers of these, "
            "text or dates are needed"
        )


def ordered(where: str, values: Array, offsets: Any, descending: bool, cells: bool, positions: bool) -> tuple[Any, Any]:
    """Sort rows within sequences, column by column; return the sorted cells, their previous positions, or both.

    Parameters
    ----------
    where : str
    values : ndarray, shape (n_rows, ...)
        Has a dtype that can be sorted.
    offsets : int64, in rows
    descending : bool
    cells, positions : bool
        Whether to return them.

    Returns
    -------
    cells : ndarray like values, or None
    positions : ndarray of int64, shape (n_rows, width), or None
        Numbers of rows within their sequences; also None if there are no cells.
    """
    kind = values.dtype.kind
    if kind in "Mm":  # NaT is the least int64, but sorts as the greatest date
        numbers = buffers.new_rows(where, values, len(values)).view(np.int64)
        np.subtract(values.view(np.int64), 1, out=numbers)
        found, places = ordered(where, numbers, offsets, descending, cells, positions)
        if found is not None:
            np.add(found, 1, out=found)
        return None if found is None else found.view(values.dtype), places
    if kind in "SU":
        return _text(where, values, offsets, descending, cells, positions)
    if kind == "c":
        return _complex(where, values, offsets, descending, cells, positions)
    result = buffers.new_rows(where, values, len(values))
    source, target = buffers.as_cells(values), buffers.as_cells(result)
    places = buffers.new_int64(*target.shape) if positions and target.size else None
    roles = "roo.r." if places is None else "roo.rr"
    over_sequences(kernels.sort.sort_rows, roles, source, offsets, offsets, descending, target, places, cost=COST)
    return result, places


def _text(
    where: str, values: Array, offsets: Any, descending: bool, cells: bool, positions: bool
) -> tuple[Any, Array | None]:
    """Sort text by keys of its first characters, and then ties by all characters."""
    n_rows, width = len(values), math.prod(values.shape[1:])
    size, unit = values.dtype.itemsize, 1 if values.dtype.kind == "S" else 4
    result = buffers.new_rows(where, values, n_rows) if cells else None
    if not n_rows * width:
        return result, None
    letters = buffers.as_bytes(values)
    keys, kept = (buffers.new_int64(n_rows, width).view(np.uint64) for _ in range(2))
    several = kernels.order.prefix_keys(letters.reshape(n_rows * width, size), unit, keys.reshape(-1))
    places = buffers.new_int64(n_rows, width)
    over_sequences(kernels.sort.sort_rows, "roo.rr", keys, offsets, offsets, descending, kept, places, cost=COST)
    if several:
        over_sequences(kernels.order.order_ties, "r.ro.r", letters, unit, kept, offsets, descending, places, cost=COST)
    if result is not None:
        take(where, letters, offsets, places, buffers.as_bytes(result))
    return result, places if positions else None


def _complex(
    where: str, values: Array, offsets: Any, descending: bool, cells: bool, positions: bool
) -> tuple[Any, Array | None]:
    """Sort complex numbers as NumPy does: by real parts, then by imaginary parts, with those that contain nan last."""
    table = values.reshape(len(values), math.prod(values.shape[1:]))
    result = buffers.new_rows(where, values, len(values)) if cells else None
    if not table.size:
        return result, None
    keys = [table.imag, table.real]
    lost = np.isnan(keys)
    if lost.any():  # first by which parts are nan: none, the imaginary part, the real part, both
        keys.append(lost[0] + 2 * lost[1].astype(np.uint8))
    places: Any = None
    for key in keys:  # from the least to the most significant key, with stable sorts
        part = np.ascontiguousarray(key)
        kept = part if places is None else np.empty_like(part)
        if places is not None:
            take(where, buffers.as_bytes(part), offsets, places, buffers.as_bytes(kept))
        found = ordered(where, kept, offsets, descending, False, True)[1]
        if places is not None:
            before, places = places, np.empty_like(found)
            take(where, buffers.as_bytes(before), offsets, found, buffers.as_bytes(places))
        else:
            places = found
    if result is not None:
        take(where, buffers.as_bytes(values), offsets, places, buffers.as_bytes(result))
    return result, places if positions else None


def take(where: str, rows: Array, offsets: Any, positions: Array, out: Array) -> None:
    """Gather cells by their positions, which a caller may have changed."""
    bad = kernels.order.take_cells(rows, offsets, positions, out)
    if bad >= 0:
        raise IndexError(f"{where}: positions: row {bad} names no row of its sequence")


def placed(where: str, d: Array, offsets: Any, kept: Any, positions: Array | None, d_x: Array) -> Array:
    """Scatter a cotangent to the rows that were gathered."""
    if positions is None:  # there are no cells
        return d_x
    if d_x.dtype.kind == "c":
        for part in ("real", "imag"):
            numbers = np.ascontiguousarray(getattr(d, part))
            setattr(d_x, part, placed(where, numbers, offsets, kept, positions, np.empty_like(d_x.real, order="C")))
        return d_x
    bad = kernels.sort.place_cells(buffers.as_cells(d), offsets, kept, positions, buffers.as_cells(d_x))
    if bad >= 0:
        raise IndexError(f"{where}: positions: row {bad} was changed; it names no row of its sequence")
    return d_x


POSITION, DOUBLE = np.dtype(np.int64), np.dtype(np.float64)


@operator(x=Nested, differentiable=False)
def sequence_argsort(x: Any, level: int = -1, descending: bool = False) -> LoDTensor:
    """Return the indices that sort the rows of each sequence, column by column.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Has dtype bool, integer, float16, float32 or float64, complex, text, bytes, datetime64 or timedelta64.
    level : int
        The level of the sequences whose rows are sorted.
    descending : bool
        Whether the greatest comes first.

    Returns
    -------
    LoDTensor of int64
        Has the LoD of x: the positions, in the sequence, of the row that comes first, second, and so on.

    Raises
    ------
    LevelError
        If the level does not exist.
    DTypeError
        If the dtype cannot be sorted, or is wider than float64.

    Notes
    -----
    The order is stable, even if descending: equal rows keep their order. nan and NaT are the greatest.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[3, 1, 2], [], [5, 4]])
    >>> lodcore.sequence_argsort(x)
    LoDTensor(3 sequences of lengths 0..3, int64: [[1, 2, 0], [], [1, 0]])
    >>> x[lodcore.sequence_argsort(x)]
    LoDTensor(3 sequences of lengths 0..3, int64: [[1, 2, 3], [], [4, 5]])
    """
    where = "sequence_argsort"
    values, lod = x.values, x.lod
    check_order(where, values.dtype)
    offsets = lod_body.in_rows(lod, lod_body.normalize_level(lod, level, where))
    places = ordered(where, values, offsets, bool(descending), False, True)[1]
    made = np.empty(values.shape, POSITION) if places is None else places.reshape(values.shape)
    return lod_tensor_body.new_tensor(made, lod)


@sequence_argsort.define_infer
def _(x: Spec, level: int, descending: bool) -> Spec:
    check_order("sequence_argsort", x.dtype)
    level_of("sequence_argsort", x, level)
    return Spec(x.shape, POSITION)


@named
def sort_by_key(x: Any, key: Any, descending: bool = False) -> Any:
    """Sort the elements of each sequence by a key of each element.

    Parameters
    ----------
    x : LoDTensor
        Its elements are rows, or sequences with their contents.
    key : LoDTensor
        One number, text or date per element, with the first levels of x: all of them for rows, all but the last one for
        the sequences of the last level, and so on.
    descending : bool
        Whether the greatest comes first.

    Returns
    -------
    LoDTensor
        Elements with equal keys keep their order.

    Raises
    ------
    LoDError, ShapeError
        If the levels of the key are not the first levels of x, or its rows are not single keys.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([["b", "a", "c"], [], ["e", "d"]])
    >>> lodcore.sort_by_key(x, lodcore.array([[2, 1, 3], [], [0, 4]]), descending=True)
    LoDTensor(3 sequences of lengths 0..3, <U1: [['c', 'b', 'a'], [], ['d', 'e']])
    """
    x, key = tensor_of("sort_by_key", x), tensor_of("sort_by_key: key", key)
    descending = flag("sort_by_key: descending", descending)
    levels = getattr(key, "num_levels", 0)
    if not levels:
        raise LoDError("sort_by_key: key: has no levels; those of x, or the first of them, are needed")
    if key.ndim != levels + 1:
        raise ShapeError(f"sort_by_key: key: has rows of {key.ndim - levels - 1} axes; one key per element is needed")
    given = getattr(x, "num_levels", 0)
    if levels > given:
        raise LoDError(f"sort_by_key: key: has {with_number(levels, 'level')}; x has {given}")
    key = check(same_sequences, key, x, where="sort_by_key", level=levels - 1, name="key", other="x")
    return take_nested(x, sequence_argsort(key, -1, descending))
