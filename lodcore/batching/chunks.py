"""Documents in windows: overlapping windows and their inverse, or concatenated documents cut into windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lodcore.base.articles import with_number
from lodcore.base.dispatch import Symbol
from lodcore.base.keywords import hinting
from lodcore.base.memory import flag
from lodcore.batching.limits import Int64, as_choice, as_count, as_lengths, sealed
from lodcore.batching.pack_plans import PackPlan, Pieces, plan_of_pieces
from lodcore.errors import LoDError
from lodcore.operators.copies import nested_operand
from lodcore.ops import gather_nested, lod_append, lod_reset, rows, sequence_chunk, sequence_concat, sequence_pool
from lodcore.ops.move.checked import check, documents_planned, rows_planned, windows_planned
from lodcore.ops.move.chunk import chunk_ranges
from lodcore.ops.order.keys import listed
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.padding import hold

__all__ = ["ChunkPlan", "chunk_plan", "concat_and_cut"]


@hinting
def chunk_plan(
    lengths: npt.ArrayLike | LoD | LoDTensor, size: int, stride: int | None = None, last: str = "short"
) -> ChunkPlan:
    """Plan windows of `size` tokens over documents, starting every `stride` tokens.

    Parameters
    ----------
    lengths : array_like of integers, shape (n,), or LoD or LoDTensor
        The length of each document; for a structure, the rows of each outermost sequence are counted.
    size : int
        The number of tokens per window.
    stride : int, optional
        The distance between the starts of consecutive windows, at most `size`, so that no token is left out; by default
        `size`, so that none is in two windows.
    last : {"short", "full"}
        How to treat a last window that would exceed its document: "short" shortens it, "full" moves its start back so
        that it is full if the document has enough tokens.

    Returns
    -------
    ChunkPlan

    Raises
    ------
    ValueError, LoDError, DTypeError, ShapeError
        If an argument is out of range or of the wrong kind.

    Examples
    --------
    >>> from lodcore import array
    >>> from lodcore.batching import chunk_plan
    >>> x = array([[1, 2, 3, 4, 5, 6], [7, 8], []])
    >>> plan = chunk_plan(x, size=4, stride=3)
    >>> plan.apply(x).tolist()
    [[[1, 2, 3, 4], [4, 5, 6]], [[7, 8]], []]
    >>> plan.undo(plan.apply(x * 1.0)).tolist()
    [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [7.0, 8.0], []]
    """
    where = "chunk_plan"
    known = as_lengths(f"{where}: lengths", lengths)
    window = as_count(f"{where}: size", size)
    step = window if stride is None else as_count(f"{where}: stride", stride)
    if step > window:
        raise ValueError(f"{where}: stride: is {step}; at most the size {window}, or tokens are left out")
    as_choice(f"{where}: last", last, ("short", "full"))
    offsets, _, starts, stops = chunk_ranges(known, window, step, last)
    return ChunkPlan(known, LoD.from_offsets(offsets), starts, stops - starts, (window, step, last))


class ChunkPlan:
    """Windows over documents, made by `chunk_plan`.

    Attributes
    ----------
    lengths : int64, shape (number of documents,)
    windows : LoD
        The LoD of documents of windows.
    starts, sizes : int64, shape (number of windows,)
        The first token of each window in its document, and its number of tokens.
    lod : LoD
        Documents of windows of tokens.
    """

    __module__ = "lodcore.batching"

    __slots__ = ("_copies", "_cut", "lengths", "lod", "sizes", "starts", "windows")

    def __init__(self, lengths: Int64, windows: LoD, starts: Int64, sizes: Int64, cut: tuple[int, int, str]) -> None:
        self.lengths, self.windows, self._cut = lengths, windows, cut
        self.starts, self.sizes = sealed(starts), sealed(sizes)
        self.lod: LoD = LoD.from_offsets(windows.offsets(), LoD.from_lengths(sizes).offsets())
        self._copies: tuple[Int64, LoD] | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def __repr__(self) -> str:
        return f"ChunkPlan({with_number(len(self), 'window')} of {with_number(len(self.lengths), 'document')})"

    def apply(self, x: Any) -> LoDTensor:
        """Cut documents into windows.

        Parameters
        ----------
        x : LoDTensor or nested lists
            Documents of tokens, with one level.

        Returns
        -------
        LoDTensor
            Documents of windows of tokens. Gradients are passed to x.

        Raises
        ------
        LoDError
            If the documents of x differ from the planned ones.
        """
        where = "ChunkPlan.apply"
        x = nested_operand(f"{where}: x", x)
        if x.num_levels != 1:
            raise LoDError(f"{where}: x: has {with_number(x.num_levels, 'level')}; documents of tokens have one")
        x = check(documents_planned, x, self.lengths, where=where)
        chunks = sequence_chunk(x, *self._cut)  # type: ignore[arg-type]
        return lod_reset(chunks, target_lod=self.lod)  # type: ignore[return-value]

    def undo(self, y: Any, reduce: str = "mean") -> LoDTensor:
        """Convert windows back to documents, with one row per token, combined from the overlapping windows.

        Parameters
        ----------
        y : LoDTensor, nested lists or ndarray
            Documents of windows with the planned numbers of rows, of any width; or only their rows.
        reduce : {"mean", "first"}
            The mean of all windows that contain the token, or the row of the first one. Means of integers are float64.

        Returns
        -------
        LoDTensor
            Documents of tokens. Gradients are passed to y.

        Raises
        ------
        LoDError
            If the windows of y differ from the planned ones.

        Examples
        --------
        >>> from lodcore.batching import chunk_plan
        >>> plan = chunk_plan([4], size=3, stride=1)
        >>> plan.undo([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]).tolist()
        [[1.0, 3.0, 4.0, 6.0]]
        >>> plan.undo([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]], reduce="first").tolist()
        [[1.0, 2.0, 3.0, 6.0]]
        """
        where = "ChunkPlan.undo"
        as_choice(f"{where}: reduce", reduce, ("mean", "first"))
        if not isinstance(y, (Symbol, np.ndarray)) or getattr(y, "ndim", None) == 0:
            y = as_nested(f"{where}: y", y)
        if getattr(y, "num_levels", 0):
            y = check(windows_planned, y, LoDTensor(np.zeros((self.lod.num_rows, 0), np.bool_), self.lod), where=where)
        else:
            count = self.lod.num_rows
            y = check(rows_planned, y, where=where, count=count, planned=f"the windows have {count}")
        documents = LoD.from_lengths(self.lengths)
        if reduce == "first":
            return _take_rows(y, self._firsts(), documents)
        places, tokens = self._places()
        pooled = sequence_pool(_take_rows(y, places, tokens), "mean")
        return lod_reset(pooled, target_lod=documents)  # type: ignore[return-value]

    def _places(self) -> tuple[Int64, LoD]:
        """Return the rows of windows token by token, in the order of the windows, and the LoD that groups them."""
        if self._copies is None:
            begins = LoD.from_lengths(self.lengths).offsets()[self.windows.segment_ids()] + self.starts
            tokens = np.repeat(begins, self.sizes) + LoD.from_lengths(self.sizes).positions()
            offsets, places = listed(tokens, int(self.lengths.sum()))
            self._copies = sealed(places), LoD.from_offsets(offsets)
        return self._copies

    def _firsts(self) -> Int64:
        """Return for each token its row in the first window that contains it: the end of each window is new."""
        stops, first = self.starts + self.sizes, self.windows.offsets()[:-1]
        before: Int64 = np.append(0, stops[:-1])[: len(stops)]
        before[first[self.windows.lengths() > 0]] = 0
        new = LoD.from_lengths(stops - before)
        begins: Int64 = LoD.from_lengths(self.sizes).offsets()[:-1] + (before - self.starts)
        return np.repeat(begins - new.offsets()[:-1], new.lengths()) + np.arange(new.num_rows)


def _take_rows(x: Any, index: Int64, lod: LoD) -> LoDTensor:
    """Gather rows by their numbers, with another structure."""
    return gather_nested(rows(x), LoDTensor(index, lod))  # type: ignore[return-value]


def concat_and_cut(
    x: Any, size: int, separator: int | None = None, drop_last: bool = False
) -> tuple[LoDTensor, PackPlan]:
    """Concatenate all documents, and cut them into windows of `size` tokens, wherever documents end.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Documents of tokens, with one level.
    size : int
        The number of tokens per window.
    separator : scalar, optional
        A token to append to each document.
    drop_last : bool
        Whether to leave out the last window if it is shorter.

    Returns
    -------
    packed : LoDTensor
        Windows of pieces of documents of tokens: the pieces of a cut document are in several windows, and documents
        stay separate sequences for attention. Gradients are passed to x.
    plan : PackPlan
        The plan of the documents with their separators; `plan.undo` restores them.

    Raises
    ------
    LoDError, ValueError, DTypeError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> from lodcore.batching import concat_and_cut
    >>> packed, plan = concat_and_cut([[1, 2, 3], [4], [5, 6]], size=4, separator=0)
    >>> packed.tolist()
    [[[1, 2, 3, 0]], [[4, 0], [5, 6]], [[0]]]
    >>> plan.undo(packed).tolist()
    [[1, 2, 3, 0], [4, 0], [5, 6, 0]]
    """
    where = "concat_and_cut"
    window, drop_last = as_count(f"{where}: size", size), flag(f"{where}: drop_last", drop_last)
    if not isinstance(x, Symbol):
        x = as_nested(f"{where}: x", x)
    lod = x.lod
    if lod.num_levels != 1:
        raise LoDError(f"{where}: x: has {with_number(lod.num_levels, 'level')}; documents of tokens have one")
    if separator is not None:
        shape, dtype = x.values.shape if not isinstance(x, Symbol) else x.get().values.shape, x.dtype
        token = np.empty((1, *shape[1:]), dtype)
        hold(f"{where}: separator", separator, token)
        ends = token.repeat(len(lod.lengths()), axis=0)
        x = sequence_concat([x, lod_append(ends, lengths=np.ones(len(ends), np.int64))])
    lengths = as_lengths(where, x.lod)
    plan = _cut_plan(lengths, window, drop_last)
    return plan.apply(x), plan


def _cut_plan(lengths: Int64, window: int, drop_last: bool) -> PackPlan:
    """Plan cuts at every `window` tokens of all documents together."""
    offsets = LoD.from_lengths(lengths).offsets()
    total = int(offsets[-1])
    stop = total // window * window if drop_last else total
    cuts = np.arange(0, stop, window)
    begins = np.union1d(offsets[:-1][(lengths > 0) & (offsets[:-1] < stop)], cuts)  # of pieces, in all tokens
    sizes = np.diff(begins, append=stop)
    documents = np.searchsorted(offsets, begins, side="right") - 1
    return plan_of_pieces(
        lengths=lengths,
        pieces=Pieces(documents, begins - offsets[documents], sizes),
        bins=LoD.from_offsets(np.append(np.searchsorted(begins, cuts), len(begins))),
        budget=window,
        method="concat_and_cut",
        max_items=None,
        multiple_of=1,
        shards=1,
    )
