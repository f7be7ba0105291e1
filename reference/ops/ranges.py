"""Ranges of numbers."""

from math import ceil

from reference.case import cases
from reference.draw_tensors import vector
from reference.tensors import Dense, Ragged

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


# -- cases -------------------------------------------------------------------------------------------------------------


@cases({"int64", "float64"}, gradient=False, walked="starts")
def draw_arange(source):
    count = source.integer(1, 5)
    steps = [step or 1 for step in source.integers(count, -2, 3)]
    starts, stops = source.integers(count, -5, 5), source.integers(count, -5, 5)
    if source.integer(0, 1):
        made = [vector(source, numbers) for numbers in (starts, stops, steps)]
    else:
        made = [Dense([number / 4 for number in numbers], (count,), "float64") for numbers in (starts, stops, steps)]
    return dict(zip(("starts", "stops", "steps"), made, strict=True))


@draw_arange.expected
def _(starts, stops, steps):
    dtype = "float64" if starts.dtype == "float64" else "int64"
    return Ragged(arange(starts.nested, stops.nested, steps.nested), 1, (), dtype)
