"""Replacement of nan by numbers."""

from reference.case import cases
from reference.corners import ROWS, STRUCTURES, depths
from reference.draw import DTYPES
from reference.draw_tensors import ragged
from reference.ops import nans as oracle


@cases(STRUCTURES | ROWS | depths(4) | {*DTYPES, "nan"})
def fill_nan(source):
    return {"x": ragged(source), "value": source.choice([0.0, 1.5])}


@fill_nan.expected
def _(x, value):
    return x.made(oracle.fill_nan(x.nested, value, x.num_levels + 1 + len(x.row_shape)))
