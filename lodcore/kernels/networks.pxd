"""Columns of wide rows, which are sorted side by side by one sorting network: it is the same for all of them.

The network is Knuth's merge exchange (volume 3, algorithm 5.2.2 M), which sorts any number of lines.
"""

from libc.stdint cimport UINT32_MAX, int8_t, int16_t, int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from lodcore.kernels.folds cimport int_alone
from lodcore.kernels.keys cimport LINE, key, load_keys, load_lines, size_of_cell
from lodcore.kernels.simd cimport SIMD_AVX2, SIMD_AVX512, avx2_void, avx512_void, forced_void, plain_void

ctypedef fused bits:
    int8_t
    int16_t
    int32_t
    int64_t


cdef inline forced_void exchange_keys_and_rows(int_alone low, int_alone high) noexcept nogil:
    """Sort two lines, lane by lane, and their rows with them; equal keys are ordered by their rows."""
    cdef int64_t one, other, row, other_row, swap, keys, rows
    cdef int c
    for c in range(LINE):
        one, other, row, other_row = low[c], high[c], low[c + LINE], high[c + LINE]
        swap = -<int64_t> ((one > other) | ((one == other) & (row > other_row)))
        keys = (one ^ other) & swap
        rows = (row ^ other_row) & swap
        low[c] = one ^ keys
        high[c] = other ^ keys
        low[c + LINE] = row ^ rows
        high[c + LINE] = other_row ^ rows


cdef inline forced_void exchange_packed(int_alone low, int_alone high) noexcept nogil:
    """Sort two lines where the row is the lower half of a number, and its key the upper half."""
    cdef int64_t one, other
    cdef int c
    for c in range(LINE):
        one, other = low[c], high[c]
        low[c] = one if one < other else other
        high[c] = other if one < other else one


cdef inline forced_void sort_lines(int64_t* lines, int64_t count, const int64_t size) noexcept nogil:
    """Sort `count` lines of `size` numbers, which is 2 * LINE or LINE."""
    cdef int64_t most = 1, p, q, distance, first, run, stop, k
    while 2 * most < count:
        most *= 2
    p = most
    while p > 0:
        distance, first, q = p, 0, most
        while True:
            run = first
            while run + distance < count:
                stop = run + p if run + p < count - distance else count - distance
                for k in range(run, stop):
                    if size == LINE:
                        exchange_packed(lines + k * size, lines + (k + distance) * size)
                    else:
                        exchange_keys_and_rows(lines + k * size, lines + (k + distance) * size)
                run += 2 * p
            if q == p:
                break
            distance, first = q - p, p
            q //= 2
        p //= 2


cdef inline forced_void write_line(
    const char* rows, const int64_t* taken, int64_t columns, int64_t step, char* to, bits one
) noexcept nogil:
    cdef int64_t c
    for c in range(columns):
        memcpy(to + c * sizeof(bits), rows + (taken[c] & UINT32_MAX) * step + c * sizeof(bits), sizeof(bits))


cdef inline forced_void sort_beside(
    const char* rows, int kind, int64_t length, int64_t count, int64_t width, int64_t columns, key flip, char* to,
    int64_t* positions, int64_t* lines
) noexcept nogil:
    """Sort some columns of a sequence, at most LINE: `lines` has room for them and their rows."""
    cdef key keys[LINE]
    cdef int64_t size = size_of_cell(kind), step = size * width, line = LINE, r, c
    cdef int64_t* here
    if key is int64_t:
        line = 2 * LINE
    for c in range(LINE):
        keys[c] = 0
    for r in range(length):
        here = lines + r * line
        if key is int64_t:
            load_keys(rows + r * step, columns, size, kind, flip, keys)
            for c in range(LINE):
                here[c] = keys[c]
                here[c + LINE] = r
        elif columns > LINE // 2:  # of fewer columns, to load what was stored in parts would take longer
            load_keys(rows + r * step, columns, size, kind, flip, keys)
            for c in range(LINE):
                here[c] = <int64_t> (<uint64_t> keys[c] << 32 | <uint64_t> r)
        else:
            load_lines(rows + r * step, columns, kind, flip, r, here)
            for c in range(columns, LINE):
                here[c] = 0
    if key is int64_t:
        sort_lines(lines, length, 2 * LINE)
    else:
        sort_lines(lines, length, LINE)
    for r in range(count):
        here = lines + r * line + line - LINE
        if size == 1:
            write_line(rows, here, columns, step, to + r * step, <int8_t> 0)
        elif size == 2:
            write_line(rows, here, columns, step, to + r * step, <int16_t> 0)
        elif size == 4:
            write_line(rows, here, columns, step, to + r * step, <int32_t> 0)
        else:
            write_line(rows, here, columns, step, to + r * step, <int64_t> 0)
        if positions != NULL:
            for c in range(columns):
                positions[r * width + c] = here[c] & UINT32_MAX


cdef inline avx512_void sort_beside_avx512(
    const char* rows, int kind, int64_t length, int64_t count, int64_t width, int64_t columns, key flip, char* to,
    int64_t* positions, int64_t* lines
) noexcept nogil:
    sort_beside(rows, kind, length, count, width, columns, flip, to, positions, lines)


cdef inline avx2_void sort_beside_avx2(
    const char* rows, int kind, int64_t length, int64_t count, int64_t width, int64_t columns, key flip, char* to,
    int64_t* positions, int64_t* lines
) noexcept nogil:
    sort_beside(rows, kind, length, count, width, columns, flip, to, positions, lines)


cdef inline plain_void sort_beside_plain(
    const char* rows, int kind, int64_t length, int64_t count, int64_t width, int64_t columns, key flip, char* to,
    int64_t* positions, int64_t* lines
) noexcept nogil:
    sort_beside(rows, kind, length, count, width, columns, flip, to, positions, lines)


cdef inline void sort_columns(
    int level, const char* rows, int kind, int64_t length, int64_t count, int64_t width, int64_t columns, key flip,
    char* to, int64_t* positions, int64_t* lines
) noexcept nogil:
    if level == SIMD_AVX512:
        sort_beside_avx512(rows, kind, length, count, width, columns, flip, to, positions, lines)
    elif level == SIMD_AVX2:
        sort_beside_avx2(rows, kind, length, count, width, columns, flip, to, positions, lines)
    else:
        sort_beside_plain(rows, kind, length, count, width, columns, flip, to, positions, lines)
