"""Ranges of numbers."""

from math import ceil

__all__ = ["arange"]


def arange(starts, stops, steps):
    """Make a range of numbers for each start, stop and step."""
    found = []
    for start, stop, step in zip(starts, stops, steps, strict=True):
        if isinstance(start, int):
            found.append(list(range(start, stop, step)))
        else:
            found.append([start + at * step for at in range(ceil((stop - start) / step))])
    return found
