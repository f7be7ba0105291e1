"""Ranges of numbers, dates or durations, one per sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.dtypes import in_unit
from lodcore.base.memory import check_size
from lodcore.errors import DTypeError, ShapeError
from lodcore.operators.arguments import dense_of
from lodcore.operators.operands import Array
from lodcore.operators.registry import operator
from lodcore.operators.roles import Dense
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["arange"]


@operator(
    starts=Dense,
    stops=Dense,
    steps=Dense,
    lod_rule="one level, with as many sequences as there are ranges",
    differentiable=False,
)
def arange(starts: Any, stops: Any = None, steps: Any = 1) -> LoDTensor:
    """Return a range of numbers per sequence, as `numpy.arange` makes them.

    Parameters
    ----------
    starts, stops, steps : array_like of integers or floats, shape (n,), or a number for all
        Each range begins with its start and ends before its stop. A single argument is the stop; ranges then begin
        at 0. With dates or durations as starts and stops, steps are durations, or count their units.

    Returns
    -------
    LoDTensor
        int64, or float64 if an argument holds floats (as an empty list does), or dates or durations in the finest unit
        of the arguments. A single range if all arguments are numbers.

    Raises
    ------
    ValueError
        If a step is 0, or a number is not finite; the message names the range.
    ShapeError, DTypeError
        If the arguments are not vectors of numbers of one length, or mix dates with numbers.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.arange([2, 0, 3]).tolist()
    [[0, 1], [], [0, 1, 2]]
    >>> lodcore.arange([1, 5], [4, 2], [1, -1]).tolist()
    [[1, 2, 3], [5, 4, 3]]
    >>> import numpy as np
    >>> days = np.array(["2024-02-28", "2024-03-01"], "M8[D]")
    >>> lodcore.arange(days, days + np.timedelta64(2, "D")).tolist()[0]
    [datetime.date(2024, 2, 28), datetime.date(2024, 2, 29)]
    """
    where = "arange"
    names = ("starts", "starts" if stops is None else "stops", "steps")
    given = [0, starts, steps] if stops is None else [starts, stops, steps]
    vectors = [_vector(f"{where}: {name}", one) for name, one in zip(names, given, strict=True)]
    made = _dtype(where, [one.dtype for one in vectors], stops is None)
    dtype = made
    if made.kind in "mM":
        dtype = np.dtype(np.int64)
        vectors = [_in_units(f"{where}: {name}", one, made) for name, one in zip(names, vectors, strict=True)]
    count = max(len(vector) for vector in vectors)
    if 0 in map(len, vectors):
        count = 0
    for name, vector in zip(names, vectors, strict=True):
        if len(vector) not in (1, count):
            raise ShapeError(f"{where}: {name}: has {len(vector)} entries; there are {count} ranges")
    first, last, step = (_of_each(_exact(where, vector, dtype), count) for vector in vectors)
    sizes = _sizes(where, first, last, step)
    offsets = buffers.new_offsets(count + 1)
    if kernels.lod.offsets_from_lengths(sizes, offsets) >= 0:
        raise MemoryError(f"{where}: the ranges have more numbers than int64 can count")
    total = offsets.item(count)
    check_size(where, total, 1, dtype.itemsize)
    values = buffers.new_rows(where, np.empty(0, dtype), total)
    kernels.ranges.fill_ranges(first, step, offsets, values)
    return lod_tensor_body.new_tensor(values.view(made), lod_body.make_lod([offsets], total))


def _dtype(where: str, dtypes: list[Any], is_stop: bool) -> np.dtype[Any]:
    """Return the dtype of the ranges from those of starts, stops and steps."""
    ends, step = dtypes[is_stop:2], dtypes[2]
    kinds = {one.kind for one in ends}
    if not kinds & {"m", "M"} and step.kind not in "mM":
        return np.dtype(np.float64 if "f" in (*kinds, step.kind) else np.int64)
    fits = kinds in ({"m"}, {"M"}) and not (is_stop and "M" in kinds) and step.kind in "ium"
    if not fits:
        shown = ", ".join(map(str, dtypes[is_stop:]))
        needed = "starts and stops that are both dates, or durations, and steps that are durations or integers"
        raise DTypeError(f"{where}: starts, stops, steps: have dtypes {shown}; {needed}, are needed")
    try:
        common: np.dtype[Any] = np.result_type(*ends)
        if step.kind == "m":
            unit = np.result_type(f"m8{common.str[3:]}", step)
            common = np.dtype(f"{common.kind}8{unit.str[3:]}")
    except (TypeError, OverflowError) as error:  # months and days, or days and attoseconds, have no common unit
        raise DTypeError(f"{where}: starts, stops, steps: {error}") from None
    return common


def _in_units(where: str, vector: Array, dtype: np.dtype[Any]) -> Array:
    """Return dates or durations as the numbers of a unit, and integers as they are."""
    if vector.dtype.kind not in "mM":
        return vector
    if np.isnat(vector).any():
        raise ValueError(f"{where}: is NaT for range {int(np.argmax(np.isnat(vector)))}; a date or duration is needed")
    made: Array = in_unit(where, vector, np.dtype(f"{vector.dtype.kind}8{dtype.str[3:]}")).view(np.int64)
    return made


def _vector(where: str, given: Any) -> Array:
    """Return a vector of numbers, or one number, as an array."""
    vector: Array = dense_of(where, given)
    _check(where, vector.shape, vector.dtype, vector.size == 0)
    return vector.reshape(-1)


def _check(where: str, shape: tuple[int | None, ...], dtype: np.dtype[Any], empty: bool) -> None:
    """Raise if the argument is not a vector of numbers."""
    if len(shape) > 1:
        raise ShapeError(f"{where}: has shape {shape}; (n,) or a number is needed")
    if dtype.kind not in "iufmM" and not empty:
        raise DTypeError(f"{where}: has dtype {dtype}; integers, floats, dates or durations are needed")


def _exact(where: str, vector: Array, dtype: np.dtype[Any]) -> Array:
    """Convert numbers to the dtype of the ranges."""
    if dtype.kind == "i" and vector.dtype.kind == "u" and vector.size and vector.max() > 2**63 - 1:
        raise ValueError(f"{where}: has the number {vector.max()}; int64 cannot hold it")
    return np.ascontiguousarray(vector, dtype)


def _of_each(vector: Array, count: int) -> Array:
    """Return a number for each range."""
    return vector if len(vector) == count else np.full(count, vector[:count], vector.dtype)


def _extremes(*vectors: Array) -> list[tuple[Array, int]]:
    """Return the minimum and the maximum of each vector."""
    return [(vector, int(find(vector))) for vector in vectors if len(vector) for find in (np.argmin, np.argmax)]


def _sizes(where: str, first: Array, last: Array, step: Array) -> Array:
    """Count the numbers of each range."""
    if first.dtype.kind == "f":
        with np.errstate(all="ignore"):
            exact = np.ceil((last - first) / step)
        bad = ~np.isfinite(exact) | (step == 0) | ~np.isfinite(step)
    else:
        bad = step == 0
    if bad.any():
        s = int(np.argmax(bad))
        raise ValueError(
            f"{where}: starts, stops, steps: are {first[s]}, {last[s]}, {step[s]} for range {s}; "
            "finite numbers, and a step other than 0, are needed"
        )
    if first.dtype.kind == "f":
        if (exact >= 2**62).any():
            raise MemoryError(f"{where}: a range has more numbers than fit in memory")
        return np.maximum(exact, 0).astype(np.int64)
    if (step == 1).all() and all(abs(int(vector[at])) < 2**61 for vector, at in _extremes(first, last)):
        lengths: Array = np.maximum(last - first, 0)
        return lengths
    wide = [vector.astype(np.uint64) for vector in (first, last, step)]  # differences of int64 fit in uint64
    up = (step > 0) & (last > first)
    down = (step < 0) & (last < first)
    with np.errstate(over="ignore"):
        distance = np.where(up, wide[1] - wide[0], wide[0] - wide[1])
        by = np.where(up, wide[2], np.uint64(0) - wide[2])
        sizes = np.where(up | down, (distance - np.uint64(1)) // np.maximum(by, np.uint64(1)) + np.uint64(1), 0)
    if (sizes >= np.uint64(2**62)).any():
        raise MemoryError(f"{where}: a range has more numbers than fit in memory")
    return sizes.astype(np.int64)


@arange.define_infer
def _(starts: Any, stops: Any, steps: Any) -> Spec:
    dtypes: list[Any] = []
    for name, given in (("starts", starts), ("stops", stops), ("steps", steps)):
        if given is None and name == "stops":
            dtypes.insert(0, np.dtype(np.int64))
            continue
        known = given if isinstance(given, Spec) else dense_of(f"arange: {name}", given)
        dense_of(f"arange: {name}", known)
        _check(f"arange: {name}", known.shape, known.dtype, 0 in known.shape)
        dtypes.append(known.dtype)
    return Spec((None,), _dtype("arange", dtypes, stops is None), 1)
