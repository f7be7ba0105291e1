"""Rows weighted by a filter, sums of lagged products, and sums of the ends of sequences, column by column.

Each column has one weight per tap, and tap j applies to the row j positions later (step > 0) or earlier (step < 0) in
the same sequence. A sum starts with the product of tap 0 and adds the others in order. Sums of products and of ends
start at 0 and add rows in order, in double. Every path follows these orders.
"""

from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from lodcore.kernels.lanes cimport alone, double_alone, real
from lodcore.kernels.simd cimport forced_void

cdef enum:
    LANES = 16
    TAPS = 16


# -- weighted rows -----------------------------------------------------------------------------------------------------


cdef inline forced_void multiply_lanes(const real* x, const real* weights, real* sums) noexcept nogil:
    cdef int64_t k
    for k in range(LANES):
        sums[k] = x[k] * weights[k]


cdef inline forced_void add_products(const real* x, const real* weights, real* sums) noexcept nogil:
    cdef int64_t k
    for k in range(LANES):
        sums[k] += x[k] * weights[k]


cdef inline forced_void add_lanes(const real* x, real* sums) noexcept nogil:
    cdef int64_t k
    for k in range(LANES):
        sums[k] += x[k]


cdef inline forced_void put_lanes(const real* sums, real* out) noexcept nogil:
    cdef int64_t k
    for k in range(LANES):
        out[k] = sums[k]


cdef inline forced_void weigh_row(
    real* x, int64_t step, int64_t width, real* weights, int64_t taps, real* out
) noexcept nogil:
    """Sum `taps` weighted rows, the first of which is `x`."""
    cdef real sums[LANES]
    cdef real total
    cdef int64_t c = 0, j
    while c + LANES <= width:
        multiply_lanes(x + c, weights + c, sums)
        for j in range(1, taps):
            add_products(x + j * step + c, weights + j * width + c, sums)
        put_lanes(sums, out + c)
        c += LANES
    while c < width:
        total = x[c] * weights[c]
        for j in range(1, taps):
            total += x[j * step + c] * weights[j * width + c]
        out[c] = total
        c += 1


cdef inline forced_void weigh_rows(
    real* x, bint ahead, int64_t width, int64_t begin, int64_t end, int64_t first, int64_t stop, real* weights,
    int64_t taps, real* out
) noexcept nogil:
    """Filter rows `first` to `stop` of the sequence from `begin` to `end`."""
    cdef int64_t t, reach
    for t in range(first, stop):
        reach = end - t if ahead else t - begin + 1
        weigh_row(
            x + t * width, width if ahead else -width, width, weights, reach if reach < taps else taps, out + t * width
        )


cdef inline forced_void weigh_groups(
    real* x, int64_t step, int64_t width, int64_t first_row, int64_t groups, real* weights, int64_t taps, real* out
) noexcept nogil:
    """Filter groups of LANES narrow rows as if each were one wide row, whatever sequences they belong to.

    The weights are repeated once per row. All taps of these rows are within the batch.
    """
    cdef real tile[TAPS * LANES * (LANES - 1)]
    cdef real sums[LANES]
    cdef real* source
    cdef real* to
    cdef int64_t cells = LANES * width, first = 0, some, g, c, j, k
    while first < taps:
        some = taps - first if taps - first < TAPS else TAPS
        for j in range(some):
            for k in range(LANES):
                memcpy(tile + j * cells + k * width, weights + (first + j) * width, width * sizeof(real))
        for g in range(groups):
            source = x + (first_row + g * LANES) * width + first * step
            to = out + (first_row + g * LANES) * width
            for k in range(width):
                c = k * LANES
                multiply_lanes(source + c, tile + c, sums)
                if first:
                    add_lanes(to + c, sums)
                for j in range(1, some):
                    add_products(source + j * step + c, tile + j * cells + c, sums)
                put_lanes(sums, to + c)
        first += TAPS


cdef inline forced_void weigh(
    const real* rows, int64_t width, const int64_t* offsets, int64_t n_seqs, const real* filter, int64_t taps,
    bint ahead, real* out
) noexcept nogil:
    cdef real* x = <real*> rows
    cdef real* weights = <real*> filter
    cdef int64_t n_rows = offsets[n_seqs], s, begin, end, edge
    if width >= LANES:
        for s in range(n_seqs):
            weigh_rows(x, ahead, width, offsets[s], offsets[s + 1], offsets[s], offsets[s + 1], weights, taps, out)
        return
    cdef int64_t first = 0 if ahead else taps - 1, groups = 0 if n_rows < taps else (n_rows - taps + 1) // LANES
    cdef int64_t stop = first + groups * LANES
    weigh_groups(x, width if ahead else -width, width, first, groups, weights, taps, out)
    for s in range(n_seqs):  # repeat where taps reach over the end of a sequence, and do the rest
        begin, end = offsets[s], offsets[s + 1]
        if ahead:
            edge = end - taps + 1 if end - taps + 1 < stop else stop
            weigh_rows(x, True, width, begin, end, edge if edge > begin else begin, end, weights, taps, out)
        else:
            edge = begin + taps - 1 if begin + taps - 1 < end else end
            weigh_rows(x, False, width, begin, end, begin, edge, weights, taps, out)
            edge = edge if edge > stop else stop
            weigh_rows(x, False, width, begin, end, edge if edge > begin else begin, end, weights, taps, out)


# -- sums over rows ----------------------------------------------------------------------------------------------------


cdef inline forced_void add_lags(
    alone x, alone y, const int64_t width, const int64_t* offsets, int64_t n_seqs, int64_t taps, double_alone out
) noexcept nogil:
    cdef int64_t s, t, end, reach, j, c
    for s in range(n_seqs):
        end = offsets[s + 1]
        for t in range(offsets[s], end):
            reach = end - t if end - t < taps else taps
            for j in range(reach):
                for c in range(width):
                    out[j * width + c] += <double> x[(t + j) * width + c] * <double> y[t * width + c]


cdef inline forced_void four_lags(
    const real* x, const real* y, const int64_t* offsets, int64_t n_seqs, int64_t j, double* sums
) noexcept nogil:
    """Compute the sums of lags j to j + 3 of rows of one number."""
    cdef double a = 0, b = 0, c = 0, d = 0
    cdef int64_t s, t, end
    for s in range(n_seqs):
        end, t = offsets[s + 1], offsets[s]
        while t + j + 3 < end:
            a += <double> x[t + j] * <double> y[t]
            b += <double> x[t + j + 1] * <double> y[t]
            c += <double> x[t + j + 2] * <double> y[t]
            d += <double> x[t + j + 3] * <double> y[t]
            t += 1
        while t + j < end:
            a += <double> x[t + j] * <double> y[t]
            if t + j + 1 < end:
                b += <double> x[t + j + 1] * <double> y[t]
            if t + j + 2 < end:
                c += <double> x[t + j + 2] * <double> y[t]
            t += 1
    sums[0], sums[1], sums[2], sums[3] = a, b, c, d


cdef inline forced_void lagged(
    const real* x, const real* y, int64_t width, const int64_t* offsets, int64_t n_seqs, int64_t taps, double* out
) noexcept nogil:
    """Compute out[j] = sum of x[t + j] * y[t] over the rows t of all sequences."""
    cdef double sums[4]
    cdef int64_t j
    if width == 1:  # several sums at a time, kept in registers
        for j in range(0, taps, 4):
            four_lags(x, y, offsets, n_seqs, j, sums)
            memcpy(out + j, sums, (taps - j if taps - j < 4 else 4) * sizeof(double))
        return
    memset(out, 0, taps * width * sizeof(double))
    if width == 2:  # known to the compiler: a fifth to two thirds of the time from five taps on
        add_lags(<real*> x, <real*> y, 2, offsets, n_seqs, taps, out)
    else:
        add_lags(<real*> x, <real*> y, width, offsets, n_seqs, taps, out)


cdef inline forced_void add_cells(alone x, int64_t count, double_alone out) noexcept nogil:
    cdef int64_t k
    for k in range(count):
        out[k] += <double> x[k]


cdef inline void add_edges(
    const real* x, int64_t width, const int64_t* offsets, int64_t n_seqs, int64_t before, int64_t after, double* out
) noexcept nogil:
    """Sum the first `before` rows of all sequences, position by position, then the last `after` rows."""
    cdef int64_t s, length, head, tail
    memset(out, 0, (before + after) * width * sizeof(double))
    for s in range(n_seqs):
        length = offsets[s + 1] - offsets[s]
        head = (before if before < length else length) * width
        tail = (after if after < length else length) * width
        add_cells(<real*> x + offsets[s] * width, head, out)
        add_cells(<real*> x + offsets[s + 1] * width - tail, tail, out + (before + after) * width - tail)
