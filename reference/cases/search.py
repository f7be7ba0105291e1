"""Binary search in sorted sequences, and interpolation between known points."""

from reference.case import cases
from reference.corners import STRUCTURES, depths
from reference.draw import DTYPES, FLOATS, running_sum
from reference.draw_tensors import ragged
from reference.nested import flatten
from reference.ops import search as oracle
from reference.ops.levels import each_at_level, sequences
from reference.tensors import Ragged


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
def sequence_searchsorted(source):
    x = ragged(source, row_shapes=((),), flavours=("quarters", "any", "equal"))
    last = x.num_levels - 1
    x = x.made(each_at_level([sorted(one) for one in sequences(x.nested, last)], x.nested, last))
    wanted = beside(source, x)
    numbers = source.integers(len(flatten(wanted, x.num_levels)[0]), 0, 8)
    return {"x": x, "v": numbered(x, wanted, numbers, "int64"), "side": source.choice(["left", "right"])}


@sequence_searchsorted.expected
def _(x, v, side):
    return v.made(oracle.sequence_searchsorted(x.nested, v.nested, side, x.num_levels), dtype="int64")


@cases(STRUCTURES | depths(4) | set(FLOATS), exact=False)
def sequence_interp(source):
    x = ragged(source, row_shapes=((),), dtypes=FLOATS, flavours=("any",))
    points = beside(source, x)
    count = len(flatten(points, x.num_levels)[0])
    places = [k / 2 - count / 4 for k in range(count)]
    xp = numbered(x, points, places, "float64")
    return {"x": x, "xp": xp, "fp": xp.with_numbers([number / 4 for number in source.integers(count, -8, 8)])}


@sequence_interp.expected
def _(x, xp, fp):
    return x.made(oracle.sequence_interp(x.nested, xp.nested, fp.nested, x.num_levels), dtype="float64")
