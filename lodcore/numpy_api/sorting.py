"""NumPy's functions for sorting, quantiles, sums without nan, and neighbours, on LoDTensors and Variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import ops
from lodcore.base.memory import as_integer
from lodcore.base.naming import call_named, with_arguments
from lodcore.errors import LoDError
from lodcore.numpy_api.advice import BY_LABELS
from lodcore.numpy_api.dense import call
from lodcore.numpy_api.indexing import getitem
from lodcore.numpy_api.protocols import accumulate, axis_of, concatenate, refuse_symbols, stands_for
from lodcore.operators.alignment import shared
from lodcore.operators.arguments import integer_of
from lodcore.operators.operands import check_equal, known_value, rows_of
from lodcore.ops.elementwise.convert import rows as rows_in
from lodcore.ops.elementwise.convert import with_values
from lodcore.ops.index.index import pick_along, take_nested
from lodcore.ops.move.along import argsort_along, sort_along
from lodcore.ops.move.checked import check, rule, same_structure
from lodcore.ops.reduce import nans, quantiles
from lodcore.ops.reduce.axes import tensor_of
from lodcore.ops.reduce.reduce_values import brought_last
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["argsort", "cumprod", "differences"]

MOST_DIFFERENCES = 1000  # of differences, each of which is an operator where only a run knows when nothing is left

for _name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanargmax", "nanargmin"):
    stands_for(getattr(np, _name))(getattr(nans, _name))


def _from_last(where: str, x: Any, axis: Any) -> tuple[int, int]:
    """Return an axis relative to that of the last level (negative for coarser levels), and the number of levels."""
    levels: int = getattr(x, "num_levels", 0)
    return axis_of(where, axis, x.ndim) - levels, levels


@stands_for(np.sort)
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """Sort along an axis: rows of sequences, elements at the same position of sequences, or each row."""
    x = tensor_of("sort", a)
    levels = getattr(x, "num_levels", 0)
    at = axis_of("sort", axis, x.ndim)
    if order is not None:
        raise TypeError(f"numpy.sort: order: is {order!r}; lodcore.sort_by_key(x, x[field]) sorts records")
    if levels and at <= levels:
        return sort_along(x, at)
    refuse_symbols("sort", (x,))
    return shared("sort", lambda values: np.sort(values, at - levels, kind), x)


@stands_for(np.argsort)
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """Return the indices that sort along an axis; the order is always stable.

    Parameters
    ----------
    axis : int
        That of the last level (the last axis, -1, if rows are single numbers): places of rows in each sequence, column
        by column. A coarser one: numbers of the sequences that have elements at the same position. One of a row: places
        in the row; not recorded.
    kind, stable
        Ignored: every order is stable.
    order : None
        Not supported.

    Returns
    -------
    LoDTensor of int64

    Raises
    ------
    TypeError
        If axis is None, or order is given.
    ShapeError, DTypeError
        If the axis does not exist.
    """
    x = tensor_of("argsort", a)
    if order is not None or axis is None:
        raise TypeError("numpy.argsort: an axis is needed for sequences, and no order of fields")
    at, levels = _from_last("argsort", x, axis)
    if levels and at <= 0:
        return argsort_along(x, levels + at)
    refuse_symbols("argsort", (x,))
    return shared("argsort", lambda values: np.argsort(values, at, "stable"), x)


def _sorted(where: str, a: Any, kth: Any, axis: Any, sort: Any) -> Any:
    """Sort along an axis of levels; raise if a sequence does not have position kth."""
    x = tensor_of(where, a)
    at, levels = _from_last(where, x, axis)
    if not levels or at > 0:
        raise TypeError(f"numpy.{where}: axis: is {axis}; those of levels, up to {levels}, are supported")
    for one in np.atleast_1d(kth):
        if as_integer(one) is None:
            raise TypeError(f"numpy.{where}: kth: is {kth!r}; integers are needed")
        x = check(has_place, x, where=where, kth=int(one), axis=levels + at)
    return sort(x, levels + at)


@rule
def has_place(x: Any, where: str, kth: int, axis: int) -> None:
    """Raise if there is a sequence along an axis of levels without a position."""
    if type(x) is Spec:
        return
    try:
        call_named(f"numpy.{where}", pick_along, brought_last(x, [axis]), kth, x.num_levels)
    except IndexError as error:
        if axis == x.num_levels:
            raise
        raise IndexError(
            f"numpy.{where}: kth: is {kth}; fewer sequences than that have the same place along axis {axis}"
        ) from error


@stands_for(np.partition)
def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: None = None) -> Any:
    """Partition the rows of each sequence, by sorting them completely."""
    _refuse("partition", order=order)
    return _sorted("partition", a, kth, axis, sort_along)


@stands_for(np.argpartition)
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: None = None) -> Any:
    """Return the indices that partition the rows of each sequence, by sorting them completely."""
    _refuse("argpartition", order=order)
    return _sorted("argpartition", a, kth, axis, argsort_along)


@stands_for(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """Gather rows of each sequence, which must be single numbers, by their numbers in it; or entries of each row."""
    x, index = tensor_of("take_along_axis", arr), tensor_of("take_along_axis: indices", indices)
    at, levels = _from_last("take_along_axis", x, axis)
    alike = getattr(index, "num_levels", 0) == levels
    if alike and at > 0 and index.ndim == x.ndim:
        index = check(places_in_rows, index, x, axis=at)
        return with_values(x, call([rows_in(x), rows_in(index)], "take_along_axis", axis=at))
    if not alike or at or x.ndim > levels + 1:
        raise TypeError(
            "numpy.take_along_axis: rows of one number along the last level, or an axis of rows, and indices of the "
            f"same levels and axes, are supported; {BY_LABELS}"
        )
    return take_nested(x, index)


@rule
def places_in_rows(index: Any, x: Any, axis: int) -> None:
    """Raise if indices have not the structure of x, or are not places along an axis of its rows."""
    where = "numpy.take_along_axis"
    same_structure(index, x, where=where, name="indices", other="arr")
    if type(x) is Spec or type(index) is Spec or index.dtype.kind not in "iu":
        return
    size, found = x.values.shape[axis], index.values
    wrong = (found >= size) | (found < -size)
    if wrong.any():
        raise IndexError(
            f"{where}: indices: is {found[wrong][0]} in row {np.nonzero(wrong)[0][0]}; axis {axis + x.num_levels} has "
            f"length {size}"
        )


# -- quantiles ---------------------------------------------------------------------------------------------------------


def _refuse(where: str, **given: Any) -> None:
    """Raise for arguments that are not supported."""
    for name, value in given.items():
        if value is not None and value is not np._NoValue and value is not False:
            raise TypeError(f"numpy.{where}: {name}: is not supported for sequences")


@stands_for(np.median)
def median(a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    """Compute the median, as `lodcore.ops.quantile` does."""
    _refuse("median", out=out)
    return quantiles.quantile(a, 0.5, axis, keepdims=_kept(keepdims))


@stands_for(np.nanmedian)
def nanmedian(a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    """Compute the median of the values that are not nan, as `lodcore.ops.nanmedian` does."""
    _refuse("nanmedian", out=out)
    return quantiles.nanmedian(a, axis, _kept(keepdims))


def _kept(keepdims: Any) -> Any:
    return False if keepdims is np._NoValue else keepdims


def _quantile(function: Any, percent: bool, skip_nan: bool) -> None:
    where = function.__name__

    @stands_for(function)
    def computed(
        a: Any,
        q: Any,
        axis: Any = None,
        out: None = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: Any = False,
        *,
        weights: None = None,
        interpolation: None = None,
    ) -> Any:
        """Compute quantiles, or percentiles, as `lodcore.ops.quantile` does."""
        _refuse(where, out=out, weights=weights, interpolation=interpolation)
        chances = quantiles.as_chances(f"numpy.{where}", q, percent) if percent else q
        return quantiles.quantile(a, chances, axis, method, _kept(keepdims), skip_nan)


_quantile(np.quantile, False, False)
_quantile(np.percentile, True, False)
_quantile(np.nanquantile, False, True)
_quantile(np.nanpercentile, True, True)


# -- distinct values ---------------------------------------------------------------------------------------------------


@stands_for(np.unique)
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    **kwargs: Any,
) -> Any:
    """Return the distinct values of all sequences or, along the axis of the last level, of each sequence."""
    parts = {"return_index": return_index, "return_inverse": return_inverse, "return_counts": return_counts}
    if axis is None:
        refuse_symbols("unique", (ar,))
        return np.unique(rows_of(ar), **parts, **kwargs)  # type: ignore[call-overload]
    x = tensor_of("unique", ar)
    levels = getattr(x, "num_levels", 0)
    if not levels or axis_of("unique", axis, x.ndim) != levels:
        raise TypeError(f"numpy.unique: axis: is {axis!r}; that of the last level, {levels}, or None is supported")
    if kwargs.get("equal_nan", True) is not True:
        raise TypeError(f"numpy.unique: equal_nan: is {kwargs['equal_nan']!r}; along an axis only True is supported")
    if not any(parts.values()):
        return ops.sequence_unique(x)
    values, *others = ops.sequence_unique_all(x)
    return (values, *[part for part, wanted in zip(others, parts.values(), strict=True) if wanted])


# -- neighbours --------------------------------------------------------------------------------------------------------


@stands_for(np.cumprod)
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """Compute cumulative products of the rows of each sequence, or of elements at the same position of sequences.

    Parameters
    ----------
    axis : int
        Needed for sequences; as in `cumsum`.
    dtype : dtype_like, optional
        The dtype of the computation and of the result.
    out : None
        Not supported.

    Returns
    -------
    LoDTensor
        Has the LoD of the tensor.

    Raises
    ------
    TypeError
        If axis is None, or out is given.
    ShapeError, DTypeError
        If the axis does not exist, or the values are not numbers.
    """
    if axis is None:
        raise TypeError("numpy.cumprod: axis: is None; an axis is needed, np.cumprod(x.values) multiplies all rows")
    return accumulate(np.multiply, a, axis, dtype, out)


@stands_for(np.nancumsum)
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """Compute cumulative sums as `cumsum` does; nan counts as 0."""
    if axis is None:
        raise TypeError("numpy.nancumsum: axis: is None; an axis is needed, np.nancumsum(x.values) adds up all rows")
    return accumulate(np.add, nans.fill_nan(a, 0), axis, dtype, out)


@stands_for(np.nancumprod)
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """Compute cumulative products as `cumprod` does; nan counts as 1."""
    if axis is None:
        raise TypeError(
            "numpy.nancumprod: axis: is None; an axis is needed, np.nancumprod(x.values) multiplies all rows"
        )
    return accumulate(np.multiply, nans.fill_nan(a, 1), axis, dtype, out)


@stands_for(np.diff)
def diff(a: Any, n: int = 1, axis: Any = -1, prepend: Any = np._NoValue, append: Any = np._NoValue) -> Any:
    """Compute the n-th differences of consecutive rows of a sequence, consecutive sequences, or entries of a row."""
    x = tensor_of("diff", a)
    at, levels = _from_last("diff", x, axis)
    if at > 0 or not levels:
        refuse_symbols("diff", (x, prepend, append))
        before, after = (_ends_of_rows(name, x, one) for name, one in (("prepend", prepend), ("append", append)))
        return shared("diff", lambda values: np.diff(values, n, at, before, after), x)
    joined = _joined_to if at == 0 else _given
    around = {"prepend": joined(x, prepend), "a": x, "append": joined(x, append)} if n else {"a": x}  # as in NumPy
    parts = {name: part for name, part in around.items() if part is not None}
    if len(parts) > 1:
        names = {f"{all_of}[{j}]": name for j, name in enumerate(parts) for all_of in ("xs", "arrays")}
        x = with_arguments(names, concatenate, [*parts.values()], levels + at)
    return ops.sequence_diff(x, n) if at == 0 else _diff_along(x, n, levels + at)


def differences(n: int, most: int | None) -> int:
    """Return how many of n differences are computed, since `most`, if it is known, leave nothing."""
    if most is None and n > MOST_DIFFERENCES:
        raise ValueError(f"numpy.diff: n: is {n}; up to {MOST_DIFFERENCES} if the lengths are known only at run time")
    return n if most is None else min(n, most)


def _ends_of_rows(name: str, x: LoDTensor, given: Any) -> Any:
    """Return what is joined to an axis of rows: for a LoDTensor, which must have the structure of x, its rows."""
    if not isinstance(given, LoDTensor):
        return given
    check_equal("numpy.diff", x.lod, given.lod, name)
    return given.values


def _diff_along(x: Any, n: Any, axis: int) -> Any:
    """Subtract the previous sequence from each sequence along an axis; they must be equally long."""
    different = ops.not_equal if x.dtype.kind == "b" else ops.minus
    front, times = [slice(None)] * axis, integer_of("numpy.diff: n", n, 0)
    if times and x.dtype.kind in "SUV":
        different(x, x)  # raises, before lengths are looked at, as when it is recorded
    known = known_value(x)
    for _ in range(differences(times, None if known is None else known.lod.num_sequences(axis) + 1)):
        after, before = (getitem(x, (*front, part)) for part in (slice(1, None), slice(None, -1)))
        x = different(check(equally_long, after, before, axis=axis), before)
    return x


@rule
def equally_long(after: Any, before: Any, axis: int) -> None:
    """Raise if sequences that follow each other differ in length."""
    if type(after) is not Spec and after.lod != before.lod:
        raise LoDError(
            f"numpy.diff: axis: is {axis}; consecutive sequences are not equally long, and have no difference"
        )


def _given(x: Any, given: Any) -> Any:
    """Return the tensor that is joined to sequences, if one is given."""
    return None if given is np._NoValue else given


@stands_for(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Subtract the previous number from each number within its sequence, and join numbers at both ends."""
    x = tensor_of("ediff1d", ary)
    levels = getattr(x, "num_levels", 0)
    if not levels or x.ndim != levels + 1:
        raise TypeError("numpy.ediff1d: rows have axes of their own; use np.diff")
    ends = [_ends(name, one, x.dtype) for name, one in (("to_begin", to_begin), ("to_end", to_end))]
    found = ops.sequence_diff(x)
    return concatenate([*ends[0], found, *ends[1]], levels) if ends[0] or ends[1] else found


def _ends(name: str, given: Any, dtype: np.dtype[Any]) -> list[Any]:
    """Return the numbers that are joined at an end of each sequence."""
    if given is None:
        return []
    refuse_symbols("ediff1d", (given,))
    numbers = np.asarray(given)
    if numbers.ndim > 1 or not np.can_cast(numbers, dtype, "same_kind"):
        raise TypeError(f"numpy.ediff1d: {name}: is {given!r}; numbers that {dtype} can hold are needed")
    return list(numbers.astype(dtype).reshape(-1))


def _joined_to(x: Any, given: Any) -> Any:
    """Return the batch that is joined to the rows of each sequence: the given one, or one row per sequence."""
    if given is np._NoValue:
        return None
    levels = getattr(given, "num_levels", 0)
    if levels:
        return given
    refuse_symbols("diff", (x, given))
    row = np.asarray(given)
    if row.shape not in ((), x.values.shape[1:]):
        raise TypeError(
            f"numpy.diff: prepend or append has shape {row.shape}; a number, a row or a LoDTensor is needed"
        )
    last = x.lod.num_levels - 1
    count = x.lod.num_sequences(last)
    rows = np.ascontiguousarray(np.broadcast_to(row, (count, *x.values.shape[1:])))
    upper = [x.lod.offsets(k) for k in range(last)]
    return lod_tensor_body.new_tensor(rows, lod_body.make_lod([*upper, np.arange(count + 1)], count))


@stands_for(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: None = None, right: None = None, period: None = None) -> Any:
    """Interpolate between the points of the corresponding sequence, or between common points, which is not recorded."""
    if getattr(xp, "num_levels", 0) or getattr(fp, "num_levels", 0):
        _refuse("interp", left=left, right=right, period=period)
        return ops.sequence_interp(x, xp, fp)
    refuse_symbols("interp", (x, xp, fp))
    return shared("interp", lambda values: np.interp(values, xp, fp, left, right, period), x)


@stands_for(np.searchsorted)
def searchsorted(a: Any, v: Any, side: Any = "left", sorter: None = None) -> Any:
    """Search the corresponding sorted sequence, or one sorted array for all, which is not recorded."""
    levels = getattr(a, "num_levels", 0)
    if levels:
        _refuse("searchsorted", sorter=sorter)
        return ops.sequence_searchsorted(a, v, side)
    refuse_symbols("searchsorted", (a, v))
    return shared("searchsorted", lambda values: np.searchsorted(a, values, side, sorter), v)
