"""Combinations of elements of sequences."""

from reference.case import cases
from reference.corners import MOVED, STRUCTURES, walks
from reference.draw_tensors import level_of, levels_below, ragged, rows_for
from reference.ops import combine as oracle
from reference.ops.levels import sequences


@cases(MOVED | walks(3))
def sequence_pairs(source):
    x = ragged(source, 3)
    return {"x": x, "replacement": source.choice([False, True]), "level": level_of(source, x)}


@sequence_pairs.expected
def _(x, replacement, level):
    return tuple(map(x.made, oracle.sequence_pairs(x.nested, replacement, x.level(level))))


def beside(source, x, level):
    """Draw a batch that agrees with another one on the levels before a level, and on the number of sequences there."""
    upper = x.offsets[:level]
    count = len(sequences(x.nested, level))
    return rows_for(source, [*upper, *levels_below(source, count, x.num_levels - level)])


@cases(MOVED | walks(3))
def cartesian(source):
    x = ragged(source, 3, most=3)
    level = level_of(source, x)
    return {"x": x, "y": beside(source, x, x.level(level)), "level": level}


@cartesian.expected
def _(x, y, level):
    first, second = oracle.cartesian(x.nested, y.nested, x.level(level))
    return x.made(first), y.made(second)


@cases(STRUCTURES | walks(3), gradient=False)
def combination_places(source):
    x, n = ragged(source, 3), source.integer(1, 3)
    return {
        "x": x,
        "n": n,
        "column": source.integer(0, n - 1),
        "replacement": source.choice([False, True]),
        "level": level_of(source, x),
        "of_batch": source.choice([False, True]),
    }


@combination_places.expected
def _(x, n, column, replacement, level, of_batch):
    k = x.level(level)
    return x.made(oracle.combination_places(x.nested, n, column, replacement, k, of_batch), k + 1, (), "int64")


@cases(STRUCTURES | walks(3), gradient=False, walked="xs")
def interleave_places(source):
    x = ragged(source, 3)
    level = level_of(source, x)
    others = [beside(source, x, x.level(level)) for _ in range(source.integer(0, 2))]
    return {"xs": [x, *others], "level": level}


@interleave_places.expected
def _(xs, level):
    k = xs[0].level(level)
    return xs[0].made(oracle.interleave_places([x.nested for x in xs], k), k + 1, (), "int64")
