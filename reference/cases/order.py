"""The order of the rows of sequences, and quantiles of them."""

from reference.case import cases
from reference.corners import ROWS, STRUCTURES, walks
from reference.draw import DTYPES, FLOATS
from reference.draw_tensors import level_of, ragged
from reference.ops import order as oracle

EVERY = STRUCTURES | ROWS | walks(4)
FLAVOURS = ("quarters", "any", "equal", "nan", "infinite")


@cases(EVERY | {*DTYPES, "ties", "nan", "infinite", "descending True", "descending False"}, gradient=False)
def sequence_argsort(source):
    x = ragged(source, flavours=FLAVOURS)
    return {"x": x, "level": level_of(source, x), "descending": source.choice([False, True])}


@sequence_argsort.expected
def _(x, level, descending):
    found = oracle.sequence_argsort(x.nested, x.level(level), descending, x.num_levels, x.row_shape)
    return x.made(found, dtype="int64")


@cases(EVERY | {*FLOATS, "ties", "nan", "infinite", "skip_nan True", "skip_nan False"}, exact=False)
def sequence_quantile(source):
    x = ragged(source, dtypes=FLOATS, flavours=FLAVOURS)
    q = source.choice([0.5, 0.0, 1.0, 0.3, [0.1, 0.75]])
    given = {"x": x, "q": q, "method": source.choice(sorted(oracle.METHODS)), "level": level_of(source, x)}
    return {**given, "skip_nan": source.choice([False, True])}


@sequence_quantile.expected
def _(x, q, method, level, skip_nan):
    at = x.level(level)
    found = oracle.sequence_quantile(x.nested, q, method, at, skip_nan, x.num_levels, x.row_shape)
    return x.made(found, at, (*((len(q),) if isinstance(q, list) else ()), *x.row_shape))
