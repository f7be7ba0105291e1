"""Sampling of one token per branch from its probabilities."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lodcore.errors import DTypeError
from lodcore.operators.arguments import integer_of
from lodcore.operators.numbers import is_real

__all__ = ["Sampling", "sampling_of"]

Array = np.ndarray[Any, Any]


class Sampling(NamedTuple):
    """The settings by which tokens are drawn.

    Attributes
    ----------
    temperature : float
        The divisor of log probabilities.
    top_k : int or None
        The number of most probable tokens from which one is drawn.
    top_p : float or None
        The total probability of the fewest most probable tokens from which one is drawn.
    """

    temperature: float
    top_k: int | None
    top_p: float | None

    def draw(self, log_probs: Array, chances: Array) -> Array:
        """Draw one token per branch.

        Parameters
        ----------
        log_probs : float32 or float64, shape (n_branches, n_tokens)
        chances : float64, shape (n_branches,), in [0, 1)
            The token is the first at which the cumulative probability of the branch exceeds this share.

        Returns
        -------
        ndarray of int64, shape (n_branches,)
            Any token for a branch whose tokens are all impossible.
        """
        possible = np.where(log_probs > -np.inf, log_probs.astype(np.float64), -np.inf)
        order = np.argsort(-possible, axis=1, kind="stable")[:, : self.top_k]
        ranked = np.take_along_axis(possible, order, 1)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            shares = np.exp((ranked - ranked[:, :1]) / self.temperature)
        shares[~(shares >= 0)] = 0  # for branches with impossible tokens only
        sums = np.cumsum(shares, axis=1)
        if self.top_p is not None:
            kept = sums - shares < self.top_p * sums[:, -1:]
            shares[~kept] = 0
            sums = np.cumsum(shares, axis=1)
        places = (sums <= (chances * sums[:, -1])[:, None]).sum(1)
        last = np.maximum((shares > 0).sum(1) - 1, 0)  # where rounding would lead past the end
        return np.take_along_axis(order, np.minimum(places, last)[:, None], 1)[:, 0]


def sampling_of(where: str, temperature: Any, top_k: Any, top_p: Any) -> Sampling | None:
    """Return the settings of sampling, or None if none is given."""
    if temperature is None and top_k is None and top_p is None:
        return None
    heat = 1.0 if temperature is None else real_of(f"{where}: temperature", temperature)
    if not 0 < heat < np.inf:
        raise ValueError(f"{where}: temperature: is {temperature}; more than 0 is needed (a beam of 1 is greedy)")
    if top_k is not None:
        top_k = integer_of(f"{where}: top_k", top_k, 1)
    if top_p is not None:
        top_p = real_of(f"{where}: top_p", top_p)
        if not 0 < top_p <= 1:
            raise ValueError(f"{where}: top_p: is {top_p}; more than 0 and at most 1 is needed")
    return Sampling(heat, top_k, top_p)


def real_of(where: str, given: Any) -> float:
    """Return one real number."""
    if not is_real(given):
        raise DTypeError(f"{where}: is {given!r}; a number is needed")
    return float(given)
