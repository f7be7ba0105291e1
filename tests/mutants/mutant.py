"""A defect to insert."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """One defect: in the file at `path`, `old`, which occurs there once, becomes `new`; `tests` must find it."""

    name: str
    path: str
    old: str
    new: str
    tests: str
