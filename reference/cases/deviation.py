"""Variances and standard deviations of sequences."""

from reference.case import cases
from reference.corners import ROWS, STRUCTURES, walks
from reference.draw import DTYPES
from reference.draw_tensors import level_of, ragged
from reference.dtypes import float_of
from reference.ops import deviation as oracle

EVERY = STRUCTURES | ROWS | walks(4) | {*DTYPES, "nan", "ties"}


def arguments(source):
    x = ragged(source)
    return {"x": x, "ddof": source.choice([0, 1, 0.5]), "level": level_of(source, x)}


@cases(EVERY, exact=False)
def sequence_var(source):
    return arguments(source)


@sequence_var.expected
def _(x, ddof, level):
    at = x.level(level)
    return x.made(oracle.sequence_var(x.nested, ddof, at, x.num_levels, x.row_shape), at, dtype=float_of(x.dtype))


@cases(EVERY, exact=False)
def sequence_std(source):
    return arguments(source)


@sequence_std.expected
def _(x, ddof, level):
    at = x.level(level)
    return x.made(oracle.sequence_std(x.nested, ddof, at, x.num_levels, x.row_shape), at, dtype=float_of(x.dtype))
