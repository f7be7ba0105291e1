"""Plots of lengths and padding, with matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.libraries import axes_to_draw_in
from lodcore.base.memory import integer
from lodcore.batching.limits import as_lengths
from lodcore.errors import LoDError
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod import LoD

__all__ = ["occupancy", "plot_lengths", "plot_occupancy"]

Array = np.ndarray[Any, Any]

SCALES = "auto", "linear", "log"
HEAVY = 20  # times the median, from which on only a logarithm shows the short sequences beside the longest
EMPTY = 0.3  # where empty sequences are drawn on a logarithmic axis
COLOR = "#4878a8"


def plot_lengths(
    x: Any, level: int = -1, axes: Any = None, bins: Any = "auto", scale: str = "auto", unit: str = "rows"
) -> Any:
    """Plot a histogram of the lengths of a level, with median and 99th percentile.

    Parameters
    ----------
    x : LoDTensor, LoD, or nested lists
    level : int
    axes : matplotlib.axes.Axes, optional
        By default new axes.
    bins
        As in `numpy.histogram_bin_edges`. On a logarithmic axis, bins given as a number are equally wide, those given
        as a name double with every second one, and empty sequences have a bar of their own at the left end.
    scale : {"auto", "linear", "log"}
        The axis of lengths. By default it is logarithmic where the longest sequence is more than twenty times as long
        as the median of those that are not empty.
    unit : str
        What a length counts, such as "words", for the labels.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If scale is unknown.
    LoDError
        If x has no level.

    Examples
    --------
    >>> import lodcore
    >>> axes = lodcore.plot_lengths([[1, 2, 3], [], [4]], unit="words")  # doctest: +SKIP
    """
    where = "lodcore.plot_lengths"
    if scale not in SCALES:
        raise ValueError(f"{where}: scale: is {scale!r}; {', '.join(map(repr, SCALES))} are possible")
    axes = axes_to_draw_in(where, axes)
    lengths = _lengths(where, x, level)
    filled = lengths[lengths > 0]
    if scale == "auto":
        scale = "log" if len(filled) and filled.max() > HEAVY * np.median(filled) else "linear"
    least = -np.inf
    if scale == "log" and len(filled):
        _draw_logarithmic(axes, len(lengths) - len(filled), filled, bins)
        least = EMPTY
    else:
        axes.hist(lengths, _linear_edges(lengths, bins), color=COLOR)
    if len(lengths):
        middle, most = np.percentile(lengths, [50, 99])
        axes.axvline(max(middle, least), color="black", label=f"median {middle:,g} {unit}")
        axes.axvline(max(most, least), color="black", linestyle="--", label=f"99 % up to {most:,.6g} {unit}")
        axes.legend()
    axes.set_xlabel(f"length of a sequence, in {unit}")
    axes.set_ylabel("number of sequences")
    axes.set_title(f"{len(lengths):,} sequence{'s' * (len(lengths) != 1)}, {int(lengths.sum()):,} {unit} in all")
    return axes


def _linear_edges(lengths: Array, bins: Any) -> Array:
    """Return the edges of bins that are at least 1 wide, unless the caller gives them."""
    edges = np.histogram_bin_edges(lengths, bins) if len(lengths) else np.array([0, 1])
    if len(lengths) and isinstance(bins, str) and np.diff(edges[:2])[0] < 1:
        edges = np.arange(lengths.min(), lengths.max() + 2) - 0.5
    return edges


def _draw_logarithmic(axes: Any, num_empty: int, filled: Array, bins: Any) -> None:
    """Draw a histogram on a logarithmic axis, with a bar for empty sequences at its left end."""
    low, high = filled.min() - 0.5, filled.max() + 0.5
    if isinstance(bins, str):
        bins = max(int(np.ceil(2 * np.log2(high / low))), 1)
    if np.ndim(bins) == 0:
        fine = np.geomspace(low, high, int(bins) + 1)
        whole = np.unique(np.floor(fine[1:-1])) + 0.5  # between two lengths, so that no bin misses its only one
        bins = [low, *whole[(whole > low) & (whole < high)], high]
    axes.set_xscale("log")
    axes.hist(filled, bins, color=COLOR)
    if num_empty:
        axes.bar(EMPTY, num_empty, width=EMPTY / 2, color="#b06050", label=f"{num_empty:,} empty")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}" if x >= 1 else "")


def plot_occupancy(x: Any, batch_size: int = 32, level: int = -1, axes: Any = None) -> Any:
    """Plot the filled part of padded batches, for sequences in their order and sorted by length.

    Parameters
    ----------
    x : LoDTensor, LoD, or nested lists
    batch_size : int
        The number of sequences per batch.
    level : int
    axes : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    where = "lodcore.plot_occupancy"
    size = _batch_size(where, batch_size)
    axes = axes_to_draw_in(where, axes)
    lengths = _lengths(where, x, level)
    for name, order in (("as they come", lengths), ("sorted by length", np.sort(lengths)[::-1])):
        filled, total = occupancy(order, size)
        axes.plot(100 * filled, drawstyle="steps-mid", label=f"{name}: {100 * total:.0f} % in all")
    axes.set_ylim(0, 105)
    axes.set_xlabel(f"batch of {size} sequences")
    axes.set_ylabel("filled, in %")
    axes.legend()
    return axes


def occupancy(lengths: Array, batch_size: int) -> tuple[Array, float]:
    """Compute the filled part of each padded batch, and of all batches together.

    Parameters
    ----------
    lengths : array_like of integers, shape (n,), or LoD or LoDTensor
    batch_size : int
        The number of sequences per batch, 1 or more.

    Returns
    -------
    (ndarray, float)
        One entry per batch, and the share of all batches together; 1 for empty batches.

    Raises
    ------
    ShapeError, DTypeError, LoDError, ValueError
        If lengths are not a vector of integers, or one is negative, or batch_size is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> from lodcore.interop import occupancy
    >>> occupancy(np.array([4, 2, 1, 1]), 2)
    (array([0.75, 1.  ]), 0.8)
    """
    where = "lodcore.interop.occupancy"
    lengths, size = as_lengths(f"{where}: lengths", lengths), _batch_size(where, batch_size)
    starts = np.arange(0, len(lengths), size)
    if not len(starts):
        return np.empty(0), 1.0
    counts = np.diff(np.append(starts, len(lengths)))
    room = np.maximum.reduceat(lengths, starts) * counts
    used = np.add.reduceat(lengths, starts)
    filled = np.where(room > 0, used / np.maximum(room, 1), 1.0)
    return filled, float(used.sum() / room.sum()) if room.sum() else 1.0


def _batch_size(where: str, given: Any) -> int:
    """Return a checked number of sequences per batch."""
    size = integer(f"{where}: batch_size", given)
    if size < 1:
        raise ValueError(f"{where}: batch_size: is {size}; 1 or more is needed")
    return size


def _lengths(where: str, x: Any, level: int) -> Array:
    lod: Any = x if isinstance(x, LoD) else as_nested(f"{where}: x", x).lod
    if not lod.num_levels:
        raise LoDError(f"{where}: x: has no level")
    lengths: Array = lod.lengths(level)
    return lengths
