"""Loops that pool integers of 1, 2 and 4 bytes: sums modulo 2^64, maxima and minima, whose order is of no account.

Each of 64 lanes has cells of one column: lane k begins with cell k of the rows of a sequence, one row after the other.
Lanes of sums have 32 bits for cells of 1 and 2 bytes, which is enough for BLOCK rows.

One loop serves signed and unsigned cells, maxima and minima: some bits of each cell are turned over when it is read. A
signed cell whose sign bit is turned over is an unsigned one, larger by the weight of this bit, in the same order, and
the other way round; if all bits are turned over, the least cell is the greatest. `pool` then takes 0.82 of the time to
compile, and 1.0 to run (0.5 to 1.25; up to 1.4 for bytes in rows of 64 without AVX2).
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from lodcore.kernels.folds cimport LEAST
from lodcore.kernels.short_sequences cimport GROUP, SHORT_EXTREMES, SHORT_SUMS, best_short, better, short_ones
from lodcore.kernels.short_sequences cimport SHORT_BYTES, sum_short, sum_short_bytes, uneven_ones
from lodcore.kernels.simd cimport avx2_own_void, avx2_void, forced_void, has_wide, plain_void

cdef enum:
    ROOM = 64
    BLOCK = 1 << 14
    FEW = 4
    NARROW = 7  # columns of short sequences that are summed together

ctypedef fused small:
    uint8_t
    uint16_t
    uint32_t

ctypedef fused ordered:  # what registers of 16 bytes compare in one instruction
    uint8_t
    int16_t
    int32_t

ctypedef fused of_lane:
    int32_t
    int64_t


cdef inline small sign_of(bint signed, const small* unused) noexcept nogil:
    """Return the sign bit of a cell if cells are signed."""
    return <small> (<uint64_t> 1 << (8 * sizeof(small) - 1)) if signed else 0


# -- sums --------------------------------------------------------------------------------------------------------------


cdef inline forced_void add_cells(
    const small* x, int64_t cells, int64_t readable, int64_t step, small turned, of_lane* lane
) noexcept nogil:
    """Add cells to lanes, `step` at a time; what lanes from `step` on add is of no use."""
    cdef small cell
    cdef uint8_t last
    cdef int64_t some
    cdef int k
    while cells >= step and readable >= ROOM:
        for k in range(ROOM):
            lane[k] += <small> (x[k] ^ turned)
        x += step
        cells -= step
        readable -= step
    if cells == 0:
        return
    if readable >= ROOM:
        last = <uint8_t> cells  # of one byte, as the cells that are compared
        for k in range(ROOM):
            cell = x[k] ^ turned
            lane[k] += cell if <uint8_t> k < last else 0
        return
    while cells > 0:
        some = step if step < cells else cells
        for k in range(some):
            lane[k] += <small> (x[k] ^ turned)
        x += some
        cells -= some


cdef inline forced_void sum_few(
    const small* x, int64_t rows, const int width, small turned, uint64_t* out
) noexcept nogil:
    """Sum a few rows of up to FEW columns, which stay in registers."""
    cdef uint64_t[FEW] total
    cdef int c
    for c in range(width):
        total[c] = 0
    while rows > 0:
        for c in range(width):
            total[c] += <small> (x[c] ^ turned)
        x += width
        rows -= 1
    for c in range(width):
        out[c] = total[c]


cdef inline forced_void add_columns(
    const small* x, int64_t rows, int64_t width, int64_t count, small turned, of_lane* lane
) noexcept nogil:
    """Add the first `count` columns of wide rows, at most ROOM of them."""
    cdef int64_t _r
    cdef int k
    for _r in range(rows):
        if count == ROOM:
            for k in range(ROOM):
                lane[k] += <small> (x[k] ^ turned)
        else:
            for k in range(count):
                lane[k] += <small> (x[k] ^ turned)
        x += width


cdef inline forced_void add_half(of_lane* lane, const int half) noexcept nogil:
    cdef int k
    for k in range(half):
        lane[k] += lane[k + half]


cdef inline forced_void add_lanes(of_lane* lane, int64_t step, int64_t width, uint64_t* out) noexcept nogil:
    """Add lanes to columns; halves that have the same columns are added first."""
    cdef int64_t k, c
    cdef uint64_t total
    if step == ROOM:
        if width <= 32:
            add_half(lane, 32)
            step = 32
        if width <= 16:
            add_half(lane, 16)
            step = 16
        if width <= 8:
            add_half(lane, 8)
            step = 8
    for c in range(width):
        total = out[c]
        k = c
        while k < step:
            total += <uint64_t> lane[k]
            k += width
        out[c] = total


cdef inline forced_void sum_rows_of(
    const small* x, int64_t rows, int64_t width, int64_t readable, int64_t step, small turned, of_lane* lane,
    uint64_t* out
) noexcept nogil:
    """Add some rows to the sums of a sequence."""
    cdef int64_t first = 0, count
    cdef int k
    while first < width:
        for k in range(ROOM):
            lane[k] = 0
        if step > 0:
            add_cells(x, rows * width, readable, step, turned, lane)
            add_lanes(lane, step, width, out)
            return
        count = width - first if width - first < ROOM else ROOM
        add_columns(x + first, rows, width, count, turned, lane)
        for k in range(count):
            out[first + k] += <uint64_t> lane[k]
        first += ROOM


cdef inline forced_void sum_each(
    const small* x, const int64_t* offsets, int64_t n_seqs, int64_t width, bint signed, uint64_t* out
) noexcept nogil:
    cdef int32_t[ROOM] lanes
    cdef int64_t[ROOM] wide
    cdef small turned = sign_of(signed, x)
    cdef uint64_t added  # to the sums, by bits that are turned over
    cdef int64_t s, row, some, c, step = ROOM // width * width
    for s in range(n_seqs):
        row, some = offsets[s], offsets[s + 1] - offsets[s]
        added = <uint64_t> some * turned
        if width <= FEW and some * width < ROOM:
            if width == 1:
                sum_few(x + row, some, 1, turned, out)
            elif width == 2:
                sum_few(x + row * 2, some, 2, turned, out)
            elif width == 3:
                sum_few(x + row * 3, some, 3, turned, out)
            else:
                sum_few(x + row * 4, some, 4, turned, out)
            for c in range(width):
                out[c] -= added
            out += width
            continue
        for c in range(width):
            out[c] = 0 - added
        while row < offsets[s + 1]:
            some = offsets[s + 1] - row if offsets[s + 1] - row < BLOCK else BLOCK
            if small is uint32_t:
                sum_rows_of(x + row * width, some, width, (offsets[n_seqs] - row) * width, step, turned, &wide[0], out)
            else:
                sum_rows_of(
                    x + row * width, some, width, (offsets[n_seqs] - row) * width, step, turned, &lanes[0], out
                )
            row += some
        out += width


cdef inline avx2_void sum_each_avx2(
    const small* x, const int64_t* offsets, int64_t n_seqs, int64_t width, bint signed, uint64_t* out
) noexcept nogil:
    sum_each(x, offsets, n_seqs, width, signed, out)


cdef inline plain_void sum_each_plain(
    const small* x, const int64_t* offsets, int64_t n_seqs, int64_t width, bint signed, uint64_t* out
) noexcept nogil:
    sum_each(x, offsets, n_seqs, width, signed, out)


cdef inline void sum_next(
    const small* x, const int64_t* offsets, int64_t n_seqs, int64_t width, bint signed, uint64_t* out
) noexcept nogil:
    if n_seqs > 0 and has_wide():
        sum_each_avx2(x, offsets, n_seqs, width, signed, out)
    elif n_seqs > 0:
        sum_each_plain(x, offsets, n_seqs, width, signed, out)


cdef inline void sum_small(
    const small* x, const int64_t* offsets, int64_t n_seqs, int64_t width, bint signed, uint64_t* out
) noexcept nogil:
    """Compute the sums of the columns of each sequence."""
    cdef int64_t first = 0, s = 0, some, most = SHORT_SUMS // width if width <= NARROW else -1
    if small is uint8_t and width == 1:
        most = SHORT_BYTES
    while s < n_seqs:
        some = short_ones(offsets + s, n_seqs - s, most)
        if some > 0:
            sum_next(x, offsets + first, s - first, width, signed, out + first * width)
            if small is uint8_t and width == 1:
                sum_short_bytes(x, offsets + s, some, offsets[n_seqs], sign_of(signed, x), out + s)
            else:
                sum_short(x, offsets + s, some, width, sign_of(signed, x), out + s * width)
            first = s + some
        s += some if some > 0 else GROUP
    sum_next(x, offsets + first, n_seqs - first, width, signed, out + first * width)


# -- maxima and minima -------------------------------------------------------------------------------------------------


cdef inline ordered other_sign(const ordered* unused) noexcept nogil:
    """Return a number whose only bit is the first one."""
    return <ordered> (<int64_t> 1 << (8 * sizeof(ordered) - 1))


cdef inline forced_void best_few(
    const ordered* x, int64_t rows, const int width, ordered turned, ordered* out
) noexcept nogil:
    """Combine a few rows of up to FEW columns, one at least."""
    cdef ordered[FEW] best
    cdef int c
    for c in range(width):
        best[c] = x[c] ^ turned
    while rows > 1:
        x += width
        for c in range(width):
            better(&best[c], x[c] ^ turned)
        rows -= 1
    for c in range(width):
        out[c] = best[c] ^ turned


cdef inline forced_void best_cells(
    const ordered* x, int64_t cells, int64_t readable, int64_t step, ordered turned, ordered* lane
) noexcept nogil:
    """Combine cells with lanes, `step` at a time."""
    cdef ordered cell
    cdef uint8_t last
    cdef int64_t some
    cdef int k
    while cells >= step and readable >= ROOM:
        for k in range(ROOM):
            better(lane + k, x[k] ^ turned)
        x += step
        cells -= step
        readable -= step
    if cells == 0:
        return
    if readable >= ROOM:
        last = <uint8_t> cells
        for k in range(ROOM):
            cell = x[k] ^ turned
            cell = cell if <uint8_t> k < last else lane[k]
            better(lane + k, cell)
        return
    while cells > 0:
        some = step if step < cells else cells
        for k in range(some):
            better(lane + k, x[k] ^ turned)
        x += some
        cells -= some


cdef inline forced_void best_half(ordered* lane, const int half) noexcept nogil:
    cdef int k
    for k in range(half):
        better(lane + k, lane[k + half])


cdef inline forced_void best_lanes(
    ordered* lane, int64_t step, int64_t width, ordered turned, ordered* out
) noexcept nogil:
    """Combine lanes of the same column; halves first."""
    cdef int64_t k, c
    cdef ordered best
    if step == ROOM:
        if width <= 32:
            best_half(lane, 32)
            step = 32
        if width <= 16:  # smaller halves would be taken apart
            best_half(lane, 16)
            step = 16
    for c in range(width):
        best = lane[c]
        k = c + width
        while k < step:
            better(&best, lane[k])
            k += width
        out[c] = best ^ turned


cdef inline avx2_own_void best_lanes_avx2(
    ordered* lane, int64_t step, int64_t width, ordered turned, ordered* out
) noexcept nogil:
    """Inlined, it would take lanes of one byte out of registers one by one, which takes twice as long."""
    best_lanes(lane, step, width, turned, out)


cdef inline forced_void best_rows_of(
    const ordered* x, int64_t rows, int64_t width, int64_t readable, int64_t step, ordered turned, const bint wide,
    ordered* out
) noexcept nogil:
    """Compute the maxima or minima of some rows, one at least."""
    cdef ordered[ROOM] lane
    cdef ordered worst = 0 if sizeof(ordered) == 1 else other_sign(x)
    cdef int64_t first = 0, count, r
    cdef int k
    if width <= ROOM:
        for k in range(ROOM):
            lane[k] = worst
        best_cells(x, rows * width, readable, step, turned, &lane[0])
        if wide and sizeof(ordered) == 1:
            best_lanes_avx2(&lane[0], step, width, turned, out)
        else:
            best_lanes(&lane[0], step, width, turned, out)
        return
    while first < width:
        count = width - first if width - first < ROOM else ROOM
        for k in range(count):
            lane[k] = x[first + k] ^ turned
        for r in range(1, rows):
            if count == ROOM:
                for k in range(ROOM):
                    better(&lane[k], x[r * width + first + k] ^ turned)
            else:
                for k in range(count):
                    better(&lane[k], x[r * width + first + k] ^ turned)
        for k in range(count):
            out[first + k] = lane[k] ^ turned
        first += ROOM


cdef inline forced_void best_each(
    const ordered* x, const int64_t* offsets, int64_t n_seqs, int64_t width, ordered turned, const bint wide,
    ordered* out
) noexcept nogil:
    cdef int64_t s, c, rows, step = ROOM // width * width
    cdef const ordered* row
    for s in range(n_seqs):
        row, rows = x + offsets[s] * width, offsets[s + 1] - offsets[s]
        if rows > 0 and width <= FEW and rows * width < ROOM:
            if width == 1:
                best_few(row, rows, 1, turned, out)
            elif width == 2:
                best_few(row, rows, 2, turned, out)
            elif width == 3:
                best_few(row, rows, 3, turned, out)
            else:
                best_few(row, rows, 4, turned, out)
        elif rows > 0:
            best_rows_of(row, rows, width, (offsets[n_seqs] - offsets[s]) * width, step, turned, wide, out)
        else:
            for c in range(width):
                out[c] = 0
        out += width


cdef inline avx2_void best_each_avx2(
    const ordered* x, const int64_t* offsets, int64_t n_seqs, int64_t width, ordered turned, ordered* out
) noexcept nogil:
    best_each(x, offsets, n_seqs, width, turned, True, out)


cdef inline plain_void best_each_plain(
    const ordered* x, const int64_t* offsets, int64_t n_seqs, int64_t width, ordered turned, ordered* out
) noexcept nogil:
    best_each(x, offsets, n_seqs, width, turned, False, out)


cdef inline void best_next(
    const ordered* x, const int64_t* offsets, int64_t n_seqs, int64_t width, ordered turned, ordered* out
) noexcept nogil:
    if n_seqs > 0 and has_wide():
        best_each_avx2(x, offsets, n_seqs, width, turned, out)
    elif n_seqs > 0:
        best_each_plain(x, offsets, n_seqs, width, turned, out)


cdef inline void best_small(
    const ordered* x, const int64_t* offsets, int64_t n_seqs, int64_t width, bint signed, int verb, ordered* out
) noexcept nogil:
    """Compute the maxima or minima of the columns of each sequence; zeros for an empty one."""
    cdef ordered turned = 0 if signed != (sizeof(ordered) == 1) else other_sign(x)
    cdef int64_t first = 0, s = 0, some
    if verb == LEAST:
        turned = <ordered> ~turned
    while s < n_seqs and width == 1:
        some = uneven_ones(offsets + s, n_seqs - s, SHORT_EXTREMES)
        if some > 0:
            best_next(x, offsets + first, s - first, 1, turned, out + first)
            best_short(x, offsets + s, some, turned, out + s)
            first = s + some
        s += some if some > 0 else GROUP
    best_next(x, offsets + first, n_seqs - first, width, turned, out + first * width)
