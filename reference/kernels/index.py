"""Twin of lodcore/kernels/index.pyx."""


def _positions(length, start, stop, step):
    """List the positions that a slice selects from a sequence of some length, as Python does."""
    if start < 0:
        start += length
    if stop < 0:
        stop += length
    found = []
    if step > 0:
        at = start if start > 0 else 0
        while at < stop and at < length:
            found.append(at)
            at += step
    else:
        at = start if start < length else length - 1
        while at > stop and at >= 0:
            found.append(at)
            at += step
    return found


def cut_ranges(offsets, start, stop, ranges, out):
    """Slice all sequences alike, from start to stop."""
    out[0] = 0
    for s in range(len(offsets) - 1):
        length = int(offsets[s + 1] - offsets[s])
        first = start + length if start < 0 else start
        first = 0 if first < 0 else length if first > length else first
        size = len(_positions(length, start, stop, 1))
        ranges[s, 0], ranges[s, 1] = offsets[s] + first, offsets[s] + first + size
        out[s + 1] = out[s] + size


def strided_offsets(offsets, start, stop, step, out):
    """Compute the offsets of the same slice, start:stop:step, of each sequence."""
    out[0] = 0
    for s in range(len(offsets) - 1):
        out[s + 1] = out[s] + len(_positions(int(offsets[s + 1] - offsets[s]), start, stop, step))


def strided_ranges(offsets, start, step, new_offsets, out):
    """List the elements that the same slice selects from each sequence, one range per element."""
    for s in range(len(offsets) - 1):
        length = int(offsets[s + 1] - offsets[s])
        places = _positions(length, start, length if step > 0 else -(2**63), step)
        for at in range(new_offsets[s], new_offsets[s + 1]):
            place = offsets[s] + places[at - new_offsets[s]]
            out[at, 0], out[at, 1] = place, place + 1


def pick_ranges(offsets, index, out):
    """Select one element of each sequence; return the first invalid position, or -1."""
    for s in range(len(offsets) - 1):
        length = offsets[s + 1] - offsets[s]
        if index[s] < -length or index[s] >= length:
            return s
        place = offsets[s] + index[s] if index[s] >= 0 else offsets[s + 1] + index[s]
        out[s, 0], out[s, 1] = place, place + 1
    return -1


def true_offsets(offsets, mask, out):
    """Count the elements of each sequence for which a mask is true."""
    out[0] = runs = 0
    for s in range(len(offsets) - 1):
        out[s + 1] = out[s]
        for j in range(offsets[s], offsets[s + 1]):
            if mask[j]:
                out[s + 1] += 1
    for j in range(len(mask)):
        if mask[j] and (j == 0 or not mask[j - 1]):
            runs += 1
    return runs


def take_true(rows, mask, out):
    """Copy the rows for which a mask is true."""
    k = 0
    for r in range(len(rows)):
        if mask[r] != 0 and k < len(out):
            out[k] = rows[r]
            k += 1


def put_true(rows, mask, out):
    """Scatter rows to the positions where a mask is true, and write zero bytes elsewhere."""
    k = 0
    for r in range(len(out)):
        out[r] = 0
        if mask[r] != 0 and k < len(rows):
            out[r] = rows[k]
            k += 1


def choose(mask, x, y, out):
    """Copy rows of x where a mask is true, rows of y elsewhere; a single row is repeated."""
    for r in range(len(out)):
        row = x if mask[r] != 0 else y
        out[r] = row[r if len(row) == len(out) else 0]


def true_ranges(mask, out):
    """List the runs of consecutive elements for which a mask is true."""
    run = -1
    for j in range(len(mask)):
        if mask[j]:
            if j == 0 or not mask[j - 1]:
                run += 1
                out[run, 0] = j
            out[run, 1] = j + 1


def nested_ranges(offsets, index_offsets, index, out):
    """Select the elements of each sequence whose numbers are in its own list, one range per element."""
    for s in range(len(offsets) - 1):
        length = offsets[s + 1] - offsets[s]
        for j in range(index_offsets[s], index_offsets[s + 1]):
            if index[j] < -length or index[j] >= length:
                return j
            place = offsets[s] + index[j] if index[j] >= 0 else offsets[s + 1] + index[j]
            out[j, 0], out[j, 1] = place, place + 1
    return -1
