"""Binary search in sorted sequences, and interpolation between known points."""

import math

from reference.case import cases
from reference.corners import STRUCTURES, depths
from reference.draw import DTYPES, FLOATS, running_sum
from reference.draw_tensors import ragged
from reference.nested import flatten
from reference.ops.levels import each_at_level, sequences
from reference.tensors import Ragged

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


# -- cases -------------------------------------------------------------------------------------------------------------


def beside(source, x):
    """Draw other lengths for the sequences of the last level."""
    last = x.num_levels - 1
    count = len(sequences(x.nested, last))
    sizes = source.integers(count, 0, 4)
    starts = running_sum(sizes)
    return each_at_level([list(range(starts[s], starts[s + 1])) for s in range(count)], x.nested, last)


def numbered(x, nested, numbers, dtype):
    """Replace the row numbers of a batch by numbers."""
    rows = flatten(nested, x.num_levels)[0]
    assert len(rows) == len(numbers)
    return Ragged(nested, x.num_levels, (), dtype).with_numbers(numbers)


@cases(STRUCTURES | depths(4) | {*DTYPES, "ties", "side left", "side right"}, gradient=False)
def draw_sequence_searchsorted(source):
    x = ragged(source, row_shapes=((),), flavours=("quarters", "any", "equal"))
    last = x.num_levels - 1
    x = x.made(each_at_level([sorted(one) for one in sequences(x.nested, last)], x.nested, last))
    wanted = beside(source, x)
    numbers = source.integers(len(flatten(wanted, x.num_levels)[0]), 0, 8)
    return {"x": x, "v": numbered(x, wanted, numbers, "int64"), "side": source.choice(["left", "right"])}


@draw_sequence_searchsorted.expected
def _(x, v, side):
    return v.made(sequence_searchsorted(x.nested, v.nested, side, x.num_levels), dtype="int64")


@cases(STRUCTURES | depths(4) | set(FLOATS), exact=False)
def draw_sequence_interp(source):
    x = ragged(source, row_shapes=((),), dtypes=FLOATS, flavours=("any",))
    points = beside(source, x)
    count = len(flatten(points, x.num_levels)[0])
    places = [k / 2 - count / 4 for k in range(count)]
    xp = numbered(x, points, places, "float64")
    return {"x": x, "xp": xp, "fp": xp.with_numbers([number / 4 for number in source.integers(count, -8, 8)])}


@draw_sequence_interp.expected
def _(x, xp, fp):
    return x.made(sequence_interp(x.nested, xp.nested, fp.nested, x.num_levels), dtype="float64")
