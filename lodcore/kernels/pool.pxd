"""Sums, maxima and minima for other compiled files, so that these loops are compiled only once."""

from libc.stdint cimport int64_t

from lodcore.kernels.lanes cimport real


cdef int verb_of(str name) except -1

cdef void pool_reals(
    const real* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int verb, int divide, real* out
) noexcept nogil
