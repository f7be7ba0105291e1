"""Twin of lodcore/kernels/rolling.pyx."""

from math import sqrt as _sqrt

from numpy import errstate

SUM, MEAN, GREATEST, LEAST, VARIANCE, DEVIATION = range(6)


def _joined(one, other, kind):
    """Combine the reductions of two parts of a window: a sum, extreme or mean, squared distances, and a count."""
    if kind <= MEAN:
        return one[0] + other[0], 0.0, 1.0
    if kind == GREATEST:
        return (other if one[0] == one[0] and not other[0] <= one[0] else one)[0], 0.0, 1.0
    if kind == LEAST:
        return (other if one[0] == one[0] and not other[0] >= one[0] else one)[0], 0.0, 1.0
    count, apart = one[2] + other[2], other[0] - one[0]
    share = other[2] / count
    return one[0] + apart * share, one[1] + other[1] + apart * apart * (one[2] * share), count


def _outcome(part, count, kind, ddof):
    if kind == MEAN:
        return part[0] / count
    if kind < VARIANCE:
        return part[0]
    variance = part[1] / (count - ddof) if count > ddof else float("nan")
    return _sqrt(variance) if kind == DEVIATION and variance > 0 else variance


def roll_rows(x, offsets, size, least, kind, ddof, reverse, out):
    """Reduce the window of rows that ends at each row of its sequence, column by column."""
    if len(x) != offsets[len(offsets) - 1] or out.shape != x.shape or size < 1:
        raise ValueError("x, offsets, size and out do not belong together")
    for s in range(len(offsets) - 1):
        length = int(offsets[s + 1] - offsets[s])
        for c in range(x.shape[1]):
            places = [int(offsets[s + 1]) - 1 - k if reverse else int(offsets[s]) + k for k in range(length)]
            cells = [float(x[place, c]) for place in places]
            parts = [(cell, cell - cell, 1.0) for cell in cells]  # nan if the cell is not finite
            for k in range(length):
                block = k - k % size  # the rows of the window in this block, then those before from their end
                with errstate(all="ignore"):
                    part = parts[block]
                    for r in range(block + 1, k + 1):
                        part = _joined(part, parts[r], kind)
                    if block > 0 and k - size + 1 < block:
                        before = parts[block - 1]
                        for r in range(block - 1 - (k - size + 1)):
                            before = _joined(parts[block - 2 - r], before, kind)
                        part = _joined(before, part, kind)
                    count = k + 1 if k + 1 < size else size
                    out[places[k], c] = _outcome(part, count, kind, ddof) if count >= least else float("nan")


def spread_windows(x, offsets, size, least, kind, rows, out):
    """Add the cotangent of each window to its maximum or minimum: the adjoint of `roll_rows` for these."""
    if len(x) != offsets[len(offsets) - 1] or out.shape != x.shape or rows.shape != x.shape or size < 1:
        raise ValueError("x, offsets, size, rows and out do not belong together")
    for s in range(len(offsets) - 1):
        for c in range(x.shape[1]):
            for r in range(offsets[s], offsets[s + 1]):
                out[r, c] = 0
            for r in range(offsets[s], offsets[s + 1]):
                first = r - size + 1 if r - size + 1 > offsets[s] else offsets[s]
                best = first
                for k in range(first, r + 1):
                    cell, so_far = x[k, c], x[best, c]
                    better = cell > so_far if kind == GREATEST else cell < so_far
                    best = k if so_far == so_far and (better or cell != cell) else best
                if r - first + 1 >= least:
                    out[best, c] += rows[r, c]


def _belong(ordered, positions, offsets, size, room, out):
    """Return whether arrays have the sizes that they need."""
    same = positions.shape == ordered.shape and out.shape == ordered.shape
    return same and len(ordered) == offsets[len(offsets) - 1] and room.shape == (len(ordered), 2) and size >= 1


def _middle(ordered, positions, first, length, c, r, size, least):
    """Return the ranks of the two middle rows of the window that ends at a row; none if the result is nan."""
    ranks = [0 for _ in range(length)]
    for j in range(length):
        ranks[int(positions[first + j, c])] = j
    window = [ranks[k] for k in range(r - size + 1 if r >= size else 0, r + 1)]
    held = [j for j in range(length) for rank in window if rank == j]
    known = [j for j in held if ordered[first + j, c] == ordered[first + j, c]]
    if len(held) < least or len(known) < len(held):
        return []
    return [known[(len(known) - 1) // 2], known[len(known) // 2]]


def _check_positions(positions, offsets):
    for s in range(len(offsets) - 1):
        for c in range(positions.shape[1]):
            for r in range(offsets[s], offsets[s + 1]):
                if positions[r, c] < 0 or positions[r, c] >= offsets[s + 1] - offsets[s]:
                    raise ValueError("a position is not in its sequence")


def roll_medians(ordered, positions, offsets, size, least, room, out):
    """Compute the median of the window of rows that ends at each row of its sequence, column by column."""
    if not _belong(ordered, positions, offsets, size, room, out):
        raise ValueError("ordered, positions, offsets, size, room and out do not belong together")
    _check_positions(positions, offsets)
    for s in range(len(offsets) - 1):
        first, length = int(offsets[s]), int(offsets[s + 1] - offsets[s])
        for c in range(out.shape[1]):
            for r in range(length):
                found = _middle(ordered, positions, first, length, c, r, size, least)
                if found:
                    one, other = float(ordered[first + found[0], c]), float(ordered[first + found[1], c])
                    out[first + r, c] = one if one == other else 0.5 * one + 0.5 * other
                else:
                    out[first + r, c] = float("nan")


def spread_medians(ordered, positions, offsets, size, least, rows, room, out):
    """Add the cotangent of each window to its median, or half of it to each of two middle rows: as `roll_medians`."""
    if not _belong(ordered, positions, offsets, size, room, out) or rows.shape != out.shape:
        raise ValueError("ordered, positions, offsets, size, rows, room and out do not belong together")
    _check_positions(positions, offsets)
    half = out.dtype.type(0.5)
    for s in range(len(offsets) - 1):
        first, length = int(offsets[s]), int(offsets[s + 1] - offsets[s])
        for c in range(out.shape[1]):
            for r in range(length):
                out[first + r, c] = 0
            for r in range(length):
                for j in _middle(ordered, positions, first, length, c, r, size, least):
                    out[first + positions[first + j, c], c] += half * rows[first + r, c]
