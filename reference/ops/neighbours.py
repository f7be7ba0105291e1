"""Rows and their neighbours within sequences."""

from reference.case import cases
from reference.corners import MOVED, ROWS, STRUCTURES, depths, walks
from reference.draw import DTYPES
from reference.draw_tensors import level_of, ragged
from reference.dtypes import float_of, wrapped
from reference.ops.columns import each_column, within
from reference.ops.levels import at_level, each_at_level, sequences
from reference.reals import floating
from reference.tensors import fill as filled

__all__ = [
    "sequence_accumulate",
    "sequence_diff",
    "sequence_moving_average",
    "sequence_shift",
    "sliding_window",
]


def sequence_diff(nested, n, subtract, num_levels, row_shape):
    """Subtract from each row the one before it in its sequence of the last level, n times."""

    def differences(column):
        for _ in range(n):
            column = [subtract(column[k + 1], column[k]) for k in range(len(column) - 1)]
        return column

    return at_level(lambda sequence: each_column(differences, sequence, row_shape), nested, num_levels - 1)


def sequence_shift(nested, n, fill, level, num_levels):
    """Shift the rows below each sequence of a level; whole rows are moved."""

    def shifted(sequence):
        rows = sequences(sequence, num_levels - level - 1)
        moved = [rows[k - n] if 0 <= k - n < len(rows) else fill for k in range(len(rows))]
        return each_at_level(moved, sequence, num_levels - level - 1)

    return at_level(shifted, nested, level)


def sliding_window(nested, size, step, num_levels):
    """Replace the sequences of the last level by their windows."""

    def windows(sequence):
        return [sequence[k : k + size] for k in range(0, len(sequence) - size + 1, step)]

    return at_level(windows, nested, num_levels - 1)


def sequence_accumulate(nested, function, level, num_levels, row_shape):
    """Accumulate: apply a function to the result of the preceding rows and each row, below each sequence of a level."""

    def accumulated(column):
        made = []
        for number in column:
            made.append(function(made[-1], number) if made else number)
        return made

    return within(accumulated, nested, level, num_levels, row_shape)


def greatest(one, other):
    """Return the greater number, the first of equal ones, or nan."""
    return other if one == one and (other != other or other > one) else one


def least(one, other):
    """Return the lesser number, the first of equal ones, or nan."""
    return other if one == one and (other != other or other < one) else one


def sequence_moving_average(nested, alpha, adjust, level, num_levels, row_shape):
    """Compute exponentially weighted means of the rows up to each row below its sequence of a level."""

    def averages(column):
        made, total, weights = [], 0.0, 0.0
        for number in map(floating, column):
            if adjust:
                total, weights = number + (1 - alpha) * total, 1 + (1 - alpha) * weights
                made.append(total / weights)
            else:
                made.append(alpha * number + (1 - alpha) * made[-1] if made else number)
        return made

    return within(averages, nested, level, num_levels, row_shape)


# -- cases -------------------------------------------------------------------------------------------------------------


EVERY = STRUCTURES | ROWS | {*DTYPES, "nan", "ties"}


@cases(EVERY | depths(4))
def draw_sequence_diff(source):
    x = ragged(source, flavours=("quarters", "nan"))  # differences of close numbers have few significant digits
    return {"x": x, "n": source.choice([0, 1, 1, 2, 5])}


@draw_sequence_diff.expected
def _(x, n):
    def subtract(one, other):
        return one != other if x.dtype == "bool" else wrapped(one - other, x.dtype)

    return x.made(sequence_diff(x.nested, n, subtract, x.num_levels, x.row_shape))


@cases(MOVED | walks(4))
def draw_sequence_shift(source):
    x = ragged(source)
    return {"x": x, "n": source.choice([0, 1, -1, 2, -3]), "fill": source.choice([0, 1]), "level": level_of(source, x)}


@draw_sequence_shift.expected
def _(x, n, fill, level):
    size = 1
    for length in x.row_shape:
        size *= length
    row = filled([{"bool": bool}.get(x.dtype, float if x.dtype.startswith("float") else int)(fill)] * size, x.row_shape)
    return x.made(sequence_shift(x.nested, n, row, x.level(level), x.num_levels))


@cases(MOVED | depths(4))
def draw_sliding_window(source):
    return {"x": ragged(source), "size": source.choice([1, 2, 3]), "step": source.choice([1, 1, 2])}


@draw_sliding_window.expected
def _(x, size, step):
    return x.made(sliding_window(x.nested, size, step, x.num_levels), x.num_levels + 1)


@cases(EVERY | walks(4), exact=False)
def draw_sequence_accumulate(source):
    x = ragged(source)
    return {"x": x, "ufunc": source.choice(["maximum", "minimum", "add", "multiply"]), "level": level_of(source, x)}


@draw_sequence_accumulate.expected
def _(x, ufunc, level):
    dtype = x.dtype
    if ufunc in ("add", "multiply"):
        dtype = {"bool": "int64", "int32": "int64", "uint8": "uint64"}.get(dtype, dtype)
    functions = {
        "maximum": greatest,
        "minimum": least,
        "add": lambda one, other: wrapped(one + other, dtype),
        "multiply": lambda one, other: wrapped(one * other, dtype),
    }
    found = sequence_accumulate(x.nested, functions[ufunc], x.level(level), x.num_levels, x.row_shape)
    return x.made(found, dtype=dtype)


@cases(EVERY | walks(4) | {"adjust True", "adjust False"}, exact=False)
def draw_sequence_moving_average(source):
    x = ragged(source)
    return {
        "x": x,
        "alpha": source.choice([0.5, 0.1, 1.0]),
        "adjust": source.choice([False, True]),
        "level": level_of(source, x),
    }


@draw_sequence_moving_average.expected
def _(x, alpha, adjust, level):
    found = sequence_moving_average(x.nested, alpha, adjust, x.level(level), x.num_levels, x.row_shape)
    return x.made(found, dtype=float_of(x.dtype))
