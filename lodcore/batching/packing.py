"""Packing: the assignment of documents, or pieces of documents, to bins of a budget."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.keywords import hinting
from lodcore.base.memory import unharmed
from lodcore.base.recycling import Recycled
from lodcore.batching.limits import MOST, Int64, as_choice, as_count, as_lengths, longest_first, sealed, size_counts
from lodcore.batching.pack_plans import PackPlan, Pieces, plan_of_pieces
from lodcore.errors import LoDError
from lodcore.ops import gather_sequences
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["METHODS", "OVERFLOWS", "pack_plan"]

#: The methods by which documents are packed.
METHODS = (
    "next_fit",
    "first_fit",
    "best_fit",
    "next_fit_decreasing",
    "first_fit_decreasing",
    "best_fit_decreasing",
    "histogram",
    "in_order",
)

#: The ways to treat a document that is longer than the budget.
OVERFLOWS = ("error", "split", "truncate", "drop", "own_bin")

NONE: Int64 = sealed(np.empty(0, np.int64))


@hinting
def pack_plan(
    lengths: npt.ArrayLike | LoD | LoDTensor,
    budget: int,
    method: str = "best_fit_decreasing",
    max_items: int | None = None,
    overflow: str = "error",
    multiple_of: int = 1,
    shards: int = 1,
    seed: int | None = None,
    window: int = 1,
) -> PackPlan:
    """Plan the packing of documents into bins of at most `budget` tokens.

    Parameters
    ----------
    lengths : array_like of integers, shape (n,), or LoD or LoDTensor
        The length of each document; for a structure, the rows of each outermost sequence are counted.
    budget : int
        The maximum number of tokens per bin.
    method : str
        ``"next_fit"`` fills one bin after the other, and closes it when the next document does not fit.
        ``"first_fit"`` selects the first bin with enough room, ``"best_fit"`` the one with the least room that is
        enough. ``"next_fit_decreasing"``, ``"first_fit_decreasing"`` and ``"best_fit_decreasing"`` process the longest
        documents first. ``"histogram"`` is best fit decreasing on the counts of lengths: equal bins are filled at once,
        so its time depends more on the budget than on the number of documents. ``"in_order"`` is next fit that
        keeps the order of the documents, up to `window`.
    max_items : int, optional
        The maximum number of documents per bin.
    overflow : {"error", "split", "truncate", "drop", "own_bin"}
        How to treat a document that is longer than the budget: raise an error; split it into pieces of `budget` tokens
        and a rest; keep its first `budget` tokens; leave it out; or put it into a separate bin that is larger than the
        budget. These bins are the last ones; with ``"in_order"``, each is where its document is.
    multiple_of : int
        The number of bins per shard is a multiple of this number.
    shards : int
        The number of shards, which have equally many bins; see `PackPlan.shard`. For this and `multiple_of`, bins with
        the most documents are halved; when no bin has two documents any more, empty bins are added.
    seed : int, optional
        The seed of a shuffle: documents are packed in random order (among equal lengths, if the longest come first),
        and the order of the bins is random. Without a seed, the plan depends on the lengths alone. ``"in_order"`` takes
        none.
    window : int
        For ``"in_order"``: the number of documents that do not fit and may wait for a later bin while later documents
        are packed. With 1, the order of the documents is kept exactly.

    Returns
    -------
    PackPlan

    Raises
    ------
    LoDError
        If a document is longer than the budget and `overflow` is "error", or a length is negative.
    DTypeError, ShapeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> from lodcore import array
    >>> from lodcore.batching import pack_plan
    >>> x = array([[1, 2, 3], [4], [5, 6, 7, 8, 9], [10, 11]])
    >>> plan = pack_plan(x, budget=6)
    >>> plan
    PackPlan(4 documents in 2 bins of 6 tokens, 91.7 % full)
    >>> plan.apply(x).tolist()
    [[[5, 6, 7, 8, 9]], [[1, 2, 3], [10, 11], [4]]]
    >>> plan.undo(plan.apply(x)).tolist() == x.tolist()
    True
    """
    where = "pack_plan"
    method = as_choice(f"{where}: method", method, METHODS)
    overflow = as_choice(f"{where}: overflow", overflow, OVERFLOWS)
    budget = as_count(f"{where}: budget", budget)
    most = MOST if max_items is None else as_count(f"{where}: max_items", max_items)
    per_shard = as_count(f"{where}: multiple_of", multiple_of)
    parts = as_count(f"{where}: shards", shards)
    places = as_count(f"{where}: window", window)
    if places != 1 and method != "in_order":
        raise ValueError(f"{where}: window: is {places} with method {method!r}; it belongs to 'in_order'")
    if seed is not None and method == "in_order":
        raise ValueError(f"{where}: seed: is {seed!r} with method 'in_order', which keeps the order; None is needed")
    chances = None if seed is None else np.random.default_rng(as_count(f"{where}: seed", seed, 0))
    with Recycled():
        known = as_lengths(f"{where}: lengths", lengths)
        if method == "in_order" and overflow == "own_bin":  # which the kernel knows, too
            pieces, own = Pieces(None, None, None), NONE
        else:
            pieces, own = cut_documents(where, known, budget, overflow)
        sizes = known if pieces.starts is None and pieces.documents is None else pieces.sizes_of(known)
        items, offsets = pack_items(method, sizes, budget, most, places, chances)
        bins = equal_shards(where, add_bins(offsets, len(own)), per_shard * parts)
        if len(own):
            items = np.concatenate([items, np.arange(len(items), len(items) + len(own))])
            pieces = pieces.joined(own)
        if chances is not None and len(bins) > 1:
            shuffled = gather_sequences(LoDTensor.from_offsets(items, bins), chances.permutation(len(bins) - 1))
            items, bins = shuffled.values, shuffled.offsets
        return plan_of_pieces(
            lengths=known,
            pieces=pieces.taken(items),
            bins=LoD.from_offsets(bins),
            budget=budget,
            method=method,
            max_items=None if max_items is None else most,
            multiple_of=per_shard,
            shards=parts,
        )


def cut_documents(where: str, lengths: Int64, budget: int, overflow: str) -> tuple[Pieces, Int64]:
    """Divide documents into pieces within the budget; return the pieces, and the documents that get a separate bin."""
    if int(lengths.max(initial=0)) <= budget:
        return Pieces(None, None, None), NONE
    over = lengths > budget
    long = np.flatnonzero(over)
    if overflow == "error":
        others = f" and {len(long) - 1} others are longer" if len(long) > 1 else ""
        raise LoDError(
            f"{where}: lengths: is {lengths[long[0]]} at document {long[0]}{others}; budget is {budget}: shorten them, "
            "or choose overflow='split', 'truncate', 'drop' or 'own_bin'"
        )
    if overflow in ("drop", "own_bin"):
        return Pieces(np.flatnonzero(~over), None, None), long if overflow == "own_bin" else NONE
    if overflow == "truncate":
        return Pieces(None, np.zeros(len(lengths), np.int64), np.minimum(lengths, budget)), NONE
    counts = np.maximum(-(-lengths // budget), 1)
    lod = LoD.from_lengths(counts)
    documents, places = lod.segment_ids(), lod.positions()
    starts = places * budget
    return Pieces(documents, starts, np.minimum(lengths[documents] - starts, budget)), NONE


def pack_items(
    method: str, lengths: Int64, budget: int, max_items: int, window: int, random: np.random.Generator | None
) -> tuple[Int64, Int64]:
    """Pack items; return their numbers bin by bin, and the offsets of the bins."""
    count = len(lengths)
    names = None
    if random is not None:
        names = random.permutation(count)
        lengths = lengths[names]
    if method == "histogram":
        items, offsets = by_histogram(lengths, budget, max_items)
    else:
        order = longest_first(lengths) if method.endswith("decreasing") else np.arange(count)
        ordered = np.repeat(*size_counts(lengths)) if method.endswith("decreasing") else lengths
        out = buffers.new_int64(count + 1)
        kind = method.removesuffix("_decreasing")
        if kind in ("next_fit", "in_order"):
            unharmed(kernels.packing.next_fit(ordered, budget, max_items, window, out))
        elif kind == "first_fit":
            unharmed(kernels.packing.first_fit(ordered, budget, max_items, out))
        else:
            unharmed(kernels.packing.best_fit(ordered, budget, max_items, out))
        items, offsets = buffers.new_int64(count), buffers.new_int64(int(out[count]) + 1)
        unharmed(kernels.packing.group_items(out[:count], order, offsets, items))
    return (items if names is None else names[items]), offsets


def by_histogram(lengths: Int64, budget: int, max_items: int) -> tuple[Int64, Int64]:
    """Pack items by the counts of their lengths."""
    sizes, counts = size_counts(lengths)
    items, out = buffers.new_int64(len(lengths)), buffers.new_int64(len(lengths) + 2)
    unharmed(kernels.packing.histogram_fit(sizes, counts, longest_first(lengths), budget, max_items, items, out))
    return items, out[: int(out[-1]) + 1].copy()


def add_bins(offsets: Int64, count: int) -> Int64:
    """Append bins of one item each."""
    if not count:
        return offsets
    return np.concatenate([offsets, np.arange(offsets[-1] + 1, offsets[-1] + 1 + count)])


def equal_shards(where: str, offsets: Int64, multiple: int) -> Int64:
    """Make the number of bins a multiple by halving bins of several items, those with the most items first.

    Parameters
    ----------
    where : str
    offsets : int64, shape (n_bins + 1,)
    multiple : int

    Returns
    -------
    ndarray
        int64, shape (n + 1,), with n a multiple of `multiple`; if nothing can be halved, empty bins are appended.
    """
    missing = -(len(offsets) - 1) % multiple
    if missing > len(offsets) + 2**20:
        raise ValueError(
            f"{where}: multiple_of, shards: need a multiple of {multiple} bins; there are {len(offsets) - 1}"
        )
    while missing:
        held = np.diff(offsets)
        chosen = np.argsort(-held, kind="stable")[:missing]
        chosen = chosen[held[chosen] > 1]
        if not len(chosen):
            return np.concatenate([offsets, np.full(missing, offsets[-1])])
        offsets = np.sort(np.concatenate([offsets, offsets[chosen] + (held[chosen] + 1) // 2]))
        missing -= len(chosen)
    return offsets
