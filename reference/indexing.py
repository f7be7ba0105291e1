"""Indexing of nested lists with brackets: sequences, rows and numbers alike."""

from typing import Any, NamedTuple

__all__ = ["Nested", "getitem", "spread"]


class Nested(NamedTuple):
    """An index with levels: for each sequence of the last level, a list of positions or of bools."""

    lists: list[Any]
    num_levels: int


def getitem(nested, keys):
    """Index nested lists.

    Parameters
    ----------
    nested : list
    keys : list
        Each is an int, a slice, or a list of int or bool; the first one may be Nested.
    """
    if not keys:
        return nested
    key, rest = keys[0], keys[1:]
    if isinstance(key, int):
        return getitem(nested[key], rest)
    if isinstance(key, slice):
        return [getitem(entry, rest) for entry in nested[key]]
    if isinstance(key, Nested):
        pairs = zip(nested, key.lists, strict=True)
        return [inside(entry, one, key.num_levels - 1, rest) for entry, one in pairs]
    places = positions(key)
    if rest and isinstance(rest[0], list):  # two vectors are paired
        return [getitem(nested[i][j], rest[1:]) for i, j in zip(places, rest[0], strict=True)]
    return [getitem(nested[i], rest) for i in places]


def inside(entry, key, num_levels, rest):
    """Apply a nested key to one sequence, and then the remaining keys."""
    if num_levels:
        return [inside(inner, one, num_levels - 1, rest) for inner, one in zip(entry, key, strict=True)]
    return [getitem(entry[i], rest) for i in positions(key)]


def positions(key):
    """Convert a mask to the positions where it is true."""
    if any(isinstance(one, bool) for one in key):
        return [i for i in range(len(key)) if key[i]]
    return key


def spread(nested):
    """List the numbers in nested lists."""
    return [number for entry in nested for number in spread(entry)] if isinstance(nested, list) else [nested]
