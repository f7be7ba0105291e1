"""Sums, means, extremes and variances of the last rows up to each row of its sequence, and the backward pass.

A window of `size` rows consists of the last rows of one block of `size` rows and of the first ones of the next. What
the last rows of a block come to is computed once from its end, what the first ones do as the windows move on: two
steps a row for windows of any size, nothing is subtracted, and a nan is gone when its window is.
"""

from libc.math cimport NAN, sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

ctypedef fused real:
    float
    double

cdef enum:
    SUM, MEAN, GREATEST, LEAST, VARIANCE, DEVIATION


cdef struct Part:
    double first   # a sum, an extreme, or a mean
    double squares  # of distances from the mean
    double count


cdef inline Part join(Part one, Part other, int64_t kind) noexcept nogil:
    """Put together what two parts of a window come to."""
    cdef Part made = one
    cdef double apart
    if kind <= MEAN:
        made.first = one.first + other.first
    elif kind == GREATEST:
        made.first = other.first if one.first == one.first and not other.first <= one.first else one.first
    elif kind == LEAST:
        made.first = other.first if one.first == one.first and not other.first >= one.first else one.first
    else:
        made.count = one.count + other.count
        apart = other.first - one.first
        made.first = one.first + apart * (other.count / made.count)
        made.squares = one.squares + other.squares + apart * apart * (one.count * (other.count / made.count))
    return made


cdef inline double outcome(Part part, int64_t count, int64_t kind, double ddof) noexcept nogil:
    """Return the result of a window."""
    cdef double variance
    if kind == MEAN:
        return part.first / <double> count
    if kind < VARIANCE:
        return part.first
    variance = part.squares / (<double> count - ddof) if <double> count > ddof else NAN
    return variance if kind == VARIANCE else sqrt(variance)


def roll_rows(const real[:, ::1] x not None, const int64_t[::1] offsets not None, int64_t size, int64_t least,
              int64_t kind, double ddof, bint reverse, real[:, ::1] out not None):
    """Reduce the last rows up to each row of its sequence, column by column.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    size : int
        Rows of a window, 1 or more; at the beginning of a sequence there are fewer.
    least : int
        nan where a window has fewer rows.
    kind : int
        0: the sum, 1: the mean, 2: the greatest, 3: the least, 4: the variance, 5: its square root.
    ddof : float
        Taken from the number of rows that a variance is divided by.
    reverse : bool
        The rows from each row on, in place of those up to it.
    out : as x
        Computed in float64.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = x.shape[1], s
    cdef int64_t longest = 1, step, c
    if x.shape[0] != offsets[n_seqs] or out.shape[0] != x.shape[0] or out.shape[1] != width or size < 1:
        raise ValueError("x, offsets, size and out do not belong together")
    if x.shape[0] == 0 or width == 0:
        return
    for s in range(n_seqs):
        longest = max(longest, offsets[s + 1] - offsets[s])
    size = min(size, longest)
    cdef Part* space = <Part*> malloc(size * sizeof(Part))
    if space == NULL:
        raise MemoryError
    cdef int64_t first
    with nogil:
        for s in range(n_seqs):
            if offsets[s] == offsets[s + 1]:
                continue
            step = -width if reverse else width
            first = offsets[s + 1] - 1 if reverse else offsets[s]
            for c in range(width):
                if kind == SUM:  # the compiler knows what is computed
                    roll_column(&x[first, c], offsets[s + 1] - offsets[s], step, size, least, SUM, ddof, space,
                                &out[first, c])
                elif kind == MEAN:
                    roll_column(&x[first, c], offsets[s + 1] - offsets[s], step, size, least, MEAN, ddof, space,
                                &out[first, c])
                elif kind == GREATEST:
                    roll_column(&x[first, c], offsets[s + 1] - offsets[s], step, size, least, GREATEST, ddof, space,
                                &out[first, c])
                elif kind == LEAST:
                    roll_column(&x[first, c], offsets[s + 1] - offsets[s], step, size, least, LEAST, ddof, space,
                                &out[first, c])
                else:
                    roll_column(&x[first, c], offsets[s + 1] - offsets[s], step, size, least, kind, ddof, space,
                                &out[first, c])
        free(space)


cdef inline void roll_column(const real* x, int64_t length, int64_t step, int64_t size, int64_t least, int64_t kind,
                             double ddof, Part* behind, real* out) noexcept nogil:
    """Reduce the windows of a column; `behind` holds what the last rows of the block before come to."""
    cdef int64_t start, r, stop, count
    cdef Part so_far, one, window
    one.count = 1
    start = 0
    while start < length:
        stop = start + size if start + size < length else length
        for r in range(start, stop):
            one.first = x[r * step]
            one.squares = one.first - one.first  # 0, but nan of what is not finite
            so_far = one if r == start else join(so_far, one, kind)
            window = join(behind[r - start + 1], so_far, kind) if start > 0 and r - start + 1 < size else so_far
            count = r + 1 if r + 1 < size else size
            out[r * step] = <real> (outcome(window, count, kind, ddof) if count >= least else NAN)
        if stop < length:
            for r in range(stop - 1, start, -1):
                one.first = x[r * step]
                one.squares = one.first - one.first
                so_far = one if r == stop - 1 else join(one, so_far, kind)
                behind[r - start] = so_far
        start = stop


def spread_windows(const real[:, ::1] x not None, const int64_t[::1] offsets not None, int64_t size, int64_t least,
                   int64_t kind, const real[:, ::1] rows not None, real[:, ::1] out not None):
    """Give the cotangent of each window to its greatest, or least, row: the adjoint of those of `roll_rows`.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    size : int
    least : int
        As in `roll_rows`; a window with fewer rows passes nothing on.
    kind : int
        2: the greatest, 3: the least; of equal ones the first, of nan the first.
    rows : as x
    out : as x
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = x.shape[1], s, c
    cdef int64_t longest = 1, r, head, tail, first, k
    cdef real cell
    if (x.shape[0] != offsets[n_seqs] or out.shape[0] != x.shape[0] or out.shape[1] != width or size < 1
            or rows.shape[0] != x.shape[0] or rows.shape[1] != width):
        raise ValueError("x, offsets, size, rows and out do not belong together")
    for s in range(n_seqs):
        longest = max(longest, offsets[s + 1] - offsets[s])
    cdef int64_t* queue = <int64_t*> malloc(longest * sizeof(int64_t))
    if queue == NULL:
        raise MemoryError
    with nogil:
        for s in range(n_seqs):
            first = offsets[s]
            for c in range(width):
                head = tail = 0  # rows that may yet be the best, the best one first
                for r in range(first, offsets[s + 1]):
                    out[r, c] = 0
                    cell = x[r, c]
                    while tail > head and loses(x[queue[tail - 1], c], cell, kind):
                        tail -= 1
                    queue[tail] = r
                    tail += 1
                    if queue[head] <= r - size:
                        head += 1
                    k = r - first + 1
                    if (k if k < size else size) >= least:
                        out[queue[head], c] += rows[r, c]
        free(queue)


cdef inline bint loses(real one, real cell, int64_t kind) noexcept nogil:
    """Return whether a row that stands before another one can be the best of no window that has both."""
    if one != one:
        return False
    return cell != cell or (cell > one if kind == GREATEST else cell < one)
