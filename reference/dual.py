"""Numbers that carry their derivatives, so that the gradient of an oracle is computed by the code of the oracle itself.

A `Dual` is a number together with its derivatives with respect to some variables. Arithmetic and the functions of
`reference.reals` propagate the derivatives by the rules of calculus; comparisons use only the number, so that an oracle
takes the same branches as with plain numbers. A Dual is not a `float` and cannot be converted to one, so that
derivatives are not lost.
"""

from reference.reals import divide

__all__ = ["Dual", "derivatives", "value"]


class Dual:
    """A number and its derivatives: a dict from variables to partial derivatives; missing ones are 0."""

    __slots__ = ("derivatives", "value")

    def __init__(self, value, derivatives):
        self.value = value
        self.derivatives = derivatives

    def __repr__(self):
        return f"Dual({self.value}, {self.derivatives})"

    def chain(self, value, derivative):
        """Make the value of a function of this number, given the derivative of the function."""
        return Dual(value, {name: derivative * own for name, own in self.derivatives.items()})

    # -- arithmetic ------------------------------------------------------------------------------------------------

    def __add__(self, other):
        return combine(self, 1.0, other, 1.0, self.value + value(other))

    __radd__ = __add__

    def __sub__(self, other):
        return combine(self, 1.0, other, -1.0, self.value - value(other))

    def __rsub__(self, other):
        return combine(self, -1.0, other, 1.0, value(other) - self.value)

    def __mul__(self, other):
        return combine(self, value(other), other, self.value, self.value * value(other))

    __rmul__ = __mul__

    def __truediv__(self, other):
        below = value(other)
        quotient = divide(self.value, below)
        return combine(self, divide(1.0, below), other, divide(-quotient, below), quotient)

    def __rtruediv__(self, other):
        quotient = divide(other, self.value)
        return self.chain(quotient, divide(-quotient, self.value))

    def __neg__(self):
        return self.chain(-self.value, -1.0)

    def __pos__(self):
        return self

    def __abs__(self):
        return self.chain(abs(self.value), (self.value > 0) - (self.value < 0))

    # -- comparisons -----------------------------------------------------------------------------------------------

    def __eq__(self, other):
        return self.value == value(other)

    def __ne__(self, other):
        return self.value != value(other)

    def __lt__(self, other):
        return self.value < value(other)

    def __le__(self, other):
        return self.value <= value(other)

    def __gt__(self, other):
        return self.value > value(other)

    def __ge__(self, other):
        return self.value >= value(other)

    def __bool__(self):
        return bool(self.value)

    def __hash__(self):
        return hash(self.value)


def value(x):
    """Return the number itself."""
    return x.value if isinstance(x, Dual) else x


def derivatives(x):
    """Return the derivatives of a number; a plain number has none."""
    return x.derivatives if isinstance(x, Dual) else {}


def combine(x, along_x, y, along_y, result):
    """Make a result of two numbers, given its derivatives with respect to them."""
    found = {name: along_x * own for name, own in derivatives(x).items()}
    for name, own in derivatives(y).items():
        found[name] = found.get(name, 0.0) + along_y * own
    return Dual(result, found)
