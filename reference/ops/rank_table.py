"""Sequences ordered by their length, the longest first."""

from reference.case import cases
from reference.corners import MOVED, STRUCTURES, depths, walks
from reference.draw_tensors import level_of, levels_below, ragged, rows_for, structure
from reference.ops.levels import sequences
from reference.tensors import Dense, Table

__all__ = ["lod_rank_table", "reorder_by_rank", "shrink_memory"]


def lod_rank_table(nested, level):
    """Order the sequences of a level: return their numbers, and their lengths."""
    found = sequences(nested, level)
    indices = sorted(range(len(found)), key=lambda s: -len(found[s]))
    return indices, [len(found[s]) for s in indices]


def reorder_by_rank(nested, indices):
    """Reorder the sequences of a batch."""
    return [nested[s] for s in indices]


def shrink_memory(nested, step, lengths):
    """Keep the entries of the sequences that are longer than a step."""
    return [sequence for sequence, length in zip(nested, lengths, strict=False) if length > step]


# -- cases -------------------------------------------------------------------------------------------------------------


@cases(STRUCTURES | walks(3), gradient=False)
def draw_lod_rank_table(source):
    x = structure(source)
    return {"x": x, "level": level_of(source, x)}


@draw_lod_rank_table.expected
def _(x, level):
    return Table(*lod_rank_table(x.nested, x.level(level)))


@cases((MOVED | depths(2) | {"no levels"}) - {"no sequences"})
def draw_reorder_by_rank(source):
    table = Table(*lod_rank_table(ragged(source, 1).nested, 0))
    count = len(table.indices)
    return {"x": rows_for(source, levels_below(source, count, source.integer(0, 2)), count=count), "table": table}


@draw_reorder_by_rank.expected
def _(x, table):
    return x.made(reorder_by_rank(x.nested, table.indices))


@cases((MOVED | depths(2) | {"no levels"}) - {"no sequences"})
def draw_shrink_memory(source):
    table = Table(*lod_rank_table(ragged(source, 1).nested, 0))
    step = source.integer(0, max(table.lengths, default=0))
    left = sum(length > step for length in table.lengths)
    count = source.integer(left, len(table.indices))
    depth = source.integer(0, 2)
    x = rows_for(source, levels_below(source, count, depth), count=count)
    if depth == 1:  # the ranked sequences are in the order of the table
        x = x.made(sorted(x.nested, key=len, reverse=True))
    return {"x": x, "step": Dense(step, (), "int64"), "table": table}


@draw_shrink_memory.expected
def _(x, step, table):
    return x.made(shrink_memory(x.nested, step.nested, table.lengths))
