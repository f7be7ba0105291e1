"""Numeric arguments of network operators: the dtype of the computation, and numbers within bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore.base import threads
from lodcore.errors import DTypeError

__all__ = ["is_real", "number_of", "reals_of", "runs"]

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def is_real(given: Any) -> bool:
    """Return whether an argument is one real number; NumPy counts durations among its integers."""
    return isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, (bool, np.timedelta64))


def number_of(where: str, given: Any, least: float = -math.inf, most: float = math.inf) -> float:
    """Return a real number within bounds; arrays are not accepted.

    Raises
    ------
    DTypeError, ValueError
        If the argument is not a real number, or is nan or out of bounds.
    """
    if not is_real(given):
        raise DTypeError(f"{where}: is {given!r}; a number is needed")
    number = float(given)
    if not least <= number <= most:
        bounds = f"{least:g} or more is needed" if most == math.inf else f"{least:g} .. {most:g} is valid"
        raise ValueError(f"{where}: is {given!r}; {bounds if least > -math.inf else 'a real number is needed'}")
    return number


def reals_of(where: str, **dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the computation: float32 or float64, by NumPy's promotion.

    Raises
    ------
    DTypeError
        If an operand does not hold real numbers of at most float64; the message names it.
    """
    for name, dtype in dtypes.items():
        if dtype.kind not in "biuf" or dtype.itemsize > DOUBLE.itemsize:
            raise DTypeError(f"{where}: {name}: has dtype {dtype}; real numbers of at most float64 are needed")
    found = np.result_type(*dtypes.values())
    return SINGLE if found.kind == "f" and found.itemsize <= SINGLE.itemsize else DOUBLE


def runs(count: int, size: int, block: int) -> list[tuple[int, int]]:
    """Split entries into runs of whole blocks, a few per thread.

    Parameters
    ----------
    count : int
        The number of entries.
    size : int
        The number of bytes that are read and written in total.
    block : int
        The number of entries per block.

    Returns
    -------
    list of (int, int)
        The start and stop of each run; a single run if one thread is used.
    """
    wanted = threads.RUNS * threads.get_num_threads()
    if threads.get_num_threads() == 1 or size < threads.WIDE:
        return [(0, count)]
    step = -(-count // (wanted * block)) * block
    return [(start, min(start + step, count)) for start in range(0, count, step)]
