"""Combinations of elements of sequences."""

from itertools import combinations, combinations_with_replacement, product

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
