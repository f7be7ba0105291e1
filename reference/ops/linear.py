"""The linear layer of a row."""

from reference.reals import add_up

__all__ = ["linear"]


def linear(row, weight, bias):
    """Multiply a row by a matrix, and add a bias."""
    return [add_up(x * line[c] for x, line in zip(row, weight, strict=True)) + bias[c] for c in range(len(bias))]
