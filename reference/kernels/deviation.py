"""Twin of lodcore/kernels/deviation.pyx."""

from numpy import errstate

from reference.arithmetic import sum_in_lanes

LANES, BLOCK = 32, 4096


def _in_lanes(x, first, stop):
    """Return the mean and the sum of squared distances of rows of one cell, block by block."""
    mean = total = 0.0
    for start in range(first, stop, BLOCK):
        end = start + BLOCK if start + BLOCK < stop else stop
        n, before = float(end - start), float(start - first)
        middle = sum_in_lanes([float(x[r, 0]) for r in range(start, end)], LANES, 0.0) / n
        distances = [float(x[r, 0]) - middle for r in range(start, end)]
        rest = sum_in_lanes(distances, LANES, 0.0)
        part = sum_in_lanes([distance * distance for distance in distances], LANES, 0.0)
        if part < float("inf"):
            part -= rest * rest / n
        if before == 0:
            mean, total = middle, part
        else:
            apart, share = middle - mean, n / (before + n)
            mean += apart * share
            total += part + apart * apart * (before * share)
    return mean, 0.0 if total < 0 else total


def vary_rows(x, offsets, ddof, means, out):
    """Compute the mean squared distance of the rows of each sequence from their mean."""
    if len(x) != offsets[len(offsets) - 1] or means.shape != out.shape or len(out) != len(offsets) - 1:
        raise ValueError("x, offsets, means and out do not belong together")
    if out.shape[1] != x.shape[1]:
        raise ValueError("x, offsets, means and out do not belong together")
    for s in range(len(out)):
        first, stop = int(offsets[s]), int(offsets[s + 1])
        for c in range(x.shape[1]):
            with errstate(all="ignore"):
                if x.shape[1] == 1:
                    mean, total = _in_lanes(x, first, stop)
                else:
                    cells = [float(x[r, c]) for r in range(first, stop)]
                    mean = sum_in_lanes(cells, 1, 0.0) / (len(cells) if cells else 1)
                    total = sum_in_lanes([(cell - mean) * (cell - mean) for cell in cells], 1, 0.0)
            means[s, c] = mean
            left = stop - first - ddof
            out[s, c] = total / left if left > 0 and stop > first else float("nan")


def spread_distances(x, offsets, means, scales, out):
    """Multiply the distance of each row from the mean of its sequence by a scale: the gradient of `vary_rows`."""
    if len(x) != offsets[len(offsets) - 1] or out.shape != x.shape or means.shape != scales.shape:
        raise ValueError("x, offsets, means, scales and out do not belong together")
    if len(means) != len(offsets) - 1 or means.shape[1] != x.shape[1]:
        raise ValueError("x, offsets, means, scales and out do not belong together")
    for s in range(len(offsets) - 1):
        for r in range(offsets[s], offsets[s + 1]):
            for c in range(x.shape[1]):
                with errstate(all="ignore"):
                    product = (float(x[r, c]) - float(means[s, c])) * float(scales[s, c])
                    out[r, c] = x.dtype.type(product if scales[s, c] != 0 else 0)
