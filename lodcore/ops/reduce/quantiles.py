"""Quantiles and medians of sequences, and over axes of the ragged shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.dispatch import Symbol
from lodcore.base.memory import flag
from lodcore.base.naming import named
from lodcore.base.threads import get_num_threads
from lodcore.errors import DTypeError, ShapeError
from lodcore.operators.arguments import choice_of
from lodcore.operators.lod_rules import before
from lodcore.operators.operands import Array, rows_below, with_levels
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Nested
from lodcore.ops.elementwise.convert import concat_values
from lodcore.ops.index.index_values import index_values
from lodcore.ops.move.arrange import rows_to_level
from lodcore.ops.move.position import insert_level
from lodcore.ops.order.order import ordered, placed
from lodcore.ops.reduce.axes import check_keepdims, tensor_of
from lodcore.ops.reduce.pool import cells_for, cells_of, convert_into
from lodcore.ops.reduce.reduce_values import (
    axes_of,
    brought_last,
    is_below,
    of_result,
    put_back,
    with_axes_of_1,
)
from lodcore.tensors import lod_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_array
from lodcore.tensors.tensor import Spec

__all__ = ["nanmedian", "nanquantile", "quantile", "sequence_median", "sequence_quantile"]

Place = tuple[Array, Any]


def _between(index: Array) -> Place:
    """Split a fractional position into the row below and the weight of the row above."""
    low = np.floor(index)
    return low, index - low


def _along(alpha: float, beta: float) -> Callable[[Array, Array], Place]:
    """Return the method for two constants of Hyndman and Fan."""

    def place(n: Array, q: Array) -> Place:
        return _between(n * q + (alpha + q * (1 - alpha - beta)) - 1)

    return place


def _inverted(n: Array, q: Array) -> Place:
    low, rest = _between(n * q - 1)
    return low + (rest != 0), 0.0


def _averaged(n: Array, q: Array) -> Place:
    low, rest = _between(n * q - 1)
    return low, np.where(rest == 0, 0.5, 1.0)


def _closest(n: Array, q: Array) -> Place:
    low, rest = _between(n * q - 1 - 0.5)
    return low + ((rest != 0) | (low % 2 == 0)), 0.0


def _midpoint(n: Array, q: Array) -> Place:
    low, rest = _between((n - 1) * q)
    return low, np.where(rest == 0, 0.0, 0.5)


#: The methods by name. They map counts and probabilities, which broadcast, to the row below and the weight of the row
#: above.
METHODS: dict[str, Callable[[Array, Array], Place]] = {
    "inverted_cdf": _inverted,
    "averaged_inverted_cdf": _averaged,
    "closest_observation": _closest,
    "interpolated_inverted_cdf": _along(0, 1),
    "hazen": _along(0.5, 0.5),
    "weibull": _along(0, 0),
    "linear": lambda n, q: _between((n - 1) * q),
    "median_unbiased": _along(1 / 3.0, 1 / 3.0),
    "normal_unbiased": _along(3 / 8.0, 3 / 8.0),
    "lower": lambda n, q: (np.floor((n - 1) * q), 0.0),
    "higher": lambda n, q: (np.ceil((n - 1) * q), 0.0),
    "midpoint": _midpoint,
    "nearest": lambda n, q: (np.rint((n - 1) * q), 0.0),
}

#: The methods that select one of the numbers, so that quantiles of integers are integers.
TAKING = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")


def places_of(method: str, n: Array, q: Array) -> tuple[Array, Array]:
    """Return the row below each quantile, and the weight of the row above.

    Parameters
    ----------
    method : str
        One of METHODS.
    n : ndarray of int64
        Counts of numbers; without numbers there is no quantile.
    q : ndarray of float64
        Probabilities; they broadcast with n.

    Returns
    -------
    low : ndarray of int64
        At most n - 1; -1 if n is 0.
    weights : ndarray of float64
    """
    low, weights = METHODS[method](n, q)
    weights = np.where((low < 0) | (low >= n - 1), 0.0, weights)  # clipped to the first or the last row
    return np.minimum(np.maximum(low, 0), n - 1).astype(np.int64), weights


#: In a sequence of this many rows or more, numbers are selected sooner than all are sorted, unless they are many.
LONG, FEW = 2**16, 8

POSITION, DOUBLE = np.dtype(np.int64), np.dtype(np.float64)


@operator(x=Nested, lod_rule=before("level"))
def sequence_quantile(
    x: Any, q: Any, method: str = "linear", level: int = -1, skip_nan: bool = False, *, saved: Saved = None
) -> Any:
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
        durations keep their dtype, and NaT stands for nan: between two of them, a quantile is rounded down to a whole
        unit, in the middle toward zero; `numpy.quantile` rounds some of them differently.

    Raises
    ------
    ValueError
        If a probability is outside 0 .. 1, the method is unknown, or integers have no quantile because a sequence is
        empty.
    LevelError, DTypeError
        If the level does not exist, or x holds other values.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 2.0, 4.0], [], [5.0, 6.0]])
    >>> lodcore.sequence_quantile(x, 0.5)
    array([2. , nan, 5.5])
    >>> lodcore.sequence_quantile(x, [0.0, 1.0], "lower").tolist()
    [[1.0, 4.0], [nan, nan], [5.0, 6.0]]
    """
    where = "sequence_quantile"
    values, lod = x.values, x.lod
    dtype, chances, shape = _quantile_of(x.dtype, q, method, values.shape[1:])
    k = lod_body.normalize_level(lod, level, where)
    offsets = lod_body.in_rows(lod, k)
    if values.dtype.kind in "mM":
        made = _of_dates(where, values, offsets, chances, method, skip_nan)
        return with_levels(made.reshape(len(offsets) - 1, *shape), lod, k)
    if saved is not None and values.dtype.kind == "f":
        cells, positions = ordered(where, values, offsets, False, True, True)
    else:
        cells, positions = _selected(where, values, offsets, chances, method), None
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
    if saved is not None:
        saved.update(positions=positions, low=low, weights=weights)
    return with_levels(result, lod, k)


def _selected(where: str, values: Array, offsets: Any, chances: Array, method: str) -> Array:
    """Return the rows of each sequence, those of its quantiles and its first nan where sorting would put them."""
    if len(values) < LONG or values[:1].size > 1 or values.dtype == np.bool_ or get_num_threads() > 1:
        return _sorted(where, values, offsets)
    bounds, result, begin = np.asarray(offsets), values, 0
    for s in np.flatnonzero(np.diff(bounds) >= LONG).tolist():
        rows = slice(bounds[s], bounds[s + 1])
        found = _partitioned(buffers.as_cells(values[rows]), chances, method)
        if found is None:
            continue
        if result is values:
            result = buffers.new_rows(where, values, len(values))
        _sort(where, values, bounds[begin : s + 1], result)
        buffers.as_cells(result)[rows] = found
        begin = s + 1
    if result is values:
        return _sorted(where, values, offsets)
    _sort(where, values, bounds[begin:], result)
    return result


def _sort(where: str, values: Array, bounds: Array, out: Array) -> None:
    """Sort the rows of some sequences."""
    rows = slice(bounds[0], bounds[-1])
    out[rows] = _sorted(where, values[rows], bounds - bounds[0])


def _sorted(where: str, values: Array, offsets: Any) -> Array:
    cells: Array = ordered(where, values, offsets, False, True, False)[0]
    return cells


def _partitioned(cells: Array, chances: Array, method: str) -> Array | None:
    """Return the cells of a sequence, some of them where sorting would put them, if that takes less time."""
    size, is_float = len(cells), cells.dtype.kind == "f"
    counts = size - np.isnan(cells).sum(axis=0) if is_float else np.array([size])
    low, _ = places_of(method, counts, chances[:, None])
    places = sorted(k for k in {*low.flat, *(low + 1).flat, *counts} if 0 <= k < size)
    if not 0 < len(places) <= FEW:
        return None
    if is_float and (np.signbit(cells) & (cells == 0)).any():  # which of several zeros, sorting decides
        return None
    return np.partition(cells, places, axis=0)


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
def _(d: Array, x: LoDTensor, level: int, positions: Array | None, low: Array, weights: Array, context: Any) -> Array:
    where, lod = "sequence_quantile", x.lod
    offsets = lod_body.in_rows(lod, lod_body.normalize_level(lod, level))
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
        One row per sequence; nan for an empty one. The median of an even number of dates or durations is rounded toward
        zero, for dates toward 1970: that of 2024-01-01 and 2024-01-04 is 2024-01-02 (01-03 in `numpy.quantile`).

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_median([[3, 1, 2], [], [5, 4]])
    array([2. , nan, 4.5])
    """
    return sequence_quantile(x, 0.5, level=level, skip_nan=skip_nan)


@named
def quantile(
    x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False, skip_nan: bool = False
) -> Any:
    """Compute quantiles over axes of levels.

    Parameters
    ----------
    x : LoDTensor
        Has a level; values as in `sequence_quantile`.
    q : float or sequence of float
        Probabilities, 0 .. 1.
    axis : int or tuple of int, optional
        As in `sum`; by default all values. Axes must be those of levels, along with all axes of a row or none.
    method : str
        As in `sequence_quantile`.
    keepdims : bool
        Keep the reduced axes with length 1, as in `sum`; needs an axis.
    skip_nan : bool
        Whether to ignore nan.

    Returns
    -------
    LoDTensor, ndarray or number
        If q is a sequence, its axis is the first one, as in NumPy, or the first axis of a row if levels are left.

    Raises
    ------
    ValueError
        If a probability is outside 0 .. 1, the method is unknown, or integers have no quantile because there are none.
    ShapeError, DTypeError
        If the axis does not exist, or x or q hold other values.
    TypeError
        If x has no levels, only some axes of a row are given, or axes are kept although none is given or, with several
        quantiles, a ragged axis follows.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 2.0, 4.0], [3.0]])
    >>> lodcore.ops.quantile(x, 0.5, axis=1), lodcore.ops.quantile(x, [0, 1], axis=1).tolist()
    (array([2., 3.]), [[1.0, 3.0], [4.0, 3.0]])
    """
    name = "nanquantile" if flag("quantile: skip_nan", skip_nan) else "quantile"
    x, keepdims = tensor_of(name, x), flag(f"{name}: keepdims", keepdims)
    levels = getattr(x, "num_levels", 0)
    if not levels:
        raise TypeError(f"{name}: x: has no levels; use numpy.{name}")
    if isinstance(q, (list, tuple)):
        _quantile_of(x.dtype, q, method, ())  # which refuses an uneven list in our words
    if type(axis) is int and axis == levels and not keepdims:  # the usual case
        return _of_sequences(x, q, method, levels - 1, skip_nan)
    axes = tuple(range(x.ndim)) if axis is None else axes_of(name, axis, x.ndim)
    upper = [one for one in axes if one <= levels]
    rows = tuple(one - levels for one in axes if one > levels)
    if rows and len(rows) != x.ndim - levels - 1:
        raise TypeError(f"{name}: axis: is {axis}; axes of levels, and of rows all or none, are possible")
    check_keepdims(name, axis, keepdims)
    for _ in rows:
        x = rows_to_level(x)
    upper += [levels + one for one in rows]
    whole = len(upper) == x.num_levels + 1
    x = insert_level(x, 0, True) if whole else brought_last(x, upper)
    found = _of_sequences(x, q, method, 0 if whole else x.num_levels - 1, skip_nan)
    if whole and not keepdims:
        return _first(found, np.ndim(q))
    if not keepdims:
        return found
    if whole or is_below(tuple(upper), levels + len(rows)):
        return _kept(found, len(upper) - whole, np.ndim(q))
    if np.ndim(q):
        raise TypeError(f"{name}: keepdims: goes with one quantile along axis {axis}")
    return put_back(with_axes_of_1(found, len(rows)), upper[: len(upper) - len(rows)], levels)


def as_chances(where: str, q: Any, percent: bool) -> Any:
    """Return q as an array of numbers, percentages divided by 100."""
    if isinstance(q, Symbol):
        raise DTypeError(f"{where}: q: is a Variable; numbers are needed")
    made = as_array(f"{where}: q", q)
    if made.dtype.kind not in "biuf":
        raise DTypeError(f"{where}: q: has dtype {made.dtype}; numbers are needed")
    if percent and not np.all((made >= 0) & (made <= 100)):
        bad = made[~((made >= 0) & (made <= 100))].flat[0]
        raise ValueError(f"{where}: q: is {bad}; percentages of 0 .. 100 are needed")
    return np.true_divide(made, 100) if percent else made


def _of_sequences(x: Any, q: Any, method: str, level: int, skip_nan: bool) -> Any:
    """Compute quantiles of sequences; if no levels are left, several quantiles are along the first axis."""
    if np.ndim(q) == 0 or level % x.num_levels:
        return sequence_quantile(x, q, method, level, skip_nan)
    found = sequence_quantile(x, q, method, level, skip_nan)
    if type(found) is np.ndarray:
        return np.moveaxis(found, 1, 0)
    each = [sequence_quantile(x, one, method, level, skip_nan) for one in np.asarray(q)]
    return concat_values([index_values(one, [None]) for one in each], 0) if each else found


def _first(found: Any, several: int) -> Any:
    """Return the only entry, for a reduction of all values."""
    return of_result(found, index_values(found, [slice(None), 0] if several else [0]))


def _kept(found: Any, count: int, several: int) -> Any:
    """Restore the reduced axes with length 1."""
    front = [slice(None)] * (2 if several and not getattr(found, "num_levels", 0) else 1)
    return of_result(found, index_values(found, [*front, *[None] * count]))


@named
def nanquantile(x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
    """Compute quantiles of the values that are not nan. Parameters and errors are those of `quantile`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.nanquantile(lodcore.array([[1.0, float("nan"), 2.0], []]), 0.5, axis=1)
    array([1.5, nan])
    """
    return quantile(x, q, axis, method, keepdims, True)


@named
def nanmedian(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Compute the median of the values that are not nan.

    Parameters
    ----------
    x, axis, keepdims
        As in `quantile`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.nanmedian(lodcore.array([[1.0, float("nan"), 2.0], []]), axis=1)
    array([1.5, nan])
    """
    return quantile(x, 0.5, axis, keepdims=keepdims, skip_nan=True)
