"""Sequences cut into chunks."""

from reference.case import cases
from reference.corners import MOVED, walks
from reference.draw_tensors import level_of, ragged
from reference.ops import chunk as oracle


@cases(MOVED | walks(3))
def sequence_chunk(source):
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


@sequence_chunk.expected
def _(x, size, stride, last, level, align):
    return x.made(oracle.sequence_chunk(x.nested, size, stride, last, x.level(level), align), x.num_levels + 1)
