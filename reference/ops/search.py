"""Binary search in sorted sequences, and interpolation between known points."""

import math

from reference.ops.levels import each_at_level, sequences

__all__ = ["sequence_interp", "sequence_searchsorted"]


def key(number):
    """Return a sort key: nan is the greatest."""
    return (number != number, 0 if number != number else number)


def sequence_searchsorted(nested, wanted, side, num_levels):
    """Count for each number the numbers of the same sequence that come before it, with side "right" also equal ones."""
    last = num_levels - 1

    def place(column, number):
        if side == "left":
            return sum(key(other) < key(number) for other in column)
        return sum(key(other) <= key(number) for other in column)

    each = zip(sequences(nested, last), sequences(wanted, last), strict=True)
    return each_at_level([[place(column, number) for number in numbers] for column, numbers in each], wanted, last)


def interpolated(x, xp, fp):
    """Evaluate the polyline through points at one place."""
    if not xp or x != x:
        return math.nan
    k = sum(known <= x for known in xp) - 1
    if k < 0 or k == len(xp) - 1:
        return fp[max(k, 0)] * 1.0
    slope = (fp[k + 1] - fp[k]) / (xp[k + 1] - xp[k])
    return slope * (x - xp[k]) + fp[k]


def sequence_interp(nested, xp, fp, num_levels, row_shape=()):
    """Interpolate between the points of the same sequence, column by column."""
    last = num_levels - 1

    def at(number, p, f, shape):
        if not shape:
            return interpolated(number, p, f)
        return [at(number, p, [row[c] for row in f], shape[1:]) for c in range(shape[0])]

    each = zip(*[sequences(one, last) for one in (nested, xp, fp)], strict=True)
    return each_at_level([[at(number, p, f, row_shape) for number in numbers] for numbers, p, f in each], nested, last)
