"""Matrix products, sequence by sequence: queries by keys, and weights by values.

Sequences of equal lengths are multiplied in one call of `numpy.matmul` if there are many short ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.caller import named_caller
from lodcore.base.memory import check_size, unharmed
from lodcore.errors import DTypeError, LevelError, LoDError, ShapeError
from lodcore.operators.arguments import level_of
from lodcore.operators.operands import Array, check_equal
from lodcore.operators.registry import operator
from lodcore.operators.roles import Nested
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["sequence_matmul"]

WHERE = "sequence_matmul"
CALL = 2**14  # bytes that are copied in about the time of a call


@operator(
    x=Nested,
    y=Nested,
    lod_rule="that of `x`, and a level of one entry per row of `y`; without `transpose_y` one fewer",
)
def sequence_matmul(x: Any, y: Any, transpose_y: bool = False, level: int = -1) -> LoDTensor:
    """Multiply matrices sequence by sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
        With `transpose_y`, rows of shape (width,). Without it, numbers: a sequence of the last level is one row of the
        left matrix, with one entry per row of y.
    y : LoDTensor or nested lists
        Rows of shape (width,).
    transpose_y : bool
        Whether to multiply by the transposed matrices of y: each row of x by each row of y.
    level : int
        The level of y; all rows below one of its sequences are a matrix. x must have the same levels before it.

    Returns
    -------
    LoDTensor
        With `transpose_y`, numbers with one more level than x; without it, rows of shape (width,) with one level fewer.

    Raises
    ------
    LoDError
        If sequences of x and y do not match; the message names the first one.
    ShapeError
        If rows have another shape, or the widths differ.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> queries = lodcore.LoDTensor.from_lengths(np.eye(3, 2), [2, 1])
    >>> keys = lodcore.LoDTensor.from_lengths([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [1, 2])
    >>> weights = lodcore.sequence_matmul(queries, keys, transpose_y=True)
    >>> weights.tolist()
    [[[1.0], [2.0]], [[0.0, 0.0]]]
    >>> lodcore.sequence_matmul(weights, keys).tolist()
    [[[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0]]]
    """
    k = _checked((x.lod.num_levels, x.values.shape), (y.lod.num_levels, y.values.shape), transpose_y, level)
    dtype = _dtype(x.dtype, y.dtype)
    _check_outer(x.lod, y.lod, k)
    offsets = y.lod.row_offsets(k)
    if transpose_y:
        rows = x.lod.row_offsets(k)
        lod = scores_lod(WHERE, x.lod, _lengths(rows), _lengths(offsets), dtype.itemsize)
        values = np.empty(lod.num_rows, dtype)
        by_transposed(x.values, rows, y.values, offsets, values)
    else:
        lod = lod_body.slice_levels(x.lod, 0, x.lod.num_levels - 1)
        rows = lod.row_offsets(k)
        _check_weights(x.lod, rows, offsets)
        values = buffers.new_rows(WHERE, np.empty((0, *y.values.shape[1:]), dtype), lod.num_rows)
        weighted(x.values, rows, y.values, offsets, values)
    return lod_tensor_body.new_tensor(values, lod)


# -- arguments ---------------------------------------------------------------------------------------------------------

Shape = tuple[int | None, ...]


def _checked(x: tuple[int, Shape], y: tuple[int, Shape], transpose_y: Any, level: Any) -> int:
    """Check numbers of levels and shapes of values; return the level of y counted from the first."""
    if not isinstance(transpose_y, (bool, np.bool_)):
        raise DTypeError(f"{WHERE}: transpose_y: is {transpose_y!r}; a bool is needed")
    k = level_of(WHERE, y[0], level)
    if len(y[1]) != 2:
        raise ShapeError(f"{WHERE}: y: has rows of shape {y[1][1:]}; rows of one axis are needed")
    if transpose_y:
        if len(x[1]) != 2:
            raise ShapeError(f"{WHERE}: x: has rows of shape {x[1][1:]}; rows of one axis are needed with transpose_y")
        if None not in (x[1][1], y[1][1]) and x[1][1] != y[1][1]:
            raise ShapeError(f"{WHERE}: x: has rows of {x[1][1]} entries; those of y have {y[1][1]}")
    elif len(x[1]) != 1:
        raise ShapeError(
            f"{WHERE}: x: has rows of shape {x[1][1:]}; without transpose_y its last level holds numbers, one for each "
            "row of y"
        )
    needed = k + 1 if transpose_y else k + 2
    if x[0] < needed:
        raise LevelError(f"{WHERE}: x: has num_levels {x[0]}; {needed} or more are needed for level {k} of y")
    return k


def _dtype(x: np.dtype[Any], y: np.dtype[Any]) -> np.dtype[Any]:
    try:
        found: np.dtype[Any] = np.matmul.resolve_dtypes((x, y, None))[2]
    except TypeError as error:
        raise DTypeError(f"{WHERE}: x, y: have dtypes {x}, {y}: {error}") from None
    return found


def _check_outer(x: LoD, y: LoD, k: int) -> None:
    """Raise if the levels before the sequences that are multiplied differ."""
    if x is y:
        return
    if k:
        check_equal(WHERE, lod_body.slice_levels(y, 0, k), lod_body.slice_levels(x, 0, k), "x", "y")
    count, needed = x.num_sequences(k), y.num_sequences(k)
    if count != needed:
        raise LoDError(f"{WHERE}: x: has {count} sequences at level {k}; y has {needed}")


def scores_lod(where: str, lod: LoD, rows: Array, lengths: Array, size: int) -> LoD:
    """Return the structure of products: each row has one entry per row of the other side."""
    about = float(rows.astype(np.float64) @ lengths)
    if about > 2.0**53:  # may overflow int64
        check_size(where, int(about), size)
    offsets = buffers.new_offsets(lod.num_rows + 1)
    unharmed(kernels.lod.offsets_from_lengths(np.repeat(lengths, rows), offsets))
    total = offsets.item(lod.num_rows)
    check_size(where, total, size)
    return lod_body.make_lod([*[lod.offsets(k) for k in range(lod.num_levels)], offsets], total)


def _check_weights(lod: LoD, rows: Array, offsets: Array) -> None:
    """Raise if a row of weights does not have one entry per row of its sequence of y."""
    last = lod.num_levels - 1
    lengths, needed = lod.lengths(last), np.repeat(_lengths(offsets), _lengths(rows))
    wrong = lengths != needed
    if wrong.any():
        s = int(np.argmax(wrong))
        raise LoDError(
            f"{WHERE}: x: sequence {s} of level {last} has length {lengths[s]}; its counterpart in y has "
            f"{needed[s]} rows"
        )


# -- products ----------------------------------------------------------------------------------------------------------


def _lengths(offsets: Array) -> Array:
    """Return the distances of offsets, in a third of the time that `numpy.diff` takes for a few."""
    return offsets[1:] - offsets[:-1]


def _cells(rows: Array, offsets: Array) -> Array:
    """Compute the offsets of the products of each sequence: its numbers of rows on both sides, multiplied."""
    starts: Array = buffers.new_offsets(len(rows))
    unharmed(kernels.lod.offsets_from_lengths(_lengths(rows) * _lengths(offsets), starts))
    return starts


def by_transposed(x: Array, rows: Array, y: Array, offsets: Array, out: Array) -> None:
    """Compute the dot product of each row of x and each row of y."""
    width = x.shape[1]
    _multiply(
        rows,
        offsets,
        ((x, rows), (y, offsets), (out, _cells(rows, offsets))),
        lambda m, q, n: ((m, q, width), (m, n, width), (m, q, n)),
        lambda a, b, place: np.matmul(a, b.transpose(0, 2, 1), out=place),
    )


def weighted(weights: Array, rows: Array, y: Array, offsets: Array, out: Array) -> None:
    """Compute the weighted sums of the rows of y: weights times y."""
    width = y.shape[1]
    _multiply(
        rows,
        offsets,
        ((weights, _cells(rows, offsets)), (y, offsets), (out, rows)),
        lambda m, q, n: ((m, q, n), (m, n, width), (m, q, width)),
        lambda a, b, place: np.matmul(a, b, out=place),
    )


def weighted_back(weights: Array, rows: Array, x: Array, offsets: Array, out: Array) -> None:
    """Compute the weighted sums of the rows of x: transposed weights times x."""
    width = x.shape[1]
    _multiply(
        rows,
        offsets,
        ((weights, _cells(rows, offsets)), (x, rows), (out, offsets)),
        lambda m, q, n: ((m, q, n), (m, q, width), (m, n, width)),
        lambda a, b, place: np.matmul(a.transpose(0, 2, 1), b, out=place),
    )


def _multiply(
    rows: Array,
    offsets: Array,
    sides: tuple[tuple[Array, Array], ...],
    shapes: Callable[[int, int, int], tuple[tuple[int, ...], ...]],
    product: Callable[..., Any],
) -> None:
    """Multiply the matrices of each sequence; matrices of equal shapes in one call, if regrouping pays.

    Parameters
    ----------
    rows, offsets : ndarray
        The offsets of the rows of both sides.
    sides : tuple of (ndarray, ndarray)
        Both operands and the result, each with its offsets.
    shapes : callable
        Returns their shapes for a number of sequences and their numbers of rows on both sides.
    product : callable
    """
    left, right = _lengths(rows), _lengths(offsets)
    order = np.lexsort((right, left))
    apart = (left[order[1:]] != left[order[:-1]]) | (right[order[1:]] != right[order[:-1]])
    saved = len(apart) - np.count_nonzero(apart)  # calls, if sequences of equal shapes are regrouped
    moved = saved * CALL > sum([values.nbytes for values, _ in sides]) and bool((order[1:] < order[:-1]).any())
    given = list(sides)
    if moved:
        given = [(_in_order(values, starts, order), _ends(starts, order)) for values, starts in sides[:2]]
        given.append((np.empty_like(sides[2][0]), _ends(sides[2][1], order)))
        left, right = left[order], right[order]
    else:
        apart = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
    firsts = np.concatenate([[0], np.flatnonzero(apart) + 1]) if len(order) else np.empty(0, np.int64)
    bounds = np.append(firsts, len(order))
    forms = map(shapes, _lengths(bounds).tolist(), left[firsts].tolist(), right[firsts].tolist())
    (a, b, out), places = [values for values, _ in given], [starts[bounds].tolist() for _, starts in given]
    with named_caller():
        for (one, other, made), *parts in zip(forms, *map(itertools.pairwise, places), strict=True):
            (i, j), (k, m), (s, e) = parts
            product(a[i:j].reshape(one), b[k:m].reshape(other), out[s:e].reshape(made))
    if moved:
        _put_in_order(out, given[2][1], np.argsort(order), sides[2][0])


def _in_order(values: Array, starts: Array, order: Array) -> Array:
    """Return the rows of sequences in another order."""
    moved = np.empty_like(values)
    _put_in_order(values, starts, order, moved)
    return moved


def _put_in_order(values: Array, starts: Array, order: Array, out: Array) -> None:
    ranges = np.stack([starts[:-1][order], starts[1:][order]], axis=1)
    kernels.gather.copy_ranges(buffers.as_bytes(values), ranges, buffers.as_bytes(out))


def _ends(starts: Array, order: Array) -> Array:
    """Compute the offsets of sequences in another order."""
    moved: Array = buffers.new_offsets(len(starts))
    unharmed(kernels.lod.offsets_from_lengths(_lengths(starts)[order], moved))
    return moved


# -- rules -------------------------------------------------------------------------------------------------------------


@sequence_matmul.define_infer
def _(x: Spec, y: Spec, transpose_y: bool, level: int) -> Spec:
    _checked((x.num_levels, x.shape), (y.num_levels, y.shape), transpose_y, level)
    dtype = _dtype(x.dtype, y.dtype)
    return Spec((None,), dtype, x.num_levels + 1) if transpose_y else Spec((None, y.shape[1]), dtype, x.num_levels - 1)


@sequence_matmul.define_vjp
def _(
    d: Array, x: LoDTensor, y: LoDTensor, transpose_y: bool, level: int, needs: Any, context: Any
) -> tuple[Array | None, Array | None]:
    k = level_of(WHERE, y.lod, level)
    rows = (x.lod if transpose_y else lod_body.slice_levels(x.lod, 0, x.lod.num_levels - 1)).row_offsets(k)
    offsets = y.lod.row_offsets(k)
    d = np.ascontiguousarray(d)
    d_x = context.new("x") if needs.x else None
    d_y = context.new("y") if needs.y else None
    if d_x is not None:
        if transpose_y:
            weighted(d, rows, y.values, offsets, d_x)
        else:
            by_transposed(d, rows, y.values, offsets, d_x)
    if d_y is not None:
        weighted_back(d if transpose_y else x.values, rows, x.values if transpose_y else d, offsets, d_y)
    return d_x, d_y
