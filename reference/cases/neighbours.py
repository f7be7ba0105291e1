"""Rows and their neighbours within sequences."""

from reference.case import cases
from reference.corners import MOVED, ROWS, STRUCTURES, depths, walks
from reference.draw import DTYPES
from reference.draw_tensors import level_of, ragged
from reference.dtypes import float_of, wrapped
from reference.ops import neighbours as oracle
from reference.tensors import fill as filled

EVERY = STRUCTURES | ROWS | {*DTYPES, "nan", "ties"}


@cases(EVERY | depths(4))
def sequence_diff(source):
    x = ragged(source, flavours=("quarters", "nan"))  # differences of close numbers have few significant digits
    return {"x": x, "n": source.choice([0, 1, 1, 2, 5])}


@sequence_diff.expected
def _(x, n):
    def subtract(one, other):
        return one != other if x.dtype == "bool" else wrapped(one - other, x.dtype)

    return x.made(oracle.sequence_diff(x.nested, n, subtract, x.num_levels, x.row_shape))


@cases(MOVED | walks(4))
def sequence_shift(source):
    x = ragged(source)
    return {"x": x, "n": source.choice([0, 1, -1, 2, -3]), "fill": source.choice([0, 1]), "level": level_of(source, x)}


@sequence_shift.expected
def _(x, n, fill, level):
    size = 1
    for length in x.row_shape:
        size *= length
    row = filled([{"bool": bool}.get(x.dtype, float if x.dtype.startswith("float") else int)(fill)] * size, x.row_shape)
    return x.made(oracle.sequence_shift(x.nested, n, row, x.level(level), x.num_levels))


@cases(MOVED | depths(4))
def sliding_window(source):
    return {"x": ragged(source), "size": source.choice([1, 2, 3]), "step": source.choice([1, 1, 2])}


@sliding_window.expected
def _(x, size, step):
    return x.made(oracle.sliding_window(x.nested, size, step, x.num_levels), x.num_levels + 1)


@cases(EVERY | walks(4), exact=False)
def sequence_accumulate(source):
    x = ragged(source)
    return {"x": x, "ufunc": source.choice(["maximum", "minimum", "add", "multiply"]), "level": level_of(source, x)}


@sequence_accumulate.expected
def _(x, ufunc, level):
    dtype = x.dtype
    if ufunc in ("add", "multiply"):
        dtype = {"bool": "int64", "int32": "int64", "uint8": "uint64"}.get(dtype, dtype)
    functions = {
        "maximum": oracle.greatest,
        "minimum": oracle.least,
        "add": lambda one, other: wrapped(one + other, dtype),
        "multiply": lambda one, other: wrapped(one * other, dtype),
    }
    found = oracle.sequence_accumulate(x.nested, functions[ufunc], x.level(level), x.num_levels, x.row_shape)
    return x.made(found, dtype=dtype)


@cases(EVERY | walks(4) | {"adjust True", "adjust False"}, exact=False)
def sequence_moving_average(source):
    x = ragged(source)
    return {
        "x": x,
        "alpha": source.choice([0.5, 0.1, 1.0]),
        "adjust": source.choice([False, True]),
        "level": level_of(source, x),
    }


@sequence_moving_average.expected
def _(x, alpha, adjust, level):
    found = oracle.sequence_moving_average(x.nested, alpha, adjust, x.level(level), x.num_levels, x.row_shape)
    return x.made(found, dtype=float_of(x.dtype))
