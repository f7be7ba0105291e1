"""The same cells in another structure."""

import math
from itertools import pairwise

from reference.case import cases
from reference.corners import MOVED, STRUCTURES, depths
from reference.draw import levels
from reference.draw_tensors import ragged, rows_for, vector
from reference.nested import nest
from reference.ops.levels import each_at_level, sequences
from reference.tensors import Structure

__all__ = ["lod_append", "lod_reset", "sequence_reshape"]


def cells(row):
    """List the cells of a row, which is a number or lists of numbers."""
    return [cell for part in row for cell in cells(part)] if isinstance(row, list) else [row]


def sequence_reshape(nested, new_dim, num_levels):
    """Divide the cells of each sequence of the last level into rows of another width."""
    cut = []
    for sequence in sequences(nested, num_levels - 1):
        flat = [cell for row in sequence for cell in cells(row)]
        cut.append([flat[at : at + new_dim] for at in range(0, len(flat), new_dim)])
    return each_at_level(cut, nested, num_levels - 1)


def lod_reset(nested, num_levels, levels):
    """Replace the offsets of the rows of a batch."""
    return nest(sequences(nested, num_levels), levels)


def lod_append(nested, num_levels, lengths):
    """Replace rows by sequences of these lengths."""
    rows = iter(sequences(nested, num_levels))
    fresh = [[next(rows) for _ in range(length)] for length in lengths]
    return each_at_level(fresh, nested, num_levels) if num_levels else fresh


# -- cases -------------------------------------------------------------------------------------------------------------


@cases(STRUCTURES | depths(3) | {"float64", "float32", "nan"})
def draw_sequence_reshape(source):
    width, new_dim = source.choice([(1, 1), (2, 1), (6, 4), (4, 6), (3, 6), (0, 2), (4, 4)])
    once = new_dim // math.gcd(width, new_dim)  # this many rows can be divided
    offsets = levels(source, 1, 3, 4)
    offsets[-1] = [once * offset for offset in offsets[-1]]
    shapes = [(width,), (1, width), *[()] * (width == 1)]
    return {"x": rows_for(source, offsets, row_shapes=shapes), "new_dim": new_dim}


@draw_sequence_reshape.expected
def _(x, new_dim):
    return x.made(sequence_reshape(x.nested, new_dim, x.num_levels), row_shape=(new_dim,))


@cases(MOVED | depths(2) | {"no levels"})
def draw_lod_reset(source):
    x = rows_for(source, [], count=source.integer(0, 6)) if source.integer(0, 3) == 0 else ragged(source, 2)
    count = len(x.rows)
    found = [cut(source, count)]
    for _ in range(source.integer(0, 2)):
        found.insert(0, cut(source, len(found[0]) - 1))
    form = source.choice(["levels", "one level", "lod", "vector"])
    if form == "levels":
        return {"x": x, "target_lod": found}
    if form == "one level":
        return {"x": x, "target_lod": found[-1]}
    y = Structure(nest(range(count), found), len(found)) if form == "lod" else vector(source, found[-1])
    return {"x": x, "y": y}


def cut(source, count):
    """Draw the offsets of a level above a number of elements."""
    return [0, *sorted(source.integers(source.integer(0, 4), 0, count)), count]


@draw_lod_reset.expected
def _(x, y=None, target_lod=None):
    if y is not None:
        target_lod = y.offsets if isinstance(y, Structure) else y.nested
    offsets = target_lod if isinstance(target_lod[0], list) else [target_lod]
    return x.made(lod_reset(x.nested, x.num_levels, offsets), len(offsets))


@cases(MOVED | depths(2) | {"no levels"})
def draw_lod_append(source):
    x = rows_for(source, [], count=source.integer(0, 6)) if source.integer(0, 3) == 0 else ragged(source, 2)
    count = len(x.rows)
    if not x.num_levels:
        offsets = cut(source, count)
    else:  # the last level counts the new sequences: the number of its rows now
        offsets = [0, *sorted(source.integers(count - 1, 0, count)), count] if count else [0]
    if source.choice([True, False]):
        return {"x": x, "offsets": vector(source, offsets)}
    return {"x": x, "lengths": vector(source, differences(offsets))}


def differences(offsets):
    return [stop - start for start, stop in pairwise(offsets)]


@draw_lod_append.expected
def _(x, lengths=None, offsets=None):
    sizes = lengths.nested if offsets is None else differences(offsets.nested)
    return x.made(lod_append(x.nested, x.num_levels, sizes), x.num_levels + 1)
