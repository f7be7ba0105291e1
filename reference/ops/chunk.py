"""Sequences split into chunks."""

from reference.case import cases
from reference.corners import MOVED, walks
from reference.draw_tensors import level_of, ragged
from reference.ops.levels import at_level

__all__ = ["sequence_chunk"]


def chunks(sequence, size, stride, last, align="start"):
    """Split one sequence into chunks of a size, one every `stride` elements."""
    if align == "end":
        return [chunk[::-1] for chunk in chunks(sequence[::-1], size, stride, last)][::-1]
    if not sequence:
        return []
    starts = [0]
    while starts[-1] + size < len(sequence):
        starts.append(starts[-1] + stride)
    if align == "middle" and len(sequence) > size:
        before = (len(sequence) - size) % stride // 2
        starts = [start for start in range(before - stride, len(sequence) - size + stride, stride)]
        starts = [start for start in starts if start > -stride and start + size < len(sequence) + stride]
    if last == "full":
        starts = [max(min(start, len(sequence) - size), 0) for start in starts]
    found = [sequence[max(start, 0) : start + size] for start in starts]
    return [chunk for chunk in found if last != "drop" or len(chunk) == size]


def sequence_chunk(nested, size, stride, last, level, align="start"):
    """Split each sequence of a level into chunks."""
    return at_level(lambda sequence: chunks(sequence, size, stride or size, last, align), nested, level)


# -- cases -------------------------------------------------------------------------------------------------------------


@cases(MOVED | walks(3))
def draw_sequence_chunk(source):
    x = ragged(source, 3)
    size = source.integer(1, 4)
    return {
        "x": x,
        "size": size,
        "stride": source.choice([None, source.integer(1, size)]),
        "last": source.choice(["short", "full", "drop"]),
        "level": level_of(source, x),
        "align": source.choice(["start", "middle", "end"]),
    }


@draw_sequence_chunk.expected
def _(x, size, stride, last, level, align):
    return x.made(sequence_chunk(x.nested, size, stride, last, x.level(level), align), x.num_levels + 1)
