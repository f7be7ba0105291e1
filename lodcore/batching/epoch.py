"""The batches of one epoch of a BatchPlan on all ranks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lodcore.batching.buckets import classes_by_edges, classes_by_length, cut
from lodcore.batching.limits import Int64, sealed
from lodcore.batching.packing import equal_shards

__all__ = ["Epoch", "Settings", "arranged_classes", "epoch_of"]


class Settings(NamedTuple):
    """What decides the batches, besides seed and epoch, which are the same on every rank.

    Parameters
    ----------
    lengths : int64, shape (n,)
    max_tokens : int
    padded : bool
    max_items : int
    edges : int64, or None
    shuffle, drop_last : bool
    world_size : int
    """

    lengths: Int64
    max_tokens: int
    padded: bool
    max_items: int
    edges: Int64 | None
    shuffle: bool
    drop_last: bool
    world_size: int

    def cut(self, order: Int64, groups: Int64) -> Int64:
        """Divide sequences, in their order, into batches."""
        return cut("batches", self.lengths, order, groups, self.max_tokens, self.padded, self.max_items)


class Epoch:
    """The batches of one epoch on all ranks, which do not change.

    Parameters
    ----------
    order : int64, shape (n,)
        The numbers of the sequences, batch by batch.
    ends : int64
        The offsets of the batches in `order`.
    running : int64
        The numbers of the batches in the order in which they are used, step by step.
    settings : Settings
    """

    def __init__(self, order: Int64, ends: Int64, running: Int64, settings: Settings) -> None:
        size = settings.world_size
        odd = running[len(running) - len(running) % size :]
        last = [order[ends[batch] : ends[batch + 1]] for batch in odd]
        sizes = np.cumsum([0, *(len(batch) for batch in last)])
        self.last = sealed(np.concatenate([*last, np.empty(0, np.int64)]))
        self.last_ends = equal_shards("batches", sizes, size) if len(odd) else np.zeros(1, np.int64)
        self.order, self.ends, self.running = sealed(order), ends, running
        self.size, self.drop_last = size, settings.drop_last
        self.whole_steps = len(running) // size

    def __len__(self) -> int:
        """Return the number of batches per rank."""
        return self.whole_steps + (len(self.running) % self.size > 0 and not self.drop_last)

    def batch(self, step: int, rank: int) -> Int64:
        """Return the numbers of the sequences in a batch of a rank."""
        if step == self.whole_steps:
            return self.last[self.last_ends[rank] : self.last_ends[rank + 1]]
        batch = self.running.item(step * self.size + rank)
        return self.order[self.ends.item(batch) : self.ends.item(batch + 1)]

    def parts(self) -> tuple[tuple[Int64, Int64, Int64], tuple[Int64, Int64]]:
        """Return the batches of all ranks (sequences, offsets, used ones), and those of an incomplete last step."""
        whole = self.order, self.ends, self.running[: self.whole_steps * self.size]
        return whole, (self.last[:0], np.zeros(1, np.int64)) if self.drop_last else (self.last, self.last_ends)


def arranged_classes(settings: Settings) -> npt.NDArray[Any] | None:
    """Return the class of each sequence, if batches have sequences of one class or of similar length only."""
    if settings.edges is not None:
        return classes_by_edges(settings.lengths, settings.edges)
    return classes_by_length(settings.lengths) if settings.padded and settings.shuffle else None


def epoch_of(settings: Settings, classes: npt.NDArray[Any] | None, seed: int, number: int) -> Epoch:
    """Make the batches of an epoch.

    Parameters
    ----------
    settings : Settings
    classes : ndarray of integers, shape (n,), or None
        The result of `arranged_classes`.
    seed, number : int
        Both determine the random order; the second is the number of the epoch.

    Returns
    -------
    Epoch
    """
    random = np.random.default_rng([seed, number])
    order, groups = _arranged(settings, classes, random)
    ends = settings.cut(order, groups)
    count = len(ends) - 1
    return Epoch(order, ends, random.permutation(count) if settings.shuffle else np.arange(count), settings)


def _arranged(settings: Settings, classes: npt.NDArray[Any] | None, random: np.random.Generator) -> tuple[Int64, Int64]:
    """Return the sequences in order for division, and the offsets that no batch may cross."""
    count = len(settings.lengths)
    order = random.permutation(count) if settings.shuffle else np.arange(count)
    groups = np.array([0, count])
    if classes is None:
        return order, groups
    mixed = classes[order]
    if settings.edges is not None:
        groups = np.append(0, np.cumsum(np.bincount(mixed, minlength=len(settings.edges) + 1)))
    return order[np.argsort(mixed, kind="stable")], groups
