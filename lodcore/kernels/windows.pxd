"""Windows of rows as opaque bytes, copied side by side.

A batch is processed as one long sequence, and windows that reach over the ends of a sequence are corrected afterwards.
"""

from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from lodcore.kernels.simd cimport forced_void

cdef enum:
    LINE = 64  # bytes

ctypedef fused cell:
    uint16_t
    uint32_t
    uint64_t

ctypedef struct Windows:
    const char* rows
    int64_t n_rows, row_bytes
    const int64_t* offsets
    int64_t n_seqs
    const char* padding  # no row: zeros; one row: everywhere; else the rows before a sequence, then after it
    int64_t n_padding, start, length, first, count
    char* out


cdef inline int64_t between(int64_t low, int64_t value, int64_t high) noexcept nogil:
    return low if value < low else high if value > high else value


cdef inline int64_t sequence_of(const int64_t* offsets, int64_t n_seqs, int64_t row) noexcept nogil:
    """Return the sequence that contains a row, which exists."""
    cdef int64_t low = 0, high = n_seqs, middle
    while high - low > 1:
        middle = low + (high - low) // 2
        if offsets[middle] <= row:
            low = middle
        else:
            high = middle
    return low


# -- padding -----------------------------------------------------------------------------------------------------------


cdef inline void repeat_cell(const char* row, int64_t count, char* to, cell* unused) noexcept nogil:
    cdef cell value = 0
    cdef int64_t k
    if row != NULL:
        memcpy(&value, row, sizeof(cell))
    for k in range(count):
        memcpy(to + k * sizeof(cell), &value, sizeof(cell))


cdef inline void repeat_row(const char* row, int64_t row_bytes, int64_t count, char* to) noexcept nogil:
    """Write one row `count` times; zeros if it is NULL."""
    cdef int64_t k
    if row_bytes == 2:
        repeat_cell(row, count, to, <uint16_t*> NULL)
    elif row_bytes == 4:
        repeat_cell(row, count, to, <uint32_t*> NULL)
    elif row_bytes == 8:
        repeat_cell(row, count, to, <uint64_t*> NULL)
    elif row == NULL:
        memset(to, 0, count * row_bytes)
    else:
        for k in range(count):
            memcpy(to + k * row_bytes, row, row_bytes)


cdef inline void copy_padding(const Windows* w, int64_t start, int64_t count, char* to) noexcept nogil:
    """Write `count` rows of padding, starting with number `start`."""
    if w.n_padding > 1:
        memcpy(to, w.padding + start * w.row_bytes, count * w.row_bytes)
    else:
        repeat_row(w.padding if w.n_padding else NULL, w.row_bytes, count, to)


cdef inline void pad_windows(const Windows* w, int64_t sequence, int64_t a, int64_t b) noexcept nogil:
    """Write padding into the windows at the rows from a to b that reach over the ends of a sequence."""
    cdef int64_t begin = w.offsets[sequence], end = w.offsets[sequence + 1], start = w.start, length = w.length
    cdef int64_t before = -start if start < 0 else 0, width = length * w.row_bytes
    cdef int64_t low = begin if begin > a else a, high = end if end < b else b, t, missing, at
    cdef int64_t stop = begin - start if begin - start < high else high, tail = end - start - length + 1
    for t in range(low, stop):
        missing = between(0, begin - t - start, length)
        copy_padding(w, before + t + start - begin, missing, w.out + (t - w.first) * width)
    for t in range(tail if tail > low else low, high):
        missing = between(0, t + start + length - end, length)
        at = length - missing
        copy_padding(w, before + t + start + at - end, missing, w.out + (t - w.first) * width + at * w.row_bytes)


# -- rows --------------------------------------------------------------------------------------------------------------


cdef inline forced_void copy_chunks(
    const char* source, int64_t left, int64_t step, int64_t width, int64_t count, char* to, int64_t room,
    const int64_t chunk, const int64_t chunks, int64_t* done
) noexcept nogil:
    """Copy windows in whole chunks: bytes past the end of a window are overwritten by the next one."""
    cdef int64_t reach = chunk * chunks, c, _
    cdef int64_t safe_in = 0 if left < reach else (left - reach) // step + 1
    cdef int64_t safe_out = 0 if room < reach else (room - reach) // width + 1
    cdef int64_t safe = safe_in if safe_in < safe_out else safe_out
    safe = safe if safe < count else count
    for _ in range(safe):
        for c in range(chunks):
            memcpy(to + c * chunk, source + c * chunk, chunk)
        to += width
        source += step
    done[0] = safe


cdef inline forced_void copy_whole(
    const char* source, int64_t left, int64_t step, int64_t width, int64_t count, char* to, int64_t room
) noexcept nogil:
    """Copy windows within the batch; `left` bytes may be read, and `room` bytes written."""
    cdef int64_t done = 0
    if width <= 16:
        copy_chunks(source, left, step, width, count, to, room, 16, 1, &done)
    elif width <= 32:
        copy_chunks(source, left, step, width, count, to, room, 32, 1, &done)
    elif width <= LINE:
        copy_chunks(source, left, step, width, count, to, room, LINE, 1, &done)
    elif width <= 16 * LINE:
        copy_chunks(source, left, step, width, count, to, room, LINE, (width + LINE - 1) // LINE, &done)
    while done < count:
        memcpy(to + done * width, source + done * step, width)
        done += 1


cdef inline void copy_part(const Windows* w, int64_t t) noexcept nogil:
    """Copy the part of the window at row t that lies within the batch."""
    cdef int64_t low = between(0, t + w.start, w.n_rows), high = between(0, t + w.start + w.length, w.n_rows)
    if low < high:
        memcpy(w.out + ((t - w.first) * w.length + low - t - w.start) * w.row_bytes, w.rows + low * w.row_bytes,
               (high - low) * w.row_bytes)
