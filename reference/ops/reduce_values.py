"""Reductions over axes of nested lists: an array is nested as deep as it has axes."""

import math

from reference.reals import add_up, divide

__all__ = ["REDUCTIONS", "reduce_axes"]


def largest(numbers, initial):
    """Return the first of the largest numbers; the first nan, if there is one."""
    found = initial
    for number in numbers:
        if found is None or number > found or (number != number and found == found):
            found = number
    return found


def smallest(numbers, initial):
    """Return the first of the smallest numbers; the first nan, if there is one."""
    found = initial
    for number in numbers:
        if found is None or number < found or (number != number and found == found):
            found = number
    return found


def place(numbers, number):
    """Find the first position of a number."""
    return next(i for i, one in enumerate(numbers) if one == number or (one != one and number != number))


REDUCTIONS = {  # of the numbers, and of the initial value of an extreme
    "sum": lambda numbers, initial: add_up(numbers),
    "prod": lambda numbers, initial: math.prod(numbers),
    "mean": lambda numbers, initial: divide(add_up(numbers), len(numbers)),
    "max": largest,
    "min": smallest,
    "any": lambda numbers, initial: any(map(bool, numbers)),
    "all": lambda numbers, initial: all(map(bool, numbers)),
    "argmax": lambda numbers, initial: place(numbers, largest(numbers, None)),
    "argmin": lambda numbers, initial: place(numbers, smallest(numbers, None)),
}


def reduce_axes(function, parts, shape, axes, keepdims=False, axis=0):
    """Reduce arrays of one shape together: their numbers along axes, which count from `axis`."""
    if not shape:
        return function(parts)
    if axis not in axes:
        return [
            reduce_axes(function, [part[i] for part in parts], shape[1:], axes, keepdims, axis + 1)
            for i in range(shape[0])
        ]
    inner = [entry for part in parts for entry in part]
    made = reduce_axes(function, inner, shape[1:], axes, keepdims, axis + 1)
    return [made] if keepdims else made
