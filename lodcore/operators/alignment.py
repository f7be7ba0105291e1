"""Alignment: NumPy's rule of broadcasting on ragged shapes, for values and Specs, and its adjoint.

The axes of operands are aligned from the last. On the ragged axes of x, a dense operand has length 1; on axis 0 it has
length 1 or one entry per outermost sequence. The levels of a LoDTensor with fewer levels must be the first levels of
the other one; it has length 1 on the remaining ragged axes. A LoDTensor with an equal LoD and no axes of rows provides
one number per row, for rows of any shape.

One entry per sequence is repeated for all rows of that sequence; its gradient is the sum over these rows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.articles import with_article
from lodcore.base.recycling import computed
from lodcore.base.threads import over_sequences
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.operators.arguments import WEAK, operand_of
from lodcore.operators.copies import sum_copies
from lodcore.operators.operands import (
    NUMBER_TYPES,
    Array,
    check_equal,
    no_dtype,
    no_levels,
    on_rows,
    operand_name,
    rows_of,
)
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.kinds import of_kind_with
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import DenseTensor, Spec

__all__ = ["HINT", "aligned", "broadcast_spec", "dtype_of", "fitted", "returned", "shared"]

#: The hint for a dense operand that does not align.
HINT = "use x.with_values(v) for one entry per row, x.per_sequence(v) for one per sequence"

#: The kinds of tensors that elementwise functions accept.
KINDS = frozenset((np.ndarray, LoDTensor, DenseTensor, int, float, complex))

Shape = tuple[int | None, ...]


# -- the rule ----------------------------------------------------------------------------------------------------------


def aligned_shapes(where: str, forms: Sequence[tuple[int, Shape]]) -> tuple[int, list[Shape]]:
    """Compute the aligned shapes of operands, at least one of which has levels.

    Parameters
    ----------
    where : str
        The name of the operator, for messages.
    forms : list of (int, tuple)
        The number of levels and the shape of the values of each operand; None for an unknown length.

    Returns
    -------
    deepest : int
        The first operand with the most levels, which the result has as well.
    shapes : list of tuple
        The ragged shape of each operand, with as many axes as the result has: None on ragged axes and on axis 0.
    """
    levels = [count for count, _ in forms]
    most = max(levels)
    deepest = levels.index(most)
    ndim = max([count + len(shape) for count, shape in forms if count])
    widest = next(j for j, (count, shape) in enumerate(forms) if count and count + len(shape) == ndim)
    shapes: list[Shape] = []
    for j, (count, shape) in enumerate(forms):
        axes = count + len(shape)
        if not count:
            if axes > ndim:
                raise ShapeError(
                    f"{where}: {operand_name(where, j)}: has {axes} axes; {operand_name(where, widest)} has {ndim} "
                    f"({HINT})"
                )
            shapes.append((1,) * (ndim - axes) + shape)
        elif axes == ndim:
            shapes.append((None,) * (count + 1) + shape[1:])
        elif count == most and len(shape) == 1:
            shapes.append((None,) * (count + 1) + (1,) * (ndim - axes))
        else:
            (least, v), (_, x) = sorted([(count, j), (forms[widest][0], widest)])
            repeated = f"{operand_name(where, x)}.per_sequence({operand_name(where, v)}, {least})"
            raise _unlike(where, forms, widest, j, f"; {repeated} repeats one entry per sequence for its rows")
    for axis in range(1, most + 1):
        for j, count in enumerate(levels):
            if axis > count and shapes[j][axis] not in (1, None):
                kind, hint = (LoDError, "") if count else (ShapeError, f" ({HINT})")
                raise kind(
                    f"{where}: {operand_name(where, j)}: has length {shapes[j][axis]} on axis {axis}, along which "
                    f"{operand_name(where, deepest)} is ragged; 1 is needed{hint}"
                )
    _check_rows(where, levels, shapes)
    return deepest, shapes


def _unlike(where: str, forms: Sequence[tuple[int, Shape]], one: int, other: int, hint: str = "") -> LoDError:
    """Return the error for two LoDTensors with different numbers of axes; the hint is for different levels."""
    one, other = sorted((one, other))
    names = [operand_name(where, j) for j in (one, other)]
    levels = [forms[j][0] for j in (one, other)]
    if levels[0] != levels[1]:
        return LoDError(f"{no_levels(where, names[1], levels[1], names[0], levels[0])}{hint}")
    axes = [forms[j][0] + len(forms[j][1]) for j in (one, other)]
    return LoDError(f"{where}: {names[1]}: has {axes[1]} axes; {names[0]} has {axes[0]}, with the same levels")


def _check_rows(where: str, levels: Sequence[int], shapes: list[Shape]) -> None:
    """Raise if axes of rows do not broadcast."""
    for axis in range(max(levels) + 1, len(shapes[0])):
        first = -1
        for j, shape in enumerate(shapes):
            size = shape[axis]
            if size is None or size == 1:
                continue
            if first < 0:
                first = j
            elif size != shapes[first][axis]:
                hint = "" if levels[j] and levels[first] else f" ({HINT})"
                raise ShapeError(
                    f"{where}: {operand_name(where, j)}: has length {size} on axis {axis}; that of "
                    f"{operand_name(where, first)} is {shapes[first][axis]}{hint}"
                )


@functools.cache
def _dtype(function: Callable[..., Any], *given: Any) -> np.dtype[Any]:
    """Return the dtype of a result from dtypes and types of numbers; raise TypeError as NumPy does."""
    if isinstance(function, np.ufunc):
        return function.resolve_dtypes((*given, *[None] * function.nout))[function.nin]
    with np.errstate(all="ignore"):
        result = function(*[x(1) if isinstance(x, type) else np.ones(1, x) for x in given])
    dtype: np.dtype[Any] = result.dtype
    return dtype


def dtype_of(where: str, function: Callable[..., Any], *inputs: Any) -> np.dtype[Any]:
    """Return the dtype of an elementwise result; Python numbers adopt that of the others."""
    given: list[Any] = []
    for x in inputs:
        if type(x) is Spec and isinstance(x.dtype, np.dtype):  # the usual case
            given.append(x.kind if x.kind in WEAK else x.dtype)
        elif isinstance(x, Spec) and x.kind in WEAK:
            given.append(x.kind)
        elif isinstance(x, Spec) or hasattr(x, "dtype"):
            given.append(np.dtype(x.dtype))
        elif type(x) in (int, float, complex):
            given.append(type(x))
        else:
            given.append(np.asarray(x).dtype)
    try:
        return _dtype(function, *given)
    except DTypeError:
        raise
    except TypeError as error:
        raise no_dtype(where, inputs, error) from None


def broadcast_spec(where: str, function: Callable[..., Any], *inputs: Any) -> Spec:
    """Infer the Spec of what an elementwise function returns, with None for an unknown length."""
    dtype = dtype_of(where, function, *inputs)
    like: Any = None
    for x in inputs:  # usually all tensors have one shape
        if type(x) is Spec:
            like = like or x
            if x.kind not in KINDS or x.shape != like.shape or x.num_levels != like.num_levels:
                break
        elif type(x) not in NUMBER_TYPES:
            break
    else:
        return Spec(like.shape, dtype, like.num_levels, LoDTensor if like.num_levels else np.ndarray)
    for j, x in enumerate(inputs):
        if type(x) is Spec and x.kind not in KINDS:
            raise DTypeError(
                f"{where}: {operand_name(where, j)}: is {with_article(x.kind.__name__)}; a tensor is needed"
            )
    if any([x.num_levels for x in inputs if isinstance(x, Spec)]):
        forms = [(x.num_levels, x.shape) if isinstance(x, Spec) else (0, ()) for x in inputs]
        deepest, shapes = aligned_shapes(where, forms)
        levels = forms[deepest][0]
        return Spec((None, *_together(where, [one[levels + 1 :] for one in shapes])), dtype, levels, LoDTensor)
    return Spec(_together(where, [x.shape if isinstance(x, Spec) else () for x in inputs]), dtype)


def _together(where: str, shapes: list[Shape]) -> Shape:
    """Broadcast shapes whose lengths may be unknown."""
    shape: list[int | None] = []
    for axis in range(-max(map(len, shapes)), 0):
        sizes = {x[axis] for x in shapes if len(x) >= -axis} - {1}
        known = sizes - {None}
        if len(known) > 1:
            raise _apart(where, shapes)
        shape.append(known.pop() if known else None if sizes else 1)
    return tuple(shape)


# -- values ------------------------------------------------------------------------------------------------------------


def aligned(operands: Sequence[Any], where: str = "operands") -> list[Any]:
    """Return the values of operands so that they broadcast row by row; entries per sequence are repeated for rows."""
    values = []
    lod = None
    ndim = wide = 0
    for x in operands:  # usually all have one structure and equally many axes
        kind = type(x)
        if kind is LoDTensor:
            rows = x.values
            if lod is None:
                lod, ndim = x.lod, rows.ndim
            elif rows.ndim != ndim or (x.lod is not lod and x.lod != lod):
                break
            values.append(rows)
        elif kind is np.ndarray:
            wide = max(wide, x.ndim)
            values.append(x)
        elif kind in NUMBER_TYPES:
            values.append(x)
        else:
            break
    else:
        if wide < ndim:
            return values
    return _aligned(where, operands)[0]


def _aligned(where: str, operands: Sequence[Any]) -> tuple[list[Any], LoD | None, int]:
    """Align operands; return also the LoD of the result and the number of axes of its values."""
    values = [rows_of(x) for x in operands]
    levels = [x.lod.num_levels if isinstance(x, LoDTensor) else 0 for x in operands]
    if not any(levels):
        return values, None, 0
    deepest, shapes = aligned_shapes(where, list(zip(levels, map(np.shape, values), strict=True)))
    lod, most = operands[deepest].lod, levels[deepest]
    width = len(shapes[0]) - most - 1  # axes of a row
    for j, rows in enumerate(values):
        if j != deepest:
            own = operands[j].lod if levels[j] else None
            values[j] = _brought(where, rows, own, lod, shapes[j], (deepest, j))
        elif rows.ndim <= width:
            values[j] = rows.reshape(len(rows), *(1,) * width)
    return values, lod, width + 1


def _brought(where: str, rows: Any, own: LoD | None, lod: LoD, shape: Shape, places: tuple[int, int]) -> Any:
    """Expand values, with or without a structure, to the rows of another structure.

    Parameters
    ----------
    where : str
    rows : ndarray or number
    own : LoD or None
    lod : LoD
        The LoD of the result.
    shape : tuple
        The shape of the values, as `aligned_shapes` returns it.
    places : tuple of int
        The positions of the operand that has `lod` and of this operand.
    """
    most = lod.num_levels
    width = len(shape) - most - 1
    if own is not None:
        if own is not lod:
            _check_equal(where, lod, own, *places)
        if own.num_levels < most:
            return _repeated(where, rows, lod, own.num_levels, width)
        return rows if rows.ndim > width else rows.reshape(len(rows), *(1,) * width)
    if np.ndim(rows) <= width:
        return rows
    count, needed = shape[0], lod.num_sequences(0)
    if count not in (1, needed):
        raise ShapeError(
            f"{where}: {operand_name(where, places[1])}: has length {count} on axis 0; "
            f"{operand_name(where, places[0])} has {needed} sequences, and as many, or 1, are needed ({HINT})"
        )
    return rows.reshape(shape[most + 1 :]) if count == 1 else _repeated(where, rows, lod, 0, width)


def _check_equal(where: str, lod: LoD, other: LoD, deepest: int, j: int) -> None:
    """Raise if the levels of an operand are not the first levels of the deepest operand."""
    first = lod if other.num_levels == lod.num_levels else lod_body.slice_levels(lod, 0, other.num_levels)
    if first == other:
        return
    names = operand_name(where, deepest), operand_name(where, j)
    try:
        if deepest < j:
            check_equal(where, first, other, names[1], names[0])
        else:
            check_equal(where, other, first, names[0], names[1])
    except LoDError as error:
        for ones, full in ((other, first), (first, other)):
            axes = _kept_axes(ones, full) if first is lod else None
            if axes is not None:
                raise LoDError(
                    f"{error}; if axes were kept by keepdims, axis={axes} leaves axes of 1, which align, and "
                    f"x.per_sequence(v, {axes[0] - 1 if axes[0] else 0}) repeats one entry per sequence for its rows"
                ) from None
        raise


def _kept_axes(ones: LoD, full: LoD) -> tuple[int, ...] | None:
    """Return the axes to reduce instead of one whose level was kept with lengths of 1, or None if none was."""
    if ones.num_sequences(0) == 1 != full.num_sequences(0):
        return tuple(range(full.num_levels + 1))
    for level in range(full.num_levels - 1):
        lengths = ones.lengths(level)
        if not np.array_equal(lengths, full.lengths(level)):
            return tuple(range(level + 1, full.num_levels + 1)) if np.all(lengths == 1) else None
    return None


def _repeated(where: str, rows: Array, lod: LoD, level: int, width: int) -> Array:
    """Repeat the entry of each sequence of a level for the rows below it."""
    given = np.ascontiguousarray(rows).reshape(len(rows), *rows.shape[rows.ndim - width :])
    repeated: Array = buffers.new_rows(where, given, lod.num_rows)
    over_sequences(
        kernels.expand.repeat_rows,
        "sor",
        buffers.as_bytes(given),
        lod_body.in_rows(lod, level),
        buffers.as_bytes(repeated),
    )
    return repeated


def returned(gradient: Array, operand: Any, operands: Sequence[Any]) -> Array:
    """Reduce the gradient of aligned values to that of the operand's values: the adjoint of `aligned`.

    Parameters
    ----------
    gradient : ndarray
        Has the shape that `aligned` gave to the operand.
    operand : LoDTensor or ndarray
    operands : list
        All operands, for their structure.
    """
    shape = np.shape(rows_of(operand))
    level = operand.lod.num_levels if isinstance(operand, LoDTensor) else 0
    nested = [x for x in operands if isinstance(x, LoDTensor)]
    deepest = max(nested, key=lambda x: x.lod.num_levels) if nested else None
    if deepest is None or deepest.lod.num_levels <= level:
        return gradient.reshape(shape)
    width = max([x.ndim for x in nested]) - deepest.lod.num_levels - 1
    if gradient.ndim <= width:
        return gradient.reshape(shape)
    sums = np.empty((shape[0], *gradient.shape[1:]), gradient.dtype)
    return sum_copies(np.ascontiguousarray(gradient), lod_body.in_rows(deepest.lod, level), sums).reshape(shape)


def fitted(where: str, shape: tuple[int, ...], lod: LoD, value: Any) -> Array:
    """Align an assigned value with its target, which is never broadcast.

    Parameters
    ----------
    where : str
    shape : tuple of int
        The shape of the rows that are written.
    lod : LoD
        Their structure.
    value : LoDTensor or ndarray

    Returns
    -------
    ndarray
        An array that broadcasts against the rows.
    """
    own = value.lod if isinstance(value, LoDTensor) and value.lod.num_levels else None
    rows = rows_of(value)
    levels = own.num_levels if own is not None else 0
    if own is not None and (levels > lod.num_levels or levels + rows.ndim > lod.num_levels + len(shape)):
        raise _unlike(where, [(lod.num_levels, shape), (levels, rows.shape)], 0, 1)
    _, shapes = aligned_shapes(where, [(lod.num_levels, shape), (levels, rows.shape)])
    made: Array = _brought(where, rows, own, lod, shapes[1], (0, 1))
    for axis, size in enumerate(shape[1:], 1):
        if size == 1 != shapes[1][lod.num_levels + axis]:
            raise ShapeError(
                f"{where}: {operand_name(where, 1)}: has length {shapes[1][lod.num_levels + axis]} on axis "
                f"{lod.num_levels + axis}; that of {operand_name(where, 0)} is 1"
            )
    return made


# -- computing ---------------------------------------------------------------------------------------------------------


def shared(where: str, function: Callable[..., Any], *operands: Any) -> Any:
    """Compute on the aligned values of operands; the result has the LoD of the first operand with the most levels."""
    made = lod_tensor_body.on_same_rows(function, operands)
    if made is not None:
        return made
    lod = None
    ndim, wide, uneven, exact = 0, 0, False, True
    values = []
    for j, x in enumerate(operands):
        kind = type(x)
        if kind is LoDTensor or (kind not in NUMBER_TYPES and kind is not np.ndarray and isinstance(x, LoDTensor)):
            rows, exact = x.values, exact and kind is LoDTensor
            if lod is None:
                lod, ndim = x.lod, rows.ndim
            elif rows.ndim != ndim or (x.lod is not lod and x.lod != lod):
                uneven = True
            values.append(rows)
        elif kind is np.ndarray and not x.dtype.hasobject:
            if x.ndim > wide:
                wide = x.ndim
            values.append(x)
        elif kind in NUMBER_TYPES:
            values.append(x)
        else:
            rows = operand_of(f"{where}: {operand_name(where, j)}", x)
            wide = max(wide, np.ndim(rows))
            values.append(rows)
    if lod is not None and (uneven or wide >= ndim):
        given = [x if isinstance(x, LoDTensor) else rows for x, rows in zip(operands, values, strict=True)]
        values, lod, ndim = _aligned(where, given)
    try:
        result = computed(function, values)
    except ValueError as error:
        if "broadcast" not in str(error):
            raise
        raise _not_broadcast(where, operands, values, lod) from None
    except DTypeError:
        raise
    except (TypeError, OverflowError) as error:  # a Python number that the dtype of the others cannot hold
        raise no_dtype(where, values, error) from None
    made = result if lod is None else on_rows(where, result, lod, ndim)
    return made if exact else of_kind_with(where, operands, lod, made)


def _not_broadcast(where: str, operands: Sequence[Any], values: Sequence[Any], lod: LoD | None) -> ShapeError:
    """Return the error for values that do not broadcast."""
    if lod is not None:
        try:
            _aligned(where, [x if isinstance(x, LoDTensor) else v for x, v in zip(operands, values, strict=True)])
        except ShapeError as error:
            return error
    return _apart(where, map(np.shape, values))


def _apart(where: str, shapes: Iterable[Shape]) -> ShapeError:
    return ShapeError(f"{where}: shapes {', '.join(map(str, shapes))}: do not broadcast")
