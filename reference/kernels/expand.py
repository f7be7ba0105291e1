"""Twin of lodcore/kernels/expand.pyx."""


def repeat_rows(rows, offsets, out):
    """Write row s to all rows of sequence s: the adjoint of `pool.sum_rows`."""
    if rows.shape[1] != out.shape[1]:
        raise ValueError("rows and out have rows of different sizes")
    for k in range(rows.shape[1]):
        for s in range(len(rows)):
            for r in range(offsets[s], offsets[s + 1]):
                out[r, k] = rows[s, k]


def reverse_rows(rows, offsets, out):
    """Write the rows of each sequence in reverse order: its own inverse and adjoint."""
    if rows.shape[1] != out.shape[1]:
        raise ValueError("rows and out have rows of different sizes")
    for k in range(rows.shape[1]):
        for s in range(len(offsets) - 1):
            for r in range(offsets[s], offsets[s + 1]):
                out[r, k] = rows[offsets[s] + offsets[s + 1] - 1 - r, k]


def join_sequences(arrays, levels, offsets, out):
    """Concatenate the sequences s of all batches to one sequence s."""
    contents = [array.tobytes() for array in arrays]
    offsets[0] = at = 0
    for s in range(len(offsets) - 1):
        for j in range(len(arrays)):
            for r in range(levels[j][s], levels[j][s + 1]):
                for k in range(out.shape[1]):
                    out[at, k] = contents[j][r * out.shape[1] + k]
                at += 1
        offsets[s + 1] = at


def split_sequences(rows, levels, arrays):
    """Split the sequences s into the batches from which they were joined: inverse and adjoint of `join_sequences`."""
    at = 0
    for s in range(len(levels[0]) - 1):
        for j in range(len(arrays)):
            for r in range(levels[j][s], levels[j][s + 1]):
                for k in range(rows.shape[1]):
                    arrays[j][r, k] = rows[at, k]
                at += 1


def split_mask(mask, out):
    """List the positions where a mask is true, and then those where it is false."""
    true = [s for s in range(len(mask)) if mask[s] != 0]
    both = true + [s for s in range(len(mask)) if mask[s] == 0]
    for j in range(len(both)):
        out[j] = both[j]
    return len(true)


def merge_sequences(arrays, levels, mask, offsets, out):
    """Merge the sequences of two batches in the order that a mask specifies."""
    contents = [array.tobytes() for array in arrays]
    taken = [0, 0]
    offsets[0] = at = 0
    for s in range(len(mask)):
        side = 0 if mask[s] else 1
        if taken[side] == len(levels[side]) - 1:
            return s
        for r in range(levels[side][taken[side]], levels[side][taken[side] + 1]):
            for k in range(out.shape[1]):
                out[at, k] = contents[side][r * out.shape[1] + k]
            at += 1
        taken[side] += 1
        offsets[s + 1] = at
    return -1


def scale_offsets(offsets, width, new_width, out):
    """Compute the offsets of rows of another width, where the cells stay in their sequences."""
    for s in range(len(offsets)):
        if offsets[s] * width % new_width != 0:
            return s - 1
        out[s] = offsets[s] * width // new_width
    return -1
