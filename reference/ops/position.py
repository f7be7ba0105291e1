"""Sequences turned to what they have at each position."""

from reference.ops.levels import at_level

__all__ = ["by_position"]


def by_position(nested, axis):
    """Turn sequences of level `axis` within what holds them."""
    if axis:
        return at_level(lambda outer: by_position(outer, 0), nested, axis - 1)
    longest = max(map(len, nested), default=0)
    return [[sequence[t] for sequence in nested if len(sequence) > t] for t in range(longest)]
