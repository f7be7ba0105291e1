"""Runs of equal rows: distinct values, their counts, ranks, and run-length encoding."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import check_size
from lodcore.errors import DTypeError, ShapeError
from lodcore.operators.arguments import choice_of, integers_of, level_of
from lodcore.operators.copies import spec_rows, sum_copies
from lodcore.operators.lod_rules import before
from lodcore.operators.operands import Array, check_equal, with_levels
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Nested
from lodcore.ops.order.order import check_order, ordered
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = [
    "repeat_runs",
    "run_lengths",
    "sequence_mode",
    "sequence_n_unique",
    "sequence_rank",
    "sequence_unique",
    "sequence_unique_all",
]

COUNT, DOUBLE = np.dtype(np.int64), np.dtype(np.float64)
KINDS = ("ordinal", "min", "max", "dense", "average")  # in the order of their numbers in the kernel


class Runs:
    """The runs of equal rows within sequences.

    Parameters
    ----------
    rows : ndarray, shape (n_rows, ...)
        nan is equal to nan, for real and complex numbers.
    offsets : int64, in rows
    """

    def __init__(self, rows: Array, offsets: Any) -> None:
        starts = buffers.new_int64(len(rows) + 1)
        self.offsets = offsets
        self.runs = buffers.new_offsets(len(offsets))
        count = kernels.runs.find_runs(_comparable(rows), offsets, starts, self.runs)
        self.starts = starts[:count]

    def counts(self) -> Array:
        """Count the rows of each run."""
        made = buffers.new_int64(len(self.starts))
        kernels.runs.measure_runs(self.starts, self.runs, self.offsets, made)
        return made

    def ranks(self, positions: Array, kind: str) -> Array:
        """Return the ranks of sorted rows at their previous positions."""
        made = buffers.new_int64(len(positions))
        bad = kernels.runs.rank_runs(self.starts, self.runs, self.offsets, positions, KINDS.index(kind), made)
        if bad >= 0:
            raise IndexError(f"positions: row {bad} names no row of its sequence")
        return made


def _comparable(rows: Array) -> Array:
    """Return rows in a comparable form: floats as numbers, everything else as bytes."""
    if rows.dtype.kind == "f" and rows.dtype.itemsize == 2:
        rows = rows.astype(np.float32)
    if rows.dtype.char in "fdFD":
        return buffers.as_cells(rows, rows.real.dtype)
    return buffers.as_bytes(rows)


def _columns(values: Array) -> Iterator[Array]:
    """Yield the columns of rows."""
    if values.ndim == 1:
        yield values
        return
    table = values.reshape(len(values), math.prod(values.shape[1:]))
    for c in range(table.shape[1]):
        yield np.ascontiguousarray(table[:, c])


def _sorted_runs(where: str, column: Array, offsets: Any, positions: bool) -> tuple[Array, Array, Runs]:
    """Sort a column within its sequences, and find the runs."""
    cells, places = ordered(where, column, offsets, False, True, positions)
    flat = np.empty(0, COUNT) if places is None else places.reshape(-1)
    return cells, flat, Runs(_one_nan(cells), offsets)


def _one_nan(cells: Array) -> Array:
    """Make all complex numbers with nan equal, as NumPy treats them when it counts values."""
    if cells.dtype.kind != "c" or not np.isnan(cells).any():
        return cells
    return np.where(np.isnan(cells), cells.dtype.type(complex(np.nan, np.nan)), cells)


def _joined(columns: list[Array], shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Join columns to rows."""
    if len(shape) == 1:
        return columns[0]
    made = np.empty((shape[0], math.prod(shape[1:])), dtype)
    for c, column in enumerate(columns):
        made[:, c] = column
    return made.reshape(shape)


def _shorter(lod: LoD, k: int, offsets: Array) -> LoD:
    """Return the levels of a LoD up to level k, which gets other lengths."""
    return lod_body.make_lod([*map(lod.offsets, range(k)), offsets], offsets.item(len(offsets) - 1))


# -- distinct values ---------------------------------------------------------------------------------------------------


@operator(
    x=Nested,
    lod_rule="the levels of `x` up to `level`, whose sequences are shorter",
)
def sequence_unique(x: Any, level: int = -1, *, saved: Saved = None) -> LoDTensor:
    """Return the distinct values of each sequence, sorted.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Rows of one number, text or date; see `sequence_argsort`.
    level : int
        The level of the sequences, with all rows below each.

    Returns
    -------
    LoDTensor
        Has the levels up to `level`. nan is equal to nan and comes last; of -0.0 and 0.0, the first one is kept. The
        gradient of a value goes to its first row.

    Raises
    ------
    ShapeError
        If rows have axes.
    LevelError, DTypeError
        If the level does not exist, or the dtype cannot be sorted.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_unique([[3, 1, 3], [], [5, 5]])
    LoDTensor(3 sequences of lengths 0..2, int64: [[1, 3], [], [5]])
    """
    where = "sequence_unique"
    _check_single(where, x)
    k = lod_body.normalize_level(x.lod, level, where)
    cells, positions, runs = _sorted_runs(where, x.values, lod_body.in_rows(x.lod, k), saved is not None)
    kept = _shorter(x.lod, k, runs.runs)
    if saved is not None:
        saved["first"] = _rows_in(x, level, lod_tensor_body.new_tensor(positions[runs.starts], kept))
    return lod_tensor_body.new_tensor(cells[runs.starts], kept)


def _rows_in(x: LoDTensor, level: int, index: LoDTensor) -> Array:
    """Return the rows of x for positions in its sequences."""
    begin = lod_body.in_rows(x.lod, lod_body.normalize_level(x.lod, level))[:-1]
    rows: Array = index.values + np.repeat(begin, np.diff(index.lod.offsets(-1)))
    return rows


@sequence_unique.define_vjp
def _(d: Array, first: Array, context: Any) -> Array:
    return _to_rows(context.new("x"), first, d)


def _to_rows(made: Array, rows: Array, d: Array) -> Array:
    """Return zeros with cotangents in some rows."""
    made[...] = 0
    made[rows] = d
    return made


@sequence_unique.define_infer
def _(x: Spec, level: int) -> Spec:
    _check_single("sequence_unique", x)
    return Spec((None,), x.dtype, level_of("sequence_unique", x, level) + 1)


def _check_single(where: str, x: Any) -> None:
    """Raise if rows are not single values that have an order."""
    check_order(where, x.dtype)
    row_shape = tuple(x.shape[1:]) if isinstance(x, Spec) else x.values.shape[1:]
    if row_shape:
        raise ShapeError(f"{where}: x: has rows of shape {row_shape}; rows of one value are needed")


@operator(
    x=Nested,
    results=4,
    lod_rule="the levels of `x` up to `level`, whose sequences are shorter; inverse as `x`",
)
def sequence_unique_all(x: Any, level: int = -1) -> tuple[LoDTensor, LoDTensor, LoDTensor, LoDTensor]:
    """Return the distinct values of each sequence, their positions, and their counts.

    Parameters
    ----------
    x, level
        As in `sequence_unique`.

    Returns
    -------
    values : LoDTensor
        The result of `sequence_unique`, with the same gradient.
    index : LoDTensor of int64
        The first position of each value in its sequence.
    inverse : LoDTensor of int64
        Has the LoD of x: the number, among the values of its sequence, of each row's value.
    counts : LoDTensor of int64
        How often each value occurs in its sequence.

    Examples
    --------
    >>> import lodcore
    >>> values, index, inverse, counts = lodcore.sequence_unique_all([[3, 1, 3], [], [5, 5]])
    >>> values.tolist(), index.tolist(), inverse.tolist(), counts.tolist()
    ([[1, 3], [], [5]], [[1, 0], [], [0]], [[1, 0, 1], [], [0, 0]], [[1, 2], [], [2]])
    """
    where = "sequence_unique_all"
    _check_single(where, x)
    k = lod_body.normalize_level(x.lod, level, where)
    cells, positions, runs = _sorted_runs(where, x.values, lod_body.in_rows(x.lod, k), True)
    kept = _shorter(x.lod, k, runs.runs)
    return (
        lod_tensor_body.new_tensor(cells[runs.starts], kept),
        lod_tensor_body.new_tensor(positions[runs.starts], kept),
        lod_tensor_body.new_tensor(runs.ranks(positions, "dense") - 1, x.lod),
        lod_tensor_body.new_tensor(runs.counts(), kept),
    )


@sequence_unique_all.define_vjp
def _(
    d: Array | None, d_index: None, d_inverse: None, d_counts: None, x: Any, level: int, out: Any, context: Any
) -> Array | None:
    return None if d is None else _to_rows(context.new("x"), _rows_in(x, level, out[1]), d)


@sequence_unique_all.define_infer
def _(x: Spec, level: int) -> tuple[Spec, ...]:
    _check_single("sequence_unique_all", x)
    count = level_of("sequence_unique_all", x, level) + 1
    rows = Spec((None,), COUNT, count)
    return Spec((None,), x.dtype, count), rows, Spec(x.shape, COUNT, x.num_levels), rows


@operator(x=Nested, lod_rule=before("level"), differentiable=False)
def sequence_n_unique(x: Any, level: int = -1) -> Any:
    """Count the distinct rows of each sequence, column by column.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Has a dtype that can be sorted; see `sequence_argsort`.
    level : int
        The level of the sequences, with all rows below each.

    Returns
    -------
    LoDTensor, or ndarray if `level` is the first
        int64; nan is equal to nan.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_n_unique([[3, 1, 3], [], [5, 5]])
    array([2, 0, 1])
    """
    where = "sequence_n_unique"
    check_order(where, x.dtype)
    k = lod_body.normalize_level(x.lod, level, where)
    offsets = lod_body.in_rows(x.lod, k)
    found = [np.diff(_sorted_runs(where, column, offsets, False)[2].runs) for column in _columns(x.values)]
    return with_levels(_joined(found, (len(offsets) - 1, *x.values.shape[1:]), COUNT), x.lod, k)


@sequence_n_unique.define_infer
def _(x: Spec, level: int) -> Spec:
    check_order("sequence_n_unique", x.dtype)
    return Spec(spec_rows(x), COUNT)


@operator(x=Nested, lod_rule=before("level"))
def sequence_mode(x: Any, level: int = -1, *, saved: Saved = None) -> Any:
    """Return the most frequent row of each sequence, column by column.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Has a dtype that can be sorted; see `sequence_argsort`.
    level : int
        The level of the sequences, with all rows below each.

    Returns
    -------
    LoDTensor, or ndarray if `level` is the first
        The least of equally frequent values; nan counts as a value, equal to nan, and so does NaT. For an empty
        sequence nan, for dates and durations NaT.
        The gradient goes to the first row with the value.

    Raises
    ------
    ValueError
        If a sequence is empty and the dtype has no nan; the message names the first one.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_mode([[3, 1, 3], [2, 1]])
    array([3, 1])
    """
    where = "sequence_mode"
    check_order(where, x.dtype)
    k = lod_body.normalize_level(x.lod, level, where)
    offsets = lod_body.in_rows(x.lod, k)
    n_seqs = len(offsets) - 1
    places, made = buffers.new_int64(n_seqs), []
    rows: list[Array] = []  # for each column those where the values are first, -1 for empty sequences
    for column in _columns(x.values):
        cells, positions, runs = _sorted_runs(where, column, offsets, saved is not None)
        kernels.runs.longest_runs(runs.starts, runs.runs, offsets, places)
        empty = places < 0
        if saved is not None:
            known = np.append(positions, -1)[places] if len(positions) else places
            rows.append(np.where(empty, -1, known + offsets[:-1]))
        if not empty.any():
            made.append(cells[places])
            continue
        if x.dtype.kind not in "fcMm":
            s = int(np.argmax(empty))
            raise ValueError(f"{where}: x: sequence {s} of level {k} is empty; {x.dtype} has no nan")
        best = np.full(n_seqs, np.nan if x.dtype.kind in "fc" else "NaT", x.dtype)
        best[~empty] = cells[places[~empty]]
        made.append(best)
    if saved is not None:
        saved["rows"] = rows
    return with_levels(_joined(made, (n_seqs, *x.values.shape[1:]), x.dtype), x.lod, k)


@sequence_mode.define_vjp
def _(d: Array, rows: list[Array], context: Any) -> Array:
    made: Array = context.new("x")
    made[...] = 0
    width = math.prod(made.shape[1:])
    flat, given = made.reshape(len(made), width), d.reshape(len(d), width)
    for c, at in enumerate(rows):
        flat[at[at >= 0], c] = given[at >= 0, c]
    return made


@sequence_mode.define_infer
def _(x: Spec, level: int) -> Spec:
    check_order("sequence_mode", x.dtype)
    return Spec(spec_rows(x), x.dtype)


@operator(x=Nested, differentiable=False)
def sequence_rank(x: Any, method: str = "average", level: int = -1, descending: bool = False) -> LoDTensor:
    """Return the ranks of the rows of each sequence, column by column, counted from 1.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Has a dtype that can be sorted; see `sequence_argsort`.
    method : {"average", "min", "max", "dense", "ordinal"}
        The rank of equal rows: the mean, the minimum or the maximum of their positions, a number that grows by one from
        each distinct value to the next, or distinct ranks in the order of the rows.
    level : int
        The level of the sequences, with all rows below each.
    descending : bool
        Whether the greatest has rank 1.

    Returns
    -------
    LoDTensor
        Has the LoD of x; int64, float64 for "average". nan is equal to nan and greater than all numbers.

    Raises
    ------
    ValueError
        If the method is unknown.
    LevelError, DTypeError
        If the level does not exist, or the dtype cannot be sorted.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_rank([[3, 1, 3], [], [5]])
    LoDTensor(3 sequences of lengths 0..3, float64: [[2.5, 1., 2.5], [], [1.]])
    >>> lodcore.sequence_rank([[3, 1, 3], [], [5]], "dense", descending=True)
    LoDTensor(3 sequences of lengths 0..3, int64: [[1, 2, 1], [], [1]])
    """
    where = "sequence_rank"
    dtype = _rank_of(x.dtype, method)
    offsets = lod_body.in_rows(x.lod, lod_body.normalize_level(x.lod, level, where))
    made = []
    for column in _columns(x.values):
        cells, places = ordered(where, column, offsets, bool(descending), True, True)
        flat = np.empty(0, COUNT) if places is None else places.reshape(-1)
        found = Runs(_one_nan(cells), offsets).ranks(flat, method)
        made.append(found * 0.5 if method == "average" else found)
    return lod_tensor_body.new_tensor(_joined(made, x.values.shape, dtype), x.lod)


def _rank_of(dtype: np.dtype[Any], method: Any) -> np.dtype[Any]:
    """Check dtype and method; return the dtype of the ranks."""
    check_order("sequence_rank", dtype)
    return DOUBLE if choice_of("sequence_rank: method", method, KINDS) == "average" else COUNT


@sequence_rank.define_infer
def _(x: Spec, method: str, level: int, descending: bool) -> Spec:
    dtype = _rank_of(x.dtype, method)
    level_of("sequence_rank", x, level)
    return Spec(x.shape, dtype)


# -- run-length encoding -----------------------------------------------------------------------------------------------


@operator(
    x=Nested,
    results=2,
    lod_rule="as `x`, whose sequences of the last level are shorter",
)
def run_lengths(x: Any, *, saved: Saved = None) -> tuple[LoDTensor, LoDTensor]:
    """Compute the run-length encoding of each sequence of the last level.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Rows of any dtype and shape; nan is equal to nan.

    Returns
    -------
    values : LoDTensor
        The first row of each run.
    counts : LoDTensor of int64
        The number of rows of each run. `repeat_runs(values, counts)` equals x.

    Examples
    --------
    >>> import lodcore
    >>> values, counts = lodcore.run_lengths([[7, 7, 8, 7], [], [9, 9]])
    >>> values.tolist(), counts.tolist()
    ([[7, 8, 7], [], [9]], [[2, 1, 1], [], [2]])
    """
    last = x.lod.num_levels - 1
    runs = Runs(x.values, lod_body.offsets_view(x.lod, last))
    kept = _shorter(x.lod, last, runs.runs)
    values = lod_tensor_body.new_tensor(x.values[runs.starts], kept)
    if saved is not None:
        saved["starts"] = runs.starts
    return values, lod_tensor_body.new_tensor(runs.counts(), kept)


@run_lengths.define_infer
def _(x: Spec) -> tuple[Spec, Spec]:
    return Spec(spec_rows(x), x.dtype, x.num_levels), Spec((None,), COUNT, x.num_levels)


@run_lengths.define_vjp
def _(d: Array, _: None, starts: Array, context: Any) -> Array:
    d_x: Array = context.new("x")
    d_x[...] = 0
    if d is not None:
        d_x[starts] = d
    return d_x


@operator(
    x=Nested,
    counts=Nested,
    lod_rule="as `x`, whose sequences of the last level are longer",
)
def repeat_runs(x: Any, counts: Any, *, saved: Saved = None) -> LoDTensor:
    """Repeat each row a given number of times: the inverse of `run_lengths`.

    Parameters
    ----------
    x : LoDTensor or nested lists
    counts : LoDTensor of integers, or nested lists
        One count per row of x, 0 or more, with the same structure.

    Returns
    -------
    LoDTensor

    Raises
    ------
    ValueError
        If a count is negative.
    LoDError, ShapeError
        If the structures differ, or counts have axes.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.repeat_runs([[7, 8], [], [9]], [[2, 1], [], [3]])
    LoDTensor(3 sequences of lengths 0..3, int64: [[7, 7, 8], [], [9, 9, 9]])
    """
    where, lod, values = "repeat_runs", x.lod, x.values
    check_equal(where, lod, counts.lod, "counts")
    _check_counts(counts.values.shape[1:], counts.dtype, not counts.num_rows)
    numbers = counts.values if counts.num_rows else buffers.new_int64(0)
    sizes = np.array(integers_of(f"{where}: counts", numbers), COUNT)  # a private copy
    if len(sizes) and sizes.min() < 0:
        j = int(np.argmax(sizes < 0))
        raise ValueError(f"{where}: counts: is {sizes[j]} at row {j}; 0 or more is needed")
    total = int(sizes.sum(dtype=object)) if len(sizes) and sizes.max() > 2**32 else int(sizes.sum())
    check_size(where, total, *values.shape[1:], max(values.dtype.itemsize, 1))
    copies = buffers.new_offsets(len(sizes) + 1)
    copies[0] = 0
    np.cumsum(sizes, out=copies[1:])
    made = buffers.new_rows(where, values, total)
    kernels.expand.repeat_rows(buffers.as_bytes(values), copies, buffers.as_bytes(made))
    last = lod.num_levels - 1
    offsets = buffers.new_offsets(len(lod_body.offsets_view(lod, last)))
    np.take(copies, lod.offsets(last), out=offsets)
    if saved is not None:
        saved["copies"] = copies
    return lod_tensor_body.new_tensor(made, _shorter(lod, last, offsets))


def _check_counts(row_shape: tuple[Any, ...], dtype: np.dtype[Any], empty: bool) -> None:
    if row_shape:
        raise ShapeError(f"repeat_runs: counts: has rows of shape {row_shape}; one number per row is needed")
    if dtype.kind not in "iu" and not empty:
        raise DTypeError(f"repeat_runs: counts: has dtype {dtype}; integers are needed")


@repeat_runs.define_infer
def _(x: Spec, counts: Spec) -> Spec:
    _check_counts(counts.shape[1:], counts.dtype, counts.shape[:1] == (0,))
    return Spec(spec_rows(x), x.dtype, x.num_levels)


@repeat_runs.define_vjp
def _(d: Array, copies: Array, context: Any) -> tuple[Array, None]:
    return sum_copies(d, copies, context.new("x")), None
