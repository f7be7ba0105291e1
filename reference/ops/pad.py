"""Sequences padded to one length, and back; masks of lengths."""

from reference.ops.levels import sequences

__all__ = ["sequence_mask", "sequence_pad", "sequence_unpad"]


def sequence_pad(nested, row, maxlen, num_levels):
    """Pad the sequences of the last level with a row; return also their lengths."""
    found = sequences(nested, num_levels - 1)
    lengths = [len(sequence) for sequence in found]
    longest = max(lengths, default=0) if maxlen is None else maxlen
    return [sequence + [row] * (longest - len(sequence)) for sequence in found], lengths


def sequence_unpad(lines, lengths):
    """Take the first rows of each line."""
    return [line[:length] for line, length in zip(lines, lengths, strict=True)]


def sequence_mask(lengths, maxlen):
    """Return for each position whether it is before the length; `lengths` are a number, or lists of numbers."""
    if isinstance(lengths, list):
        return [sequence_mask(length, maxlen) for length in lengths]
    return [int(place < lengths) for place in range(maxlen)]
