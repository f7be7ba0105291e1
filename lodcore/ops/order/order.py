"""Sorting the rows of sequences, and their quantiles, column by column."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.naming import named
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.operators.arguments import choice_of, level_of
from lodcore.operators.lod_rules import before
from lodcore.operators.operands import Array, below, rows_below, with_levels
from lodcore.operators.registry import operator
from lodcore.operators.roles import Nested
from lodcore.ops.index.index import take_nested
from lodcore.ops.order.ordering import check_order, ordered, placed
from lodcore.ops.reduce.axes import tensor_of
from lodcore.ops.reduce.pool import cells_for, cells_of, convert_into
from lodcore.ops.reduce.quantiles import METHODS, TAKING, places_of
from lodcore.tensors import core, tensor_core
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["sequence_argsort", "sequence_median", "sequence_quantile", "sort_by_key"]

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
    The order is stable, also if descending: equal rows keep their order. nan and NaT are the greatest.

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
    offsets = below(lod, core.normalize_level(lod, level, where))
    places = ordered(where, values, offsets, bool(descending), False, True)[1]
    made = np.empty(values.shape, POSITION) if places is None else places.reshape(values.shape)
    return tensor_core.new_tensor(made, lod)


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
    levels = getattr(key, "num_levels", 0)
    if not levels:
        raise LoDError("sort_by_key: key: has no levels; those of x, or the first of them, are needed")
    if key.ndim != levels + 1:
        raise ShapeError(f"sort_by_key: key: has rows of {key.ndim - levels - 1} axes; one key an element is needed")
    return take_nested(x, sequence_argsort(key, -1, descending))


# -- quantiles ---------------------------------------------------------------------------------------------------------


@operator(x=Nested, lod_rule=before("level"))
def sequence_quantile(x: Any, q: Any, method: str = "linear", level: int = -1, skip_nan: bool = False) -> Any:
    """Compute quantiles of the rows of each sequence, column by column.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Real numbers of at most float64, dates or durations.
    q : float or sequence of float
        Probabilities, 0 .. 1.
    method : str
        As in `numpy.quantile`: "linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf",
        "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
        "median_unbiased" or "normal_unbiased".
    level : int
        The level of the sequences whose rows are reduced.
    skip_nan : bool
        Whether to ignore nan; otherwise, the quantiles of a sequence with nan are nan.

    Returns
    -------
    LoDTensor, or ndarray if `level` is the first
        One row per sequence, with one entry per probability if q is a sequence; nan for an empty sequence. Floats keep
        their dtype; other dtypes become float64, except that integers and bool keep theirs under the methods that
        select one of the numbers: "lower", "higher", "nearest", "inverted_cdf", "closest_observation". Dates and
        durations stay such, in whole units; NaT stands for nan.

    Raises
    ------
    ValueError
        If a probability is out of 0 .. 1, the method is unknown, or integers have no quantile because a sequence is
        empty.
    LevelError, DTypeError
        If the level does not exist, or x does not hold real numbers.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 2.0, 4.0], [], [5.0, 6.0]])
    >>> lodcore.sequence_quantile(x, 0.5)
    array([2. , nan, 5.5])
    >>> lodcore.sequence_quantile(x, [0.0, 1.0], "lower").tolist()
    [[1.0, 4.0], [nan, nan], [5.0, 6.0]]
    """
    return _quantiles(x, q, method, level, skip_nan)[0]


@sequence_quantile.define_residuals("positions", "low", "weights")
def _quantiles(
    x: Any, q: Any, method: str = "linear", level: int = -1, skip_nan: bool = False, saving: bool = True
) -> tuple[Any, Any, Array, Array]:
    where = "sequence_quantile"
    values, lod = x.values, x.lod
    dtype, chances, shape = _quantile_of(x.dtype, q, method, values.shape[1:])
    k = core.normalize_level(lod, level, where)
    offsets = below(lod, k)
    if values.dtype.kind in "mM":
        made = _of_dates(where, values, offsets, chances, method, skip_nan)
        return with_levels(made.reshape(len(offsets) - 1, *shape), lod, k), None, *(np.empty(0),) * 2
    cells, positions = ordered(where, values, offsets, False, True, saving and values.dtype.kind == "f")
    work = _work(dtype)
    cells = cells_of(cells, work)
    width = cells.shape[1]
    if dtype.kind == "f" and values.dtype.kind == "f":
        counts = np.empty((len(offsets) - 1, width), POSITION)
        kernels.order.count_numbers(cells, offsets, counts)
        if not skip_nan:
            lengths = rows_below(lod, k)[:, None]
            counts = np.where(counts == lengths, lengths, 0) if width != 1 else np.where(counts < lengths, 0, lengths)
    else:
        counts = rows_below(lod, k)[:, None]
        if dtype.kind != "f" and not counts.all():
            s = int(np.argmin(counts[:, 0]))
            raise ValueError(f"{where}: x: sequence {s} of level {k} is empty; {dtype} has no nan: convert to floats")
    low, weights = places_of(method, counts[:, None, :], chances[:, None])
    full = (len(counts), len(chances), width)
    if low.shape != full:
        low, weights = np.broadcast_to(low, full), np.broadcast_to(weights, full)
    low = np.ascontiguousarray(low).reshape(len(counts), len(chances) * width)
    weights = np.ascontiguousarray(np.broadcast_to(weights, full)).reshape(low.shape)
    result = buffers.new_rows(where, np.empty((0, *shape), dtype), len(counts))
    made = cells_for(result, work)
    kernels.order.mix_rows(cells, offsets, low, weights, made)
    convert_into(made, result)
    return with_levels(result, lod, k), positions, low, weights


def _of_dates(where: str, values: Array, offsets: Any, chances: Array, method: str, skip_nan: bool) -> Array:
    """Return quantiles of dates or durations, computed exactly on their integers: (sequences, chances, columns)."""
    cells = buffers.as_cells(ordered(where, values, offsets, False, True, False)[0].view(np.int64))
    missing = cells == np.iinfo(np.int64).min
    counts = np.empty((len(offsets) - 1, cells.shape[1]), POSITION)
    kernels.order.count_numbers(np.where(missing, np.nan, 0.0), offsets, counts)
    bounds = np.asarray(offsets)
    if not skip_nan:
        counts[counts < np.diff(bounds)[:, None]] = 0
    low, weights = places_of(method, counts[:, None, :], chances[:, None])
    none = low < 0
    first = bounds[:-1, None, None] + np.where(none, 0, low)
    at, column = np.minimum(first, max(len(cells) - 1, 0)), np.arange(cells.shape[1])
    after = np.minimum(at + (weights > 0), max(len(cells) - 1, 0))
    if not len(cells):
        return np.full(none.shape, "NaT", values.dtype)
    lower, upper = cells[at, column], cells[after, column]
    apart = upper.view(np.uint64) - lower.view(np.uint64)  # which int64 may not hold
    found = lower + np.where(weights == 0.5, apart // 2, (apart * weights).astype(np.uint64)).view(np.int64)
    found += (weights == 0.5) & (apart % 2 > 0) & (found < 0)  # halves of a unit are rounded toward zero
    return np.where(none, np.iinfo(np.int64).min, found).view(values.dtype)


def _work(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which a kernel reads numbers."""
    if dtype.kind == "f":
        return dtype if dtype.itemsize > 2 else np.dtype(np.float32)
    return np.dtype(np.uint64 if dtype.kind == "u" else np.int64)


def _quantile_of(
    dtype: np.dtype[Any], q: Any, method: Any, row_shape: tuple[Any, ...]
) -> tuple[np.dtype[Any], Array, tuple[Any, ...]]:
    """Return the dtype of the result, the checked probabilities, and the shape of a row of the result."""
    where = "sequence_quantile"
    if dtype.kind not in "biufmM" or dtype.itemsize > 8:
        raise DTypeError(f"{where}: x: has dtype {dtype}; real numbers of at most float64, or dates, are needed")
    choice_of(f"{where}: method", method, tuple(METHODS))
    try:
        given = np.asarray(q)
    except ValueError:
        raise ShapeError(f"{where}: q: is nested unevenly; a number or a flat sequence of them is needed") from None
    if given.dtype.kind not in "iuf" and given.size:
        raise DTypeError(f"{where}: q: has dtype {given.dtype}; numbers are needed")
    if given.ndim > 1:
        raise ShapeError(f"{where}: q: has shape {given.shape}; a number or a flat sequence of them is needed")
    chances = np.atleast_1d(given).astype(DOUBLE)
    within = (chances >= 0) & (chances <= 1)
    if not within.all():
        j = int(np.argmin(within))
        raise ValueError(f"{where}: q: is {chances[j]} at position {j}; 0 .. 1 is needed")
    kept = dtype.kind in "fmM" or method in TAKING
    return dtype if kept else DOUBLE, chances, (*given.shape, *row_shape)


@sequence_quantile.define_infer
def _(x: Spec, q: Any, method: str, level: int, skip_nan: bool) -> Spec:
    dtype, _, shape = _quantile_of(x.dtype, q, method, x.shape[1:])
    return Spec((None, *shape), dtype)


@sequence_quantile.define_vjp
def _(d: Array, level: int, positions: Array | None, low: Array, weights: Array, context: Any) -> Array:
    where, lod = "sequence_quantile", context.input_lod("x")
    offsets = below(lod, core.normalize_level(lod, level))
    d_x: Array = context.new("x")
    if positions is None:
        return d_x
    work = _work(d_x.dtype)
    given = cells_of(d.reshape(len(d), math.prod(d.shape[1:])), work)
    d_cells = np.empty(positions.shape, work)
    kernels.order.spread_mixed(given, offsets, low, weights, d_cells)
    d_sorted = d_cells.astype(d_x.dtype, copy=False)
    return placed(where, d_sorted, offsets, offsets, positions, d_x)


@named
def sequence_median(x: Any, level: int = -1, skip_nan: bool = False) -> Any:
    """Compute the median of the rows of each sequence, column by column: `sequence_quantile(x, 0.5)`.

    Parameters
    ----------
    x, level, skip_nan
        As in `sequence_quantile`.

    Returns
    -------
    LoDTensor, or ndarray if `level` is the first
        One row per sequence; nan for an empty one.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_median([[3, 1, 2], [], [5, 4]])
    array([2. , nan, 4.5])
    """
    return sequence_quantile(x, 0.5, level=level, skip_nan=skip_nan)
