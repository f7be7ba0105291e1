"""Dropout of numbers, by a draw each."""

__all__ = ["dropout"]


def dropout(numbers, draws, rate):
    """Keep those whose draw is at least the rate, over what the rate leaves of 1; the others become 0."""
    return [x * (1 / (1 - rate)) if draw >= rate else 0.0 for x, draw in zip(numbers, draws, strict=True)]
