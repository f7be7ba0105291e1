"""Transposition of sequences and positions, and pooling over positions."""

from reference.case import cases
from reference.corners import MOVED, depths, walks
from reference.draw_tensors import level_of, ragged
from reference.ops import levels as walk
from reference.ops.axes import insert_axis
from reference.ops.levels import at_level
from reference.ops.pool import pooled, pooled_dtype

__all__ = ["by_position", "by_positions", "pool_by_position"]


def by_position(nested, axis):
    """Transpose the sequences of level `axis` within each sequence that contains them."""
    if axis:
        return at_level(lambda outer: by_position(outer, 0), nested, axis - 1)
    longest = max(map(len, nested), default=0)
    return [[sequence[t] for sequence in nested if len(sequence) > t] for t in range(longest)]


def by_positions(nested, axes, last):
    """Group the elements of axis `last` by their positions along all axes up to it but `axes`."""

    def grouped(parts, axis):
        if axis > last:
            return parts
        if axis in axes:
            return grouped([entry for part in parts for entry in part], axis + 1)
        longest = max(map(len, parts), default=0)
        return [grouped([part[t] for part in parts if len(part) > t], axis + 1) for t in range(longest)]

    return grouped([nested], 0)


def pool_by_position(nested, pool_type, num_levels):
    """Pool the elements at each position of the sequences of the last level."""
    return at_level(lambda rows: pooled(rows, pool_type), by_position(nested, num_levels - 1), num_levels - 1)


# -- cases -------------------------------------------------------------------------------------------------------------


POSITION_POOLS = ("sum", "mean", "max", "min")


@cases(MOVED | depths(3))
def draw_insert_level(source):
    x = ragged(source, 3)
    level = source.integer(0, x.num_levels)
    return {"x": x, "level": level, "whole": level == 0 and source.choice([False, True])}


@draw_insert_level.expected
def _(x, level, whole):
    return x.made(insert_axis(x.nested, 0 if whole else level + 1), x.num_levels + 1)


@cases(MOVED | walks(3))
def draw_drop_level(source):
    x = ragged(source, 3)
    return {"x": x, "level": level_of(source, x)}


@draw_drop_level.expected
def _(x, level):
    return x.made(walk.drop(x.nested, x.level(level)), x.num_levels - 1)


@cases(MOVED | depths(3))
def draw_by_position(source):
    x = ragged(source, 3)
    return {"x": x, "axis": source.integer(0, x.num_levels - 1)}


@draw_by_position.expected
def _(x, axis):
    return x.made(by_position(x.nested, axis))


@cases(MOVED | depths(4) | {f"pool_type {name}" for name in POSITION_POOLS}, exact=False)
def draw_pool_positions(source):
    x = ragged(source, flavours=("quarters", "any", "nan", "infinite", "equal"))
    return {"x": x, "pool_type": source.choice(POSITION_POOLS)}


@draw_pool_positions.expected
def _(x, pool_type):
    nested = pool_by_position(x.nested, pool_type, x.num_levels)
    return x.made(nested, x.num_levels - 1, dtype=pooled_dtype(x.dtype, pool_type))
