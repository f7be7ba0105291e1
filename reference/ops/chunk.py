"""Sequences split into chunks."""

from reference.ops.levels import at_level

__all__ = ["sequence_chunk"]


def chunks(sequence, size, stride, last):
    """Split one sequence into chunks of a size, one every `stride` elements."""
    if not sequence:
        return []
    starts = [0]
    while starts[-1] + size < len(sequence):
        starts.append(starts[-1] + stride)
    if last == "full":
        starts = [min(start, max(len(sequence) - size, 0)) for start in starts]
    found = [sequence[start : start + size] for start in starts]
    return [chunk for chunk in found if last != "drop" or len(chunk) == size]


def sequence_chunk(nested, size, stride, last, level):
    """Split each sequence of a level into chunks."""
    return at_level(lambda sequence: chunks(sequence, size, stride or size, last), nested, level)
