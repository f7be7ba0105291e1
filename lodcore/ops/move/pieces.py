"""Sequences split at marks, or where neighbours are far apart."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np

from lodcore.base.articles import with_number
from lodcore.base.dtypes import is_held
from lodcore.base.memory import flag
from lodcore.base.naming import named
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.operators.arguments import choice_of, level_of
from lodcore.operators.copies import nested_operand
from lodcore.operators.numbers import is_real
from lodcore.ops.elementwise.compare import greater_than, logical_and, logical_not
from lodcore.ops.elementwise.convert import cast
from lodcore.ops.elementwise.math import minus
from lodcore.ops.index.index import select_by_mask
from lodcore.ops.move.arrange import sequence_unflatten
from lodcore.ops.move.checked import check, same_sequences
from lodcore.ops.move.lod_data import lod_positions
from lodcore.ops.networks.softmax import sequence_cumsum
from lodcore.ops.order.runs import run_lengths
from lodcore.ops.windows.neighbours import sequence_shift
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.python_dates import MOST_DAYS

__all__ = ["sequence_gaps", "sequence_split"]


@named
def sequence_split(x: Any, mask: Any, at: str = "start", keep: bool = True, level: int = -1) -> Any:
    """Split each sequence into pieces at marked elements, which makes one more level.

    Parameters
    ----------
    x : LoDTensor or nested lists
    mask : LoDTensor of bool, or nested lists
        One entry per element of `level`, with the levels of x up to `level`.
    at : {"start", "end"}
        Whether a piece starts at a marked element, or ends with it.
    keep : bool
        Whether marked elements stay in their pieces; a piece that consists of one alone becomes empty without it.
    level : int
        The level of the sequences that are split; their elements are rows, or sequences with their contents.

    Returns
    -------
    LoDTensor
        Has one more level. An empty sequence has no pieces. With `keep` it shares the values.

    Raises
    ------
    DTypeError, ShapeError, LoDError
        If the mask does not hold one bool per element, or has another structure.
    ValueError, LevelError
        If `at` is unknown, or the level does not exist.

    Examples
    --------
    Sentences that end with the token 0:

    >>> import lodcore
    >>> tokens = lodcore.array([[5, 6, 0, 7, 0], [], [8, 9]])
    >>> lodcore.sequence_split(tokens, tokens == 0, at="end").tolist()
    [[[5, 6, 0], [7, 0]], [], [[8, 9]]]
    >>> lodcore.sequence_split(tokens, tokens == 0, at="end", keep=False).tolist()
    [[[5, 6], [7]], [], [[8, 9]]]
    """
    where = "sequence_split"
    x, mask = nested_operand(f"{where}: x", x), nested_operand(f"{where}: mask", mask)
    k = level_of(where, x.num_levels, level)
    choice_of(f"{where}: at", at, ("start", "end"))
    if mask.dtype.kind != "b":
        raise DTypeError(f"{where}: mask: has dtype {mask.dtype}; bool is needed")
    if mask.num_levels != k + 1:
        raise LoDError(
            f"{where}: mask: has {with_number(mask.num_levels, 'level')}; the elements of level {k} need {k + 1}"
        )
    if mask.ndim != k + 2:
        raise ShapeError(f"{where}: mask: has rows of {mask.ndim - k - 2} axes; one bool per element is needed")
    mask = check(same_sequences, mask, x, where=where, level=k, name="mask", other="x")
    begins = sequence_shift(mask) if at == "end" else mask
    lengths = run_lengths(sequence_cumsum(begins))[1]
    pieces = sequence_unflatten(x, lengths, k)
    if flag(f"{where}: keep", keep):
        return pieces
    marked = sequence_unflatten(mask, lengths, k)
    return select_by_mask(pieces, logical_not(marked))


@named
def sequence_gaps(x: Any, gap: Any, level: int = -1) -> Any:
    """Return whether each number or date exceeds the one before it in its sequence by more than a gap.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Real numbers, dates or durations, usually increasing.
    gap : number, timedelta64 or timedelta
        The greatest distance that is not a gap, 0 or more; a duration for dates and durations.
    level : int
        The level of the sequences, with all rows below each.

    Returns
    -------
    LoDTensor of bool
        Has the LoD of x. False for the first row of a sequence, and next to nan or NaT.

    Raises
    ------
    DTypeError, ValueError
        If the gap is negative, or not a distance between such values.
    LevelError
        If the level does not exist.

    Examples
    --------
    Sessions end when nothing happens for more than 30 minutes:

    >>> import lodcore
    >>> minutes = lodcore.array([[0, 10, 45, 50], [], [7]])
    >>> lodcore.sequence_split(minutes, lodcore.sequence_gaps(minutes, 30)).tolist()
    [[[0, 10], [45, 50]], [], [[7]]]
    """
    where = "sequence_gaps"
    x = nested_operand(f"{where}: x", x)
    level = level_of(where, x.num_levels, level)
    least = distance_of(f"{where}: gap", gap, x.dtype)
    x = in_float64(x)
    if x.dtype.kind in "mM":
        least = number_of_units(f"{where}: gap", least, x.dtype)
    if type(x) is LoDTensor:
        return _gaps(x, least, level)
    before = sequence_shift(x, level=level)
    later = logical_and(greater_than(x, before), greater_than(lod_positions(x, level), 0))
    if x.dtype.kind in "mM":
        x, before = cast(x, np.int64), cast(before, np.int64)
    if x.dtype.kind in "biu":  # exact, even where the difference exceeds int64
        x, before = cast(x, np.uint64), cast(before, np.uint64)
    return logical_and(later, greater_than(minus(x, before), least))


def _gaps(x: LoDTensor, least: Any, level: int) -> LoDTensor:
    """Return the gaps between rows that are there; beside nan, and between equal infinities, there are none."""
    later, before, found = x.values[1:], x.values[:-1], np.zeros(x.values.shape, np.bool_)
    if x.dtype.kind == "f":  # also between sequences, where it counts for nothing
        with np.errstate(all="ignore"):
            np.greater(later - before, least, out=found[1:])
    elif x.dtype.kind in "mM":
        apart = np.subtract(later.view(np.int64), before.view(np.int64)).view(np.uint64)
        found[1:] = (later > before) & (apart > least)
    elif x.dtype.itemsize < 8:
        found[1:] = np.subtract(later, before, dtype=np.int64) > min(int(least), 2**62)
    else:  # exact, even where the difference exceeds int64
        found[1:] = (later > before) & (np.subtract(later, before).view(np.uint64) > least)
    starts = np.asarray(lod_body.in_rows(x.lod, level))[:-1]
    found[starts[starts < len(found)]] = False
    return lod_tensor_body.new_tensor(found, x.lod)


def number_of_units(where: str, distance: np.timedelta64, dtype: np.dtype[Any]) -> int:
    """Return a duration as a number of the unit of dates or durations, rounded down; 2**64 - 1 at most."""
    unit = np.dtype(f"m8{dtype.str[3:]}")
    try:
        finer = np.promote_types(distance.dtype, unit) != unit
    except (TypeError, OverflowError):  # months and days, or days and attoseconds
        message = f"{where}: has dtype {distance.dtype}; the values differ by {unit}, and they have no common one"
        raise DTypeError(message) from None
    if finer:
        return int(distance.astype(unit).astype(np.int64))
    count, one = int(distance.astype(np.int64)), np.ones((), distance.dtype)
    each = int(one.astype(unit).astype(np.int64)) if is_held(one, unit) else 2**64
    return min(count * each, 2**64 - 1)


def in_float64(x: Any) -> Any:
    """Return shorter floats as float64, in which their sums and differences are hardly rounded; others unchanged."""
    return cast(x, np.float64) if x.dtype.char in "ef" else x


def distance_of(where: str, given: Any, dtype: np.dtype[Any]) -> Any:
    """Return a checked distance between values of a dtype: whole for integers, a duration for dates."""
    if dtype.kind in "mM":
        if isinstance(given, datetime.timedelta):
            long = abs(given.days) >= MOST_DAYS  # more microseconds than int64 can hold
            given = np.timedelta64(given.days, "D") if long else np.timedelta64(given)
        if not isinstance(given, np.timedelta64) or np.isnat(given):
            raise DTypeError(f"{where}: is {given!r}; a duration is needed, since the distances are {dtype}")
        if given < np.zeros((), given.dtype)[()]:
            raise ValueError(f"{where}: is {given!r}; 0 or more is needed")
        return given
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise DTypeError(f"{where}: is {given!r}, but the values have dtype {dtype}; numbers or dates are needed")
    if not is_real(given):
        raise DTypeError(f"{where}: is {given!r}; a number is needed")
    if not given >= 0:
        raise ValueError(f"{where}: is {given}; 0 or more is needed")
    if dtype.kind == "f":
        return float(given)
    return np.uint64(2**64 - 1 if given >= 2**64 - 1 else math.floor(given))
