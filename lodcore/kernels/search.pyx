"""Binary search in sorted sequences, and interpolation between known points."""

from libc.math cimport NAN
from libc.stdint cimport int64_t, uint64_t

ctypedef fused number:
    float
    double
    int64_t
    uint64_t

ctypedef fused position:
    double
    int64_t
    uint64_t


cdef inline bint goes_behind(number one, number v, bint right) noexcept nogil:
    """Return whether a number v is inserted after another one; nan sorts after all others."""
    if v != v:
        return right or one == one
    return one <= v if right else one < v


cdef inline int64_t place_of(const number* x, int64_t length, number v, bint right) noexcept nogil:
    """Find the first (or last) position that keeps numbers sorted, by bisection without branches."""
    cdef int64_t low = 0, half
    if length == 0:
        return 0
    while length > 1:
        half = length // 2
        low += half * goes_behind(x[low + half - 1], v, right)
        length -= half
    return low + goes_behind(x[low], v, right)


cdef inline double apart(position low, position high) noexcept nogil:
    """Subtract positions; the difference of integers is exact before it becomes float64."""
    if position is double:
        return high - low
    else:
        return <double> (<uint64_t> high - <uint64_t> low)


cdef inline double between(position x, const position* xp, const double* fp) noexcept nogil:
    """Interpolate between two points as np.interp does: from the second point if infinity makes the result nan."""
    cdef double slope = (fp[1] - fp[0]) / apart(xp[0], xp[1]), found = slope * apart(xp[0], x) + fp[0]
    if found != found:
        found = slope * -apart(x, xp[1]) + fp[1]
        if found != found and fp[0] == fp[1]:
            found = fp[0]
    return found


def search_rows(const number[::1] x not None, const int64_t[::1] offsets not None, const number[::1] v not None,
                const int64_t[::1] wanted not None, bint right, int64_t[::1] out not None):
    """Find the positions at which numbers can be inserted into the same sequence of x so that it stays sorted.

    Parameters
    ----------
    x : float32, float64, int64 or uint64, shape (n_rows,)
        Sorted within each sequence, nan last; otherwise the positions are undefined.
    offsets : int64, shape (n_seqs + 1,), in rows of x
    v : as x, shape (n_wanted,)
    wanted : int64, shape (n_seqs + 1,), in rows of v
    right : bool
        Whether to insert after equal numbers instead of before them.
    out : int64, shape (n_wanted,)
        Places within the sequences of x.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1
    cdef int64_t s, r
    cdef number nothing = 0
    cdef const number* first
    if (wanted.shape[0] != n_seqs + 1 or x.shape[0] != offsets[n_seqs] or v.shape[0] != wanted[n_seqs]
            or out.shape[0] != v.shape[0]):
        raise ValueError("x, offsets, v, wanted and out do not belong together")
    with nogil:
        for s in range(n_seqs):
            first = &x[offsets[s]] if offsets[s] < offsets[s + 1] else &nothing
            if right:  # a constant, so that the compiler specializes the loop
                for r in range(wanted[s], wanted[s + 1]):
                    out[r] = place_of(first, offsets[s + 1] - offsets[s], v[r], True)
            else:
                for r in range(wanted[s], wanted[s + 1]):
                    out[r] = place_of(first, offsets[s + 1] - offsets[s], v[r], False)


def interpolate_rows(const position[::1] x not None, const int64_t[::1] wanted not None,
                     const position[::1] xp not None, const double[::1] fp not None,
                     const int64_t[::1] offsets not None, double[::1] out not None, int64_t[::1] places not None,
                     double[::1] weights not None):
    """Interpolate between the points of the same sequence.

    Parameters
    ----------
    x : float64, int64 or uint64, shape (n_wanted,)
    wanted : int64, shape (n_seqs + 1,), in rows of x
    xp : as x, shape (n_points,)
        Increases within each sequence; otherwise the results are undefined.
    fp : float64, shape (n_points,)
        The values of the points.
    offsets : int64, shape (n_seqs + 1,), in points
    out : float64, shape (n_wanted,)
        Before the first point, the value of that point; after the last point, the value of that one; nan if x is nan,
        or if there are no points.
    places : int64, shape (n_wanted,)
        The point before each x, -1 if there is none.
    weights : float64, shape (n_wanted,)
        The weight of the next point.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1
    cdef int64_t s, r, k, length, first
    if (wanted.shape[0] != n_seqs + 1 or xp.shape[0] != offsets[n_seqs] or fp.shape[0] != xp.shape[0]
            or x.shape[0] != wanted[n_seqs] or out.shape[0] != x.shape[0] or places.shape[0] != x.shape[0]
            or weights.shape[0] != x.shape[0]):
        raise ValueError("x, wanted, xp, fp, offsets, out, places and weights do not belong together")
    with nogil:
        for s in range(n_seqs):
            first, length = offsets[s], offsets[s + 1] - offsets[s]
            for r in range(wanted[s], wanted[s + 1]):
                if length == 0 or x[r] != x[r]:
                    out[r], places[r], weights[r] = NAN, -1, 0
                    continue
                k = place_of(&xp[first], length, x[r], True) - 1
                if k < 0 or k == length - 1:
                    k = first + (0 if k < 0 else k)
                    out[r], places[r], weights[r] = fp[k], k, 0
                    continue
                k += first
                weights[r] = apart(xp[k], x[r]) / apart(xp[k], xp[k + 1])
                places[r] = k
                out[r] = fp[k] if x[r] == xp[k] else between(x[r], &xp[k], &fp[k])
