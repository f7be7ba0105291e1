"""Buckets of lengths: the sequences that may share a batch, and the buckets with the least padding."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lodcore import kernels
from lodcore.base import buffers
from lodcore.batching.limits import MOST, Int64, as_count, size_counts
from lodcore.errors import LoDError

__all__ = ["bucket_edges", "classes_by_edges", "classes_by_length", "cut", "least_padding", "occupancy", "suggested"]

#: The number of distinct lengths that are considered when edges are chosen.
GRID = 256

#: The greatest relative difference of lengths in a class, if no buckets are given: a twentieth.
RATIO = 1.05

#: The occupancy from which a batch counts as well filled.
GOOD = 0.95


def bucket_edges(where: str, buckets: Any, lengths: Int64) -> Int64 | None:
    """Return the edges of buckets: the given ones, chosen ones if only their number is given, or None."""
    if buckets is None:
        return None
    if np.ndim(buckets) == 0:
        return least_padding(lengths, as_count(f"{where}: buckets", buckets))
    edges = buffers.as_int64(buckets, f"{where}: buckets", LoDError).copy()
    falls = np.flatnonzero(np.diff(edges) <= 0)
    if len(falls):
        bad = int(falls[0]) + 1
        raise ValueError(
            f"{where}: buckets: is {edges[bad]} at position {bad}, after {edges[bad - 1]}; edges must increase"
        )
    return edges


def classes_by_edges(lengths: Int64, edges: Int64) -> npt.NDArray[Any]:
    """Return the bucket of each length: the first whose edge it does not exceed, or one after the last."""
    return np.searchsorted(edges, lengths).astype(np.int16 if len(edges) < 2**15 else np.int64)


def classes_by_length(lengths: Int64) -> npt.NDArray[np.int16]:
    """Return the class of each length; those of a class differ by a twentieth at most."""
    rough = np.log(np.arange(1, 1 + min(int(lengths.max(initial=0)) + 1, 2**16))) / np.log(RATIO)
    if len(rough) > int(lengths.max(initial=0)):
        table = rough.astype(np.int16)
        classes: npt.NDArray[np.int16] = table[lengths]
        return classes
    found = np.log(lengths.astype(np.float64) + 1)
    found /= np.log(RATIO)
    return found.astype(np.int16)


def cut(
    where: str, lengths: Int64, order: Int64, groups: Int64, max_tokens: int, padded: bool, max_items: int
) -> Int64:
    """Divide sequences, in their order, into batches within the budget; return offsets in `order`."""
    out = buffers.new_int64(len(order) + 2)
    bad = kernels.packing.cut_batches(lengths, order, groups, max_tokens, padded, max_items, out)
    if bad >= 0:
        raise LoDError(
            f"{where}: lengths: is {lengths[order[bad]]} at sequence {order[bad]}; max_tokens is {max_tokens}: take a "
            "larger budget, or cut or leave out what is longer"
        )
    ends = out[: int(out[-1]) + 1]
    return ends.copy() if 4 * len(ends) < len(out) else ends


def least_padding(lengths: Int64, count: int) -> Int64:
    """Choose the edges of `count` buckets that minimize the padding of all sequences to the edges of their buckets.

    Parameters
    ----------
    lengths : int64, shape (n,)
    count : int

    Returns
    -------
    ndarray
        int64, increasing; the last edge is the greatest length. There are fewer if there are not as many distinct
        lengths. Of more than 256 distinct lengths, only some are considered.
    """
    edges, _ = _edges_and_padding(lengths, count, 0.0)
    return edges


def suggested(lengths: Int64, most: int = 64) -> Int64:
    """Choose the fewest buckets, up to a number, that keep the padding within a twentieth of all tokens."""
    edges, _ = _edges_and_padding(lengths, most, 1 - GOOD)
    return edges


def _edges_and_padding(lengths: Int64, most: int, enough: float) -> tuple[Int64, int]:
    """Return the edges of up to `most` buckets, as few as keep the padding below a part, and the tokens of padding."""
    if not len(lengths):
        return np.empty(0, np.int64), 0
    sizes, counts = (one[::-1] for one in size_counts(lengths))
    total = int(lengths.sum())
    numbers, tokens = np.cumsum(counts), np.cumsum(counts * sizes)
    if len(sizes) > GRID:  # at equal steps of tokens rather than sequences, since long ones matter more
        places = np.searchsorted(tokens, np.linspace(0, total, GRID + 1)[1:])
        places = np.unique(np.minimum(places, len(sizes) - 1))
        sizes, numbers, tokens = sizes[places], numbers[places], tokens[places]
    before, spent = np.append(0, numbers[:-1]), np.append(0, tokens[:-1])
    cost = sizes[None, :] * (numbers[None, :] - before[:, None]).astype(np.float64) - (tokens[None, :] - spent[:, None])
    cost[np.tril_indices(len(sizes), -1)] = np.inf  # [j, k] is a bucket from j to k
    best, choices = cost[0], [np.zeros(len(sizes), np.int64)]
    while len(choices) < min(most, len(sizes)) and best[-1] > enough * (total + best[-1]):
        through = cost[1:] + best[:-1, None]
        choices.append(np.append(0, 1 + through.argmin(axis=0)[1:]) if len(sizes) > 1 else choices[0])
        best = np.append(np.inf, through.min(axis=0)[1:])
    ends, stop = [], len(sizes) - 1
    for choice in reversed(choices):
        ends.append(int(sizes[stop]))
        stop = int(choice[stop]) - 1
    return np.array(ends[::-1], np.int64), int(best[-1])


def occupancy(lengths: Int64, max_tokens: int, padded: bool, max_items: int = MOST) -> float:
    """Compute the occupancy of batches of sequences sorted by length."""
    order = np.argsort(lengths, kind="stable")
    ends = cut("occupancy", lengths, order, np.array([0, len(order)]), max_tokens, padded, max_items)
    room = (len(ends) - 1) * max_tokens
    return float(lengths.sum()) / room if room else 1.0
