"""Replacement of nan by numbers."""

__all__ = ["fill_nan"]


def fill_nan(nested, value, axes):
    """Replace each nan in nested lists of some depth by a number."""
    if axes:
        return [fill_nan(inner, value, axes - 1) for inner in nested]
    return nested if nested == nested else value
