"""Binary search and linear interpolation, sequence by sequence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.articles import with_number
from lodcore.base.dtypes import common_dtype, in_unit
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.operators.arguments import choice_of
from lodcore.operators.lod_rules import same_as
from lodcore.operators.operands import Array, check_equal
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Nested
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["sequence_interp", "sequence_searchsorted"]

PLACE, DOUBLE = np.dtype(np.int64), np.dtype(np.float64)


def _check_rows(where: str, ordered: bool = False, **given: Any) -> None:
    """Raise if rows are not single numbers, or with `ordered` other sortable values, or numbers of levels differ."""
    levels = None
    alike = ordered and len({x.dtype.kind for x in given.values()}) == 1
    for name, x in given.items():
        row_shape = tuple(x.shape[1:] if isinstance(x, Spec) else x.values.shape[1:])
        if row_shape:
            raise ShapeError(f"{where}: {name}: has rows of shape {row_shape}; one number per row is needed")
        taken = x.dtype.kind in ("biufcSUmM" if alike else "biuf")
        if not taken or x.dtype.itemsize > {"c": 16, "S": 2**31, "U": 2**31}.get(x.dtype.kind, 8):
            also = ", or complex numbers, text or dates on both sides," if ordered else ""
            raise DTypeError(f"{where}: {name}: has dtype {x.dtype}; real numbers of at most float64{also} are needed")
        if levels is not None and x.num_levels != levels[1]:
            raise LoDError(f"{where}: {name}: has {with_number(x.num_levels, 'level')}; {levels[0]} has {levels[1]}")
        levels = levels or (name, x.num_levels)


def _check_sequences(where: str, x: LoDTensor, y: LoDTensor, name: str) -> None:
    """Raise if two batches differ in their numbers of sequences or in the levels before the last."""
    last = x.lod.num_levels - 1
    if last:
        check_equal(where, lod_body.slice_levels(x.lod, 0, last), lod_body.slice_levels(y.lod, 0, last), name, "x")
    elif len(x) != len(y):
        raise LoDError(f"{where}: {name}: has {len(y)} sequences; x has {len(x)}")


@operator(x=Nested, v=Nested, lod_rule=same_as("v"), differentiable=False)
def sequence_searchsorted(x: Any, v: Any, side: str = "left") -> LoDTensor:
    """Return where to insert numbers into the corresponding sorted sequence, as `numpy.searchsorted` does.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Numbers, text or dates, sorted within each sequence of the last level; nan is the greatest. As in NumPy, this is
        not checked: in an unsorted sequence, the position may be any of 0 .. length.
    v : LoDTensor or nested lists
        As many sequences, of any lengths, and values of the same kind. Signed and unsigned integers of any size are
        compared exactly.
    side : {"left", "right"}
        Whether positions are before or after equal values.

    Returns
    -------
    LoDTensor of int64
        Has the LoD of v: positions in the sequences of x, 0 .. length.

    Raises
    ------
    LoDError
        If v and x differ in levels or numbers of sequences.
    DTypeError, ShapeError
        If an argument does not hold such values, or has several per row.
    ValueError
        If side is unknown.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_searchsorted([[1, 3, 5], [], [2]], [[0, 3], [7], []])
    LoDTensor(3 sequences of lengths 0..2, int64: [[0, 1], [0], []])
    """
    where = "sequence_searchsorted"
    choice_of(f"{where}: side", side, ("left", "right"))
    _check_rows(where, True, x=x, v=v)
    _check_sequences(where, x, v, "v")
    places = buffers.new_int64(v.num_rows)
    last = x.lod.num_levels - 1
    numbers, wanted = _comparable(x.values, v.values)
    kernels.search.search_rows(
        numbers, lod_body.offsets_view(x.lod, last), wanted, lod_body.offsets_view(v.lod, last), side == "right", places
    )
    return lod_tensor_body.new_tensor(places, v.lod)


def _comparable(x: Array, v: Array) -> tuple[Array, Array]:
    """Convert two arrays to numbers with the same order: dates to integers, wider values to ranks among both."""
    kind = x.dtype.kind
    if kind in "SUc":
        ranks = np.unique(np.concatenate([x, v]), return_inverse=True)[1].reshape(-1).astype(np.int64)
        return ranks[: len(x)], ranks[len(x) :]
    if kind in "mM":
        unit = common_dtype("sequence_searchsorted", {"x": x.dtype, "v": v.dtype})  # NaT comes last: 0 - 1 wraps around
        in_one = [in_unit(f"sequence_searchsorted: {name}", one, unit) for name, one in (("x", x), ("v", v))]
        shifted = [one.view(np.uint64) ^ np.uint64(2**63) for one in in_one]
        return shifted[0] - np.uint64(1), shifted[1] - np.uint64(1)
    work = _common(x.dtype, v.dtype)
    if work.kind == "f" and {kind, v.dtype.kind} == {"i", "u"}:  # no dtype of integers holds both
        ranks = _ranks(np.concatenate([x < 0, v < 0]), np.concatenate([x.astype(np.uint64), v.astype(np.uint64)]))
        return ranks[: len(x)], ranks[len(x) :]
    return x.astype(work, copy=False), v.astype(work, copy=False)


def _ranks(negative: Array, bits: Array) -> Array:
    """Return ranks of 64-bit integers with their signs; those of equal ones are equal."""
    order = np.lexsort((bits, ~negative))
    differs = (np.diff(bits[order]) != 0) | (np.diff(negative[order]) != 0)
    ranks = np.zeros(len(bits), np.int64)
    ranks[order[1:]] = np.cumsum(differs)
    return ranks


def _common(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which numbers are compared."""
    found = np.result_type(*dtypes)
    if found.kind == "f":
        return found if found.itemsize > 2 else np.dtype(np.float32)
    return np.dtype(np.uint64 if found.kind == "u" else np.int64)


@sequence_searchsorted.define_infer
def _(x: Spec, v: Spec, side: str) -> Spec:
    choice_of("sequence_searchsorted: side", side, ("left", "right"))
    _check_rows("sequence_searchsorted", True, x=x, v=v)
    if x.dtype.kind in "mM":
        common_dtype("sequence_searchsorted", {"x": x.dtype, "v": v.dtype})
    return Spec(v.shape, PLACE)


@operator(x=Nested, xp=Nested, fp=Nested, lod_rule=same_as("x"))
def sequence_interp(x: Any, xp: Any, fp: Any, *, saved: Saved = None) -> LoDTensor:
    """Interpolate linearly between the points of the corresponding sequence, as `numpy.interp` does.

    Parameters
    ----------
    x : LoDTensor or nested lists
        The positions at which to interpolate: real numbers.
    xp : LoDTensor or nested lists
        As many sequences, of any lengths: the positions of the points, increasing within each sequence. If x and xp are
        both signed integers, or both unsigned, their distances are exact before they become float64.
    fp : LoDTensor or nested lists
        The values of the points, with the structure of xp: numbers, or rows of them, whose columns are interpolated.

    Returns
    -------
    LoDTensor of float64
        Has the LoD of x, and rows of the shape of those of fp. Positions before the first point get its value, those
        after the last point that of the last; nan for nan, and for a sequence without points.

    Raises
    ------
    LoDError
        If levels or numbers of sequences differ, or xp and fp have different structures.
    DTypeError, ShapeError
        If an argument does not hold such values, or x or xp has several per row.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_interp([[1.5, 9.0], [0.0]], [[1.0, 2.0], [5.0]], [[10.0, 20.0], [7.0]])
    LoDTensor(2 sequences of lengths 1..2, float64: [[15., 20.], [7.]])
    """
    where = "sequence_interp"
    _check_points(x, xp, fp)
    check_equal(where, xp.lod, fp.lod, "fp", "xp")
    _check_sequences(where, x, xp, "xp")
    last = x.lod.num_levels - 1
    wanted, known = _places(x.values, xp.values)
    values = fp.values.astype(DOUBLE, copy=False)
    columns = values.reshape(len(values), math.prod(values.shape[1:])).T
    result, weights, places = np.empty(len(wanted)), np.empty(len(wanted)), buffers.new_int64(len(wanted))
    found = np.empty((len(wanted), len(columns)))
    bounds = lod_body.offsets_view(x.lod, last), lod_body.offsets_view(xp.lod, last)
    for c, column in enumerate(columns if len(columns) else np.zeros((1, len(values)))):
        column = np.ascontiguousarray(column)
        kernels.search.interpolate_rows(wanted, bounds[0], known, column, bounds[1], result, places, weights)
        if len(columns):
            found[:, c] = result
    made = result if values.ndim == 1 else found.reshape(len(wanted), *values.shape[1:])
    if saved is not None:
        saved.update(places=places, weights=weights)
    return lod_tensor_body.new_tensor(made, x.lod)


def _places(x: Array, xp: Array) -> tuple[Array, Array]:
    """Return positions as integers, whose distances are exact, if one dtype holds both; otherwise as float64."""
    if np.result_type(x, xp) in (np.int64, np.uint64):  # of signed and unsigned ones, it is float64
        return _comparable(x, xp)
    return x.astype(DOUBLE, copy=False), xp.astype(DOUBLE, copy=False)


def _check_points(x: Any, xp: Any, fp: Any) -> None:
    """Raise if positions are not single numbers, or the values of points are not numbers."""
    columns = fp._replace(shape=fp.shape[:1]) if isinstance(fp, Spec) else fp
    if not isinstance(fp, Spec) and fp.values.ndim > 1:
        columns = Spec((None,), fp.dtype, fp.num_levels, LoDTensor)
    _check_rows("sequence_interp", x=x, xp=xp, fp=columns)


@sequence_interp.define_infer
def _(x: Spec, xp: Spec, fp: Spec) -> Spec:
    _check_points(x, xp, fp)
    return Spec((*x.shape[:1], *fp.shape[1:]), DOUBLE)


@sequence_interp.define_vjp
def _(d: Array, x: Any, xp: Any, fp: Any, places: Array, weights: Array, needs: Any) -> tuple[Any, Any, Any]:
    count = len(xp.values)
    if not count:
        return tuple(np.zeros_like(one.values) for one in (x, xp, fp))
    found = places >= 0
    k = np.maximum(places, 0)
    bounds = xp.lod.offsets(xp.lod.num_levels - 1)
    is_last = np.zeros(count, bool)
    is_last[bounds[1:][bounds[1:] > bounds[:-1]] - 1] = True
    known, values = xp.values.astype(DOUBLE, copy=False), fp.values.astype(DOUBLE, copy=False)
    width = math.prod(values.shape[1:])
    d, values = d.reshape(len(d), width), values.reshape(count, width)
    between = found & ~is_last[k] & (x.values >= known[k])
    after = np.minimum(k + 1, count - 1)
    d = np.where(found[:, None], d, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = (values[after] - values[k]) / (known[after] - known[k])[:, None]
        pull = (np.where(between[:, None], slopes, 0.0) * d).sum(1)

    def added(low: Array, high: Array) -> Array:
        return np.bincount(k, low, count) + np.bincount(after, high, count)

    d_x = pull.astype(x.dtype) if needs.x else None
    d_xp = added(-pull * (1 - weights), -pull * weights).astype(xp.dtype) if needs.xp else None
    if not needs.fp:
        return d_x, d_xp, None
    d_fp = np.empty((count, width))
    for c in range(width):
        d_fp[:, c] = added(d[:, c] * (1 - weights), d[:, c] * weights)
    return d_x, d_xp, d_fp.reshape(fp.values.shape).astype(fp.dtype)
