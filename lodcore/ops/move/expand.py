"""Operators that repeat rows and sequences, and that reverse them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.naming import named, with_arguments
from lodcore.base.threads import over_sequences
from lodcore.errors import LoDError
from lodcore.operators.arguments import level_of, structure_of
from lodcore.operators.copies import (
    add_back,
    as_rows_or_nested,
    lod_of,
    row_ranges,
    sequence_numbers,
    spec_rows,
    sum_copies,
)
from lodcore.operators.lod_rules import outer, same_as
from lodcore.operators.operands import Array, check_equal
from lodcore.operators.registry import operator
from lodcore.operators.roles import Nested, Rows, Structure
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["per_sequence", "sequence_expand", "sequence_expand_as", "sequence_reverse"]


# -- repeating ---------------------------------------------------------------------------------------------------------


@operator(x=Rows, y=Structure, lod_rule="as many levels as `x`, whose outermost sequences repeat")
def sequence_expand(x: Any, y: Any, ref_level: int = -1, out: Array | None = None) -> Any:
    """Repeat each outermost sequence of x as often as the corresponding sequence of y has elements.

    Parameters
    ----------
    x : LoDTensor, nested lists, ndarray or flat list
        Its outermost sequences are repeated, or its rows if it has no level.
    y : LoDTensor, nested lists or LoD
        Must have as many sequences of `ref_level` as x has; only its structure is used.
    ref_level : int
        The level of y whose lengths are used.
    out : ndarray, optional
        shape (number of rows, ...): the array to write the rows to.

    Returns
    -------
    LoDTensor, or ndarray if x has no level
        Has the levels of x, with one outermost sequence per copy. Copies are consecutive; a sequence is left out if
        that of y is empty.

    Raises
    ------
    LoDError
        If y does not have as many sequences.
    LevelError
        If y does not have the level.

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
        return lod_tensor_body.gather(x, where, 0, sequence_numbers(lod_body.offsets_view(lod, k)), out)
    offsets = lod_body.offsets_view(lod, k)
    rows = buffers.new_rows(where, x, offsets[count], out)
    over_sequences(kernels.expand.repeat_rows, "sor", buffers.as_bytes(x), offsets, buffers.as_bytes(rows))
    return rows if out is None else out


def _reference(where: str, y: Any, ref_level: int) -> tuple[LoD, int]:
    """Return the checked structure whose lengths are the numbers of repetitions, and its level."""
    lod = lod_of(f"{where}: y", y)
    return lod, level_of(where, lod, ref_level, "ref_level")


@sequence_expand.define_infer
def _(x: Spec, y: Spec | LoD, ref_level: int) -> Spec:
    level_of("sequence_expand", structure_of("sequence_expand: y", y), ref_level, "ref_level")
    return Spec(spec_rows(x), x.dtype, x.num_levels)


@sequence_expand.define_vjp
def _(d: Array, x: Any, y: Any, ref_level: int, context: Any) -> tuple[Array, None]:
    lod, k = _reference("sequence_expand", y, ref_level)
    if isinstance(x, LoDTensor) and x.lod.num_levels:
        return add_back(
            d, row_ranges(x.lod, 0, sequence_numbers(lod_body.offsets_view(lod, k))), context.new("x")
        ), None
    return sum_copies(d, lod.offsets(k), context.new("x")), None


@operator(x=Rows, y=Structure, lod_rule=same_as("y"))
def sequence_expand_as(x: Any, y: Any, level: int = -1, out: Array | None = None) -> LoDTensor:
    """Repeat row i of x for every row of sequence i of y.

    Parameters
    ----------
    x : ndarray, flat list, LoDTensor or nested lists
        One row per sequence of `level` of y. If it has levels, they must be those of y before `level`.
    y : LoDTensor, nested lists or LoD
        Only its structure is used.
    level : int
    out : ndarray, optional
        shape (number of rows of y, ...): the array to write to.

    Returns
    -------
    LoDTensor
        Has the LoD of y.

    Raises
    ------
    LoDError
        If x does not have one row per sequence, or has other levels.
    LevelError
        If y does not have the level.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_expand_as([1, 2, 3], lodcore.array([["a", "b"], [], ["c"]]))
    LoDTensor(3 sequences of lengths 0..2, int64: [[1, 1], [], [3]])
    """
    where = "sequence_expand_as"
    lod = lod_of("sequence_expand_as: y", y)
    k = lod_body.normalize_level(lod, level, where)
    x = as_rows_or_nested("sequence_expand_as: x", x)
    if type(x) is LoDTensor:
        check_equal(where, lod_body.slice_levels(lod, 0, k), x.lod, "x", f"y before level {k}")
        x = x.values
    count = lod.num_sequences(k)
    if len(x) != count:
        raise LoDError(f"{where}: x: has {len(x)} rows; level {k} of y has {count} sequences")
    rows = buffers.new_rows(where, x, lod.num_rows, out)
    over_sequences(
        kernels.expand.repeat_rows, "sor", buffers.as_bytes(x), lod_body.in_rows(lod, k), buffers.as_bytes(rows)
    )
    return lod_tensor_body.owned_tensor(rows, lod)


@sequence_expand_as.define_infer
def _(x: Spec, y: Spec | LoD, level: int) -> Spec:
    level_of("sequence_expand_as", structure_of("sequence_expand_as: y", y), level)
    return Spec(spec_rows(x), x.dtype)


@sequence_expand_as.define_vjp
def _(d: Array, out: LoDTensor, level: int, context: Any) -> tuple[Array, None]:
    return sum_copies(d, out.lod.row_offsets(level), context.new("x")), None


@named
def per_sequence(x: Any, v: Any, level: int = -1) -> Any:
    """Repeat the entry of v for each sequence of x for all rows of that sequence: `sequence_expand_as(v, x, level)`.

    Parameters
    ----------
    x : LoDTensor, nested lists or LoD
    v : array_like or LoDTensor
        One row per sequence of `level` of x.
    level : int

    Returns
    -------
    LoDTensor
        Has the LoD of x.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 2.0], [], [3.0]])
    >>> lodcore.ops.per_sequence(x, [10, 20, 30])
    LoDTensor(3 sequences of lengths 0..2, int64: [[10, 10], [], [30]])
    """
    return with_arguments({"x": "v", "y": "x"}, sequence_expand_as, v, x, level)


# -- reversing ---------------------------------------------------------------------------------------------------------


@operator(x=Nested, lod_rule=outer("level"))
def sequence_reverse(x: Any, level: int = -1, out: Array | None = None) -> LoDTensor:
    """Reverse the order of the elements of each sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
    level : int
        The level of the sequences whose elements are reversed; the contents of an element keep their order.
    out : ndarray, optional
        shape (number of rows, ...): the array to write the rows to.

    Returns
    -------
    LoDTensor
        If reversed at the last level, it has the LoD of x itself.

    Raises
    ------
    LevelError
        If the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_reverse([[1, 2, 3], [], [4, 5]])
    LoDTensor(3 sequences of lengths 0..3, int64: [[3, 2, 1], [], [5, 4]])
    >>> lodcore.sequence_reverse([[[1, 2], [3]], [[4]]], level=0).tolist()
    [[[3], [1, 2]], [[4]]]
    """
    where, lod = "sequence_reverse", x.lod
    k = lod_body.normalize_level(lod, level, where)
    if k + 1 < lod.num_levels:
        numbers = np.arange(lod.num_sequences(k + 1))
        index = np.empty_like(numbers)
        kernels.expand.reverse_rows(buffers.as_bytes(numbers), lod_body.offsets_view(lod, k), buffers.as_bytes(index))
        moved: LoDTensor = lod_tensor_body.gather(x, where, k + 1, index, out, [lod.offsets(j) for j in range(k + 1)])
        return moved
    rows = buffers.new_rows(where, x.values, lod.num_rows, out)
    over_sequences(
        kernels.expand.reverse_rows,
        "ror",
        lod_tensor_body.rows_as_bytes(x),
        lod_body.offsets_view(lod, k),
        buffers.as_bytes(rows),
    )
    return lod_tensor_body.owned_tensor(rows, lod)


@sequence_reverse.define_infer
def _(x: Spec, level: int) -> Spec:
    level_of("sequence_reverse", x, level)
    return Spec(spec_rows(x), x.dtype)


@sequence_reverse.define_vjp
def _(d: Array, out: LoDTensor, level: int, context: Any) -> Array:
    compute: Any = sequence_reverse.__wrapped__  # type: ignore[attr-defined]  # which never records
    d_x: Array = compute(lod_tensor_body.new_tensor(d, out.lod), level, context.new("x")).values
    return d_x
