"""Selection and slicing of whole sequences, concatenation of batches, and rows by nested numbers."""

from reference.ops.levels import at_level, each_at_level, sequences

__all__ = ["concat_batches", "gather_nested", "gather_sequences", "sequence_concat", "sequence_slice"]


def gather_sequences(nested, index, level):
    """Gather sequences of a level by their numbers."""
    found = sequences(nested, level)
    return [found[i] for i in index]


def concat_batches(batches):
    """Concatenate batches."""
    return [sequence for batch in batches for sequence in batch]


def sequence_concat(batches, level):
    """Concatenate the sequences s of a level of all batches to one sequence s."""
    found = [sequences(nested, level) for nested in batches]
    joined = [[element for sequence in each for element in sequence] for each in zip(*found, strict=True)]
    return each_at_level(joined, batches[0], level)


def sequence_slice(nested, offset, length, level):
    """Slice each sequence of a level."""
    found = sequences(nested, level)
    pieces = [found[s][offset[s] : offset[s] + length[s]] for s in range(len(found))]
    return each_at_level(pieces, nested, level)


def gather_nested(nested, index, index_levels, default=None):
    """Gather the entries of a batch by their numbers, in the structure of the numbers."""

    def entry(number):
        if default is None or 0 <= number < len(nested):
            return nested[number]
        return default

    if not index_levels:
        return [entry(number) for number in index]
    return at_level(lambda numbers: [entry(number) for number in numbers], index, index_levels - 1)
