"""Combinations of elements of sequences."""

from itertools import combinations, combinations_with_replacement, product

from reference.case import cases
from reference.corners import MOVED, STRUCTURES, walks
from reference.draw_tensors import level_of, levels_below, ragged, rows_for
from reference.ops.levels import at_level, each_at_level, sequences

__all__ = ["cartesian", "combination_places", "interleave_places", "sequence_pairs"]


def ways(count, n, replacement):
    """List the combinations of n of the given number of positions."""
    return list((combinations_with_replacement if replacement else combinations)(range(count), n))


def sequence_pairs(nested, replacement, level):
    """Pair each element of a sequence with those that follow it: return the first ones, and the second ones."""

    def side(j):
        return at_level(
            lambda sequence: [sequence[pair[j]] for pair in ways(len(sequence), 2, replacement)], nested, level
        )

    return side(0), side(1)


def cartesian(nested, other, level):
    """Pair each element of a sequence with all elements of the other sequence."""
    pairs = [list(product(x, y)) for x, y in zip(sequences(nested, level), sequences(other, level), strict=True)]
    return tuple(each_at_level([[pair[j] for pair in found] for found in pairs], nested, level) for j in (0, 1))


def combination_places(nested, n, column, replacement, level, of_batch=False):
    """List one element of each combination of n elements of a sequence, as its position in it, or in the batch."""
    begins = [0]
    for sequence in sequences(nested, level):
        begins.append(begins[-1] + len(sequence))
    begins = iter(begins)

    def listed(sequence):
        begin = next(begins) if of_batch else 0
        return [begin + way[column] for way in ways(len(sequence), n, replacement)]

    return at_level(listed, nested, level)


def turns(parts):
    """List the positions in joined parts in turn."""
    begins = [sum(map(len, parts[:j])) for j in range(len(parts))]
    longest = max(map(len, parts))
    return [begin + t for t in range(longest) for begin, part in zip(begins, parts, strict=True) if t < len(part)]


def interleave_places(batches, level):
    """List the elements of joined sequences in turn, as positions in them."""
    found = [sequences(nested, level) for nested in batches]
    return each_at_level([turns(parts) for parts in zip(*found, strict=True)], batches[0], level)


# -- cases -------------------------------------------------------------------------------------------------------------


@cases(MOVED | walks(3))
def draw_sequence_pairs(source):
    x = ragged(source, 3)
    return {"x": x, "replacement": source.choice([False, True]), "level": level_of(source, x)}


@draw_sequence_pairs.expected
def _(x, replacement, level):
    return tuple(map(x.made, sequence_pairs(x.nested, replacement, x.level(level))))


def beside(source, x, level):
    """Draw a batch that agrees with another one on the levels before a level, and on the number of sequences there."""
    upper = x.offsets[:level]
    count = len(sequences(x.nested, level))
    return rows_for(source, [*upper, *levels_below(source, count, x.num_levels - level)])


@cases(MOVED | walks(3))
def draw_cartesian(source):
    x = ragged(source, 3, most=3)
    level = level_of(source, x)
    return {"x": x, "y": beside(source, x, x.level(level)), "level": level}


@draw_cartesian.expected
def _(x, y, level):
    first, second = cartesian(x.nested, y.nested, x.level(level))
    return x.made(first), y.made(second)


@cases(STRUCTURES | walks(3), gradient=False)
def draw_combination_places(source):
    x, n = ragged(source, 3), source.integer(1, 3)
    return {
        "x": x,
        "n": n,
        "column": source.integer(0, n - 1),
        "replacement": source.choice([False, True]),
        "level": level_of(source, x),
        "of_batch": source.choice([False, True]),
    }


@draw_combination_places.expected
def _(x, n, column, replacement, level, of_batch):
    k = x.level(level)
    return x.made(combination_places(x.nested, n, column, replacement, k, of_batch), k + 1, (), "int64")


@cases(STRUCTURES | walks(3), gradient=False, walked="xs")
def draw_interleave_places(source):
    x = ragged(source, 3)
    level = level_of(source, x)
    others = [beside(source, x, x.level(level)) for _ in range(source.integer(0, 2))]
    return {"xs": [x, *others], "level": level}


@draw_interleave_places.expected
def _(xs, level):
    k = xs[0].level(level)
    return xs[0].made(interleave_places([x.nested for x in xs], k), k + 1, (), "int64")
