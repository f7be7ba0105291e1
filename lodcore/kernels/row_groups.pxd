"""Rows repeated, and rows in reverse order. The caller has checked the raw pointers.

Small rows are stored in whole groups or chunks: bytes past the end of a sequence are overwritten by the next sequence,
and where they could leave a buffer, rows are written one by one. Groups of about the mean length leave the processor
few branches to predict.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from lodcore.kernels.rows cimport (
    bytes_alone, offsets_alone, read_alone, stream_copy, stream_end, stream_pays, stream_pays_for_ranges,
)
from lodcore.kernels.simd cimport forced_void

cdef enum:
    RUN = 16
    SMALL = 8  # rows of a group, if most sequences are shorter than FEW
    FEW = 6

ctypedef struct pair:
    char both[16]

ctypedef fused item:  # a small row, which stays in a register
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    pair


cdef inline forced_void all_ones(offsets_alone offsets, bint* found) noexcept nogil:
    """Find out whether each of the RUN sequences from the first of these offsets on has exactly one row."""
    cdef int64_t odd = 0, k
    for k in range(RUN + 1):
        odd |= offsets[k] ^ (offsets[0] + k)
    found[0] = odd == 0


cdef inline forced_void copy_row(
    char* to, const char* source, int64_t row_bytes, const char* to_end, const char* source_end, const int64_t chunk
) noexcept nogil:
    """Copy a row of up to `chunk` bytes; the whole chunk is read and written where both buffers are long enough."""
    if row_bytes <= chunk and to_end - to >= chunk and source_end - source >= chunk:
        memcpy(to, source, chunk)
    else:
        memcpy(to, source, row_bytes)


# -- repeated ----------------------------------------------------------------------------------------------------------


cdef inline forced_void repeat_group(
    read_alone rows, offsets_alone offsets, int64_t s, bytes_alone out, const item* unused, const int64_t group
) noexcept nogil:
    """Write row s to all rows of sequence s, in whole groups."""
    cdef char* to = out + offsets[s] * sizeof(item)
    cdef char* end = out + offsets[s + 1] * sizeof(item)
    cdef item row
    cdef int64_t k
    memcpy(&row, rows + s * sizeof(item), sizeof(item))
    while True:
        for k in range(group):
            memcpy(to + k * sizeof(item), &row, sizeof(item))
        to += group * sizeof(item)
        if to >= end:
            return


cdef inline forced_void repeat_small(
    read_alone rows, offsets_alone offsets, int64_t n_seqs, bytes_alone out, const item* unused, const int64_t group
) noexcept nogil:
    cdef int64_t n_rows = offsets[n_seqs], s = 0, k, r
    cdef bint single
    if n_rows < FEW * n_seqs:  # mostly short ones: copy runs of single rows, write others in small groups
        while s + RUN <= n_seqs and offsets[s + RUN] + SMALL <= n_rows:
            all_ones(offsets + s, &single)
            if single:
                memcpy(out + offsets[s] * sizeof(item), rows + s * sizeof(item), RUN * sizeof(item))
            else:
                for k in range(s, s + RUN):
                    repeat_group(rows, offsets, k, out, unused, SMALL)
            s += RUN
    else:
        while s < n_seqs and offsets[s + 1] + group <= n_rows:
            repeat_group(rows, offsets, s, out, unused, group)
            s += 1
    while s < n_seqs:
        for r in range(offsets[s], offsets[s + 1]):
            memcpy(out + r * sizeof(item), rows + s * sizeof(item), sizeof(item))
        s += 1


cdef inline forced_void repeat_large(
    read_alone rows, int64_t row_bytes, offsets_alone offsets, int64_t n_seqs, bytes_alone out, const int64_t chunk
) noexcept nogil:
    cdef const char* rows_end = rows + n_seqs * row_bytes
    cdef const char* source = rows
    cdef char* to = out
    cdef char* out_end = out + offsets[n_seqs] * row_bytes
    cdef char* end
    cdef bint stream = stream_pays(out, out_end - out, row_bytes)
    cdef int64_t s
    for s in range(n_seqs):
        end = to + (offsets[s + 1] - offsets[s]) * row_bytes
        while to < end:
            if stream:
                stream_copy(to, source, row_bytes)
            else:
                copy_row(to, source, row_bytes, out_end, rows_end, chunk)
            to += row_bytes
        source += row_bytes
    if stream:
        stream_end()


cdef inline forced_void repeat_by_size(
    const char* rows, int64_t row_bytes, const int64_t* offsets, int64_t n_seqs, char* out
) noexcept nogil:
    if row_bytes == 1:
        repeat_small(rows, offsets, n_seqs, out, <uint8_t*> NULL, 64)
    elif row_bytes == 2:
        repeat_small(rows, offsets, n_seqs, out, <uint16_t*> NULL, 64)
    elif row_bytes == 4:
        repeat_small(rows, offsets, n_seqs, out, <uint32_t*> NULL, 32)
    elif row_bytes == 8:
        repeat_small(rows, offsets, n_seqs, out, <uint64_t*> NULL, 16)
    elif row_bytes == 16:
        repeat_small(rows, offsets, n_seqs, out, <pair*> NULL, 8)
    elif row_bytes <= 32:
        repeat_large(rows, row_bytes, offsets, n_seqs, out, 32)
    else:
        repeat_large(rows, row_bytes, offsets, n_seqs, out, 64)


# -- in reverse order --------------------------------------------------------------------------------------------------


cdef inline forced_void reverse_group(
    read_alone rows, offsets_alone offsets, int64_t s, bytes_alone out, const int64_t size, const int64_t group
) noexcept nogil:
    """Write the rows of a sequence in whole groups of rows of `size` bytes; up to a group before it is read."""
    cdef char* to = out + offsets[s] * size
    cdef char* end = out + offsets[s + 1] * size
    cdef const char* source = rows + offsets[s + 1] * size
    cdef int64_t k
    while True:
        source -= group * size
        for k in range(group):
            memcpy(to + k * size, source + (group - 1 - k) * size, size)
        to += group * size
        if to >= end:
            return


cdef inline forced_void reverse_each(
    read_alone rows, offsets_alone offsets, int64_t s, bytes_alone out, const int64_t size
) noexcept nogil:
    cdef int64_t r, end = offsets[s] + offsets[s + 1] - 1
    for r in range(offsets[s], offsets[s + 1]):
        memcpy(out + r * size, rows + (end - r) * size, size)


cdef inline forced_void reverse_small(
    read_alone rows, offsets_alone offsets, int64_t n_seqs, bytes_alone out, const int64_t size, const int64_t group
) noexcept nogil:
    cdef int64_t n_rows = offsets[n_seqs], s = 0, k
    cdef bint single
    while s < n_seqs and offsets[s] < group:
        reverse_each(rows, offsets, s, out, size)
        s += 1
    if n_rows < FEW * n_seqs:
        while s + RUN <= n_seqs and offsets[s + RUN] + SMALL <= n_rows:
            all_ones(offsets + s, &single)
            if single:
                memcpy(out + offsets[s] * size, rows + offsets[s] * size, RUN * size)
            else:
                for k in range(s, s + RUN):
                    reverse_group(rows, offsets, k, out, size, SMALL)
            s += RUN
    else:
        while s < n_seqs and offsets[s + 1] + group <= n_rows:
            reverse_group(rows, offsets, s, out, size, group)
            s += 1
    while s < n_seqs:
        reverse_each(rows, offsets, s, out, size)
        s += 1


cdef inline forced_void reverse_large(
    read_alone rows, int64_t row_bytes, offsets_alone offsets, int64_t n_seqs, bytes_alone out, const int64_t chunk
) noexcept nogil:
    cdef const char* rows_end = rows + offsets[n_seqs] * row_bytes
    cdef const char* first
    cdef const char* source
    cdef char* to = out
    cdef char* out_end = out + offsets[n_seqs] * row_bytes
    cdef bint stream = stream_pays_for_ranges(out, out_end - out, row_bytes, offsets[n_seqs])
    cdef int64_t s
    for s in range(n_seqs):
        first, source = rows + offsets[s] * row_bytes, rows + offsets[s + 1] * row_bytes
        while source > first:
            source -= row_bytes
            if stream:
                stream_copy(to, source, row_bytes)
            else:
                copy_row(to, source, row_bytes, out_end, rows_end, chunk)
            to += row_bytes
    if stream:
        stream_end()


cdef inline forced_void reverse_by_size(
    const char* rows, int64_t row_bytes, const int64_t* offsets, int64_t n_seqs, char* out
) noexcept nogil:
    if row_bytes == 1:
        reverse_small(rows, offsets, n_seqs, out, 1, 16)
    elif row_bytes == 2:
        reverse_small(rows, offsets, n_seqs, out, 2, 32)
    elif row_bytes == 4:
        reverse_small(rows, offsets, n_seqs, out, 4, 32)
    elif row_bytes == 8:
        reverse_small(rows, offsets, n_seqs, out, 8, 32)
    elif row_bytes == 16:
        reverse_large(rows, 16, offsets, n_seqs, out, 16)
    elif row_bytes <= 32:
        reverse_large(rows, row_bytes, offsets, n_seqs, out, 32)
    else:
        reverse_large(rows, row_bytes, offsets, n_seqs, out, 64)
