"""Comparisons and logic."""

from reference.case import cases
from reference.cases.math import EVERY, applied, operands
from reference.corners import VALUES
from reference.draw import DTYPES
from reference.ops.compare import COMPARE, LOGIC


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
def logical_not(source):
    return {"x": operands(source, 1, DTYPES)[0]}


@logical_not.expected
def _(x):
    return applied(LOGIC["logical_not"], "bool", x)
