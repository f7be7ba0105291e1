"""Sums, maxima and minima for other compiled files, so that these loops are compiled only once."""

from libc.stdint cimport int64_t

cdef int verb_of(str name) except -1

cdef void pool_float(const float* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int verb, int divide,
                     float* out) noexcept nogil

cdef void pool_double(const double* x, const int64_t* offsets, int64_t n_seqs, int64_t width, int verb, int divide,
                      double* out) noexcept nogil
