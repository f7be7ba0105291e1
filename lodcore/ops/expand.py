"""Operators that repeat rows and sequences, and that reverse them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import buffers, kernels, tensor_core
from lodcore.errors import LoDError
from lodcore.lod import LoD
from lodcore.ops.common import Array, check_equal
from lodcore.ops.moving import (
    add_back,
    as_rows_or_nested,
    level_of,
    lod_of,
    row_ranges,
    spec_level,
    spec_rows,
    sum_copies,
)
from lodcore.registry import Nested, Op, Rows, Spec, op
from lodcore.tensor import LoDTensor, as_nested
from lodcore.threads import over_sequences

__all__ = ["per_sequence", "sequence_expand", "sequence_expand_as", "sequence_reverse"]


# -- repeating ---------------------------------------------------------------------------------------------------------


@op(lod="own")
def sequence_expand(x: Rows, y: Nested, ref_level: int = -1, out: Array | None = None) -> Any:
    """Repeat the outermost sequences of x as often as sequences of y are long.

    Parameters
    ----------
    x : LoDTensor, nested lists, ndarray or flat list
        Its outermost sequences are repeated; without a level its rows.
    y : LoDTensor, nested lists or LoD
        As many sequences of `ref_level` as x has; only its structure counts.
    ref_level : int
        Lengths are those of this level of y, in elements of the level.
    out : ndarray, optional
        shape (number of rows, ...): where to write the rows.

    Returns
    -------
    LoDTensor, or ndarray if x has no level
        With the levels of x: one outermost sequence a copy. Copies stand beside each other; length 0 leaves it out.

    Raises
    ------
    LoDError
        If there are not as many sequences of y.
    LevelError
        If y has no such level.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_expand([[1, 2], [3], []], [["a", "b"], [], ["c"]])
    LoDTensor(3 sequences of lengths 0..2, int64: [[1, 2], [1, 2], []])
    >>> lodcore.sequence_expand([1, 2, 3], lodcore.LoD.from_lengths([2, 0, 1]))
    array([1, 1, 3])
    """
    where = "sequence_expand"
    x = as_rows_or_nested("sequence_expand: x", x)
    lod, k = _reference(where, y, ref_level)
    count = lod.num_sequences(k)
    if len(x) != count:
        things = "sequences" if isinstance(x, LoDTensor) else "rows"
        raise LoDError(f"{where}: x: has {len(x)} {things}; level {k} of y has {count} sequences")
    if isinstance(x, LoDTensor):
        return x._gather(where, 0, _numbers(lod, k), out)
    offsets = lod._view(k)
    rows = buffers.new_rows(where, x, offsets[count], out)
    over_sequences(kernels.expand.repeat_rows, "sor", buffers.as_bytes(x), offsets, buffers.as_bytes(rows))
    return rows


def _reference(where: str, y: Any, ref_level: int) -> tuple[LoD, int]:
    """Take the structure that tells how often, and its level."""
    lod = lod_of(f"{where}: y", y)
    return lod, level_of(where, lod, ref_level, "ref_level")


def _numbers(lod: LoD, k: int) -> Array:
    """Give for each element of level k the number of its sequence."""
    offsets = lod._view(k)
    numbers: Array = buffers.new_int64(offsets[len(offsets) - 1])
    kernels.offsets.segment_ids(offsets, numbers)
    return numbers


@sequence_expand.infer
def _(x: Spec, y: Spec | LoD, ref_level: int) -> Spec:
    spec_level("sequence_expand", y.num_levels, ref_level)
    return x._replace(shape=spec_rows(x))


@sequence_expand.backward
def _(saved: Any, d: Array) -> tuple[Array, None]:
    lod, k = _reference("sequence_expand", saved.y, saved.ref_level)
    x = saved.x
    if isinstance(x, LoDTensor) and x.lod.num_levels:
        return add_back(d, row_ranges(x.lod, 0, _numbers(lod, k)), saved.new("x")), None
    return sum_copies(d, lod.offsets(k), saved.new("x")), None


@op(lod="own")
def sequence_expand_as(x: Rows, y: Nested, level: int = -1, out: Array | None = None) -> LoDTensor:
    """Repeat row i of x for every row of sequence i of y.

    Parameters
    ----------
    x : ndarray, flat list, LoDTensor or nested lists
        One row for each sequence of `level` of y. If it has levels, they are those of y before `level`.
    y : LoDTensor, nested lists or LoD
        Only its structure counts.
    level : int
    out : ndarray, optional
        shape (number of rows of y, ...): where to write.

    Returns
    -------
    LoDTensor
        With the LoD of y.

    Raises
    ------
    LoDError
        If x has not one row a sequence, or other levels.
    LevelError
        If y has no such level.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_expand_as([1, 2, 3], lodcore.array([["a", "b"], [], ["c"]]))
    LoDTensor(3 sequences of lengths 0..2, int64: [[1, 1], [], [3]])
    """
    where = "sequence_expand_as"
    lod = lod_of("sequence_expand_as: y", y)
    k = level_of(where, lod, level)
    x = as_rows_or_nested("sequence_expand_as: x", x)
    if isinstance(x, LoDTensor):
        check_equal(where, lod._part(0, k), x.lod, "x", f"y before level {k}")
        x = x.values
    count = lod.num_sequences(k)
    if len(x) != count:
        raise LoDError(f"{where}: x: has {len(x)} rows; level {k} of y has {count} sequences")
    rows = buffers.new_rows(where, x, lod.num_rows, out)
    over_sequences(kernels.expand.repeat_rows, "sor", buffers.as_bytes(x), _in_rows(lod, k), buffers.as_bytes(rows))
    expanded: LoDTensor = tensor_core.new_tensor(rows, lod)
    return expanded


def _in_rows(lod: LoD, k: int) -> Any:
    """Give the offsets of level k in rows, for a kernel."""
    return lod._view(k) if k + 1 == lod.num_levels else lod.row_offsets(k)


@sequence_expand_as.infer
def _(x: Spec, y: Spec, level: int) -> Spec:
    spec_level("sequence_expand_as", y.num_levels, level)
    return Spec(spec_rows(x), x.dtype, y.num_levels, LoDTensor)


@sequence_expand_as.backward
def _(saved: Any, d: Array) -> tuple[Array, None]:
    lod = saved.out.lod
    return sum_copies(d, lod.row_offsets(saved.level), saved.new("x")), None


def per_sequence(x: Any, v: Any, level: int = -1) -> Any:
    """Give every row of x what v has for its sequence: `sequence_expand_as(v, x, level)`.

    Parameters
    ----------
    x : LoDTensor, nested lists or LoD
    v : array_like or LoDTensor
        One row for each sequence of `level` of x.
    level : int

    Returns
    -------
    LoDTensor
        With the LoD of x.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 2.0], [], [3.0]])
    >>> lodcore.ops.per_sequence(x, [10, 20, 30])
    LoDTensor(3 sequences of lengths 0..2, int64: [[10, 10], [], [30]])
    """
    return sequence_expand_as(v, x, level)


# -- reversing ---------------------------------------------------------------------------------------------------------


@op(lod="own")
def sequence_reverse(x: Nested, level: int = -1, out: Array | None = None) -> LoDTensor:
    """Reverse the order of the elements of each sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
    level : int
        Of the sequences whose elements change places; what is inside an element stays as it is.
    out : ndarray, optional
        shape (number of rows, ...): where to write the rows.

    Returns
    -------
    LoDTensor
        At the last level with the LoD of x itself.

    Raises
    ------
    LevelError
        If there is no such level.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_reverse([[1, 2, 3], [], [4, 5]])
    LoDTensor(3 sequences of lengths 0..3, int64: [[3, 2, 1], [], [5, 4]])
    >>> lodcore.sequence_reverse([[[1, 2], [3]], [[4]]], level=0).tolist()
    [[[3], [1, 2]], [[4]]]
    """
    where = "sequence_reverse"
    if type(x) is not LoDTensor:
        x = as_nested(f"{where}: x", x)
    lod = x.lod
    k = level_of(where, lod, level)
    if k + 1 < lod.num_levels:
        numbers = np.arange(lod.num_sequences(k + 1))
        index = np.empty_like(numbers)
        kernels.expand.reverse_rows(buffers.as_bytes(numbers), lod._view(k), buffers.as_bytes(index))
        moved: LoDTensor = x._gather(where, k + 1, index, out, [lod.offsets(j) for j in range(k + 1)])
        return moved
    rows = buffers.new_rows(where, x.values, lod.num_rows, out)
    over_sequences(kernels.expand.reverse_rows, "ror", x._rows(), lod._view(k), buffers.as_bytes(rows))
    reversed_rows: LoDTensor = tensor_core.new_tensor(rows, lod)
    return reversed_rows


@sequence_reverse.infer
def _(x: Spec, level: int) -> Spec:
    spec_level("sequence_reverse", x.num_levels, level)
    return x._replace(shape=spec_rows(x))


@sequence_reverse.backward
def _(saved: Any, d: Array) -> tuple[Array]:
    turned = tensor_core.new_tensor(d, saved.out.lod)
    return (plain(sequence_reverse)(turned, saved.level, saved.new("x")).values,)


def plain(operator: Op) -> Any:
    """Give the function of an operator, which never records."""
    return operator.__wrapped__  # type: ignore[attr-defined]
