"""Sequences ordered by their length, the longest first."""

from reference.ops.levels import sequences

__all__ = ["lod_rank_table", "reorder_by_rank", "shrink_memory"]


def lod_rank_table(nested, level):
    """Order the sequences of a level: return their numbers, and their lengths."""
    found = sequences(nested, level)
    indices = sorted(range(len(found)), key=lambda s: -len(found[s]))
    return indices, [len(found[s]) for s in indices]


def reorder_by_rank(nested, indices):
    """Reorder the sequences of a batch."""
    return [nested[s] for s in indices]


def shrink_memory(nested, step, lengths):
    """Keep the entries of the sequences that are longer than a step."""
    return [sequence for sequence, length in zip(nested, lengths, strict=False) if length > step]
