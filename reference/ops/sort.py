"""Sorting of the rows of sequences; nan is the greatest, and equal numbers keep their order."""

from reference.case import cases
from reference.corners import ROWS, STRUCTURES, walks
from reference.draw import DTYPES
from reference.draw_tensors import level_of, ragged
from reference.ops.columns import each_column, within
from reference.ops.levels import at_level, sequences

__all__ = ["sequence_sort", "sequence_topk"]


def order_of(column, descending):
    """List the positions of the numbers of a column, sorted; NaT, which is None or the least int64, is the greatest."""
    keys = [key_of(number) for number in column]
    return sorted(range(len(column)), key=keys.__getitem__, reverse=descending)


def key_of(number):
    """Return the sort key of a number; of a complex number its parts, of which nan is the greatest."""
    if isinstance(number, complex):
        parts = [key_of(number.real), key_of(number.imag)]
        return [lost for lost, _ in parts], [known for _, known in parts]
    lost = number is None or number != number
    return lost, 0 if lost else number


def sequence_sort(nested, level, descending, num_levels, row_shape):
    """Sort the rows below each sequence of a level."""

    def in_order(column):
        return [column[r] for r in order_of(column, descending)]

    return within(in_order, nested, level, num_levels, row_shape)


def sequence_topk(nested, k, level, num_levels, row_shape):
    """Select the k greatest rows below each sequence of a level, and their positions; finer levels are removed."""
    inner = num_levels - level - 1

    def each(function):
        return at_level(lambda sequence: each_column(function, sequences(sequence, inner), row_shape), nested, level)

    values = each(lambda column: [column[r] for r in order_of(column, True)[:k]])
    return values, each(lambda column: order_of(column, True)[:k])


# -- cases -------------------------------------------------------------------------------------------------------------


EVERY = STRUCTURES | ROWS | walks(4) | {*DTYPES, "ties", "nan", "infinite"}
FLAVOURS = ("quarters", "any", "equal", "nan", "infinite")


@cases(EVERY | {"descending True", "descending False"})
def draw_sequence_sort(source):
    x = ragged(source, flavours=FLAVOURS)
    given = {"x": x, "level": level_of(source, x), "descending": source.choice([False, True])}
    return given if source.integer(0, 3) else {"x": x}


@draw_sequence_sort.expected
def _(x, level=-1, descending=False):
    return x.made(sequence_sort(x.nested, x.level(level), descending, x.num_levels, x.row_shape))


@cases(EVERY)
def draw_sequence_topk(source):
    x = ragged(source, flavours=FLAVOURS)
    return {"x": x, "k": source.choice([0, 1, 2, 3, 50]), "level": level_of(source, x)}


@draw_sequence_topk.expected
def _(x, k, level=-1):
    at = x.level(level)
    values, places = sequence_topk(x.nested, k, at, x.num_levels, x.row_shape)
    return x.made(values, at + 1), x.made(places, at + 1, dtype="int64")
