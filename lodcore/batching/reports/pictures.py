"""Pictures of plans: bins in the terminal, occupancy with matplotlib."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from lodcore.base.libraries import axes_to_draw_in
from lodcore.batching.batches import BatchPlan
from lodcore.batching.limits import Int64, as_count
from lodcore.batching.pack_plans import PackPlan
from lodcore.errors import DTypeError

__all__ = ["fills", "plot_occupancy", "show_bins"]

#: The characters of alternating documents, and that of empty room.
MARKS = "#="
EMPTY = "."


def show_bins(plan: PackPlan, width: int = 60, rows: int = 8) -> str:
    """Draw bins of documents as text: each document in a separate row, as with padding, and packed.

    Parameters
    ----------
    plan : PackPlan
    width : int
        The number of characters per bin.
    rows : int
        The number of rows of each picture; further rows are not shown.

    Returns
    -------
    str
        Neighbouring documents alternate between ``#`` and ``=``; a document of less than half a character is not
        visible.

    Examples
    --------
    >>> from lodcore.batching import pack_plan, show_bins
    >>> print(show_bins(pack_plan([3, 1, 5, 2], budget=6), width=12))
    before: 4 rows of 6, 45.8 % full
    |######......|
    |##..........|
    |##########..|
    |####........|
    after: 2 rows of 6, 91.7 % full
    |##########..|
    |######====##|
    """
    if not isinstance(plan, PackPlan):
        raise DTypeError(f"show_bins: plan: is {type(plan).__name__}; a PackPlan is needed")
    wide, most = as_count("show_bins: width", width), as_count("show_bins: rows", rows)
    order = np.lexsort((plan.starts, plan.documents))
    alone = [[int(size)] for size in plan.sizes[order[:most]]]
    offsets = plan.bins.offsets()[: most + 1]
    together = [plan.sizes[start:stop].tolist() for start, stop in pairwise(offsets)]
    tokens = int(plan.sizes.sum())
    lines = []
    for name, count, shown in (("before", len(order), alone), ("after", plan.num_bins, together)):
        room = count * plan.budget
        full = f", {100 * tokens / room:.1f} % full" if room else ""
        lines.append(f"{name}: {count:,} rows of {plan.budget}{full}")
        lines += [f"|{_drawn(sizes, plan.budget, wide)}|" for sizes in shown]
        if count > len(shown):
            lines.append(f"... {count - len(shown):,} more")
    return "\n".join(lines)


def _drawn(sizes: list[int], budget: int, width: int) -> str:
    """Draw one bin."""
    line, at, tokens = "", 0, 0
    for k, size in enumerate(sizes):
        tokens += size
        end = min(round(tokens * width / budget), width)
        line += MARKS[k % 2] * (end - at)
        at = end
    return line + EMPTY * (width - at)


def fills(plan: PackPlan | BatchPlan) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the filled part of the budget of each bin of a plan, or of each batch of an epoch on all ranks.

    Parameters
    ----------
    plan : PackPlan or BatchPlan

    Returns
    -------
    ndarray
        float64, shape (number of bins,). 0 for an empty bin; above 1 for a separate bin of a long document.

    Examples
    --------
    >>> from lodcore.batching import fills, pack_plan
    >>> fills(pack_plan([3, 1, 4], budget=4)).tolist()
    [1.0, 1.0]
    """
    if isinstance(plan, PackPlan):
        tokens = np.append(0, np.cumsum(plan.sizes))
        used: Int64 = np.diff(tokens[plan.bins.offsets()])
        return used / plan.budget
    if isinstance(plan, BatchPlan):
        return plan.tokens() / plan.max_tokens
    raise DTypeError(f"fills: plan: is {type(plan).__name__}; a PackPlan or a BatchPlan is needed")


def plot_occupancy(plan: PackPlan | BatchPlan, ax: Any = None) -> Any:
    """Plot the occupancy of the bins of a plan, fullest first, with matplotlib.

    Parameters
    ----------
    plan : PackPlan or BatchPlan
    ax : matplotlib Axes, optional
        The axes to plot on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = axes_to_draw_in("plot_occupancy", ax)
    found = np.sort(fills(plan))[::-1]
    budget = plan.budget if isinstance(plan, PackPlan) else plan.max_tokens
    mean = float(found.mean()) if len(found) else 1.0
    what = "bins" if isinstance(plan, PackPlan) else "batches"
    ax.fill_between(
        np.arange(len(found) + 1), np.append(found, found[-1:] if len(found) else 0.0), step="post", alpha=0.7
    )
    ax.axhline(mean, linestyle="--", color="black", linewidth=1, label=f"mean {100 * mean:.1f} %")
    ax.set(
        xlabel=f"{what}, fullest first",
        ylabel=f"part of {budget} tokens",
        ylim=(0, max(1.05, float(found.max(initial=0)))),
    )
    ax.legend()
    return ax
