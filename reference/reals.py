"""Functions of real numbers for the oracles: they return infinities and nan where Python raises, and have derivatives.

An oracle uses these instead of those of `math`, so that it also works on the numbers of `reference.dual`.
"""

import math

__all__ = ["add_up", "divide", "exp", "floating", "log", "sqrt", "tanh", "times"]


def add_up(numbers, start=0):
    """Sum numbers one after another; `sum` of Python 3.12 and later rounds floats only once, at the end."""
    for number in numbers:
        start = start + number
    return start


def divide(x, y):
    """Divide, also by 0."""
    if not isinstance(x, (int, float)) or not isinstance(y, (int, float)) or y != 0:
        return x / y
    return math.nan if x == 0 or x != x else math.copysign(math.inf, x) * math.copysign(1.0, y)


def floating(x):
    """Convert an integer to a float."""
    return float(x) if isinstance(x, int) else x


def times(x, y):
    """Multiply; x = 0 makes even infinity 0."""
    product = x * y
    if product == product or x != 0 or y != y:
        return product
    return 0.0 if isinstance(product, float) else product.chain(0.0, 1.0)


def _function(compute, derivative):
    """Make a function of numbers with or without derivatives; `derivative` takes the number and the result."""

    def function(x):
        if isinstance(x, (int, float)):
            return compute(float(x))
        result = compute(x.value)
        return x.chain(result, derivative(x.value, result))

    function.__doc__ = compute.__doc__
    return function


def _exp(x):
    """Compute the exponential; infinite beyond the range of floats."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _log(x):
    """Compute the natural logarithm: -inf for 0, nan for negative numbers."""
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan


def _sqrt(x):
    """Compute the square root; nan for negative numbers."""
    return math.sqrt(x) if x >= 0 else math.nan


def _tanh(x):
    """Compute the hyperbolic tangent."""
    return math.tanh(x)


exp = _function(_exp, lambda x, result: result)
log = _function(_log, lambda x, result: divide(1.0, x))
sqrt = _function(_sqrt, lambda x, result: divide(0.5, result))
tanh = _function(_tanh, lambda x, result: 1.0 - result * result)
