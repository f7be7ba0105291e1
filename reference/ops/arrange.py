"""Elements of sequences at other positions."""

from reference.case import cases
from reference.corners import MOVED, STRUCTURES, depths, walks
from reference.draw import DTYPES
from reference.draw_tensors import level_of, ragged, rows_for, vector
from reference.ops.levels import at_level, each_at_level, sequences
from reference.tensors import Dense

__all__ = ["sequence_repeat", "sequence_roll", "sequence_unflatten"]


def sequence_roll(nested, shifts, level):
    """Shift the elements of each sequence of a level."""
    shifts = iter(shifts)

    def rolled(sequence):
        by = next(shifts)
        return [sequence[(place - by) % len(sequence)] for place in range(len(sequence))]

    return at_level(rolled, nested, level)


def sequence_repeat(nested, repeats, level):
    """Repeat each element of each sequence of a level."""
    repeats = iter(repeats)
    return at_level(lambda sequence: [one for one in sequence for _ in range(next(repeats))], nested, level)


def sequence_unflatten(nested, lengths, level):
    """Split the sequences of a level into sequences of the given lengths, one list of lengths for each."""

    def divided(sequence, sizes):
        found = []
        for size in sizes:
            found.append(sequence[:size])
            sequence = sequence[size:]
        assert not sequence
        return found

    found = [divided(sequence, sizes) for sequence, sizes in zip(sequences(nested, level), lengths, strict=True)]
    return each_at_level(found, nested, level)


# -- cases -------------------------------------------------------------------------------------------------------------


@cases(MOVED | walks(3))
def draw_sequence_roll(source):
    x = ragged(source, 3)
    level = level_of(source, x)
    count = len(sequences(x.nested, x.level(level)))
    return {"x": x, "shift": vector(source, source.integers(count, -6, 6)), "level": level}


@draw_sequence_roll.expected
def _(x, shift, level):
    return x.made(sequence_roll(x.nested, shift.nested, x.level(level)))


@cases(MOVED | walks(3))
def draw_sequence_repeat(source):
    x = ragged(source, 3)
    level = level_of(source, x)
    count = len(sequences(x.nested, x.level(level) + 1))
    return {"x": x, "repeats": vector(source, source.integers(count, 0, 3)), "level": level}


@draw_sequence_repeat.expected
def _(x, repeats, level):
    return x.made(sequence_repeat(x.nested, repeats.nested, x.level(level)))


def halves(length):
    """Split a length into two factors, if that is possible."""
    return [part for part in (length - length // 2, length // 2) if part]


@cases(MOVED | walks(3))
def draw_sequence_unflatten(source):
    x = ragged(source, 3)
    level = level_of(source, x)
    sizes = [size for sequence in sequences(x.nested, x.level(level)) for size in halves(len(sequence))]
    return {"x": x, "lengths": vector(source, sizes), "level": level}


@draw_sequence_unflatten.expected
def _(x, lengths, level):
    k = x.level(level)
    found = [halves(len(sequence)) for sequence in sequences(x.nested, k)]
    assert [size for sizes in found for size in sizes] == lengths.nested
    return x.made(sequence_unflatten(x.nested, found, k), x.num_levels + 1)


@cases(STRUCTURES | depths(2) | {*DTYPES, "no levels", "rows of two axes"})
def draw_rows_to_level(source):
    offsets = ragged(source, 2).offsets if source.integer(0, 3) else []
    shapes = [(3,), (1,), (2, 2)]
    return {"x": rows_for(source, offsets, row_shapes=shapes, count=source.integer(0, 4))}


@draw_rows_to_level.expected
def _(x):
    levels = 1 if isinstance(x, Dense) else x.num_levels + 1
    return x.made(x.nested, levels, x.row_shape[1:])
