"""Twin of lodcore/kernels/runs.pyx."""

ORDINAL, LEAST, MOST, DENSE, AVERAGE = range(5)


def _are_equal(x, one, other):
    """Return whether two rows are equal; nan equals nan."""
    for c in range(x.shape[1]):
        both_nan = x[one, c] != x[one, c] and x[other, c] != x[other, c]
        if x[one, c] != x[other, c] and not both_nan:
            return False
    return True


def find_runs(x, offsets, starts, out):
    """Find the runs of equal rows within each sequence."""
    n_seqs = len(offsets) - 1
    if len(x) != offsets[n_seqs] or len(starts) != len(x) + 1 or len(out) != n_seqs + 1:
        raise ValueError("x, offsets, starts and out do not belong together")
    out[0] = count = 0
    for s in range(n_seqs):
        for r in range(offsets[s], offsets[s + 1]):
            if r == offsets[s] or not _are_equal(x, r, r - 1):
                starts[count] = r
                count += 1
        out[s + 1] = count
    return count


def _check_runs(starts, runs, offsets):
    if len(runs) != len(offsets) or len(starts) != runs[len(runs) - 1]:
        raise ValueError("starts, runs and offsets do not belong together")


def _stop(starts, runs, offsets, s, k):
    """Return the row after a run."""
    return starts[k + 1] if k + 1 < runs[s + 1] else offsets[s + 1]


def measure_runs(starts, runs, offsets, out):
    """Count the rows of each run."""
    _check_runs(starts, runs, offsets)
    if len(out) != len(starts):
        raise ValueError("starts, runs, offsets and out do not belong together")
    for s in range(len(offsets) - 1):
        for k in range(runs[s], runs[s + 1]):
            out[k] = _stop(starts, runs, offsets, s, k) - starts[k]


def rank_runs(starts, runs, offsets, positions, kind, out):
    """Write the rank of each row to its position before its sequence was sorted."""
    _check_runs(starts, runs, offsets)
    if not len(positions) == len(out) == offsets[len(offsets) - 1]:
        raise ValueError("starts, runs, offsets, positions and out do not belong together")
    bad = -1
    for s in range(len(offsets) - 1):
        for k in range(runs[s], runs[s + 1]):
            least, most = starts[k] - offsets[s] + 1, _stop(starts, runs, offsets, s, k) - offsets[s]
            for r in range(starts[k], _stop(starts, runs, offsets, s, k)):
                if not 0 <= positions[r] < offsets[s + 1] - offsets[s]:
                    bad = r if bad < 0 else bad
                    continue
                place = offsets[s] + positions[r]
                if kind == ORDINAL:
                    out[place] = r - offsets[s] + 1
                elif kind == DENSE:
                    out[place] = k - runs[s] + 1
                else:
                    out[place] = least if kind == LEAST else most if kind == MOST else least + most
    return int(bad)


def longest_runs(starts, runs, offsets, out):
    """Find the first row of the longest run of each sequence, and of the first one if several are equally long."""
    _check_runs(starts, runs, offsets)
    if len(out) != len(offsets) - 1:
        raise ValueError("starts, runs, offsets and out do not belong together")
    for s in range(len(offsets) - 1):
        out[s], most = -1, 0
        for k in range(runs[s], runs[s + 1]):
            length = _stop(starts, runs, offsets, s, k) - starts[k]
            if length > most:
                out[s], most = starts[k], length
