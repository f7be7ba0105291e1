"""Elementwise math of nested lists.

An operand is a pair of the number of levels and the number of axes of a row (for a dense operand: None and the number
of its axes), followed by the nested lists.
"""

import math

from reference.reals import exp, log, sqrt, tanh

__all__ = ["UNARY", "broadcast", "elementwise", "relu", "sigmoid"]


def broadcast(function, operands):
    """Apply a function to pairs (number of axes, nested lists), broadcasting lists of length 1."""
    depth = max(axes for axes, _ in operands)
    if depth == 0:
        return function(*[x for _, x in operands])
    sizes = {len(x) for axes, x in operands if axes == depth}
    (size,) = sizes if len(sizes) == 1 else sizes - {1}

    def entry(axes, x, i):
        return (axes, x) if axes < depth else (axes - 1, x[i if len(x) > 1 else 0])

    return [broadcast(function, [entry(axes, x, i) for axes, x in operands]) for i in range(size)]


def elementwise(function, *operands):
    """Apply a function to operands (levels, axes of a row, nested), which broadcast from the last axis.

    A number per row of a batch is used for the whole row.
    """
    widest = max((levels + 1 + axes for levels, axes, _ in operands if levels is not None), default=0)

    def lists(levels, axes, x):
        if levels is None:
            return axes, x
        if axes:
            return levels + 1 + axes, x
        return widest, wrapped(x, levels + 1, widest - levels - 1)

    return broadcast(function, [lists(*operand) for operand in operands])


def wrapped(x, depth, count):
    """Replace each number in nested lists by `count` nested lists of one."""
    if depth:
        return [wrapped(inner, depth - 1, count) for inner in x]
    for _ in range(count):
        x = [x]
    return x


def sigmoid(x):
    """Compute 1 / (1 + exp(-x))."""
    return 1 / (1 + exp(-x)) if x > 0 else exp(x) / (1 + exp(x))


def relu(x):
    """Compute the larger of x and 0; nan propagates, and has no derivative."""
    return x if x > 0 else math.nan if x != x else 0 if isinstance(x, int) else 0.0


UNARY = {
    "sigmoid": sigmoid,
    "tanh": tanh,
    "relu": relu,
    "exp": exp,
    "log": log,
    "sqrt": sqrt,
}
