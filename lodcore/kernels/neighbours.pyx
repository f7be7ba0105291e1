"""Rows and their predecessors in a sequence: differences, shifts, running extremes and products, decaying sums.

What runs is computed from the row before, from the first row of a sequence to its last, or in reverse.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

ctypedef fused number:
    float
    double
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused ordered:
    float
    double
    int64_t
    uint64_t

ctypedef fused real:
    float
    double

cdef enum:
    PRODUCT, GREATEST, LEAST


def subtract_rows(const number[:, ::1] x not None, const int64_t[::1] offsets not None,
                  const int64_t[::1] kept not None, number[:, ::1] out not None):
    """Subtract from each row the one before it.

    Parameters
    ----------
    x : float32, float64, uint8, uint16, uint32 or uint64, shape (n_rows, width)
        Integers wrap around, so that signed ones may be passed as unsigned ones.
    offsets : int64, shape (n_seqs + 1,), in rows
    kept : int64, shape (n_seqs + 1,)
        Offsets of the results: one row fewer per sequence, none for an empty one.
    out : as x, shape (n_kept, width)
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = x.shape[1]
    cdef int64_t s, r, size
    check_shorter(x.shape[0], offsets, kept, out.shape[0])
    if out.shape[1] != width:
        raise ValueError("x, offsets, kept and out do not belong together")
    if out.shape[0] == 0 or width == 0:
        return
    cdef const number* row
    cdef number* made
    with nogil:
        for s in range(n_seqs):
            size = (kept[s + 1] - kept[s]) * width
            if size > 0:
                row, made = &x[offsets[s], 0], &out[kept[s], 0]
                for r in range(size):
                    made[r] = row[r + width] - row[r]


def spread_differences(const real[:, ::1] rows not None, const int64_t[::1] offsets not None,
                       const int64_t[::1] kept not None, real[:, ::1] out not None):
    """Subtract from the cotangent of each difference that of the next one: the adjoint of `subtract_rows`.

    Parameters
    ----------
    rows : float32 or float64, shape (n_kept, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    kept : int64, shape (n_seqs + 1,)
    out : as rows, shape (n_rows, width)
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = out.shape[1]
    cdef int64_t s, r, c, count
    cdef real d
    check_shorter(out.shape[0], offsets, kept, rows.shape[0])
    if rows.shape[1] != width:
        raise ValueError("rows, offsets, kept and out do not belong together")
    with nogil:
        for s in range(n_seqs):
            count = kept[s + 1] - kept[s]
            for r in range(offsets[s + 1] - offsets[s]):
                for c in range(width):
                    d = rows[kept[s] + r - 1, c] if r > 0 else 0
                    out[offsets[s] + r, c] = d - rows[kept[s] + r, c] if r < count else d


cdef int check_shorter(Py_ssize_t n_rows, const int64_t[::1] offsets, const int64_t[::1] kept,
                       Py_ssize_t n_kept) except -1:
    """Check that each sequence keeps one row fewer than it has."""
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, s
    cdef bint fit = kept.shape[0] == n_seqs + 1 and n_rows == offsets[n_seqs] and kept[0] == 0
    if fit:
        for s in range(n_seqs):
            fit &= kept[s + 1] - kept[s] == max(offsets[s + 1] - offsets[s] - 1, 0)
        fit &= n_kept == kept[n_seqs]
    if not fit:
        raise ValueError("offsets and kept do not belong together")
    return 0


def shift_rows(const uint8_t[:, ::1] x not None, const int64_t[::1] offsets not None, int64_t n,
               const uint8_t[::1] fill not None, uint8_t[:, ::1] out not None):
    """Shift the rows of each sequence by n positions.

    Parameters
    ----------
    x : uint8, shape (n_rows, row_bytes)
    offsets : int64, shape (n_seqs + 1,), in rows
    n : int
        Towards the end, or towards the beginning if n is negative.
    fill : uint8, shape (row_bytes,)
        The row for positions to which no row is shifted.
    out : as x
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = x.shape[1]
    cdef int64_t s, r, length, away, first
    if (x.shape[0] != offsets[n_seqs] or out.shape[0] != x.shape[0] or out.shape[1] != width
            or fill.shape[0] != width):
        raise ValueError("x, offsets, fill and out do not belong together")
    if x.shape[0] == 0 or width == 0:
        return
    cdef const uint8_t* given = &x[0, 0]
    cdef uint8_t* made = &out[0, 0]
    with nogil:
        for s in range(n_seqs):
            length, first = offsets[s + 1] - offsets[s], offsets[s]
            if n >= 0:
                away = n if n < length else length
                memcpy(made + (first + away) * width, given + first * width, (length - away) * width)
                for r in range(first, first + away):
                    memcpy(made + r * width, &fill[0], width)
            else:
                away = -n if -length < n else length
                memcpy(made + first * width, given + (first + away) * width, (length - away) * width)
                for r in range(first + length - away, first + length):
                    memcpy(made + r * width, &fill[0], width)


cdef inline bint is_beaten(ordered best, ordered cell, bint least) noexcept nogil:
    """Return whether a cell replaces the best one so far; the first nan stays."""
    return best == best and (cell != cell or (cell < best if least else cell > best))


def accumulate_rows(const ordered[:, ::1] x not None, const int64_t[::1] offsets not None, int64_t kind,
                    ordered[:, ::1] out not None):
    """Compute the running product, maximum or minimum of the rows of each sequence, column by column.

    Parameters
    ----------
    x : float32, float64, int64 or uint64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    kind : int
        0: product, in which integers wrap around; 1: maximum; 2: minimum. nan propagates.
    out : as x
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = x.shape[1], s, r, c
    cdef ordered so_far, cell
    if x.shape[0] != offsets[n_seqs] or out.shape[0] != x.shape[0] or out.shape[1] != width:
        raise ValueError("x, offsets and out do not belong together")
    with nogil:
        for s in range(n_seqs):
            for c in range(width):
                if offsets[s] == offsets[s + 1]:
                    continue
                so_far = x[offsets[s], c]
                out[offsets[s], c] = so_far
                for r in range(offsets[s] + 1, offsets[s + 1]):
                    cell = x[r, c]
                    if kind == PRODUCT:
                        if ordered is int64_t:
                            so_far = <int64_t> (<uint64_t> so_far * <uint64_t> cell)
                        else:
                            so_far = so_far * cell
                    elif is_beaten(so_far, cell, kind == LEAST):
                        so_far = cell
                    out[r, c] = so_far


def spread_accumulated(const real[:, ::1] x not None, const int64_t[::1] offsets not None, int64_t kind,
                       const real[:, ::1] rows not None, real[:, ::1] out not None):
    """Distribute cotangents to the rows that contributed to a product or an extreme: the adjoint of `accumulate_rows`.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    kind : int
        As in `accumulate_rows`; among equal rows, the first one receives the cotangent of an extreme.
    rows : as x
    out : as x
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = x.shape[1], s, r, c, best
    cdef double total, product
    if (x.shape[0] != offsets[n_seqs] or out.shape[0] != x.shape[0] or out.shape[1] != width
            or rows.shape[0] != x.shape[0] or rows.shape[1] != width):
        raise ValueError("x, offsets, rows and out do not belong together")
    with nogil:
        for s in range(n_seqs):
            for c in range(width):
                best, product, total = offsets[s], 1, 0
                for r in range(offsets[s], offsets[s + 1]):
                    if kind == PRODUCT:
                        out[r, c] = <real> product  # of the preceding rows
                        product = product * x[r, c]
                    else:
                        out[r, c] = 0
                        if is_beaten(x[best, c], x[r, c], kind == LEAST):
                            best = r
                        out[best, c] += rows[r, c]
                if kind != PRODUCT:
                    continue
                for r in range(offsets[s + 1] - 1, offsets[s] - 1, -1):
                    total = rows[r, c] + total
                    out[r, c] = <real> (out[r, c] * total)
                    total = total * x[r, c]


def decay_rows(const real[:, ::1] x not None, const int64_t[::1] offsets not None, double share, bint reverse,
               real[:, ::1] out not None):
    """Add to each row a share of the previous sum: sum[t] = x[t] + share * sum[t - 1], column by column.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    share : float
    reverse : bool
        Run from the last row to the first.
    out : as x
        Sums are float64 until they are written.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = x.shape[1], s, r, c
    cdef double total
    if x.shape[0] != offsets[n_seqs] or out.shape[0] != x.shape[0] or out.shape[1] != width:
        raise ValueError("x, offsets and out do not belong together")
    with nogil:
        for s in range(n_seqs):
            for c in range(width):
                total = 0
                if reverse:
                    for r in range(offsets[s + 1] - 1, offsets[s] - 1, -1):
                        total = x[r, c] + share * total
                        out[r, c] = <real> total
                else:
                    for r in range(offsets[s], offsets[s + 1]):
                        total = x[r, c] + share * total
                        out[r, c] = <real> total
