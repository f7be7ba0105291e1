"""Sequences and rows repeated, and elements in reverse order."""

from reference.case import cases
from reference.corners import MOVED, STRUCTURES, depths, walks
from reference.draw_tensors import level_of, levels_below, ragged, rows_for, structure
from reference.ops import expand as oracle
from reference.ops.levels import sequences


@cases(STRUCTURES | walks(3), walked="y")
def sequence_expand(source):
    y = structure(source)
    level = level_of(source, y)
    count = len(sequences(y.nested, y.level(level)))
    x = rows_for(source, levels_below(source, count, source.integer(0, 2)), count=count)
    return {"x": x, "y": y, "ref_level": level}


@sequence_expand.expected
def _(x, y, ref_level):
    nested = oracle.sequence_expand(x.nested, y.nested, y.level(ref_level))
    return x.made(nested)


@cases(STRUCTURES | walks(3), walked="y")
def sequence_expand_as(source):
    y = structure(source)
    level = level_of(source, y)
    k = y.level(level)
    count = len(sequences(y.nested, k))
    upper = y.offsets[: k * source.integer(0, 1)]
    return {"x": rows_for(source, upper, count=count), "y": y, "level": level}


@sequence_expand_as.expected
def _(x, y, level):
    nested = oracle.sequence_expand_as(x.rows, y.nested, y.level(level), y.num_levels)
    return x.made(nested, y.num_levels)


@cases(MOVED | walks(4))
def sequence_reverse(source):
    x = ragged(source)
    return {"x": x, "level": level_of(source, x)}


@sequence_reverse.expected
def _(x, level):
    return x.made(oracle.sequence_reverse(x.nested, x.level(level)))


@cases(STRUCTURES | depths(3), walked="x")
def with_values(source):
    x = structure(source)
    return {"x": x, "v": rows_for(source, x.offsets if source.integer(0, 1) else [], count=x.num_rows)}


@with_values.expected
def _(x, v):
    return v.made(oracle.with_values(x.nested, v.rows, x.num_levels), x.num_levels)
