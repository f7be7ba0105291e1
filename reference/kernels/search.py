"""Twin of lodcore/kernels/search.pyx."""

from numpy import errstate


def _goes_behind(one, v, right):
    """Return whether a number v is inserted after another one; nan sorts after all others."""
    if v != v:
        return right or one == one
    return one <= v if right else one < v


def _place(x, first, stop, v, right):
    """Find the first (or last) position that keeps numbers sorted, by bisection, since numbers may be unsorted."""
    low, length = first, stop - first
    while length > 1:
        half = length // 2
        low += half if _goes_behind(x[low + half - 1], v, right) else 0
        length -= half
    return low - first + int(stop > first and _goes_behind(x[low], v, right))


def search_rows(x, offsets, v, wanted, right, out):
    """Find the positions at which numbers can be inserted into the same sequence of x so that it stays sorted."""
    n_seqs = len(offsets) - 1
    if len(wanted) != n_seqs + 1 or len(x) != offsets[n_seqs] or not len(v) == len(out) == wanted[n_seqs]:
        raise ValueError("x, offsets, v, wanted and out do not belong together")
    for s in range(n_seqs):
        for r in range(wanted[s], wanted[s + 1]):
            out[r] = _place(x, offsets[s], offsets[s + 1], v[r], right)


def _apart(low, high):
    """Subtract positions; the difference of integers is exact before it becomes float64."""
    return high - low if high.dtype == "f8" else float(int(high) - int(low))


def interpolate_rows(x, wanted, xp, fp, offsets, out, places, weights):
    """Interpolate between the points of the same sequence."""
    n_seqs = len(offsets) - 1
    if len(wanted) != n_seqs + 1 or not len(xp) == len(fp) == offsets[n_seqs]:
        raise ValueError("x, wanted, xp, fp, offsets, out, places and weights do not belong together")
    if not len(x) == len(out) == len(places) == len(weights) == wanted[n_seqs]:
        raise ValueError("x, wanted, xp, fp, offsets, out, places and weights do not belong together")
    for s in range(n_seqs):
        for r in range(wanted[s], wanted[s + 1]):
            length = offsets[s + 1] - offsets[s]
            if length == 0 or x[r] != x[r]:
                out[r], places[r], weights[r] = float("nan"), -1, 0
                continue
            k = offsets[s] + _place(xp, offsets[s], offsets[s + 1], x[r], True) - 1
            if k < offsets[s] or k == offsets[s + 1] - 1:
                k = offsets[s] if k < offsets[s] else k
                out[r], places[r], weights[r] = fp[k], k, 0
                continue
            with errstate(all="ignore"):
                apart = _apart(xp[k], xp[k + 1])
                weights[r] = _apart(xp[k], x[r])
                weights[r] /= apart
                places[r] = k
                slope = (fp[k + 1] - fp[k]) / apart
                found = fp[k] if x[r] == xp[k] else slope * _apart(xp[k], x[r]) + fp[k]
                if found != found:  # as np.interp does: from the second point
                    found = slope * -_apart(x[r], xp[k + 1]) + fp[k + 1]
                out[r] = fp[k] if found != found and fp[k] == fp[k + 1] else found
