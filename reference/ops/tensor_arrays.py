"""Elements joined; sequences to steps and back."""

from reference.ops.levels import each_at_level, sequences
from reference.ops.rank_table import lod_rank_table

__all__ = ["concat", "indices_map", "pack", "stack", "unpack", "unstack"]


def step_order(nested, level, sort_by_length):
    """Return the order of the sequences of a level within each step."""
    indices, _ = lod_rank_table(nested, level)
    return indices if sort_by_length else sorted(indices)


def unpack(nested, level, sort_by_length=True):
    """Convert the sequences of a level to steps: step t has element t of every sequence longer than t."""
    found = sequences(nested, level)
    order = step_order(nested, level, sort_by_length)
    longest = max(map(len, found), default=0)
    return [[found[s][t] for s in order if len(found[s]) > t] for t in range(longest)]


def indices_map(nested, level, sort_by_length=True):
    """Return the numbers of the elements of a level in the order of the steps."""
    following = iter(range(len(sequences(nested, level + 1))))
    numbered = [[next(following) for _ in sequence] for sequence in sequences(nested, level)]
    return sequences(unpack(numbered, 0, sort_by_length), 1)


def pack(steps, nested, level, sort_by_length=True):
    """Convert steps back to sequences with the lengths of those of a level of `nested`."""
    found = sequences(nested, level)
    steps = [iter(step) for step in steps]
    packed = [None] * len(found)
    for s in step_order(nested, level, sort_by_length):
        packed[s] = [next(steps[t]) for t in range(len(found[s]))]
    return each_at_level(packed, nested, level)


# -- elements together ---------------------------------------------------------------------------------------------


def stack(elements, axis):
    """Stack nested lists along a new axis, counted from the outermost lists."""
    if axis == 0:
        return list(elements)
    return [stack(each, axis - 1) for each in zip(*elements, strict=True)]


def concat(elements, axis):
    """Concatenate nested lists along an axis, counted from the outermost lists."""
    if axis == 0:
        return [entry for element in elements for entry in element]
    return [concat(each, axis - 1) for each in zip(*elements, strict=True)]


def unstack(nested, axis):
    """Split nested lists along an axis: the inverse of `stack`, except for lists in which that axis is not visible."""
    if axis == 0:
        return list(nested)
    inside = [unstack(inner, axis - 1) for inner in nested]
    return [list(each) for each in zip(*inside, strict=True)]
