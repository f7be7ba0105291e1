"""Operators that take sequences whole: by their numbers, pieces of each, batches behind each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import buffers, core, kernels, tensor_core
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.memory import check_apart
from lodcore.nested import join_rows, new_joined
from lodcore.ops.common import Array
from lodcore.ops.moving import (
    add_back,
    level_of,
    put_together,
    row_ranges,
    spec_level,
    spec_rows,
)
from lodcore.registry import Batches, Index, Nested, Spec, as_batches, op
from lodcore.structure import check_coarser, concat_lods
from lodcore.tensor import LoDTensor, as_nested

__all__ = ["concat_batches", "gather_sequences", "sequence_concat", "sequence_slice"]


@op(lod="own")
def gather_sequences(x: Nested, index: Index, level: int = 0, out: Array | None = None) -> LoDTensor:
    """Take sequences by their numbers, with all that is inside.

    Parameters
    ----------
    x : LoDTensor or nested lists
    index : array_like of integers, shape (n,)
        Numbers of sequences of `level`, counted over the whole batch. They may repeat; negative ones count from the
        end.
    level : int
    out : ndarray, optional
        shape (number of rows, ...): where to write the rows.

    Returns
    -------
    LoDTensor
        n sequences, without the levels before `level`.

    Raises
    ------
    IndexError
        Naming the place and the index that is out of range.
    DTypeError, ShapeError, LevelError
        If the index is no vector of integers, or there is no such level.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.gather_sequences([[1, 2], [], [3]], [2, 0, 0])
    LoDTensor(3 sequences of lengths 1..2, int64: [[3], [1, 2], [1, 2]])
    """
    if type(x) is not LoDTensor:
        x = as_nested("gather_sequences: x", x)
    if out is not None:
        check_apart("gather_sequences", out, index)
    taken: LoDTensor = x._gather("gather_sequences", level, index, out)
    return taken


@gather_sequences.saving
def _(x: Any, index: Any, level: int = 0) -> tuple[LoDTensor, Array]:
    x = as_nested("gather_sequences: x", x)
    places = buffers.as_int64(index, "gather_sequences: index", IndexError).copy()
    return x._gather("gather_sequences", level, places), places


@gather_sequences.infer
def _(x: Spec, index: Any, level: int) -> Spec:
    k = spec_level("gather_sequences", x.num_levels, level)
    return Spec(spec_rows(x), x.dtype, x.num_levels - k, LoDTensor)


@gather_sequences.backward
def _(saved: Any, d: Array) -> tuple[Array, None]:
    lod = saved.x.lod
    return add_back(d, row_ranges(lod, lod._level(saved.level), saved.hidden), saved.new("x")), None


@op(lod="own")
def concat_batches(xs: Batches, out: Array | None = None) -> LoDTensor:
    """Put batches behind each other.

    Parameters
    ----------
    xs : list of LoDTensor or nested lists
        At least one, of as many levels, equal dtype and equal row shape. Lists without any value take these from the
        first of the others.
    out : ndarray, optional
        shape (number of rows, ...): where to write the rows.

    Returns
    -------
    LoDTensor

    Raises
    ------
    LoDError, DTypeError, ShapeError
        Naming the batch that does not fit.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.concat_batches([lodcore.array([[1], []]), lodcore.array([[2, 3]])])
    LoDTensor(3 sequences of lengths 0..2, int64: [[1], [], [2, 3]])
    """
    where = "concat_batches"
    batches = _batches(where, xs)
    lod = concat_lods(where, [x.lod for x in batches])
    values = _alike(where, batches)
    rows = join_rows(where, values, lod.num_rows, out)
    joined: LoDTensor = tensor_core.new_tensor(rows, lod)
    return joined


@concat_batches.infer
def _(xs: list[Spec]) -> Spec:
    return xs[0]._replace(shape=spec_rows(xs[0]))


@concat_batches.backward
def _(saved: Any, d: Array) -> tuple[list[Array]]:
    ends = np.cumsum([x.lod.num_rows for x in saved.xs])
    return (np.split(d, ends[:-1]),)


def _batches(where: str, xs: Any) -> list[LoDTensor]:
    """Take a list of batches."""
    if not isinstance(xs, (list, tuple)):
        raise DTypeError(f"{where}: xs: is {type(xs).__name__}; a list of batches is needed")
    if not xs:
        raise LoDError(f"{where}: xs: is empty; at least one batch is needed")
    for x in xs:
        if type(x) is not LoDTensor:
            break
    else:
        return list(xs)
    made = as_batches(f"{where}: xs", xs)
    return [as_nested(f"{where}: xs[{j}]", x) for j, x in enumerate(made)]


def _alike(where: str, batches: list[LoDTensor]) -> list[Array]:
    """Give the values of batches, whose dtypes and row shapes must be equal."""
    values = [x.values for x in batches]
    bad = kernels.gather.count_rows(values, buffers.new_int64(len(values) + 1))
    if bad >= 0:
        odd, first = values[bad], values[0]
        if odd.dtype != first.dtype:
            raise DTypeError(f"{where}: xs[{bad}]: has dtype {odd.dtype}; xs[0] has {first.dtype}")
        raise ShapeError(f"{where}: xs[{bad}]: has rows of shape {odd.shape[1:]}; xs[0] has {first.shape[1:]}")
    return values


@op(lod="own")
def sequence_concat(xs: Batches, level: int = -1, out: Array | None = None) -> LoDTensor:
    """Join the sequences s of all batches to one sequence s.

    Parameters
    ----------
    xs : list of LoDTensor or nested lists
        At least one, of as many levels, with equal levels before `level` and as many sequences there, of equal dtype
        and row shape. Lists without any value take these from the first of the others.
    level : int
        Which sequences are joined; what is inside moves whole.
    out : ndarray, optional
        shape (number of rows, ...): where to write the rows.

    Returns
    -------
    LoDTensor
        Of as many levels.

    Raises
    ------
    LoDError, DTypeError, ShapeError, LevelError
        Naming the batch that does not fit.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_concat([[[1, 2], []], [[3], [4, 5]]])
    LoDTensor(2 sequences of lengths 2..3, int64: [[1, 2, 3], [4, 5]])
    """
    where = "sequence_concat"
    batches: list[LoDTensor] = []
    alike = tensor_core.alike(xs) if type(xs) is list else None
    if alike is None:
        batches = _batches(where, xs)
    values, lods = alike or ([], [x.lod for x in batches])
    first = lods[0]
    k = level_of(where, first, level)
    total = check_coarser(where, lods, "xs[{}]".format, k)
    if batches:
        values = _alike(where, batches)
    rows = new_joined(where, values, total, out)
    count = first.num_sequences(k)
    levels = put_together(where, lods, k, count, values, rows, kernels.expand.join_sequences)
    if k:
        levels = [*(first.offsets(j) for j in range(k)), *levels]
    joined: LoDTensor = tensor_core.new_tensor(rows, core.make_lod(levels, total))
    return joined


@sequence_concat.infer
def _(xs: list[Spec], level: int) -> Spec:
    spec_level("sequence_concat", xs[0].num_levels, level)
    return xs[0]._replace(shape=spec_rows(xs[0]))


@sequence_concat.backward
def _(saved: Any, d: Array) -> tuple[list[Array]]:
    found = [np.empty_like(x.values) for x in saved.xs]
    levels = [x.lod.row_offsets(saved.level) for x in saved.xs]
    kernels.expand.split_sequences(buffers.as_bytes(d), levels, [buffers.as_bytes(one) for one in found])
    return (found,)


@op(lod="own")
def sequence_slice(x: Nested, offset: Index, length: Index, level: int = -1, out: Array | None = None) -> LoDTensor:
    """Cut a piece out of each sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
    offset, length : array_like of integers, shape (n,) or (n, 1), or a scalar for all
        For each of the n sequences of `level`, in elements of that level: 0 <= offset, 0 <= length,
        offset + length <= its length.
    level : int
    out : ndarray, optional
        shape (number of rows, ...): where to write the rows.

    Returns
    -------
    LoDTensor
        Of as many levels.

    Raises
    ------
    IndexError
        Naming the first sequence that its piece leaves.
    ShapeError, DTypeError, LevelError
        If offset or length are no vectors of n integers, or there is no such level.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_slice([[1, 2, 3], [4, 5]], [1, 0], [2, 1])
    LoDTensor(2 sequences of lengths 1..2, int64: [[2, 3], [4]])
    """
    return _slice(x, offset, length, level, out)[0]


def _slice(x: Any, offset: Any, length: Any, level: int, out: Array | None = None) -> tuple[LoDTensor, Array]:
    """Do the work of `sequence_slice`; give also from where the rows are."""
    where = "sequence_slice"
    if type(x) is not LoDTensor:
        x = as_nested(f"{where}: x", x)
    lod = x.lod
    k = level_of(where, lod, level)
    offsets = lod._view(k)
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
    return x._take(where, k + 1, ranges, cut.item(count), out, levels), ranges


@sequence_slice.saving
def _(x: Any, offset: Any, length: Any, level: int = -1) -> tuple[LoDTensor, Array]:
    return _slice(x, offset, length, level)


@sequence_slice.infer
def _(x: Spec, offset: Any, length: Any, level: int) -> Spec:
    spec_level("sequence_slice", x.num_levels, level)
    return x._replace(shape=spec_rows(x))


@sequence_slice.backward
def _(saved: Any, d: Array) -> tuple[Array, None, None]:
    return add_back(d, saved.hidden, saved.new("x")), None, None
