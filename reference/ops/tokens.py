"""Rows that are ids."""

from reference.case import cases
from reference.corners import STRUCTURES, depths, walks
from reference.draw import INTEGERS, levels
from reference.draw_tensors import dense, level_of, ragged, rows_for, vector
from reference.dtypes import promoted
from reference.nested import nest
from reference.ops.levels import at_level, each_at_level, sequences
from reference.ops.window import of_rows
from reference.tensors import Ragged

__all__ = ["sequence_enumerate", "sequence_erase", "sequence_scatter"]


def sequence_enumerate(nested, win_size, pad_value, level, num_levels):
    """List for each row (a number) the numbers from this row on."""

    def windows(rows):
        return [[rows[t + j] if t + j < len(rows) else pad_value for j in range(win_size)] for t in range(len(rows))]

    return of_rows(windows, nested, level, num_levels)


def sequence_erase(nested, tokens, num_levels):
    """Remove the rows (numbers) that are tokens."""
    return at_level(lambda rows: [number for number in rows if number not in tokens], nested, num_levels - 1)


def sequence_scatter(x, ids, updates, level, num_levels):
    """Add updates (rows of all sequences) to the columns of lines given by ids."""
    out = [list(line) for line in x]
    rest = iter(updates)
    for line, sequence in zip(out, sequences(ids, level), strict=True):
        for column in sequences(sequence, num_levels - level - 1):
            line[column] = added(line[column], next(rest))
    return out


def added(cell, more):
    """Add two numbers, or nested lists of numbers."""
    return [added(*pair) for pair in zip(cell, more, strict=True)] if isinstance(cell, list) else cell + more


# -- cases -------------------------------------------------------------------------------------------------------------


NUMBERS = {*INTEGERS, "rows of no axis", "rows of width 1"}


def numbers_of(x):
    """Return a batch whose rows are numbers, whatever their shape."""
    return x.nested if not x.row_shape else each_at_level([row[0] for row in x.rows], x.nested, x.num_levels)


@cases(STRUCTURES | walks(3) | NUMBERS, gradient=False)
def draw_sequence_enumerate(source):
    x = ragged(source, 3, INTEGERS, [(), (1,)])
    return {
        "x": x,
        "win_size": source.choice([1, 2, 3, 9]),
        "pad_value": source.choice([0, 7]),
        "level": level_of(source, x),
    }


@draw_sequence_enumerate.expected
def _(x, win_size, pad_value, level):
    made = sequence_enumerate(numbers_of(x), win_size, pad_value, x.level(level), x.num_levels)
    return x.made(made, row_shape=(win_size,))


@cases(STRUCTURES | depths(4) | NUMBERS, gradient=False)
def draw_sequence_erase(source):
    x = ragged(source, 4, INTEGERS, [(), (1,)])
    return {"x": x, "tokens": vector(source, source.integers(source.choice([0, 1, 3, 8]), -3, 8))}


@draw_sequence_erase.expected
def _(x, tokens):
    left = sequence_erase(numbers_of(x), tokens.nested, x.num_levels)
    if x.row_shape:
        left = each_at_level([[number] for number in sequences(left, x.num_levels)], left, x.num_levels)
    return x.made(left)


@cases(STRUCTURES | walks(3) | NUMBERS, exact=False, walked="ids")
def draw_sequence_scatter(source):
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


@draw_sequence_scatter.expected
def _(x, ids, updates, level):
    made = sequence_scatter(x.nested, numbers_of(ids), updates.rows, ids.level(level), ids.num_levels)
    return x.made(made, dtype=promoted(x.dtype, updates.dtype))
