"""Variances of the rows of each sequence, column by column, in float64, and the backward pass.

Rows of one cell are added in 32 lanes, cell k of a block of 4096 in lane k modulo 32, and block by block, so that a
block is in a cache when it is read the second time; lane k then adds lane k + 16, then lane k + 8, and so on. The
blocks are combined as by Chan, Golub and LeVeque. Rows of several cells are added one after another.
"""

from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t

from lodcore.kernels.simd cimport SIMD_AVX2, SIMD_AVX512, avx2_void, avx512_void, forced_void, simd_level

cdef enum:
    LANES = 32
    FEW = 8
    BLOCK = 4096

ctypedef fused real:
    float
    double


def vary_rows(const real[:, ::1] x not None, const int64_t[::1] offsets not None, double ddof,
              double[:, ::1] means not None, double[:, ::1] out not None):
    """Compute the mean squared distance of the rows of each sequence from their mean.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    ddof : float
        Subtracted from the number of rows, by which the sum is divided; if the difference is not positive, the result
        is nan.
    means : float64, shape (n_seqs, width)
        0 for an empty sequence.
    out : as means
        Rows of one cell are added in 32 lanes within blocks of 4096, as this file describes; other rows one by one.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = x.shape[1], s, c
    cdef double left
    if (x.shape[0] != offsets[n_seqs] or means.shape[0] != n_seqs or out.shape[0] != n_seqs
            or means.shape[1] != width or out.shape[1] != width):
        raise ValueError("x, offsets, means and out do not belong together")
    if n_seqs == 0 or width == 0:
        return
    cdef const real* rows = &x[0, 0] if x.shape[0] else NULL
    with nogil:
        if width == 1:
            run_deviate(rows, &offsets[0], n_seqs, &means[0, 0], &out[0, 0])
        else:
            run_deviate_wide(rows, &offsets[0], n_seqs, width, &means[0, 0], &out[0, 0])
        for s in range(n_seqs):
            left = <double> (offsets[s + 1] - offsets[s]) - ddof
            for c in range(width):
                out[s, c] = out[s, c] / left if left > 0 and offsets[s] < offsets[s + 1] else NAN


def spread_distances(const real[:, ::1] x not None, const int64_t[::1] offsets not None,
                     const double[:, ::1] means not None, const double[:, ::1] scales not None,
                     real[:, ::1] out not None):
    """Multiply the distance of each row from the mean of its sequence by a scale: the gradient of `vary_rows`.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    means : float64, shape (n_seqs, width)
    scales : float64, shape (n_seqs, width)
        The factors; a factor of 0 gives 0, also for a distance of nan.
    out : as x
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = x.shape[1], s, r, c
    if (x.shape[0] != offsets[n_seqs] or out.shape[0] != x.shape[0] or out.shape[1] != width
            or means.shape[0] != n_seqs or scales.shape[0] != n_seqs or means.shape[1] != width
            or scales.shape[1] != width):
        raise ValueError("x, offsets, means, scales and out do not belong together")
    with nogil:
        for s in range(n_seqs):
            for r in range(offsets[s], offsets[s + 1]):
                for c in range(width):
                    out[r, c] = <real> ((<double> x[r, c] - means[s, c]) * scales[s, c]) if scales[s, c] != 0 else 0


# -- rows of one cell --------------------------------------------------------------------------------------------------


cdef inline double halved(double* lanes) noexcept nogil:
    cdef int j
    for j in range(16):
        lanes[j] += lanes[j + 16]
    for j in range(8):
        lanes[j] += lanes[j + 8]
    for j in range(4):
        lanes[j] += lanes[j + 4]
    return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])


cdef inline forced_void add_lanes(const real* x, const int64_t count, double* lanes) noexcept nogil:
    cdef int64_t j
    for j in range(count):
        lanes[j] += <double> x[j]


cdef inline forced_void add_distances(
    const real* x, const int64_t count, double middle, double* lanes, double* rests
) noexcept nogil:
    cdef double distance
    cdef int64_t j
    for j in range(count):
        distance = <double> x[j] - middle
        lanes[j] += distance * distance
        rests[j] += distance


cdef inline double halved_few(const double* lanes) noexcept nogil:
    """The same sum of at most 8 lanes: all others are 0, which adds nothing."""
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))


cdef inline double corrected(double squares, double remainder, int64_t n) noexcept nogil:
    """Return the sum of squared distances from the exact mean; squares that are too large stay infinite."""
    return squares if squares == INFINITY else squares - remainder * remainder / <double> n


cdef inline forced_void add_few(const real* x, int64_t n, double* mean, double* squares) noexcept nogil:
    cdef double lanes[FEW]
    cdef double rests[FEW]
    cdef double middle, remainder
    cdef int64_t j
    for j in range(FEW):
        lanes[j] = rests[j] = 0
    add_lanes(x, n, lanes)
    middle = halved_few(lanes) / <double> n
    for j in range(FEW):
        lanes[j] = 0
    add_distances(x, n, middle, lanes, rests)
    remainder = halved_few(rests)
    mean[0] = middle
    squares[0] = corrected(halved_few(lanes), remainder, n)


cdef inline forced_void add_block(
    const real* x, int64_t n, int64_t room, double* mean, double* squares
) noexcept nogil:
    """The rest of a block is read in one piece if that stays among the rows: what does not count adds 0."""
    cdef double lanes[LANES]
    cdef double rests[LANES]
    cdef double distance, middle, remainder
    cdef int64_t j, k, whole = n // LANES * LANES, rest = n - whole
    cdef const real* last = x + whole
    for j in range(LANES):
        lanes[j] = rests[j] = 0
    for k in range(0, whole, 32):
        add_lanes(x + k, LANES, lanes)
    if rest and whole + LANES <= room:
        for j in range(LANES):
            lanes[j] += <double> last[j] if j < rest else 0.0
    else:
        add_lanes(last, rest, lanes)
    middle = halved(lanes) / <double> n
    for j in range(LANES):
        lanes[j] = 0
    for k in range(0, whole, 32):
        add_distances(x + k, LANES, middle, lanes, rests)
    if rest and whole + LANES <= room:
        for j in range(LANES):
            distance = <double> last[j] - middle if j < rest else 0.0
            lanes[j] += distance * distance
            rests[j] += distance
    else:
        add_distances(last, rest, middle, lanes, rests)
    remainder = halved(rests)
    mean[0] = middle
    squares[0] = corrected(halved(lanes), remainder, n)


cdef inline forced_void deviate(
    const real* x, const int64_t* offsets, int64_t n_seqs, double* means, double* squares
) noexcept nogil:
    cdef int64_t s, first, before, n
    cdef double mean, total, part_mean, part, apart, share
    for s in range(n_seqs):
        mean = total = part_mean = part = 0
        first = offsets[s]
        while first < offsets[s + 1]:
            before = first - offsets[s]
            n = offsets[s + 1] - first if offsets[s + 1] - first < BLOCK else BLOCK
            if n <= FEW:
                add_few(x + first, n, &part_mean, &part)
            else:
                add_block(x + first, n, offsets[n_seqs] - first, &part_mean, &part)
            if before == 0:
                mean = part_mean
                total = part
            else:
                apart = part_mean - mean
                share = <double> n / <double> (before + n)
                mean += apart * share
                total += part + apart * apart * (<double> before * share)
            first += BLOCK
        means[s] = mean
        squares[s] = 0 if total < 0 else total


cdef avx512_void deviate_avx512(
    const real* x, const int64_t* offsets, int64_t n_seqs, double* means, double* squares
) noexcept nogil:
    deviate(x, offsets, n_seqs, means, squares)


cdef avx2_void deviate_avx2(
    const real* x, const int64_t* offsets, int64_t n_seqs, double* means, double* squares
) noexcept nogil:
    deviate(x, offsets, n_seqs, means, squares)


cdef void deviate_plain(
    const real* x, const int64_t* offsets, int64_t n_seqs, double* means, double* squares
) noexcept nogil:
    deviate(x, offsets, n_seqs, means, squares)


cdef void run_deviate(
    const real* x, const int64_t* offsets, int64_t n_seqs, double* means, double* squares
) noexcept nogil:
    cdef int level = simd_level()
    if level == SIMD_AVX512:
        deviate_avx512(x, offsets, n_seqs, means, squares)
    elif level == SIMD_AVX2:
        deviate_avx2(x, offsets, n_seqs, means, squares)
    else:
        deviate_plain(x, offsets, n_seqs, means, squares)


# -- rows of several cells ---------------------------------------------------------------------------------------------


cdef inline forced_void deviate_columns(
    const real* x, int64_t rows, int64_t width, const int64_t count, double* mean, double* square
) noexcept nogil:
    """Compute up to 16 columns of a sequence, whose sums stay in registers."""
    cdef double lanes[16]
    cdef double middles[16]
    cdef double distance
    cdef int64_t r, c
    for c in range(count):
        lanes[c] = 0
    for r in range(rows):
        for c in range(count):
            lanes[c] += <double> x[r * width + c]
    for c in range(count):
        middles[c] = lanes[c] / <double> rows if rows else 0.0
        mean[c] = middles[c]
        lanes[c] = 0
    for r in range(rows):
        for c in range(count):
            distance = <double> x[r * width + c] - middles[c]
            lanes[c] += distance * distance
    for c in range(count):
        square[c] = lanes[c]


cdef inline forced_void deviate_all_columns(
    const real* x, const int64_t* offsets, int64_t n_seqs, int64_t width, const int64_t count, double* means,
    double* squares
) noexcept nogil:
    """Compute `count` columns after the other; the last of them are those at the end, some of which come twice."""
    cdef int64_t s, c
    for s in range(n_seqs):
        c = 0
        while c < width:
            if c + count > width:
                c = width - count
            deviate_columns(
                x + offsets[s] * width + c, offsets[s + 1] - offsets[s], width, count, means + s * width + c,
                squares + s * width + c)
            c += count


cdef inline forced_void deviate_wide(
    const real* x, const int64_t* offsets, int64_t n_seqs, int64_t width, double* means, double* squares
) noexcept nogil:
    if width < 4:
        deviate_all_columns(x, offsets, n_seqs, width, 2, means, squares)
    elif width < 8:
        deviate_all_columns(x, offsets, n_seqs, width, 4, means, squares)
    elif width < 16:
        deviate_all_columns(x, offsets, n_seqs, width, 8, means, squares)
    else:
        deviate_all_columns(x, offsets, n_seqs, width, 16, means, squares)


cdef avx512_void deviate_wide_avx512(
    const real* x, const int64_t* offsets, int64_t n_seqs, int64_t width, double* means, double* squares
) noexcept nogil:
    deviate_wide(x, offsets, n_seqs, width, means, squares)


cdef avx2_void deviate_wide_avx2(
    const real* x, const int64_t* offsets, int64_t n_seqs, int64_t width, double* means, double* squares
) noexcept nogil:
    deviate_wide(x, offsets, n_seqs, width, means, squares)


cdef void deviate_wide_plain(
    const real* x, const int64_t* offsets, int64_t n_seqs, int64_t width, double* means, double* squares
) noexcept nogil:
    deviate_wide(x, offsets, n_seqs, width, means, squares)


cdef void run_deviate_wide(
    const real* x, const int64_t* offsets, int64_t n_seqs, int64_t width, double* means, double* squares
) noexcept nogil:
    cdef int level = simd_level()
    if level == SIMD_AVX512:
        deviate_wide_avx512(x, offsets, n_seqs, width, means, squares)
    elif level == SIMD_AVX2:
        deviate_wide_avx2(x, offsets, n_seqs, width, means, squares)
    else:
        deviate_wide_plain(x, offsets, n_seqs, width, means, squares)
