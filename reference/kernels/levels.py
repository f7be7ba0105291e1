"""Twin of lodcore/kernels/levels.pyx."""


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
