"""Tensors of the cases, drawn from a source of choices."""

import math

from reference.draw import DTYPES, lengths, levels, numbers, running_sum
from reference.nested import nest
from reference.tensors import Dense, Ragged, Structure, fill

__all__ = ["ROW_SHAPES", "dense", "filled", "level_of", "levels_below", "ragged", "rows_for", "structure", "vector"]

ROW_SHAPES = ((), (1,), (3,), (2, 2), (0,))


def ragged(source, max_levels=4, dtypes=DTYPES, row_shapes=ROW_SHAPES, flavours=("quarters", "any", "nan"), most=4):
    """Draw a batch of sequences; most batches have rows."""
    offsets = levels(source, 1, max_levels, most)
    for _ in range(3):
        if offsets[-1][-1] or source.choice([True, False, False]):
            break
        offsets = levels(source, 1, max_levels, most)
    return rows_for(source, offsets, dtypes, row_shapes, flavours)


def rows_for(source, offsets, dtypes=DTYPES, row_shapes=ROW_SHAPES, flavours=("quarters", "any", "nan"), count=None):
    """Draw rows for a structure: Ragged, or Dense of `count` rows if there are no levels."""
    count = offsets[-1][-1] if offsets else count
    made = dense(source, (count, *source.choice(row_shapes)), dtypes, flavours)
    if not offsets:
        return made
    return Ragged(nest(made.nested, offsets), len(offsets), made.shape[1:], made.dtype)


def levels_below(source, count, depth, longest=3):
    """Draw the offsets of `depth` levels below a number of sequences."""
    made = []
    for _ in range(depth):
        made.append(running_sum(lengths(source, count, longest=longest if count < 12 else 1)))
        count = made[-1][-1]
    return made


def dense(source, shape, dtypes=DTYPES, flavours=("quarters", "any", "nan")):
    """Draw an array of a shape."""
    dtype = source.choice(dtypes)
    return Dense(fill(numbers(source, math.prod(shape), dtype, flavours), shape), shape, dtype)


def structure(source, max_levels=3, most=4):
    """Draw levels without values."""
    offsets = levels(source, 1, max_levels, most)
    return Structure(nest(range(offsets[-1][-1]), offsets), len(offsets))


def level_of(source, x):
    """Draw a level of a tensor, counted from the first or from the last."""
    return source.integer(-x.num_levels, x.num_levels - 1)


def vector(source, integers, dtypes=("int64", "int32")):
    """Make a vector of integers of some width."""
    return Dense(list(integers), (len(integers),), source.choice(dtypes))


def filled(row_shape, numbers):
    """Make a row from its numbers, or from one number for all."""
    numbers, count = list(numbers), math.prod(row_shape)
    return fill(numbers if len(numbers) == count else numbers * count, row_shape)
