"""Rolling reductions: windows that end at each row of a sequence, column by column."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.threads import over_sequences
from lodcore.errors import DTypeError
from lodcore.operators.arguments import choice_of, integer_of, level_of
from lodcore.operators.numbers import is_real
from lodcore.operators.operands import Array
from lodcore.operators.registry import operator
from lodcore.operators.roles import Nested
from lodcore.ops.order.order import ordered
from lodcore.ops.reduce.pool import cells_for, cells_of, convert_into, result_rows
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["sequence_rolling"]

KINDS = ("sum", "mean", "max", "min", "var", "std", "median")  # in the order of their numbers in the kernel
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
COST = 4  # of reducing windows, relative to copying numbers


@operator(x=Nested)
def sequence_rolling(
    x: Any, size: int, pool_type: str = "mean", min_periods: int | None = None, ddof: float = 0, level: int = -1
) -> LoDTensor:
    """Reduce the window of rows that ends at each row of a sequence, column by column.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Real numbers of at most float64.
    size : int
        The number of rows per window, 1 or more.
    pool_type : {"sum", "mean", "max", "min", "var", "std", "median"}
        The result of a window with nan is nan, as in NumPy; later windows are not affected.
    min_periods : int, optional
        The result is nan where a window has fewer rows, at the beginning of a sequence; by default `size`.
    ddof : number
        Subtracted from the number of rows to give the divisor of variances.
    level : int
        The level of the sequences; windows do not cross them.

    Returns
    -------
    LoDTensor
        Has the LoD and the dtype of x; float64 for integers.

    Raises
    ------
    ValueError
        If size is below 1, min_periods is negative, or pool_type is unknown.
    LevelError, DTypeError
        If the level does not exist, x does not hold real numbers, or size or min_periods is not an integer.

    Notes
    -----
    Each row takes two steps, whatever the size of the windows; nothing is subtracted, so no precision is lost. Results
    are computed in float64. For medians, sequences are sorted, and each row takes a number of steps logarithmic in
    their length.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 3.0, 5.0], [], [2.0]])
    >>> lodcore.sequence_rolling(x, 2)
    LoDTensor(3 sequences of lengths 0..3, float64: [[nan, 2., 4.], [], [nan]])
    >>> lodcore.sequence_rolling(x, 2, "max", min_periods=1)
    LoDTensor(3 sequences of lengths 0..3, float64: [[1., 3., 5.], [], [2.]])
    """
    rows, least, kind, taken, work, dtype = _windows_of(x.dtype, size, pool_type, min_periods, ddof)
    offsets = lod_body.in_rows(x.lod, lod_body.normalize_level(x.lod, level, "sequence_rolling"))
    result = result_rows("sequence_rolling", x.values, len(x.values), dtype, None)
    cells, values = cells_for(result, work), cells_of(x.values, work)
    if pool_type == "median":
        _medians(kernels.rolling.roll_medians, values, offsets, rows, least, [], cells)
    else:
        _roll(values, offsets, rows, least, kind, taken, False, cells)
    convert_into(cells, result)
    return lod_tensor_body.new_tensor(result, x.lod)


def _roll(x: Array, offsets: Any, size: int, least: int, kind: int, ddof: float, reverse: bool, out: Array) -> Array:
    over_sequences(kernels.rolling.roll_rows, "ro.....r", x, offsets, size, least, kind, ddof, reverse, out, cost=COST)
    return out


def _medians(kernel: Any, x: Array, offsets: Any, size: int, least: int, cotangents: list[Array], out: Array) -> None:
    """Run a kernel of medians on sorted rows."""
    cells, positions = ordered("sequence_rolling", x, offsets, False, True, True)
    if positions is not None:
        roles = f"rro..{'r' * len(cotangents)}rr"
        room = buffers.new_int64(len(x), 2)
        over_sequences(kernel, roles, cells, positions, offsets, size, least, *cotangents, room, out, cost=16 * COST)


def _windows_of(
    dtype: np.dtype[Any], size: Any, pool_type: Any, min_periods: Any, ddof: Any
) -> tuple[int, int, int, float, np.dtype[Any], np.dtype[Any]]:
    """Return the checked size, min_periods, kind and ddof, the dtype of the computation, and that of the result."""
    where = "sequence_rolling"
    rows = min(integer_of(f"{where}: size", size, 1), 2**62)
    least = rows if min_periods is None else min(integer_of(f"{where}: min_periods", min_periods, 0), 2**62)
    kind = KINDS.index(choice_of(f"{where}: pool_type", pool_type, KINDS))
    if not is_real(ddof):
        raise DTypeError(f"{where}: ddof: is {ddof!r}; a number is needed")
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise DTypeError(f"{where}: x: has dtype {dtype}; real numbers of at most float64 are needed")
    if dtype.kind != "f":
        return rows, least, kind, float(ddof), DOUBLE, DOUBLE
    return rows, least, kind, float(ddof), dtype if dtype.itemsize > 2 else SINGLE, dtype


@sequence_rolling.define_infer
def _(x: Spec, size: int, pool_type: str, min_periods: int | None, ddof: float, level: int) -> Spec:
    dtype = _windows_of(x.dtype, size, pool_type, min_periods, ddof)[-1]
    level_of("sequence_rolling", x, level)
    return Spec(x.shape, dtype)


@sequence_rolling.define_vjp
def _(
    d: Array,
    x: Any,
    size: int,
    pool_type: str,
    min_periods: int | None,
    ddof: float,
    level: int,
    out: Any,
    context: Any,
) -> Array:
    d_x: Array = context.new("x")
    rows, least, kind, taken, work, _ = _windows_of(d_x.dtype, size, pool_type, min_periods, ddof)
    offsets = lod_body.in_rows(x.lod, lod_body.normalize_level(x.lod, level))
    given, cells, values = cells_of(d, work), cells_for(d_x, work), cells_of(x.values, work)
    if pool_type in ("max", "min"):
        over_sequences(
            kernels.rolling.spread_windows, "ro...rr", values, offsets, rows, least, kind, given, cells, cost=COST
        )
        convert_into(cells, d_x)
        return d_x
    if pool_type == "median":
        _medians(kernels.rolling.spread_medians, values, offsets, rows, least, [given], cells)
        convert_into(cells, d_x)
        return d_x
    counts = _counts(len(values), offsets, rows)
    shares = np.where(counts >= least, given, 0).astype(DOUBLE)
    if pool_type == "mean":
        shares /= counts
    if pool_type in ("sum", "mean"):
        cells[...] = _back(shares, offsets, rows)
    else:
        constant = ((counts < least) | (counts <= taken))[:, 0]
        found = np.asarray(out.values, DOUBLE).reshape(shares.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = 2.0 if pool_type == "var" else np.where(found == 0, 0.0, 1 / found)
            shares = shares * scale / (counts - taken)
            wide = np.ascontiguousarray(values, DOUBLE)
            means = _roll(wide, offsets, rows, 1, 1, 0.0, False, np.empty_like(wide))
            shares[constant], means[constant] = 0, 0  # also where the values are nan
            weights = _back(shares, offsets, rows)
            cells[...] = np.where(weights == 0, 0, wide * weights) - _back(shares * means, offsets, rows)
    convert_into(cells, d_x)
    return d_x


def _counts(n_rows: int, offsets: Any, size: int) -> Array:
    """Count the rows of each window: shape (n_rows, 1)."""
    bounds = np.asarray(offsets)
    places = np.arange(n_rows) - np.repeat(bounds[:-1], np.diff(bounds))
    found: Array = np.minimum(places + 1, size)[:, None]
    return found


def _back(shares: Array, offsets: Any, size: int) -> Array:
    """Sum the contributions of all windows that contain each row."""
    return _roll(shares, offsets, size, 1, 0, 0.0, True, np.empty_like(shares))
