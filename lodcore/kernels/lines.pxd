"""Sequences padded to lines of one length, and back. The caller has checked the raw pointers.

Short lines are copied in whole chunks: bytes past the end of a sequence are overwritten by what follows, and where they
could leave a buffer, exactly the bytes of the sequence are copied.
"""

from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memcpy, memset

from lodcore.kernels.rows cimport (
    CHUNK, SHORT, bytes_alone, copy_bytes, copy_chunks, copy_whole, offsets_alone, read_alone, stream_copy, stream_end,
    stream_pays, stream_pays_for_ranges,
)
from lodcore.kernels.simd cimport forced_void, prefetch, read_once

cdef enum:
    AHEAD = 8  # lines ahead, of which the beginning is fetched

cdef extern from "stream.h" nogil:
    void stream_fill(char* to, const char* chunk, int64_t size)

# The padding: a row, and the chunk that repeats it.
ctypedef struct Filling:
    const char* row  # NULL for zero bytes
    int64_t row_bytes
    bint even  # all bytes are the same
    bint regular  # each `chunk` starts at a row
    char chunk[CHUNK]


cdef inline void prepare(Filling* fill, const char* row, int64_t row_bytes) noexcept nogil:
    cdef int64_t k
    cdef bint even = True
    fill.row, fill.row_bytes, fill.even, fill.regular = row, row_bytes, True, True
    memset(fill.chunk, 0, CHUNK)
    if row == NULL:
        return
    for k in range(1, row_bytes):
        even &= row[k] == row[0]
    fill.even, fill.regular = even, even or (row_bytes <= CHUNK and CHUNK % row_bytes == 0)
    if even:
        memset(fill.chunk, row[0], CHUNK)
    elif fill.regular:
        for k in range(CHUNK):
            fill.chunk[k] = row[k % row_bytes]


cdef inline void fill_gap(char* out, int64_t size, const Filling* fill) noexcept nogil:
    """Fill a gap of any size that starts with a whole row, by doubling what is there."""
    cdef int64_t done = size if size < fill.row_bytes else fill.row_bytes, more
    if fill.even:
        memset(out, fill.chunk[0], size)
        return
    memcpy(out, fill.row, done)
    while done < size:
        more = size - done if size - done < done else done
        memcpy(out + done, out, more)
        done += more


cdef inline forced_void copy_short(char* to, const char* source, int64_t line) noexcept nogil:
    """Copy the length of a line, so that there is no length to predict."""
    cdef int64_t k = 0
    while k < line:
        memcpy(to + k, source + k, CHUNK // 2)
        k += CHUNK // 2


cdef inline forced_void fill_chunks(char* to, int64_t size, const char* chunk) noexcept nogil:
    cdef int64_t k = 0
    while k < size:
        memcpy(to + k, chunk, CHUNK)
        k += CHUNK


cdef inline forced_void pad_each(
    read_alone rows, int64_t row_bytes, offsets_alone offsets, int64_t n_seqs, const char* row, int64_t line,
    const bint left, bytes_alone out
) noexcept nogil:
    cdef Filling fill
    cdef const char* rows_end = rows + offsets[n_seqs] * row_bytes
    cdef char* out_end = out + n_seqs * line
    cdef char* place
    cdef char* gap
    cdef int64_t s, size, rest
    cdef bint stream, fits
    prepare(&fill, row, row_bytes)
    if rows_end - rows == out_end - out:  # no gaps
        copy_whole(out, rows, out_end - out)
        return
    stream = fill.regular and stream_pays(out, n_seqs * line, row_bytes)
    for s in range(n_seqs):
        size = (offsets[s + 1] - offsets[s]) * row_bytes
        rest = line - size
        place, gap = out + rest if left else out, out if left else out + size
        fits = fill.regular and rows_end - rows >= line + CHUNK and out_end - out >= 2 * line + CHUNK
        if stream:
            stream_copy(place, rows, size)
            stream_fill(gap, fill.chunk, rest)
        elif fits and line <= SHORT // 2:  # the part that comes first is overwritten by the other
            if left:
                fill_chunks(gap, line, fill.chunk)
            copy_short(place, rows, line)
            if not left:
                fill_chunks(gap, line, fill.chunk)
        elif fits and line <= SHORT:
            if left:
                fill_chunks(gap, rest, fill.chunk)
            copy_chunks(place, rows, size)
            if not left:
                fill_chunks(gap, rest, fill.chunk)
        else:
            copy_bytes(place, rows, size)
            fill_gap(gap, rest, &fill)
        rows += size
        out += line
    if stream:
        stream_end()


cdef inline forced_void unpad_each(
    read_alone padded, int64_t row_bytes, offsets_alone offsets, int64_t n_seqs, int64_t line, const bint left,
    bytes_alone out
) noexcept nogil:
    cdef const char* begin = padded
    cdef const char* padded_end = padded + n_seqs * line
    cdef const char* source
    cdef char* to = out
    cdef char* out_end = out + offsets[n_seqs] * row_bytes
    cdef int64_t s, size
    cdef uintptr_t ahead
    cdef bint stream
    if padded_end - padded == out_end - out:  # no gaps
        copy_whole(out, padded, out_end - out)
        return
    stream = stream_pays_for_ranges(out, out_end - out, row_bytes, n_seqs)
    for s in range(n_seqs):
        size = (offsets[s + 1] - offsets[s]) * row_bytes
        source = begin + line - size if left else begin
        if line > SHORT:  # of which little is read: the processor does not foresee where the next ones begin
            ahead = <uintptr_t> source + <uintptr_t> (AHEAD * line)
            prefetch(<const void*> ahead)
            prefetch(<const void*> (ahead + CHUNK))
        if stream:
            stream_copy(to, source, size)
        elif line <= SHORT // 2 and padded_end - source >= line + CHUNK and out_end - to >= line + CHUNK:
            copy_short(to, source, line)
        elif size <= SHORT and padded_end - source >= size + CHUNK and out_end - to >= size + CHUNK:
            copy_chunks(to, source, size)
        else:
            copy_bytes(to, source, size)
        to += size
        begin += line
    if stream:
        stream_end()


cdef inline void repeat_in_lines(
    const int64_t* offsets, int64_t n_seqs, int64_t row_bytes, int64_t line, bint left, char* out
) noexcept nogil:
    """Fill the rest of each line that has a row with its last row, or on the left with its first row."""
    cdef Filling fill
    cdef int64_t s, size, rest
    for s in range(n_seqs):
        size = (offsets[s + 1] - offsets[s]) * row_bytes
        rest = line - size
        if size and rest:
            prepare(&fill, out + rest if left else out + size - row_bytes, row_bytes)
            fill_gap(out if left else out + size, rest, &fill)
        out += line


cdef inline int64_t mask_lines(
    const int64_t* lengths, int64_t n, int64_t padded, const char* one, int64_t item_bytes, char* out
) noexcept nogil:
    """Write one item for each position before the length, zero bytes for the others.

    Return the first negative length, or -1.
    """
    cdef Filling ones
    cdef int64_t s, length
    prepare(&ones, one, item_bytes)
    for s in range(n):
        length = read_once(lengths + s)
        if length < 0:
            return s
        if out != NULL:
            length = length if length < padded else padded
            fill_gap(out, length * item_bytes, &ones)
            memset(out + length * item_bytes, 0, (padded - length) * item_bytes)
            out += padded * item_bytes
    return -1
