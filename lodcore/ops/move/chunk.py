"""Cutting sequences into chunks, with or without overlap, and truncating them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import unharmed
from lodcore.operators.arguments import choice_of, integer_of, level_of
from lodcore.operators.copies import add_back, nested_operand, spec_rows
from lodcore.operators.lod_rules import first_levels
from lodcore.operators.operands import Array
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Nested
from lodcore.ops.index.index import slice_along
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["sequence_chunk", "sequence_truncate"]

LAST = ("short", "full", "drop")
ALIGN = ("start", "middle", "end")


def chunk_ranges(
    lengths: Array, size: int, stride: int, last: str, align: str = "start"
) -> tuple[Array, Array, Array, Array]:
    """Compute where chunks begin and end.

    Parameters
    ----------
    lengths : int64, shape (n,)
    size, stride : int
        1 <= stride <= size.
    last : {"short", "full", "drop"}
    align : {"start", "middle", "end"}
        As in `sequence_chunk`.

    Returns
    -------
    offsets : int64, shape (n + 1,)
        The offsets of each sequence in chunks.
    sequences, starts, stops : int64, shape (number of chunks,)
        The sequence of each chunk, and the positions at which it begins and ends.
    """
    over = lengths - size
    before: Any = 0  # the number of elements before the first full chunk
    if align != "start":
        before = np.where(over > 0, over % stride, 0) // (2 if align == "middle" else 1)
    if last == "drop":
        counts = np.where(over >= 0, over // stride + 1, 0)
    else:
        counts = np.where(lengths > 0, -(-np.maximum(over - before, 0) // stride) + 1 + (before > 0), 0)
    offsets: Array = buffers.new_offsets(len(counts) + 1)
    unharmed(kernels.lod.offsets_from_lengths(counts, offsets))
    total = offsets.item(len(counts))
    sequences, starts = buffers.new_int64(total), buffers.new_int64(total)
    kernels.lod.segment_ids(offsets, sequences)
    kernels.lod.positions(offsets, starts)
    starts *= stride
    if align != "start":
        starts += (before if last == "drop" else np.where(before > 0, before - stride, 0))[sequences]
    if last == "full":
        starts = np.clip(starts, 0, np.maximum(over, 0)[sequences])
    stops = np.minimum(starts + size, lengths[sequences])
    return offsets, sequences, np.maximum(starts, 0, out=starts), stops


CHUNKED = "that of `x` before `level`; chunks, and what is in them, are computed"


@operator(x=Nested, lod_rule=CHUNKED)
def sequence_chunk(
    x: Any,
    size: int,
    stride: int | None = None,
    last: str = "short",
    level: int = -1,
    align: str = "start",
    *,
    saved: Saved = None,
) -> Any:
    """Cut each sequence into chunks of a given size, which makes one more level.

    Parameters
    ----------
    x : LoDTensor or nested lists
    size : int
        The number of elements per chunk, 1 or more.
    stride : int, optional
        The distance between the starts of consecutive chunks, 1 .. size; chunks overlap if it is below size, the
        default.
    last : {"short", "full", "drop"}
        How to treat a last chunk that would exceed its sequence: "short" shortens it, "full" moves its start back so
        that it is full if the sequence is long enough, "drop" leaves it out.
    level : int
        The level of the sequences that are cut; their elements are kept whole.
    align : {"start", "middle", "end"}
        Where the elements that do not fill a chunk are: "start" puts them after the full chunks, "end" before them,
        "middle" half of them (rounded down) before and the others after. `last` also applies to a chunk at the start of
        its sequence.

    Returns
    -------
    LoDTensor
        Has one more level. An empty sequence has no chunks. If chunks neither overlap nor leave anything out, it shares
        the values.

    Raises
    ------
    ValueError, DTypeError, LevelError
        If size, stride, last or align are out of range, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1, 2, 3, 4, 5], [], [6, 7]])
    >>> lodcore.sequence_chunk(x, 2).tolist()
    [[[1, 2], [3, 4], [5]], [], [[6, 7]]]
    >>> lodcore.sequence_chunk(x, 3, stride=2).tolist()
    [[[1, 2, 3], [3, 4, 5]], [], [[6, 7]]]
    >>> lodcore.sequence_chunk(x, 2, align="end").tolist()
    [[[1], [2, 3], [4, 5]], [], [[6, 7]]]
    """
    where = "sequence_chunk"
    lod = x.lod
    k = level_of(where, lod, level)
    size, step = _sizes(size, stride, last, align)
    offsets, sequences, starts, stops = chunk_ranges(lod.lengths(k), size, step, last, align)
    firsts = lod.offsets(k)[sequences]
    begins, ends, total = firsts + starts, firsts + stops, lod.offsets(k)[-1:]
    upper = [*(lod.offsets(j) for j in range(k)), offsets]
    cuts = np.concatenate([begins, total])
    if np.array_equal(cuts[1:], ends) and not cuts[0]:  # each chunk begins where the one before it ends
        finer = [lod.offsets(j) for j in range(k + 1, lod.num_levels)]
        levels = [*upper, cuts, *finer]
        chunked: LoDTensor = lod_tensor_body.new_tensor(x.values, lod_body.make_lod(levels, lod.num_rows))
        if saved is not None:
            saved["places"] = np.array([[0, lod.num_rows]])
        return chunked
    ranges = buffers.new_int64(len(begins), 2)
    ranges[:, 0], ranges[:, 1] = begins, ends
    cut = buffers.new_offsets(len(begins) + 1)
    unharmed(kernels.gather.count_ranges(ranges, cut))
    if saved is not None:
        saved["places"] = ranges
    return lod_tensor_body.take_ranges(x, where, k + 1, ranges, cut.item(len(begins)), None, [*upper, cut])


def _sizes(size: Any, stride: Any, last: Any, align: Any) -> tuple[int, int]:
    """Return the checked size of a chunk and the distance from one to the next."""
    where = "sequence_chunk"
    choice_of(f"{where}: last", last, LAST)
    choice_of(f"{where}: align", align, ALIGN)
    width = integer_of(f"{where}: size", size, 1, 2**62)
    step = width if stride is None else integer_of(f"{where}: stride", stride, 1)
    if step > width:
        raise ValueError(f"{where}: stride: is {step}; at most the size {width}, or elements are left out")
    return width, step


@sequence_chunk.define_infer
def _(x: Spec, size: int, stride: int | None, last: str, level: int, align: str) -> Spec:
    k = level_of("sequence_chunk", x, level)
    _sizes(size, stride, last, align)
    return Spec(spec_rows(x), x.dtype, first_levels(x, k, x.num_levels - k + 1))


@sequence_chunk.define_vjp
def _(d: Array, places: Array, context: Any) -> Array:
    return add_back(d, places, context.new("x"))


def sequence_truncate(x: Any, size: int, side: str = "right", level: int = -1) -> Any:
    """Truncate each sequence to a maximum length.

    Parameters
    ----------
    x : LoDTensor or nested lists
    size : int
        The maximum number of elements per sequence, 0 or more.
    side : {"right", "left"}
        The side where elements are cut off: "right" keeps the first ones, "left" the last ones.
    level : int

    Returns
    -------
    LoDTensor
        Has as many levels as x.

    Raises
    ------
    ValueError, DTypeError, LevelError
        If size or side are out of range, or the level does not exist.

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
