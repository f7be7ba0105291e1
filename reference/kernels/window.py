"""Twin of lodcore/kernels/window.pyx."""


def copy_windows(rows, offsets, padding, start, length, first, out):
    """Copy, for each of some rows, the window that starts `start` rows after it."""
    row_bytes = rows.shape[1]
    if out.shape[1] != length * row_bytes:
        raise ValueError("out has windows of another size")
    if len(padding) and padding.shape[1] != row_bytes:
        raise ValueError("rows and padding have rows of different sizes")
    before = -start if start < 0 else 0
    for k in range(row_bytes):
        for s in range(len(offsets) - 1):
            for t in range(offsets[s], offsets[s + 1]):
                for j in range(length if first <= t < first + len(out) else 0):
                    at = t + start + j
                    if offsets[s] <= at < offsets[s + 1]:
                        byte = rows[at, k]
                    elif len(padding) < 2:
                        byte = padding[0, k] if len(padding) else 0
                    else:
                        byte = padding[before + at - offsets[s if at < offsets[s] else s + 1], k]
                    out[t - first, j * row_bytes + k] = byte


def correlate_rows(x, offsets, filter, out):
    """Sum for each row the following rows of its sequence, itself included, weighted by the rows of the filter."""
    for s in range(len(offsets) - 1):
        for t in range(offsets[s], offsets[s + 1]):
            for c in range(x.shape[1]):
                out[t, c] = x[t, c] * filter[0, c]
                for j in range(1, len(filter)):
                    if t + j < offsets[s + 1]:
                        out[t, c] += x[t + j, c] * filter[j, c]


def convolve_rows(x, offsets, filter, out):
    """Sum for each row the preceding rows of its sequence, itself included, weighted by the rows of the filter."""
    for s in range(len(offsets) - 1):
        for t in range(offsets[s], offsets[s + 1]):
            for c in range(x.shape[1]):
                out[t, c] = x[t, c] * filter[0, c]
                for j in range(1, len(filter)):
                    if t - j >= offsets[s]:
                        out[t, c] += x[t - j, c] * filter[j, c]


def sum_lagged_products(x, y, offsets, out):
    """Sum the products of rows and the rows some positions later in their sequence."""
    for j in range(len(out)):
        for c in range(x.shape[1]):
            out[j, c] = 0
            for s in range(len(offsets) - 1):
                for t in range(offsets[s], offsets[s + 1] - j):
                    out[j, c] += float(x[t + j, c]) * float(y[t, c])


def sum_edges(x, offsets, before, after, out):
    """Sum the first rows of all sequences, and the last ones, position by position."""
    if len(out) != before + after:
        raise ValueError("out has another number of rows")
    for c in range(x.shape[1]):
        for i in range(before + after):
            out[i, c] = 0
            for s in range(len(offsets) - 1):
                at = offsets[s] + i if i < before else offsets[s + 1] - before - after + i
                if offsets[s] <= at < offsets[s + 1]:
                    out[i, c] += float(x[at, c])
