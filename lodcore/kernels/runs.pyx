"""Runs of equal rows within sequences: their starts and lengths, ranks of rows, and the longest runs."""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcmp

ctypedef fused cell:
    float
    double
    uint8_t

cdef enum:
    ORDINAL, LEAST, MOST, DENSE, AVERAGE


cdef inline bint are_equal(const cell* one, const cell* other, int64_t width) noexcept nogil:
    """Return whether two rows are equal; nan is equal to nan."""
    cdef int64_t c
    if cell is uint8_t:
        return memcmp(one, other, width) == 0
    else:
        for c in range(width):
            if not (one[c] == other[c] or (one[c] != one[c] and other[c] != other[c])):
                return False
        return True


cdef inline int64_t start_runs(const cell* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int64_t* starts,
                               int64_t* out) noexcept nogil:
    """Write the starts of the runs of a sequence; return their number."""
    cdef int64_t s, r, count = 0
    out[0] = 0
    for s in range(n_seqs):
        if offsets[s] < offsets[s + 1]:
            starts[count] = offsets[s]
            count += 1
        for r in range(offsets[s] + 1, offsets[s + 1]):  # no branch: a value that is not a start is overwritten
            starts[count] = r
            count += not are_equal(x + r * width, x + (r - 1) * width, width)
        out[s + 1] = count
    return count


def find_runs(const cell[:, ::1] x not None, const int64_t[::1] offsets not None, int64_t[::1] starts not None,
              int64_t[::1] out not None):
    """Find the runs of equal rows within each sequence.

    Parameters
    ----------
    x : float32, float64 or uint8, shape (n_rows, width)
        Numbers, where nan equals nan, or rows of bytes.
    offsets : int64, shape (n_seqs + 1,), in rows
    starts : int64, shape (n_rows + 1,)
        The first row of each run; the entries after the last run are undefined.
    out : int64, shape (n_seqs + 1,)
        Offsets in runs.

    Returns
    -------
    int
        The number of runs.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = x.shape[1]
    cdef int64_t count
    cdef cell nothing = 0
    if x.shape[0] != offsets[n_seqs] or starts.shape[0] != x.shape[0] + 1 or out.shape[0] != n_seqs + 1:
        raise ValueError("x, offsets, starts and out do not belong together")
    cdef const cell* rows = &x[0, 0] if x.shape[0] and width else &nothing
    with nogil:
        if width == 1:
            count = start_runs(rows, &offsets[0], n_seqs, 1, &starts[0], &out[0])
        elif width == 4:
            count = start_runs(rows, &offsets[0], n_seqs, 4, &starts[0], &out[0])
        elif width == 8:
            count = start_runs(rows, &offsets[0], n_seqs, 8, &starts[0], &out[0])
        else:
            count = start_runs(rows, &offsets[0], n_seqs, width, &starts[0], &out[0])
    return count


def measure_runs(const int64_t[::1] starts not None, const int64_t[::1] runs not None,
                 const int64_t[::1] offsets not None, int64_t[::1] out not None):
    """Count the rows of each run.

    Parameters
    ----------
    starts : int64, shape (n_runs,)
    runs : int64, shape (n_seqs + 1,), in runs
    offsets : int64, shape (n_seqs + 1,), in rows
    out : int64, shape (n_runs,)
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, s, k
    check_runs(starts.shape[0], runs, offsets)
    if out.shape[0] != starts.shape[0]:
        raise ValueError("starts, runs, offsets and out do not belong together")
    with nogil:
        for s in range(n_seqs):
            for k in range(runs[s], runs[s + 1]):
                out[k] = (starts[k + 1] if k + 1 < runs[s + 1] else offsets[s + 1]) - starts[k]


cdef int check_runs(Py_ssize_t n_runs, const int64_t[::1] runs, const int64_t[::1] offsets) except -1:
    """Check that the number of runs is that of the offsets."""
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1
    if runs.shape[0] != n_seqs + 1 or n_runs != runs[n_seqs]:
        raise ValueError("starts, runs and offsets do not belong together")
    return 0


def rank_runs(const int64_t[::1] starts not None, const int64_t[::1] runs not None,
              const int64_t[::1] offsets not None, const int64_t[::1] positions not None, int64_t kind,
              int64_t[::1] out not None):
    """Write the rank of each row to its position before its sequence was sorted.

    Parameters
    ----------
    starts : int64, shape (n_runs,)
        The first rows of the runs of equal rows.
    runs : int64, shape (n_seqs + 1,), in runs
    offsets : int64, shape (n_seqs + 1,), in rows
    positions : int64, shape (n_rows,)
        The positions of the sorted rows within their unsorted sequences.
    kind : int
        0: position among all rows, starting at 1; for equal rows 1: the least position, 2: the greatest, 3: the number
        of the run, starting at 1, 4: the sum of the least and the greatest position.
    out : int64, shape (n_rows,)
        Undefined if a position is invalid.

    Returns
    -------
    int
        The first row with a position outside of its sequence, -1 if there is none.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1
    cdef int64_t s, k, r, first, stop, rank = 0, bad = -1
    check_runs(starts.shape[0], runs, offsets)
    if positions.shape[0] != offsets[n_seqs] or out.shape[0] != offsets[n_seqs]:
        raise ValueError("starts, runs, offsets, positions and out do not belong together")
    with nogil:
        for s in range(n_seqs):
            first = offsets[s]
            for k in range(runs[s], runs[s + 1]):
                stop = starts[k + 1] if k + 1 < runs[s + 1] else offsets[s + 1]
                if kind == LEAST:
                    rank = starts[k] - first + 1
                elif kind == MOST:
                    rank = stop - first
                elif kind == DENSE:
                    rank = k - runs[s] + 1
                elif kind == AVERAGE:
                    rank = starts[k] + 1 + stop - 2 * first
                for r in range(starts[k], stop):
                    if positions[r] < 0 or positions[r] >= offsets[s + 1] - first:
                        if bad < 0:
                            bad = r
                    else:
                        out[first + positions[r]] = r - first + 1 if kind == ORDINAL else rank
    return bad


def longest_runs(const int64_t[::1] starts not None, const int64_t[::1] runs not None,
                 const int64_t[::1] offsets not None, int64_t[::1] out not None):
    """Find the first row of the longest run of each sequence, and of the first one if several are equally long.

    Parameters
    ----------
    starts : int64, shape (n_runs,)
    runs : int64, shape (n_seqs + 1,), in runs
    offsets : int64, shape (n_seqs + 1,), in rows
    out : int64, shape (n_seqs,)
        -1 for an empty sequence.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1
    cdef int64_t s, k, length, most
    check_runs(starts.shape[0], runs, offsets)
    if out.shape[0] != n_seqs:
        raise ValueError("starts, runs, offsets and out do not belong together")
    with nogil:
        for s in range(n_seqs):
            out[s], most = -1, 0
            for k in range(runs[s], runs[s + 1]):
                length = (starts[k + 1] if k + 1 < runs[s + 1] else offsets[s + 1]) - starts[k]
                if length > most:
                    out[s], most = starts[k], length
