from libc.stdint cimport int64_t

ctypedef fused real:
    float
    double


cdef void times_packed(
    const real* left, int64_t left_line, int64_t rows, int64_t depth, const real* packed, int64_t columns, bint adding,
    real* out, int64_t out_line,
) noexcept nogil


cdef inline bint in_lines(const real[:, :] matrix) noexcept:
    """Return whether the cells of each row are contiguous."""
    cdef Py_ssize_t size = sizeof(real)
    return matrix.shape[1] <= 1 or matrix.shape[0] == 0 or (matrix.strides[1] == size and matrix.strides[0] % size == 0)
