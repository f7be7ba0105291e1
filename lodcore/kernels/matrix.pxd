from libc.stdint cimport int64_t

ctypedef fused real:
    float
    double


cdef void times_packed(
    const real* left, int64_t left_line, int64_t rows, int64_t depth, const real* packed, int64_t columns, bint adding,
    real* out, int64_t out_line,
) noexcept nogil
