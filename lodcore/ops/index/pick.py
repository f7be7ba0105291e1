"""Gathering rows and sequences by nested numbers, with a default for missing ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import unharmed
from lodcore.errors import DTypeError
from lodcore.operators.copies import add_back, as_rows_or_nested, row_ranges, spec_rows
from lodcore.operators.lod_rules import computed, levels_of
from lodcore.operators.operands import Array
from lodcore.operators.registry import operator
from lodcore.operators.roles import NestedIndex, Rows
from lodcore.tensors import core, tensor_core
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.padding import hold
from lodcore.tensors.tensor import Spec

__all__ = ["gather_nested"]


def _gathered_levels(x: Any, index: Any) -> Any:
    """Return the sources of the levels of the result."""
    if not levels_of(x):
        return index if levels_of(index) else []
    return [*[(index, j) for j in range(levels_of(index))], *[None] * levels_of(x)]


@operator(
    x=Rows,
    index=NestedIndex,
    lod_rule=computed("that of `index`, and below it those of `x`", _gathered_levels),
)
def gather_nested(x: Any, index: Any, default: Any = None) -> Any:
    """Gather rows, or outermost sequences, by their numbers in the batch; the result has the structure of the numbers.

    Parameters
    ----------
    x : LoDTensor, nested lists, ndarray or flat list
        Its outermost sequences are gathered, or its rows if it has no level.
    index : LoDTensor or array_like of integers, nested lists
        One number per row, in any order; numbers may repeat.
    default : scalar or array_like of one row's shape, or [], optional
        The result for numbers that are negative or out of range; for sequences only an empty one, []. By default,
        negative numbers count from the end.

    Returns
    -------
    LoDTensor, or ndarray if neither has levels
        Has the levels of index, and below them those of x.

    Raises
    ------
    IndexError
        If a number is out of range and there is no default; the message names its position.
    DTypeError, ShapeError
        If the index does not hold integers, or x cannot hold the default.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.gather_nested([10, 20, 30], [[2, 0], [], [-1]]).tolist()
    [[30, 10], [], [30]]
    >>> lodcore.gather_nested([10, 20, 30], [[2, 5], [-1]], default=0).tolist()
    [[30, 0], [0]]
    >>> lodcore.gather_nested([[1, 2], [3]], [1, 7, 0], default=[]).tolist()
    [[3], [], [1, 2]]
    """
    if default is None and type(x) is np.ndarray:
        taken = _taken_at_once(x, index)
        if taken is not None:
            return taken
    return _gathered(x, index, default)[0]


def _taken_at_once(x: Array, index: Any) -> Any:
    """Gather rows by numbers; return None if a number is negative or too large."""
    given = index.values if isinstance(index, LoDTensor) else index
    places = buffers.as_int64(given, "gather_nested: index", IndexError)
    if not (x.flags.c_contiguous and x.ndim) or x.dtype.hasobject:
        return None
    taken = buffers.new_rows("gather_nested", x, len(places))
    if kernels.embedding.take_rows(buffers.as_bytes(x), places, -1, buffers.as_bytes(taken)) >= 0:
        return None
    return tensor_core.new_tensor(taken, index.lod) if isinstance(index, LoDTensor) and index.num_levels else taken


@gather_nested.define_residuals("places")
def _gathered(x: Any, index: Any, default: Any = None) -> tuple[Any, Array]:
    where = "gather_nested"
    x = as_rows_or_nested(f"{where}: x", x)
    given = index.values if isinstance(index, LoDTensor) else index
    lod = index.lod if isinstance(index, LoDTensor) and index.num_levels else None
    places = buffers.as_int64(given, f"{where}: index", IndexError).copy()
    count = len(x)
    if kernels.embedding.check_index(places, count) < 0:
        pass  # the usual case
    elif default is None:
        places[places < 0] += count
        bad = (places < 0) | (places >= count)
        if bad.any():
            at = int(np.argmax(bad))
            number = buffers.as_int64(given, f"{where}: index", IndexError)[at]
            raise IndexError(f"{where}: index: is {number} at position {at}; there are {count} {_things(x)}")
    else:
        places[(places < 0) | (places >= count)] = -1
    if isinstance(x, LoDTensor):
        if default is not None and not _is_empty(default):
            raise DTypeError(f"{where}: default: is {default!r}; x has levels, and only an empty sequence, [], stands")
        upper = [] if lod is None else [lod.offsets(j) for j in range(lod.num_levels)]
        if lod is None and len(places) == count and bool((places == np.arange(count)).all()):
            return x, places  # all sequences, in their order
        wide = _with_empty(x)
        taken = tensor_core.gather(wide, where, 0, np.where(places < 0, count, places), None, upper)
        return taken, places
    return _rows_taken(where, x, places, default, lod), places


def _things(x: Any) -> str:
    return "sequences" if isinstance(x, LoDTensor) else "rows"


def _is_empty(default: Any) -> bool:
    return isinstance(default, (list, tuple, np.ndarray)) and len(default) == 0


def _with_empty(x: LoDTensor) -> LoDTensor:
    """Append an empty sequence; the values are shared."""
    levels = [x.lod.offsets(j) for j in range(x.lod.num_levels)]
    levels[0] = np.append(levels[0], levels[0][-1])
    return tensor_core.new_tensor(x.values, core.make_lod(levels, x.lod.num_rows))


def _rows_taken(where: str, x: Array, places: Array, default: Any, lod: LoD | None) -> Any:
    """Gather rows; the number -1 selects the default."""
    taken = buffers.new_rows(where, x, len(places))
    missing = places < 0
    some = default is not None and bool(missing.any())
    if default is not None:
        row = buffers.new_rows(where, x, 1)
        hold(f"{where}: default", default, row)
    if some:
        taken[~missing] = x[places[~missing]]
        taken[missing] = row[0]
    else:
        unharmed(kernels.embedding.take_rows(buffers.as_bytes(x), places, -1, buffers.as_bytes(taken)))
    return taken if lod is None else tensor_core.new_tensor(taken, lod)


@gather_nested.define_infer
def _(x: Spec, index: Any, default: Any) -> Spec:
    if index.dtype.kind not in "iu" and index.shape != (0,):
        raise DTypeError(f"gather_nested: index: has dtype {index.dtype}; integers are needed")
    return Spec(spec_rows(x), x.dtype)


@gather_nested.define_vjp
def _(d: Array, x: Any, places: Array, context: Any) -> tuple[Array, None]:
    if isinstance(x, LoDTensor) and x.num_levels:
        wide = _with_empty(x)
        ranges = row_ranges(wide.lod, 0, np.where(places < 0, len(x), places))
        return add_back(d, ranges, context.new("x")), None
    known = places >= 0
    if not known.all():
        d, places = d[known], places[known]
    return add_back(np.ascontiguousarray(d), np.stack([places, places + 1], axis=1), context.new("x")), None
