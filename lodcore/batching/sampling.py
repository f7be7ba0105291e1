"""Sampling from several sources: small ones more often than their size says, by a temperature."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lodcore.base import buffers
from lodcore.batching.arguments import MOST, Int64, as_count
from lodcore.errors import DTypeError, LoDError

__all__ = ["SourceSampler", "sample_by_temperature"]

#: Sources are drawn so many at a time.
BLOCK = 4096


def sample_by_temperature(
    sizes: npt.ArrayLike, temperature: float = 1.0, seed: int = 0, num_samples: int | None = None
) -> SourceSampler:
    """Sample from sources with probabilities proportional to size ** (1 / temperature).

    Parameters
    ----------
    sizes : array_like of integers, shape (n,)
        How many sequences each source has. An empty source is never drawn.
    temperature : float
        1: as the sizes are. Greater: small sources more often; infinite: all sources alike.
    seed : int
    num_samples : int, optional
        How many are drawn; without end, if not given.

    Returns
    -------
    SourceSampler
        An iterator of pairs: a source, and the number of a sequence there. Every source is run through in a random
        order, and again in another one, so that no sequence comes twice before all of its source came once.

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
        raise LoDError(f"{where}: sizes: is {known.min()} at position {known.argmin()}; a size is not negative")
    if not known.any():
        raise ValueError(f"{where}: sizes: are all 0; there is nothing to draw from")
    if isinstance(temperature, (bool, str)) or not isinstance(temperature, (int, float, np.number)):
        raise DTypeError(f"{where}: temperature: is {temperature!r}; a number is needed")
    if not temperature > 0:
        raise ValueError(f"{where}: temperature: is {temperature}; it must be above 0")
    limit = MOST if num_samples is None else as_count(f"{where}: num_samples", num_samples, 0)
    return SourceSampler(known, float(temperature), as_count(f"{where}: seed", seed, 0), limit)


class SourceSampler:
    """An iterator of pairs (source, number of a sequence); `sample_by_temperature` makes it.

    Attributes
    ----------
    sizes : int64, shape (n,)
    temperature : float
    seed, num_samples : int
    probabilities : float64, shape (n,)
    position : int
        How many have been drawn.
    """

    def __init__(self, sizes: Int64, temperature: float, seed: int, num_samples: int) -> None:
        self.sizes, self.temperature, self.seed, self.num_samples = sizes, temperature, seed, num_samples
        weights = np.zeros(len(sizes))
        some = sizes > 0
        logs = np.log(sizes[some]) / temperature
        weights[some] = np.exp(logs - logs.max())
        self.probabilities = weights / weights.sum()
        self.position = 0
        self._drawn = np.zeros(len(sizes), np.int64)  # of each source
        self._forget()

    def _forget(self) -> None:
        self._block, self._number = np.empty(0, np.int64), -1
        self._orders: dict[int, tuple[int, Int64]] = {}  # of each source: how many times it was run through, its order

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return self

    def __next__(self) -> tuple[int, int]:
        if self.position >= self.num_samples:
            raise StopIteration
        number, place = divmod(self.position, BLOCK)
        if number != self._number:
            random = np.random.default_rng([self.seed, 0, number])
            edges = np.cumsum(self.probabilities)
            found = np.searchsorted(edges, random.random(BLOCK) * edges[-1], side="right")
            self._block, self._number = np.minimum(found, int(np.flatnonzero(self.sizes)[-1])), number
        source = self._block.item(place)
        turn, at = divmod(self._drawn.item(source), self.sizes.item(source))
        known = self._orders.get(source)
        if known is None or known[0] != turn:
            random = np.random.default_rng([self.seed, 1, source, turn])
            known = self._orders[source] = turn, random.permutation(self.sizes.item(source))
        self._drawn[source] += 1
        self.position += 1
        return source, known[1].item(at)

    def state_dict(self) -> dict[str, Any]:
        """Return where we are: numbers, one for each source among them.

        Returns
        -------
        dict
        """
        return {"position": self.position, "seed": self.seed, "drawn": self._drawn.tolist()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from the state of another sampler of the same sources; nothing is drawn again.

        Parameters
        ----------
        state : mapping
            What `state_dict` gave.

        Raises
        ------
        ValueError
            If something is missing, or belongs to other sources.
        """
        where = "SourceSampler.load_state_dict"
        missing = [name for name in ("position", "seed", "drawn") if name not in state]
        if missing:
            raise ValueError(f"{where}: state: {', '.join(missing)} missing")
        drawn = buffers.as_int64(state["drawn"], f"{where}: drawn", LoDError)
        position, seed = (as_count(f"{where}: {name}", state[name], 0) for name in ("position", "seed"))
        if len(drawn) != len(self.sizes) or drawn.min() < 0 or int(drawn.sum()) != position:
            raise ValueError(
                f"{where}: state: has {int(drawn.sum())} of {len(drawn)} sources; "
                f"{position} of {len(self.sizes)} are needed"
            )
        if drawn[self.sizes == 0].any():
            raise ValueError(f"{where}: state: draws from a source that is empty here")
        self.position, self.seed, self._drawn = position, seed, drawn.copy()
        self._forget()

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if not name.startswith("_")}
        return {**kept, "_drawn": self._drawn}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()
