"""Layer norm of rows, and the backward pass.

Sums over a row run in 16 lanes, sums over rows in blocks of 256, as in norm.h. Every nan in a result is the positive
quiet nan.
"""

from libc.stdint cimport int64_t

cdef extern from "norm.h" nogil:
    enum: NORM_BLOCK
    void normalize_float(const float* x, int64_t n_rows, int64_t width, const float* scale, const float* shift,
                         float eps, float* out, float* means, float* factors)
    void normalize_double(const double* x, int64_t n_rows, int64_t width, const double* scale, const double* shift,
                          double eps, double* out, double* means, double* factors)
    void normalize_back_float(const float* d, const float* x, int64_t n_rows, int64_t width, const float* scale,
                              const float* means, const float* factors, float* d_x, float* d_scale, float* d_shift)
    void normalize_back_double(const double* d, const double* x, int64_t n_rows, int64_t width, const double* scale,
                               const double* means, const double* factors, double* d_x, double* d_scale,
                               double* d_shift)

ctypedef fused real:
    float
    double


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
        if real is float:
            normalize_float(source, n_rows, width, scales, shifts, <float> eps, result, mean, factor)
        else:
            normalize_double(source, n_rows, width, scales, shifts, eps, result, mean, factor)


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
        if real is float:
            normalize_back_float(given, source, n_rows, width, scales, mean, factor, result, of_scale, of_shift)
        else:
            normalize_back_double(given, source, n_rows, width, scales, mean, factor, result, of_scale, of_shift)
