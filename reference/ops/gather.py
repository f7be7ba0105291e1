"""Selection and slicing of whole sequences, concatenation of batches, and rows by nested numbers."""

from reference.case import cases
from reference.corners import MOVED, STRUCTURES, depths, walks
from reference.draw import DTYPES, FLOATS, levels
from reference.draw_tensors import ROW_SHAPES, filled, level_of, levels_below, ragged, rows_for, vector
from reference.ops.levels import at_level, each_at_level, sequences
from reference.tensors import Ragged

__all__ = ["concat_batches", "gather_nested", "gather_sequences", "sequence_concat", "sequence_slice"]


def gather_sequences(nested, index, level):
    """Gather sequences of a level by their numbers."""
    found = sequences(nested, level)
    return [found[i] for i in index]


def concat_batches(batches):
    """Concatenate batches."""
    return [sequence for batch in batches for sequence in batch]


def sequence_concat(batches, level):
    """Concatenate the sequences s of a level of all batches to one sequence s."""
    found = [sequences(nested, level) for nested in batches]
    joined = [[element for sequence in each for element in sequence] for each in zip(*found, strict=True)]
    return each_at_level(joined, batches[0], level)


def sequence_slice(nested, offset, length, level):
    """Slice each sequence of a level."""
    found = sequences(nested, level)
    pieces = [found[s][offset[s] : offset[s] + length[s]] for s in range(len(found))]
    return each_at_level(pieces, nested, level)


def gather_nested(nested, index, index_levels, default=None):
    """Gather the entries of a batch by their numbers, in the structure of the numbers."""

    def entry(number):
        if default is None or 0 <= number < len(nested):
            return nested[number]
        return default

    if not index_levels:
        return [entry(number) for number in index]
    return at_level(lambda numbers: [entry(number) for number in numbers], index, index_levels - 1)


# -- cases -------------------------------------------------------------------------------------------------------------


@cases(MOVED | walks(4))
def draw_gather_sequences(source):
    x = ragged(source)
    level = level_of(source, x)
    count = len(sequences(x.nested, x.level(level)))
    index = source.integers(source.integer(0, 6) if count else 0, -count, count - 1)
    return {"x": x, "index": vector(source, index), "level": level}


@draw_gather_sequences.expected
def _(x, index, level):
    k = x.level(level)
    return x.made(gather_sequences(x.nested, index.nested, k), x.num_levels - k)


@cases(STRUCTURES | depths(3) | {*FLOATS, "int64", "bool", "nan", "rows of no width"}, walked="xs")
def draw_concat_batches(source):
    depth, dtype, row_shape = source.integer(1, 3), source.choice(DTYPES), source.choice(ROW_SHAPES)
    offsets = [levels(source, depth, depth, 3) for _ in range(source.integer(1, 3))]
    return {"xs": [rows_for(source, found, [dtype], [row_shape]) for found in offsets]}


@draw_concat_batches.expected
def _(xs):
    return xs[0].made(concat_batches([x.nested for x in xs]))


@cases(STRUCTURES | walks(3) | {*FLOATS, "int64", "bool", "nan", "rows of no width"}, walked="xs")
def draw_sequence_concat(source):
    upper, finer = source.integer(0, 2), source.integer(0, 1)
    common = levels(source, upper, upper, 3)
    count = common[-1][-1] if common else source.integer(0, 4)
    dtype, row_shape = source.choice(DTYPES), source.choice(ROW_SHAPES)
    xs = []
    for _ in range(source.integer(1, 3)):
        offsets = [*common, *levels_below(source, count, 1 + finer)]
        xs.append(rows_for(source, offsets, [dtype], [row_shape]))
    return {"xs": xs, "level": upper - source.choice([0, upper + 1 + finer])}


@draw_sequence_concat.expected
def _(xs, level):
    return xs[0].made(sequence_concat([x.nested for x in xs], xs[0].level(level)))


@cases(MOVED | walks(4))
def draw_sequence_slice(source):
    x = ragged(source)
    level = level_of(source, x)
    sizes = [len(sequence) for sequence in sequences(x.nested, x.level(level))]
    offset = [source.integer(0, size) for size in sizes]
    length = [source.integer(0, size - start) for size, start in zip(sizes, offset, strict=True)]
    return {"x": x, "offset": vector(source, offset), "length": vector(source, length), "level": level}


@draw_sequence_slice.expected
def _(x, offset, length, level):
    return x.made(sequence_slice(x.nested, offset.nested, length.nested, x.level(level)))


@cases(depths(2) | {*DTYPES, "no levels"})
def draw_gather_nested(source):
    count = source.integer(1, 5)
    offsets = levels_below(source, count, source.integer(0, 2))
    x = rows_for(source, offsets, count=count)
    default = source.choice([None, [] if offsets else 1])
    least, most = (-count, count - 1) if default is None else (-2, count + 2)
    if source.integer(0, 1):
        index = ragged(source, 2, ["int64"], [()])
        numbers = [source.integer(least, most) for _ in index.rows]
        return {"x": x, "index": index.with_numbers(numbers), "default": default}
    return {"x": x, "index": vector(source, source.integers(source.integer(0, 5), least, most)), "default": default}


@draw_gather_nested.expected
def _(x, index, default):
    levels = index.num_levels if isinstance(index, Ragged) else 0
    if default == 1:
        default = filled(x.row_shape, [1.0 if x.dtype.startswith("float") else x.dtype == "bool" or 1])
    return x.made(gather_nested(x.nested, index.nested, levels, default), levels + x.num_levels)
