"""Layer norm of rows."""

from reference.case import cases
from reference.corners import STRUCTURES, depths
from reference.draw import FLOATS
from reference.draw_tensors import dense, ragged
from reference.dtypes import promoted
from reference.ops import norm as oracle
from reference.ops.levels import each_at_level


@cases(STRUCTURES | depths(3) | {*FLOATS, "no levels", "rows of width 1"}, exact=False)
def layer_norm(source):
    width = source.integer(1, 4)
    x = ragged(source, 3, FLOATS, [(width,)], ("quarters", "any"))
    x = x.made(x.rows, 0) if source.integer(0, 3) == 0 else x
    scale, shift = (dense(source, (width,), FLOATS, ("quarters",)) for _ in range(2))
    return {"x": x, "scale": scale, "shift": shift, "eps": source.choice([0.125, 1.0])}


@layer_norm.expected
def _(x, scale, shift, eps):
    found = [oracle.layer_norm(row, scale.nested, shift.nested, eps) for row in x.rows]
    if x.num_levels:
        found = each_at_level(found, x.nested, x.num_levels)
    return x.made(found, dtype=promoted(x.dtype, promoted(scale.dtype, shift.dtype)))
