"""Batches within a budget of tokens: the same number on every rank, shuffled, resumable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lodcore.base.memory import integer
from lodcore.base.recycling import Recycled
from lodcore.batching.arguments import MOST, Int64, as_choice, as_count, as_lengths, as_rank, sealed
from lodcore.batching.batch_report import BatchReport, batch_report, sums_and_longest
from lodcore.batching.buckets import bucket_edges, classes_by_edges, classes_by_length, cut
from lodcore.batching.packing import equal_shards
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["BatchPlan", "batches"]


def batches(
    lengths: npt.ArrayLike | LoD | LoDTensor,
    max_tokens: int,
    count: str = "padded",
    max_items: int | None = None,
    buckets: int | npt.ArrayLike | None = None,
    shuffle: bool = True,
    seed: int = 0,
    drop_last: bool = False,
    rank: int = 0,
    world_size: int = 1,
) -> BatchPlan:
    """Plan batches of sequences within a budget of tokens.

    Parameters
    ----------
    lengths : array_like of integers, shape (n,), or LoD or LoDTensor
        The length of each sequence; for a structure, the rows of each outermost sequence are counted.
    max_tokens : int
        The budget of a batch.
    count : {"padded", "sum"}
        Whether the budget counts the longest sequence of a batch times the number of sequences, or the sum of lengths.
    max_items : int, optional
        The maximum number of sequences per batch.
    buckets : int, or array_like of rising integers, optional
        The edges of buckets, which are the greatest lengths of each, or their number, for which the edges with the
        least padding are chosen. A batch holds sequences of one bucket only. By default, shuffled batches with a padded
        count consist of sequences of similar length in random order, and other batches of consecutive sequences.
    shuffle : bool
        Whether every epoch has a different random order; otherwise, sequences (of each bucket) keep their order.
    seed : int
    drop_last : bool
        Whether the last batches are left out if their number is not a multiple of `world_size`; the report names their
        sequences. Otherwise, the last batches are split until it is; if there are not enough sequences, some ranks get
        empty batches.
    rank, world_size : int
        The rank whose batches the plan returns, and the number of ranks.

    Returns
    -------
    BatchPlan

    Raises
    ------
    LoDError
        If a sequence is longer than the budget, or a length is negative.
    DTypeError, ShapeError, ValueError, IndexError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> from lodcore.batching import batches
    >>> plan = batches([3, 1, 4, 1, 5, 9, 2, 6], max_tokens=10, shuffle=False)
    >>> [batch.tolist() for batch in plan]
    [[0, 1], [2, 3], [4], [5], [6], [7]]
    >>> plan = batches([3, 1, 4, 1, 5, 9, 2, 6], max_tokens=10, seed=1)
    >>> len(plan)
    5
    """
    where = "batches"
    known = as_lengths(f"{where}: lengths", lengths)
    size = as_count(f"{where}: world_size", world_size)
    return BatchPlan(
        lengths=known,
        max_tokens=as_count(f"{where}: max_tokens", max_tokens),
        padded=as_choice(f"{where}: count", count, ("padded", "sum")) == "padded",
        max_items=MOST if max_items is None else as_count(f"{where}: max_items", max_items),
        edges=bucket_edges(where, buckets, known),
        shuffle=bool(shuffle),
        seed=as_count(f"{where}: seed", seed, 0),
        drop_last=bool(drop_last),
        rank=as_rank(where, rank, size, "world_size"),
        world_size=size,
    )


class BatchPlan:
    """Batches within a budget: a sequence of the batches of an epoch, and an iterator over epochs.

    `batches` makes one. `plan[i]` returns the numbers of the sequences in batch i of this rank, int64 and read-only.
    Iteration yields the batches from the current position to the end of the epoch; then the next epoch begins, with
    another order. So `for epoch in range(3): for batch in plan: ...` runs three epochs. `torch.utils.data.DataLoader`
    accepts a plan as its `batch_sampler`. All processes make the same plan from the same arguments; a plan that is sent
    to another process is computed again there.

    Attributes
    ----------
    lengths : int64, shape (n,)
    max_tokens, max_items : int
    padded : bool
        Whether the budget counts the longest sequence times the number of sequences.
    edges : int64, or None
        The edges of the buckets.
    shuffle, drop_last : bool
    seed, rank, world_size : int
    epoch, position : int
        The next batch: batch `position` of this epoch.
    """

    lengths: Int64
    max_tokens: int
    padded: bool
    max_items: int
    edges: Int64 | None
    shuffle: bool
    seed: int
    drop_last: bool
    rank: int
    world_size: int

    def __init__(self, **arguments: Any) -> None:
        for name in BatchPlan.__annotations__:
            setattr(self, name, arguments[name])
        self.epoch = self.position = 0
        self._forget()
        if int(self.lengths.max(initial=0)) > self.max_tokens:
            everything = np.arange(len(self.lengths))
            self._cut(everything, np.array([0, len(everything)]))  # raises for a sequence that is too long

    def _cut(self, order: Int64, groups: Int64) -> Int64:
        """Divide sequences, in their order, into batches."""
        return cut("batches", self.lengths, order, groups, self.max_tokens, self.padded, self.max_items)

    def _forget(self) -> None:
        self._built = -1  # the epoch of the following attributes
        self._order = self._ends = self._running = self._last = self._last_ends = np.empty(0, np.int64)
        self._classes: npt.NDArray[Any] | None = None

    # -- the plan of an epoch ------------------------------------------------------------------------------------------

    def _build(self) -> None:
        """Make the plan of the current epoch, the same on every rank."""
        if self._built == self.epoch:
            return
        with Recycled():
            self._build_anew(np.random.default_rng([self.seed, self.epoch]))
        self._built = self.epoch

    def _build_anew(self, random: np.random.Generator) -> None:
        order, groups = self._arranged(random)
        ends = self._cut(order, groups)
        number = len(ends) - 1
        running = random.permutation(number) if self.shuffle else np.arange(number)
        odd = running[number - number % self.world_size :]
        last = [order[ends[batch] : ends[batch + 1]] for batch in odd]
        sizes = np.cumsum([0, *(len(batch) for batch in last)])
        self._last = np.concatenate([*last, np.empty(0, np.int64)])
        self._last_ends = equal_shards("batches", sizes, self.world_size) if len(odd) else np.zeros(1, np.int64)
        self._order, self._ends, self._running = sealed(order), ends, running
        sealed(self._last)

    def _arranged(self, random: np.random.Generator) -> tuple[Int64, Int64]:
        """Return the sequences in order for division, and the offsets that no batch may cross."""
        count = len(self.lengths)
        order = random.permutation(count) if self.shuffle else np.arange(count)
        groups = np.array([0, count])
        if self.edges is None and not (self.padded and self.shuffle):
            return order, groups
        if self._classes is None:
            by_edges = self.edges is not None
            self._classes = classes_by_edges(self.lengths, self.edges) if by_edges else classes_by_length(self.lengths)  # type: ignore[arg-type]
        mixed = self._classes[order]
        if self.edges is not None:
            groups = np.append(0, np.cumsum(np.bincount(mixed, minlength=len(self.edges) + 1)))
        return order[np.argsort(mixed, kind="stable")], groups

    def __len__(self) -> int:
        """Return the number of batches per rank of this epoch, which is equal for all ranks."""
        self._build()
        return self._whole_steps() + (self._odd_step() and not self.drop_last)

    def _whole_steps(self) -> int:
        return len(self._running) // self.world_size

    def _odd_step(self) -> int:
        """Return the number of incomplete steps, which do not have a batch for every rank: 0 or 1."""
        return int(len(self._running) % self.world_size > 0)

    def __getitem__(self, step: int) -> Int64:
        """Return the numbers of the sequences in a batch of this epoch."""
        count = len(self)
        number = integer("BatchPlan: step", step)
        if not -count <= number < count:
            raise IndexError(f"BatchPlan: step: is {number}; this epoch has {count}")
        return self._batch(number % count, self.rank)

    def _batch(self, step: int, rank: int) -> Int64:
        if step == self._whole_steps():
            return self._last[self._last_ends[rank] : self._last_ends[rank + 1]]
        batch = self._running.item(step * self.world_size + rank)
        return self._order[self._ends.item(batch) : self._ends.item(batch + 1)]

    def _parts(self) -> tuple[tuple[Int64, Int64, Int64], tuple[Int64, Int64]]:
        """Return the batches of all ranks (sequences, offsets, used ones), and those of an incomplete last step."""
        self._build()
        whole = self._order, self._ends, self._running[: self._whole_steps() * self.world_size]
        return whole, (self._last[:0], np.zeros(1, np.int64)) if self.drop_last else (self._last, self._last_ends)

    def tokens(self) -> Int64:
        """Count the tokens of each batch of this epoch on all ranks, step by step.

        Returns
        -------
        ndarray
            int64, shape (number of steps * world_size,).

        Examples
        --------
        >>> from lodcore.batching import batches
        >>> batches([3, 1, 4, 1], max_tokens=8, shuffle=False).tokens()
        array([4, 5])
        """
        (order, ends, which), last = self._parts()
        sums, _ = sums_and_longest(self.lengths, order, ends)
        return np.append(sums[which], sums_and_longest(self.lengths, *last)[0])

    # -- iteration -----------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Int64]:
        # a separate iterator, which stays exhausted, since loaders call it again at the end
        while self.position < len(self):
            self.position += 1
            yield self._batch(self.position - 1, self.rank)
        self.epoch, self.position = self.epoch + 1, 0

    def __next__(self) -> Int64:
        """Return the next batch; at the end of an epoch, raise StopIteration once and begin the next epoch."""
        for batch in self:
            return batch
        raise StopIteration

    def set_epoch(self, epoch: int) -> None:
        """Move to the beginning of an epoch; do nothing if it is the current one.

        Parameters
        ----------
        epoch : int
        """
        number = as_count("BatchPlan.set_epoch: epoch", epoch, 0)
        if number != self.epoch:
            self.epoch, self.position = number, 0

    def seek(self, position: int) -> None:
        """Move to a batch of the current epoch.

        Parameters
        ----------
        position : int
            0 .. the number of batches.
        """
        self.position = as_count("BatchPlan.seek: position", position, 0)

    def state_dict(self, position: int | None = None) -> dict[str, int]:
        """Return the current state as a few numbers.

        Parameters
        ----------
        position : int, optional
            The number of batches of this epoch that have been processed; by default those that were returned, some of
            which a prefetching loader has not processed yet.

        Returns
        -------
        dict of str to int

        Examples
        --------
        >>> from lodcore.batching import batches
        >>> plan = batches([3, 1, 4, 1, 5, 9, 2, 6], max_tokens=10)
        >>> done = [next(plan) for _ in range(2)]
        >>> fresh = batches([3, 1, 4, 1, 5, 9, 2, 6], max_tokens=10)
        >>> fresh.load_state_dict(plan.state_dict())
        >>> next(fresh).tolist() == next(plan).tolist()
        True
        """
        done = self.position if position is None else as_count("BatchPlan.state_dict: position", position, 0)
        return {"epoch": self.epoch, "position": done, "seed": self.seed, **self._identity()}

    def _identity(self) -> dict[str, int]:
        """Return the numbers that must be equal to continue a plan."""
        total = int(self.lengths.sum())
        return {
            "num_sequences": len(self.lengths),
            "num_tokens": total,
            "max_tokens": self.max_tokens,
            "world_size": self.world_size,
        }

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Continue from the state of another plan with the same arguments; no batch is replayed.

        Parameters
        ----------
        state : mapping
            The result of `state_dict`.

        Raises
        ------
        ValueError
            If an entry is missing, or belongs to a plan with other lengths, budget or number of ranks.
        """
        where = "BatchPlan.load_state_dict"
        needed = {"epoch", "position", "seed", *self._identity()}
        if not needed <= set(state):
            raise ValueError(f"{where}: state: {', '.join(sorted(needed - set(state)))} missing")
        for name, number in self._identity().items():
            if state[name] != number:
                raise ValueError(f"{where}: state: {name} is {state[name]}; this plan has {number}")
        epoch, position, seed = (as_count(f"{where}: {name}", state[name], 0) for name in ("epoch", "position", "seed"))
        if seed != self.seed:
            self.seed = seed
            self._built = -1
        self.epoch, self.position = epoch, position

    # -- reports -------------------------------------------------------------------------------------------------------

    @property
    def left_out(self) -> Int64:
        """The sequences in no batch of this epoch, in increasing order: those of the last batches."""
        self._build()
        return np.sort(self._last) if self.drop_last else np.empty(0, np.int64)

    def report(self) -> BatchReport:
        """Report the occupancy of the batches of this epoch, on all ranks together, and suggest better settings.

        Returns
        -------
        BatchReport

        Examples
        --------
        >>> from lodcore.batching import batches
        >>> print(batches([3, 1, 4, 1, 5, 9, 2, 6], max_tokens=10, shuffle=False).report())
        8 sequences, 31 tokens in 6 batches of at most 10: 51.7 % full, 5 tokens of padding, 6 steps on each rank
        suggested: max_tokens 10, 6 buckets up to 1, 2, 3, 4, 6, 9
        """
        whole, last = self._parts()
        return batch_report(self, len(self), whole, last, self.left_out)

    def __repr__(self) -> str:
        counted = "padded" if self.padded else "sum"
        return (
            f"BatchPlan({len(self.lengths)} sequences, max_tokens={self.max_tokens}, count={counted!r}, "
            f"rank {self.rank} of {self.world_size}, epoch {self.epoch}, position {self.position} of {len(self)})"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()
