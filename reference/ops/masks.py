"""Sequences split by a mask, and merged again."""

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
