"""Rows that are ids."""

from reference.case import cases
from reference.corners import STRUCTURES, depths, walks
from reference.draw import INTEGERS, levels
from reference.draw_tensors import dense, level_of, ragged, rows_for, vector
from reference.dtypes import promoted
from reference.nested import nest
from reference.ops import tokens as oracle
from reference.ops.levels import each_at_level, sequences
from reference.tensors import Ragged

NUMBERS = {*INTEGERS, "rows of no axis", "rows of width 1"}


def numbers_of(x):
    """Return a batch whose rows are numbers, whatever their shape."""
    return x.nested if not x.row_shape else each_at_level([row[0] for row in x.rows], x.nested, x.num_levels)


@cases(STRUCTURES | walks(3) | NUMBERS, gradient=False)
def sequence_enumerate(source):
    x = ragged(source, 3, INTEGERS, [(), (1,)])
    return {
        "x": x,
        "win_size": source.choice([1, 2, 3, 9]),
        "pad_value": source.choice([0, 7]),
        "level": level_of(source, x),
    }


@sequence_enumerate.expected
def _(x, win_size, pad_value, level):
    made = oracle.sequence_enumerate(numbers_of(x), win_size, pad_value, x.level(level), x.num_levels)
    return x.made(made, row_shape=(win_size,))


@cases(STRUCTURES | depths(4) | NUMBERS, gradient=False)
def sequence_erase(source):
    x = ragged(source, 4, INTEGERS, [(), (1,)])
    return {"x": x, "tokens": vector(source, source.integers(source.choice([0, 1, 3, 8]), -3, 8))}


@sequence_erase.expected
def _(x, tokens):
    left = oracle.sequence_erase(numbers_of(x), tokens.nested, x.num_levels)
    if x.row_shape:
        left = each_at_level([[number] for number in sequences(left, x.num_levels)], left, x.num_levels)
    return x.made(left)


@cases(STRUCTURES | walks(3) | NUMBERS, exact=False, walked="ids")
def sequence_scatter(source):
    offsets = levels(source, 1, 3, 4)
    num_levels, n_columns = len(offsets), source.integer(1, 4)
    chosen = source.integers(offsets[-1][-1], 0, n_columns - 1)
    shape = source.choice([(), (1,)])
    ids = Ragged(nest([[i] for i in chosen] if shape else chosen, offsets), num_levels, shape, source.choice(INTEGERS))
    level = level_of(source, ids)
    cells = source.choice([(), (1,), (2, 2), (0,)])
    lines = (len(sequences(ids.nested, ids.level(level))), n_columns, *cells)
    dtypes = ["float64", "float32", "int64", "int32"]
    updates = rows_for(source, offsets, dtypes, [cells])
    return {"x": dense(source, lines, dtypes), "ids": ids, "updates": updates, "level": level}


@sequence_scatter.expected
def _(x, ids, updates, level):
    made = oracle.sequence_scatter(x.nested, numbers_of(ids), updates.rows, ids.level(level), ids.num_levels)
    return x.made(made, dtype=promoted(x.dtype, updates.dtype))
