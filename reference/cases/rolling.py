"""Reductions over windows that end at each row of a sequence."""

from reference.case import cases
from reference.corners import ROWS, STRUCTURES, walks
from reference.draw import DTYPES
from reference.draw_tensors import level_of, ragged
from reference.dtypes import float_of
from reference.ops import rolling as oracle

POOL_TYPES = ("sum", "mean", "max", "min", "var", "std", "median")


@cases(
    STRUCTURES | ROWS | walks(4) | {*DTYPES, "nan", "ties", *(f"pool_type {name}" for name in POOL_TYPES)}, exact=False
)
def sequence_rolling(source):
    x = ragged(source)
    given = {"size": source.choice([1, 2, 3, 50]), "pool_type": source.choice(POOL_TYPES)}
    return {"x": x, **given, "min_periods": source.choice([None, 1, 2]), "ddof": 0, "level": level_of(source, x)}


@sequence_rolling.expected
def _(x, size, pool_type, min_periods, ddof, level):
    given = (size, pool_type, min_periods, ddof, x.level(level), x.num_levels, x.row_shape)
    return x.made(oracle.sequence_rolling(x.nested, *given), dtype=float_of(x.dtype))
