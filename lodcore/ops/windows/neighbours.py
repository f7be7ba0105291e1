"""Rows and their neighbours within sequences: differences, shifts, windows, running extremes and products, averages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import check_size
from lodcore.base.threads import over_sequences
from lodcore.errors import DTypeError
from lodcore.operators.arguments import integer_of, level_of
from lodcore.operators.copies import add_back, spec_rows
from lodcore.operators.lod_rules import first_levels
from lodcore.operators.numbers import is_real
from lodcore.operators.operands import Array, kept_in
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Nested
from lodcore.ops.reduce.pool import cells_for, cells_of, convert_into, numbers_of, result_rows
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import error_of_objects
from lodcore.tensors.tensor import Spec

__all__ = ["sequence_accumulate", "sequence_diff", "sequence_moving_average", "sequence_shift", "sliding_window"]

LONG = 256  # sequences with more rows are accumulated one by one by NumPy, shorter ones together, position by position
KINDS = {np.multiply: 0, np.maximum: 1, np.minimum: 2}  # numbers in the kernel
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


SHORTER = "as `x`, whose sequences of the last level are shorter"


# -- differences -------------------------------------------------------------------------------------------------------


@operator(x=Nested, lod_rule=SHORTER)
def sequence_diff(x: Any, n: int = 1) -> LoDTensor:
    """Subtract the previous row from each row, within each sequence of the last level.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Numbers, bool, dates, or time differences.
    n : int
        How many times to subtract, 0 or more.

    Returns
    -------
    LoDTensor
        Sequences are n rows shorter, or empty. Differences of bools say whether rows differ; those of dates are
        timedelta64. Integers wrap around, as in NumPy.

    Raises
    ------
    DTypeError
        If the dtype does not have differences, or n is not an integer.
    ValueError
        If n is negative.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_diff([[1, 4, 9], [], [5]])
    LoDTensor(3 sequences of lengths 0..2, int64: [[3, 5], [], []])
    """
    where = "sequence_diff"
    times, dtype = _differences(x.dtype, n)
    lod, last = x.lod, x.lod.num_levels - 1
    values, offsets = x.values, lod_body.offsets_view(lod, last)
    missing = None
    if values.dtype.kind in "Mm" and times:
        missing, values = np.isnat(values), values.view(np.int64)
    for _ in range(min(times, int(np.diff(offsets).max(initial=0)) + 1)):
        values, missing, offsets = _step(where, values, missing, offsets)
    if missing is not None:
        values = values.view(dtype)
        values[missing] = "NaT"
    if times and x.dtype.kind == "b":
        values = (values & 1).view(bool)  # modulo 2, subtracting is comparing
    if not times:
        values = values.copy()
    return lod_tensor_body.new_tensor(values, _with_last(lod, offsets))


def _step(where: str, values: Array, missing: Any, offsets: Any) -> tuple[Array, Any, Any]:
    """Compute the differences of numbers once."""
    kept = _fewer(offsets)
    count = kept.item(len(kept) - 1)
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    result = buffers.new_rows(where, values, count)
    half = values.dtype.char == "e"
    source = values.astype(SINGLE) if half else values
    target = np.empty((count, *values.shape[1:]), SINGLE) if half else result
    given, made = _wrapping(source), _wrapping(target)
    kernels.neighbours.subtract_rows(given, offsets, kept, made)
    if half:
        with np.errstate(over="ignore"):
            np.copyto(result, target, casting="unsafe")
    if missing is not None:
        before = np.ones(len(values), bool)
        before[np.asarray(offsets)[:-1][np.diff(offsets) > 0]] = False
        rows = np.flatnonzero(before)
        missing = missing[rows] | missing[rows - 1]
    return result, missing, kept


def _wrapping(values: Array) -> Array:
    """Return numbers in a dtype that the kernel supports: floats, or unsigned integers."""
    if values.dtype.kind in "fc":
        return buffers.as_cells(values, values.real.dtype)
    return buffers.as_cells(values, np.dtype(f"u{values.dtype.itemsize}"))


def _fewer(offsets: Any) -> Array:
    """Return offsets of sequences that are one row shorter."""
    kept = buffers.new_offsets(len(offsets))
    kept[0] = 0
    np.cumsum(np.maximum(np.diff(offsets) - 1, 0), out=kept[1:])
    return kept


def _with_last(lod: LoD, offsets: Any) -> LoD:
    """Return a LoD with another last level."""
    last = lod.num_levels - 1
    if offsets is lod_body.offsets_view(lod, last):
        return lod
    return lod_body.make_lod([*map(lod.offsets, range(last)), np.asarray(offsets)], int(offsets[len(offsets) - 1]))


def _differences(dtype: np.dtype[Any], n: Any) -> tuple[int, np.dtype[Any]]:
    """Check n and the dtype; return n and the dtype of the result."""
    times = integer_of("sequence_diff: n", n, 0)
    if dtype.kind not in "biufcMm" or dtype.char in "gG":
        raise DTypeError(f"sequence_diff: x: has dtype {dtype}; numbers of at most float64, or dates, are needed")
    if dtype.kind == "M" and times:
        return times, (np.zeros(1, dtype) - np.zeros(1, dtype)).dtype
    return times, dtype


@sequence_diff.define_infer
def _(x: Spec, n: int) -> Spec:
    return Spec(spec_rows(x), _differences(x.dtype, n)[1], x.num_levels)


@sequence_diff.define_vjp
def _(d: Array, x: LoDTensor, n: int, context: Any) -> Array:
    d_x: Array = context.new("x")
    lod = x.lod
    chain = [lod_body.offsets_view(lod, lod.num_levels - 1)]
    for _ in range(min(int(n), int(np.diff(chain[0]).max(initial=0)) + 1)):
        chain.append(_fewer(chain[-1]))
    work = np.dtype(np.float32) if d_x.dtype.char in "efF" else DOUBLE
    given = np.ascontiguousarray(d, SINGLE if d_x.dtype.char == "e" else d_x.dtype)
    rows = buffers.as_cells(given, work)
    for offsets, kept in zip(chain[-2::-1], chain[:0:-1], strict=True):
        made = np.empty((int(offsets[len(offsets) - 1]), rows.shape[1]), work)
        kernels.neighbours.spread_differences(rows, offsets, kept, made)
        rows = made
    d_x[...] = rows.view(d_x.dtype).reshape(d_x.shape) if d_x.dtype.kind == "c" else rows.reshape(d_x.shape)
    return d_x


# -- shifts and windows ------------------------------------------------------------------------------------------------


@operator(x=Nested)
def sequence_shift(x: Any, n: int = 1, fill: Any = 0, level: int = -1) -> LoDTensor:
    """Shift the rows of each sequence by n positions, and fill the gap.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Rows of any dtype and shape.
    n : int
        The number of positions to shift: towards the end, or towards the beginning if negative.
    fill : number, text or date, or a row
        The value of the gap; 0 means empty text, and NaT for dates and durations (`np.timedelta64(0)` is a duration).
    level : int
        The level of the sequences whose rows are shifted.

    Returns
    -------
    LoDTensor
        Has the LoD of x.

    Raises
    ------
    DTypeError, ShapeError
        If x cannot hold the fill value, or n is not an integer.
    LevelError
        If the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_shift([[1, 2, 3], [], [4]])
    LoDTensor(3 sequences of lengths 0..3, int64: [[0, 1, 2], [], [0]])
    >>> lodcore.sequence_shift([[1, 2, 3], [], [4]], -1, fill=9)
    LoDTensor(3 sequences of lengths 0..3, int64: [[2, 3, 9], [], [9]])
    """
    where = "sequence_shift"
    places, row = _places(n), _edge_row(x.values, fill)
    offsets = lod_body.in_rows(x.lod, lod_body.normalize_level(x.lod, level, where))
    return lod_tensor_body.new_tensor(_shifted(x.values, offsets, places, row), x.lod)


def _places(n: Any) -> int:
    """Return the number of positions, clipped to int64."""
    return max(min(integer_of("sequence_shift: n", n), 2**62), -(2**62))


def _shifted(values: Array, offsets: Any, n: int, row: Array) -> Array:
    result: Array = buffers.new_rows("sequence_shift", values, len(values))
    letters = buffers.as_bytes(row)[0]
    over_sequences(
        kernels.neighbours.shift_rows, "ro..r", buffers.as_bytes(values), offsets, n, letters, buffers.as_bytes(result)
    )
    return result


def _edge_row(values: Any, fill: Any) -> Array:
    """Return the row that fills the gap."""
    row = np.zeros((1, *values.shape[1:]), values.dtype)
    if isinstance(fill, (int, float)) and fill == 0:
        if values.dtype.kind in "Mm":
            row[...] = "NaT"
        return row
    given = kept_in("sequence_shift: fill", fill, values.dtype)
    if given.shape not in ((), values.shape[1:]):
        raise DTypeError(
            f"sequence_shift: fill: has shape {given.shape}; () or that of a row, {values.shape[1:]}, is needed"
        )
    row[...] = given
    return row


@sequence_shift.define_infer
def _(x: Spec, n: int, fill: Any, level: int) -> Spec:
    _places(n)
    if None not in x.shape[1:]:
        _edge_row(np.empty((0, *x.shape[1:]), x.dtype), fill)
    level_of("sequence_shift", x, level)
    return Spec(x.shape, x.dtype)


@sequence_shift.define_vjp
def _(d: Array, x: LoDTensor, n: int, level: int) -> Array:
    lod = x.lod
    given = np.ascontiguousarray(d)
    return _shifted(
        given,
        lod_body.in_rows(lod, lod_body.normalize_level(lod, level)),
        -_places(n),
        np.zeros((1, *given.shape[1:]), given.dtype),
    )


@operator(x=Nested, lod_rule="as `x`, whose sequences of the last level are cut into windows")
def sliding_window(x: Any, size: int, step: int = 1, *, saved: Saved = None) -> LoDTensor:
    """Cut each sequence of the last level into windows of a given number of rows.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Rows of any dtype and shape.
    size : int
        The number of rows per window, 1 or more; shorter sequences have no windows.
    step : int
        The distance between the starts of consecutive windows, in rows, 1 or more.

    Returns
    -------
    LoDTensor
        Has one more level: sequences of windows of rows.

    Raises
    ------
    ValueError, DTypeError
        If size or step is below 1, or is not an integer.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sliding_window([[1, 2, 3, 4], [], [5]], 3).tolist()
    [[[1, 2, 3], [2, 3, 4]], [], []]
    >>> lodcore.sliding_window([[1.0, 2.0, 3.0, 4.0]], 2, 2).mean(axis=2).tolist()
    [[1.5, 3.5]]
    """
    where, lod = "sliding_window", x.lod
    rows, apart = _sizes(size, step)
    offsets = lod.offsets(lod.num_levels - 1)
    lengths = np.diff(offsets)
    beyond = int(lengths.max(initial=0)) + 1  # all sizes above every length are equivalent
    rows, apart = min(rows, beyond), min(apart, beyond)
    counts = np.where(lengths >= rows, (lengths - rows) // apart + 1, 0)
    windows = buffers.new_offsets(len(offsets))
    windows[0] = 0
    np.cumsum(counts, out=windows[1:])
    total = windows.item(len(counts))
    check_size(where, total, rows, *x.values.shape[1:], max(x.dtype.itemsize, 1))
    starts = (np.arange(total) - np.repeat(windows[:-1], counts)) * apart + np.repeat(offsets[:-1], counts)
    ranges = np.stack([starts, starts + rows], axis=1)
    inner = np.arange(total + 1, dtype=np.int64) * rows
    values = buffers.new_rows(where, x.values, total * rows)
    kernels.gather.copy_ranges(buffers.as_bytes(x.values), ranges, buffers.as_bytes(values))
    upper = [lod.offsets(k) for k in range(lod.num_levels - 1)]
    if saved is not None:
        saved["ranges"] = ranges
    return lod_tensor_body.new_tensor(values, lod_body.make_lod([*upper, windows, inner], total * rows))


def _sizes(size: Any, step: Any) -> tuple[int, int]:
    most = 2**62
    found = integer_of("sliding_window: size", size, 1), integer_of("sliding_window: step", step, 1)
    return min(found[0], most), min(found[1], most)


@sliding_window.define_infer
def _(x: Spec, size: int, step: int) -> Spec:
    _sizes(size, step)
    return Spec(spec_rows(x), x.dtype, first_levels(x, x.num_levels - 1, 2))


@sliding_window.define_vjp
def _(d: Array, ranges: Array, context: Any) -> Array:
    return add_back(d, ranges, context.new("x"))


# -- accumulation ------------------------------------------------------------------------------------------------------


@operator(x=Nested)
def sequence_accumulate(x: Any, ufunc: np.ufunc, level: int = -1) -> LoDTensor:
    """Accumulate the rows of each sequence by a ufunc of two operands, as `ufunc.accumulate` does.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Each column is accumulated separately.
    ufunc : numpy.ufunc
        Add, multiply, maximum and minimum have gradients.
    level : int
        The level of the sequences; all rows below one are accumulated.

    Returns
    -------
    LoDTensor
        Has the LoD of x, and the dtype of `ufunc.accumulate`.

    Raises
    ------
    LevelError
        If the level does not exist.
    DTypeError
        If it is not a ufunc of two operands, or does not accept the dtype.

    Examples
    --------
    >>> import numpy as np, lodcore
    >>> lodcore.sequence_accumulate([[1, 3, 2], [], [5, 4, 6]], np.maximum)
    LoDTensor(3 sequences of lengths 0..3, int64: [[1, 3, 3], [], [5, 5, 6]])
    """
    where, values = "sequence_accumulate", x.values
    dtype = _accumulated(x.dtype, ufunc)
    offsets = lod_body.in_rows(x.lod, lod_body.normalize_level(x.lod, level, where))
    if ufunc in KINDS and dtype.kind in "biuf" and dtype.itemsize <= 8:
        work = _work(dtype)
        result = result_rows(where, values, len(values), dtype, None)
        cells = cells_for(result, work)
        source = cells_of(values, work)
        over_sequences(kernels.neighbours.accumulate_rows, "ro.r", source, offsets, KINDS[ufunc], cells, cost=2)
        convert_into(cells, result)
    else:
        result = _place_by_place(ufunc, values.astype(dtype), np.asarray(offsets))
    return lod_tensor_body.new_tensor(result, x.lod)


def _work(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which the kernel accumulates."""
    if dtype.kind == "f":
        return dtype if dtype.itemsize > 2 else SINGLE
    return np.dtype(np.uint64 if dtype.kind in "ub" else np.int64)


def _place_by_place(ufunc: np.ufunc, values: Array, offsets: Array) -> Array:
    """Accumulate in place: the second rows of all sequences at once, then the third rows; long sequences one by one."""
    lengths = np.diff(offsets)
    for s in np.flatnonzero(lengths > LONG):  # few enough for one call each
        part = values[offsets[s] : offsets[s + 1]]
        part[...] = ufunc.accumulate(part, axis=0)
    short = np.flatnonzero((lengths > 1) & (lengths <= LONG))
    order = short[np.argsort(-lengths[short], kind="stable")]
    starts, sizes = offsets[:-1][order], lengths[order]
    with np.errstate(all="ignore"):
        for place in range(1, int(sizes.max(initial=0))):
            rows = starts[: np.searchsorted(-sizes, -place, "left")] + place
            values[rows] = ufunc(values[rows - 1], values[rows])
    return values


def _accumulated(dtype: np.dtype[Any], ufunc: Any) -> np.dtype[Any]:
    """Check a ufunc; return the dtype of the accumulated values."""
    where = "sequence_accumulate"
    if not isinstance(ufunc, np.ufunc) or (ufunc.nin, ufunc.nout, ufunc.signature) != (2, 1, None):
        raise DTypeError(f"{where}: ufunc: is {ufunc!r}; a ufunc of two operands with one result is needed")
    try:
        with np.errstate(all="ignore"):
            found: np.dtype[Any] = ufunc.accumulate(
                np.ones(2, dtype) if dtype.kind in "biufc" else np.zeros(2, dtype)
            ).dtype
    except (TypeError, ValueError) as error:
        raise DTypeError(f"{where}: x: has dtype {dtype}, which {ufunc.__name__} cannot accumulate: {error}") from None
    if found.hasobject:
        raise error_of_objects(f"{where}: ufunc: makes dtype", found)
    return found


@sequence_accumulate.define_infer
def _(x: Spec, ufunc: np.ufunc, level: int) -> Spec:
    dtype = _accumulated(x.dtype, ufunc)
    level_of("sequence_accumulate", x, level)
    return Spec(x.shape, dtype)


@sequence_accumulate.define_vjp
def _(d: Array, x: Any, ufunc: np.ufunc, level: int, context: Any) -> Array:
    d_x: Array = context.new("x")
    offsets = lod_body.in_rows(x.lod, lod_body.normalize_level(x.lod, level))
    if ufunc is np.add:
        work = numbers_of("sequence_accumulate", "sum", d_x.dtype)[0]
        cells = cells_for(d_x, work)
        over_sequences(kernels.softmax.add_up_rows, "ro.r", cells_of(d, work), offsets, True, cells)
        convert_into(cells, d_x)
        return d_x
    if ufunc not in KINDS or d_x.dtype.kind != "f":
        raise DTypeError(f"sequence_accumulate: {ufunc.__name__}: has no vjp rule")
    work = _work(d_x.dtype)
    given, rows, cells = cells_of(x.values, work), cells_of(d, work), cells_for(d_x, work)
    over_sequences(kernels.neighbours.spread_accumulated, "ro.rr", given, offsets, KINDS[ufunc], rows, cells, cost=2)
    convert_into(cells, d_x)
    return d_x


@operator(x=Nested)
def sequence_moving_average(x: Any, alpha: float, adjust: bool = True, level: int = -1) -> LoDTensor:
    """Compute the exponential moving average of the rows of each sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Real numbers of at most float64; the average stays nan after a nan.
    alpha : float
        Above 0 and at most 1: the weight of a row is 1 - alpha times that of the next one.
    adjust : bool
        Whether to divide by the sum of the weights; otherwise the average begins with the first row, and each further
        average is alpha times the row plus 1 - alpha times the previous average.
    level : int
        The level of the sequences; all rows below one are accumulated.

    Returns
    -------
    LoDTensor
        Has the LoD and the dtype of x; float64 for integers.

    Raises
    ------
    ValueError, DTypeError
        If alpha is out of bounds or not a number, or x does not hold real numbers.
    LevelError
        If the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_moving_average([[4.0, 1.0], [], [2.0]], 0.5)
    LoDTensor(3 sequences of lengths 0..2, float64: [[4., 2.], [], [2.]])
    >>> lodcore.sequence_moving_average([[4.0, 1.0], [], [2.0]], 0.5, adjust=False)
    LoDTensor(3 sequences of lengths 0..2, float64: [[4., 2.5], [], [2.]])
    """
    where, values = "sequence_moving_average", x.values
    taken, work, dtype = _share(alpha, values.dtype)
    offsets = lod_body.in_rows(x.lod, lod_body.normalize_level(x.lod, level, where))
    source = cells_of(values, work)
    result = result_rows(where, values, len(values), dtype, None)
    cells = cells_for(result, work)
    if adjust:
        over_sequences(kernels.neighbours.decay_rows, "ro..r", source, offsets, 1 - taken, False, cells, cost=2)
        cells /= _weights(len(values), offsets, taken)
    else:
        scaled = source * work.type(taken)
        first = _first_rows(offsets)
        scaled[first] = source[first]
        over_sequences(kernels.neighbours.decay_rows, "ro..r", scaled, offsets, 1 - taken, False, cells, cost=2)
    convert_into(cells, result)
    return lod_tensor_body.new_tensor(result, x.lod)


def _first_rows(offsets: Any) -> Array:
    """Return the first rows of the sequences that are not empty."""
    bounds = np.asarray(offsets)
    return bounds[:-1][bounds[1:] > bounds[:-1]]


def _weights(n_rows: int, offsets: Any, alpha: float) -> Array:
    """Return the sums of the weights of the rows up to each one: shape (n_rows, 1)."""
    bounds = np.asarray(offsets)
    lengths = np.diff(bounds)
    # weights below 2^-55 do not change a sum, and those that are not normal numbers are slow to compute
    counted = math.ceil(-55 * math.log(2) / math.log1p(-alpha)) if alpha < 1 else 1
    by_place = np.cumsum((1 - alpha) ** np.arange(min(int(lengths.max(initial=0)), counted)))
    places = np.arange(n_rows) - np.repeat(bounds[:-1], lengths)
    found: Array = by_place[np.minimum(places, max(len(by_place) - 1, 0))][:, None]
    return found


def _share(alpha: Any, dtype: np.dtype[Any]) -> tuple[float, np.dtype[Any], np.dtype[Any]]:
    """Return the checked alpha, the dtype of the computation, and that of the result."""
    where = "sequence_moving_average"
    if not is_real(alpha):
        raise DTypeError(f"{where}: alpha: is {alpha!r}; a number is needed")
    if not 0 < alpha <= 1:
        raise ValueError(f"{where}: alpha: is {alpha}; above 0 and at most 1 is needed")
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise DTypeError(f"{where}: x: has dtype {dtype}; real numbers of at most float64 are needed")
    if dtype.kind != "f":
        return float(alpha), DOUBLE, DOUBLE
    return float(alpha), _work(dtype), dtype


@sequence_moving_average.define_infer
def _(x: Spec, alpha: float, adjust: bool, level: int) -> Spec:
    dtype = _share(alpha, x.dtype)[2]
    level_of("sequence_moving_average", x, level)
    return Spec(x.shape, dtype)


@sequence_moving_average.define_vjp
def _(d: Array, x: LoDTensor, alpha: float, adjust: bool, level: int, context: Any) -> Array:
    d_x: Array = context.new("x")
    lod = x.lod
    taken, work, _ = _share(alpha, d_x.dtype)
    offsets = lod_body.in_rows(lod, lod_body.normalize_level(lod, level))
    given, cells = cells_of(d, work), cells_for(d_x, work)
    if adjust:
        given = (given / _weights(len(d_x), offsets, taken)).astype(work, copy=False)
    over_sequences(kernels.neighbours.decay_rows, "ro..r", given, offsets, 1 - taken, True, cells, cost=2)
    if not adjust:
        first = _first_rows(offsets)
        kept = cells[first]
        cells *= work.type(taken)
        cells[first] = kept
    convert_into(cells, d_x)
    return d_x
