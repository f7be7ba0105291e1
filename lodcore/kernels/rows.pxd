"""Ranges of rows as opaque bytes, copied one after another."""

from libc.stdint cimport int64_t
from libc.string cimport memcpy

from lodcore.kernels.simd cimport avx2_void, forced_void, has_wide, prefetch

cdef enum:
    CHUNK = 64
    SHORT = 512
    AHEAD = 8  # ranges ahead, of which the first row is fetched

cdef extern from *:
    ctypedef char* bytes_alone "char *restrict"  # that do not overlap: parameters of functions that are forced inline
    ctypedef const char* read_alone "const char *restrict"
    ctypedef const int64_t* offsets_alone "const int64_t *restrict"

cdef extern from "stream.h" nogil:
    bint stream_pays(const char* out, int64_t size, int64_t piece)
    bint stream_pays_for_ranges(const char* out, int64_t size, int64_t piece, int64_t count)
    void stream_copy(char* to, const char* source, int64_t size)
    void stream_end()
    void copy_bytes(char* to, const char* source, int64_t size)


cdef inline forced_void copy_chunks(char* to, const char* source, int64_t size) noexcept nogil:
    """Copy in whole chunks; up to a chunk more than `size` bytes is read and written."""
    cdef int64_t done = 0
    while True:
        memcpy(to + done, source + done, CHUNK)
        done += CHUNK
        if done >= size:
            return


cdef inline forced_void copy_piece(
    char* to, const char* to_end, const char* source, const char* source_end, int64_t size
) noexcept nogil:
    """Copy a piece that is followed by another one.

    Short pieces are copied in whole chunks: bytes past their end are overwritten by the next piece, and never leave
    either buffer.
    """
    if size <= SHORT and source_end - source >= size + CHUNK and to_end - to >= size + CHUNK:
        copy_chunks(to, source, size)
    else:
        copy_bytes(to, source, size)


cdef inline void copy_whole(char* to, const char* source, int64_t size) noexcept nogil:
    """Copy one range, past the caches if it is large."""
    if stream_pays(to, size, size):
        stream_copy(to, source, size)
        stream_end()
    else:
        copy_bytes(to, source, size)


cdef inline forced_void copy_each(
    const char* rows, int64_t n_rows, int64_t row_bytes, const int64_t* ranges, int64_t count, char* out,
    int64_t out_rows
) noexcept nogil:
    cdef const char* rows_end = rows + n_rows * row_bytes
    cdef const char* out_end = out + out_rows * row_bytes
    cdef const char* source
    cdef bint stream = stream_pays_for_ranges(out, out_rows * row_bytes, row_bytes, count)
    cdef int64_t j, size
    for j in range(count):
        source = rows + ranges[2 * j] * row_bytes
        size = (ranges[2 * j + 1] - ranges[2 * j]) * row_bytes
        if j + AHEAD < count:
            prefetch(rows + ranges[2 * (j + AHEAD)] * row_bytes)
        if stream:
            stream_copy(out, source, size)
        else:
            copy_piece(out, out_end, source, rows_end, size)
        out += size
    if stream:
        stream_end()


cdef inline avx2_void copy_each_avx2(
    const char* rows, int64_t n_rows, int64_t row_bytes, const int64_t* ranges, int64_t count, char* out,
    int64_t out_rows
) noexcept nogil:
    copy_each(rows, n_rows, row_bytes, ranges, count, out, out_rows)


cdef inline void copy_row_ranges(
    const char* rows, int64_t n_rows, int64_t row_bytes, const int64_t* ranges, int64_t count, char* out,
    int64_t out_rows
) noexcept nogil:
    """Copy the ranges of rows one after another."""
    if has_wide():
        copy_each_avx2(rows, n_rows, row_bytes, ranges, count, out, out_rows)
    else:
        copy_each(rows, n_rows, row_bytes, ranges, count, out, out_rows)
