"""Functions on states for loops over sequences, on nested lists."""

__all__ = ["last_of_steps", "zero_states"]


def zero_states(n, width):
    """Make n rows of zeros."""
    return [[0.0] * width for _ in range(n)]


def last_of_steps(steps, boot, order):
    """Return the entry of each sequence at its last step, or its initial state; a step has the longest sequences."""
    made = list(boot)
    for step in steps:
        for place, entry in enumerate(step):
            made[order[place]] = entry
    return made
