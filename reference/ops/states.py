"""What loops over sequences need of their states, on nested lists."""

__all__ = ["last_of_steps", "zero_states"]


def zero_states(n, width):
    """Make n rows of zeros."""
    return [[0.0] * width for _ in range(n)]


def last_of_steps(steps, boot, order):
    """Take what each sequence had at its last step, or its boot state; each step has the first ones of the order."""
    made = list(boot)
    for step in steps:
        for place, entry in enumerate(step):
            made[order[place]] = entry
    return made
