"""Quantiles of the rows of sequences."""

from reference.case import cases
from reference.cases.order import EVERY, FLAVOURS
from reference.draw import FLOATS
from reference.draw_tensors import level_of, ragged
from reference.ops import quantiles as oracle


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
