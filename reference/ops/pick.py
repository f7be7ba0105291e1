"""Selection of rows and sequences by their numbers."""

from reference.ops.levels import at_level

__all__ = ["gather_nested"]


def gather_nested(nested, index, index_levels, default=None):
    """Gather the entries of a batch by their numbers, in the structure of the numbers."""

    def entry(number):
        if default is None or 0 <= number < len(nested):
            return nested[number]
        return default

    if not index_levels:
        return [entry(number) for number in index]
    return at_level(lambda numbers: [entry(number) for number in numbers], index, index_levels - 1)
