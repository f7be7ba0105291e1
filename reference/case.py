"""Cases of operators: drawn arguments, results of the oracle, and gradients computed by its code."""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

from reference.corners import corners_of
from reference.draw import FLOATS, numbers
from reference.dual import Dual, derivatives, value
from reference.tensors import Steps, leaves, map_leaves

__all__ = ["OPERATORS", "Case", "Operator", "cases", "drawn"]

#: The tolerance of a result or a gradient, relative to the largest expected number, or to 1 if that is larger.
TOLERANCES = {"float64": 1e-10, "float32": 1e-4}


class Case(NamedTuple):
    """A call of an operator with the expected results.

    Parameters
    ----------
    operator : str
    arguments : dict
        Tensors of `reference.tensors`, lists of tensors, and attributes.
    results : tuple
        One tensor per result.
    cotangents : tuple
        One tensor per result; None for a result that does not have a float dtype.
    gradients : dict
        For each argument that contains tensors: the gradient of the sum of results times cotangents, in the form of the
        argument, with None in place of tensors that do not have a float dtype. None as a whole if there is no gradient.
    tolerance : float
    corners : set of str
    """

    operator: str
    arguments: dict
    results: tuple
    cotangents: tuple
    gradients: dict | None
    tolerance: float
    corners: set


class Operator:
    """The functions that draw and compute the cases of an operator; made by `cases`."""

    def __init__(self, name, draw, must, exact, gradient, walked, also):
        self.name = name
        self.draw = draw
        self.must = frozenset(must)
        self.exact = exact
        self.gradient = gradient
        self.walked = walked
        self.also = also
        self.compute: Callable[..., Any] = draw

    def expected(self, compute):
        """Register the function that computes the results from the arguments, by their names."""
        self.compute = compute
        return compute

    def results(self, arguments):
        """Compute the results as a tuple."""
        made = self.compute(**arguments)
        return made if isinstance(made, tuple) else (made,)


#: All operators that have cases, by their names.
OPERATORS: dict[str, Operator] = {}


def cases(must, exact=True, gradient=True, walked="x", name=None, also=None):
    """Make an Operator from a function that draws arguments from a source (see `reference.draw`).

    Parameters
    ----------
    must : set of str
        The corner cases that the cases must cover, see `reference.corners`.
    exact : bool
        Whether results and gradients are moved, counted or summed without rounding.
    gradient : bool
        Whether there is a gradient.
    walked : str
        The argument whose structure determines the corner cases.
    name : str, optional
        The name of the operator; by default that of the function, without `draw_`.
    also : callable, optional
        A function that returns more corner cases that arguments cover.
    """

    def register(draw):
        called = name or draw.__name__.removeprefix("draw_")
        made = Operator(called, draw, must, exact, gradient, walked, also or (lambda arguments: set()))
        OPERATORS[called] = made
        return made

    return register


def drawn(operator, source):
    """Draw a case."""
    arguments = operator.draw(source)
    results = operator.results(arguments)
    cotangents = map_leaves(lambda result: cotangent(source, result), results)
    gradients = gradients_of(operator, arguments, results, cotangents) if operator.gradient else None
    dtypes = {tensor.dtype for tensor in [*leaves(arguments), *leaves(results)]}
    tolerance = 0.0 if operator.exact else max((TOLERANCES[dtype] for dtype in dtypes & set(FLOATS)), default=0.0)
    corners = corners_of(arguments, operator.walked) | operator.also(arguments)
    return Case(operator.name, arguments, results, cotangents, gradients, tolerance, corners)


def cotangent(source, result):
    """Draw a cotangent: quarters without 0, so that sums are exact and every derivative has an effect."""
    if result.dtype not in FLOATS:
        return None
    drawn = numbers(source, len(result.numbers()), result.dtype, ["cotangent"])
    return result.with_numbers([number or 0.75 for number in drawn])


def gradients_of(operator, arguments, results, cotangents):
    """Differentiate the oracle by running it on numbers that carry their derivatives."""
    variables = itertools.count()

    def marked(tensor):
        if tensor.dtype not in FLOATS:
            return tensor
        return tensor.with_numbers([Dual(number, {next(variables): 1.0}) for number in tensor.numbers()])

    outcomes = operator.results(map_leaves(marked, arguments))
    total: dict[int, float] = {}
    for plain, outcome in zip(leaves(results), leaves(outcomes), strict=True):
        for known, number in zip(plain.numbers(), outcome.numbers(), strict=True):
            assert repr(known) == repr(value(number)), "the oracle takes another way for numbers with derivatives"
    of_floats = [outcome for outcome in leaves(outcomes) if outcome.dtype in FLOATS]
    for weights, outcome in zip(leaves(cotangents), of_floats, strict=True):
        for weight, number in zip(weights.numbers(), outcome.numbers(), strict=True):
            for variable, derivative in derivatives(number).items():
                total[variable] = total.get(variable, 0.0) + weight * derivative
    variables = itertools.count()

    def gradient(tensor):
        if tensor.dtype not in FLOATS:
            return None
        return tensor.with_numbers([total.get(next(variables), 0.0) for _ in tensor.numbers()])

    return {name: map_leaves(gradient, given) for name, given in arguments.items() if holds_tensors(given)}


def holds_tensors(given):
    """Return whether an argument has the form of a differentiable one."""
    return isinstance(given, Steps) or bool(leaves(given))
