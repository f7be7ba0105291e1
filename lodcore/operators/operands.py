"""Helpers of operators: rows of operands, comparison of structures, sums over broadcast axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lodcore.base.articles import with_number
from lodcore.base.dispatch import Symbol
from lodcore.base.dtypes import is_held, room_for
from lodcore.errors import DTypeError, GraphError, LoDError, ShapeError
from lodcore.operators.arguments import WEAK, dense_of
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.foreign_columns import is_array
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_array, error_of_objects, with_dates
from lodcore.tensors.tensor import Spec, Tensor, is_holder

__all__ = [
    "Array",
    "array_of",
    "check_equal",
    "joined",
    "kept_in",
    "no_dtype",
    "no_gradient",
    "no_levels",
    "nothing_of",
    "on_rows",
    "operand_name",
    "rows_below",
    "rows_of",
    "unbroadcast",
    "with_levels",
]

Array = np.ndarray[Any, Any]

#: The operand names of operators that do not call them x and y.
NAMES = {
    "assignment": ("x[...]", "value"),
    "cross_entropy": ("logits", "labels"),
    "full_like": ("x", "fill_value"),
    "nan_to_num": ("x", "nan", "posinf", "neginf"),
    "where": ("condition", "x", "y"),
}

#: The usual types of operands without a LoD.
NUMBER_TYPES = frozenset((float, int, np.int64, np.float32, np.float64, np.bool_))


def known_value(x: Any) -> Any:
    """Return the value of a Variable, None if it is known only at run time; anything else as it is."""
    return getattr(x.current(), "held", None) if isinstance(x, Symbol) else x


def input_of(op: Any, name: Any) -> Any:
    """Return the name of an input of an operator; raise KeyError, with those that there are, for another one."""
    if name not in op.roles:
        raise KeyError(f"{op.__name__}: input_lod: has no input {name!r}; its inputs are {', '.join(op.roles)}")
    return name


def rows_of(x: Any) -> Any:
    """Return the values of a LoDTensor, and anything else unchanged."""
    if type(x) is np.ndarray or type(x) in NUMBER_TYPES:
        return x
    if isinstance(x, LoDTensor) or is_holder(x):
        return x.values
    return np.asarray(x) if isinstance(x, Tensor) else x


def array_of(where: str, x: Any, name: str = "x") -> Array:
    """Return the values of a tensor as an array; convert lists."""
    made: Array = dense_of(f"{where}: {name}", x, levels=True)
    return made


def no_gradient(op: Any) -> GraphError:
    """Return the error for an operator through which a gradient would have to pass."""
    return GraphError(
        f"{op.__name__}: has no vjp rule, and a gradient is asked for; lodcore.stop_gradient(x) of its argument says "
        "that none is meant"
    )


def rows_below(lod: LoD, level: int) -> Array:
    """Count the rows below each sequence of a level, counted from the first."""
    if level == lod.num_levels - 1:
        return lod.lengths(level)
    bounds = lod.row_offsets(level)
    return bounds[1:] - bounds[:-1]


def check_equal(where: str, lod: LoD, other: LoD, name: str, first_name: str = "x") -> None:
    """Raise if two structures differ; the message names both operands and the first sequence that differs."""
    if lod is other or lod == other:
        return
    if lod.num_levels != other.num_levels:
        raise no_levels(where, name, other.num_levels, first_name, lod.num_levels)
    for k in range(lod.num_levels):
        first, second = lod.lengths(k), other.lengths(k)
        if len(first) != len(second):
            raise LoDError(f"{where}: {name}: has {len(second)} sequences at level {k}; {first_name} has {len(first)}")
        differ = first != second
        if differ.any():
            s = int(np.argmax(differ))
            found, needed = second[s], first[s]
            raise LoDError(
                f"{where}: {name}: sequence {s} of level {k} has length {found}; that of {first_name} has {needed}"
            )
    raise LoDError(f"{where}: {name}: has {other.num_rows} rows; {first_name} has {lod.num_rows}")


def operand_name(where: str, j: int) -> str:
    """Return the name of operand j of an operator."""
    names = NAMES.get(where, ("x", "y"))
    return names[j] if j < len(names) else f"operand {j}"


def no_levels(where: str, name: str, levels: int, first_name: str, first_levels: int) -> LoDError:
    """Return the error for an operand, or a Spec, whose number of levels differs from that of the first."""
    return LoDError(f"{where}: {name}: has {with_number(levels, 'level')}; {first_name} has {first_levels}")


def no_dtype(where: str, operands: Sequence[Any], error: Exception) -> DTypeError:
    """Return the error for dtypes for which a function is not defined."""
    dtypes = [x.kind.__name__ if type(x) is Spec and x.kind in WEAK else _dtype_text(x) for x in operands]
    return DTypeError(f"{where}: dtypes {', '.join(dtypes)}: {error}")


def _dtype_text(x: Any) -> str:
    return str(getattr(x, "dtype", type(x).__name__))


def on_rows(where: str, result: Any, lod: LoD, ndim: int) -> Any:
    """Return an array with one row per row of a LoD as a LoDTensor."""
    if type(result) is not np.ndarray or result.ndim != ndim or result.shape[0] != lod.num_rows:
        raise ShapeError(
            f"{where}: the result has shape {np.shape(result)}; there are {lod.num_rows} rows; one entry per row is "
            "needed"
        )
    if result.dtype.hasobject:
        raise error_of_objects(f"{where}: the result has dtype", result.dtype)
    if not lod.num_levels:
        return result
    return lod_tensor_body.owned_tensor(result if result.flags.c_contiguous else np.ascontiguousarray(result), lod)


def with_levels(values: Array, lod: LoD, count: int) -> Any:
    """Return values with the first levels of a LoD, or as an ndarray if there are no levels."""
    return lod_tensor_body.owned_tensor(values, lod_body.slice_levels(lod, 0, count)) if count else values


def nothing_of(dtype: np.dtype[Any]) -> Any:
    """Return the entry of a dtype where there is none: NaT for dates and durations, empty text, or 0."""
    return "NaT" if dtype.kind in "mM" else "" if dtype.kind in "US" else 0


def kept_in(where: str, value: Any, dtype: np.dtype[Any]) -> Array:
    """Convert a value to the dtype of the array that is to hold it.

    Raises
    ------
    DTypeError
        If an integer, bool or time would change its value, a finite number would become infinite, text would be cut,
        or the dtypes are of different kinds.
    """
    if isinstance(value, LoDTensor):
        raise LoDError(f"{where}: has levels; a number or an array is needed")
    if is_array(value):
        value = as_array(where, value)
    try:
        given = np.asarray(value)
    except ValueError:
        raise ShapeError(f"{where}: is a list of uneven lists; use lodcore.array for sequences") from None
    given = with_dates(where, given)
    if given.dtype == dtype:
        return given
    exact = dtype.kind in "biu" and given.dtype.kind in "biuf"
    text = dtype.kind in "US"
    times = dtype.kind in "mM" and given.dtype.kind == dtype.kind
    if given.dtype.hasobject or not (exact or np.can_cast(given.dtype, dtype, "same_kind")):
        raise DTypeError(f"{where}: has dtype {given.dtype}; {dtype} cannot hold it")
    if times and not (held := is_held(given, dtype)).all():
        raise DTypeError(f"{where}: is {given[~held].flat[0].item()!r}; {dtype} cannot hold it")
    try:
        with np.errstate(invalid="ignore", over="raise"):
            made: Array = given.astype(dtype)
            whole = given.astype(dtype.kind) if text else given
    except FloatingPointError:
        with np.errstate(all="ignore"):
            wrong = given[np.isfinite(given) & ~np.isfinite(given.astype(dtype))].flat[0].item()
        raise DTypeError(f"{where}: is {wrong!r}; {dtype} cannot hold it") from None
    except UnicodeError:
        raise DTypeError(f"{where}: has bytes that are not ASCII; {dtype} cannot hold them") from None
    if (exact or text) and not np.array_equal(made, whole):
        wrong = whole[made != whole].flat[0].item()
        raise DTypeError(f"{where}: is {wrong!r}; {dtype} cannot hold it{room_for(given.dtype, dtype)}")
    return made


# -- broadcasting ------------------------------------------------------------------------------------------------------


def unbroadcast(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Sum a gradient over the axes along which its operand, of this shape, was broadcast."""
    gradient = np.asarray(gradient)
    if gradient.shape == shape:
        return gradient
    missing = gradient.ndim - len(shape)
    if missing:
        gradient = gradient.sum(0 if missing == 1 else tuple(range(missing)))
        if gradient.shape == shape:
            return gradient
    stretched = tuple(axis for axis, size in enumerate(shape) if size == 1 and gradient.shape[axis] != 1)
    return gradient.sum(stretched, keepdims=True) if stretched else gradient


def joined(pieces: list[Array]) -> Array:
    """Concatenate rows; return a single piece unchanged."""
    return np.concatenate(pieces) if len(pieces) > 1 else pieces[0]
