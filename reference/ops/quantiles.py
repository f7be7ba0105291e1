"""Quantiles of the rows of sequences."""

import math

from reference.case import cases
from reference.draw import FLOATS
from reference.draw_tensors import level_of, ragged
from reference.ops.columns import each_column
from reference.ops.levels import each_at_level, sequences
from reference.ops.order import EVERY, FLAVOURS

__all__ = ["sequence_quantile"]


def sequence_quantile(nested, q, method, level, skip_nan, num_levels, row_shape):
    """Compute quantiles of the rows below each sequence of a level: a row of one, or of as many as q has."""

    def quantiles(column):
        chances = q if isinstance(q, (list, tuple)) else [q]
        return [quantile(column, chance, method, skip_nan) for chance in chances]

    inner = num_levels - level - 1
    found = [each_column(quantiles, sequences(sequence, inner), row_shape) for sequence in sequences(nested, level)]
    if not isinstance(q, (list, tuple)):
        found = [rows[0] for rows in found]
    return each_at_level(found, nested, level)


def quantile(column, q, method, skip_nan):
    """Compute one quantile of some numbers, by the methods of Hyndman and Fan, or of NumPy."""
    known = sorted(number for number in column if number == number)
    if not known or (len(known) < len(column) and not skip_nan):
        return math.nan
    low, weight = METHODS[method](len(known), q)
    if low < 0:
        low, weight = 0, 0.0
    one, other = known[min(low, len(known) - 1)], known[min(low + 1, len(known) - 1)]
    if weight in (0, 1):
        return other if weight else one
    if one == other or other - one == math.inf:  # also if both are infinite; each receives its part of the derivative
        return one * (1 - weight) + other * weight
    return one + (other - one) * weight if weight < 0.5 else other - (other - one) * (1 - weight)


def floor(place):
    """Round down to an integer."""
    return int(place // 1)


def between(place):
    """Split a position into the row below and the weight of the row above."""
    low = floor(place)
    return low, place - low


def along(alpha, beta):
    """Make the method with two constants."""
    return lambda n, q: between(n * q + (alpha + q * (1 - alpha - beta)) - 1)


def inverted_cdf(n, q):
    low, rest = between(n * q - 1)
    return low + (rest != 0), 0.0


def averaged_inverted_cdf(n, q):
    low, rest = between(n * q - 1)
    return low, 0.5 if rest == 0 else 1.0


def closest_observation(n, q):
    low, rest = between(n * q - 1 - 0.5)
    return low + (rest != 0 or low % 2 == 0), 0.0


def midpoint(n, q):
    low, rest = between((n - 1) * q)
    return low, 0.0 if rest == 0 else 0.5


METHODS = {
    "inverted_cdf": inverted_cdf,
    "averaged_inverted_cdf": averaged_inverted_cdf,
    "closest_observation": closest_observation,
    "interpolated_inverted_cdf": along(0, 1),
    "hazen": along(0.5, 0.5),
    "weibull": along(0, 0),
    "linear": lambda n, q: between((n - 1) * q),
    "median_unbiased": along(1 / 3.0, 1 / 3.0),
    "normal_unbiased": along(3 / 8.0, 3 / 8.0),
    "lower": lambda n, q: (floor((n - 1) * q), 0.0),
    "higher": lambda n, q: (-floor((1 - n) * q), 0.0),
    "midpoint": midpoint,
    "nearest": lambda n, q: (round((n - 1) * q), 0.0),
}


# -- cases -------------------------------------------------------------------------------------------------------------


@cases(EVERY | {*FLOATS, "ties", "nan", "infinite", "skip_nan True", "skip_nan False"}, exact=False)
def draw_sequence_quantile(source):
    x = ragged(source, dtypes=FLOATS, flavours=FLAVOURS)
    q = source.choice([0.5, 0.0, 1.0, 0.3, [0.1, 0.75]])
    given = {"x": x, "q": q, "method": source.choice(sorted(METHODS)), "level": level_of(source, x)}
    return {**given, "skip_nan": source.choice([False, True])}


@draw_sequence_quantile.expected
def _(x, q, method, level, skip_nan):
    at = x.level(level)
    found = sequence_quantile(x.nested, q, method, at, skip_nan, x.num_levels, x.row_shape)
    return x.made(found, at, (*((len(q),) if isinstance(q, list) else ()), *x.row_shape))
