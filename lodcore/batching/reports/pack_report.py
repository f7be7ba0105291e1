"""Reports on packing plans: the occupancy of bins, a lower bound of their number, and what is left out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lodcore.base.articles import with_number
from lodcore.batching.limits import Int64, PlanOfBins, sealed, size_counts

__all__ = ["PackReport", "bins_at_least", "pack_report"]

#: The number of documents that the text of a report names.
NAMED = 8


class PackReport(NamedTuple):
    """A report on a packing plan, for `print`.

    Parameters
    ----------
    num_documents, num_bins, budget : int
    num_tokens : int
        The number of packed tokens.
    padding : int
        The number of further tokens for which the bins have room.
    lower_bound : int
        A lower bound of the number of bins of these pieces, for any method.
    dropped : int64, shape (k, 3)
        Documents, or their ends, that are in no bin: document, first token, and the token after the last. Empty for a
        part of a plan.
    split : int64, shape (k, 3)
        The pieces of divided documents, in the same form.
    """

    num_documents: int
    num_bins: int
    budget: int
    num_tokens: int
    padding: int
    lower_bound: int
    dropped: Int64
    split: Int64

    @property
    def efficiency(self) -> float:
        """The part of the bins' room that is filled with tokens; 1.0 if there is no room."""
        room = self.num_tokens + self.padding
        return self.num_tokens / room if room else 1.0

    @property
    def distance(self) -> int:
        """The number of bins beyond the lower bound."""
        return self.num_bins - self.lower_bound

    def __str__(self) -> str:
        lines = [
            f"{with_number(self.num_documents, 'document', ',')}, {with_number(self.num_tokens, 'token', ',')} "
            f"packed into {with_number(self.num_bins, 'bin', ',')} of {self.budget}: "
            f"{100 * self.efficiency:.1f} % full, {with_number(self.padding, 'token', ',')} of padding",
            f"bins: at least {self.lower_bound} are needed, {self.distance} more than that",
        ]
        if len(self.dropped):
            tokens = int((self.dropped[:, 2] - self.dropped[:, 1]).sum())
            lines.append(f"dropped: {with_number(tokens, 'token', ',')} of {named(self.dropped)}")
        if len(self.split):
            lines.append(f"split: {named(self.split)}")
        return "\n".join(lines)


PackReport.__module__ = "lodcore.batching"


def named(ranges: Int64) -> str:
    """Return text that names documents and ranges of their tokens, the first ones if there are many."""
    rows = [f"document {document} tokens {start} .. {stop - 1}" for document, start, stop in ranges[:NAMED].tolist()]
    more = [] if len(ranges) <= NAMED else [f"and {len(ranges) - NAMED} more"]
    return f"{with_number(len(np.unique(ranges[:, 0])), 'document', ',')}: " + ", ".join(rows + more)


def pack_report(plan: PlanOfBins) -> PackReport:
    """Return the report on a plan."""
    sizes = plan.sizes
    offsets = plan.bins.offsets()
    tokens = np.concatenate([[0], np.cumsum(sizes)])
    used = np.diff(tokens[offsets])
    within = sizes[sizes <= plan.budget]
    least = bins_at_least(within, plan.budget, plan.max_items) + len(sizes) - len(within)
    multiple = plan.multiple_of * (1 if plan.is_part else plan.shards)
    return PackReport(
        num_documents=len(plan.lengths),
        num_bins=len(used),
        budget=plan.budget,
        num_tokens=int(tokens[-1]),
        padding=int(np.maximum(plan.budget - used, 0).sum()),
        lower_bound=-(-least // multiple) * multiple,
        dropped=sealed(np.empty((0, 3), np.int64) if plan.is_part else ranges_dropped(plan)),
        split=sealed(ranges_split(plan)),
    )


def ranges_dropped(plan: PlanOfBins) -> Int64:
    """Return the ranges of tokens in no bin; packed tokens are at the beginning of their documents."""
    kept = np.zeros(len(plan.lengths), np.int64)
    np.add.at(kept, plan.documents, plan.sizes)
    missing = kept < plan.lengths
    missing |= np.bincount(plan.documents, minlength=len(kept)) == 0
    documents = np.flatnonzero(missing)
    return np.stack([documents, kept[documents], plan.lengths[documents]], axis=1)


def ranges_split(plan: PlanOfBins) -> Int64:
    """Return the pieces of documents with several pieces in this plan."""
    several = np.bincount(plan.documents, minlength=len(plan.lengths)) > 1
    places = np.flatnonzero(several[plan.documents])
    documents, starts = plan.documents[places], plan.starts[places]
    order = np.lexsort((starts, documents))
    return np.stack([documents, starts, starts + plan.sizes[places]], axis=1)[order]


def bins_at_least(lengths: Int64, budget: int, max_items: int | None = None) -> int:
    """Compute a lower bound of the number of bins of any packing.

    Parameters
    ----------
    lengths : int64, shape (n,)
        Lengths of at most the budget.
    budget : int
    max_items : int, optional

    Returns
    -------
    int
        The maximum of three bounds: the number of tokens divided by the budget; the number of items divided by
        `max_items`; and, for each length k, the number of items too long to share a bin with one of length k, plus that
        of other items above half the budget, plus the bins needed for the items from k to half the budget that do not
        fit beside these.

    References
    ----------
    Martello and Toth, "Lower bounds and reduction procedures for the bin packing problem", 1990: the bound L2.
    """
    total, count = int(lengths.sum()), len(lengths)
    bound = max(-(-total // budget), int(count > 0), -(-count // max_items) if max_items else 0)
    if not count or budget > 2**62 // count:
        return bound
    sizes, counts = size_counts(lengths)
    numbers = np.concatenate([[0], np.cumsum(counts)])  # numbers of longer items
    tokens = np.concatenate([[0], np.cumsum(counts * sizes)])
    half = int(np.searchsorted(-sizes, -(budget // 2)))  # the first size of at most half the budget
    stops = np.arange(half, len(sizes)) + 1  # after each size k
    alone = np.searchsorted(-sizes, sizes[half:] - budget)  # the first size of at most budget - k
    free = (numbers[half] - numbers[np.minimum(alone, half)]) * budget - (
        tokens[half] - tokens[np.minimum(alone, half)]
    )
    over = np.maximum(tokens[stops] - tokens[half] - free, 0)
    found = numbers[half] + -(-over // budget)
    return max(bound, int(numbers[half]), int(found.max(initial=0)))
