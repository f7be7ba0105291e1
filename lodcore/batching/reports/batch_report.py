"""Reports on batches: their occupancy, and the budget and buckets that would improve it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from lodcore.base.articles import with_number
from lodcore.batching.buckets import GOOD, occupancy, suggested
from lodcore.batching.limits import MOST, Int64
from lodcore.batching.reports.pack_report import NAMED

__all__ = ["BatchReport", "batch_report", "sums_and_longest"]

#: The size of the sample of lengths for a suggestion.
SAMPLE = 100_000


class PlanOfBatches(Protocol):
    """The data of a plan that a report reads."""

    lengths: Int64
    max_tokens: int
    max_items: int
    padded: bool
    seed: int


class BatchReport(NamedTuple):
    """A report on the occupancy of batches, for `print`.

    Parameters
    ----------
    num_sequences, num_batches, num_steps, max_tokens : int
        Numbers of sequences and batches of all ranks, without empty batches; steps per rank; the budget.
    num_tokens : int
        Tokens in the batches.
    padding : int
        Tokens that pad sequences to the longest of their batch, if the budget counts padding.
    occupancy : float
        The part of the batches' budgets that is filled with tokens.
    left_out : int64
        The sequences that are in no batch.
    suggested_max_tokens : int
        The least of 1, 2, 4 ... times the budget at which batches of similar lengths are 95 % full, estimated on a
        sample; the best one of them if none is.
    suggested_buckets : int64
        The edges of the fewest buckets that keep the padding within 5 %.
    """

    num_sequences: int
    num_batches: int
    num_steps: int
    max_tokens: int
    num_tokens: int
    padding: int
    occupancy: float
    left_out: Int64
    suggested_max_tokens: int
    suggested_buckets: Int64

    def __str__(self) -> str:
        lines = [
            f"{with_number(self.num_sequences, 'sequence', ',')}, {with_number(self.num_tokens, 'token', ',')} in "
            f"{with_number(self.num_batches, 'batch', ',').replace('batchs', 'batches')} of at most {self.max_tokens}: "
            f"{100 * self.occupancy:.1f} % full, {with_number(self.padding, 'token', ',')} of padding, "
            f"{with_number(self.num_steps, 'step', ',')} on each rank"
        ]
        if len(self.left_out):
            names = ", ".join(map(str, self.left_out[:NAMED].tolist()))
            more = "" if len(self.left_out) <= NAMED else f" and {len(self.left_out) - NAMED} more"
            lines.append(f"left out: {with_number(len(self.left_out), 'sequence', ',')}: {names}{more}")
        if self.occupancy < GOOD:
            edges = [str(edge) for edge in self.suggested_buckets.tolist()]
            shown = edges if len(edges) <= NAMED else [*edges[: NAMED - 2], "...", edges[-1]]
            buckets = f"{with_number(len(edges), 'bucket', ',')} up to {', '.join(shown)}"
            lines.append(f"suggested: max_tokens {self.suggested_max_tokens}, {buckets}")
        return "\n".join(lines)


BatchReport.__module__ = "lodcore.batching"


def batch_report(
    plan: PlanOfBatches,
    steps: int,
    batches: tuple[Int64, Int64, Int64],
    last: tuple[Int64, Int64],
    left_out: Int64,
) -> BatchReport:
    """Report the occupancy of the batches of an epoch.

    Parameters
    ----------
    plan : BatchPlan
    steps : int
    batches : (order, ends, which)
        The sequences in order, the offsets of the batches in them, and the batches that are used.
    last : (order, ends)
        The batches of the last step if it was completed.
    left_out : int64
    """
    order, ends, which = batches
    sizes, longest = sums_and_longest(plan.lengths, order, ends)
    numbers = np.diff(ends)
    sizes, longest, numbers = sizes[which], longest[which], numbers[which]
    more_sizes, more_longest = sums_and_longest(plan.lengths, *last)
    more_numbers = np.diff(last[1])
    tokens = int(sizes.sum() + more_sizes.sum())
    padded = int((longest * numbers).sum() + (more_longest * more_numbers).sum())
    count = len(which) + int(np.count_nonzero(more_numbers))
    room = count * plan.max_tokens
    full = tokens / room if room else 1.0
    sample = plan.lengths
    if len(sample) > SAMPLE:
        sample = np.random.default_rng(plan.seed).choice(sample, SAMPLE, replace=False)
    return BatchReport(
        num_sequences=int(numbers.sum() + more_numbers.sum()),
        num_batches=count,
        num_steps=steps,
        max_tokens=plan.max_tokens,
        num_tokens=tokens,
        padding=padded - tokens if plan.padded else 0,
        occupancy=full,
        left_out=left_out,
        suggested_max_tokens=suggested_budget(plan, sample, full),
        suggested_buckets=suggested(plan.lengths),
    )


def sums_and_longest(lengths: Int64, order: Int64, ends: Int64) -> tuple[Int64, Int64]:
    """Return the sum and the maximum of the lengths of each batch; 0 for an empty batch."""
    found = np.append(lengths[order], 0)
    full = np.diff(ends) > 0
    sums, longest = np.zeros(len(full), np.int64), np.zeros(len(full), np.int64)
    if full.any():
        sums[full] = np.add.reduceat(found, ends[:-1][full])
        longest[full] = np.maximum.reduceat(found, ends[:-1][full])
    return sums, longest


def suggested_budget(plan: PlanOfBatches, sample: Int64, full: float) -> int:
    """Return a budget whose batches are well filled."""
    if full >= GOOD or not len(sample):
        return plan.max_tokens
    budgets = [plan.max_tokens << k for k in range(5) if plan.max_tokens << k <= MOST]
    found = [occupancy(sample, budget, plan.padded, plan.max_items) for budget in budgets]
    good = [budget for budget, one in zip(budgets, found, strict=True) if one >= GOOD]
    return good[0] if good else budgets[found.index(max(found))]
