"""Numbers in place of nan."""

__all__ = ["fill_nan"]


def fill_nan(nested, value, axes):
    """Put a number in place of each nan of nested lists of some depth."""
    if axes:
        return [fill_nan(inner, value, axes - 1) for inner in nested]
    return nested if nested == nested else value
