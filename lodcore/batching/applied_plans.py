"""Packing plans applied to tensors, and inverted."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.dispatch import Symbol
from lodcore.batching.limits import PlanOfBins
from lodcore.errors import LoDError
from lodcore.ops import drop_level, gather_sequences, insert_level, lod_append, lod_reset, sequence_unflatten
from lodcore.ops.move.same_structure import refuse_unlike
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["checked_by_runs", "known_levels", "pack_documents", "unpack_documents"]


def known_levels(x: Any) -> tuple[int, Any]:
    """Return the number of levels of a tensor or a Variable, and its value, which is None if it is not known yet."""
    if isinstance(x, Symbol):
        return x.spec.num_levels, x.get() if x.has_value else None  # type: ignore[attr-defined]
    return x.num_levels if isinstance(x, LoDTensor) else 0, x


def pack_documents(plan: PlanOfBins, x: Any) -> LoDTensor:
    """Move documents, or pieces of them, into bins."""
    where = "PackPlan.apply"
    if not isinstance(x, Symbol):
        x = as_nested(f"{where}: x", x)
    levels, value = known_levels(x)
    if value is not None:
        check_documents(plan, where, value.lod)
    elif levels == 1:
        x = checked_by_runs(where, x, LoD.from_lengths(plan.lengths), "x")
    if plan.is_cut and levels > 1:
        raise LoDError(f"{where}: x: has {levels} levels; the plan cuts documents, which must have one level")
    taken: Any = _pieces(plan, x) if plan.is_cut else gather_sequences(x, plan.documents)
    if levels == 1:
        return lod_reset(taken, target_lod=plan.lod)  # type: ignore[return-value]  # plans have levels
    counts = LoDTensor.from_lengths(plan.bins.lengths(), [plan.num_bins])
    return drop_level(sequence_unflatten(insert_level(taken, 0, whole=True), counts, 0))  # type: ignore[return-value]


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
    if not isinstance(y, (Symbol, np.ndarray)):
        y = as_nested(f"{where}: y", y)
    levels, value = known_levels(y)
    if levels == 0:
        if value is not None and len(value) != plan.lod.num_rows:
            raise LoDError(f"{where}: y: has {len(value)} rows; the plan packs {plan.lod.num_rows} tokens")
        y = lod_reset(y, target_lod=plan.lod)
        levels, value = known_levels(y)
    if value is not None:
        check_bins(plan, where, value.lod)
    else:
        y = checked_by_runs(where, y, plan.bins, "y")
    if levels == 1:
        if not plan.is_whole:
            raise LoDError(f"{where}: y: has one row per document; the plan drops or cuts documents, or is a part")
        single = lod_append(y, lengths=np.ones(len(plan.documents), np.int64))
        back = gather_sequences(single, plan.places, level=1)
        return lod_reset(back, target_lod=LoD.from_offsets(num_rows=plan.num_documents))
    back = gather_sequences(y, plan.places, level=1)
    if plan.is_whole:
        return back
    _, value = known_levels(back)
    inner = LoD.from_lengths(plan.sizes[plan.places]) if value is None else value.lod
    ends = np.append(0, np.cumsum(np.bincount(plan.documents, minlength=plan.num_documents)))
    offsets = [inner.offsets(0)[ends], *(inner.offsets(k) for k in range(1, inner.num_levels))]
    return lod_reset(back, target_lod=LoD.from_offsets(*offsets))


def checked_by_runs(where: str, given: Any, planned: LoD, name: str) -> Any:
    """Return a Variable for which a run will raise an error if its first levels are not the planned ones."""
    nothing = LoDTensor(np.zeros((planned.num_rows, 0), np.bool_), planned)
    return refuse_unlike(given, nothing, where, planned.num_levels - 1, name, "the plan")


def check_documents(plan: PlanOfBins, where: str, lod: LoD) -> None:
    """Raise if the lengths of documents differ from the planned ones."""
    if not lod.num_levels:
        raise LoDError(f"{where}: x: has no levels; documents are needed")
    found = np.diff(lod.row_offsets(0))
    if len(found) != plan.num_documents:
        raise LoDError(f"{where}: x: has {len(found)} documents; the plan has {plan.num_documents}")
    if not np.array_equal(found, plan.lengths):
        bad = int(np.argmax(found != plan.lengths))
        raise LoDError(f"{where}: x: document {bad} has {found[bad]} tokens; {plan.lengths[bad]} were planned")


def check_bins(plan: PlanOfBins, where: str, lod: LoD) -> None:
    """Raise if the numbers of pieces in bins differ from those of the plan."""
    found, planned = lod.offsets(0), plan.bins.offsets()
    if len(found) != len(planned):
        raise LoDError(f"{where}: y: has {len(found) - 1} bins; the plan has {plan.num_bins}")
    if not np.array_equal(found, planned):
        bad = int(np.argmax(found != planned)) - 1
        raise LoDError(
            f"{where}: y: bin {bad} has {found[bad + 1] - found[bad]} documents; the plan has "
            f"{planned[bad + 1] - planned[bad]} there"
        )
