"""Rules of NumPy's functions along one axis of dense arrays (orders, quantiles, accumulated values), and of numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore.errors import DTypeError, ShapeError
from lodcore.operators.operands import Array
from lodcore.ops.dense.numpy_rules import NumpyRule, RuleInputs
from lodcore.tensors.tensor import Spec

__all__ = ["RULES"]

INDEX = np.dtype(np.intp)

# -- orders ------------------------------------------------------------------------------------------------------------


def _vjp_sort(given: RuleInputs, x: Array, axis: int) -> Array:
    d_x = np.empty(x.shape, x.dtype)
    np.put_along_axis(d_x, np.argsort(x, axis, kind="stable"), given.d, axis)
    return d_x


def _partitioned(name: str, dtype: np.dtype[Any] | None) -> Any:
    def spec(x: Spec, kth: Any, axis: int) -> Spec:
        size = x.shape[axis]
        for one in kth if isinstance(kth, tuple) else (kth,):
            if size and not -size <= one < size:
                raise ValueError(f"numpy.{name}: kth: is {one}; axis {axis} has length {size}")
        return Spec(x.shape, x.dtype if dtype is None else dtype)

    return spec


# -- quantiles ---------------------------------------------------------------------------------------------------------


def _quantile_rule(function: Any, skip_nan: bool, median: Any = None) -> NumpyRule:
    """Return the rule of a quantile over axes; `q` is a number, or a tuple of them.

    `median`, for which q is 0.5, computes it differently: next to infinity the quantile is nan.
    """
    where = f"numpy.{(median or function).__name__}"

    def compute(x: Array, q: Any, axis: tuple[int, ...], method: str, keepdims: bool) -> Any:
        if median is not None:
            return median(x, axis=axis, keepdims=keepdims)
        return function(x, q, axis=axis, method=method, keepdims=keepdims)

    def spec(x: Spec, q: Any, axis: tuple[int, ...], method: str, keepdims: bool) -> Spec:
        if x.dtype.kind not in "iuf":  # NumPy refuses those of bool, whose difference it does not have
            raise DTypeError(f"{where}: a: has dtype {x.dtype}; integers or real numbers are needed")
        if not all(0 <= one <= 1 for one in np.atleast_1d(q).tolist()):
            raise ValueError(f"{where}: q: is {q}; numbers of 0 .. 1 are needed")
        if not skip_nan and median is None and any(x.shape[one] == 0 for one in axis):
            raise ShapeError(f"{where}: a: has shape {x.shape}; there are no values along axis {axis}")
        kept = [1 if j in axis else size for j, size in enumerate(x.shape) if keepdims or j not in axis]
        dtype = np.asarray(compute(np.ones(2, x.dtype), q, (0,), method, False)).dtype
        return Spec((*([len(q)] if isinstance(q, tuple) else []), *kept), dtype)

    def vjp(given: RuleInputs, x: Array, q: Any, axis: tuple[int, ...], method: str, keepdims: bool) -> Array:
        others = [j for j in range(x.ndim) if j not in axis]
        moved = x.transpose(*others, *axis)
        rows = moved.reshape(_count(x.shape, others), _count(x.shape, axis))
        d = np.asarray(given.d).reshape(len(q) if isinstance(q, tuple) else 1, len(rows))
        order = np.argsort(rows, 1, kind="stable")  # nan at the end
        counts = (~np.isnan(rows)).sum(1) if skip_nan else np.full(len(rows), rows.shape[1])
        found = np.zeros(rows.shape, x.dtype)
        for count in np.unique(counts[counts > 0]).tolist():
            chosen = np.flatnonzero(counts == count)
            for j, one in enumerate(np.atleast_1d(q).tolist()):  # the quantile of positions is the position
                place = float(function(np.arange(count, dtype=np.float64), one, method=method))
                low, high = int(np.floor(place)), int(np.ceil(place))
                found[chosen, order[chosen, low]] += d[j, chosen] * (1 - (place - low))
                found[chosen, order[chosen, high]] += d[j, chosen] * (place - low)
        return found.reshape(moved.shape).transpose(np.argsort([*others, *axis]))

    return NumpyRule(compute, spec, vjp)


def _count(shape: tuple[int, ...], axis: Any) -> int:
    return math.prod([shape[one] for one in axis])


# -- accumulated values ------------------------------------------------------------------------------------------------


def _accumulated(function: Any) -> Any:
    def spec(x: Spec, axis: int) -> Spec:
        if x.dtype.kind not in "biufc":
            raise DTypeError(f"numpy.{function.__name__}: a: has dtype {x.dtype}; numbers are needed")
        return Spec(x.shape, function(np.ones(1, x.dtype)).dtype)

    return spec


def _vjp_sums(given: RuleInputs, x: Array, axis: int) -> Array:
    return np.flip(np.cumsum(np.flip(given.d, axis), axis), axis)


def _vjp_products(given: RuleInputs, x: Array, axis: int) -> Array:
    """Divide the sums of later products by the value itself; without zeros only."""
    if np.all(x != 0):
        return np.flip(np.cumsum(np.flip(given.d * given.out, axis), axis), axis) / x
    rows, d = np.moveaxis(x, axis, 0), np.moveaxis(given.d, axis, 0)
    before = np.ones_like(rows)
    np.cumprod(rows[:-1], 0, out=before[1:])
    behind = d.copy()
    for j in range(len(rows) - 2, -1, -1):
        behind[j] += rows[j + 1] * behind[j + 1]
    return np.moveaxis(before * behind, 0, axis)


def _extremes(ufunc: np.ufunc) -> NumpyRule:
    """Return the rule of `accumulate` of a maximum or minimum; of equal values, the first has the gradient."""

    def vjp(given: RuleInputs, x: Array, axis: int) -> Array:
        if not x.shape[axis]:
            return np.zeros(x.shape, x.dtype)
        out, places = np.moveaxis(given.out, axis, 0), np.zeros(x.shape, np.intp)
        rows = np.moveaxis(places, axis, 0)
        shape = (-1, *[1] * (x.ndim - 1))
        changed = (out[1:] != out[:-1]) & ~(np.isnan(out[1:]) & np.isnan(out[:-1]))
        rows[1:] = np.where(changed, np.arange(1, len(rows)).reshape(shape), 0)
        key = list(np.ogrid[tuple([slice(size) for size in x.shape])])
        key[axis] = np.maximum.accumulate(places, axis)
        d_x = np.zeros(x.shape, x.dtype)
        np.add.at(d_x, tuple(key), given.d)
        return d_x

    return NumpyRule(lambda x, axis: ufunc.accumulate(x, axis), lambda x, axis: Spec(x.shape, x.dtype), vjp)


# -- numbers -----------------------------------------------------------------------------------------------------------


def _vjp_sinc(given: RuleInputs, x: Array) -> Array:
    small = np.abs(x) < 1e-3
    safe = np.where(small, 1, x)
    return given.d * np.where(small, -(np.pi**2) / 3 * x, (np.cos(np.pi * safe) - given.out) / safe)  # type: ignore[no-any-return]


def _floating(x: Spec) -> Spec:
    if x.dtype.kind not in "biufc":
        raise DTypeError(f"numpy.sinc: x: has dtype {x.dtype}; numbers are needed")
    return Spec(x.shape, np.sinc(np.ones(1, x.dtype)).dtype)


def _part(x: Spec) -> Spec:
    return Spec(x.shape, np.zeros(0, x.dtype).real.dtype)


#: The rules; axes are counted from the first.
RULES = {
    "sort": NumpyRule(np.sort, lambda x, axis: Spec(x.shape, x.dtype), _vjp_sort),
    "argsort": NumpyRule(
        lambda x, axis, kind: np.argsort(x.copy(), axis, kind=kind), lambda x, axis, kind: Spec(x.shape, INDEX)
    ),
    "partition": NumpyRule(  # completely sorted, so that the order is the same in every dtype
        lambda x, kth, axis: np.sort(x, axis),
        _partitioned("partition", None),
        lambda given, x, kth, axis: _vjp_sort(given, x, axis),
    ),
    "argpartition": NumpyRule(
        lambda x, kth, axis: np.argsort(x, axis, kind="stable"), _partitioned("argpartition", INDEX)
    ),
    "quantile": _quantile_rule(np.quantile, False),
    "nanquantile": _quantile_rule(np.nanquantile, True),
    "median": _quantile_rule(np.quantile, False, np.median),
    "nanmedian": _quantile_rule(np.nanquantile, True, np.nanmedian),
    "cumsum": NumpyRule(np.cumsum, _accumulated(np.cumsum), _vjp_sums),
    "cumprod": NumpyRule(np.cumprod, _accumulated(np.cumprod), _vjp_products),
    "maximum.accumulate": _extremes(np.maximum),
    "minimum.accumulate": _extremes(np.minimum),
    "sinc": NumpyRule(np.sinc, _floating, _vjp_sinc),
    "nan_to_num": NumpyRule(
        np.nan_to_num, lambda x, **to: Spec(x.shape, x.dtype), lambda given, x, **to: given.d * np.isfinite(x)
    ),
    "round": NumpyRule(np.round, lambda x, decimals: Spec(x.shape, x.dtype)),
    "real": NumpyRule(np.real, _part, lambda given, x: given.d),
    "imag": NumpyRule(np.imag, _part, lambda given, x: given.d * -1j if x.dtype.kind == "c" else None),
}
