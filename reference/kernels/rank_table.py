"""Twin of lodcore/kernels/rank_table.pyx."""


def step_offsets(offsets, out):
    """Compute the offsets of the steps: how many sequences reach each of them."""
    out[0] = 0
    for t in range(len(out) - 1):
        out[t + 1] = out[t]
        for s in range(len(offsets) - 1):
            if offsets[s + 1] - offsets[s] > t:
                out[t + 1] += 1


def rank_by_length(offsets, steps, out):
    """Order the sequences by length, the longest first; equal lengths keep their order."""
    at = 0
    for length in range(len(steps) - 1, -1, -1):
        for s in range(len(offsets) - 1):
            if offsets[s + 1] - offsets[s] == length:
                out[at] = s
                at += 1


def count_longer(lengths, step):
    """Count the lengths that are greater than `step`."""
    count = 0
    for s in range(len(lengths)):
        if lengths[s] > step:
            count += 1
    return count


def unpack_rows(rows, offsets, order, steps, out):
    """Reorder rows from sequence order to step order."""
    if rows.shape[0] != out.shape[0] or rows.shape[1] != out.shape[1]:
        raise ValueError("rows and out have different shapes")
    for t in range(len(steps) - 1):
        at = steps[t]
        for s in order:
            if offsets[s + 1] - offsets[s] > t:
                for k in range(rows.shape[1]):
                    out[at, k] = rows[offsets[s] + t, k]
                at += 1


def pack_rows(rows, offsets, order, steps, out):
    """Reorder rows from step order to sequence order: the inverse of `unpack_rows`."""
    if rows.shape[0] != out.shape[0] or rows.shape[1] != out.shape[1]:
        raise ValueError("rows and out have different shapes")
    for t in range(len(steps) - 1):
        at = steps[t]
        for s in order:
            if offsets[s + 1] - offsets[s] > t:
                for k in range(rows.shape[1]):
                    out[offsets[s] + t, k] = rows[at, k]
                at += 1


def pack_steps(arrays, offsets, order, steps, out):
    """Reorder the rows of one array per step to sequence order; return the first invalid position, or -1."""
    n_rows, row_bytes = out.shape
    if n_rows * row_bytes == 0:
        return -1
    n_steps = len(steps) - 1
    if len(arrays) != n_steps:
        return len(arrays) if len(arrays) < n_steps else n_steps
    for t in range(n_steps):
        if not arrays[t].flags.c_contiguous or arrays[t].nbytes != (steps[t + 1] - steps[t]) * row_bytes:
            return t
    for t in range(n_steps):
        content = arrays[t].tobytes()
        at = 0
        for s in order:
            if offsets[s + 1] - offsets[s] > t:
                for k in range(row_bytes):
                    out[offsets[s] + t, k] = content[at]
                    at += 1
    return -1
