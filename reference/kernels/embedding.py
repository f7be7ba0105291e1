"""Twin of lodcore/kernels/embedding.pyx."""

from math import sqrt as _sqrt

from reference.arithmetic import beats, sum_in_lanes


def check_index(index, n_rows):
    """Find the first number that is not a row of a table."""
    return _first_outside(index, n_rows)


def _first_outside(index, n_rows):
    for j in range(len(index)):
        if not 0 <= index[j] < n_rows:
            return j
    return -1


def take_rows(rows, index, skip, out):
    """Gather rows by their numbers; return the first invalid position, or -1."""
    bad = _first_outside(index, len(rows))
    if bad < 0:
        for j in range(len(index)):
            for k in range(rows.shape[1]):
                out[j, k] = 0 if index[j] == skip else rows[index[j], k]
    return bad


def add_rows(rows, index, out):
    """Add each row to the row of `out` with its number: the adjoint of `take_rows`."""
    bad = _first_outside(index, len(out))
    if bad < 0:
        for c in range(out.shape[1]):
            for r in range(len(out)):
                out[r, c] = 0
            for j in range(len(index)):
                out[index[j], c] += rows[j, c]
    return bad


def number_rows(index, numbers, places, out):
    """Number the rows that occur in an index, in ascending order; return the first invalid position, or -1."""
    bad = _first_outside(index, len(numbers))
    if bad < 0:
        for r in range(len(numbers)):
            numbers[r] = -1
        for j in range(len(index)):
            numbers[index[j]] = 0
        out[0] = 0
        for r in range(len(numbers)):
            if numbers[r] == 0:
                numbers[r] = out[0]
                out[0] += 1
                out[out[0]] = r
        for j in range(len(index)):
            places[j] = numbers[index[j]]
    return bad


def sum_bags(table, index, offsets, divide, out):
    """Sum the rows of a table whose numbers are in each bag; return the first invalid position, or -1."""
    bad = _first_outside(index, len(table))
    if bad < 0:
        for s in range(len(offsets) - 1):
            length = int(offsets[s + 1] - offsets[s])
            for c in range(table.shape[1]):
                cells = [table[index[j], c] for j in range(offsets[s], offsets[s + 1])]
                out[s, c] = sum_in_lanes(cells, 256 // table.itemsize if table.shape[1] == 1 else 1, 0)
                if divide and length:
                    out[s, c] = out[s, c] / (length if divide == 1 else _sqrt(length))
    return bad


def weigh_bags(table, index, offsets, weights, out):
    """Sum the rows of a table whose numbers are in each bag, each multiplied by its own weight."""
    bad = _first_outside(index, len(table))
    if bad < 0:
        for s in range(len(offsets) - 1):
            for c in range(table.shape[1]):
                total = table.dtype.type(0)
                for j in range(offsets[s], offsets[s + 1]):
                    total += weights[j] * table[index[j], c]
                out[s, c] = total
    return bad


def product_with_bags(table, index, offsets, rows, out):
    """Compute the dot product of each row in a bag with the row of the bag: the gradient of the weights."""
    bad = _first_outside(index, len(table))
    if bad < 0:
        lanes = 64 // table.itemsize
        for s in range(len(offsets) - 1):
            for j in range(offsets[s], offsets[s + 1]):
                sums = [table.dtype.type(0)] * lanes
                for c in range(table.shape[1]):
                    sums[c % lanes] += table[index[j], c] * rows[s, c]
                total = table.dtype.type(0)
                for one in sums:
                    total += one
                out[j] = total
    return bad


def best_bags(table, index, offsets, least, out):
    """Find the maximum (or minimum) of each column over the rows of a table whose numbers are in each bag."""
    bad = _first_outside(index, len(table))
    if bad < 0:
        for s in range(len(offsets) - 1):
            for c in range(table.shape[1]):
                best = None
                for j in range(offsets[s], offsets[s + 1]):
                    if best is None or beats(table[index[j], c], best, least):
                        best = table[index[j], c]
                out[s, c] = 0 if best is None else best
    return bad


def find_in_bags(table, index, offsets, best, out):
    """Find the position in its bag of each cell that `best_bags` returned; return the first invalid position, or -1."""
    for s in range(len(offsets) - 1):
        for c in range(table.shape[1]):
            out[s, c] = -1
            for j in range(offsets[s], offsets[s + 1]):
                if not 0 <= index[j] < len(table):
                    return j
                cell = table[index[j], c]
                if out[s, c] < 0 and (cell == best[s, c] or (cell != cell and best[s, c] != best[s, c])):
                    out[s, c] = j - offsets[s]
    return -1
