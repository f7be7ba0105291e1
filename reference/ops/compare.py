"""Comparisons and logic of two numbers."""

import operator

from reference.case import cases
from reference.corners import VALUES
from reference.draw import DTYPES
from reference.ops.math import EVERY, applied, operands

__all__ = ["COMPARE", "LOGIC"]

COMPARE = {
    "less_than": operator.lt,
    "less_equal_than": operator.le,
    "greater_than": operator.gt,
    "greater_equal_than": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}

LOGIC = {
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_not": lambda a: not a,
}


# -- cases -------------------------------------------------------------------------------------------------------------


def comparison(name):
    """Make the cases of an operator of two operands with a boolean result."""

    def draw(source):
        x, y = operands(source, 2, DTYPES)
        return {"x": x, "y": y}

    made = cases(EVERY | VALUES | {"uint8", "bool"}, gradient=False, name=name)(draw)

    @made.expected
    def _(x, y):
        return applied((COMPARE | LOGIC)[name], "bool", x, y)


for _name in [*COMPARE, "logical_and", "logical_or"]:
    comparison(_name)


@cases(EVERY | VALUES | {"uint8", "bool"}, gradient=False)
def draw_logical_not(source):
    return {"x": operands(source, 1, DTYPES)[0]}


@draw_logical_not.expected
def _(x):
    return applied(LOGIC["logical_not"], "bool", x)
