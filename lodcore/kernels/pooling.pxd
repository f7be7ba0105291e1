"""Loops over the rows of sequences: sums, maxima and minima, the places of these, and rows spread over sequences.

Rows of one cell, and maxima and minima of some widths, are pooled with vectors by pool.h where there are any.

C took 0.8 of the time for maxima of 9 columns of sequences of one row, without wider registers, and 0.9 for rows of
160 bytes that are spread over sequences of one row. Sums of two and three int64 and maxima of one and two uint64 are
the same instructions as in C, and took 0.9 to 1.3 of its time, depending on where they are in memory.
"""

from libc.math cimport sqrt
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.string cimport memcpy

from lodcore.kernels.folds cimport BY_LENGTH, BY_ONE, BY_ROOT, GREATEST, LEAST, SUM
from lodcore.kernels.folds cimport divide_cells, find_best, fold, fold_four, halve, int_alone, number, number_alone
from lodcore.kernels.folds cimport uint_alone
from lodcore.kernels.lanes cimport real
from lodcore.kernels.short_sequences cimport GROUP, SHORT_EXTREMES, SHORT_SUMS, best_short, first_equal, sum_short
from lodcore.kernels.short_sequences cimport uneven_ones
from lodcore.kernels.simd cimport avx2_void, forced_void, has_wide, plain_void, prefetch

cdef extern from "pool.h" nogil:  # of float or of double: all arrays of cells have the type of the result
    # Pool with vectors where they pay, and return whether they do.
    bint pool_vectors(
        const void* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int verb, int divide, void* out)
    # Find the places of maxima or minima with vectors where they pay, and return whether they do.
    bint find_vectors(
        const void* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int verb, void* out, int64_t* index)

cdef extern from "pool_places.h" nogil:
    # Find the best cells of up to COLUMNS columns of one nonempty sequence, and their rows in it.
    enum: COLUMNS
    void find_columns(
        const void* x, int64_t length, int64_t width, int64_t count, bint greatest, void* out, int64_t* index)

cdef enum:
    MOST_LANES = 64
    NARROW = 8  # columns that stay in registers
    SPAN = 32
    COPIED = 64
    FAR = 16
    FEW = 3  # columns of integers
    LINE = 64
    BLOCK = 16


# -- rows of one cell --------------------------------------------------------------------------------------------------


cdef inline forced_void sum_few(const real* x, const int length, const int size, real* out) noexcept nogil:
    """Sum at most `size` cells, after which at least `size` cells can be read."""
    cdef real lane[MOST_LANES]
    cdef real cell
    cdef int k
    for k in range(size):
        cell = x[k]
        lane[k] = cell if k < length else 0
    halve(lane, size)
    out[0] = lane[0] + 0


cdef inline forced_void sum_cells(const number* x, int64_t length, int64_t readable, number* out) noexcept nogil:
    cdef number lane[MOST_LANES]
    cdef number total = 0
    cdef int64_t lanes = 256 // sizeof(number), k
    if number is float or number is double:
        if length <= lanes and readable >= lanes:
            if length <= 1:
                out[0] = x[0] + 0 if length else 0
            elif length <= lanes // 4:
                sum_few(x, <int> length, lanes // 4, out)
            else:
                sum_few(x, <int> length, lanes, out)
            return
        for k in range(lanes):
            lane[k] = 0
        while length >= lanes:
            for k in range(lanes):
                lane[k] += x[k]
            x += lanes
            length -= lanes
        for k in range(length):
            lane[k] += x[k]
        halve(lane, lanes)
        out[0] = lane[0] + 0
    else:
        for k in range(length):
            fold(&total, x[k], SUM)
        out[0] = total


cdef inline forced_void pool_cells_by(
    const number* x, const int64_t* offsets, int64_t n_seqs, const int verb, const int divide, number* out
) noexcept nogil:
    cdef int64_t s, length
    for s in range(n_seqs):
        length = offsets[s + 1] - offsets[s]
        if verb == SUM:
            sum_cells(x + offsets[s], length, offsets[n_seqs] - offsets[s], out + s)
            divide_cells(out + s, 1, length, divide)
        else:
            find_best(x + offsets[s], length, verb, out + s)


cdef inline plain_void pool_cells(
    const number* x, const int64_t* offsets, int64_t n_seqs, int verb, int divide, number* out
) noexcept nogil:
    if verb == SUM:
        pool_cells_by(x, offsets, n_seqs, SUM, divide, out)
    elif verb == GREATEST:
        pool_cells_by(x, offsets, n_seqs, GREATEST, BY_ONE, out)
    else:
        pool_cells_by(x, offsets, n_seqs, LEAST, BY_ONE, out)


# -- rows of a few cells: a number of columns that the compiler knows --------------------------------------------------


cdef inline forced_void pool_narrow_by(
    const number* x, const int64_t* offsets, int64_t n_seqs, const int width, const int verb, const int divide,
    number* out
) noexcept nogil:
    cdef number cells[NARROW]
    cdef const number* row
    cdef const number* end
    cdef int64_t s
    cdef int c
    for s in range(n_seqs):
        row, end = x + offsets[s] * width, x + offsets[s + 1] * width
        if verb == SUM or row == end:
            for c in range(width):
                cells[c] = 0
        else:
            for c in range(width):
                cells[c] = row[c]
            row += width
        while row != end:
            for c in range(width):
                fold(cells + c, row[c], verb)
            row += width
        for c in range(width):
            out[c] = cells[c]
        divide_cells(out, width, offsets[s + 1] - offsets[s], divide)
        out += width


cdef inline forced_void pool_columns_of(
    const number* x, const int64_t* offsets, int64_t n_seqs, const int width, int verb, int divide, number* out
) noexcept nogil:
    if verb == SUM:
        pool_narrow_by(x, offsets, n_seqs, width, SUM, divide, out)
    elif verb == GREATEST:
        pool_narrow_by(x, offsets, n_seqs, width, GREATEST, BY_ONE, out)
    else:
        pool_narrow_by(x, offsets, n_seqs, width, LEAST, BY_ONE, out)


cdef inline plain_void pool_narrow(
    const number* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int verb, int divide, number* out
) noexcept nogil:
    if width == 2:
        pool_columns_of(x, offsets, n_seqs, 2, verb, divide, out)
    elif width == 3:
        pool_columns_of(x, offsets, n_seqs, 3, verb, divide, out)
    elif width == 4:
        pool_columns_of(x, offsets, n_seqs, 4, verb, divide, out)
    elif width == 5:
        pool_columns_of(x, offsets, n_seqs, 5, verb, divide, out)
    elif width == 6:
        pool_columns_of(x, offsets, n_seqs, 6, verb, divide, out)
    elif width == 7:
        pool_columns_of(x, offsets, n_seqs, 7, verb, divide, out)
    else:
        pool_columns_of(x, offsets, n_seqs, 8, verb, divide, out)


# -- rows of many cells ------------------------------------------------------------------------------------------------


cdef inline forced_void pool_columns(
    const real* x, int64_t length, int64_t width, const int verb, real* out
) noexcept nogil:
    """Pool as many columns as there are lanes in registers, row by row, and prefetch far ahead."""
    cdef real cells[MOST_LANES]
    cdef int64_t lanes = 256 // sizeof(real), r = 0, c
    if length > 0 and verb != SUM:
        for c in range(lanes):
            cells[c] = x[c]
        x += width
        r = 1
    else:
        for c in range(lanes):
            cells[c] = 0
    while r < length:
        prefetch(<const void*> (<uintptr_t> x + <uintptr_t> (FAR * width) * sizeof(real)))
        prefetch(<const void*> (<uintptr_t> x + <uintptr_t> (FAR * width) * sizeof(real) + LINE))
        prefetch(<const void*> (<uintptr_t> x + <uintptr_t> (FAR * width) * sizeof(real) + 2 * LINE))
        prefetch(<const void*> (<uintptr_t> x + <uintptr_t> (FAR * width) * sizeof(real) + 3 * LINE))
        for c in range(lanes):
            fold(cells + c, x[c], verb)
        x += width
        r += 1
    for c in range(lanes):
        out[c] = cells[c]


cdef inline forced_void pool_rest(
    number_alone row, int64_t length, int64_t width, int64_t count, const int verb, number_alone out
) noexcept nogil:
    """Pool `count` columns into the result, four rows at a time where gcc 12 makes that vectors."""
    cdef int64_t r = 0, c
    cdef bint by_four = verb == SUM or number_alone is int_alone or number_alone is uint_alone
    if length > 0 and verb != SUM:
        for c in range(count):
            out[c] = row[c]
        row += width
        r = 1
    else:
        for c in range(count):
            out[c] = 0
    while by_four and r + 4 <= length:
        for c in range(count):
            fold_four(out + c, row[c], row[c + width], row[c + 2 * width], row[c + 3 * width], verb)
        row += 4 * width
        r += 4
    while r < length:
        for c in range(count):
            fold(out + c, row[c], verb)
        row += width
        r += 1


cdef inline forced_void pool_wide_by(
    number* x, const int64_t* offsets, int64_t n_seqs, int64_t width, const int verb, const int divide, number* out
) noexcept nogil:
    cdef int64_t lanes = 256 // sizeof(number), s, length, first
    cdef number* row
    for s in range(n_seqs):
        row, length, first = x + offsets[s] * width, offsets[s + 1] - offsets[s], 0
        if number is float or number is double:
            while first + lanes <= width:
                pool_columns(row + first, length, width, verb, out + first)
                first += lanes
            if verb != SUM and 0 < first < width:  # the last columns, some of them once more
                pool_columns(row + width - lanes, length, width, verb, out + width - lanes)
                first = width
        if first < width:
            pool_rest(row + first, length, width, width - first, verb, out + first)
        divide_cells(out, width, length, divide)
        out += width


cdef inline forced_void pool_wide(
    const number* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int verb, int divide, number* out
) noexcept nogil:
    if verb == SUM:
        pool_wide_by(<number*> x, offsets, n_seqs, width, SUM, divide, out)
    elif verb == GREATEST:
        pool_wide_by(<number*> x, offsets, n_seqs, width, GREATEST, BY_ONE, out)
    else:
        pool_wide_by(<number*> x, offsets, n_seqs, width, LEAST, BY_ONE, out)


cdef inline avx2_void pool_wide_avx2(
    const number* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int verb, int divide, number* out
) noexcept nogil:
    pool_wide(x, offsets, n_seqs, width, verb, divide, out)


cdef inline plain_void pool_wide_plain(
    const number* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int verb, int divide, number* out
) noexcept nogil:
    pool_wide(x, offsets, n_seqs, width, verb, divide, out)


cdef inline void pool_next(
    const number* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int verb, number* out
) noexcept nogil:
    if n_seqs > 0 and width == 1:
        pool_cells(x, offsets, n_seqs, verb, BY_ONE, out)
    elif n_seqs > 0:
        pool_narrow(x, offsets, n_seqs, width, verb, BY_ONE, out)


cdef inline void pool_integers(
    const number* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int verb, number* out
) noexcept nogil:
    """Pool rows of a few integers; short sequences whose lengths change without branches."""
    cdef int64_t turned = 0 if number is int64_t else <int64_t> (<uint64_t> 1 << 63), first = 0, s = 0, some
    cdef int64_t most = SHORT_SUMS // width if verb == SUM else SHORT_EXTREMES
    if verb == LEAST:
        turned = ~turned
    while s < n_seqs and (verb == SUM or width == 1):
        some = uneven_ones(offsets + s, n_seqs - s, most)
        if some > 0:
            pool_next(x, offsets + first, s - first, width, verb, out + first * width)
            if verb == SUM:
                sum_short(<const uint64_t*> x, offsets + s, some, width, 0, <uint64_t*> out + s * width)
            else:
                best_short(<const int64_t*> x, offsets + s, some, turned, <int64_t*> out + s)
            first = s + some
        s += some if some > 0 else GROUP
    pool_next(x, offsets + first, n_seqs - first, width, verb, out + first * width)


cdef inline void pool_rows(
    const number* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int verb, int divide, number* out
) noexcept nogil:
    """Compute sums, maxima or minima of the columns of each sequence; zeros for an empty one."""
    if number is float or number is double:
        if pool_vectors(x, offsets, n_seqs, width, verb, divide, out):
            return
    if (number is int64_t or number is uint64_t) and width <= FEW:
        pool_integers(x, offsets, n_seqs, width, verb, out)
    elif width == 1:
        pool_cells(x, offsets, n_seqs, verb, divide, out)
    elif width <= NARROW:
        pool_narrow(x, offsets, n_seqs, width, verb, divide, out)
    elif has_wide():
        pool_wide_avx2(x, offsets, n_seqs, width, verb, divide, out)
    else:
        pool_wide_plain(x, offsets, n_seqs, width, verb, divide, out)


# -- places of maxima and minima ---------------------------------------------------------------------------------------


cdef inline forced_void find_wide_by(
    const number* x, const int64_t* offsets, int64_t n_seqs, int64_t width, const int verb, number* out, int64_t* index
) noexcept nogil:
    cdef const number* row
    cdef int64_t s, c, count, length
    for s in range(n_seqs):
        length = offsets[s + 1] - offsets[s]
        if length == 0:
            for c in range(width):
                out[c] = 0
            for c in range(width):
                index[c] = -1
        else:
            c = 0
            while c < width:
                row, count = x + offsets[s] * width + c, width - c if width - c < COLUMNS else COLUMNS
                find_columns(row, length, width, count, verb == GREATEST, out + c, index + c)
                c += COLUMNS
        out += width
        index += width


cdef inline forced_void find_wide(
    const number* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int verb, number* out, int64_t* index
) noexcept nogil:
    if verb == GREATEST:
        find_wide_by(x, offsets, n_seqs, width, GREATEST, out, index)
    else:
        find_wide_by(x, offsets, n_seqs, width, LEAST, out, index)


cdef inline avx2_void find_wide_avx2(
    const number* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int verb, number* out, int64_t* index
) noexcept nogil:
    find_wide(x, offsets, n_seqs, width, verb, out, index)


cdef inline plain_void find_wide_plain(
    const number* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int verb, number* out, int64_t* index
) noexcept nogil:
    find_wide(x, offsets, n_seqs, width, verb, out, index)


cdef inline int64_t first_place(const number* x, int64_t length, number cell) noexcept nogil:
    """Return the position of a cell in a sequence that contains it; any nan matches nan.

    0 if another thread has changed it.
    """
    cdef int64_t r = 0
    if cell != cell:
        while r < length and x[r] == x[r]:
            r += 1
    else:
        while r < length and x[r] != cell:
            r += 1
    return r if r < length else 0


cdef inline void find_rows(
    const number* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int verb, number* out, int64_t* index
) noexcept nogil:
    """Pool as `pool_rows` does, and write the row, within its sequence, of each cell; -1 for an empty one."""
    cdef int64_t s
    cdef bint uneven = False
    if number is float or number is double:
        if find_vectors(x, offsets, n_seqs, width, verb, out, index):
            return
    if width != 1 and has_wide():
        find_wide_avx2(x, offsets, n_seqs, width, verb, out, index)
        return
    if width != 1:
        find_wide_plain(x, offsets, n_seqs, width, verb, out, index)
        return
    pool_rows(x, offsets, n_seqs, 1, verb, BY_ONE, out)
    for s in range(n_seqs):
        if (number is int64_t or number is uint64_t) and s % GROUP == 0:
            uneven = uneven_ones(offsets + s, n_seqs - s, SHORT_EXTREMES) > 0
        if (number is int64_t or number is uint64_t) and uneven:
            index[s] = first_equal(<const int64_t*> x + offsets[s], offsets[s + 1] - offsets[s], <int64_t> out[s])
            continue
        index[s] = first_place(x + offsets[s], offsets[s + 1] - offsets[s], out[s]) if (
            offsets[s + 1] > offsets[s]) else -1


# -- back to the rows --------------------------------------------------------------------------------------------------


cdef inline forced_void divisor_of(int64_t length, const int divide, real* by) noexcept nogil:
    """The divisor of the sum of a sequence; the sum of an empty one stays 0."""
    by[0] = 1
    if divide == BY_LENGTH and length > 0:
        by[0] = <real> length
    elif divide == BY_ROOT and length > 0:
        by[0] = <real> sqrt(<double> length)


cdef inline forced_void spread_cell(
    real cell, int64_t r, int64_t end, const int64_t span, int64_t n_rows, real* out
) noexcept nogil:
    """Copy the cell of a sequence to all its rows, `span` at a time: the next sequence overwrites the excess."""
    cdef int64_t k
    if r + span <= n_rows:
        while True:  # also for an empty sequence, which costs less than a branch misprediction
            for k in range(span):
                out[r + k] = cell
            r += span
            if r >= end or r + span > n_rows:
                break
    while r < end:
        out[r] = cell
        r += 1


cdef inline forced_void spread_cells_by(
    const real* cells, const int64_t* offsets, int64_t n_seqs, const int divide, real* out
) noexcept nogil:
    cdef int64_t s = 0, end, k, n_rows = offsets[n_seqs]
    cdef real cell, by = 1
    cdef bint few
    while s < n_seqs:
        end = s + BLOCK if s + BLOCK < n_seqs else n_seqs
        few = offsets[end] - offsets[s] <= 2 * BLOCK
        for k in range(s, end):
            cell = cells[k]
            if divide != BY_ONE:
                divisor_of(offsets[k + 1] - offsets[k], divide, &by)
                cell = cell / by
            if few:
                spread_cell(cell, offsets[k], offsets[k + 1], 4, n_rows, out)
            else:
                spread_cell(cell, offsets[k], offsets[k + 1], SPAN, n_rows, out)
        s = end


cdef inline forced_void spread_cells(
    const real* cells, const int64_t* offsets, int64_t n_seqs, int divide, real* out
) noexcept nogil:
    if divide == BY_ONE:
        spread_cells_by(cells, offsets, n_seqs, BY_ONE, out)
    else:
        spread_cells_by(cells, offsets, n_seqs, divide, out)


cdef inline avx2_void spread_cells_avx2(
    const real* cells, const int64_t* offsets, int64_t n_seqs, int divide, real* out
) noexcept nogil:
    spread_cells(cells, offsets, n_seqs, divide, out)


cdef inline plain_void spread_cells_plain(
    const real* cells, const int64_t* offsets, int64_t n_seqs, int divide, real* out
) noexcept nogil:
    spread_cells(cells, offsets, n_seqs, divide, out)


cdef inline plain_void spread_wide(
    const real* rows, const int64_t* offsets, int64_t n_seqs, int64_t width, int divide, real* out
) noexcept nogil:
    """Write one row of each sequence, and copy what is written, up to COPIED cells at a time."""
    cdef int64_t most = COPIED // width if width <= COPIED else 1, s, c, r, length, done, some
    cdef real* first
    cdef real by = 1
    for s in range(n_seqs):
        length = offsets[s + 1] - offsets[s]
        divisor_of(length, divide, &by)
        if length > 0:
            for c in range(width):
                out[c] = rows[c] / by
        rows += width
        if most == 1:
            first = out
            for r in range(length):
                if r > 0:
                    memcpy(out, first, width * sizeof(real))
                out += width
            continue
        done = 1
        while done < length:
            some = done if done * width <= COPIED else most
            some = some if some < length - done else length - done
            memcpy(out + done * width, out, some * width * sizeof(real))
            done += some
        out += length * width


cdef inline forced_void spread_halves(
    const real* rows, const int64_t* offsets, int64_t n_seqs, int64_t width, int divide, const int half, real* out
) noexcept nogil:
    """Write rows of `half` to twice as many cells: their first and their last ones, which stay in registers."""
    cdef real first[MOST_LANES]
    cdef real last[MOST_LANES]
    cdef real by = 1
    cdef int64_t s, length, gap = width - half
    cdef int c
    for s in range(n_seqs):
        length = offsets[s + 1] - offsets[s]
        if length > 0:
            divisor_of(length, divide, &by)
            for c in range(half):
                first[c] = rows[c] / by
            for c in range(half):
                last[c] = rows[gap + c] / by
        while length > 0:
            memcpy(out, first, half * sizeof(real))
            memcpy(out + gap, last, half * sizeof(real))
            out += width
            length -= 1
        rows += width


cdef inline plain_void spread_of_lines(
    const real* rows, const int64_t* offsets, int64_t n_seqs, int64_t width, int divide, real* out
) noexcept nogil:
    if divide == BY_ONE:
        spread_halves(rows, offsets, n_seqs, width, BY_ONE, LINE // sizeof(real), out)
    else:
        spread_halves(rows, offsets, n_seqs, width, divide, LINE // sizeof(real), out)


cdef inline void spread(
    const real* rows, const int64_t* offsets, int64_t n_seqs, int64_t width, int divide, real* out
) noexcept nogil:
    """Write each row of `rows`, divided, to all rows of its sequence."""
    cdef int64_t line = LINE // sizeof(real)
    if line <= width <= 2 * line:
        spread_of_lines(rows, offsets, n_seqs, width, divide, out)
    elif width > 1:
        spread_wide(rows, offsets, n_seqs, width, divide, out)
    elif has_wide():
        spread_cells_avx2(rows, offsets, n_seqs, divide, out)
    else:
        spread_cells_plain(rows, offsets, n_seqs, divide, out)
