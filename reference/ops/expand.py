"""Sequences and rows repeated, and elements in reverse order."""

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
