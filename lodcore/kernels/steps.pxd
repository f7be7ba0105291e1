"""Rows in the order of sequences, moved to the time-major order of steps, and back.

Sequences are in a given order, the longest first. `places[t]` is the position of the next row of step t, and advances.
A block of sequences is traversed step by step, so that both sides stay in the cache; a sequence that ends leaves the
block. Both sides are fetched a block ahead: narrow rows whole, since each sequence and each step begins on lines of its
own; of wide rows, only the first lines.
"""

from libc.stdint cimport int64_t
from libc.string cimport memcpy

from lodcore.kernels.simd cimport forced_void, prefetch, prefetch_to_write

cdef enum:
    BLOCK = 16  # sequences
    AHEAD = 8
    LINE = 64  # bytes
    MOST_NARROW = 16 * LINE
    MOST_WIDE = 2 * LINE


cdef inline forced_void fetch(const char* place, const bint to_write) noexcept nogil:
    if to_write:
        prefetch_to_write(place)
    else:
        prefetch(place)


cdef inline forced_void fetch_rows(const char* place, int64_t size, const bint to_write) noexcept nogil:
    cdef int64_t at = 0
    while at < size:
        fetch(place + at, to_write)
        at += LINE
    fetch(place + size - 1, to_write)


cdef inline forced_void move_steps(
    char* rows, const int64_t size, const int64_t* offsets, const int64_t* order, int64_t n_seqs, char** places,
    const bint narrow, const bint back
) noexcept nogil:
    """Move rows of `size` bytes to the places of their steps, or back; narrow ones have a constant size."""
    cdef char* sequence[BLOCK]
    cdef int64_t left[BLOCK]
    cdef const int64_t* following
    cdef char* at
    cdef int64_t stride = BLOCK * size, rows_left = offsets[n_seqs], most = MOST_NARROW if narrow else MOST_WIDE
    cdef int64_t first = 0, s, length, bytes, active, kept, done, run, t, b, k, step
    while rows_left > 0:  # empty ones are at the end
        active = 0
        for k in range(first, first + BLOCK if first + BLOCK < n_seqs else n_seqs):
            s = order[k]
            length = offsets[s + 1] - offsets[s]
            if k + 2 * BLOCK < n_seqs:  # the next blocks' rows, and where they begin
                following = offsets + order[k + BLOCK]
                prefetch(offsets + order[k + 2 * BLOCK])
                bytes = (following[1] - following[0]) * size
                fetch_rows(rows + following[0] * size, bytes if bytes < most else most, back)
            if length > 0:
                sequence[active] = rows + offsets[s] * size
                left[active] = length
                active += 1
                rows_left -= length
        step, done = 0, 0
        while active > 0:
            run = left[0]
            for k in range(1, active):
                run = left[k] if left[k] < run else run
            for t in range(step, step + run):
                at = places[t]
                if narrow:
                    b = 0
                    while b < stride:
                        fetch(at + stride + b + (stride if stride < LINE else LINE) - 1, not back)
                        b += LINE
                for k in range(active):
                    if not narrow and k + AHEAD < active:
                        prefetch(sequence[k + AHEAD] + done)
                    if back:
                        memcpy(sequence[k] + done, at, size)
                    else:
                        memcpy(at, sequence[k] + done, size)
                    at += size
                places[t] = at
                done += size
            step += run
            kept = 0
            for k in range(active):
                if left[k] > run:
                    sequence[kept] = sequence[k]
                    left[kept] = left[k] - run
                    kept += 1
            active = kept
        first += BLOCK


cdef inline forced_void move_by_size(
    char* rows, int64_t row_bytes, const int64_t* offsets, const int64_t* order, int64_t n_seqs, char** places,
    const bint back
) noexcept nogil:
    if row_bytes == 1:
        move_steps(rows, 1, offsets, order, n_seqs, places, True, back)
    elif row_bytes == 2:
        move_steps(rows, 2, offsets, order, n_seqs, places, True, back)
    elif row_bytes == 4:
        move_steps(rows, 4, offsets, order, n_seqs, places, True, back)
    elif row_bytes == 8:
        move_steps(rows, 8, offsets, order, n_seqs, places, True, back)
    elif row_bytes == 16:
        move_steps(rows, 16, offsets, order, n_seqs, places, True, back)
    elif row_bytes == 32:
        move_steps(rows, 32, offsets, order, n_seqs, places, True, back)
    elif row_bytes == 64:
        move_steps(rows, 64, offsets, order, n_seqs, places, True, back)
    else:
        move_steps(rows, row_bytes, offsets, order, n_seqs, places, False, back)
