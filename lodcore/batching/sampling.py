"""Sampling from several sources with a temperature, which makes small sources more frequent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lodcore.base import buffers
from lodcore.base.keywords import hinting
from lodcore.base.memory import check_size
from lodcore.batching.iterators import END, Stepping
from lodcore.batching.limits import MOST, Int64, as_count
from lodcore.batching.sampler_states import check_state, digest
from lodcore.errors import DTypeError, LoDError

__all__ = ["SourceSampler", "sample_by_temperature"]

#: The number of sources that are drawn at a time.
BLOCK = 4096


@hinting
def sample_by_temperature(
    sizes: npt.ArrayLike, temperature: float = 1.0, seed: int = 0, num_samples: int | None = None
) -> SourceSampler:
    """Sample from sources with probabilities proportional to size ** (1 / temperature).

    Parameters
    ----------
    sizes : array_like of integers, shape (n,)
        The number of sequences in each source. An empty source is never drawn.
    temperature : float
        1 draws in proportion to the sizes, a greater number draws small sources more often, infinity all equally often.
    seed : int
    num_samples : int, optional
        The number of samples; by default infinite.

    Returns
    -------
    SourceSampler
        An iterator of pairs: a source, and the number of a sequence in it. Each source is traversed in random order,
        then in a new one, and so on: no sequence is repeated before all others of its source have occurred.

    Raises
    ------
    LoDError, ValueError, DTypeError
        If a size is negative, all are 0, or the temperature is not positive.

    Examples
    --------
    >>> from lodcore.batching import sample_by_temperature
    >>> sampler = sample_by_temperature([1000, 10], temperature=2, seed=1)
    >>> sampler.probabilities.round(3)
    array([0.909, 0.091])
    >>> pairs = [next(sampler) for _ in range(1000)]
    >>> sum(source for source, _ in pairs)
    100
    """
    where = "sample_by_temperature"
    known = buffers.as_int64(sizes, f"{where}: sizes", LoDError).copy()
    if len(known) and known.min() < 0:
        raise LoDError(f"{where}: sizes: is {known.min()} at position {known.argmin()}; 0 or more is needed")
    if not known.any():
        raise ValueError(f"{where}: sizes: are all 0; a source with sequences is needed")
    check_size(f"{where}: the order of source {known.argmax()}", known.max().item(), 8)
    if isinstance(temperature, (bool, np.timedelta64)) or not isinstance(temperature, (int, float, np.number)):
        raise DTypeError(f"{where}: temperature: is {temperature!r}; a number is needed")
    if not temperature > 0:
        raise ValueError(f"{where}: temperature: is {temperature}; it must be above 0")
    limit = MOST if num_samples is None else as_count(f"{where}: num_samples", num_samples, 0)
    return SourceSampler(known, float(temperature), as_count(f"{where}: seed", seed, 0), limit)


class SourceSampler(Stepping):
    """An iterator of pairs (source, number of a sequence); `sample_by_temperature` makes it.

    Attributes
    ----------
    sizes : int64, shape (n,)
    temperature : float
    seed, num_samples : int
    probabilities : float64, shape (n,)
    position : int
        The number of samples drawn so far.
    """

    __module__ = "lodcore.batching"

    def __init__(self, sizes: Int64, temperature: float, seed: int, num_samples: int) -> None:
        self.sizes, self.temperature, self.seed, self.num_samples = sizes, temperature, seed, num_samples
        weights = np.zeros(len(sizes))
        some = sizes > 0
        logs = np.log(sizes[some])
        with np.errstate(over="ignore"):  # of sources that are never drawn, if the temperature is tiny
            weights[some] = np.exp((logs - logs.max()) / temperature)
        self.probabilities = weights / weights.sum()
        self.position = 0
        self._drawn = np.zeros(len(sizes), np.int64)  # samples from each source
        self._forget()

    def _forget(self) -> None:
        self._block: tuple[int, Int64] = -1, np.empty(0, np.int64)  # the number of the block, and its sources
        self._orders: dict[int, tuple[int, Int64]] = {}  # by source: completed traversals, and the current order

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return self

    def following(self) -> tuple[Any, tuple[Any, ...]]:
        """Return the next pair, and what changes with it."""
        position = self.position
        if position >= self.num_samples:
            return END, ()
        number, place = divmod(position, BLOCK)
        known_number, block = self._block
        if number != known_number:
            random = np.random.default_rng([self.seed, 0, number])
            edges = np.cumsum(self.probabilities)
            found = np.searchsorted(edges, random.random(BLOCK) * edges[-1], side="right")
            block = np.minimum(found, int(np.flatnonzero(self.sizes)[-1]))
            self._block = number, block
        source = block.item(place)
        drawn = self._drawn.item(source)
        turn, at = divmod(drawn, self.sizes.item(source))
        known = self._orders.get(source)
        if known is None or known[0] != turn:
            random = np.random.default_rng([self.seed, 1, source, turn])
            known = self._orders[source] = turn, random.permutation(self.sizes.item(source))
        pair = source, known[1].item(at)
        return pair, (self._drawn, source, drawn + 1, self, "position", position + 1)

    def state_dict(self) -> dict[str, Any]:
        """Return the current state: numbers, including one per source.

        Returns
        -------
        dict
        """
        return {"position": self.position, "seed": self.seed, "drawn": self._drawn.tolist(), "digest": self._digest()}

    def _digest(self) -> str:
        return digest(self.sizes, self.temperature)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from the state of another sampler of the same sources; nothing is drawn again.

        Parameters
        ----------
        state : mapping
            The result of `state_dict`.

        Raises
        ------
        ValueError
            If an entry is missing, or the state belongs to other sources or another temperature.
        """
        where = "SourceSampler.load_state_dict"
        what = "is that of a sampler with other sizes or another temperature"
        check_state(where, state, ("position", "seed", "drawn"), {"digest": self._digest()}, what)
        drawn = buffers.as_int64(state["drawn"], f"{where}: drawn", LoDError)
        position, seed = (as_count(f"{where}: {name}", state[name], 0) for name in ("position", "seed"))
        if len(drawn) != len(self.sizes) or drawn.min() < 0 or int(drawn.sum()) != position:
            raise ValueError(
                f"{where}: state: has {int(drawn.sum())} of {len(drawn)} sources; "
                f"{position} of {len(self.sizes)} are needed"
            )
        if position > self.num_samples:
            raise ValueError(f"{where}: position: is {position}; num_samples is {self.num_samples}")
        if drawn[self.sizes == 0].any():
            raise ValueError(f"{where}: state: draws from a source that is empty here")
        self._forget()
        self.__dict__.update(position=position, seed=seed, _drawn=drawn.copy())  # in one step

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if not name.startswith("_")}
        return {**kept, "_drawn": self._drawn.copy()}  # a copy draws for itself

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()
