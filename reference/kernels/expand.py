"""Twin of lodcore/kernels/expand.pyx."""


def repeat_rows(rows, offsets, out):
    """Write row s to all rows of sequence s."""
    if rows.shape[1] != out.shape[1]:
        raise ValueError("rows and out have rows of different sizes")
    for k in range(rows.shape[1]):
        for s in range(len(rows)):
            for r in range(offsets[s], offsets[s + 1]):
                out[r, k] = rows[s, k]


def reverse_rows(rows, offsets, out):
    """Write the rows of each sequence in reverse order."""
    if rows.shape[1] != out.shape[1]:
        raise ValueError("rows and out have rows of different sizes")
    for k in range(rows.shape[1]):
        for s in range(len(offsets) - 1):
            for r in range(offsets[s], offsets[s + 1]):
                out[r, k] = rows[offsets[s] + offsets[s + 1] - 1 - r, k]


def join_sequences(arrays, levels, offsets, out):
    """Put the sequences s of all batches one after another, to one sequence s."""
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
    """Divide the sequences s among the batches from which they were joined."""
    at = 0
    for s in range(len(levels[0]) - 1):
        for j in range(len(arrays)):
            for r in range(levels[j][s], levels[j][s + 1]):
                for k in range(rows.shape[1]):
                    arrays[j][r, k] = rows[at, k]
                at += 1


def split_mask(mask, out):
    """List the places where a mask is true, and behind them those where it is false; give how many are true."""
    true = [s for s in range(len(mask)) if mask[s] != 0]
    both = true + [s for s in range(len(mask)) if mask[s] == 0]
    for j in range(len(both)):
        out[j] = both[j]
    return len(true)


def merge_sequences(arrays, levels, mask, offsets, out):
    """Put the sequences of two batches in the order of a mask; give the first place that cannot be filled, or -1."""
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
    """Count rows of another width; give the first sequence whose cells make no whole number of new rows, or -1."""
    for s in range(len(offsets)):
        if offsets[s] * width % new_width != 0:
            return s - 1
        out[s] = offsets[s] * width // new_width
    return -1
