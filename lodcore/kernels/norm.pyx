"""Layer norm: subtract the mean of each row, and divide by the root of its variance; and the backward pass.

Within a row, lane k of 16 starts at 0 and adds columns k, k + 16, ...; then lane k adds lane k + 8, then lane k + 4,
and so on until one is left. Over rows, those of a block of 256 are added one after another. Every nan in a result is
the positive quiet nan.
"""

from libc.stdint cimport int64_t

from lodcore.kernels.lanes cimport alone, folded_lanes, one_nan, real, root_of
from lodcore.kernels.simd cimport SIMD_AVX2, SIMD_AVX512, avx2_void, avx512_void, forced_void, simd_level

cdef enum:
    LANES = 16
    NORM_BLOCK = 256


def normalize_rows(
    const real[:, ::1] x not None, const real[::1] scale not None, const real[::1] shift not None, double eps,
    real[:, ::1] out not None, real[::1] means not None, real[::1] factors not None,
):
    """Normalize each row: subtract its mean, divide by the root of its variance plus eps, scale and shift.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    scale, shift : as x, shape (width,)
    eps : float
    out : as x
    means : as x, shape (n_rows,)
        The mean of each row.
    factors : as x, shape (n_rows,)
        1 / sqrt(variance + eps) of each row; the variance is the mean of the squared differences.
    """
    cdef Py_ssize_t n_rows = x.shape[0], width = x.shape[1]
    if (out.shape[0] != n_rows or out.shape[1] != width or scale.shape[0] != width or shift.shape[0] != width
            or means.shape[0] != n_rows or factors.shape[0] != n_rows):
        raise ValueError("the arrays do not belong together")
    if n_rows == 0 or width == 0:
        return
    cdef const real* source = &x[0, 0]
    cdef const real* scales = &scale[0]
    cdef const real* shifts = &shift[0]
    cdef real* result = &out[0, 0]
    cdef real* mean = &means[0]
    cdef real* factor = &factors[0]
    with nogil:
        run_normalize(source, n_rows, width, scales, shifts, <real> eps, result, mean, factor)


def normalize_rows_back(
    const real[:, ::1] d not None, const real[:, ::1] x not None, const real[::1] scale not None,
    const real[::1] means not None, const real[::1] factors not None, real[:, ::1] d_x not None,
    real[:, ::1] d_scale not None, real[:, ::1] d_shift not None,
):
    """Compute the gradients of `normalize_rows`.

    Parameters
    ----------
    d : float32 or float64, shape (n_rows, width)
        The cotangent of its result.
    x, scale, means, factors : as in `normalize_rows`
    d_x : as x
    d_scale, d_shift : as x, shape (n_blocks, width)
        Sums over each block of 256 rows; n_blocks is n_rows / 256, rounded up.
    """
    cdef Py_ssize_t n_rows = x.shape[0], width = x.shape[1], n_blocks = (n_rows + NORM_BLOCK - 1) // NORM_BLOCK
    if (d.shape[0] != n_rows or d.shape[1] != width or scale.shape[0] != width or means.shape[0] != n_rows
            or factors.shape[0] != n_rows or d_x.shape[0] != n_rows or d_x.shape[1] != width
            or d_scale.shape[0] != n_blocks or d_scale.shape[1] != width or d_shift.shape[0] != n_blocks
            or d_shift.shape[1] != width):
        raise ValueError("the arrays do not belong together")
    if n_rows == 0 or width == 0:
        return
    cdef const real* given = &d[0, 0]
    cdef const real* source = &x[0, 0]
    cdef const real* scales = &scale[0]
    cdef const real* mean = &means[0]
    cdef const real* factor = &factors[0]
    cdef real* result = &d_x[0, 0]
    cdef real* of_scale = &d_scale[0, 0]
    cdef real* of_shift = &d_shift[0, 0]
    with nogil:
        run_back(given, source, n_rows, width, scales, mean, factor, result, of_scale, of_shift)


# -- forward -----------------------------------------------------------------------------------------------------------


cdef inline forced_void add_part(alone row, const int64_t count, alone lane) noexcept nogil:
    cdef int64_t k
    for k in range(count):
        lane[k] += row[k]


cdef inline forced_void add_row(real* row, int64_t width, real* lane) noexcept nogil:
    cdef int64_t c = 0
    while c + LANES <= width:
        add_part(row + c, LANES, lane)
        c += LANES
    if c < width:
        add_part(row + c, width - c, lane)


cdef inline forced_void square_part(alone row, const int64_t count, real mean, alone lane) noexcept nogil:
    cdef int64_t k
    for k in range(count):
        lane[k] += (row[k] - mean) * (row[k] - mean)


cdef inline forced_void square_row(real* row, int64_t width, real mean, real* lane) noexcept nogil:
    cdef int64_t c = 0
    while c + LANES <= width:
        square_part(row + c, LANES, mean, lane)
        c += LANES
    if c < width:
        square_part(row + c, width - c, mean, lane)


cdef inline forced_void write_part(
    alone row, const int64_t count, real mean, real factor, alone scale, alone shift, alone out
) noexcept nogil:
    cdef int64_t k
    for k in range(count):
        out[k] = one_nan((row[k] - mean) * factor * scale[k] + shift[k])


cdef inline forced_void write_row(
    real* row, int64_t width, real mean, real factor, real* scale, real* shift, real* out
) noexcept nogil:
    cdef int64_t c = 0
    while c + LANES <= width:
        write_part(row + c, LANES, mean, factor, scale + c, shift + c, out + c)
        c += LANES
    if c < width:
        write_part(row + c, width - c, mean, factor, scale + c, shift + c, out + c)


cdef inline forced_void normalize(
    const real* x, int64_t n_rows, int64_t width, const real* scale, const real* shift, real eps, real* out,
    real* means, real* factors
) noexcept nogil:
    cdef real lane[LANES]
    cdef real square[LANES]
    cdef real mean, factor, one = 1, count = <real> width
    cdef real* row = <real*> x
    cdef int64_t r, k
    for r in range(n_rows):
        for k in range(LANES):
            lane[k] = 0
            square[k] = 0
        add_row(row, width, lane)
        mean = folded_lanes(lane) / count
        square_row(row, width, mean, square)
        factor = one / root_of(folded_lanes(square) / count + eps)
        write_row(row, width, mean, factor, <real*> scale, <real*> shift, out)
        means[r] = one_nan(mean)
        factors[r] = one_nan(factor)
        row += width
        out += width


cdef avx512_void normalize_avx512(
    const real* x, int64_t n_rows, int64_t width, const real* scale, const real* shift, real eps, real* out,
    real* means, real* factors
) noexcept nogil:
    normalize(x, n_rows, width, scale, shift, eps, out, means, factors)


cdef avx2_void normalize_avx2(
    const real* x, int64_t n_rows, int64_t width, const real* scale, const real* shift, real eps, real* out,
    real* means, real* factors
) noexcept nogil:
    normalize(x, n_rows, width, scale, shift, eps, out, means, factors)


cdef void run_normalize(
    const real* x, int64_t n_rows, int64_t width, const real* scale, const real* shift, real eps, real* out,
    real* means, real* factors
) noexcept nogil:
    cdef int level = simd_level()
    if level == SIMD_AVX512:
        normalize_avx512(x, n_rows, width, scale, shift, eps, out, means, factors)
    elif level == SIMD_AVX2:
        normalize_avx2(x, n_rows, width, scale, shift, eps, out, means, factors)
    else:
        normalize(x, n_rows, width, scale, shift, eps, out, means, factors)


# -- backward ----------------------------------------------------------------------------------------------------------


cdef inline forced_void derivative_part(
    alone row, alone d, const int64_t count, alone scale, real mean, real factor, alone total, alone along
) noexcept nogil:
    cdef real g
    cdef int64_t k
    for k in range(count):
        g = d[k] * scale[k]
        total[k] += g
        along[k] += g * ((row[k] - mean) * factor)


cdef inline forced_void derivatives_of(
    real* row, real* d, int64_t width, real* scale, real mean, real factor, real* total, real* along
) noexcept nogil:
    """Add up the cotangent of the normalized row, and its products with the normalized row."""
    cdef int64_t c = 0
    while c + LANES <= width:
        derivative_part(row + c, d + c, LANES, scale + c, mean, factor, total, along)
        c += LANES
    if c < width:
        derivative_part(row + c, d + c, width - c, scale + c, mean, factor, total, along)


cdef inline forced_void back_part(
    alone row, alone d, const int64_t count, alone scale, real mean, real factor, real least, real derivative,
    alone d_x, alone d_scale, alone d_shift
) noexcept nogil:
    cdef real y
    cdef int64_t k
    for k in range(count):
        y = (row[k] - mean) * factor
        d_x[k] = one_nan(factor * (d[k] * scale[k] - least - y * derivative))
        d_scale[k] = one_nan(d_scale[k] + d[k] * y)
        d_shift[k] = one_nan(d_shift[k] + d[k])


cdef inline forced_void back_row(
    real* row, real* d, int64_t width, real* scale, real mean, real factor, real least, real derivative, real* d_x,
    real* d_scale, real* d_shift
) noexcept nogil:
    cdef int64_t c = 0
    while c + LANES <= width:
        back_part(
            row + c, d + c, LANES, scale + c, mean, factor, least, derivative, d_x + c, d_scale + c, d_shift + c
        )
        c += LANES
    if c < width:
        back_part(
            row + c, d + c, width - c, scale + c, mean, factor, least, derivative, d_x + c, d_scale + c, d_shift + c
        )


cdef inline forced_void back(
    const real* d, const real* x, int64_t n_rows, int64_t width, const real* scale, const real* means,
    const real* factors, real* d_x, real* d_scale, real* d_shift
) noexcept nogil:
    """Compute the sums for scale and shift, one row of them per block of rows."""
    cdef real total[LANES]
    cdef real along[LANES]
    cdef real mean, factor, least, derivative, count = <real> width
    cdef real* row = <real*> x
    cdef real* given = <real*> d
    cdef int64_t r, k
    for r in range(n_rows):
        mean, factor = means[r], factors[r]
        if r % NORM_BLOCK == 0:
            if r:
                d_scale += width
                d_shift += width
            for k in range(width):
                d_scale[k] = 0
            for k in range(width):
                d_shift[k] = 0
        for k in range(LANES):
            total[k] = 0
            along[k] = 0
        derivatives_of(row, given, width, <real*> scale, mean, factor, total, along)
        least = folded_lanes(total) / count
        derivative = folded_lanes(along) / count
        back_row(row, given, width, <real*> scale, mean, factor, least, derivative, d_x, d_scale, d_shift)
        row += width
        given += width
        d_x += width


cdef avx512_void back_avx512(
    const real* d, const real* x, int64_t n_rows, int64_t width, const real* scale, const real* means,
    const real* factors, real* d_x, real* d_scale, real* d_shift
) noexcept nogil:
    back(d, x, n_rows, width, scale, means, factors, d_x, d_scale, d_shift)


cdef avx2_void back_avx2(
    const real* d, const real* x, int64_t n_rows, int64_t width, const real* scale, const real* means,
    const real* factors, real* d_x, real* d_scale, real* d_shift
) noexcept nogil:
    back(d, x, n_rows, width, scale, means, factors, d_x, d_scale, d_shift)


cdef void run_back(
    const real* d, const real* x, int64_t n_rows, int64_t width, const real* scale, const real* means,
    const real* factors, real* d_x, real* d_scale, real* d_shift
) noexcept nogil:
    cdef int level = simd_level()
    if level == SIMD_AVX512:
        back_avx512(d, x, n_rows, width, scale, means, factors, d_x, d_scale, d_shift)
    elif level == SIMD_AVX2:
        back_avx2(d, x, n_rows, width, scale, means, factors, d_x, d_scale, d_shift)
    else:
        back(d, x, n_rows, width, scale, means, factors, d_x, d_scale, d_shift)
