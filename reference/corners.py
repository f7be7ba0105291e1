"""The corner cases of an operator, where errors are most likely: named, so that the cases of each can be counted."""

import math

from reference.draw import DTYPES
from reference.ops.levels import sequences
from reference.tensors import Dense, Ragged, Structure, leaves

__all__ = ["MOVED", "ROWS", "STRUCTURES", "VALUES", "corners_of", "depths", "walks"]

STRUCTURES = frozenset(
    {"no sequences", "only empty sequences", "first empty", "last empty", "one giant", "no rows", "one row each"}
)
ROWS = frozenset({"rows of no axis", "rows of two axes", "rows of no width", "rows of width 1"})
VALUES = frozenset({"nan", "infinite", "ties"})
#: Operators that move whole rows of any dtype.
MOVED = STRUCTURES | ROWS | {*DTYPES, "nan"}


def depths(most, least=1):
    """Return the corner cases of the depths of a structure."""
    return {f"depth {depth}" for depth in range(least, most + 1)}


def walks(most):
    """Return the corner cases of the depths, and of the levels that can be passed to an operator."""
    return depths(most) | {f"level {level}" for level in range(most)} | {"level from the last"}


def corners_of(arguments, walked):
    """Return the corner cases that arguments cover.

    Parameters
    ----------
    arguments : dict
    walked : str
        The argument whose structure determines the corner cases.
    """
    found = set()
    for tensor in leaves(arguments[walked]) or leaves(arguments):
        found |= {tensor.dtype} | of_values(tensor)
    found |= {f"{name} {given}" for name, given in arguments.items() if isinstance(given, (str, bool))}
    x = first_of(arguments[walked])
    level = arguments.get("level", arguments.get("ref_level"))
    if isinstance(x, (Ragged, Structure)) and x.num_levels:
        found |= of_structure(x, -1 if level is None else level)
        if level is not None:
            found |= {f"level {level % x.num_levels}"} | ({"level from the last"} if level < 0 else set())
    elif isinstance(x, Dense):
        found.add("no levels")
    if isinstance(x, (Ragged, Dense)):
        found |= of_rows(x)
    return found


def first_of(given):
    """Return the tensor of an argument, the first of several, or None if there is none."""
    if isinstance(given, (Ragged, Dense, Structure)):
        return given
    found = leaves(given)
    return found[0] if found else None


def of_structure(x, level):
    """Return the corner cases of the sequences of a level."""
    sizes = [len(sequence) for sequence in sequences(x.nested, level % x.num_levels)]
    hit = {
        "no sequences": not sizes,
        "only empty sequences": bool(sizes) and not any(sizes),
        "first empty": any(sizes) and not sizes[0],
        "last empty": any(sizes) and not sizes[-1],
        "one giant": len(sizes) > 1 and sum(sizes) == max(sizes) > 7,
        "one row each": len(sizes) > 1 and set(sizes) == {1},
        "no rows": not sequences(x.nested, x.num_levels),
    }
    return {f"depth {x.num_levels}"} | {name for name, hits in hit.items() if hits}


def of_rows(x):
    """Return the corner cases of the shape of a row."""
    shape = x.row_shape
    hit = {
        "rows of no axis": shape == (),
        "rows of two axes": len(shape) == 2,
        "rows of no width": 0 in shape,
        "rows of width 1": shape == (1,),
    }
    return {name for name, hits in hit.items() if hits}


def of_values(tensor):
    """Return the corner cases of numbers."""
    numbers = tensor.numbers()
    known = [number for number in numbers if number == number]
    hit = {
        "nan": len(known) < len(numbers),
        "infinite": any(isinstance(number, float) and math.isinf(number) for number in known),
        "ties": len(set(known)) < len(known),
    }
    return {name for name, hits in hit.items() if hits}
