"""Numbers that operators of networks take: the dtype in which they compute, and settings within bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore.base import threads
from lodcore.errors import DTypeError

__all__ = ["number_of", "reals_of", "runs"]

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def number_of(where: str, given: Any, least: float = -math.inf, most: float = math.inf) -> float:
    """Take a real number within bounds; an array is none.

    Raises
    ------
    DTypeError, ValueError
        If it is not a real number, or is nan or out of bounds.
    """
    if isinstance(given, bool) or not isinstance(given, (int, float, np.floating, np.integer)):
        raise DTypeError(f"{where}: is {given!r}; a number is needed")
    number = float(given)
    if not least <= number <= most:
        bounds = f"{least:g} or more is needed" if most == math.inf else f"{least:g} .. {most:g} is valid"
        raise ValueError(f"{where}: is {given!r}; {bounds if least > -math.inf else 'a real number is needed'}")
    return number


def reals_of(where: str, **dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which operands are computed: float32 or float64, as NumPy's promotion says.

    Raises
    ------
    DTypeError
        Naming the operand that has no real numbers, or wider ones.
    """
    for name, dtype in dtypes.items():
        if dtype.kind not in "biuf" or dtype.itemsize > DOUBLE.itemsize:
            raise DTypeError(f"{where}: {name}: has dtype {dtype}; real numbers of at most float64 are needed")
    found = np.result_type(*dtypes.values())
    return SINGLE if found.kind == "f" and found.itemsize <= SINGLE.itemsize else DOUBLE


def runs(count: int, size: int, block: int) -> list[tuple[int, int]]:
    """Cut entries into runs of whole blocks, a few a thread.

    Parameters
    ----------
    count : int
        Of entries.
    size : int
        Bytes that are moved in all.
    block : int
        Entries that stay together.

    Returns
    -------
    list of (int, int)
        Where each run starts and stops; a single one if one thread does it all.
    """
    wanted = threads.RUNS * threads.get_num_threads()
    if threads.get_num_threads() == 1 or size < threads.WIDE:
        return [(0, count)]
    step = -(-count // (wanted * block)) * block
    return [(start, min(start + step, count)) for start in range(0, count, step)]
