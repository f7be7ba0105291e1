"""Random orders, from given random numbers."""

from reference.ops.levels import at_level

__all__ = ["sample_places"]


def sample_places(nested, sizes, chances, level):
    """Draw elements of each sequence without replacement, as positions in it."""
    sizes, chances = iter(sizes), iter(chances)

    def drawn(sequence):
        left, taken = list(range(len(sequence))), []
        for at in range(min(next(sizes), len(left))):
            chosen = at + int(next(chances) * (len(left) - at))
            taken.append(left[chosen])
            left[chosen] = left[at]
        return taken

    return at_level(drawn, nested, level)
