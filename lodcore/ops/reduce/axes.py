"""Reductions over the axes of a ragged shape: sequences, one axis per level, then the axes of a row.

Axis `num_levels` holds the rows of the sequences of the last level; `sequence_pool` and its relatives reduce it.
Coarser axes hold sequences of different lengths: elements at the same position are reduced, as in awkward.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.articles import with_article
from lodcore.base.dispatch import Symbol
from lodcore.base.memory import flag
from lodcore.base.missing import complete
from lodcore.base.naming import with_arguments
from lodcore.errors import DTypeError, GraphError, ShapeError
from lodcore.operators.arguments import level_of
from lodcore.operators.registry import PLAIN
from lodcore.ops.elementwise.compare import greater_than, less_than
from lodcore.ops.elementwise.convert import cast, full_like, sized
from lodcore.ops.elementwise.math import add, div, minus, mul
from lodcore.ops.elementwise.math import where as choose
from lodcore.ops.reduce.dates import are_dates, mean_of_durations, reduce_dates
from lodcore.ops.reduce.reduce_values import (
    axes_of,
    is_below,
    is_vector,
    is_whole,
    kept_empty,
    kept_initial,
    mean_dtype,
    of_each,
    over_levels,
    pooled,
    reduce_values,
    with_axes_of_1,
)
from lodcore.tensors import fast_paths
from lodcore.tensors.kinds import is_foreign, plain_of
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import refuse_conversion
from lodcore.tensors.tensor import DenseTensor, Tensor, is_holder

__all__ = ["all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "sum"]

#: The value of masked-out elements.
NEUTRAL = {"sum": 0, "mean": 0, "prod": 1, "any": False, "all": True}


def tensor_of(where: str, x: Any) -> Any:
    """Return a LoDTensor, an array or a Variable; convert lists to arrays."""
    if type(x) is LoDTensor or isinstance(x, np.ndarray):
        return x
    if isinstance(x, Symbol):
        known: Any = x.current()
        if type(getattr(known, "held", None)) in (np.ndarray, LoDTensor):  # the usual case
            return known
        kind = known.spec.kind if isinstance(known, Symbol) else type(known)  # type: ignore[attr-defined]
        if is_foreign(kind):
            return known if LoDTensor in kind.__mro__ else PLAIN(known, f"{where}: x")
        if kind is not np.ndarray and kind is not LoDTensor:
            refuse_conversion(f"{where}: x", kind)
        if kind is object:
            raise GraphError(f"{where}: {known!r}: is not known to be a tensor while it is recorded")
        if kind not in (np.ndarray, LoDTensor, DenseTensor, int, float, complex) and not hasattr(kind, "__array__"):
            raise DTypeError(f"{where}: x: is {with_article(kind.__name__)}; a LoDTensor or an array is needed")
        return known
    if isinstance(x, LoDTensor):
        return x
    if is_foreign(type(x)):
        return plain_of(f"{where}: x", x)
    refuse_conversion(f"{where}: x", x)
    if isinstance(x, Tensor) and not hasattr(x, "__array__"):
        raise DTypeError(f"{where}: x: is {with_article(type(x).__name__)}; a LoDTensor or an array is needed")
    x = complete(f"{where}: x", x)
    try:
        made = x.values if is_holder(x) else np.asarray(x)
    except ValueError:
        raise ShapeError(f"{where}: x: is a list of uneven lists; use lodcore.array for sequences") from None
    if made.dtype.hasobject:
        raise DTypeError(f"{where}: x: is {type(x).__name__}; a tensor is needed")
    return made


def axes_below(name: str, x: Any, axis: Any, level: Any) -> tuple[Any, Any]:
    """Return a tensor, and the axes of all that is below the sequences of a level: those that are reduced."""
    if axis is not None:
        raise TypeError(f"{name}: axis, level: are {axis}, {level}; one of them is needed")
    x = tensor_of(name, x)
    levels = getattr(x, "num_levels", 0)
    k = level_of(name, levels, level)
    return x, levels if k == levels - 1 else tuple(range(k + 1, levels + 1))


def check_keepdims(name: str, axis: Any, keepdims: Any) -> None:
    """Raise if axes shall be kept where none is given."""
    if keepdims and axis is None:
        raise TypeError(f"{name}: keepdims: needs an axis")


def reduce_axes(
    name: str, x: Any, axis: Any, out: Any, keepdims: bool, initial: Any, mask: Any, empty: Any = None
) -> Any:
    """Reduce axes of a tensor."""
    keepdims = flag(f"{name}: keepdims", keepdims)
    if out is not None:
        raise TypeError(f"{name}: out: is not supported; the result is a new tensor")
    levels = getattr(x, "num_levels", 0)
    if x.dtype.kind in "mM" and are_dates(name, x) and (levels or name == "sum"):
        return _reduced_dates(name, x, axis, keepdims, initial, mask, empty)
    plain = mask is True and initial is None and empty is None and not keepdims
    if plain and axis is None:  # as in a loss
        check_kind(name, x.dtype, False)
        return reduce_values(x, name)
    if plain and levels and type(axis) is int and levels in (axis, axis + x.ndim):  # the usual case
        check_kind(name, x.dtype, True)
        return pooled(name, x, levels - 1, None, None)
    axes = tuple(range(x.ndim)) if axis is None else axes_of(name, axis, x.ndim)
    check_kind(name, x.dtype, 0 < len([one for one in axes if one <= levels]) <= levels)
    initial = kept_initial(name, initial, x.dtype) if initial is not None else None
    empty = _checked_empty(name, empty, initial, x.dtype) if empty is not None else None
    if mask is not True:
        mask = tensor_of(f"{name}: where", mask)
        if mask.dtype != np.bool_:
            raise DTypeError(f"{name}: where: has dtype {mask.dtype}; bool is needed")
        if name in ("max", "min") and initial is None:
            raise ValueError(
                f"{name}: where: needs an initial value, which is the result where nothing is chosen; empty= does not "
                "stand in for it"
            )
        other = initial if name in ("max", "min") else x.dtype.type(NEUTRAL[name])
        x = with_arguments({"condition": "where"}, choose, mask, x, other)
    first = initial if name in ("max", "min") else None
    upper = [one for one in axes if one <= levels] if levels else []
    rows = tuple(one - levels for one in axes[len(upper) :])
    if len(upper) == levels + 1:  # all sequences
        whole = None if axis is None and not keepdims else (0, *rows)
        reduced = reduce_values(x, name, whole, keepdims, first, empty)
        if keepdims:
            reduced = with_axes_of_1(reduced, levels)
    else:
        reduced = reduce_values(x, name, rows, keepdims, first, empty) if rows or not upper else x
        if upper:
            reduced = over_levels(name, reduced, upper, levels, keepdims, first, empty)
    if initial is None or name in ("max", "min"):
        return reduced
    return add(reduced, initial) if name == "sum" else mul(reduced, initial)


def _reduced_dates(name: str, x: Any, axis: Any, keepdims: bool, initial: Any, mask: Any, empty: Any) -> Any:
    """Reduce dates as integers; `initial` and `empty` are checked as those of dates."""
    if mask is not True and name in ("max", "min") and initial is None:
        raise ValueError(f"{name}: where: needs an initial value, which is the result where nothing is chosen")
    first = kept_initial(name, initial, x.dtype) if initial is not None else None
    none = _checked_empty(name, empty, first, x.dtype) if empty is not None else None

    def reduce(name: str, values: Any, initial: Any, empty: Any) -> Any:
        return reduce_axes(name, values, axis, None, keepdims, initial, mask, empty)

    return reduce_dates(name, x, reduce, first, none)


def _checked_empty(name: str, empty: Any, initial: Any, dtype: np.dtype[Any]) -> Any:
    """Check the result for no values, which may not be given together with an initial value."""
    if initial is not None:
        raise ValueError(
            f"{name}: empty, initial: are {empty}, {initial}; one of them is needed: initial is among all values, "
            "empty is used where there are none"
        )
    return kept_empty(name, empty, dtype)


def sum(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
    *,
    level: int | None = None,
) -> Any:
    """Add up values.

    Integers wrap around on overflow, as in NumPy. So do durations along a level; those of all levels are added up by
    NumPy, which raises OverflowError from version 2.5 on.

    Parameters
    ----------
    x : LoDTensor or array_like
    axis : int or tuple of int, optional
        By default, all values are reduced. The axes of a LoDTensor are those of its `shape`: sequences, one axis per
        level, then the axes of a row. The axis of the last level adds up the rows of each sequence; a coarser one adds
        up the elements at the same position of the sequences that are long enough.
    dtype : dtype_like, optional
        The dtype of the computation and of the result.
    out : None
        Not supported.
    keepdims : bool
        Keep the reduced axes with length 1. They align with x unless a ragged axis follows; in that case the axis stays
        a level whose sequences have one element.
    initial : number, optional
        The starting value.
    where : LoDTensor or array_like of bool
        The elements to include; it broadcasts with x.
    level : int, optional
        Instead of an axis: reduce all rows below each sequence of this level, that is along the axes `level` + 1 to
        `x.num_levels`. A negative level counts from the last one.

    Returns
    -------
    LoDTensor, ndarray or number

    Raises
    ------
    ShapeError, DTypeError, LevelError
        If the axis, or the level, does not exist.
    TypeError
        If both are given.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1, 2], [], [3]])
    >>> int(lodcore.ops.sum(x)), lodcore.ops.sum(x, axis=1), lodcore.ops.sum(x, axis=0)
    (6, array([3, 0, 3]), array([4, 2]))
    >>> lodcore.ops.sum(lodcore.array([[[1, 2], [3]], [[4]]]), level=0)
    array([6, 4])
    """
    if level is not None:
        x, axis = axes_below("sum", x, axis, level)
    found = fast_paths.reduced("sum", x, axis, keepdims, where, dtype, out, initial)
    if found is not None:
        return found
    if where is True and keepdims is False and is_whole(x, axis, dtype, out, initial):  # as in a loss
        return reduce_values(x, "sum")
    x, initial = tensor_of("sum", x), _started("sum", initial, dtype)
    return in_dtype(reduce_axes("sum", cast_for("sum", x, dtype), axis, out, keepdims, initial, where), dtype)


def prod(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
    *,
    level: int | None = None,
) -> Any:
    """Multiply values. The parameters are those of `sum`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.prod(lodcore.array([[1, 2], [], [3]]), axis=1)
    array([2, 1, 3])
    """
    if level is not None:
        x, axis = axes_below("prod", x, axis, level)
    x, initial = tensor_of("prod", x), _started("prod", initial, dtype)
    return in_dtype(reduce_axes("prod", cast_for("prod", x, dtype), axis, out, keepdims, initial, where), dtype)


def mean(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: Any = True,
    empty: Any = None,
    level: int | None = None,
) -> Any:
    """Average values. The parameters are those of `sum`.

    Parameters
    ----------
    empty : number, optional
        The mean of no values; by default nan.

    Returns
    -------
    LoDTensor, ndarray or number
        float64 for integers; the mean of durations is a duration, rounded toward zero.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1, 2], [], [3]])
    >>> float(lodcore.ops.mean(x)), lodcore.ops.mean(x, axis=1)
    (2.0, array([1.5, nan, 3. ]))
    >>> lodcore.ops.mean(x, axis=1, empty=0)
    array([1.5, 0. , 3. ])
    """
    if level is not None:
        x, axis = axes_below("mean", x, axis, level)
    found = fast_paths.reduced("mean", x, axis, keepdims, where, dtype, out, empty)
    if found is not None:
        return found
    if where is True and keepdims is False and is_whole(x, axis, dtype, out, empty):  # as in a loss
        return reduce_values(x, "mean")
    x = tensor_of("mean", x)
    if x.dtype.kind == "m" and dtype is None:
        none = None if empty is None else kept_empty("mean", empty, x.dtype)
        return mean_of_durations(x, lambda name, v: reduce_axes(name, v, axis, out, keepdims, None, where), none)
    check_kind("mean", x.dtype, False)
    x = cast_for("mean", x, dtype)
    if where is True:
        return reduce_axes("mean", x, axis, out, keepdims, None, True, empty)
    half = x.dtype == np.float16  # whose sums are those of float32, as in NumPy
    x = cast_for("mean", x, np.dtype(np.float32) if half else mean_dtype(x.dtype))
    total, count = reduce_axes("sum", x, axis, out, keepdims, None, where), count_left(x, axis, keepdims, where, 0)
    if empty is None:
        found = div(total, count)
    else:
        found = choose(greater_than(count, 0), div(total, count), kept_empty("mean", empty, x.dtype))
    return in_dtype(found, np.float16) if half else found


def count_left(x: Any, axis: Any, keepdims: bool, mask: Any, ddof: Any) -> Any:
    """Count the averaged values minus the degrees of freedom; return nan where none is left."""
    count = minus(reduce_axes("sum", full_like(x, 1), axis, None, keepdims, None, mask), ddof)
    return choose(greater_than(count, 0), count, np.nan)


def max(
    x: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
    *,
    empty: Any = None,
    level: int | None = None,
) -> Any:
    """Return the maximum, or nan if a value is nan. The parameters are those of `sum`.

    Parameters
    ----------
    empty : number, optional
        The maximum of no values. Unlike `initial`, it does not affect sequences that have values, and cannot be given
        with `where`.

    Raises
    ------
    ValueError
        If there are no values, and neither `empty` nor an initial value; the message names the first empty sequence.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[-1, -2], [], [3]])
    >>> lodcore.ops.max(x, axis=1, empty=0), lodcore.ops.max(x, axis=1, initial=0)
    (array([-1,  0,  3]), array([0, 0, 3]))
    """
    if level is not None:
        x, axis = axes_below("max", x, axis, level)
    found = fast_paths.reduced("max", x, axis, keepdims, where, out, initial, empty)
    if found is not None:
        return found
    return reduce_axes("max", tensor_of("max", x), axis, out, keepdims, initial, where, empty)


def min(
    x: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
    *,
    empty: Any = None,
    level: int | None = None,
) -> Any:
    """Return the minimum, or nan if a value is nan. Parameters and errors are those of `max`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.min(lodcore.array([[1, 2], [3]]), axis=1)
    array([1, 3])
    """
    if level is not None:
        x, axis = axes_below("min", x, axis, level)
    found = fast_paths.reduced("min", x, axis, keepdims, where, out, initial, empty)
    if found is not None:
        return found
    return reduce_axes("min", tensor_of("min", x), axis, out, keepdims, initial, where, empty)


def any(
    x: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = True, level: int | None = None
) -> Any:
    """Return whether any value is true, or not 0. The parameters are those of `sum`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.any(lodcore.array([[0, 2], [], [0]]), axis=1)
    array([ True, False, False])
    """
    if level is not None:
        x, axis = axes_below("any", x, axis, level)
    return reduce_axes("any", tensor_of("any", x), axis, out, keepdims, None, where)


def all(
    x: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = True, level: int | None = None
) -> Any:
    """Return whether all values are true, or not 0. The parameters are those of `sum`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.all(lodcore.array([[0, 2], [], [1]]), axis=1)
    array([False,  True,  True])
    """
    if level is not None:
        x, axis = axes_below("all", x, axis, level)
    return reduce_axes("all", tensor_of("all", x), axis, out, keepdims, None, where)


def argmax(
    x: Any, axis: Any = None, out: None = None, *, keepdims: bool = False, empty: Any = None, level: int | None = None
) -> Any:
    """Return the position of the maximum, the first of equal ones; nan is greater than all other values.

    Parameters
    ----------
    x : LoDTensor or array_like
    axis : int, optional
        The axis of the last level, or one of a row; by default, the position is that among all values.
    out : None
        Not supported.
    keepdims : bool
    empty : int or array_like of int, shape (number of sequences,), optional
        The result for no values; over the sequences of a level, it may also be one per sequence, for all its columns.
    level : int, optional
        As in `sum`; positions count the rows below each sequence.

    Raises
    ------
    ValueError
        If there are no values, and `empty` is not given; the message names the first empty sequence.
    ShapeError, DTypeError
        If the axis does not exist, or `empty` is neither a number nor one for each sequence.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.argmax(lodcore.array([[1, 2], [], [3]]), axis=1, empty=-1)
    array([ 1, -1,  0])
    >>> lodcore.ops.argmax(lodcore.array([[1, 2], [], [3]]), axis=1, empty=[7, 8, 9])
    array([1, 8, 0])
    """
    return _place("argmax", x, axis, out, keepdims, empty, level)


def argmin(
    x: Any, axis: Any = None, out: None = None, *, keepdims: bool = False, empty: Any = None, level: int | None = None
) -> Any:
    """Return the position of the minimum. Parameters and errors are those of `argmax`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.argmin(lodcore.array([[2, 1], [3]]), axis=1)
    array([1, 0])
    """
    return _place("argmin", x, axis, out, keepdims, empty, level)


def _place(name: str, x: Any, axis: Any, out: Any, keepdims: bool, empty: Any, level: int | None) -> Any:
    x = tensor_of(name, x)
    if isinstance(axis, tuple):
        raise DTypeError(f"{name}: axis: is {axis!r}; an integer is needed")
    if level is not None:
        x, axis = axes_below(name, x, axis, level)
    levels, keepdims = getattr(x, "num_levels", 0), flag(f"{name}: keepdims", keepdims)
    if levels:
        check_keepdims(name, axis, keepdims)
    if axis is None or not levels:
        if out is not None:
            raise TypeError(f"{name}: out: is not supported; the result is a new tensor")
        chosen = None if axis is None else axes_of(name, axis, x.ndim)
        return reduce_values(x, name, chosen, keepdims, None, kept_empty(name, empty, x.dtype))
    axes = () if empty is None or not is_vector(empty) else axes_of(name, axis, x.ndim)
    if not is_below(axes, levels):
        return reduce_axes(name, x, axis, out, keepdims, None, True, empty)
    place = reduce_axes(name, x, axis, out, keepdims, None, True, -1)
    return choose(
        less_than(place, 0), of_each(name, empty, place, x.ndim - levels - 1 + bool(keepdims) * len(axes)), place
    )


def check_kind(name: str, dtype: np.dtype[Any], ragged: bool) -> None:
    """Raise if values of a dtype cannot be reduced along ragged, or along other, axes."""
    extreme = name in ("max", "min", "argmax", "argmin")
    if ragged and (dtype.kind not in "biuf" if extreme else name == "prod" and dtype.kind == "c"):
        raise DTypeError(f"{name}: x: has dtype {dtype}; along axes of levels real numbers are needed")
    if name in ("max", "min") and dtype.kind in "USV":
        raise DTypeError(f"{name}: x: has dtype {dtype}, which has no {name}; numbers or dates are needed")
    if not extreme and dtype.kind not in "biufc":
        raise DTypeError(f"{name}: x: has dtype {dtype}; numbers are needed")


def cast_for(name: str, x: Any, dtype: Any) -> Any:
    """Convert the values to the dtype in which they are reduced."""
    if dtype is None:
        return x
    made = sized(name, dtype, x)
    needed = "fc" if name in ("mean", "var", "std") else "biufc"
    if x.dtype.kind not in "biufc":
        raise DTypeError(f"{name}: x: has dtype {x.dtype}; numbers are needed")
    if made.kind not in needed:
        raise DTypeError(
            f"{name}: dtype: is {made}; x has {x.dtype}, and {'floats' if needed == 'fc' else 'numbers'} are needed"
        )
    return x if x.dtype == made else cast(x, made)


def _started(name: str, initial: Any, dtype: Any) -> Any:
    """Return the starting value of a sum or a product; that of bool is whether it is not 0."""
    if initial is None or dtype is None or sized(name, dtype) != np.bool_:
        return initial
    return kept_initial(name, initial, np.dtype(np.bool_)) != 0


def in_dtype(found: Any, dtype: Any) -> Any:
    """Convert a result to the requested dtype; sums and products of integers are computed in 64 bits."""
    if dtype is None or found.dtype == dtype:
        return found
    return found.astype(dtype) if isinstance(found, np.generic) else cast(found, dtype)


def dtype_of_accumulate(where: str, ufunc: np.ufunc, given: np.dtype[Any], dtype: Any) -> np.dtype[Any]:
    """Return the dtype in which a ufunc accumulates for a requested dtype; raise if it does not support it."""
    try:
        return ufunc.accumulate(np.ones(1, given), dtype=dtype).dtype
    except TypeError as error:
        raise DTypeError(f"{where}: dtype: is {dtype}; {error}") from None
