"""The traversal that all oracles share, and changes of levels."""

__all__ = ["append", "at_level", "drop", "each_at_level", "positions", "segment_ids", "sequences"]


def sequences(nested, level):
    """List the sequences of a level, over the whole batch."""
    for _ in range(level):
        nested = [inner for outer in nested for inner in outer]
    return list(nested)


def at_level(function, nested, level):
    """Replace each sequence of a level by the result of a function, in order."""
    if level == 0:
        return [function(sequence) for sequence in nested]
    return [at_level(function, sequence, level - 1) for sequence in nested]


def each_at_level(replacements, nested, level):
    """Replace the sequences of a level by others, one by one."""
    following = iter(replacements)
    return at_level(lambda _: next(following), nested, level)


def drop(nested, level):
    """Remove a level: its sequences are joined within each sequence that contained them."""
    if level == 0:
        return sequences(nested, 1)
    return at_level(lambda outer: sequences(outer, 1), nested, level - 1)


def append(nested, rows, num_levels):
    """Replace rows by sequences of rows."""
    return each_at_level(rows, nested, num_levels)


def segment_ids(nested, level, num_levels):
    """Return for each row the number of its sequence of a level."""
    found = sequences(nested, level)
    return [s for s in range(len(found)) for _ in sequences(found[s], num_levels - level - 1)]


def positions(nested, level, num_levels):
    """Return for each row its position in its sequence of a level."""
    found = sequences(nested, level)
    return [place for sequence in found for place in range(len(sequences(sequence, num_levels - level - 1)))]
