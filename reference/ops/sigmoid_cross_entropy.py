"""The loss of logits of two classes, elementwise."""

from reference.case import cases
from reference.dtypes import float_of, promoted
from reference.ops.math import EVERY, applied, operands
from reference.reals import exp, floating, log, times

__all__ = ["sigmoid_cross_entropy"]


def sigmoid_cross_entropy(x, y):
    """Compute log(1 + exp(x)) - x * y; the limits for infinite x."""
    size, apart = (floating(x), 1 - y) if x > 0 else (-floating(x), y)
    return log(1 + exp(-size)) + times(apart, size)


@cases(EVERY, exact=False)
def draw_sigmoid_cross_entropy(source):
    x, y = operands(source, 2, flavours=("quarters", "any"))
    return {"x": x, "y": y}


@draw_sigmoid_cross_entropy.expected
def _(x, y):
    return applied(sigmoid_cross_entropy, float_of(promoted(x.dtype, y.dtype)), x, y)
