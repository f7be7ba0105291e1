"""Transposition of sequences and positions, and pooling over positions."""

from reference.ops.levels import at_level
from reference.ops.pool import pooled

__all__ = ["by_position", "by_positions", "pool_by_position"]


def by_position(nested, axis):
    """Transpose the sequences of level `axis` within each sequence that contains them."""
    if axis:
        return at_level(lambda outer: by_position(outer, 0), nested, axis - 1)
    longest = max(map(len, nested), default=0)
    return [[sequence[t] for sequence in nested if len(sequence) > t] for t in range(longest)]


def by_positions(nested, axes, last):
    """Group the elements of axis `last` by their positions along all axes up to it but `axes`."""

    def grouped(parts, axis):
        if axis > last:
            return parts
        if axis in axes:
            return grouped([entry for part in parts for entry in part], axis + 1)
        longest = max(map(len, parts), default=0)
        return [grouped([part[t] for part in parts if len(part) > t], axis + 1) for t in range(longest)]

    return grouped([nested], 0)


def pool_by_position(nested, pool_type, num_levels):
    """Pool the elements at each position of the sequences of the last level."""
    return at_level(lambda rows: pooled(rows, pool_type), by_position(nested, num_levels - 1), num_levels - 1)
