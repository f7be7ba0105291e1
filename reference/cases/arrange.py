"""Elements of sequences at other positions."""

from reference.case import cases
from reference.corners import MOVED, STRUCTURES, depths, walks
from reference.draw import DTYPES
from reference.draw_tensors import level_of, ragged, rows_for, vector
from reference.ops import arrange as oracle
from reference.ops.levels import sequences
from reference.tensors import Dense


@cases(MOVED | walks(3))
def sequence_roll(source):
    x = ragged(source, 3)
    level = level_of(source, x)
    count = len(sequences(x.nested, x.level(level)))
    return {"x": x, "shift": vector(source, source.integers(count, -6, 6)), "level": level}


@sequence_roll.expected
def _(x, shift, level):
    return x.made(oracle.sequence_roll(x.nested, shift.nested, x.level(level)))


@cases(MOVED | walks(3))
def sequence_repeat(source):
    x = ragged(source, 3)
    level = level_of(source, x)
    count = len(sequences(x.nested, x.level(level) + 1))
    return {"x": x, "repeats": vector(source, source.integers(count, 0, 3)), "level": level}


@sequence_repeat.expected
def _(x, repeats, level):
    return x.made(oracle.sequence_repeat(x.nested, repeats.nested, x.level(level)))


def halves(length):
    """Split a length into two factors, if that is possible."""
    return [part for part in (length - length // 2, length // 2) if part]


@cases(MOVED | walks(3))
def sequence_unflatten(source):
    x = ragged(source, 3)
    level = level_of(source, x)
    sizes = [size for sequence in sequences(x.nested, x.level(level)) for size in halves(len(sequence))]
    return {"x": x, "lengths": vector(source, sizes), "level": level}


@sequence_unflatten.expected
def _(x, lengths, level):
    k = x.level(level)
    found = [halves(len(sequence)) for sequence in sequences(x.nested, k)]
    assert [size for sizes in found for size in sizes] == lengths.nested
    return x.made(oracle.sequence_unflatten(x.nested, found, k), x.num_levels + 1)


@cases(STRUCTURES | depths(2) | {*DTYPES, "no levels", "rows of two axes"})
def rows_to_level(source):
    offsets = ragged(source, 2).offsets if source.integer(0, 3) else []
    shapes = [(3,), (1,), (2, 2)]
    return {"x": rows_for(source, offsets, row_shapes=shapes, count=source.integer(0, 4))}


@rows_to_level.expected
def _(x):
    levels = 1 if isinstance(x, Dense) else x.num_levels + 1
    return x.made(x.nested, levels, x.row_shape[1:])
