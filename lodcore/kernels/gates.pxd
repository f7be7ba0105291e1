from libc.stdint cimport int64_t

from lodcore.kernels.matrix cimport real


cdef void sigmoid_of(const real* x, int64_t count, real* out) noexcept nogil
