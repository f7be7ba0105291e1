"""The order of the rows of sequences."""

from reference.case import cases
from reference.corners import ROWS, STRUCTURES, walks
from reference.draw import DTYPES
from reference.draw_tensors import level_of, ragged
from reference.ops import order as oracle

EVERY = STRUCTURES | ROWS | walks(4)

FLAVOURS = ("quarters", "any", "equal", "nan", "infinite")


@cases(EVERY | {*DTYPES, "ties", "nan", "infinite", "descending True", "descending False"}, gradient=False)
def sequence_argsort(source):
    x = ragged(source, flavours=FLAVOURS)
    return {"x": x, "level": level_of(source, x), "descending": source.choice([False, True])}


@sequence_argsort.expected
def _(x, level, descending):
    found = oracle.sequence_argsort(x.nested, x.level(level), descending, x.num_levels, x.row_shape)
    return x.made(found, dtype="int64")
