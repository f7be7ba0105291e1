"""Replacement of nan by numbers."""

from reference.case import cases
from reference.corners import ROWS, STRUCTURES, depths
from reference.draw import DTYPES
from reference.draw_tensors import ragged

__all__ = ["fill_nan"]


def fill_nan(nested, value, axes):
    """Replace each nan in nested lists of some depth by a number."""
    if axes:
        return [fill_nan(inner, value, axes - 1) for inner in nested]
    return nested if nested == nested else value


# -- cases -------------------------------------------------------------------------------------------------------------


@cases(STRUCTURES | ROWS | depths(4) | {*DTYPES, "nan"})
def draw_fill_nan(source):
    return {"x": ragged(source), "value": source.choice([0.0, 1.5])}


@draw_fill_nan.expected
def _(x, value):
    return x.made(fill_nan(x.nested, value, x.num_levels + 1 + len(x.row_shape)))
