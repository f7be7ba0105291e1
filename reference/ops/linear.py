"""The linear layer of a row."""

from reference.case import cases
from reference.corners import STRUCTURES, depths
from reference.draw import FLOATS
from reference.draw_tensors import dense, ragged
from reference.dtypes import promoted
from reference.ops.levels import each_at_level
from reference.reals import add_up

__all__ = ["linear"]


def linear(row, weight, bias):
    """Multiply a row by a matrix, and add a bias."""
    return [add_up(x * line[c] for x, line in zip(row, weight, strict=True)) + bias[c] for c in range(len(bias))]


# -- cases -------------------------------------------------------------------------------------------------------------


@cases(STRUCTURES | depths(3) | {*FLOATS, "no levels", "rows of width 1"}, exact=False)
def draw_linear(source):
    width, columns = source.integer(1, 4), source.integer(1, 4)
    x = ragged(source, 3, FLOATS, [(width,)], ("quarters", "any"))
    x = x.made(x.rows, 0) if source.integer(0, 3) == 0 else x
    weight, bias = (dense(source, shape, FLOATS, ("quarters",)) for shape in ((width, columns), (columns,)))
    return {"x": x, "weight": weight, "bias": bias}


@draw_linear.expected
def _(x, weight, bias):
    found = [linear(row, weight.nested, bias.nested) for row in x.rows]
    if x.num_levels:
        found = each_at_level(found, x.nested, x.num_levels)
    return x.made(found, row_shape=bias.shape, dtype=promoted(x.dtype, promoted(weight.dtype, bias.dtype)))
