"""Sequences and rows repeated, and elements in reverse order."""

from reference.case import cases
from reference.corners import MOVED, STRUCTURES, depths, walks
from reference.draw_tensors import level_of, levels_below, ragged, rows_for, structure
from reference.ops.levels import at_level, each_at_level, sequences

__all__ = ["sequence_expand", "sequence_expand_as", "sequence_reverse", "with_values"]


def sequence_expand(nested, reference, level):
    """Repeat each entry of a batch as often as the corresponding sequence of a level has elements."""
    found = sequences(reference, level)
    return [entry for entry, sequence in zip(nested, found, strict=True) for _ in sequence]


def sequence_expand_as(rows, reference, level, num_levels):
    """Replace every row of sequence i of a level by row i."""
    following = iter(rows)

    def filled(sequence):
        row = next(following)
        return at_level(lambda _: row, sequence, num_levels - level - 1)

    return at_level(filled, reference, level)


def sequence_reverse(nested, level):
    """Reverse the elements of each sequence of a level."""
    return each_at_level([sequence[::-1] for sequence in sequences(nested, level)], nested, level)


def with_values(nested, rows, num_levels):
    """Replace the rows of a batch, one by one."""
    return each_at_level(rows, nested, num_levels)


# -- cases -------------------------------------------------------------------------------------------------------------


@cases(STRUCTURES | walks(3), walked="y")
def draw_sequence_expand(source):
    y = structure(source)
    level = level_of(source, y)
    count = len(sequences(y.nested, y.level(level)))
    x = rows_for(source, levels_below(source, count, source.integer(0, 2)), count=count)
    return {"x": x, "y": y, "ref_level": level}


@draw_sequence_expand.expected
def _(x, y, ref_level):
    nested = sequence_expand(x.nested, y.nested, y.level(ref_level))
    return x.made(nested)


@cases(STRUCTURES | walks(3), walked="y")
def draw_sequence_expand_as(source):
    y = structure(source)
    level = level_of(source, y)
    k = y.level(level)
    count = len(sequences(y.nested, k))
    upper = y.offsets[: k * source.integer(0, 1)]
    return {"x": rows_for(source, upper, count=count), "y": y, "level": level}


@draw_sequence_expand_as.expected
def _(x, y, level):
    nested = sequence_expand_as(x.rows, y.nested, y.level(level), y.num_levels)
    return x.made(nested, y.num_levels)


@cases(MOVED | walks(4))
def draw_sequence_reverse(source):
    x = ragged(source)
    return {"x": x, "level": level_of(source, x)}


@draw_sequence_reverse.expected
def _(x, level):
    return x.made(sequence_reverse(x.nested, x.level(level)))


@cases(STRUCTURES | depths(3), walked="x")
def draw_with_values(source):
    x = structure(source)
    return {"x": x, "v": rows_for(source, x.offsets if source.integer(0, 1) else [], count=x.num_rows)}


@draw_with_values.expected
def _(x, v):
    return v.made(with_values(x.nested, v.rows, x.num_levels), x.num_levels)
