"""Sequences split by a mask, and merged again."""

from reference.case import cases
from reference.corners import MOVED, walks
from reference.draw_tensors import dense, level_of, ragged, rows_for
from reference.ops.levels import sequences

__all__ = ["merge_by_mask", "split_by_mask"]


def split_by_mask(nested, mask, level):
    """Split the sequences of a level into those where the mask is true, and the others."""
    both = []
    for side in (True, False):
        chosen = iter(mask)
        both.append(kept(nested, level, lambda chosen=chosen, side=side: next(chosen) == side))
    return tuple(both)


def kept(nested, level, wanted):
    """Remove the sequences of a level that are not selected."""
    if level == 0:
        return [sequence for sequence in nested if wanted()]
    return [kept(sequence, level - 1, wanted) for sequence in nested]


def merge_by_mask(when_true, when_false, mask, level):
    """Merge the sequences of a level by a mask; the coarser ones become as long as both sides together."""
    sides = {True: iter(sequences(when_true, level)), False: iter(sequences(when_false, level))}
    following = iter([next(sides[chosen]) for chosen in mask])

    def merged(true, false, depth):
        if depth == 0:
            return [next(following) for _ in range(len(true) + len(false))]
        return [merged(one, other, depth - 1) for one, other in zip(true, false, strict=True)]

    return merged(when_true, when_false, level)


# -- cases -------------------------------------------------------------------------------------------------------------


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
def draw_split_by_mask(source):
    x, mask, level = masked(source)
    return {"x": x, "mask": mask, "level": level}


@draw_split_by_mask.expected
def _(x, mask, level):
    return tuple(x.made(side) for side in split_by_mask(x.nested, mask.numbers(), first(x, level)))


@cases(walks(3) | {"no levels", "float64", "float32", "nan"}, walked="when_true")
def draw_merge_by_mask(source):
    x, mask, level = masked(source)
    sides = split_by_mask(x.nested, mask.numbers(), first(x, level))
    return {"when_true": x.made(sides[0]), "when_false": x.made(sides[1]), "mask": mask, "level": level}


@draw_merge_by_mask.expected
def _(when_true, when_false, mask, level):
    k = first(when_true, level)
    return when_true.made(merge_by_mask(when_true.nested, when_false.nested, mask.numbers(), k))
