"""Structures and numbers, drawn from a source of choices: a seed, or hypothesis.

A source has `integer(low, high)`, `integers(count, low, high)` and `choice(options)`; bounds are included. `Seeded` is
a source; the strategies of the tests are another, so that both draw the same distributions. Structures are drawn from
coarse to fine, where each level counts the next one, so that all of them are valid. Numbers come from a seed that the
source chooses.
"""

import math
import random
import struct

__all__ = ["DTYPES", "FLOATS", "INTEGERS", "Seeded", "lengths", "levels", "numbers", "running_sum", "to_float32"]

FLOATS = ("float64", "float32")
INTEGERS = ("int64", "int32", "uint8")
DTYPES = (*FLOATS, *INTEGERS, "bool")


class Seeded:
    """A source of choices that a seed determines."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def integer(self, low, high):
        return self._random.randint(low, high)

    def integers(self, count, low, high):
        return [self._random.randint(low, high) for _ in range(count)]

    def choice(self, options):
        return self._random.choice(list(options))


# -- structures ----------------------------------------------------------------------------------------------------


def lengths(source, count=None, most=8, longest=5):
    """Draw the lengths of `count` sequences (by default a random number of them, at most `most`): a list of int.

    Corner cases are frequent: no sequences, only empty ones, an empty first or last one, one row each, one giant.
    """
    count = source.integer(0, most) if count is None else count
    corner = source.choice(["none", "all empty", "all ones", "giant", "first empty", "last empty"])
    if corner == "all empty" or count == 0:
        return [0] * count
    if corner == "all ones":
        return [1] * count
    if corner == "giant":
        giant = source.integer(0, count - 1)
        return [8 * longest if s == giant else 0 for s in range(count)]
    drawn = source.integers(count, 0, longest)
    if corner != "none":
        drawn[0 if corner == "first empty" else -1] = 0
    return drawn


def running_sum(sizes):
    """Compute offsets from lengths: a list of int."""
    total = [0]
    for size in sizes:
        total.append(total[-1] + size)
    return total


def levels(source, min_levels=1, max_levels=4, most=8):
    """Draw the offsets of a structure, from coarse to fine: a list of lists of int."""
    made = []
    count = None
    for _ in range(source.integer(min_levels, max_levels)):
        longest = 5 if count is None or count < 16 else 1
        made.append(running_sum(lengths(source, count, most, longest)))
        count = made[-1][-1]
    return made


# -- numbers -------------------------------------------------------------------------------------------------------


def to_float32(number):
    """Round a number to float32; infinite beyond its range."""
    return struct.unpack("f", struct.pack("f", number))[0]


#: How floats are drawn: few quarters, so that many are equal; any; any positive; all one; with nan and infinities. Then
#: those at kinks of functions, which are drawn only on demand, and those of cotangents.
FLAVOURS = {
    "quarters": lambda pick: pick.randint(-8, 8) / 4,
    "any": lambda pick: pick.uniform(-4, 4),
    "positive": lambda pick: pick.uniform(0.25, 4),
    "equal": lambda pick: 1.5,
    "nan": lambda pick: math.nan if pick.random() < 0.3 else pick.randint(-8, 8) / 4,
    "infinite": lambda pick: pick.choice([math.inf, -math.inf]) if pick.random() < 0.3 else pick.randint(-8, 8) / 4,
    "kinks": lambda pick: pick.choice([-2.0, -1.0, -0.0, 0.0, 1.0, 1.0, 2.0]),
    "kinks and nan": lambda pick: pick.choice([-2.0, -1.0, 0.0, 1.0, 1.0, math.nan]),
    "kinks and infinities": lambda pick: pick.choice([-2.0, 0.0, 1.0, 1.0, math.inf, -math.inf]),
    "cotangent": lambda pick: pick.randint(-8, 8) / 4,
}


def numbers(source, count, dtype, flavours=("quarters", "any")):
    """Draw `count` numbers that a dtype represents exactly: a list of float, int or bool."""
    pick = random.Random(source.integer(0, 2**32))
    if dtype == "bool":
        return [pick.random() < 0.5 for _ in range(count)]
    if dtype in INTEGERS:
        return [pick.randint(0 if dtype == "uint8" else -8, 8) for _ in range(count)]
    make = FLAVOURS[source.choice(flavours)]
    drawn = [make(pick) for _ in range(count)]
    return [to_float32(number) for number in drawn] if dtype == "float32" else drawn
