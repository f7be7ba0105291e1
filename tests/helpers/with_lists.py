"""Operations of nested lists and a dense operand, defined without offsets: axes align from the last."""

__all__ = ["aligned_lists"]


def aligned_lists(function, nested, num_levels, width, v):
    """Compute a function of nested lists, whose rows are lists of numbers, and of an array elementwise.

    Parameters
    ----------
    function : callable
        Of two numbers.
    nested : list
        The batch; below `num_levels` levels, lists are rows.
    num_levels, width : int
        The width of rows, which does not follow from lists without rows.
    v : ndarray

    Returns
    -------
    list or None
        None if the shapes do not align: along axes of sequences, v has length 1.
    """
    ndim = num_levels + 2
    if v.ndim > ndim:
        return None
    v = v.reshape((1,) * (ndim - v.ndim) + v.shape)
    if v.shape[0] not in (1, len(nested)) or any(size != 1 for size in v.shape[1 : num_levels + 1]):
        return None

    if v.shape[-1] != width and 1 not in (v.shape[-1], width):
        return None
    wide = v.shape[-1] if width == 1 else width

    def below(entry, part, depth):
        if depth > num_levels:  # a row
            return [function(entry[c % len(entry)], part[c % len(part)]) for c in range(wide)]
        return [below(one, part[j if len(part) > 1 else 0], depth + 1) for j, one in enumerate(entry)]

    return below(nested, v.tolist(), 0)
