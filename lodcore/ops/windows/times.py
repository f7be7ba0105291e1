"""Sequences in time: windows around each row, the nearest row of another sequence, and points at equal distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.articles import with_number
from lodcore.base.dtypes import common_dtype
from lodcore.base.memory import check_size
from lodcore.base.naming import named, with_arguments
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.operators.arguments import choice_of, integer_of
from lodcore.operators.copies import nested_operand
from lodcore.operators.operands import check_equal, nothing_of
from lodcore.ops.elementwise.compare import (
    equal,
    greater_equal_than,
    less_equal_than,
    less_than,
    logical_and,
    logical_or,
)
from lodcore.ops.elementwise.convert import cast, rows
from lodcore.ops.elementwise.math import add, minus, mul, where
from lodcore.ops.move.arrange import rows_to_level
from lodcore.ops.move.checked import check, one_per_key, rule, same_structure
from lodcore.ops.move.expand import sequence_expand_as
from lodcore.ops.move.gather import gather_nested
from lodcore.ops.move.lod_data import lod_lengths, lod_positions
from lodcore.ops.move.pieces import distance_of, in_float64, number_of_units
from lodcore.ops.move.ranges import arange
from lodcore.ops.move.values import reshape_rows
from lodcore.ops.order.group import match_keys
from lodcore.ops.order.search import sequence_interp, sequence_searchsorted
from lodcore.ops.reduce.pool import sequence_pool
from lodcore.tensors import lod_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["join_asof", "sequence_resample", "windows_around"]

DIRECTIONS = ("backward", "forward", "nearest")
CLOSED = {
    "both": ("left", "right"),
    "right": ("right", "right"),
    "left": ("left", "left"),
    "neither": ("right", "left"),
}


def _starts(x: Any, like: Any) -> Any:
    """Return for each row of `like` the number of the first row of the same sequence of x."""
    lengths = lod_lengths(x, -1)
    return sequence_expand_as(minus(np.cumsum(lengths), lengths), like)


@named
def windows_around(x: Any, before: Any, after: Any = 0, times: Any = None, closed: str = "both") -> Any:
    """Return the window of rows around each row of a sequence of the last level, shorter near its ends.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Rows of any dtype and shape.
    before, after : int, or a distance of times
        How far a window reaches to either side, 0 or more: a number of rows; with times, a number, or a duration
        (timedelta64 or timedelta) if times are dates or durations.
    times : LoDTensor or nested lists, optional
        Numbers, dates or durations with the LoD of x, sorted within each sequence. The window of a row then has all
        rows from its time minus `before` to its time plus `after`.
    closed : {"both", "right", "left", "neither"}
        With times, at which ends rows at exactly that distance belong to the window.

    Returns
    -------
    LoDTensor
        Has one more level, with one window per row of x. Any reduction of the last level, such as
        ``sequence_median(windows)``, has the LoD of x again.

    Raises
    ------
    DTypeError, ValueError
        If x is an array, before or after is negative or not such a distance, times hold other values or are not sorted,
        or closed is unknown.
    LoDError, ShapeError
        If x has no level, or times do not have the LoD of x, or have several numbers per row.

    Notes
    -----
    The rows of all windows are copied. `sequence_rolling` reduces windows that end at each row without copies.

    Examples
    --------
    A centred rolling median, and the sums of the last 30 minutes:

    >>> import lodcore
    >>> x = lodcore.array([[1.0, 9.0, 2.0, 3.0], [], [5.0]])
    >>> lodcore.sequence_median(lodcore.windows_around(x, 1, 1))
    LoDTensor(3 sequences of lengths 0..4, float64: [[5., 2., 3., 2.5], [], [5.]])
    >>> minutes = lodcore.array([[0, 10, 20, 45], [], [0]])
    >>> lodcore.sequence_pool(lodcore.windows_around(x, 30, times=minutes), "sum")
    LoDTensor(3 sequences of lengths 0..4, float64: [[1., 10., 12., 5.], [], [5.]])
    """
    name = "windows_around"
    x = nested_operand(f"{name}: x", x)
    choice_of(f"{name}: closed", closed, tuple(CLOSED))
    lengths = sequence_expand_as(lod_lengths(x, -1), x)
    if times is None:
        reach = [min(integer_of(f"{name}: {side}", n, 0), 2**62) for side, n in (("before", before), ("after", after))]
        places = lod_positions(x, -1)
        start = np.maximum(minus(places, reach[0]), 0)
        stop = np.minimum(add(places, reach[1] + 1), lengths)
    else:
        times = _times_of(name, "times", times)
        times = in_float64(check(same_structure, times, x, where=name, name="times", other="x"))
        sides = CLOSED[closed]
        low, high = _moved(name, "before", times, before, minus), _moved(name, "after", times, after, add)
        start = sequence_searchsorted(times, low, sides[0])
        stop = sequence_searchsorted(times, high, sides[1])
        if times.dtype.kind in "biu":  # an end beyond the range of the dtype excludes nothing
            start = start if sides[0] == "left" else where(_in_range(times, before, minus), start, 0)
            stop = stop if sides[1] == "right" else where(_in_range(times, after, add), stop, lengths)
        stop = np.maximum(start, stop)
    first = _starts(x, x)
    inside = arange(rows(add(first, start)), rows(add(first, stop)))
    windows = gather_nested(inside, add(first, lod_positions(x, -1)))
    return gather_nested(rows(x), windows)


def _moved(name: str, side: str, times: Any, given: Any, move: Any) -> Any:
    """Return the ends of windows in time; those of integers stay in the range of their dtype."""
    if times.dtype.kind in "mM" and isinstance(given, int) and given == 0:
        given = np.zeros((), f"m8[{np.datetime_data(times.dtype)[0]}]")[()]
    distance = distance_of(f"{name}: {side}", given, times.dtype)
    if times.dtype.kind == "f":
        return move(times, distance)
    if times.dtype.kind in "mM":
        unit = common_dtype(name, {"times": times.dtype, side: distance.dtype})
        far = number_of_units(f"{name}: {side}", distance, unit)
        moved = _far(cast(cast(times, unit), np.int64), far, move, np.dtype(np.int64), 1 - 2**63, 2**63 - 1)
        return where(equal(times, times), cast(moved, unit), np.array("NaT", unit))
    if isinstance(given, (float, np.floating)) and not float(given).is_integer():
        raise DTypeError(f"{name}: {side}: is {given}; whole numbers are needed, as for times of {times.dtype}")
    dtype, least, most = _range(times)
    return _far(cast(times, dtype), int(distance), move, dtype, least, most)


def _far(numbers: Any, far: int, move: Any, dtype: np.dtype[Any], least: int, most: int) -> Any:
    """Move integers by a distance, at most to the ends of a range."""
    while far:  # a distance may exceed the greatest number
        step = min(far, most)
        far -= step
        if move is minus:
            numbers = minus(np.maximum(numbers, dtype.type(least + step)), dtype.type(step))
        else:
            numbers = add(np.minimum(numbers, dtype.type(most - step)), dtype.type(step))
    return numbers


def _range(times: Any) -> tuple[np.dtype[Any], int, int]:
    """Return the dtype in which the ends of windows of integers are computed, its least and its greatest number."""
    dtype = np.dtype(np.uint64 if times.dtype == np.uint64 else np.int64)
    return dtype, int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)


def _in_range(times: Any, distance: Any, move: Any) -> Any:
    """Return for each time whether the end of its window is in the range of the dtype."""
    dtype, least, most = _range(times)
    far, times = int(distance), cast(times, dtype)
    if far > most - least:
        return less_than(times, dtype.type(least))  # none is
    if move is minus:
        return greater_equal_than(times, dtype.type(least + far))
    return less_equal_than(times, dtype.type(most - far))


def _times_of(name: str, argument: str, given: Any) -> Any:
    """Return times, one per row, sorted within each sequence; checked at run time if they are known only then."""
    times = nested_operand(f"{name}: {argument}", given)
    if times.ndim != times.num_levels + 1:
        axes = times.ndim - times.num_levels - 1
        raise ShapeError(f"{name}: {argument}: has rows of {axes} axes; one number or date per row is needed")
    return check(sorted_times, times, where=f"{name}: {argument}")


@rule
def sorted_times(times: Any, where: str) -> None:
    """Raise if times fall within a sequence."""
    if type(times) is Spec or not times.num_rows:
        return
    values = times.values
    falls = ~(values[:-1] <= values[1:]) & (values[1:] == values[1:])  # nan and NaT come last
    bounds = times.lod.offsets(-1)[1:-1]
    falls[bounds[(bounds > 0) & (bounds < len(values))] - 1] = False
    if falls.any():
        row = int(np.argmax(falls)) + 1
        before = values[row - 1]
        if before != before:
            raise ValueError(
                f"{where}: row {row - 1} is {before}, and row {row} after it is {values[row]}; nan and NaT must come "
                "last in each sequence"
            )
        raise ValueError(
            f"{where}: row {row} is {values[row]}, below the row before it; times must be sorted within each sequence, "
            "see sort_by_key"
        )


@named
def join_asof(
    x: Any,
    y: Any,
    *columns: Any,
    direction: str = "backward",
    tolerance: Any = None,
    default: Any = None,
    x_keys: Any = None,
    y_keys: Any = None,
) -> tuple[Any, ...]:
    """Find for each time the last one, the next one, or the nearest one, in the same sequence of another batch.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Times in any order: real numbers, dates or durations.
    y : LoDTensor or nested lists
        Times of the same kind, sorted within each sequence of the last level; as many sequences as x.
    *columns : LoDTensor
        Rows of any dtype and shape with the LoD of y.
    direction : {"backward", "forward", "nearest"}
        Which time is taken: the last one that is not later, the first one that is not earlier, or the nearer of these
        two, the earlier one if both are equally far. Of equal times, "backward" takes the last one and "forward" the
        first one.
    tolerance : number, timedelta64 or timedelta, optional
        The greatest distance at which a time is taken.
    default : scalar, optional
        The row of a column where there is no such time; nan, NaT or empty text, if the dtype has one.
    x_keys, y_keys : array_like, shape (len(x),) and (len(y),), optional
        Keys of the outermost sequences: each sequence of x is joined with that of y that has the same key, or with
        none. Those of y are distinct. By default, sequences are joined in their order.

    Returns
    -------
    places : LoDTensor of int64
        Has the LoD of x: the positions in the sequences of y, -1 where there is no such time, as for nan.
    *joined : LoDTensor
        One per column: its rows at these places. Gradients are passed to the column.

    Raises
    ------
    ValueError
        If y is not sorted, y_keys repeat, tolerance is negative, or direction is unknown.
    DTypeError, ShapeError, LoDError
        If x and y do not hold times of one kind, a column has a different LoD from y, or a default is missing because
        its dtype has none.

    Examples
    --------
    >>> import lodcore
    >>> trades, quotes = lodcore.array([[3.0, 9.0], [1.0]]), lodcore.array([[1.0, 8.0], [2.0]])
    >>> places, prices = lodcore.join_asof(trades, quotes, lodcore.array([[10.5, 11.0], [7.5]]))
    >>> places.tolist(), prices.tolist()
    ([[0, 1], [-1]], [[10.5, 11.0], [nan]])
    >>> lodcore.join_asof(trades, quotes, direction="nearest", tolerance=1)[0].tolist()
    [[-1, 1], [0]]
    """
    name = "join_asof"
    choice_of(f"{name}: direction", direction, DIRECTIONS)
    x = nested_operand(f"{name}: x", x)
    y = _times_of(name, "y", y)
    given = [nested_operand(f"{name}: column {j}", column) for j, column in enumerate(columns)]
    rows_by_default = [_default_of(j, column, default) for j, column in enumerate(given)]
    given = [
        check(same_structure, column, y, where=name, name=f"column {j}", other="y") for j, column in enumerate(given)
    ]
    if x_keys is not None or y_keys is not None:
        order = _partners(x, y, x_keys, y_keys)
        y, *given = (gather_nested(one, order, []) for one in (y, *given))
    y = check(in_pairs, y, x)
    if x.dtype.kind in "mM":
        common_dtype("join_asof", {"x": x.dtype, "y": y.dtype})
    first = _starts(y, x)
    nearest = direction == "nearest"
    found = {
        side: _taken(x, y, first, side, tolerance, nearest)
        for side in ("backward", "forward")
        if nearest or direction == side
    }
    if nearest:
        (earlier, down), (later, up) = found["backward"], found["forward"]
        back = logical_or(less_than(later, 0), logical_and(greater_equal_than(earlier, 0), less_equal_than(down, up)))
        places = where(back, earlier, later)
    else:
        places = found[direction][0]
    at = where(less_than(places, 0), -1, add(places, first))
    return places, *(gather_nested(rows(one), at, d) for one, d in zip(given, rows_by_default, strict=True))


@rule
def in_pairs(y: Any, x: Any) -> None:
    """Raise if the sequences of two batches cannot be paired."""
    if x.num_levels != y.num_levels:
        raise LoDError(f"join_asof: y: has {with_number(y.num_levels, 'level')}; x has {x.num_levels}")
    if type(x) is Spec or type(y) is Spec:
        return
    last = x.num_levels - 1
    if last:
        check_equal("join_asof", lod_body.slice_levels(x.lod, 0, last), lod_body.slice_levels(y.lod, 0, last), "y")
    elif len(x) != len(y):
        raise LoDError(f"join_asof: y: has {len(y)} sequences; x has {len(x)}")


def _taken(x: Any, y: Any, first: Any, side: str, tolerance: Any, nearest: bool) -> tuple[Any, Any]:
    """Return the places of the last times before, or of the first ones after, -1 for none, and distances if needed."""
    backward = side == "backward"
    place = with_arguments({"x": "y", "v": "x"}, sequence_searchsorted, y, x, "right" if backward else "left")
    place = minus(place, 1) if backward else place
    inside = less_than(place, sequence_expand_as(lod_lengths(y, -1), x))
    at = where(logical_and(inside, greater_equal_than(place, 0)), add(place, first), -1)
    time = gather_nested(rows(y), at, nothing_of(y.dtype))
    low, high = (time, x) if backward else (x, time)
    found = logical_and(greater_equal_than(at, 0), less_equal_than(low, high))  # not beside nan
    apart = _apart(low, high) if nearest or tolerance is not None else None
    if tolerance is not None:
        most = _distance_of(tolerance, low, high, apart)
        found = logical_and(found, less_equal_than(apart, most))
    return where(found, place, -1), apart


def _apart(low: Any, high: Any) -> Any:
    """Subtract times; differences of integers and dates are exact even if int64 cannot hold them."""
    if low.dtype.kind in "mM":
        unit = np.promote_types(low.dtype, high.dtype)
        low, high = (cast(cast(one, unit), np.int64) for one in (low, high))
    if low.dtype.kind == "f" or high.dtype.kind == "f":  # equal infinities are not apart
        same = equal(low, high)
        low, high = where(same, 0, low), where(same, 0, high)
        return minus(in_float64(high), in_float64(low))
    distance = minus(cast(high, np.uint64), cast(low, np.uint64))
    if low.dtype.kind == "i" and high.dtype == np.uint64:  # from a negative number it may exceed the greatest one
        below = logical_and(less_than(low, 0), less_than(distance, high))
        distance = where(below, np.uint64(2**64 - 1), distance)
    return distance


def _distance_of(tolerance: Any, low: Any, high: Any, apart: Any) -> Any:
    """Return the greatest distance at which a time is taken, as a number like the distances."""
    if low.dtype.kind not in "mM":
        return distance_of("join_asof: tolerance", tolerance, apart.dtype)
    unit = np.promote_types(low.dtype, high.dtype)
    most = distance_of("join_asof: tolerance", tolerance, np.dtype(f"m8{unit.str[3:]}"))
    return number_of_units("join_asof: tolerance", most, unit)


def _default_of(j: int, column: Any, default: Any) -> Any:
    """Return the row of a column where no time is found."""
    if default is not None:
        return default
    kind = column.dtype.kind
    if kind not in "fcmMUS":
        raise DTypeError(f"join_asof: column {j}: has dtype {column.dtype}, which has no nan; a default is needed")
    return np.nan if kind in "fc" else nothing_of(column.dtype)


def _partners(x: Any, y: Any, x_keys: Any, y_keys: Any) -> Any:
    """Return for each key of x the position of the same key of y, -1 if there is none."""
    if x_keys is None or y_keys is None:
        raise ValueError(f"join_asof: {'x_keys' if x_keys is None else 'y_keys'}: is None; keys of both are needed")
    order = match_keys(x_keys, y_keys, "left")[2]
    return check(one_partner, order, x, y, x_keys, y_keys)


@rule
def one_partner(order: Any, x: Any, y: Any, x_keys: Any, y_keys: Any) -> None:
    """Raise unless each sequence has one key, and each key of y occurs once."""
    one_per_key(x, x_keys, "join_asof", "x")
    one_per_key(y, y_keys, "join_asof", "y")
    if type(y_keys) is not Spec and len(match_keys(y_keys, y_keys)[0]) != len(y_keys):
        raise ValueError("join_asof: y_keys: repeat; one sequence of y per key is needed")


@named
def sequence_resample(x: Any, n: int, times: Any = None) -> Any:
    """Interpolate each sequence of the last level linearly at n points, at equal distances from the first to the last.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Rows of real numbers, of any shape.
    n : int
        The number of points, 1 or more; a single point is the first.
    times : LoDTensor or nested lists, optional
        Real numbers, dates or durations with the LoD of x, increasing within each sequence; nan and NaT come last, and
        all rows of their sequence are nan. By default the positions in the sequence. Of integers, dates and durations
        of any size, the distances from the first time are exact before they become float64.

    Returns
    -------
    LoDTensor of float64
        Has as many levels as x; all sequences of the last one have n rows, nan for an empty one. The times of the
        points are ``sequence_resample(times, n, times)``, if times are numbers.

    Raises
    ------
    DTypeError, ShapeError, LoDError, ValueError
        If x or times do not hold such numbers, times do not have the LoD of x or are not sorted, or n is below 1.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[0.0, 10.0, 20.0], [5.0]])
    >>> lodcore.sequence_resample(x, 5).tolist()
    [[0.0, 5.0, 10.0, 15.0, 20.0], [5.0, 5.0, 5.0, 5.0, 5.0]]
    >>> lodcore.sequence_resample(x, 3, [[0.0, 1.0, 4.0], [2.0]]).tolist()
    [[0.0, 13.333333333333334, 20.0], [5.0, 5.0, 5.0]]
    """
    name = "sequence_resample"
    x, count = nested_operand(f"{name}: x", x), integer_of(f"{name}: n", n, 1)
    check_size(name, count, len(x.lod.offsets()) - 1 if isinstance(x, LoDTensor) else 1, 8)
    at = lod_positions(x, -1) if times is None else _floats(name, _times_of(name, "times", times))
    at = cast(at, np.float64)
    ends = [reshape_rows(sequence_pool(at, end, np.nan), (1,)) for end in ("first", "last")]
    share = np.linspace(0.0, 1.0, count)
    points = where(share == 1, ends[1], add(ends[0], mul(minus(ends[1], ends[0]), share)))
    return with_arguments(
        {"xp": "times", "fp": "x"}, sequence_interp, rows_to_level(np.minimum(points, ends[1])), at, x
    )


def _floats(name: str, times: Any) -> Any:
    """Return times as they are if they are floats, otherwise how far each is from the first one of its sequence."""
    kind = times.dtype.kind
    if kind not in "biufmM":
        raise DTypeError(f"{name}: times: has dtype {times.dtype}; real numbers, dates or durations are needed")
    if kind == "f":
        return times
    first = gather_nested(rows(times), _starts(times, times))
    since = cast(_apart(first, times), np.float64)  # float64 cannot hold the times themselves
    return where(equal(times, times), since, np.nan) if kind in "mM" else since
