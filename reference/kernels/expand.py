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


def interleave(levels, ranges, out):
    """Put the sequences s of all batches behind each other, to one sequence s."""
    out[0] = at = 0
    for s in range(len(out) - 1):
        for j in range(len(levels)):
            ranges[j, s, 0] = at
            at += levels[j][s + 1] - levels[j][s]
            ranges[j, s, 1] = at
        out[s + 1] = at


def split_mask(mask, out):
    """List the places where a mask is true, and behind them those where it is false; give how many are true."""
    true = [s for s in range(len(mask)) if mask[s] != 0]
    both = true + [s for s in range(len(mask)) if mask[s] == 0]
    for j in range(len(both)):
        out[j] = both[j]
    return len(true)


def merge_offsets(when_true, when_false, mask, true_ranges, false_ranges, out):
    """Put the sequences of two batches in the order of a mask; give the first place that cannot be filled, or -1."""
    out[0] = true = false = 0
    for s in range(len(mask)):
        if (true == len(when_true) - 1) if mask[s] else (false == len(when_false) - 1):
            return s
        if mask[s]:
            out[s + 1] = out[s] + when_true[true + 1] - when_true[true]
            true_ranges[true, 0], true_ranges[true, 1] = out[s], out[s + 1]
            true += 1
        else:
            out[s + 1] = out[s] + when_false[false + 1] - when_false[false]
            false_ranges[false, 0], false_ranges[false, 1] = out[s], out[s + 1]
            false += 1
    return -1


def join_ranges(arrays, ranges, out):
    """Copy the rows of several arrays to the ranges where they belong."""
    for j in range(len(arrays)):
        content, at = arrays[j].tobytes(), 0
        for i in range(len(ranges[j])):
            for r in range(ranges[j][i][0], ranges[j][i][1]):
                for k in range(out.shape[1]):
                    out[r, k] = content[at]
                    at += 1


def scale_offsets(offsets, width, new_width, out):
    """Count rows of another width; give the first sequence whose cells make no whole number of new rows, or -1."""
    for s in range(len(offsets)):
        if offsets[s] * width % new_width != 0:
            return s - 1
        out[s] = offsets[s] * width // new_width
    return -1
