"""Twin of lodcore/kernels/lod.pyx."""


def offsets_from_lengths(lengths, out):
    """Add up lengths to offsets; give the first one that is negative or makes the sum overflow, or -1."""
    out[0] = total = 0
    for s in range(len(lengths)):
        total += int(lengths[s])
        if lengths[s] < 0 or total >= 2**63:
            return s
        out[s + 1] = total
    return -1


def lengths_from_offsets(offsets, out):
    """Take the differences of neighbouring offsets."""
    for s in range(len(offsets) - 1):
        out[s] = offsets[s + 1] - offsets[s]


def first_bad_offset(offsets, stop):
    """Return the first offset that breaks a rule, or -1; `stop` is where they end, -1 if anywhere will do."""
    if offsets[0] != 0:
        return 0
    for s in range(1, len(offsets)):
        if offsets[s] < offsets[s - 1]:
            return s
    last = len(offsets) - 1
    return last if stop >= 0 and offsets[last] != stop else -1


def max_length(offsets):
    """Find the greatest length, 0 if there is no sequence."""
    longest = 0
    for s in range(len(offsets) - 1):
        if offsets[s + 1] - offsets[s] > longest:
            longest = offsets[s + 1] - offsets[s]
    return int(longest)


def segment_ids(offsets, out):
    """Write the number of its sequence beside each row."""
    for s in range(len(offsets) - 1):
        for r in range(offsets[s], offsets[s + 1]):
            out[r] = s


def positions(offsets, out):
    """Write its place in its sequence beside each row."""
    for s in range(len(offsets) - 1):
        for r in range(offsets[s], offsets[s + 1]):
            out[r] = r - offsets[s]


def offsets_from_segment_ids(ids, out):
    """Count how many rows each sequence has; give the first row whose id falls or is out of range, or -1."""
    n_seqs = len(out) - 1
    for s in range(n_seqs + 1):
        out[s] = 0
    for r in range(len(ids)):
        if ids[r] < 0 or ids[r] >= n_seqs or (r > 0 and ids[r] < ids[r - 1]):
            return r
        out[ids[r] + 1] += 1
    for s in range(n_seqs):
        out[s + 1] += out[s]
    return -1


def rebase(offsets, start, stop, out):
    """Cut the sequences from `start` to `stop` out of a level, so that they start at 0 again."""
    for s in range(start, stop + 1):
        out[s - start] = offsets[s] - offsets[start]


def compose(outer, inner, out):
    """Let the outer level count what the inner level counts."""
    for s in range(len(outer)):
        out[s] = inner[outer[s]]


def relative(outer, inner, out):
    """Let the outer level count the sequences of the inner one; give the first offset where that fails, or -1."""
    last_outer, last_inner = len(outer) - 1, len(inner) - 1
    for s in range(len(outer)):
        places = [t for t in range(len(inner)) if inner[t] == outer[s]]
        if len(places) == 0:
            return s
        out[s] = places[0]  # empty sequences at a boundary go to the sequence that begins there
    if outer[last_outer] != inner[last_inner] or (last_outer == 0 and last_inner > 0):
        return last_outer
    out[last_outer] = last_inner  # those at the very end belong to the last
    return -1


def join(levels, out):
    """Put the sequences of one level of several batches one after another."""
    out[0] = at = 0
    for offsets in levels:
        for s in range(1, len(offsets)):
            out[at + s] = out[at] + offsets[s]
        at += len(offsets) - 1


def split(levels, out):
    """Write the levels of each outermost sequence, one level fewer, one after another."""
    at = 0
    for d in range(len(levels[0]) - 1):
        start, stop = levels[0][d], levels[0][d + 1]
        for k in range(1, len(levels)):
            offsets = levels[k]
            for s in range(start, stop + 1):
                out[at] = offsets[s] - offsets[start]
                at += 1
            start, stop = offsets[start], offsets[stop]
