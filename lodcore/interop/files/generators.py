"""Generators of random numbers of NumPy from the states that a file has, which are checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.errors import LoDError

__all__ = ["PLACES", "generator_of", "is_generator"]

#: The bit generators of NumPy; of those that have it, the position in their buffer, and its largest value. NumPy would
#: read past the buffer for another one.
PLACES: dict[str, tuple[tuple[str, ...], int] | None] = {
    "PCG64": None,
    "PCG64DXSM": None,
    "SFC64": None,
    "MT19937": (("state", "pos"), 624),
    "Philox": (("buffer_pos",), 4),
}


def is_generator(x: Any) -> bool:
    """Return whether this is a Generator of NumPy, without importing that part of NumPy."""
    return type(x).__name__ == "Generator" and type(x).__module__ == "numpy.random._generator"


def generator_of(where: str, state: Any) -> np.random.Generator:
    """Return a Generator that draws on from a state.

    Parameters
    ----------
    where : str
        The names of function and file, for messages.
    state : dict
        As `bit_generator.state` has it.
    """
    name = state.get("bit_generator") if isinstance(state, dict) else None
    if not isinstance(name, str) or name not in PLACES:
        raise LoDError(f"{where}: has the bit generator {str(name)[:40]!r}; {', '.join(PLACES)} are known")
    made: Any = getattr(np.random, name)(0)
    place = PLACES[name]
    try:
        if place is not None:
            path, most = place
            at: Any = state
            for key in path:
                at = at[key]
            if type(at) is not int or not 0 <= at <= most:
                raise LoDError(f"{where}: {name}: {path[-1]} is {str(at)[:40]}; 0 .. {most} is needed")
        _check_arrays(f"{where}: {name}", made.state, state)
        made.state = state
    except LoDError:
        raise
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise LoDError(f"{where}: {name}: has no valid state: {error}") from None
    return np.random.Generator(made)


def _check_arrays(where: str, known: Any, given: Any) -> None:
    """Raise LoDError if a state has not the arrays, and the numbers, that a new one has."""
    if isinstance(known, dict):
        if not isinstance(given, dict) or given.keys() != known.keys():
            raise LoDError(f"{where}: has a different state from NumPy's")
        for key, one in known.items():
            _check_arrays(f"{where}: {key}", one, given[key])
        return
    if isinstance(known, np.ndarray):
        same = isinstance(given, np.ndarray) and given.shape == known.shape and given.dtype == known.dtype
        if not same:
            raise LoDError(f"{where}: is {type(given).__name__}; {known.dtype} of shape {known.shape} is needed")
    elif type(known) is int and (type(given) is not int or given < 0):
        raise LoDError(f"{where}: is {str(given)[:40]}; an integer of 0 or more is needed")
