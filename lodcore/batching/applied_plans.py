"""Packing plans applied to tensors, and inverted."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.articles import with_number
from lodcore.base.dispatch import Symbol
from lodcore.batching.limits import PlanOfBins
from lodcore.errors import LoDError
from lodcore.operators.copies import nested_operand
from lodcore.ops import drop_level, gather_sequences, insert_level, lod_append, lod_reset, sequence_unflatten
from lodcore.ops.move.checked import bins_planned, check, documents_planned, rows_planned
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["pack_documents", "unpack_documents"]


def pack_documents(plan: PlanOfBins, x: Any) -> LoDTensor:
    """Move documents, or pieces of them, into bins."""
    where = "PackPlan.apply"
    x = nested_operand(f"{where}: x", x)
    x = check(documents_planned, x, plan.lengths, where=where)
    if plan.is_cut and x.num_levels > 1:
        raise LoDError(
            f"{where}: x: has {with_number(x.num_levels, 'level')}; the plan cuts documents, which must have one level"
        )
    taken: Any = _pieces(plan, x) if plan.is_cut else gather_sequences(x, plan.documents)
    if x.num_levels == 1:
        return lod_reset(taken, target_lod=plan.lod)  # type: ignore[return-value]  # plans have levels
    return _grouped(taken, plan.bins.lengths())  # type: ignore[no-any-return]


def _grouped(x: Any, counts: Any) -> Any:
    """Insert an outermost level, of groups of as many sequences."""
    groups = LoDTensor.from_lengths(counts, [len(counts)])
    return drop_level(sequence_unflatten(insert_level(x, 0, whole=True), groups, 0))


def _pieces(plan: PlanOfBins, x: Any) -> Any:
    """Divide documents where their pieces begin and end, and take the pieces, so that only these are copied."""
    order = plan.places
    documents, starts, sizes = (one[order] for one in (plan.documents, plan.starts, plan.sizes))
    first = np.ones(len(order), bool)  # a bin that was taken twice has the same pieces again
    first[1:] = (np.diff(documents) != 0) | (np.diff(starts) != 0)
    numbers = np.cumsum(first) - 1
    documents, starts, sizes = documents[first], starts[first], sizes[first]
    offsets = LoD.from_lengths(plan.lengths).offsets()
    counts = 2 * np.bincount(documents, minlength=plan.num_documents) + 1  # before and within each piece, and the rest
    ends = np.empty(int(counts.sum()), np.int64)
    ends[np.cumsum(counts) - 1] = offsets[1:]
    within = 2 * np.arange(len(documents)) + documents + 1
    ends[within - 1] = offsets[documents] + starts
    ends[within] = ends[within - 1] + sizes
    divided = sequence_unflatten(x, LoDTensor(np.diff(ends, prepend=0), LoD.from_lengths(counts)))
    taken = np.empty(len(order), np.int64)
    taken[order] = within[numbers]
    return gather_sequences(divided, taken, level=1)


def unpack_documents(plan: PlanOfBins, y: Any) -> Any:
    """Move the content of bins back into the order of the documents."""
    where = "PackPlan.undo"
    if not isinstance(y, (Symbol, np.ndarray)) or getattr(y, "ndim", None) == 0:
        y = as_nested(f"{where}: y", y)
    if not getattr(y, "num_levels", 0):
        count = plan.lod.num_rows
        y = check(rows_planned, y, where=where, count=count, planned=f"the plan packs {count} tokens")
        y = lod_reset(y, target_lod=plan.lod)
    y = check(bins_planned, y, plan.bins.lengths(), where=where)
    if y.num_levels == 1:
        if not plan.is_whole:
            raise LoDError(f"{where}: y: has one row per document; the plan drops or cuts documents, or is a part")
        single = lod_append(y, lengths=np.ones(len(plan.documents), np.int64))
        back = gather_sequences(single, plan.places, level=1)
        return lod_reset(back, target_lod=LoD.from_offsets(num_rows=plan.num_documents))
    places = _distinct(plan)
    back = gather_sequences(y, places, level=1)
    if plan.is_whole:
        return back
    return drop_level(_grouped(back, np.bincount(plan.documents[places], minlength=plan.num_documents)), 1)


def _distinct(plan: PlanOfBins) -> Any:
    """Return the numbers of the pieces in the order of the documents; of a bin that was taken twice, the first ones."""
    places = plan.places
    if not plan.is_part or not len(places):
        return places
    documents, starts = plan.documents[places], plan.starts[places]
    return places[np.append(True, (np.diff(documents) != 0) | (np.diff(starts) != 0))]
