"""Layer norm of a row."""

from reference.case import cases
from reference.corners import STRUCTURES, depths
from reference.draw import FLOATS
from reference.draw_tensors import dense, ragged
from reference.dtypes import promoted
from reference.ops.levels import each_at_level
from reference.reals import add_up, divide, sqrt

__all__ = ["layer_norm"]


def layer_norm(row, scale, shift, eps):
    """Subtract the mean of a row, divide by the root of its variance plus eps, scale and shift."""
    mean = divide(add_up(row), len(row)) if row else 0.0
    rest = [x - mean for x in row]
    root = sqrt(divide(add_up(x * x for x in rest), len(row)) + eps) if row else 1.0
    return [divide(x, root) * a + b for x, a, b in zip(rest, scale, shift, strict=True)]


# -- cases -------------------------------------------------------------------------------------------------------------


@cases(STRUCTURES | depths(3) | {*FLOATS, "no levels", "rows of width 1"}, exact=False)
def draw_layer_norm(source):
    width = source.integer(1, 4)
    x = ragged(source, 3, FLOATS, [(width,)], ("quarters", "any"))
    x = x.made(x.rows, 0) if source.integer(0, 3) == 0 else x
    scale, shift = (dense(source, (width,), FLOATS, ("quarters",)) for _ in range(2))
    return {"x": x, "scale": scale, "shift": shift, "eps": source.choice([0.125, 1.0])}


@draw_layer_norm.expected
def _(x, scale, shift, eps):
    found = [layer_norm(row, scale.nested, shift.nested, eps) for row in x.rows]
    if x.num_levels:
        found = each_at_level(found, x.nested, x.num_levels)
    return x.made(found, dtype=promoted(x.dtype, promoted(scale.dtype, shift.dtype)))
