"""Distinct values of sequences, ranks among them, and sequences as runs of equal rows."""

import math

from reference.case import cases
from reference.corners import ROWS, STRUCTURES, depths, walks
from reference.draw import DTYPES, FLOATS
from reference.draw_tensors import level_of, ragged
from reference.ops.columns import each_column, within
from reference.ops.levels import at_level, each_at_level, sequences
from reference.ops.sort import order_of

__all__ = [
    "repeat_runs",
    "run_lengths",
    "sequence_mode",
    "sequence_n_unique",
    "sequence_rank",
    "sequence_unique",
    "sequence_unique_all",
]


def are_equal(one, other):
    """Return whether two rows are equal: numbers, where nan equals nan, or lists of numbers."""
    if isinstance(one, list):
        return all(are_equal(one[c], other[c]) for c in range(len(one)))
    return one == other or (one != one and other != other)


def places_of(column, descending=False):
    """List for each value, in order, its positions."""
    found = []
    for r in order_of(column, descending):
        if found and are_equal(column[found[-1][0]], column[r]):
            found[-1].append(r)
        else:
            found.append([r])
    return found


def below(nested, level, num_levels):
    """List the rows below each sequence of a level."""
    return [sequences(one, num_levels - level - 1) for one in sequences(nested, level)]


def sequence_unique(nested, level, num_levels):
    """Find the distinct values of the rows below each sequence of a level."""
    found = [[rows[group[0]] for group in places_of(rows)] for rows in below(nested, level, num_levels)]
    return each_at_level(found, nested, level)


def sequence_unique_all(nested, level, num_levels):
    """Find the distinct values, their first positions, the number of the value of each row, and their counts."""
    groups = [places_of(rows) for rows in below(nested, level, num_levels)]

    def each(function):
        return each_at_level([[function(group) for group in one] for one in groups], nested, level)

    def inverse(column):
        return [k for r in range(len(column)) for k, group in enumerate(places_of(column)) if r in group]

    values = sequence_unique(nested, level, num_levels)
    return values, each(min), within(inverse, nested, level, num_levels, ()), each(len)


def one_row(function, nested, level, num_levels, row_shape):
    """Replace each sequence of a level by a row that a function computes from its columns."""
    found = [
        each_column(lambda column: [function(column)], rows, row_shape)[0] for rows in below(nested, level, num_levels)
    ]
    return each_at_level(found, nested, level)


def sequence_n_unique(nested, level, num_levels, row_shape):
    """Count the distinct values of each column below each sequence of a level."""
    return one_row(lambda column: len(places_of(column)), nested, level, num_levels, row_shape)


def sequence_mode(nested, level, num_levels, row_shape):
    """Find the most frequent value of each column, the least of equally frequent ones; nan if there are no rows."""

    def most(column):
        groups = places_of(column)
        return column[max(groups, key=len)[0]] if groups else math.nan

    return one_row(most, nested, level, num_levels, row_shape)


def sequence_rank(nested, method, level, descending, num_levels, row_shape):
    """Rank the rows below each sequence of a level, column by column, starting at 1."""

    def ranks(column):
        made, before = [None] * len(column), 0
        for number, group in enumerate(places_of(column, descending)):
            least, most = before + 1, before + len(group)
            kinds = {"min": least, "max": most, "dense": number + 1, "average": (least + most) / 2}
            for k, r in enumerate(group):
                made[r] = kinds.get(method, least + k)
            before = most
        return made

    return within(ranks, nested, level, num_levels, row_shape)


def run_lengths(nested, num_levels):
    """Convert the sequences of the last level to runs: return the first row of each, and its length."""

    def runs(sequence):
        found = []
        for row in sequence:
            if found and are_equal(found[-1][0], row):
                found[-1][1] += 1
            else:
                found.append([row, 1])
        return found

    def part(k):
        return at_level(lambda sequence: [run[k] for run in runs(sequence)], nested, num_levels - 1)

    return part(0), part(1)


def repeat_runs(nested, counts, num_levels):
    """Repeat each row of the sequences of the last level."""
    each = zip(sequences(nested, num_levels - 1), sequences(counts, num_levels - 1), strict=True)
    made = [[row for row, count in zip(*pair, strict=True) for _ in range(count)] for pair in each]
    return each_at_level(made, nested, num_levels - 1)


# -- cases -------------------------------------------------------------------------------------------------------------


FLAVOURS = ("quarters", "any", "equal", "nan", "infinite")
EVERY = STRUCTURES | walks(4) | {*DTYPES, "ties", "nan", "infinite"}


def singles(source):
    x = ragged(source, row_shapes=((),), flavours=FLAVOURS)
    return {"x": x, "level": level_of(source, x)}


@cases(EVERY)
def draw_sequence_unique(source):
    return singles(source)


@draw_sequence_unique.expected
def _(x, level):
    return x.made(sequence_unique(x.nested, x.level(level), x.num_levels), x.level(level) + 1)


@cases(EVERY)
def draw_sequence_unique_all(source):
    return singles(source)


@draw_sequence_unique_all.expected
def _(x, level):
    at = x.level(level) + 1
    values, index, inverse, counts = sequence_unique_all(x.nested, x.level(level), x.num_levels)
    places = x.made(index, at, dtype="int64"), x.made(inverse, dtype="int64"), x.made(counts, at, dtype="int64")
    return x.made(values, at), *places


@cases(EVERY | ROWS, gradient=False)
def draw_sequence_n_unique(source):
    x = ragged(source, flavours=FLAVOURS)
    return {"x": x, "level": level_of(source, x)}


@draw_sequence_n_unique.expected
def _(x, level):
    at = x.level(level)
    return x.made(sequence_n_unique(x.nested, at, x.num_levels, x.row_shape), at, dtype="int64")


@cases(STRUCTURES | ROWS | walks(4) | {*FLOATS, "ties", "nan", "infinite"})
def draw_sequence_mode(source):
    x = ragged(source, dtypes=FLOATS, flavours=FLAVOURS)
    return {"x": x, "level": level_of(source, x)}


@draw_sequence_mode.expected
def _(x, level):
    at = x.level(level)
    return x.made(sequence_mode(x.nested, at, x.num_levels, x.row_shape), at)


@cases(EVERY | ROWS | {"descending True", "method average", "method dense"}, gradient=False)
def draw_sequence_rank(source):
    x = ragged(source, flavours=FLAVOURS)
    method = source.choice(["average", "min", "max", "dense", "ordinal"])
    return {"x": x, "method": method, "level": level_of(source, x), "descending": source.choice([False, True])}


@draw_sequence_rank.expected
def _(x, method, level, descending):
    found = sequence_rank(x.nested, method, x.level(level), descending, x.num_levels, x.row_shape)
    return x.made(found, dtype="float64" if method == "average" else "int64")


@cases(STRUCTURES | ROWS | depths(4) | {*DTYPES, "ties", "nan", "infinite"})
def draw_run_lengths(source):
    return {"x": ragged(source, flavours=FLAVOURS)}


@draw_run_lengths.expected
def _(x):
    values, counts = run_lengths(x.nested, x.num_levels)
    return x.made(values), x.made(counts, row_shape=(), dtype="int64")


@cases(STRUCTURES | ROWS | depths(4) | {*DTYPES, "nan"})
def draw_repeat_runs(source):
    x = ragged(source)
    counts = x.made(x.nested, row_shape=(), dtype="int64")
    return {"x": x, "counts": counts.with_numbers(source.integers(len(x.rows), 0, 3))}


@draw_repeat_runs.expected
def _(x, counts):
    return x.made(repeat_runs(x.nested, counts.nested, x.num_levels))
