"""NumPy's functions that join, cut and select on dense Variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import ops
from lodcore.base.dispatch import Symbol
from lodcore.errors import DTypeError, ShapeError
from lodcore.numpy_api.dense import ALL, at_axis, axis_in, call, dense_of, flat, integers, on_dense
from lodcore.numpy_api.dense_shapes import expand_dims, moveaxis, reshape
from lodcore.numpy_api.protocols import concatenate
from lodcore.numpy_api.shapes import broadcast_arrays

__all__ = ["compress", "take"]

# -- joining -----------------------------------------------------------------------------------------------------------


@on_dense(np.concatenate)
def concatenated(arrays: Any, axis: Any = 0, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Join arrays along an axis; with None, all of their values."""
    xs = [flat("concatenate", x) for x in arrays] if axis is None else list(arrays)
    if not xs:
        raise ValueError("numpy.concatenate: arrays: is empty; at least one is needed")
    return concatenate(xs, 0 if axis is None else axis, dtype=dtype, casting=casting)


@on_dense(np.stack)
def stack(arrays: Any, axis: Any = 0, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Join arrays along a new axis."""
    xs = [dense_of("stack", x) for x in arrays]
    if not xs:
        raise ValueError("numpy.stack: arrays: is empty; at least one is needed")
    at = axis_in("stack", axis, xs[0].ndim + 1)
    for j, x in enumerate(xs):
        known = [None not in pair and pair[0] != pair[1] for pair in zip(x.shape, xs[0].shape, strict=False)]
        if x.ndim != xs[0].ndim or any(known):
            raise ShapeError(f"numpy.stack: arrays[{j}]: has shape {x.shape}; arrays[0] has {xs[0].shape}")
    return concatenate([expand_dims(x, at) for x in xs], at, dtype=dtype, casting=casting)


def _joined(name: str, prepared: Any, axis: Any) -> Any:
    def joined(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
        """Join arrays that have at least so many axes."""
        xs = [prepared(dense_of(name, x)) for x in tup]
        if not xs:
            raise ValueError(f"numpy.{name}: tup: there are no arrays; at least one is needed")
        at = axis if axis is not None else 0 if xs[0].ndim == 1 else 1
        return concatenate(xs, at, dtype=dtype, casting=casting)

    return joined


on_dense(np.vstack)(_joined("vstack", np.atleast_2d, 0))
on_dense(np.hstack)(_joined("hstack", np.atleast_1d, None))
on_dense(np.dstack)(_joined("dstack", np.atleast_3d, 2))


@on_dense(np.column_stack)
def column_stack(tup: Any) -> Any:
    """Join vectors as columns, and matrices along their columns."""
    xs = [dense_of("column_stack", x) for x in tup]
    return concatenate([reshape(x, (-1, 1)) if x.ndim < 2 else x for x in xs], 1)


@on_dense(np.append)
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """Join values to an array, along an axis or as one vector."""
    return concatenated([dense_of("append", arr), dense_of("append", values)], axis)


@on_dense(np.block)
def block(arrays: Any) -> Any:
    """Join nested lists of arrays, the innermost along the last axis."""
    depth, first = 0, arrays
    while isinstance(first, list):
        if not first:
            raise ValueError("numpy.block: arrays: has an empty list; arrays are needed")
        first, depth = first[0], depth + 1
    leaves: list[int] = []

    def look(part: Any, level: int) -> None:
        if isinstance(part, list) != (level < depth):
            raise ValueError(f"numpy.block: arrays: lists are {depth} deep in one place, {level} in another")
        if isinstance(part, list):
            for one in part:
                look(one, level + 1)
        else:
            leaves.append(dense_of("block", part).ndim)

    look(arrays, 0)
    ndim = max([*leaves, depth])

    def join(part: Any, level: int) -> Any:
        if level == depth:
            x = dense_of("block", part)
            return ops.index_values(x, [*[None] * (ndim - x.ndim), *[ALL] * x.ndim]) if x.ndim < ndim else x
        return concatenate([join(one, level + 1) for one in part], ndim - depth + level)

    return join(arrays, 0)


@on_dense(np.meshgrid)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """Return the coordinates of a grid."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"numpy.meshgrid: indexing: is {indexing!r}; 'xy' or 'ij' is needed")
    xs = [flat("meshgrid", x) for x in xi]
    order = [1, 0, *range(2, len(xs))] if indexing == "xy" and len(xs) > 1 else list(range(len(xs)))
    keys = [[ALL if order[j] == at else None for at in range(len(xs))] for j in range(len(xs))]
    spread = tuple([ops.index_values(x, key) for x, key in zip(xs, keys, strict=True)])
    return spread if sparse or len(xs) < 2 else broadcast_arrays(*spread)


# -- cutting -----------------------------------------------------------------------------------------------------------


def _split(name: str, ary: Any, indices_or_sections: Any, axis: Any, equal: bool = True) -> Any:
    x, sections = dense_of(name, ary), integers(name, "indices_or_sections", indices_or_sections)
    at = axis_in(name, axis, x.ndim)
    if not isinstance(sections, tuple) and sections < 1:
        raise ValueError(f"numpy.{name}: indices_or_sections: is {sections}; 1 or more is needed")
    return list(call([x], "split", sections=sections, axis=at, equal=equal))


@on_dense(np.split)
def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    """Cut into equal parts, or at positions."""
    return _split("split", ary, indices_or_sections, axis)


@on_dense(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    """Cut into parts whose lengths differ by one at most, or at positions."""
    return _split("array_split", ary, indices_or_sections, axis, False)


@on_dense(np.vsplit)
def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Cut along the first of two axes or more."""
    return _split_along("vsplit", ary, indices_or_sections, 2, 0)


@on_dense(np.hsplit)
def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Cut along the second axis, or the only one."""
    return _split_along("hsplit", ary, indices_or_sections, 1, 1 if np.ndim(ary) > 1 else 0)


@on_dense(np.dsplit)
def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Cut along the third axis."""
    return _split_along("dsplit", ary, indices_or_sections, 3, 2)


def _split_along(name: str, ary: Any, sections: Any, least: int, axis: int) -> Any:
    x = dense_of(name, ary)
    if x.ndim < least:
        raise ShapeError(f"numpy.{name}: ary: has shape {x.shape}; {least} axes or more are needed")
    return _split(name, x, sections, axis)


def unstack(x: Any, /, *, axis: int = 0) -> Any:
    """Return the parts along an axis, without it."""
    x = dense_of("unstack", x)
    at = axis_in("unstack", axis, x.ndim)
    if x.shape[at] is None:
        raise ShapeError(f"numpy.unstack: axis: is {axis}, whose length is known only at run time")
    return tuple([at_axis(x, at, j) for j in range(x.shape[at])])


on_dense(getattr(np, "unstack", None))(unstack)

# -- selecting ---------------------------------------------------------------------------------------------------------


@on_dense(np.take)
def take(a: Any, indices: Any, axis: Any = None, mode: str = "raise") -> Any:
    """Gather entries along an axis; by default, values."""
    x = flat("take", a) if axis is None else dense_of("take", a)
    at = 0 if axis is None else axis_in("take", axis, x.ndim)
    index = dense_of("take", indices)
    if index.dtype.kind not in "iu" and index.shape != (0,):
        raise DTypeError(f"numpy.take: indices: have dtype {index.dtype}; integers are needed")
    if mode in ("wrap", "clip") and x.shape[at] is not None and not isinstance(index, Symbol):
        numbers = index.astype(np.int64) if index.shape == (0,) else index
        index = np.take(np.arange(x.shape[at]), numbers, mode=mode)  # type: ignore[call-overload]
    elif mode != "raise":
        raise ValueError(
            f"numpy.take: mode: is {mode!r}; 'raise' is needed where an index, or a length, is known only at run time"
        )
    if not index.shape and not isinstance(index, Symbol):
        return at_axis(x, at, int(index))
    return at_axis(x, at, index if isinstance(index, Symbol) else index.astype(np.int64))


@on_dense(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """Gather entries along an axis, by other indices in each place of the other axes."""
    x = flat("take_along_axis", arr) if axis is None else dense_of("take_along_axis", arr)
    at = 0 if axis is None else axis_in("take_along_axis", axis, x.ndim)
    return call([x, dense_of("take_along_axis", indices)], "take_along_axis", axis=at)


@on_dense(np.compress)
def compress(condition: Any, a: Any, axis: Any = None) -> Any:
    """Keep the entries along an axis for which a condition holds."""
    x = flat("compress", a) if axis is None else dense_of("compress", a)
    at = 0 if axis is None else axis_in("compress", axis, x.ndim)
    mask = dense_of("compress", condition)
    if mask.ndim != 1:
        raise ShapeError(f"numpy.compress: condition: has shape {mask.shape}; one axis is needed")
    return at_axis(x, at, mask if isinstance(mask, Symbol) else np.flatnonzero(mask.copy()))


@on_dense(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    """Return the values for which a condition holds."""
    mask = flat("extract", condition)
    return at_axis(flat("extract", arr), 0, mask if mask.dtype == np.bool_ else ops.not_equal(mask, 0))


@on_dense(np.delete)
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """Leave out entries along an axis; by default, values."""
    x = flat("delete", arr) if axis is None else dense_of("delete", arr)
    at = 0 if axis is None else axis_in("delete", axis, x.ndim)
    if isinstance(obj, Symbol) or x.shape[at] is None:
        raise TypeError("numpy.delete: obj, axis: positions and lengths that are known when it is recorded are needed")
    return at_axis(x, at, np.delete(np.arange(x.shape[at]), obj))


@on_dense(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Return, for each place, the value of the first choice whose condition holds."""
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError(
            f"numpy.select: condlist, choicelist: have {len(condlist)} and {len(choicelist)} entries; "
            "the same number of both is needed, at least one"
        )
    found = default
    for condition, choice in list(zip(condlist, choicelist, strict=True))[::-1]:
        if dense_of("select", condition).dtype != np.bool_:
            raise DTypeError(f"numpy.select: condlist: has dtype {dense_of('select', condition).dtype}; bool is needed")
        found = ops.where(condition, choice, found)
    return found


def _bound(x: Any) -> Any:
    """Return a bound as a float; integers of arrays become float64, as differences do not fit into their dtype."""
    if type(x) in (int, float):
        return float(x)
    made = dense_of("linspace", x)
    return ops.cast(made, np.float64) if made.dtype.kind in "biu" else made


@on_dense(np.linspace)
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Return evenly spaced numbers between two bounds."""
    count = integers("linspace", "num", num)
    if count < 0:
        raise ValueError(f"numpy.linspace: num: is {num}; 0 or more is needed")
    parts = count - 1 if endpoint else count
    low, high = _bound(start), _bound(stop)
    width = ops.minus(high, low)
    key = [ALL, *[None] * width.ndim]
    share = np.arange(count) / parts if parts > 0 else np.zeros(count)
    share = share.astype(np.empty(0, width.dtype).real.dtype, copy=False) if width.dtype.kind in "fc" else share
    found: Any = ops.add(ops.mul(ops.index_values(share, key), width), low)
    if endpoint and count > 1:  # the last one exactly
        found = ops.where(ops.index_values(np.arange(count) < count - 1, key), found, high)
    if dtype is not None:
        whole = np.dtype(dtype).kind in "iu" and found.dtype.kind == "f"
        found = ops.cast(ops.elementwise([found], np.floor) if whole else found, dtype)
    found = moveaxis(found, 0, axis) if axis else found
    return (found, ops.div(width, parts if parts > 0 else np.nan)) if retstep else found
