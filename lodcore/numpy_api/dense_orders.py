"""NumPy's functions of orders, quantiles, accumulated values, differences and numbers on dense Variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import ops
from lodcore.base.dispatch import Symbol
from lodcore.errors import DTypeError, ShapeError
from lodcore.numpy_api.dense import ALL, DENSE, at_axis, axis_in, call, dense_of, flat, integers, of_length, on_dense
from lodcore.numpy_api.protocols import concatenate
from lodcore.numpy_api.sorting import differences
from lodcore.ops.reduce.axes import in_dtype
from lodcore.ops.reduce.nans import fill_nan
from lodcore.ops.reduce.quantiles import as_chances

__all__ = ["accumulate", "angle", "argsort", "conjugate", "cumprod", "cumsum", "imag", "real"]


def _at(name: str, a: Any, axis: Any) -> tuple[Any, int]:
    """Return an array and one of its axes; with None, all of its values."""
    x = flat(name, a) if axis is None else dense_of(name, a)
    return x, 0 if axis is None else axis_in(name, axis, x.ndim)


# -- orders ------------------------------------------------------------------------------------------------------------


@on_dense(np.sort)
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """Sort along an axis; with None, all values."""
    x, at = _at("sort", a, axis)
    if order is not None:
        raise TypeError(f"numpy.sort: order: is {order!r}; it is not supported where it is recorded")
    return call([x], "sort", axis=at)


@on_dense(np.argsort)
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """Return the indices that sort along an axis."""
    x, at = _at("argsort", a, axis)
    if order is not None:
        raise TypeError(f"numpy.argsort: order: is {order!r}; it is not supported where it is recorded")
    return call([x], "argsort", axis=at, kind="stable" if stable else kind)


@on_dense(np.partition)
def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: None = None) -> Any:
    """Partition along an axis."""
    x, at = _at("partition", a, axis)
    return call([x], "partition", kth=integers("partition", "kth", kth), axis=at)


@on_dense(np.argpartition)
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: None = None) -> Any:
    """Return the indices that partition along an axis."""
    x, at = _at("argpartition", a, axis)
    return call([x], "argpartition", kth=integers("argpartition", "kth", kth), axis=at)


# -- quantiles ---------------------------------------------------------------------------------------------------------


def _quantiles(name: str, rule: str, percent: bool) -> Any:
    def computed(
        a: Any,
        q: Any,
        axis: Any = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: Any = False,
        *,
        weights: Any = None,
        interpolation: Any = None,
    ) -> Any:
        """Compute quantiles over axes."""
        if weights is not None or interpolation is not None:
            raise TypeError(f"numpy.{name}: weights, interpolation: are not supported where it is recorded")
        return _quantile(name, rule, a, as_chances(f"numpy.{name}", q, percent), axis, method, keepdims)

    on_dense(getattr(np, name))(computed)


def _quantile(name: str, rule: str, a: Any, q: Any, axis: Any, method: str, keepdims: Any) -> Any:
    x = dense_of(name, a)
    given = range(x.ndim) if axis is None else axis if isinstance(axis, (list, tuple)) else (axis,)
    axes = tuple([axis_in(name, one, x.ndim) for one in given])
    if len(set(axes)) < len(axes) or q.ndim > 1:
        raise ShapeError(f"numpy.{name}: q, axis: are {q}, {axis}; one axis of q, and different axes, are needed")
    kept = keepdims is not np._NoValue and bool(keepdims)
    chances = float(q) if not q.ndim else tuple(q.tolist())
    return call([x], rule, q=chances, axis=axes, method=method, keepdims=kept)


for _name, _rule in (("quantile", "quantile"), ("percentile", "quantile")):
    _quantiles(_name, _rule, _name == "percentile")
    _quantiles(f"nan{_name}", f"nan{_rule}", _name == "percentile")


def _as_floats(name: str, a: Any) -> Any:
    """Convert integers and bool to float64, as NumPy averages the two in the middle."""
    x = dense_of(name, a)
    return ops.cast(x, np.float64) if x.dtype.kind in "biu" else x


@on_dense(np.median)
def median(a: Any, axis: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    """Compute medians."""
    return _quantile("median", "median", _as_floats("median", a), np.asarray(0.5), axis, "linear", keepdims)


@on_dense(np.nanmedian)
def nanmedian(a: Any, axis: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    """Compute medians of the values that are not nan."""
    return _quantile("nanmedian", "nanmedian", _as_floats("nanmedian", a), np.asarray(0.5), axis, "linear", keepdims)


@on_dense(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    """Average with weights, which may be a vector along the axis."""
    x = dense_of("average", a)
    if weights is not None:
        weights = dense_of("average", weights)
        if weights.ndim == 1 < x.ndim:
            if axis is None or isinstance(axis, tuple):
                raise ShapeError(f"numpy.average: axis: is {axis}; one axis is needed with a vector of weights")
            at = axis_in("average", axis, x.ndim)
            if None not in (weights.shape[0], x.shape[at]) and weights.shape[0] != x.shape[at]:
                raise ShapeError(f"numpy.average: weights: are {weights.shape[0]}; axis {at} has length {x.shape[at]}")
            if weights.shape[0] is not None:
                x = of_length("numpy.average: a", x, at, weights.shape[0], True)
            weights = ops.index_values(weights, [ALL if one == at else None for one in range(x.ndim)])
        elif weights.ndim != x.ndim or any(
            None not in pair and pair[0] != pair[1] for pair in zip(weights.shape, x.shape, strict=True)
        ):
            raise ShapeError(
                f"numpy.average: weights: have shape {weights.shape}; that of a, {x.shape}, or a vector is needed"
            )
    return ops.average(x, axis, weights, returned, keepdims=keepdims is not np._NoValue and bool(keepdims))


# -- accumulated values ------------------------------------------------------------------------------------------------


def _accumulated(name: str, rule: str, nan: float | None) -> Any:
    def accumulated(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
        """Accumulate along an axis; with None, all values."""
        if out is not None:
            raise TypeError(f"numpy.{name}: out: is not supported where it is recorded")
        x, at = _at(name, a, axis)
        if nan is not None and x.dtype.kind in "fc":
            x = fill_nan(x, nan) if x.dtype.kind == "f" else ops.where(ops.equal(x, x), x, x.dtype.type(nan))
        found = call([x if dtype is None else ops.cast(x, dtype)], rule, axis=at)
        return found if dtype is None else in_dtype(found, dtype)

    on_dense(getattr(np, name))(accumulated)
    return accumulated


cumsum, cumprod = _accumulated("cumsum", "cumsum", None), _accumulated("cumprod", "cumprod", None)
_accumulated("nancumsum", "cumsum", 0)
_accumulated("nancumprod", "cumprod", 1)


def _cumulative(name: str, rule: str, first: int) -> Any:
    def cumulative(x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Any:
        """Accumulate along an axis, which may be left out for a vector."""
        x = dense_of(name, x)
        if axis is None and x.ndim != 1:
            raise ShapeError(f"numpy.{name}: axis: is None; it is needed for {x.ndim} axes")
        found = (cumsum if rule == "cumsum" else cumprod)(x, 0 if axis is None else axis, dtype)
        if not include_initial:
            return found
        at = axis_in(name, 0 if axis is None else axis, x.ndim)
        begin = ops.full_like(ops.sum(at_axis(found, at, slice(0, 0)), at, keepdims=True), first, found.dtype)
        return concatenate([begin, found], at)

    return cumulative


for _name, _rule, _first in (("cumulative_sum", "cumsum", 0), ("cumulative_prod", "cumprod", 1)):
    on_dense(getattr(np, _name, None))(_cumulative(_name, _rule, _first))


def accumulate(ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, out: None = None) -> Any:
    """Accumulate by a ufunc along an axis."""
    rules = {"add": "cumsum", "multiply": "cumprod"}
    rules |= {name: f"{name}.accumulate" for name in ("maximum", "minimum")}
    rule = rules.get(ufunc.__name__)
    if rule is None or out is not None:
        raise TypeError(
            f"numpy.{ufunc.__name__}.accumulate: {'out: ' if out is not None else ''}is not supported where it is "
            "recorded; add, multiply, maximum and minimum are"
        )
    x = dense_of(f"{ufunc.__name__}.accumulate", array)
    at = axis_in(f"{ufunc.__name__}.accumulate", axis, x.ndim)
    return call([x if dtype is None else ops.cast(x, dtype)], rule, axis=at)


DENSE["accumulate"] = accumulate

# -- differences -------------------------------------------------------------------------------------------------------


@on_dense(np.diff)
def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = np._NoValue, append: Any = np._NoValue) -> Any:
    """Compute the n-th differences along an axis."""
    x = dense_of("diff", a)
    times, at = integers("diff", "n", n), axis_in("diff", axis, x.ndim)
    if times < 0:
        raise ValueError(f"numpy.diff: n: is {n}; 0 or more is needed")
    if times:
        parts = [_joined_to(x, prepend, at), x, _joined_to(x, append, at)]
        parts = [part for part in parts if part is not None]
        x = concatenate(parts, at) if len(parts) > 1 else x
    for _ in range(differences(times, x.shape[at]) or min(times, 1)):  # of no dates the differences are durations
        later, earlier = at_axis(x, at, slice(1, None)), at_axis(x, at, slice(None, -1))
        x = ops.not_equal(later, earlier) if x.dtype.kind == "b" else ops.minus(later, earlier)
    return x


def _joined_to(x: Any, given: Any, axis: int) -> Any:
    """Return what is joined to an axis: a number for all places of the others, or an array."""
    if given is np._NoValue:
        return None
    part = dense_of("diff", given)
    if part.ndim:
        return part
    ones = ops.sum(at_axis(x, axis, slice(0, 0)), axis, keepdims=True)  # of the shape, also if x has length 0 there
    return ops.add(ops.full_like(ones, 0, x.dtype), part)


@on_dense(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Compute the differences of all values, with numbers at both ends."""
    found = diff(flat("ediff1d", ary))
    for name, one in (("to_end", to_end), ("to_begin", to_begin)):
        dtype = found.dtype if one is None else flat("ediff1d", one).dtype
        if not np.can_cast(dtype, found.dtype, "same_kind"):
            raise TypeError(f"numpy.ediff1d: {name}: has dtype {dtype}; {found.dtype} cannot hold it")
    parts = [found if one is None else ops.cast(flat("ediff1d", one), found.dtype) for one in (to_begin, to_end)]
    parts = [*([] if to_begin is None else parts[:1]), found, *([] if to_end is None else parts[1:])]
    return concatenate(parts, 0) if len(parts) > 1 else found


@on_dense(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Compute differences in the middle, and one-sided ones at the ends, along axes."""
    x = dense_of("gradient", f)
    x = ops.cast(x, np.float64) if x.dtype.kind in "iu" else x
    given = range(x.ndim) if axis is None else axis if isinstance(axis, (list, tuple)) else (axis,)
    axes = [axis_in("gradient", one, x.ndim) for one in given]
    steps = list(varargs) if len(varargs) == len(axes) else list(varargs or (1.0,)) * len(axes)
    if len(varargs) not in (0, 1, len(axes)) or edge_order not in (1, 2):
        raise TypeError(
            f"numpy.gradient: varargs, edge_order: are {len(varargs)} and {edge_order}; one distance, or one for each "
            "axis, and edge_order of 1 or 2 are needed"
        )
    found = [_slope(x, at, step, edge_order) for at, step in zip(axes, steps, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _slope(x: Any, axis: int, step: Any, edge_order: int) -> Any:
    """Compute the gradient along one axis."""
    step = step if isinstance(step, (int, float)) else dense_of("gradient", step)
    if not isinstance(step, (int, float)) and step.dtype.kind not in "biufcmM":
        raise DTypeError(f"numpy.gradient: varargs: has dtype {step.dtype}; numbers or durations are needed")
    x, uneven = of_length("numpy.gradient: f", x, axis, edge_order + 1), np.ndim(step) > 0
    if uneven:
        if np.ndim(step) > 1 or (None not in (step.shape[0], x.shape[axis]) and step.shape[0] != x.shape[axis]):
            raise ValueError(
                f"numpy.gradient: varargs: has shape {step.shape}; as many places as axis {axis} has entries, "
                f"{x.shape[axis]}, are needed"
            )
        step = step if x.shape[axis] is None else of_length("numpy.gradient: varargs", step, 0, x.shape[axis], True)
        x = x if step.shape[0] is None else of_length("numpy.gradient: f", x, axis, step.shape[0], True)
        step = diff(ops.cast(step, np.float64) if step.dtype.kind in "biu" else step)
        if not isinstance(step, Symbol) and (step == step[:1]).all():  # NumPy, too, takes them as one distance
            step, uneven = step[0], False
    shape = [ALL, *[None] * (x.ndim - axis - 1)]

    def part(start: Any, stop: Any) -> Any:
        return at_axis(x, axis, slice(start, stop))

    def width(key: Any) -> Any:
        return ops.index_values(ops.index_values(step, [key]), shape) if uneven else step

    before, after = width(slice(None, -1)), width(slice(1, None))  # the distances of each inner place
    if uneven:
        forward, backward = part(2, None) - part(1, -1), part(1, -1) - part(None, -2)
        total = before + after
        inner = forward * before / (after * total) + backward * after / (before * total)
    else:
        inner = (part(2, None) - part(None, -2)) / (step * 2)
    first, last = width(slice(0, 1)), width(slice(-1, None))
    begin, end = (part(1, 2) - part(0, 1)) / first, (part(-1, None) - part(-2, -1)) / last
    if edge_order == 2:  # the parabola through three places, continued to the end
        second, near = width(slice(1, 2)), width(slice(-2, -1))
        begin = begin - ((part(2, 3) - part(1, 2)) / second - begin) * first / (first + second)
        end = end + (end - (part(-2, -1) - part(-3, -2)) / near) * last / (last + near)
    made = concatenate([begin, inner, end], axis)
    return made if made.dtype == x.dtype else ops.cast(made, x.dtype)


@on_dense(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integrate along an axis by the trapezoidal rule."""
    values = dense_of("trapezoid", y)
    at = axis_in("trapezoid", axis, values.ndim)
    if x is not None:
        places = dense_of("trapezoid", x)
        dx = diff(places, 1, at if places.ndim > 1 else 0)
        if dx.ndim == 1 and values.ndim > 1:
            dx = ops.index_values(dx, [ALL, *[None] * (values.ndim - at - 1)])
    pairs = ops.add(at_axis(values, at, slice(1, None)), at_axis(values, at, slice(None, -1)))
    return ops.sum(ops.div(ops.mul(pairs, dx), 2.0), at)


# -- numbers -----------------------------------------------------------------------------------------------------------


@on_dense(np.sinc)
def sinc(x: Any) -> Any:
    """Compute sin(pi x) / (pi x), 1 at 0."""
    return call([dense_of("sinc", x)], "sinc")


@on_dense(np.nan_to_num)
def nan_to_num(x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Replace nan and infinities by numbers."""
    if any(isinstance(one, Symbol) for one in (nan, posinf, neginf)):
        raise DTypeError("numpy.nan_to_num: nan, posinf, neginf: is a Variable; numbers are needed")
    return call([dense_of("nan_to_num", x)], "nan_to_num", nan=nan, posinf=posinf, neginf=neginf)


@on_dense(np.real)
def real(val: Any) -> Any:
    """Return the real parts."""
    x = dense_of("real", val)
    return call([x], "real") if x.dtype.kind == "c" else x


@on_dense(np.imag)
def imag(val: Any) -> Any:
    """Return the imaginary parts, zeros of real numbers."""
    return call([dense_of("imag", val)], "imag")


def conjugate(x: Any) -> Any:
    """Return the conjugates; real numbers themselves."""
    return ops.elementwise([x], np.conjugate) if x.dtype.kind == "c" else x


@on_dense(np.angle)
def angle(z: Any, deg: bool = False) -> Any:
    """Return the angles of complex numbers."""
    z = dense_of("angle", z)
    z = ops.cast(z, np.int64) if z.dtype == np.bool_ else z
    found = ops.elementwise([imag(z), real(z)], np.arctan2)
    return ops.mul(found, 180 / np.pi) if deg else found


@on_dense(np.real_if_close)
def real_if_close(a: Any, tol: float = 100) -> Any:
    """Return the real parts where NumPy does: if the imaginary parts are close to 0."""
    x = dense_of("real_if_close", a)
    if x.dtype.kind != "c" or np.iscomplexobj(np.real_if_close(x.get() if isinstance(x, Symbol) else x, tol)):
        return x
    return real(x)


@on_dense(np.fix)
def fix(x: Any) -> Any:
    """Round towards 0."""
    return ops.elementwise([x], np.trunc)
