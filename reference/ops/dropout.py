"""Dropout of numbers, with one random number each."""

__all__ = ["dropout"]


def dropout(numbers, draws, rate):
    """Keep the numbers whose random number is at least the rate, times 1 / (1 - rate); the others become 0."""
    return [x * (1 / (1 - rate)) if draw >= rate else 0.0 for x, draw in zip(numbers, draws, strict=True)]
