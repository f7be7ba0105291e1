"""Twin of lodcore/kernels/lod.pyx."""


def offsets_from_lengths(lengths, out):
    """Compute offsets from lengths; return the first invalid position, or -1."""
    out[0] = total = 0
    for s in range(len(lengths)):
        total += int(lengths[s])
        if lengths[s] < 0 or total >= 2**63:
            return s
        out[s + 1] = total
    return -1


def lengths_from_offsets(offsets, out):
    """Compute lengths from offsets."""
    for s in range(len(offsets) - 1):
        out[s] = offsets[s + 1] - offsets[s]


def first_bad_offset(offsets, stop):
    """Check the offsets of one level."""
    if offsets[0] != 0:
        return 0
    for s in range(1, len(offsets)):
        if offsets[s] < offsets[s - 1]:
            return s
    last = len(offsets) - 1
    return last if stop >= 0 and offsets[last] != stop else -1


def max_length(offsets):
    """Compute the maximum length, 0 if there are no sequences."""
    longest = 0
    for s in range(len(offsets) - 1):
        if offsets[s + 1] - offsets[s] > longest:
            longest = offsets[s + 1] - offsets[s]
    return int(longest)


def segment_ids(offsets, out):
    """Write for each row the number of its sequence."""
    for s in range(len(offsets) - 1):
        for r in range(offsets[s], offsets[s + 1]):
            out[r] = s


def positions(offsets, out):
    """Write for each row its position in its sequence."""
    for s in range(len(offsets) - 1):
        for r in range(offsets[s], offsets[s + 1]):
            out[r] = r - offsets[s]


def offsets_from_segment_ids(ids, out):
    """Count the rows of each sequence; return the first invalid position, or -1."""
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
    """Extract the sequences from `start` to `stop` of a level, shifted so that they start at 0."""
    for s in range(start, stop + 1):
        out[s - start] = offsets[s] - offsets[start]


def compose(outer, inner, out):
    """Express the offsets of the outer level in the units of the inner level."""
    for s in range(len(outer)):
        out[s] = inner[outer[s]]


def relative(outer, inner, out):
    """Invert `compose`: express the offsets of the outer level in sequences of the inner level."""
    last_outer, last_inner = len(outer) - 1, len(inner) - 1
    for s in range(len(outer)):
        places = [t for t in range(len(inner)) if inner[t] == outer[s]]
        if len(places) == 0:
            return s
        out[s] = places[0]  # empty sequences at a boundary belong to the sequence that begins there
    if outer[last_outer] != inner[last_inner] or (last_outer == 0 and last_inner > 0):
        return last_outer
    out[last_outer] = last_inner  # those at the very end belong to the last one
    return -1


def join(levels, out):
    """Concatenate the sequences of one level of several batches."""
    out[0] = at = 0
    for offsets in levels:
        for s in range(1, len(offsets)):
            out[at + s] = out[at] + offsets[s]
        at += len(offsets) - 1


def split(levels, out):
    """Write the remaining levels of each outermost sequence, sequence by sequence."""
    at = 0
    for d in range(len(levels[0]) - 1):
        start, stop = levels[0][d], levels[0][d + 1]
        for k in range(1, len(levels)):
            offsets = levels[k]
            for s in range(start, stop + 1):
                out[at] = offsets[s] - offsets[start]
                at += 1
            start, stop = offsets[start], offsets[stop]
