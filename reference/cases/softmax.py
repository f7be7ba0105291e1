"""Softmax, logarithms of sums of exponentials and running sums within sequences."""

from reference.case import cases
from reference.corners import ROWS, STRUCTURES, walks
from reference.draw import DTYPES
from reference.draw_tensors import level_of, ragged
from reference.dtypes import float_of
from reference.ops import softmax as oracle

EVERY = STRUCTURES | ROWS | walks(4) | {*DTYPES, "ties"}


def with_level(source, *flavours):
    """Draw a batch, and a level of it."""
    x = ragged(source, flavours=("quarters", "any", "equal", *flavours))
    return {"x": x, "level": level_of(source, x)} if source.integer(0, 3) else {"x": x}


@cases(EVERY | {"infinite"}, exact=False)
def sequence_softmax(source):
    return with_level(source, "infinite")


@sequence_softmax.expected
def _(x, level=-1):
    nested = oracle.sequence_softmax(x.nested, x.level(level), x.num_levels, x.row_shape)
    return x.made(nested, dtype=float_of(x.dtype))


@cases(EVERY, exact=False)
def sequence_logsumexp(source):
    return with_level(source)


@sequence_logsumexp.expected
def _(x, level=-1):
    k = x.level(level)
    return x.made(oracle.sequence_logsumexp(x.nested, k, x.num_levels, x.row_shape), k, dtype=float_of(x.dtype))


@cases(EVERY | {"nan", "infinite"}, exact=False)
def sequence_cumsum(source):
    return with_level(source, "nan", "infinite")


@sequence_cumsum.expected
def _(x, level=-1):
    nested = oracle.sequence_cumsum(x.nested, x.level(level), x.num_levels, x.row_shape)
    wide = x.dtype if x.dtype.startswith("float") else "uint64" if x.dtype == "uint8" else "int64"
    return x.made(nested, dtype=wide)
