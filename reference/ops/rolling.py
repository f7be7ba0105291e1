"""Reductions over windows that end at each row of a sequence."""

import math

from reference.case import cases
from reference.corners import ROWS, STRUCTURES, walks
from reference.draw import DTYPES
from reference.draw_tensors import level_of, ragged
from reference.dtypes import float_of
from reference.ops.columns import within
from reference.ops.quantiles import quantile
from reference.reals import add_up, sqrt

__all__ = ["sequence_rolling"]


def best(window, greatest):
    """Find the greatest or least number; the first of equal ones, or the first nan."""
    found = window[0]
    for number in window:
        if found == found and (number != number or (number > found if greatest else number < found)):
            found = number
    return found


def reduced(window, pool_type, ddof):
    """Reduce the rows of a window."""
    if pool_type in ("max", "min"):
        return best(window, pool_type == "max")
    if pool_type == "median":
        return quantile(window, 0.5, "linear", False)
    total = add_up(window, 0.0)
    if pool_type == "sum":
        return total
    mean = total / len(window)
    if pool_type == "mean":
        return mean
    if len(window) <= ddof:
        return math.nan
    variance = add_up([(number - mean) * (number - mean) for number in window], 0.0) / (len(window) - ddof)
    if pool_type == "var":
        return variance
    return sqrt(variance) if variance != 0 else variance * 0.0


def sequence_rolling(nested, size, pool_type, min_periods, ddof, level, num_levels, row_shape):
    """Reduce the window that ends at each row below its sequence of a level, column by column."""
    least = size if min_periods is None else min_periods

    def rolled(column):
        windows = [column[max(0, k + 1 - size) : k + 1] for k in range(len(column))]
        return [reduced(window, pool_type, ddof) if len(window) >= least else math.nan for window in windows]

    return within(rolled, nested, level, num_levels, row_shape)


# -- cases -------------------------------------------------------------------------------------------------------------


POOL_TYPES = ("sum", "mean", "max", "min", "var", "std", "median")


@cases(
    STRUCTURES | ROWS | walks(4) | {*DTYPES, "nan", "ties", *(f"pool_type {name}" for name in POOL_TYPES)}, exact=False
)
def draw_sequence_rolling(source):
    x = ragged(source)
    given = {"size": source.choice([1, 2, 3, 50]), "pool_type": source.choice(POOL_TYPES)}
    return {"x": x, **given, "min_periods": source.choice([None, 1, 2]), "ddof": 0, "level": level_of(source, x)}


@draw_sequence_rolling.expected
def _(x, size, pool_type, min_periods, ddof, level):
    given = (size, pool_type, min_periods, ddof, x.level(level), x.num_levels, x.row_shape)
    return x.made(sequence_rolling(x.nested, *given), dtype=float_of(x.dtype))
