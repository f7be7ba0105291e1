"""Layer norm of a row."""

from reference.reals import add_up, divide, sqrt

__all__ = ["layer_norm"]


def layer_norm(row, scale, shift, eps):
    """Subtract the mean of a row, divide by the root of its variance plus eps, scale and shift."""
    mean = divide(add_up(row), len(row)) if row else 0.0
    rest = [x - mean for x in row]
    root = sqrt(divide(add_up(x * x for x in rest), len(row)) + eps) if row else 1.0
    return [divide(x, root) * a + b for x, a, b in zip(rest, scale, shift, strict=True)]
