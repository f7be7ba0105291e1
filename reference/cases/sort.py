"""Sorting of the rows of sequences."""

from reference.case import cases
from reference.corners import ROWS, STRUCTURES, walks
from reference.draw import DTYPES
from reference.draw_tensors import level_of, ragged
from reference.ops import sort as oracle

EVERY = STRUCTURES | ROWS | walks(4) | {*DTYPES, "ties", "nan", "infinite"}
FLAVOURS = ("quarters", "any", "equal", "nan", "infinite")


@cases(EVERY | {"descending True", "descending False"})
def sequence_sort(source):
    x = ragged(source, flavours=FLAVOURS)
    given = {"x": x, "level": level_of(source, x), "descending": source.choice([False, True])}
    return given if source.integer(0, 3) else {"x": x}


@sequence_sort.expected
def _(x, level=-1, descending=False):
    return x.made(oracle.sequence_sort(x.nested, x.level(level), descending, x.num_levels, x.row_shape))


@cases(EVERY)
def sequence_topk(source):
    x = ragged(source, flavours=FLAVOURS)
    return {"x": x, "k": source.choice([0, 1, 2, 3, 50]), "level": level_of(source, x)}


@sequence_topk.expected
def _(x, k, level=-1):
    at = x.level(level)
    values, places = oracle.sequence_topk(x.nested, k, at, x.num_levels, x.row_shape)
    return x.made(values, at + 1), x.made(places, at + 1, dtype="int64")
