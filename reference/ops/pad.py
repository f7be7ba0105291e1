"""Sequences filled up to one length, and back; masks of lengths."""

from reference.ops.levels import sequences

__all__ = ["sequence_mask", "sequence_pad", "sequence_unpad"]


def sequence_pad(nested, row, maxlen, num_levels):
    """Fill the sequences of the last level up with a row; give also their lengths."""
    found = sequences(nested, num_levels - 1)
    lengths = [len(sequence) for sequence in found]
    longest = max(lengths, default=0) if maxlen is None else maxlen
    return [sequence + [row] * (longest - len(sequence)) for sequence in found], lengths


def sequence_unpad(lines, lengths):
    """Take the first rows of each line."""
    return [line[:length] for line, length in zip(lines, lengths, strict=True)]


def sequence_mask(lengths, maxlen):
    """Return for each place whether it is before the length; `lengths` are a number, or lists of such."""
    if isinstance(lengths, list):
        return [sequence_mask(length, maxlen) for length in lengths]
    return [int(place < lengths) for place in range(maxlen)]
