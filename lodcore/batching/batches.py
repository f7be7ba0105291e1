"""Batches within a budget of tokens: the same number on every rank, shuffled, resumable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lodcore.base.keywords import hinting
from lodcore.base.memory import flag, integer
from lodcore.base.recycling import Recycled
from lodcore.batching.buckets import bucket_edges
from lodcore.batching.epoch import Epoch, Settings, arranged_classes, epoch_of
from lodcore.batching.iterators import END, Stepping
from lodcore.batching.limits import MOST, Int64, PlanOfBins, as_choice, as_count, as_lengths, as_rank
from lodcore.batching.reports.batch_report import BatchReport, batch_report, sums_and_longest
from lodcore.batching.sampler_states import check_state, digest
from lodcore.errors import DTypeError
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["BatchPlan", "batches", "pack_batches"]


@hinting
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
        The edges of the buckets, that is, the greatest length of each; or their number, for which the edges with the
        least padding are chosen. Sequences that are longer than the last edge are in one more bucket. A batch holds
        sequences of one bucket only. By default, shuffled batches with a padded count consist of sequences of similar
        length in random order, and other batches of consecutive sequences.
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
        shuffle=flag(f"{where}: shuffle", shuffle),
        seed=as_count(f"{where}: seed", seed, 0),
        drop_last=flag(f"{where}: drop_last", drop_last),
        rank=as_rank(where, rank, size, "world_size"),
        world_size=size,
        contents="",
    )


@hinting
def pack_batches(
    plan: PlanOfBins,
    num_bins: int,
    shuffle: bool = True,
    seed: int = 0,
    drop_last: bool = False,
    rank: int = 0,
    world_size: int = 1,
) -> BatchPlan:
    """Plan epochs over the bins of a packing plan: batches of bins, in another order in every epoch.

    Parameters
    ----------
    plan : PackPlan
    num_bins : int
        The number of bins per batch, 1 or more; the last batch has what is left.
    shuffle, seed, drop_last, rank, world_size
        As in `batches`.

    Returns
    -------
    BatchPlan
        Its batches are numbers of bins: `packed[bins]` of packed documents, or `plan.take(bins).apply(documents)`. It
        iterates, resumes and is divided among ranks like the result of `batches`. Its state is refused by a plan with
        other bins.

    Raises
    ------
    DTypeError, ValueError, IndexError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> from lodcore.batching import pack_batches, pack_plan
    >>> documents = [[1, 2, 3], [4], [5, 6, 7, 8, 9], [10, 11], [12, 13]]
    >>> plan = pack_plan([3, 1, 5, 2, 2], budget=6)
    >>> packed = plan.apply(documents)
    >>> for bins in pack_batches(plan, 2, shuffle=False):
    ...     print(bins, packed[bins].tolist())
    [0 1] [[[5, 6, 7, 8, 9]], [[1, 2, 3], [10, 11], [4]]]
    [2] [[[12, 13]]]
    """
    where = "pack_batches"
    if not hasattr(plan, "bins"):
        raise DTypeError(f"{where}: plan: is {type(plan).__name__}; a PackPlan is needed")
    size = as_count(f"{where}: world_size", world_size)
    return BatchPlan(
        lengths=np.ones(plan.num_bins, np.int64),
        max_tokens=as_count(f"{where}: num_bins", num_bins),
        padded=False,
        max_items=MOST,
        edges=None,
        shuffle=flag(f"{where}: shuffle", shuffle),
        seed=as_count(f"{where}: seed", seed, 0),
        drop_last=flag(f"{where}: drop_last", drop_last),
        rank=as_rank(where, rank, size, "world_size"),
        world_size=size,
        contents=digest(plan.lengths, plan.documents, plan.starts, plan.sizes, plan.bins.offsets()),
    )


class BatchPlan(Stepping):
    """Batches within a budget: a sequence of the batches of an epoch, and an iterator over epochs.

    `batches` makes one. `plan[i]` returns the numbers of the sequences in batch i of this rank, int64 and read-only.
    As with torch's samplers, `iter(plan)` begins the current epoch, or once continues at the position that
    `load_state_dict` or `seek` set; when an iterator ends, the next epoch begins, in another order. So
    `for epoch in range(3): for batch in plan: ...` runs three epochs, and looking at a batch does not consume it; the
    first iterator after `load_state_dict` or `seek` takes the position, even if it only looks.
    `next(plan)` returns the batch at the current position. `torch.utils.data.DataLoader` accepts a plan as its
    `batch_sampler`. All processes make the same plan from the same arguments; a plan that is sent to another one is
    computed again there.

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
    contents : str
        A digest of the bins that are counted instead of sequences, for the result of `pack_batches`; otherwise empty.
    epoch, position : int
        The batch after the one that `next`, or the newest iterator, returned last: batch `position` of this epoch.
    """

    __module__ = "lodcore.batching"

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
    contents: str

    def __init__(self, **arguments: Any) -> None:
        for name in BatchPlan.__annotations__:
            setattr(self, name, arguments[name])
        self.epoch = self.position = 0
        self.start = 0  # where the next iterator starts
        self._forget()
        if int(self.lengths.max(initial=0)) > self.max_tokens:
            everything = np.arange(len(self.lengths))
            self._settings.cut(everything, np.array([0, len(everything)]))  # raises for a sequence that is too long

    def _forget(self) -> None:
        self._settings = Settings(**{name: getattr(self, name) for name in Settings.__annotations__})
        self._built: tuple[int, int, Epoch] | None = None  # seed and number of an epoch, and its batches
        self._classes: npt.NDArray[Any] | None = None
        self._digest = ""
        self._newest: object = None  # the newest iterator, which moves the position
        self._since = object()  # iterators from before `seek` or `load_state_dict` do not end the epoch
        self._drawn = self.epoch  # the epoch of the newest iterator, also after its end

    # -- the plan of an epoch ------------------------------------------------------------------------------------------

    def _epoch(self, number: int | None = None, seed: int | None = None) -> Epoch:
        """Return the batches of an epoch, by default the current one, the same on every rank."""
        number, seed = self.epoch if number is None else number, self.seed if seed is None else seed
        built = self._built
        if built is None or built[:2] != (seed, number):
            with Recycled():
                if self._classes is None:
                    self._classes = arranged_classes(self._settings)
                built = seed, number, epoch_of(self._settings, self._classes, seed, number)
            self._built = built
        return built[2]

    def __len__(self) -> int:
        """Return the number of batches per rank of this epoch, which is equal for all ranks."""
        return len(self._epoch())

    def __getitem__(self, step: int) -> Int64:
        """Return the numbers of the sequences in a batch of this epoch."""
        count = len(self)
        number = integer("BatchPlan: step", step)
        if not -count <= number < count:
            raise IndexError(f"BatchPlan: step: is {number}; this epoch has {count}")
        return self._epoch().batch(number % count, self.rank)

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
        (order, ends, which), last = self._epoch().parts()
        sums, _ = sums_and_longest(self.lengths, order, ends)
        return np.append(sums[which], sums_and_longest(self.lengths, *last)[0])

    # -- iteration -----------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Int64]:
        return BatchIterator(self)

    def following(self) -> tuple[Any, tuple[Any, ...]]:
        """Return the batch at the current position, and what changes with it; at the end, the next epoch begins."""
        batches, number, position = self._epoch(), self.epoch, self.position
        begun: tuple[Any, ...] = ()
        if self._newest is not None or self.start or self._drawn != number:
            begun = self, "_newest", None, self, "start", 0, self, "_drawn", number
        if position < len(batches):
            batch = batches.batch(position, self.rank)
            return batch, (self, "position", position + 1, *begun) if begun else (self, "position", position + 1)
        return END, (self, "epoch", number + 1, self, "position", 0, *begun)

    def _move(self, epoch: int, position: int) -> None:
        """Set the current position, where the next iterator starts."""
        self.__dict__.update(self._moved(epoch, position))  # in one step

    def _moved(self, epoch: int, position: int) -> dict[str, Any]:
        places = {"epoch": epoch, "_drawn": epoch, "position": position, "start": position}
        return {**places, "_newest": None, "_since": object()}

    def _at(self, where: str, epoch: int, position: Any, seed: int | None = None) -> int:
        """Check a position in an epoch."""
        number = as_count(f"{where}: position", position, 0)
        most = len(self._epoch(epoch, seed))
        if number > most:
            raise ValueError(f"{where}: position: is {number}; epoch {epoch} has {most} batches")
        return number

    def set_epoch(self, epoch: int) -> None:
        """Move to the beginning of an epoch; do nothing if it is the current one.

        Parameters
        ----------
        epoch : int
        """
        number = as_count("BatchPlan.set_epoch: epoch", epoch, 0)
        if number != self.epoch:
            self._move(number, 0)

    def seek(self, position: int) -> None:
        """Move to a batch of the current epoch, where `next` and the next iterator continue.

        Parameters
        ----------
        position : int
            0 .. the number of batches.

        Raises
        ------
        ValueError
            If it is beyond the end.
        """
        self._move(self.epoch, self._at("BatchPlan.seek", self.epoch, position))

    def state_dict(self, position: int | None = None, epoch: int | None = None) -> dict[str, Any]:
        """Return the current state as a few numbers, the same on every rank.

        Parameters
        ----------
        position : int, optional
            The number of batches of the epoch that have been processed; by default those that `next` or the newest
            iterator has returned. A loader whose workers prefetch has taken batches that are not processed yet: count
            the processed ones, or the others are never seen.
        epoch : int, optional
            The epoch that `position` refers to; by default that of the newest iterator, even if it has ended because a
            loader has taken all of its batches.

        Returns
        -------
        dict

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
        where = "BatchPlan.state_dict"
        if epoch is not None:
            number = as_count(f"{where}: epoch", epoch, 0)
            done = self._at(where, number, 0 if position is None else position)
        elif position is not None:
            number = self._drawn
            done = self._at(where, number, position)
        else:
            number, done = self.epoch, self.position
        return {"epoch": number, "position": done, "seed": self.seed, **self._identity()}

    def _identity(self) -> dict[str, Any]:
        """Return the entries of a state that must be equal to continue a plan."""
        self._digest = self._digest or digest(*self._settings, *([self.contents] if self.contents else []))
        return {
            "num_sequences": len(self.lengths),
            "num_tokens": int(self.lengths.sum()),
            "max_tokens": self.max_tokens,
            "world_size": self.world_size,
            "digest": self._digest,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from the state of another plan with the same arguments, of any rank; no batch is replayed.

        The next iterator, or `next`, continues at the position of the state; after `next`, an iterator begins the epoch
        again. The seed is that of the state.

        Parameters
        ----------
        state : mapping
            The result of `state_dict`.

        Raises
        ------
        ValueError
            If an entry is missing, the position is beyond the end, or the state belongs to a plan with other lengths or
            arguments.
        """
        where = "BatchPlan.load_state_dict"
        what = "is that of a plan with other lengths, count, max_items, buckets, shuffle or drop_last, or of other bins"
        check_state(where, state, ("epoch", "position", "seed"), self._identity(), what)
        epoch, seed = (as_count(f"{where}: {name}", state[name], 0) for name in ("epoch", "seed"))
        position = self._at(where, epoch, state["position"], seed)
        self.__dict__.update(self._moved(epoch, position), seed=seed)

    # -- reports -------------------------------------------------------------------------------------------------------

    @property
    def left_out(self) -> Int64:
        """The sequences in no batch of this epoch, in increasing order: the ends of the last batches."""
        return np.sort(self._epoch().last) if self.drop_last else np.empty(0, np.int64)

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
        whole, last = self._epoch().parts()
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


class BatchIterator(Stepping):
    """The batches of an epoch of a plan, whose position moves with them; `iter(plan)` makes it."""

    def __init__(self, plan: BatchPlan) -> None:
        self._plan = plan
        self._begun: tuple[int, Epoch, object] | None = (
            None  # the epoch, its batches, and the beginning that it follows
        )
        self._position = 0

    def __iter__(self) -> Iterator[Int64]:
        return self

    def following(self) -> tuple[Any, tuple[Any, ...]]:
        """Return the next batch, and what changes with it."""
        plan, begun, position = self._plan, self._begun, self._position
        first: tuple[Any, ...] = ()
        if begun is None:  # now, since loaders make iterators that they never use
            position, since = plan.start, plan._since
            begun = plan.epoch, plan._epoch(), since
            first = plan, "_newest", self, plan, "start", 0, plan, "_drawn", begun[0], self, "_begun", begun
        number, batches, since = begun
        if position < len(batches):
            batch = batches.batch(position, plan.rank)
            position += 1
            if plan._newest is self and plan.epoch == number:  # mostly
                return batch, (self, "_position", position, plan, "position", position)
            if first or plan._newest is self:
                first = plan, "epoch", number, plan, "position", position, *first
            return batch, (self, "_position", position, *first)
        if plan.epoch == number and plan._since is since:
            first = *first, plan, "epoch", number + 1, plan, "position", 0, plan, "_newest", None
        return END, (self, "_position", position, *first)
