"""Distinct values of sequences, ranks among them, and sequences as runs of equal rows."""

import math

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
