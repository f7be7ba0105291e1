"""Twin of lodcore/kernels/pool.pyx."""

from math import sqrt as _sqrt

from numpy import errstate

from reference.arithmetic import beats, sum_in_lanes


@errstate(over="ignore")
def sum_rows(x, offsets, divide, out):
    """Sum the rows of each sequence; integers modulo 2^64."""
    for s in range(len(offsets) - 1):
        length = int(offsets[s + 1] - offsets[s])
        for c in range(x.shape[1]):
            cells = [x[r, c] for r in range(offsets[s], offsets[s + 1])]
            out[s, c] = sum_in_lanes(cells, 256 // x.itemsize if x.shape[1] == 1 else 1, 0)
            if divide and length:
                out[s, c] = out[s, c] / (length if divide == 1 else _sqrt(length))


def best_rows(x, offsets, least, out):
    """Compute the maximum (or minimum) of each column of each sequence."""
    for s in range(len(offsets) - 1):
        for c in range(x.shape[1]):
            r = _best_row(x, offsets[s], offsets[s + 1], c, least)
            out[s, c] = x[r, c] if r >= 0 else 0


def sum_small_rows(x, offsets, out):
    """Sum the rows of each sequence, modulo 2^64."""
    for s in range(len(offsets) - 1):
        for c in range(x.shape[1]):
            total = 0
            for r in range(offsets[s], offsets[s + 1]):
                total += int(x[r, c])
            out[s, c] = total % 2**64


def best_small_rows(x, offsets, least, out):
    """Compute the maximum (or minimum) of each column of each sequence."""
    best_rows(x, offsets, least, out)


def find_best_rows(x, offsets, least, out, index):
    """Compute the maximum (or minimum) of each column of each sequence, and its row."""
    for s in range(len(offsets) - 1):
        for c in range(x.shape[1]):
            r = _best_row(x, offsets[s], offsets[s + 1], c, least)
            out[s, c] = x[r, c] if r >= 0 else 0
            index[s, c] = r - offsets[s] if r >= 0 else -1


def _best_row(x, start, stop, c, least):
    best = -1
    for r in range(start, stop):
        if best < 0 or beats(x[r, c], x[best, c], least):
            best = r
    return best


def spread_rows(rows, offsets, divide, out):
    """Copy each row to all rows of its sequence: the adjoint of `sum_rows`."""
    for s in range(len(offsets) - 1):
        length = int(offsets[s + 1] - offsets[s])
        for r in range(offsets[s], offsets[s + 1]):
            for c in range(rows.shape[1]):
                out[r, c] = rows[s, c] / [1, length, _sqrt(length)][divide]


def scatter_cells(rows, offsets, index, out):
    """Scatter each cell to the position where `find_best_rows` found it: the gradient of the maximum or minimum."""
    for s in range(len(offsets) - 1):
        for c in range(rows.shape[1]):
            for r in range(offsets[s], offsets[s + 1]):
                out[r, c] = rows[s, c] if r - offsets[s] == index[s, c] else 0


def pick_rows(rows, offsets, last, out):
    """Copy the first (or last) row of each sequence."""
    for s in range(len(offsets) - 1):
        for k in range(rows.shape[1]):
            if offsets[s] == offsets[s + 1]:
                out[s, k] = 0
            else:
                out[s, k] = rows[offsets[s + 1] - 1 if last else offsets[s], k]


def place_rows(rows, offsets, last, out):
    """Copy each row to the first (or last) position of its sequence, and zeros elsewhere."""
    for s in range(len(offsets) - 1):
        for k in range(rows.shape[1]):
            for r in range(offsets[s], offsets[s + 1]):
                out[r, k] = rows[s, k] if r == (offsets[s + 1] - 1 if last else offsets[s]) else 0


def fill_empty(row, offsets, out):
    """Write a row for each empty sequence, and keep the other rows."""
    for s in range(len(offsets) - 1):
        for k in range(len(row)):
            if offsets[s] == offsets[s + 1]:
                out[s, k] = row[k]


def sum_empty(rows, offsets, out):
    """Sum the rows of the empty sequences, one after another to 0: the adjoint of `fill_empty`."""
    for c in range(len(out)):
        out[c] = 0
        for s in range(len(offsets) - 1):
            if offsets[s] == offsets[s + 1]:
                out[c] += rows[s, c]
