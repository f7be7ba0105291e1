"""Rows for which a mask is true, for other compiled files, so that these loops are compiled only once."""

from libc.stdint cimport int64_t

cdef void count_true(const int64_t* offsets, int64_t n_seqs, const unsigned char* mask, int64_t* out) noexcept nogil

cdef void take_true_rows(
    const char* rows, int64_t n_rows, int64_t row_bytes, const unsigned char* mask, char* out, int64_t size
) noexcept nogil
