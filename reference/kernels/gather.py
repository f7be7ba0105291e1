"""Twin of lodcore/kernels/gather.pyx."""

from numpy import ndarray


def take_sequences(offsets, index, ranges, out):
    """Select sequences of one level by their numbers, and compute their ranges in the next level."""
    n_seqs = len(offsets) - 1
    out[0] = total = 0
    for j in range(len(index)):
        if index[j] < -n_seqs or index[j] >= n_seqs:
            return j
        s = index[j] + n_seqs if index[j] < 0 else index[j]
        total += int(offsets[s + 1]) - int(offsets[s])
        if total >= 2**63:
            return j
        ranges[j, 0], ranges[j, 1] = offsets[s], offsets[s + 1]
        out[j + 1] = total
    return -1


def slice_ranges(offsets, start, length, ranges, out):
    """Slice each sequence; return the first invalid position, or -1."""
    out[0] = 0
    for s in range(len(offsets) - 1):
        first, size = int(start[s]), int(length[s])
        if first < 0 or size < 0 or first + size > offsets[s + 1] - offsets[s]:
            return s
        ranges[s, 0], ranges[s, 1] = offsets[s] + first, offsets[s] + first + size
        out[s + 1] = out[s] + size
    return -1


def check_ranges(start, stop, size, out):
    """Combine starts and stops into ranges; return the first invalid position, or -1."""
    for j in range(len(start)):
        if not 0 <= start[j] <= stop[j] <= size:
            return j
        out[j, 0], out[j, 1] = start[j], stop[j]
    return -1


def count_ranges(ranges, out):
    """Compute offsets from the sizes of ranges; return the first invalid position, or -1."""
    out[0] = total = 0
    for j in range(len(ranges)):
        total += int(ranges[j, 1]) - int(ranges[j, 0])
        if total >= 2**63:
            return j
        out[j + 1] = total
    return -1


def take_offsets(offsets, ranges, out):
    """Select ranges of sequences of one level, and compute their ranges in the next level."""
    out[0] = total = at = 0
    for j in range(len(ranges)):
        start, stop = ranges[j, 0], ranges[j, 1]
        for s in range(start, stop):
            total += int(offsets[s + 1]) - int(offsets[s])
            if total >= 2**63:
                return j
            at += 1
            out[at] = total
        ranges[j, 0], ranges[j, 1] = offsets[start], offsets[stop]
    return -1


def copy_ranges(rows, ranges, out):
    """Copy ranges of rows consecutively."""
    if rows.shape[1] != out.shape[1]:
        raise ValueError("rows and out have rows of different sizes")
    for k in range(rows.shape[1]):
        at = 0
        for j in range(len(ranges)):
            for r in range(ranges[j, 0], ranges[j, 1]):
                out[at, k] = rows[r, k]
                at += 1


def add_ranges(rows, ranges, out):
    """Add rows to the ranges from which they were copied: the adjoint of `copy_ranges`."""
    for k in range(out.shape[1]):
        for r in range(len(out)):
            out[r, k] = 0
        at = 0
        for j in range(len(ranges)):
            for r in range(ranges[j, 0], ranges[j, 1]):
                out[r, k] += rows[at, k]
                at += 1


def count_rows(arrays, out):
    """Compute offsets from the numbers of rows of arrays, and check that their bytes can be concatenated."""
    out[0] = total = 0
    if len(arrays) != len(out) - 1:
        return len(out) - 1
    for j in range(len(arrays)):
        if not _joins(arrays[j], arrays[0]):
            return j
        total += len(arrays[j])
        if total >= 2**63:
            return j
        out[j + 1] = total
    return -1


def _joins(array, like):
    """Return whether `array` is a contiguous ndarray with the dtype and row shape of `like`."""
    if type(array) is not ndarray or not array.flags.c_contiguous:
        return False
    if array.ndim == 0 or array.ndim != like.ndim or array.dtype != like.dtype:
        return False
    return all(array.shape[axis] == like.shape[axis] for axis in range(1, array.ndim))


def first_overlap(arrays, out):
    """Find the first array that shares memory with `out`."""
    low, high = out.ctypes.data, out.ctypes.data + out.nbytes
    for j in range(len(arrays)):
        first, last = arrays[j].ctypes.data, arrays[j].ctypes.data + arrays[j].nbytes
        if first < last and low < high and first < high and low < last:
            return j
    return -1


def join_rows(arrays, out):
    """Copy the rows of arrays consecutively; return the first invalid position, or -1."""
    n_rows, row_bytes = out.shape
    at = 0
    for j in range(len(arrays)):
        if not arrays[j].flags.c_contiguous or at + arrays[j].nbytes > n_rows * row_bytes:
            return j
        content = arrays[j].tobytes()
        for k in range(len(content)):
            out[at // row_bytes, at % row_bytes] = content[k]
            at += 1
    return len(arrays) if at < n_rows * row_bytes else -1


def kinds(nodes):
    """Find the kinds of objects that a list contains."""
    found = [-1, -1, -1]
    for at in range(len(nodes)):
        if isinstance(nodes[at], (list, tuple)):
            kind = 0
        elif isinstance(nodes[at], ndarray) and nodes[at].ndim > 0:
            kind = 1
        else:
            kind = 2
        if found[kind] < 0:
            found[kind] = at
    return found[0], found[1], found[2]


def chain(lists, out):
    """Concatenate lists, and compute offsets from their lengths."""
    flat = []
    out[0] = 0
    for j in range(len(lists)):
        for entry in lists[j]:
            flat.append(entry)
        out[j + 1] = len(flat)
    return flat


def nest(flat, offsets):
    """Split a list into one list per sequence."""
    return [[flat[r] for r in range(offsets[s], offsets[s + 1])] for s in range(len(offsets) - 1)]
