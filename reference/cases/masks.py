"""Sequences split by a mask, and merged again."""

from reference.case import cases
from reference.corners import MOVED, walks
from reference.draw_tensors import dense, level_of, ragged, rows_for
from reference.ops import masks as oracle
from reference.ops.levels import sequences


def masked(source):
    """Draw a tensor, a level of it, and a mask with one entry per sequence of the level."""
    x = rows_for(source, [], count=source.integer(0, 6)) if source.integer(0, 4) == 0 else ragged(source, 3)
    level = source.choice([0, -1]) if not x.num_levels else level_of(source, x)
    count = len(sequences(x.nested, first(x, level)))
    return x, dense(source, source.choice([(count,), (count, 1)]), ["bool"]), level


def first(x, level):
    """Return the number of a level counted from the first; without levels there are only rows."""
    return x.level(level) if x.num_levels else 0


@cases(MOVED | walks(3) | {"no levels"})
def split_by_mask(source):
    x, mask, level = masked(source)
    return {"x": x, "mask": mask, "level": level}


@split_by_mask.expected
def _(x, mask, level):
    return tuple(x.made(side) for side in oracle.split_by_mask(x.nested, mask.numbers(), first(x, level)))


@cases(walks(3) | {"no levels", "float64", "float32", "nan"}, walked="when_true")
def merge_by_mask(source):
    x, mask, level = masked(source)
    sides = oracle.split_by_mask(x.nested, mask.numbers(), first(x, level))
    return {"when_true": x.made(sides[0]), "when_false": x.made(sides[1]), "mask": mask, "level": level}


@merge_by_mask.expected
def _(when_true, when_false, mask, level):
    k = first(when_true, level)
    return when_true.made(oracle.merge_by_mask(when_true.nested, when_false.nested, mask.numbers(), k))
