"""Distinct values of sequences, ranks among them, and sequences as runs of equal rows."""

from reference.case import cases
from reference.corners import ROWS, STRUCTURES, depths, walks
from reference.draw import DTYPES, FLOATS
from reference.draw_tensors import level_of, ragged
from reference.ops import runs as oracle

FLAVOURS = ("quarters", "any", "equal", "nan", "infinite")
EVERY = STRUCTURES | walks(4) | {*DTYPES, "ties", "nan", "infinite"}


def singles(source):
    x = ragged(source, row_shapes=((),), flavours=FLAVOURS)
    return {"x": x, "level": level_of(source, x)}


@cases(EVERY)
def sequence_unique(source):
    return singles(source)


@sequence_unique.expected
def _(x, level):
    return x.made(oracle.sequence_unique(x.nested, x.level(level), x.num_levels), x.level(level) + 1)


@cases(EVERY)
def sequence_unique_all(source):
    return singles(source)


@sequence_unique_all.expected
def _(x, level):
    at = x.level(level) + 1
    values, index, inverse, counts = oracle.sequence_unique_all(x.nested, x.level(level), x.num_levels)
    places = x.made(index, at, dtype="int64"), x.made(inverse, dtype="int64"), x.made(counts, at, dtype="int64")
    return x.made(values, at), *places


@cases(EVERY | ROWS, gradient=False)
def sequence_n_unique(source):
    x = ragged(source, flavours=FLAVOURS)
    return {"x": x, "level": level_of(source, x)}


@sequence_n_unique.expected
def _(x, level):
    at = x.level(level)
    return x.made(oracle.sequence_n_unique(x.nested, at, x.num_levels, x.row_shape), at, dtype="int64")


@cases(STRUCTURES | ROWS | walks(4) | {*FLOATS, "ties", "nan", "infinite"})
def sequence_mode(source):
    x = ragged(source, dtypes=FLOATS, flavours=FLAVOURS)
    return {"x": x, "level": level_of(source, x)}


@sequence_mode.expected
def _(x, level):
    at = x.level(level)
    return x.made(oracle.sequence_mode(x.nested, at, x.num_levels, x.row_shape), at)


@cases(EVERY | ROWS | {"descending True", "method average", "method dense"}, gradient=False)
def sequence_rank(source):
    x = ragged(source, flavours=FLAVOURS)
    method = source.choice(["average", "min", "max", "dense", "ordinal"])
    return {"x": x, "method": method, "level": level_of(source, x), "descending": source.choice([False, True])}


@sequence_rank.expected
def _(x, method, level, descending):
    found = oracle.sequence_rank(x.nested, method, x.level(level), descending, x.num_levels, x.row_shape)
    return x.made(found, dtype="float64" if method == "average" else "int64")


@cases(STRUCTURES | ROWS | depths(4) | {*DTYPES, "ties", "nan", "infinite"})
def run_lengths(source):
    return {"x": ragged(source, flavours=FLAVOURS)}


@run_lengths.expected
def _(x):
    values, counts = oracle.run_lengths(x.nested, x.num_levels)
    return x.made(values), x.made(counts, row_shape=(), dtype="int64")


@cases(STRUCTURES | ROWS | depths(4) | {*DTYPES, "nan"})
def repeat_runs(source):
    x = ragged(source)
    counts = x.made(x.nested, row_shape=(), dtype="int64")
    return {"x": x, "counts": counts.with_numbers(source.integers(len(x.rows), 0, 3))}


@repeat_runs.expected
def _(x, counts):
    return x.made(oracle.repeat_runs(x.nested, counts.nested, x.num_levels))
