"""Sequences ordered by their length."""

from reference.case import cases
from reference.corners import MOVED, STRUCTURES, depths, walks
from reference.draw_tensors import level_of, levels_below, ragged, rows_for, structure
from reference.ops import rank_table as oracle
from reference.tensors import Dense, Table


@cases(STRUCTURES | walks(3), gradient=False)
def lod_rank_table(source):
    x = structure(source)
    return {"x": x, "level": level_of(source, x)}


@lod_rank_table.expected
def _(x, level):
    return Table(*oracle.lod_rank_table(x.nested, x.level(level)))


@cases((MOVED | depths(2) | {"no levels"}) - {"no sequences"})
def reorder_by_rank(source):
    table = Table(*oracle.lod_rank_table(ragged(source, 1).nested, 0))
    count = len(table.indices)
    return {"x": rows_for(source, levels_below(source, count, source.integer(0, 2)), count=count), "table": table}


@reorder_by_rank.expected
def _(x, table):
    return x.made(oracle.reorder_by_rank(x.nested, table.indices))


@cases((MOVED | depths(2) | {"no levels"}) - {"no sequences"})
def shrink_memory(source):
    table = Table(*oracle.lod_rank_table(ragged(source, 1).nested, 0))
    step = source.integer(0, max(table.lengths, default=0))
    left = sum(length > step for length in table.lengths)
    count = source.integer(left, len(table.indices))
    depth = source.integer(0, 2)
    x = rows_for(source, levels_below(source, count, depth), count=count)
    if depth == 1:  # the ranked sequences are in the order of the table
        x = x.made(sorted(x.nested, key=len, reverse=True))
    return {"x": x, "step": Dense(step, (), "int64"), "table": table}


@shrink_memory.expected
def _(x, step, table):
    return x.made(oracle.shrink_memory(x.nested, step.nested, table.lengths))
