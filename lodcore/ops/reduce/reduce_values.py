"""Reductions of axes of values, of all rows below the sequences of a level, and of coarser axes of sequences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.base import buffers
from lodcore.base.buffers import is_plain
from lodcore.base.caller import named_caller
from lodcore.base.dispatch import Symbol
from lodcore.base.memory import as_integer
from lodcore.errors import DTypeError, ShapeError
from lodcore.operators.arguments import dense_of
from lodcore.operators.lod_rules import below_rows
from lodcore.operators.operands import Array, kept_in, known_value, rows_of
from lodcore.operators.registry import operator
from lodcore.operators.roles import Dense
from lodcore.ops.elementwise.compare import less_than, not_equal
from lodcore.ops.elementwise.convert import cast, with_values
from lodcore.ops.elementwise.convert import rows as values_of
from lodcore.ops.elementwise.math import add, elementwise
from lodcore.ops.elementwise.math import where as choose
from lodcore.ops.index.index import pick_along
from lodcore.ops.index.index_values import index_values
from lodcore.ops.move.lod_data import lod_index, lod_positions
from lodcore.ops.move.position import by_position, drop_level, insert_level, pool_positions
from lodcore.ops.reduce.pool import extremes, sequence_pool
from lodcore.ops.reduce.product import refuse_empty, sequence_place, sequence_prod, sequence_truth
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["reduce_values"]

#: The functions by name, of values, axes, keepdims, and further arguments.
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.add.reduce,
    "prod": np.multiply.reduce,
    "max": np.maximum.reduce,
    "min": np.minimum.reduce,
    "any": np.logical_or.reduce,
    "all": np.logical_and.reduce,
}

INDEX: dict[str, Callable[..., Any]] = {"argmax": np.argmax, "argmin": np.argmin}


@operator(x=Dense, lod_rule=below_rows("axes"))
def reduce_values(
    x: Any, name: str, axes: Any = None, keepdims: bool = False, initial: Any = None, empty: Any = None
) -> Any:
    """Reduce axes of the values.

    Parameters
    ----------
    x : LoDTensor or array_like
    name : str
        "sum", "prod", "mean", "max", "min", "any", "all", "argmax" or "argmin".
    axes : tuple of int, optional
        The axes of the values; by default all. The LoD is kept unless axis 0, that of the rows, is reduced.
    keepdims : bool
        Whether to keep the reduced axes with length 1.
    initial : number, optional
        The starting value of "max" and "min".
    empty : number, optional
        The result for no values, instead of an error or the neutral element.

    Returns
    -------
    LoDTensor, ndarray or number

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.LoDTensor.from_lengths([[1, 2], [3, 4], [5, 6]], [2, 1])
    >>> lodcore.ops.reduce_values(x, "sum", (1,))
    LoDTensor(2 sequences of lengths 1..2, int64: [[3, 7], [11]])
    >>> lodcore.ops.reduce_values(x, "max", (0,))
    array([5, 6])
    """
    values = dense_of("reduce_values: x", x, levels=True)
    chosen = _checked(name, axes, values.ndim)
    if isinstance(keepdims, np.bool_):  # which the reductions of NumPy refuse
        keepdims = bool(keepdims)
    nothing = not values.size and not math.prod([values.shape[axis] for axis in chosen])
    if empty is not None:
        empty = kept_empty(name, empty, values.dtype)
    if nothing and empty is None and initial is None and _raises(name, values.shape, chosen):
        needed = f"give empty= to x.{name}{'' if name in INDEX else ', or an initial value'}"
        raise ValueError(f"{name}: x: has no values to reduce, its shape is {values.shape}; {needed}")
    try:
        if nothing and empty is not None:
            reduced: Any = np.full(_shape(values.shape, chosen, keepdims), empty, empty.dtype)[()]
        elif name in INDEX:
            readable = values if values.dtype.hasobject else buffers.for_reading(values)
            reduced = INDEX[name](readable, None if axes is None else chosen[0], keepdims=keepdims)
        else:
            with named_caller():
                if name == "mean":
                    reduced = _mean(values, chosen, keepdims)
                elif initial is None and name in ("max", "min") and _in_rows(values, chosen):
                    reduced = extremes(values, values.ndim - 1, name == "min")
                    reduced = reduced if keepdims else reduced[..., 0]
                elif initial is None:
                    reduced = REDUCTIONS[name](values, chosen, None, None, keepdims)
                else:
                    reduced = REDUCTIONS[name](values, chosen, None, None, keepdims, initial)
    except TypeError as error:
        raise _without(name, values.dtype, error) from None
    if type(x) is not np.ndarray and isinstance(x, LoDTensor) and x.lod.num_levels and 0 not in chosen:
        return lod_tensor_body.new_tensor(np.ascontiguousarray(reduced), x.lod)
    return reduced


@reduce_values.define_steps
def _(rows: Any, x: Any, name: str, axes: Any, keepdims: bool, initial: Any, empty: Any) -> Any:
    return rows.reduced(x, name, axes) if initial is None else None


def _in_rows(values: Array, axes: tuple[int, ...]) -> bool:
    """Return whether kernels take the values, and all of each row of the last axis is reduced."""
    last = values.ndim - 1
    return bool(last > 0 and axes == (last,) and values.dtype.char in "fd" and values.size and is_plain(values))


def is_whole(x: Any, *settings: Any) -> bool:
    """Return whether this stands for an array of floats, all of which are reduced, since no setting is given."""
    held = known_value(x) if isinstance(x, Symbol) else None
    return type(held) is np.ndarray and held.dtype.kind == "f" and {type(one) for one in settings} == {type(None)}


def _raises(name: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> bool:
    """Return whether a reduction must raise: it has no result for no values, and there are results."""
    if name in INDEX:
        return True
    return name in ("max", "min") and math.prod([size for axis, size in enumerate(shape) if axis not in axes]) > 0


def _without(name: str, dtype: np.dtype[Any], error: TypeError) -> DTypeError:
    """Return the error for values that NumPy cannot reduce."""
    return DTypeError(f"reduce_values: x: has dtype {dtype}, which has no {name}: {error}")


def kept_initial(name: str, initial: Any, dtype: np.dtype[Any]) -> Any:
    """Convert the initial value to the dtype of the result, which must be able to hold it."""
    held = REDUCTIONS[name](np.ones(1, dtype)).dtype
    if isinstance(initial, Symbol):
        given: np.dtype[Any] = initial.dtype  # type: ignore[attr-defined]
        if not (np.can_cast(given, held, "same_kind") or (given.kind == "i" and held.kind == "u")):
            raise DTypeError(f"{name}: initial: has dtype {given}; {held} cannot hold it")
        return cast(initial, held)
    kept = kept_in(f"{name}: initial", initial, held)
    if kept.ndim:
        raise DTypeError(f"{name}: initial: has shape {kept.shape}; a number is needed")
    return kept[()]


def as_number(found: Any) -> Any:
    """Return a number if no axis is left, as NumPy's reductions do; some elementwise operators make arrays of it."""
    return found if found.ndim else found[()]


def kept_empty(name: str, empty: Any, dtype: np.dtype[Any]) -> Any:
    """Convert the result for no values to the dtype of the results, which must be able to hold it."""
    if empty is None or isinstance(empty, Symbol):
        return empty
    kept = kept_in(f"{name}: empty", empty, _dtype(name, dtype))
    if kept.ndim:
        raise DTypeError(f"{name}: empty: has shape {kept.shape}; a number is needed")
    return kept[()]


def _checked(name: str, axes: Any, ndim: int) -> tuple[int, ...]:
    """Check a name and axes; return the axes counted from the first."""
    if type(name) is str and name in REDUCTIONS:  # the usual cases
        if axes is None:
            return tuple(range(ndim))
        if type(axes) is tuple and len(axes) == 1 and type(axes[0]) is int and -ndim <= axes[0] < ndim:
            return (axes[0] % ndim,)
    if not isinstance(name, str) or (name not in REDUCTIONS and name not in INDEX and name != "mean"):
        names = [*REDUCTIONS, "mean", *INDEX]
        raise ValueError(f"reduce_values: name: is {name!r}; one of {', '.join(names)} is needed")
    if axes is None:
        return tuple(range(ndim))
    given = axes if isinstance(axes, tuple) else ()
    numbers = [number for number in (as_integer(axis, bools=True) for axis in given) if number is not None]
    if not isinstance(axes, tuple) or len(numbers) < len(axes):
        raise DTypeError(f"reduce_values: axes: are {axes!r}; a tuple of integers is needed")
    for axis in numbers:
        if not -ndim <= axis < ndim:
            raise ShapeError(f"reduce_values: axes: {axis} is one; the values have {ndim} axes")
    chosen = tuple(axis % ndim for axis in numbers)
    if len(set(chosen)) < len(chosen) or (name in INDEX and len(chosen) != 1):
        needed = "one axis is" if name in INDEX else "different axes are"
        raise ShapeError(f"reduce_values: axes: are {axes}; {needed} needed")
    return chosen


def _mean(values: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Compute the mean, or nan for no values."""
    if values.size or math.prod(values.shape[axis] for axis in axes):
        return values.mean(axes, keepdims=keepdims)
    shape = _shape(values.shape, axes, keepdims)
    return np.full(shape, np.nan, mean_dtype(values.dtype))[()]


def mean_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a mean: float64 for integers."""
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


def _shape(shape: tuple[Any, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[Any, ...]:
    kept = [1 if axis in axes else size for axis, size in enumerate(shape) if keepdims or axis not in axes]
    return tuple(kept)


@reduce_values.define_infer
def _(x: Spec, name: str, axes: Any, keepdims: bool, initial: Any, empty: Any) -> Spec:
    chosen = _checked(name, axes, len(x.shape))
    kept_empty(name, empty, x.dtype)
    return Spec(_shape(x.shape, chosen, keepdims), _dtype(name, x.dtype), 0 if 0 in chosen else x.num_levels)


def _dtype(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a result."""
    if name in INDEX:
        return np.dtype(np.intp)
    try:
        one = np.ones(1, dtype)
        found: np.dtype[Any] = (np.mean(one) if name == "mean" else REDUCTIONS[name](one)).dtype
    except TypeError as error:
        raise _without(name, dtype, error) from None
    return found


@reduce_values.define_vjp
def _(d: Array, x: Any, name: str, axes: Any, out: Any) -> Array:
    values = np.asarray(rows_of(x))
    axes = _checked(name, axes, values.ndim)
    wide = d.reshape(_shape(values.shape, axes, True))
    if name == "sum":
        made = np.empty(values.shape, values.dtype)
        made[...] = wide
        return made
    count = math.prod([values.shape[axis] for axis in axes])
    if name == "mean":
        made = np.empty(values.shape, values.dtype)
        made[...] = (wide.astype(np.float32) if wide.dtype == np.float16 else wide) / max(count, 1)
        return made
    front = tuple(axis for axis in range(values.ndim) if axis not in axes)
    flat = values.transpose(*front, *axes).reshape(*[values.shape[axis] for axis in front], count)
    wide = wide.transpose(*front, *axes).reshape(*flat.shape[:-1], 1)
    if name == "prod":
        d_flat = wide * _products_of_others(flat)
    else:
        extreme = np.asarray(rows_of(out)).reshape(_shape(values.shape, axes, True)).transpose(*front, *axes)
        d_flat = _at_the_first(flat, extreme.reshape(wide.shape), wide, name)
    moved = [values.shape[axis] for axis in (*front, *axes)]
    return d_flat.reshape(moved).transpose(np.argsort([*front, *axes]))


def _products_of_others(values: Array) -> Array:
    """Return, for each entry, the product of all others along the last axis."""
    before, after = np.ones_like(values), np.ones_like(values)
    before[..., 1:] = np.cumprod(values[..., :-1], -1)
    after[..., :-1] = np.cumprod(values[..., :0:-1], -1)[..., ::-1]
    return before * after


def _at_the_first(values: Array, out: Array, d: Array, name: str) -> Array:
    """Write a gradient to the first position of the extreme, or nowhere if the initial value was more extreme."""
    d_values = np.zeros_like(values)
    if values.shape[-1]:
        place = INDEX[f"arg{name}"](values, -1, keepdims=True)
        found = np.take_along_axis(values, place, -1)
        np.put_along_axis(d_values, place, np.where((found == out) | np.isnan(found), d, 0), -1)
    return d_values


def axes_of(where: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """Check an axis or a tuple of axes; return them sorted and counted from the first."""
    given = axis if isinstance(axis, tuple) else (axis,)
    found = set()
    for one in given:
        number = as_integer(one)
        if number is None:
            raise DTypeError(f"{where}: axis: is {axis!r}; an integer, or a tuple of them, is needed")
        if not -ndim <= number < ndim:
            raise ShapeError(f"{where}: axis: is {axis}; x has {ndim} axes")
        found.add(number % ndim)
    if len(found) < len(given):
        raise ShapeError(f"{where}: axis: is {axis}; different axes are needed")
    return tuple(sorted(found))


def is_below(axes: tuple[int, ...], levels: int) -> bool:
    """Return whether axes are those of consecutive levels up to the last one, without axis 0."""
    return bool(axes) and axes[0] > 0 and axes == tuple(range(axes[0], levels + 1))


#: Levels for which one step after the other is faster than one operator that numbers the positions of all levels.
FEW = 4


def brought_last(x: Any, upper: list[int]) -> Any:
    """Move axes of levels after all others, as one level whose sequences have the same positions along the others."""
    levels, count = x.num_levels, len(upper)
    if levels <= FEW or upper == list(range(levels + 1 - count, levels + 1)):
        for done, axis in enumerate(reversed(upper)):
            x = moved_behind(x, axis, levels - done)
        return without_levels(x, levels + 1 - count, count - 1)
    return by_position(x, tuple(upper), levels)


def moved_behind(x: Any, axis: int, last: int) -> Any:
    """Move an axis of levels after another one."""
    if x.num_levels > FEW and axis < last:
        return by_position(x, axis, last)
    for at in range(axis, last):
        x = by_position(x, at)
    return x


def without_levels(x: Any, level: int, count: int) -> Any:
    """Remove some levels, or none."""
    return drop_level(x, level, count) if count else x


def put_back(reduced: Any, upper: list[int], levels: int, rows: tuple[int, ...] = ()) -> Any:
    """Restore the reduced axes with length 1: those of levels, and those of values, where 0 is the axis of the rows."""
    for axis in rows:
        reduced = of_result(reduced, index_values(reduced, [*[slice(None)] * axis, None]))
    first = next((j for j in range(len(upper)) if upper[j] == levels + 1 - len(upper) + j), len(upper))
    return with_levels_of_1(with_axes_of_1(reduced, len(upper) - first), upper[:first])


def with_levels_of_1(reduced: Any, axes: list[int]) -> Any:
    """Insert axes of levels with length 1."""
    if not axes:
        return reduced
    return of_result(reduced, insert_level(reduced, tuple(max(axis - 1, 0) for axis in axes), axes[0] == 0))


def of_result(reduced: Any, made: Any) -> Any:
    """Return a result with other axes in the memory of the result itself, which may be changed."""
    if isinstance(made, (Symbol, np.generic)):
        return made
    values = lod_tensor_body.writable_values(reduced) if isinstance(reduced, LoDTensor) else np.asarray(reduced)
    if not isinstance(made, LoDTensor):
        return values.reshape(made.shape)
    return lod_tensor_body.new_tensor(values.reshape(made.values.shape), made.lod)


def place_along(name: str, x: Any, axis: int, chosen: Any = None) -> Any:
    """Return where, along an axis of sequences, the extreme of each position is.

    Parameters
    ----------
    name : str
    x : LoDTensor
    axis : int
        The axis of a coarser level than the last.
    chosen : callable, optional
        Computes the searched values from the regrouped x, whose innermost sequences hold the elements at the same
        position.
    """
    places = lod_index(x, axis)
    x, places = moved_behind(x, axis, x.num_levels), moved_behind(places, axis, x.num_levels)
    x = x if chosen is None else chosen(x)
    last = x.num_levels - 1
    firsts = pick_along(row_numbers(x), 0, last + 1)
    found = values_of(sequence_place(x, name, last))
    for _ in range(found.ndim - 1):
        firsts = index_values(firsts, [..., None])
    taken = index_values(values_of(places), [add(found, values_of(firsts))])
    return of_result(taken, with_values(firsts, taken)) if last else taken


def row_numbers(x: Any) -> Any:
    """Return the number of each row among all rows."""
    return drop_level(lod_positions(insert_level(x, 0, whole=True), 0), 0)


def with_axes_of_1(x: Any, count: int) -> Any:
    """Insert regular axes of length 1 after that of the rows, so that x aligns with the reduced result."""
    return of_result(x, index_values(x, [slice(None), *[None] * count])) if count else x


def over_levels(name: str, x: Any, upper: list[int], levels: int, keepdims: bool, initial: Any, empty: Any) -> Any:
    """Reduce some, not all, axes of levels."""
    low, high = upper[0], upper[-1]
    if upper != list(range(low, high + 1)):
        reduced = pooled(name, brought_last(x, upper), levels - len(upper), initial, empty)
        return put_back(reduced, upper, levels) if keepdims else reduced
    if high < levels:
        x = without_levels(x, low, high - low)  # merges these axes into one
        levels -= high - low
        if name in ("argmax", "argmin"):
            reduced = place_along(name, x, low)
        else:
            reduced = pooled_positions(name, moved_behind(x, low, levels - 1), initial)
        return with_levels_of_1(reduced, upper) if keepdims else reduced
    reduced = pooled(name, x, low - 1, initial, empty)
    return with_axes_of_1(reduced, high - low + 1) if keepdims else reduced


def pooled_positions(name: str, x: Any, initial: Any) -> Any:
    """Reduce the elements at the same position of the sequences of the last level."""
    if name == "prod":
        return sequence_prod(by_position(x, x.num_levels - 1))
    if name in ("any", "all"):
        return pool_positions(x if x.dtype == np.bool_ else not_equal(x, 0), "max" if name == "any" else "min")
    reduced = pool_positions(x, name)
    return reduced if initial is None else elementwise([reduced, initial], np.maximum if name == "max" else np.minimum)


def pooled(name: str, x: Any, level: int, initial: Any, empty: Any) -> Any:
    """Reduce all rows below the sequences of a level."""
    if name == "sum":
        return sequence_pool(x, "sum", level=level)
    if name == "mean":
        return sequence_pool(x, "mean", np.nan if empty is None else empty, level)
    if name == "prod":
        return sequence_prod(x, level)
    if name in ("any", "all"):
        return sequence_truth(x if x.dtype == np.bool_ else not_equal(x, 0), name, level)
    if name in ("argmax", "argmin"):
        if empty is None:
            return sequence_place(refuse_empty(x, name, level), name, level)
        place = sequence_place(x, name, level)  # -1 for an empty sequence
        return place if not isinstance(empty, Symbol) and empty == -1 else choose(less_than(place, 0), empty, place)
    if empty is not None:
        return sequence_pool(x, name, empty, level)
    if initial is None:
        return sequence_pool(refuse_empty(x, name, level), name, level=level)
    found = sequence_pool(x, name, initial, level)
    return elementwise([found, initial], np.maximum if name == "max" else np.minimum)


def is_vector(empty: Any) -> bool:
    """Return whether a result for no values is one for each sequence."""
    return isinstance(empty, (list, tuple)) or getattr(empty, "ndim", 0) > 0


def of_each(name: str, empty: Any, place: Any, axes: int) -> Any:
    """Return one position for each sequence so that it aligns with all of them, which have more axes."""
    where = f"{name}: empty"
    if isinstance(empty, Symbol):
        given: Any = empty
    elif isinstance(empty, LoDTensor):
        given = empty.with_values(kept_in(where, empty.values, np.dtype(np.intp)))
    else:
        given = kept_in(where, empty, np.dtype(np.intp))
        if given.ndim == 2 and given.shape[1] == 1:
            given = given[:, 0]
        count = None if isinstance(place, Symbol) else len(getattr(place, "values", place))
        if given.ndim != 1 or count not in (None, len(given)):
            each = "sequence" if count is None else f"of {count} sequences"
            raise ShapeError(f"{where}: has shape {given.shape}; a number, or one for each {each}, is needed")
    if getattr(place, "num_levels", 0):
        given = with_values(place, given)
    return index_values(given, [..., *[None] * axes]) if axes else given
