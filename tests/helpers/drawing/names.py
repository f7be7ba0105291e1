"""The names in scope where a statement is drawn: values and their kinds, arrays, slots, loop variables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from reference.graph.statements import Compute
from reference.graph.values import Element

WIDTH = 2  # of rows, and of the square matrix of weights


class Kind(NamedTuple):
    """The kind of a value: its shape, where a text is a length that the run determines; a nested one names its LoD."""

    dtype: str
    levels: int
    shape: tuple[Any, ...]

    @property
    def element(self):
        return Element(self.dtype, self.levels, tuple(None if isinstance(n, str) else n for n in self.shape))

    def like(self, other):
        """Return whether a loop variable, or an array, may hold both kinds."""
        same = (self.dtype, self.levels, len(self.shape)) == (other.dtype, other.levels, len(other.shape))
        return same and self.shape[1:] == other.shape[1:]


NUMBER, VECTOR, INTEGER = Kind("float64", 0, ()), Kind("float64", 0, (WIDTH,)), Kind("int64", 0, ())
MATRIX = Kind("float64", 0, (WIDTH, WIDTH))


def is_recorded(statement):
    """Return whether a statement calls an operator, whatever its arguments; `+` of two arrays is NumPy's."""
    if not isinstance(statement, Compute):
        return False
    return statement.function[0].islower() and statement.function not in ("element", "lengths", "first column")


@dataclass
class ArrayInfo:
    """The known facts about an array: its elements, whether their numbers of rows differ, and who may write."""

    kind: str
    element: Kind | None = None
    free: bool = False
    grows: bool = True
    rank: str | None = None


@dataclass
class Names:
    """The names in scope at a statement."""

    values: dict[str, Kind] = field(default_factory=dict)
    arrays: dict[str, ArrayInfo] = field(default_factory=dict)
    slots: dict[str, tuple[str, Kind]] = field(default_factory=dict)
    variables: dict[str, tuple[Kind, bool]] = field(default_factory=dict)  # of the innermost loop, and whether free
    counters: list[str] = field(default_factory=list)
    depth: int = 0
    later: dict[str, dict[str, Kind]] = field(default_factory=dict)  # the variables of loops that may run here

    def inside(self):
        """Begin a body."""
        inside = list(self.counters), self.depth + 1, dict(self.later)
        return Names(dict(self.values), dict(self.arrays), {}, {}, *inside)

    def of(self, wanted):
        return [name for name, kind in self.values.items() if wanted(kind)]

    def floats(self):
        return self.of(lambda kind: kind.dtype == "float64")

    def integers(self):
        return self.of(lambda kind: kind == INTEGER)
