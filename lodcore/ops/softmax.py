"""Softmax, logarithms of sums of exponentials and running sums within sequences; each column of a row on its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import buffers, kernels, tensor_core
from lodcore.errors import DTypeError
from lodcore.lod import LoD
from lodcore.memory import check_out
from lodcore.ops.common import Array, with_levels
from lodcore.ops.moving import level_of, spec_level
from lodcore.registry import Nested, Spec, op
from lodcore.tensor import LoDTensor, as_nested

__all__ = ["sequence_cumsum", "sequence_logsumexp", "sequence_softmax"]

HALF, SINGLE, DOUBLE = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)


@op(lod="share")
def sequence_softmax(x: Nested, level: int = -1, out: Array | None = None) -> LoDTensor:
    """Compute the softmax within each sequence: exp(x - max) / sum(exp(x - max)).

    Parameters
    ----------
    x : LoDTensor or nested lists
        Real numbers; every column of a row is a softmax of its own.
    level : int
        All rows below a sequence of this level sum up to 1.
    out : ndarray, optional
        shape (number of rows, ...): where to write.

    Returns
    -------
    LoDTensor
        With the LoD of x, and its dtype: float64 for integers.

    Raises
    ------
    LevelError
        If there is no such level.
    DTypeError
        If x has no real numbers.

    Notes
    -----
    No size of the numbers overflows. A sequence with nan or inf, or of only -inf, becomes nan; beside other numbers
    -inf becomes 0. Exponentials are within 1.1 units in the last place, and have the same bits on every processor.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_softmax([[0.0, 0.0], [], [1000.0, 1000.0, -1000.0]])
    LoDTensor(3 sequences of lengths 0..3, float64: [[0.5, 0.5], [], [0.5, 0.5, 0.]])
    """
    where = "sequence_softmax"
    if type(x) is not LoDTensor:
        x = as_nested(f"{where}: x", x)
    lod = x.lod
    offsets = _in_rows(lod, level_of(where, lod, level))
    values = x.values
    rows = _as_reals(f"{where}: x", values)
    result = _new_rows(where, rows, values, out)
    if values.dtype == HALF:
        y = np.empty_like(rows)
        kernels.softmax.softmax_rows(buffers.as_cells(rows), offsets, buffers.as_cells(y))
        result[...] = y
    else:
        kernels.softmax.softmax_rows(buffers.as_cells(rows), offsets, buffers.as_cells(result))
    made: LoDTensor = tensor_core.new_tensor(result, lod)
    return made


@sequence_softmax.infer
def _(x: Spec, level: int) -> Spec:
    spec_level("sequence_softmax", x.num_levels, level)
    return x._replace(dtype=_real_dtype("sequence_softmax: x", x.dtype))


@sequence_softmax.backward
def _(saved: Any, d: Array) -> tuple[Array]:
    y, place = saved.out, saved.new("x")
    offsets = _in_rows(y.lod, y.lod._level(saved.level))
    rows = place if place.dtype != HALF else np.empty(place.shape, SINGLE)
    y, d = y.values.astype(rows.dtype, copy=False), d.astype(rows.dtype, copy=False)
    kernels.softmax.pull_softmax(buffers.as_cells(y), buffers.as_cells(d), offsets, buffers.as_cells(rows))
    if rows is not place:
        place[...] = rows
    return (place,)


@op(lod="drop")
def sequence_logsumexp(x: Nested, level: int = -1) -> Any:
    """Compute log(sum(exp(x))) of each sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Real numbers; every column of a row on its own.
    level : int
        Over all rows below a sequence of this level.

    Returns
    -------
    LoDTensor, or ndarray for the outermost level
        With the levels before `level`, one row a sequence, and the dtype of x: float64 for integers.

    Raises
    ------
    LevelError
        If there is no such level.
    DTypeError
        If x has no real numbers.

    Notes
    -----
    No size of the numbers overflows. An empty sequence, and one of only -inf, gives -inf; one with inf gives inf, one
    with nan gives nan. The gradient is the softmax.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_logsumexp([[0.0, 0.0], [], [1000.0]])
    array([6.93147181e-01,           -inf, 1.00000000e+03])
    """
    where = "sequence_logsumexp"
    if type(x) is not LoDTensor:
        x = as_nested(f"{where}: x", x)
    lod = x.lod
    k = level_of(where, lod, level)
    offsets = _in_rows(lod, k)
    values = x.values
    rows = _as_reals(f"{where}: x", values)
    result = buffers.new_rows(where, rows, lod.num_sequences(k))
    kernels.softmax.log_sum_exp(buffers.as_cells(rows), offsets, buffers.as_cells(result))
    if values.dtype == HALF:
        result = _to_half(result)
    return with_levels(result, lod, k)


@sequence_logsumexp.infer
def _(x: Spec, level: int) -> Spec:
    spec_level("sequence_logsumexp", x.num_levels, level)
    return x._replace(shape=(None, *x.shape[1:]), dtype=_real_dtype("sequence_logsumexp: x", x.dtype))


@sequence_logsumexp.backward
def _(saved: Any, d: Array) -> tuple[Array]:
    x, place = saved.x, saved.new("x")
    offsets = _in_rows(x.lod, x.lod._level(saved.level))
    rows = place if place.dtype != HALF else np.empty(place.shape, SINGLE)
    values, d = x.values.astype(rows.dtype, copy=False), d.astype(rows.dtype, copy=False)
    kernels.softmax.spread_softmax(buffers.as_cells(d), buffers.as_cells(values), offsets, buffers.as_cells(rows))
    if rows is not place:
        place[...] = rows
    return (place,)


@op(lod="share")
def sequence_cumsum(x: Nested, level: int = -1) -> LoDTensor:
    """Compute the running sums of each sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Real numbers; every column of a row on its own.
    level : int
        Over all rows below a sequence of this level.

    Returns
    -------
    LoDTensor
        With the LoD of x, and the dtype that NumPy's cumsum gives: int64 or uint64 for integers, which wrap around.

    Raises
    ------
    LevelError
        If there is no such level.
    DTypeError
        If x has no real numbers.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_cumsum([[1, 2, 3], [], [10, 20]])
    LoDTensor(3 sequences of lengths 0..3, int64: [[1, 3, 6], [], [10, 30]])
    """
    where = "sequence_cumsum"
    if type(x) is not LoDTensor:
        x = as_nested(f"{where}: x", x)
    lod = x.lod
    offsets = _in_rows(lod, level_of(where, lod, level))
    made: LoDTensor = tensor_core.new_tensor(_running_sums(where, x.values, offsets, False), lod)
    return made


def _running_sums(where: str, values: Array, offsets: Any, backwards: bool, place: Array | None = None) -> Array:
    """Compute running sums of rows, in the dtype that `_sum_dtype` gives."""
    dtype = _sum_dtype(f"{where}: x", values.dtype)
    if values.dtype == HALF:
        sums = _to_half(_running_sums(where, values.astype(SINGLE), offsets, backwards))
        if place is None:
            return sums
        place[...] = sums
        return place
    rows = values.astype(dtype, copy=False)
    result = buffers.new_rows(where, rows, len(rows)) if place is None else place
    cells, sums = buffers.as_cells(rows), buffers.as_cells(result)
    if dtype.kind in "iu":  # both wrap around alike
        cells, sums = cells.view(np.uint64), sums.view(np.uint64)
    kernels.softmax.add_up_rows(cells, offsets, backwards, sums)
    return result


@sequence_cumsum.infer
def _(x: Spec, level: int) -> Spec:
    spec_level("sequence_cumsum", x.num_levels, level)
    return x._replace(dtype=_sum_dtype("sequence_cumsum: x", x.dtype))


@sequence_cumsum.backward
def _(saved: Any, d: Array) -> tuple[Array]:
    lod = saved.out.lod
    return (_running_sums("sequence_cumsum", d, _in_rows(lod, lod._level(saved.level)), True, saved.new("x")),)


# -- what they share -----------------------------------------------------------------------------------------------


def _in_rows(lod: LoD, k: int) -> Any:
    """Give the offsets of level k in rows, for a kernel."""
    return lod._view(k) if k + 1 == lod.num_levels else lod.row_offsets(k)


def _real_dtype(where: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Give the dtype of functions of real numbers: float64 for integers."""
    if dtype in (SINGLE, DOUBLE, HALF):
        return dtype
    if dtype.kind not in "biu":
        raise DTypeError(f"{where}: has dtype {dtype}; float16, float32, float64 or integers are needed")
    return DOUBLE


def _sum_dtype(where: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Give the dtype of sums: the widest of their kind for integers."""
    if dtype.kind in "biu":
        return np.dtype(np.uint64 if dtype.kind == "u" else np.int64)
    return _real_dtype(where, dtype)


def _as_reals(where: str, values: Array) -> Array:
    """Give values that a kernel computes with: float32 (also for float16) or float64."""
    if values.dtype.char in "fd":
        return values
    return values.astype(SINGLE if _real_dtype(where, values.dtype) == HALF else DOUBLE)


def _new_rows(where: str, rows: Array, values: Array, out: Array | None) -> Array:
    """Make (or check) the array for a result like `values`, which were converted to `rows` for the kernel."""
    if out is not None:
        check_out(where, out, values.shape, HALF if values.dtype == HALF else rows.dtype, values)
        return out
    made: Array = buffers.new_rows(where, values if values.dtype == HALF else rows, len(rows))
    return made


def _to_half(rows: Array) -> Array:
    """Round to float16; what is too large becomes inf in silence."""
    with np.errstate(over="ignore"):
        return rows.astype(HALF)
