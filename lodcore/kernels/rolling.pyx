"""Reductions of rolling windows that end at each row of a sequence, and the backward pass.

A window of `size` rows consists of the last rows of one block of `size` rows and the first rows of the next. The
reduction of the last rows of a block is computed once from its end, that of the first rows while the windows advance:
two operations per row for windows of any size. Nothing is subtracted, so a nan affects only the windows that contain
it.
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
    """Combine the reductions of two parts of a window."""
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
    """Reduce the window of rows that ends at each row of its sequence, column by column.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    size : int
        The number of rows of a window, 1 or more; windows at the beginning of a sequence have fewer.
    least : int
        Windows with fewer rows than this yield nan.
    kind : int
        0: sum, 1: mean, 2: maximum, 3: minimum, 4: variance, 5: standard deviation.
    ddof : float
        Subtracted from the number of rows, by which a variance divides.
    reverse : bool
        Whether windows start at each row instead of ending at it.
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
                if kind == SUM:  # constants, so that the compiler specializes the loops
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
    """Reduce the windows of a column; `behind` holds the reductions of the last rows of the previous block."""
    cdef int64_t start, r, stop, count
    cdef Part so_far, one, window
    one.count = 1
    start = 0
    while start < length:
        stop = start + size if start + size < length else length
        for r in range(start, stop):
            one.first = x[r * step]
            one.squares = one.first - one.first  # 0, but nan if x is not finite
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
    """Add the cotangent of each window to its maximum or minimum: the adjoint of `roll_rows` for these.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    size : int
    least : int
        As in `roll_rows`; a window with fewer rows has no effect.
    kind : int
        2: maximum, 3: minimum; among equal rows the first one counts, and among nan the first one.
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
                head = tail = 0  # rows that may still become the best, the best one first
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
    """Return whether a row cannot be the best of a window that also contains the later row."""
    if one != one:
        return False
    return cell != cell or (cell > one if kind == GREATEST else cell < one)


def roll_medians(const real[:, ::1] ordered not None, const int64_t[:, ::1] positions not None,
                 const int64_t[::1] offsets not None, int64_t size, int64_t least, int64_t[:, ::1] room not None,
                 real[:, ::1] out not None):
    """Compute the median of the window of rows that ends at each row of its sequence, column by column.

    Windows count which ranks they hold in a tree, so that a row takes a number of steps that grows as the logarithm of
    the length of its sequence, for windows of any size.

    Parameters
    ----------
    ordered : float32 or float64, shape (n_rows, width)
        The rows of each sequence, sorted; nan last.
    positions : int64, shape (n_rows, width)
        The positions of the sorted rows in their sequence.
    offsets : int64, shape (n_seqs + 1,), in rows
    size : int
        The number of rows of a window, 1 or more; windows at the beginning of a sequence have fewer.
    least : int
        Windows with fewer rows than this yield nan, as do windows with nan.
    room : int64, shape (n_rows, 2)
        Written: the rank of each row, and the tree.
    out : as ordered
        The mean of the two middle rows where their number is even.
    """
    if not belong(ordered, positions, offsets, size, room, out):
        raise ValueError("ordered, positions, offsets, size, room and out do not belong together")
    roll_ranks(ordered, positions, offsets, size, least, room, ordered, False, out)


def spread_medians(const real[:, ::1] ordered not None, const int64_t[:, ::1] positions not None,
                   const int64_t[::1] offsets not None, int64_t size, int64_t least, const real[:, ::1] rows not None,
                   int64_t[:, ::1] room not None, real[:, ::1] out not None):
    """Add the cotangent of each window to its median, or half of it to each of two middle rows: as `roll_medians`.

    Parameters
    ----------
    ordered, positions, offsets, size, least : as in `roll_medians`
    rows : as ordered
        The cotangents of the windows.
    room : int64, shape (n_rows, 2)
        Written: the rank of each row, and the tree.
    out : as ordered
    """
    if (not belong(ordered, positions, offsets, size, room, out) or rows.shape[0] != out.shape[0]
            or rows.shape[1] != out.shape[1]):
        raise ValueError("ordered, positions, offsets, size, rows, room and out do not belong together")
    roll_ranks(ordered, positions, offsets, size, least, room, rows, True, out)


cdef bint belong(const real[:, ::1] ordered, const int64_t[:, ::1] positions, const int64_t[::1] offsets, int64_t size,
                 int64_t[:, ::1] room, real[:, ::1] out):
    """Return whether arrays have the sizes that they need."""
    cdef Py_ssize_t n_rows = ordered.shape[0], width = ordered.shape[1]
    return (n_rows == offsets[offsets.shape[0] - 1] and positions.shape[0] == n_rows and positions.shape[1] == width
            and room.shape[0] == n_rows and room.shape[1] == 2 and out.shape[0] == n_rows and out.shape[1] == width
            and size >= 1)


cdef void roll_ranks(const real[:, ::1] ordered, const int64_t[:, ::1] positions, const int64_t[::1] offsets,
                     int64_t size, int64_t least, int64_t[:, ::1] room, const real[:, ::1] rows, bint backward,
                     real[:, ::1] out) except *:
    """Write the medians of all windows, or add their cotangents to the rows that they are."""
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = ordered.shape[1], s, c, j, r
    cdef int64_t first, length, known, held, lost, rank, low, high, count
    if ordered.shape[0] == 0 or width == 0:
        return
    cdef int64_t* ranks = &room[0, 0]
    cdef int64_t* tree
    with nogil:
        for s in range(n_seqs):
            first, length = offsets[s], offsets[s + 1] - offsets[s]
            ranks = &room[0, 0] + 2 * first
            tree = ranks + length
            for c in range(width):
                known = length
                for j in range(length):
                    ranks[j] = tree[j] = 0
                    if backward:
                        out[first + j, c] = 0
                for j in range(length):
                    if positions[first + j, c] < 0 or positions[first + j, c] >= length:
                        with gil:
                            raise ValueError("a position is not in its sequence")
                    ranks[positions[first + j, c]] = j
                while known and ordered[first + known - 1, c] != ordered[first + known - 1, c]:
                    known -= 1
                held = lost = 0
                for r in range(length):
                    if ranks[r] < known:
                        count_rank(tree, length, ranks[r], 1)
                        held += 1
                    else:
                        lost += 1
                    if r >= size:
                        rank = ranks[r - size]
                        if rank < known:
                            count_rank(tree, length, rank, -1)
                            held -= 1
                        else:
                            lost -= 1
                    count = min(<int64_t> r + 1, size)
                    if count < least or lost or not held:
                        if not backward:
                            out[first + r, c] = NAN
                        continue
                    low = high = find_rank(tree, length, (held - 1) // 2)
                    if held % 2 == 0:
                        high = find_rank(tree, length, held // 2)
                    if backward:
                        out[first + positions[first + low, c], c] += <real> 0.5 * rows[first + r, c]
                        out[first + positions[first + high, c], c] += <real> 0.5 * rows[first + r, c]
                    elif ordered[first + low, c] == ordered[first + high, c]:
                        out[first + r, c] = ordered[first + low, c]
                    else:
                        out[first + r, c] = <real> (0.5 * <double> ordered[first + low, c]
                                                    + 0.5 * <double> ordered[first + high, c])


cdef inline void count_rank(int64_t* tree, int64_t length, int64_t rank, int64_t step) noexcept nogil:
    """Add to the count of a rank in a binary indexed tree."""
    cdef int64_t j = rank + 1
    while j <= length:
        tree[j - 1] += step
        j += j & -j


cdef inline int64_t find_rank(const int64_t* tree, int64_t length, int64_t before) noexcept nogil:
    """Return the rank before which a binary indexed tree counts as many."""
    cdef int64_t found = 0, left = before + 1, step = 1
    while step <= length // 2:
        step *= 2
    while step:
        if found + step <= length and tree[found + step - 1] < left:
            found += step
            left -= tree[found - 1]
        step //= 2
    return min(found, length - 1)
