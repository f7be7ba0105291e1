"""The positions of quantiles among sorted numbers, by NumPy's methods, for many counts of numbers at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.operators.operands import Array

__all__: list[str] = []

Place = tuple[Array, Any]


def _between(index: Array) -> Place:
    """Split a fractional position into the row below and the weight of the row above."""
    low = np.floor(index)
    return low, index - low


def _along(alpha: float, beta: float) -> Callable[[Array, Array], Place]:
    """Return the method for two constants of Hyndman and Fan."""

    def place(n: Array, q: Array) -> Place:
        return _between(n * q + (alpha + q * (1 - alpha - beta)) - 1)

    return place


def _inverted(n: Array, q: Array) -> Place:
    low, rest = _between(n * q - 1)
    return low + (rest != 0), 0.0


def _averaged(n: Array, q: Array) -> Place:
    low, rest = _between(n * q - 1)
    return low, np.where(rest == 0, 0.5, 1.0)


def _closest(n: Array, q: Array) -> Place:
    low, rest = _between(n * q - 1 - 0.5)
    return low + ((rest != 0) | (low % 2 == 0)), 0.0


def _midpoint(n: Array, q: Array) -> Place:
    low, rest = _between((n - 1) * q)
    return low, np.where(rest == 0, 0.0, 0.5)


#: The methods by name. They map counts and probabilities, which broadcast, to the row below and the weight of the row
#: above.
METHODS: dict[str, Callable[[Array, Array], Place]] = {
    "inverted_cdf": _inverted,
    "averaged_inverted_cdf": _averaged,
    "closest_observation": _closest,
    "interpolated_inverted_cdf": _along(0, 1),
    "hazen": _along(0.5, 0.5),
    "weibull": _along(0, 0),
    "linear": lambda n, q: _between((n - 1) * q),
    "median_unbiased": _along(1 / 3.0, 1 / 3.0),
    "normal_unbiased": _along(3 / 8.0, 3 / 8.0),
    "lower": lambda n, q: (np.floor((n - 1) * q), 0.0),
    "higher": lambda n, q: (np.ceil((n - 1) * q), 0.0),
    "midpoint": _midpoint,
    "nearest": lambda n, q: (np.rint((n - 1) * q), 0.0),
}

#: The methods that select one of the numbers, so that quantiles of integers are integers.
TAKING = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")


def places_of(method: str, n: Array, q: Array) -> tuple[Array, Array]:
    """Return the row below each quantile, and the weight of the row above.

    Parameters
    ----------
    method : str
        One of METHODS.
    n : ndarray of int64
        Counts of numbers; without numbers there is no quantile.
    q : ndarray of float64
        Probabilities; they broadcast with n.

    Returns
    -------
    low : ndarray of int64
        At most n - 1; -1 if n is 0.
    weights : ndarray of float64
    """
    low, weights = METHODS[method](n, q)
    weights = np.where((low < 0) | (low >= n - 1), 0.0, weights)  # clipped to the first or the last row
    return np.minimum(np.maximum(low, 0), n - 1).astype(np.int64), weights
