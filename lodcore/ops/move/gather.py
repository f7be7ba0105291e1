"""Operators that select, slice and join whole sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import check_apart
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.operators.arguments import level_of, list_of
from lodcore.operators.copies import (
    add_back,
    put_together,
    row_ranges,
    spec_rows,
)
from lodcore.operators.lod_rules import computed, outer
from lodcore.operators.operands import Array
from lodcore.operators.registry import operator
from lodcore.operators.roles import Batches, Index, Nested, as_batches
from lodcore.tensors import core, tensor_core
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.joining import check_coarser, concat_lods
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import join_rows, new_joined
from lodcore.tensors.tensor import Spec

__all__ = ["concat_batches", "gather_sequences", "sequence_concat", "sequence_slice"]


def _kept(x: Any, level: int) -> int:
    levels: int = x.num_levels
    return levels - level_of("gather_sequences", levels, level)


@operator(x=Nested, index=Index, lod_rule=computed("what is taken, without the levels of `x` before `level`", _kept))
def gather_sequences(x: Any, index: Any, level: int = 0, out: Array | None = None) -> LoDTensor:
    """Select sequences, with their contents, by their numbers.

    Parameters
    ----------
    x : LoDTensor or nested lists
        `lookup_table` takes the rows of an array.
    index : array_like of integers, shape (n,)
        Numbers of sequences of `level`, counted over the whole batch. They may repeat; negative ones count from the
        end.
    level : int
    out : ndarray, optional
        shape (number of rows, ...): the array to write the rows to.

    Returns
    -------
    LoDTensor
        n sequences, without the levels before `level`.

    Raises
    ------
    IndexError
        If an index is out of range; the message names it and its position.
    DTypeError, ShapeError, LevelError
        If the index is not a vector of integers, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.gather_sequences([[1, 2], [], [3]], [2, 0, 0])
    LoDTensor(3 sequences of lengths 1..2, int64: [[3], [1, 2], [1, 2]])
    """
    if out is not None:
        check_apart("gather_sequences", out, index)
    return tensor_core.gather(x, "gather_sequences", level, index, out)


@gather_sequences.define_residuals("places")
def _(x: Any, index: Any, level: int = 0) -> tuple[LoDTensor, Array]:
    places = buffers.as_int64(index, "gather_sequences: index", IndexError).copy()
    return tensor_core.gather(x, "gather_sequences", level, places), places


@gather_sequences.define_infer
def _(x: Spec, index: Any, level: int) -> Spec:
    return Spec(spec_rows(x), x.dtype)


@gather_sequences.define_vjp
def _(d: Array, x: LoDTensor, level: int, places: Array, context: Any) -> tuple[Array, None]:
    return add_back(d, row_ranges(x.lod, core.normalize_level(x.lod, level), places), context.new("x")), None


@operator(xs=Batches, lod_rule=computed("the sequences of all batches", lambda xs: xs[0].num_levels))
def concat_batches(xs: Any, out: Array | None = None) -> LoDTensor:
    """Concatenate batches.

    Parameters
    ----------
    xs : list of LoDTensor or nested lists
        At least one; all must have equally many levels, equal dtype and equal row shape. Lists without values take
        these from the first of the others.
    out : ndarray, optional
        shape (number of rows, ...): the array to write the rows to.

    Returns
    -------
    LoDTensor

    Raises
    ------
    LoDError, DTypeError, ShapeError
        If a batch does not fit; the message names it.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.concat_batches([lodcore.array([[1], []]), lodcore.array([[2, 3]])])
    LoDTensor(3 sequences of lengths 0..2, int64: [[1], [], [2, 3]])
    """
    where = "concat_batches"
    batches = _batches(where, xs)
    lod = concat_lods(where, [x.lod for x in batches])
    values = _checked_values(where, batches)
    rows = join_rows(where, values, lod.num_rows, out)
    return tensor_core.owned_tensor(rows, lod)


@concat_batches.define_infer
def _(xs: list[Spec]) -> Spec:
    _check_specs("concat_batches", xs)
    return xs[0]._replace(shape=spec_rows(xs[0]))


@concat_batches.define_vjp
def _(d: Array, xs: list[LoDTensor]) -> list[Array]:
    return np.split(d, np.cumsum([x.lod.num_rows for x in xs])[:-1])


def _batches(where: str, xs: Any) -> list[LoDTensor]:
    """Return a list of batches, converted from lists."""
    if not list_of(f"{where}: xs", xs):
        raise LoDError(f"{where}: xs: is empty; at least one batch is needed")
    given: list[Any] = list(xs)  # copied once, since it may change meanwhile
    for x in given:
        if type(x) is not LoDTensor:
            break
    else:
        return given
    made = as_batches(f"{where}: xs", given)
    return [as_nested(f"{where}: xs[{j}]", x) for j, x in enumerate(made)]


def _checked_values(where: str, batches: list[LoDTensor]) -> list[Array]:
    """Return the values of batches, whose dtypes and row shapes must be equal."""
    values = [x.values for x in batches]
    bad = kernels.gather.count_rows(values, buffers.new_int64(len(values) + 1))
    if bad >= 0:
        raise _unlike(where, bad, values[bad], values[0])
    return values


def _unlike(where: str, j: int, odd: Any, first: Any) -> DTypeError | ShapeError:
    """Return the error for a batch whose dtype or row shape differs from that of the first."""
    if odd.dtype != first.dtype:
        return DTypeError(f"{where}: xs[{j}]: has dtype {odd.dtype}; xs[0] has {first.dtype}")
    return ShapeError(f"{where}: xs[{j}]: has rows of shape {odd.shape[1:]}; xs[0] has {first.shape[1:]}")


def _check_specs(where: str, xs: list[Spec]) -> None:
    """Raise if Specs show that batches with equally many levels have different dtypes or row shapes."""
    if any(x.kind is object or x.num_levels != xs[0].num_levels or None in x.shape[1:] for x in xs):
        return
    for j, x in enumerate(xs):
        if (x.dtype, x.shape[1:]) != (xs[0].dtype, xs[0].shape[1:]):
            raise _unlike(where, j, x, xs[0])


@operator(xs=Batches, lod_rule=outer("level", "xs"))
def sequence_concat(xs: Any, level: int = -1, out: Array | None = None) -> LoDTensor:
    """Join the sequences number s of all batches to one sequence number s.

    Parameters
    ----------
    xs : list of LoDTensor or nested lists
        At least one; all must have equally many levels, equal levels before `level`, equally many sequences at `level`,
        equal dtype and equal row shape. Lists without values take these from the first of the others.
    level : int
        The level of the sequences that are joined; their elements are kept whole.
    out : ndarray, optional
        shape (number of rows, ...): the array to write the rows to.

    Returns
    -------
    LoDTensor
        Has as many levels as each batch.

    Raises
    ------
    LoDError, DTypeError, ShapeError, LevelError
        If a batch does not fit; the message names it.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_concat([[[1, 2], []], [[3], [4, 5]]])
    LoDTensor(2 sequences of lengths 2..3, int64: [[1, 2, 3], [4, 5]])
    """
    where = "sequence_concat"
    batches: list[LoDTensor] = []
    alike = tensor_core.uniform_parts(xs) if type(xs) is list else None
    if alike is None:
        batches = _batches(where, xs)
    values, lods = alike or ([], [x.lod for x in batches])
    first = lods[0]
    k = core.normalize_level(first, level, where)
    total = check_coarser(where, lods, "xs[{}]".format, k)
    if batches:
        values = _checked_values(where, batches)
    rows = new_joined(where, values, total, out)
    count = first.num_sequences(k)
    levels = put_together(where, lods, k, count, values, rows, kernels.expand.join_sequences)
    if k:
        levels = [*(first.offsets(j) for j in range(k)), *levels]
    return tensor_core.owned_tensor(rows, core.make_lod(levels, total))


@sequence_concat.define_infer
def _(xs: list[Spec], level: int) -> Spec:
    _check_specs("sequence_concat", xs)
    return xs[0]._replace(shape=spec_rows(xs[0]))


@sequence_concat.define_vjp
def _(d: Array, xs: list[LoDTensor], level: int) -> list[Array]:
    found = [np.empty_like(x.values) for x in xs]
    levels = [x.lod.row_offsets(level) for x in xs]
    kernels.expand.split_sequences(buffers.as_bytes(d), levels, [buffers.as_bytes(one) for one in found])
    return found


@operator(x=Nested, offset=Index, length=Index, lod_rule=outer("level"))
def sequence_slice(x: Any, offset: Any, length: Any, level: int = -1, out: Array | None = None) -> LoDTensor:
    """Slice each sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
    offset, length : array_like of integers, shape (n,) or (n, 1), or a scalar for all
        Start and length of the slice of each of the n sequences of `level`, in elements of that level: 0 <= offset,
        0 <= length, offset + length <= the length of the sequence.
    level : int
    out : ndarray, optional
        shape (number of rows, ...): the array to write the rows to.

    Returns
    -------
    LoDTensor
        Has as many levels as x.

    Raises
    ------
    IndexError
        If a slice exceeds its sequence; the message names the first such sequence.
    ShapeError, DTypeError, LevelError
        If offset or length are not vectors of n integers, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_slice([[1, 2, 3], [4, 5]], [1, 0], [2, 1])
    LoDTensor(2 sequences of lengths 1..2, int64: [[2, 3], [4]])
    """
    return _slice(x, offset, length, level, out)[0]


def _slice(x: Any, offset: Any, length: Any, level: int, out: Array | None = None) -> tuple[LoDTensor, Array]:
    """Compute `sequence_slice`; return also the ranges of the rows that were taken."""
    where = "sequence_slice"
    lod = x.lod
    k = core.normalize_level(lod, level, where)
    offsets = core.offsets_view(lod, k)
    count = len(offsets) - 1
    starts = buffers.for_each(offset, "sequence_slice: offset", count)
    sizes = buffers.for_each(length, "sequence_slice: length", count)
    ranges = buffers.new_int64(count, 2)
    cut = buffers.new_offsets(count + 1)
    if out is not None:
        check_apart(where, out, offset, length)
    bad = kernels.gather.slice_ranges(offsets, starts, sizes, ranges, cut)
    if bad >= 0:
        raise IndexError(
            f"{where}: offset, length: are {starts[bad]}, {sizes[bad]} for sequence {bad}; "
            f"it has {offsets[bad + 1] - offsets[bad]} elements"
        )
    levels = [*(lod.offsets(j) for j in range(k)), cut] if k else [cut]
    return tensor_core.take_ranges(x, where, k + 1, ranges, cut.item(count), out, levels), ranges


@sequence_slice.define_residuals("ranges")
def _(x: Any, offset: Any, length: Any, level: int = -1) -> tuple[LoDTensor, Array]:
    return _slice(x, offset, length, level)


@sequence_slice.define_infer
def _(x: Spec, offset: Any, length: Any, level: int) -> Spec:
    return x._replace(shape=spec_rows(x))


@sequence_slice.define_vjp
def _(d: Array, ranges: Array, context: Any) -> tuple[Array, None, None]:
    return add_back(d, ranges, context.new("x")), None, None
