"""The order of the rows of sequences; nan is the greatest, and equal numbers keep their order."""

from reference.case import cases
from reference.corners import ROWS, STRUCTURES, walks
from reference.draw import DTYPES
from reference.draw_tensors import level_of, ragged
from reference.ops.columns import within
from reference.ops.sort import order_of

__all__ = ["sequence_argsort"]


def sequence_argsort(nested, level, descending, num_levels, row_shape):
    """Compute for the rows below each sequence of a level the positions that sort them."""
    return within(lambda column: order_of(column, descending), nested, level, num_levels, row_shape)


# -- cases -------------------------------------------------------------------------------------------------------------


EVERY = STRUCTURES | ROWS | walks(4)

FLAVOURS = ("quarters", "any", "equal", "nan", "infinite")


@cases(EVERY | {*DTYPES, "ties", "nan", "infinite", "descending True", "descending False"}, gradient=False)
def draw_sequence_argsort(source):
    x = ragged(source, flavours=FLAVOURS)
    return {"x": x, "level": level_of(source, x), "descending": source.choice([False, True])}


@draw_sequence_argsort.expected
def _(x, level, descending):
    found = sequence_argsort(x.nested, x.level(level), descending, x.num_levels, x.row_shape)
    return x.made(found, dtype="int64")
