"""Twin of lodcore/kernels/ranges.pyx."""


def fill_ranges(starts, steps, offsets, out):
    """Write start, start + step, start + 2 * step, ... for each sequence."""
    for s in range(len(offsets) - 1):
        for r in range(offsets[s], offsets[s + 1]):
            out[r] = starts[s] + (r - offsets[s]) * steps[s]
