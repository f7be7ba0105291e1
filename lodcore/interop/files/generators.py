"""Generators of random numbers of NumPy from the states and seeds that a file has, which are checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lodcore.base.naming import described
from lodcore.errors import LoDError

__all__ = ["PLACES", "generator_of", "is_generator", "seed_of"]

#: The bit generators of NumPy; of those that have it, the position in their buffer, and its largest value. NumPy would
#: read past the buffer for another one.
PLACES: dict[str, tuple[tuple[str, ...], int] | None] = {
    "PCG64": None,
    "PCG64DXSM": None,
    "SFC64": None,
    "MT19937": (("state", "pos"), 624),
    "Philox": (("buffer_pos",), 4),
}

SEED = {"entropy", "spawn_key", "pool_size", "n_children_spawned"}
#: The most numbers of a seed, and their bits; NumPy takes time with their product.
MOST_NUMBERS, MOST_BITS = 1 << 16, 1 << 12
#: The sizes of the pool of a seed. NumPy takes time with the square.
POOL_SIZES = range(4, 65)
MOST_CHILDREN = 2**32 - 1


def is_generator(x: Any) -> bool:
    """Return whether this is a Generator of NumPy, without importing that part of NumPy."""
    return type(x).__name__ == "Generator" and type(x).__module__ == "numpy.random._generator"


def seed_of(where: str, generator: Any) -> dict[str, Any] | None:
    """Return the seed sequence of a Generator, which its children are spawned of, as plain data.

    Parameters
    ----------
    where : str
        The names of function and entry, for messages.
    generator : Generator

    Returns
    -------
    dict or None
        None if it is of another class than `numpy.random.SeedSequence`, or there is none.

    Raises
    ------
    LoDError
        If it would not be loaded again.
    """
    sequence = generator.bit_generator.seed_seq
    if type(sequence) is not np.random.SeedSequence:
        return None
    state = sequence.state
    given, entropy = state["entropy"], list(_numbers(state["entropy"]))
    seed = {**state, "entropy": entropy if isinstance(given, (list, tuple, np.ndarray)) else entropy[0]}
    seed["spawn_key"] = list(_numbers(state["spawn_key"]))
    _seed_sequence(where, seed)
    return seed


def _numbers(given: Any) -> Iterator[Any]:
    """Give the numbers of a seed, one after the other, as NumPy mixes them."""
    if isinstance(given, (list, tuple, np.ndarray)):
        for one in given:
            yield from _numbers(one)
    else:
        yield int(given) if isinstance(given, (int, np.integer)) else given


def generator_of(where: str, state: Any, seed: Any) -> np.random.Generator:
    """Return a Generator that draws on from a state.

    Parameters
    ----------
    where : str
        The names of function and file, for messages.
    state : dict
        As `bit_generator.state` has it.
    seed : dict or None
        As `seed_of` has it. None, as in a file that is older: then children are spawned of the numbers that follow the
        state, so that they are the same after each load, and others for another state.
    """
    name = state.get("bit_generator") if isinstance(state, dict) else None
    if not isinstance(name, str) or name not in PLACES:
        raise LoDError(f"{where}: has the bit generator {described(name)}; {', '.join(PLACES)} are known")
    kind: Any = getattr(np.random, name)
    made = kind(0 if seed is None else _seed_sequence(where, seed))
    place = PLACES[name]
    try:
        if place is not None:
            path, most = place
            at: Any = state
            for key in path:
                at = at[key]
            if type(at) is not int or not 0 <= at <= most:
                raise LoDError(f"{where}: {name}: {path[-1]} is {described(at)}; 0 .. {most} is needed")
        _check_arrays(f"{where}: {name}", made.state, state)
        made.state = state
        if seed is None:
            made = kind(made.random_raw(4))
            made.state = state
    except LoDError:
        raise
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise LoDError(f"{where}: {name}: has no valid state: {error}") from None
    return np.random.Generator(made)


def _seed_sequence(where: str, given: Any) -> np.random.SeedSequence:
    """Return the seed sequence of a description."""
    where = f"{where}: seed"
    if not isinstance(given, dict) or given.keys() != SEED:
        raise LoDError(f"{where}: is {described(given)}; a dict of {', '.join(sorted(SEED))} is needed")
    entropy, spawn_key = given["entropy"], given["spawn_key"]
    for key, numbers in (("entropy", entropy if isinstance(entropy, list) else [entropy]), ("spawn_key", spawn_key)):
        if not isinstance(numbers, list):
            raise LoDError(f"{where}: {key}: is {described(numbers)}; a list is needed")
        if len(numbers) > MOST_NUMBERS:
            raise LoDError(f"{where}: {key}: has {len(numbers)} numbers; {MOST_NUMBERS} is the most")
        for n in numbers:
            if type(n) is not int or n < 0 or n.bit_length() > MOST_BITS:
                needed = f"integers of 0 or more and at most {MOST_BITS} bits are needed"
                raise LoDError(f"{where}: {key}: has {described(n)}; {needed}")
    for key, possible in (("pool_size", POOL_SIZES), ("n_children_spawned", range(MOST_CHILDREN + 1))):
        if type(given[key]) is not int or given[key] not in possible:
            raise LoDError(f"{where}: {key}: is {described(given[key])}; {possible[0]} .. {possible[-1]} is needed")
    return np.random.SeedSequence(**given)


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
        raise LoDError(f"{where}: is {described(given)}; an integer of 0 or more is needed")
