"""Insertion and removal of levels, transposition of sequences and positions, and pooling over positions."""

from reference.case import cases
from reference.cases.pool import pooled_dtype
from reference.corners import MOVED, depths, walks
from reference.draw_tensors import level_of, ragged
from reference.ops import levels as walk
from reference.ops import position as oracle
from reference.ops.axes import insert_axis

POSITION_POOLS = ("sum", "mean", "max", "min")


@cases(MOVED | depths(3))
def insert_level(source):
    x = ragged(source, 3)
    level = source.integer(0, x.num_levels)
    return {"x": x, "level": level, "whole": level == 0 and source.choice([False, True])}


@insert_level.expected
def _(x, level, whole):
    return x.made(insert_axis(x.nested, 0 if whole else level + 1), x.num_levels + 1)


@cases(MOVED | walks(3))
def drop_level(source):
    x = ragged(source, 3)
    return {"x": x, "level": level_of(source, x)}


@drop_level.expected
def _(x, level):
    return x.made(walk.drop(x.nested, x.level(level)), x.num_levels - 1)


@cases(MOVED | depths(3))
def by_position(source):
    x = ragged(source, 3)
    return {"x": x, "axis": source.integer(0, x.num_levels - 1)}


@by_position.expected
def _(x, axis):
    return x.made(oracle.by_position(x.nested, axis))


@cases(MOVED | depths(4) | {f"pool_type {name}" for name in POSITION_POOLS}, exact=False)
def pool_positions(source):
    x = ragged(source, flavours=("quarters", "any", "nan", "infinite", "equal"))
    return {"x": x, "pool_type": source.choice(POSITION_POOLS)}


@pool_positions.expected
def _(x, pool_type):
    nested = oracle.pool_by_position(x.nested, pool_type, x.num_levels)
    return x.made(nested, x.num_levels - 1, dtype=pooled_dtype(x.dtype, pool_type))
