"""Sequences padded to one length, and back; masks of lengths."""

import math

from reference.case import cases
from reference.corners import MOVED, depths
from reference.draw import DTYPES, lengths
from reference.draw_tensors import ROW_SHAPES, dense, filled, ragged, vector
from reference.ops.levels import sequences
from reference.tensors import Dense, fill, spread

__all__ = ["sequence_mask", "sequence_pad", "sequence_unpad"]


def sequence_pad(nested, row, maxlen, num_levels):
    """Pad the sequences of the last level with a row; return also their lengths."""
    found = sequences(nested, num_levels - 1)
    lengths = [len(sequence) for sequence in found]
    longest = max(lengths, default=0) if maxlen is None else maxlen
    return [sequence + [row] * (longest - len(sequence)) for sequence in found], lengths


def sequence_unpad(lines, lengths):
    """Take the first rows of each line."""
    return [line[:length] for line, length in zip(lines, lengths, strict=True)]


def sequence_mask(lengths, maxlen):
    """Return for each position whether it is before the length; `lengths` are a number, or lists of numbers."""
    if isinstance(lengths, list):
        return [sequence_mask(length, maxlen) for length in lengths]
    return [int(place < lengths) for place in range(maxlen)]


# -- cases -------------------------------------------------------------------------------------------------------------


@cases(MOVED | depths(4))
def draw_sequence_pad(source):
    x = ragged(source)
    longest = max(map(len, sequences(x.nested, x.num_levels - 1)), default=0)
    filling = dense(source, source.choice([(), (1,), x.row_shape]), [x.dtype], ["quarters", "nan"])
    level = source.choice([-1, x.num_levels - 1])
    return {"x": x, "pad_value": filling, "maxlen": source.choice([None, longest, longest + 2]), "level": level}


@draw_sequence_pad.expected
def _(x, pad_value, maxlen, level):
    longest = max(map(len, sequences(x.nested, x.num_levels - 1)), default=0)
    lines, counts = sequence_pad(x.nested, filled(x.row_shape, pad_value.numbers()), maxlen, x.num_levels)
    shape = (len(counts), longest if maxlen is None else maxlen, *x.row_shape)
    return Dense(lines, shape, x.dtype), Dense(counts, (len(counts),), "int64")


@cases({*DTYPES, "nan"})
def draw_sequence_unpad(source):
    sizes = lengths(source, most=4, longest=4)
    shape = (len(sizes), max(sizes, default=0) + source.integer(0, 2), *source.choice(ROW_SHAPES))
    return {"x": dense(source, shape), "length": vector(source, sizes)}


@draw_sequence_unpad.expected
def _(x, length):
    return x.made(sequence_unpad(x.nested, length.nested), 1, x.shape[2:])


@cases({"int64", "int32", "uint8"}, gradient=False, walked="lengths")
def draw_sequence_mask(source):
    shape = source.choice([(), (0,), (3,), (4,), (2, 2), (3, 1)])
    counts = [source.integer(0, 5) for _ in range(math.prod(shape))]
    maxlen = source.choice([None, None, 0, 3, 7])
    of = Dense(fill(counts, shape), shape, source.choice(["int64", "int32", "uint8"]))
    return {"lengths": of, "maxlen": maxlen, "dtype": source.choice(DTYPES)}


@draw_sequence_mask.expected
def _(lengths, maxlen, dtype):
    maxlen = max(lengths.numbers(), default=0) if maxlen is None else maxlen
    made = sequence_mask(lengths.nested, maxlen)
    kind = {"bool": bool, "float64": float, "float32": float}.get(dtype, int)
    shape = (*lengths.shape, maxlen)
    return Dense(fill([kind(one) for one in spread(made, len(shape))], shape), shape, dtype)
