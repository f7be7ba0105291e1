"""Reduction along axes of levels: they are moved to the end, pooled, and restored as axes of length 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.dispatch import Symbol
from lodcore.base.memory import as_integer
from lodcore.errors import DTypeError, ShapeError
from lodcore.operators.operands import kept_in
from lodcore.ops.elementwise.compare import less_than, not_equal
from lodcore.ops.elementwise.convert import rows as values_of
from lodcore.ops.elementwise.convert import with_values
from lodcore.ops.elementwise.math import add, elementwise
from lodcore.ops.elementwise.math import where as choose
from lodcore.ops.index.index import pick_along
from lodcore.ops.index.index_values import index_values
from lodcore.ops.move.places import lod_index, lod_positions
from lodcore.ops.move.position import by_position, drop_level, insert_level, pool_positions
from lodcore.ops.reduce.pool import sequence_pool
from lodcore.ops.reduce.product import refuse_empty, sequence_place, sequence_prod, sequence_truth
from lodcore.tensors.lod_tensor import LoDTensor

__all__: list[str] = []


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


def brought_last(x: Any, upper: list[int]) -> Any:
    """Move axes of levels after all others, so that elements at the same position along the others are adjacent."""
    for done, axis in enumerate(reversed(upper)):
        for at in range(axis, x.num_levels - done):
            x = by_position(x, at)
    return x


def put_back(reduced: Any, upper: list[int], levels: int, rows: tuple[int, ...] = ()) -> Any:
    """Restore the reduced axes with length 1: those of levels, and those of values, where 0 is the axis of the rows."""
    for axis in rows:
        reduced = index_values(reduced, [*[slice(None)] * axis, None])
    last = [axis for axis in upper if upper[-(levels + 1 - axis) :] == list(range(axis, levels + 1))]
    reduced = with_axes_of_1(reduced, len(last))
    for axis in upper[: len(upper) - len(last)]:
        reduced = insert_level(reduced, max(axis - 1, 0), axis == 0)
    return reduced


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
    for at in range(axis, x.num_levels):
        x, places = by_position(x, at), by_position(places, at)
    x = x if chosen is None else chosen(x)
    last = x.num_levels - 1
    firsts = pick_along(row_numbers(x), 0, last + 1)
    found = values_of(sequence_place(x, name, last))
    for _ in range(found.ndim - 1):
        firsts = index_values(firsts, [..., None])
    taken = index_values(values_of(places), [add(found, values_of(firsts))])
    return with_values(firsts, taken) if last else taken


def row_numbers(x: Any) -> Any:
    """Return the number of each row among all rows."""
    return drop_level(lod_positions(insert_level(x, 0, whole=True), 0), 0)


def with_axes_of_1(x: Any, count: int) -> Any:
    """Insert regular axes of length 1 after that of the rows, so that x aligns with the reduced result."""
    return index_values(x, [slice(None), *[None] * count]) if count else x


def over_levels(name: str, x: Any, upper: list[int], levels: int, keepdims: bool, initial: Any, empty: Any) -> Any:
    """Reduce some, not all, axes of levels."""
    low, high = upper[0], upper[-1]
    if upper != list(range(low, high + 1)):
        reduced = pooled(name, brought_last(x, upper), levels - len(upper), initial, empty)
        return put_back(reduced, upper, levels) if keepdims else reduced
    if high < levels:
        for _ in range(high - low):  # merges these axes into one
            x = drop_level(x, low)
            levels -= 1
        if name in ("argmax", "argmin"):
            reduced = place_along(name, x, low)
        else:
            for axis in range(low, levels - 1):
                x = by_position(x, axis)
            reduced = pooled_positions(name, x, initial)
        for axis in range(low, high + 1) if keepdims else ():
            reduced = insert_level(reduced, max(axis - 1, 0), axis == 0)
        return reduced
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
