"""Sequences cut into chunks, with or without overlap, or to a length."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import unharmed
from lodcore.ops.arguments import choice_of, integer_of, level_of
from lodcore.ops.common import Array
from lodcore.ops.index import slice_along
from lodcore.ops.lod_rules import computed
from lodcore.ops.moving import add_back, nested_operand, spec_rows
from lodcore.ops.registry import operator
from lodcore.ops.roles import Nested
from lodcore.tensors import core, tensor_core
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["sequence_chunk", "sequence_truncate"]

LAST = ("short", "full", "drop")


def chunk_starts(lengths: Array, size: int, stride: int, last: str) -> tuple[Array, Array, Array]:
    """Find where chunks begin.

    Parameters
    ----------
    lengths : int64, shape (n,)
    size, stride : int
        1 <= stride <= size.
    last : {"short", "full", "drop"}
        As of `sequence_chunk`.

    Returns
    -------
    offsets : int64, shape (n + 1,)
        Of the chunks of each sequence.
    sequences, starts : int64, shape (number of chunks,)
        The sequence of each chunk, and its place in it.
    """
    over = lengths - size
    if last == "drop":
        counts = np.where(over >= 0, over // stride + 1, 0)
    else:
        counts = np.where(lengths > 0, -(-np.maximum(over, 0) // stride) + 1, 0)
    offsets: Array = buffers.new_offsets(len(counts) + 1)
    unharmed(kernels.lod.offsets_from_lengths(counts, offsets))
    total = offsets.item(len(counts))
    sequences, starts = buffers.new_int64(total), buffers.new_int64(total)
    kernels.lod.segment_ids(offsets, sequences)
    kernels.lod.positions(offsets, starts)
    starts *= stride
    if last == "full":
        starts = np.minimum(starts, np.maximum(over, 0)[sequences])
    return offsets, sequences, starts


def _chunked_levels(x: Any, level: Any) -> list[Any]:
    """Describe where the levels of the result come from."""
    k = level_of("sequence_chunk", x, level)
    return [*[(x, j) for j in range(k)], None, None, *[None] * (x.num_levels - k - 1)]


CHUNKED = computed("that of `x` before `level`; chunks, and what is in them, are computed", _chunked_levels)


@operator(x=Nested, lod_rule=CHUNKED)
def sequence_chunk(x: Any, size: int, stride: int | None = None, last: str = "short", level: int = -1) -> Any:
    """Cut each sequence into chunks of a size: one more level.

    Parameters
    ----------
    x : LoDTensor or nested lists
    size : int
        Elements of a chunk, 1 or more.
    stride : int, optional
        From the start of a chunk to that of the next, 1 .. size; below size they overlap. The size, if not given.
    last : {"short", "full", "drop"}
        What the last chunk of a sequence does that would reach over its end: it ends there and is shorter; or it
        begins earlier, and is full as far as the sequence has as many elements; or it is left out.
    level : int
        Of the sequences that are cut; what is inside their elements moves whole.

    Returns
    -------
    LoDTensor
        Of one level more. An empty sequence has no chunks. Without overlap, and nothing left out, it shares the values.

    Raises
    ------
    ValueError, DTypeError, LevelError
        If size, stride or last are out of range, or there is no such level.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1, 2, 3, 4, 5], [], [6, 7]])
    >>> lodcore.sequence_chunk(x, 2).tolist()
    [[[1, 2], [3, 4], [5]], [], [[6, 7]]]
    >>> lodcore.sequence_chunk(x, 3, stride=2).tolist()
    [[[1, 2, 3], [3, 4, 5]], [], [[6, 7]]]
    """
    return _chunked(x, size, stride, last, level)[0]


@sequence_chunk.define_residuals("places")
def _chunked(
    x: Any, size: int, stride: int | None = None, last: str = "short", level: int = -1
) -> tuple[LoDTensor, Array]:
    where = "sequence_chunk"
    lod = x.lod
    k = level_of(where, lod, level)
    size, step = _sizes(size, stride, last)
    lengths = lod.lengths(k)
    offsets, sequences, starts = chunk_starts(lengths, size, step, last)
    begins = lod.offsets(k)[sequences] + starts
    upper = [*(lod.offsets(j) for j in range(k)), offsets]
    if step == size and last == "short":
        total = lod.offsets(k)[-1:]
        finer = [lod.offsets(j) for j in range(k + 1, lod.num_levels)]
        levels = [*upper, np.concatenate([begins, total]), *finer]
        chunked: LoDTensor = tensor_core.new_tensor(x.values, core.make_lod(levels, lod.num_rows))
        return chunked, np.array([[0, lod.num_rows]])
    ranges = buffers.new_int64(len(begins), 2)
    ranges[:, 0] = begins
    np.minimum(begins + size, lod.offsets(k)[1:][sequences], out=ranges[:, 1])
    cut = buffers.new_offsets(len(begins) + 1)
    unharmed(kernels.gather.count_ranges(ranges, cut))
    return tensor_core.take_ranges(x, where, k + 1, ranges, cut.item(len(begins)), None, [*upper, cut]), ranges


def _sizes(size: Any, stride: Any, last: Any) -> tuple[int, int]:
    """Take the size of a chunk, and the step from one to the next."""
    where = "sequence_chunk"
    choice_of(f"{where}: last", last, LAST)
    width = integer_of(f"{where}: size", size, 1, 2**62)
    step = width if stride is None else integer_of(f"{where}: stride", stride, 1)
    if step > width:
        raise ValueError(f"{where}: stride: is {step}; at most the size {width}, or elements are left out")
    return width, step


@sequence_chunk.define_infer
def _(x: Spec, size: int, stride: int | None, last: str, level: int) -> Spec:
    level_of("sequence_chunk", x, level)
    _sizes(size, stride, last)
    return Spec(spec_rows(x), x.dtype)


@sequence_chunk.define_vjp
def _(d: Array, places: Array, context: Any) -> Array:
    return add_back(d, places, context.new("x"))


def sequence_truncate(x: Any, size: int, side: str = "right", level: int = -1) -> Any:
    """Cut sequences to a length.

    Parameters
    ----------
    x : LoDTensor or nested lists
    size : int
        How many elements a sequence keeps at most, 0 or more.
    side : {"right", "left"}
        Where elements are cut off: "right" keeps the first ones, "left" the last ones.
    level : int

    Returns
    -------
    LoDTensor
        Of as many levels.

    Raises
    ------
    ValueError, DTypeError, LevelError
        If size or side are out of range, or there is no such level.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1, 2, 3], [], [4, 5]])
    >>> lodcore.sequence_truncate(x, 2).tolist(), lodcore.sequence_truncate(x, 1, side="left").tolist()
    ([[1, 2], [], [4, 5]], [[3], [], [5]])
    """
    where = "sequence_truncate"
    x = nested_operand(f"{where}: x", x)
    count = integer_of(f"{where}: size", size, 0)
    axis = level_of(where, x.num_levels, level) + 1
    if choice_of(f"{where}: side", side, ("right", "left")) == "right":
        return slice_along(x, 0, count, None, axis)
    return slice_along(x, -count if count else 2**62, None, None, axis)
