"""Keys of cells: integers of 32 or 64 bits with the same order, by which cells are sorted.

nan comes after all others, -0 and 0 are equal, and `flip`, all bits or none, reverses the order. A cell of less than
four bytes has a key of 32 bits.
"""

from libc.stdint cimport INT16_MAX, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, int8_t, int16_t, int32_t, int64_t
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from lodcore.kernels.simd cimport SIMD_AVX2, SIMD_AVX512, avx2_void, avx512_void, forced_void, plain_void

cdef enum:  # what the bits of a cell mean
    CELL_UINT8
    CELL_UINT16
    CELL_UINT32
    CELL_INT8
    CELL_INT16
    CELL_INT32
    CELL_HALF
    CELL_FLOAT
    CELL_UINT64  # from here on, keys have 64 bits
    CELL_INT64
    CELL_DOUBLE
    KINDS

cdef enum:
    PICKED = 32
    LINE = 16  # columns that are sorted side by side

ctypedef fused key:
    int32_t
    int64_t

ctypedef fused cell:
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    int8_t
    int16_t
    int32_t
    int64_t


cdef inline int64_t size_of_cell(int kind) noexcept nogil:
    if kind >= CELL_UINT64:
        return 8
    if kind == CELL_UINT32 or kind == CELL_INT32 or kind == CELL_FLOAT:
        return 4
    return 1 if kind == CELL_UINT8 or kind == CELL_INT8 else 2


# -- from cells to keys ------------------------------------------------------------------------------------------------


cdef inline forced_void key_of_float(key x, key highest, key infinite, key* out) noexcept nogil:
    """Of negative numbers, the order of the bits is reversed.

    The key of -0 would be -1, which no other number has; nan becomes the greatest key.
    """
    cdef key value = x ^ (highest if x < 0 else 0)
    cdef key is_nan = -<key> ((x & highest) > infinite)
    value += <key> (value == -1)
    out[0] = (value & ~is_nan) | (highest & is_nan)


cdef inline forced_void ends_of(key* lowest, key* highest, key* infinite, cell unused) noexcept nogil:
    """What is added to unsigned keys, the greatest key of a floating-point number, and that of infinity."""
    lowest[0], highest[0], infinite[0] = 0, INT16_MAX, 0x7C00
    if cell is int32_t:
        highest[0], infinite[0] = INT32_MAX, 0x7F800000
    elif cell is uint32_t:
        lowest[0] = INT32_MIN
    elif cell is int64_t and key is int64_t:
        highest[0], infinite[0] = INT64_MAX, 0x7FF0000000000000
    elif cell is uint64_t and key is int64_t:
        lowest[0] = INT64_MIN


cdef inline forced_void load_cells(
    const char* x, int64_t length, int64_t step, const bint floating, key flip, key* keys, int64_t* line, int64_t row,
    cell one
) noexcept nogil:
    cdef key lowest, highest, infinite, value
    cdef int64_t r
    ends_of(&lowest, &highest, &infinite, one)
    for r in range(length):
        memcpy(&one, x + r * step, sizeof(cell))
        value = <key> one
        if floating:
            key_of_float(value, highest, infinite, &value)
        value = value ^ lowest ^ flip
        if line == NULL:
            keys[r] = value
        else:
            line[r] = <int64_t> (<uint64_t> value << 32 | <uint64_t> row)


cdef inline forced_void load_either(
    const char* x, int64_t length, int64_t step, const bint floating, key flip, key* keys, cell one
) noexcept nogil:
    if step == sizeof(cell):  # a constant, for which the compiler uses vectors
        load_cells(x, length, sizeof(cell), floating, flip, keys, NULL, 0, one)
    else:
        load_cells(x, length, step, floating, flip, keys, NULL, 0, one)


cdef inline forced_void load_line(
    const char* x, int64_t columns, const bint floating, int32_t flip, int64_t row, int64_t* line, cell one
) noexcept nogil:
    cdef int32_t* nothing = NULL
    load_cells(x, columns, sizeof(cell), floating, flip, nothing, line, row, one)


cdef inline forced_void load_keys(
    const char* x, int64_t length, int64_t step, int kind, key flip, key* keys
) noexcept nogil:
    if key is int64_t:
        if kind == CELL_UINT64:
            load_either(x, length, step, False, flip, keys, <uint64_t> 0)
        elif kind == CELL_INT64:
            load_either(x, length, step, False, flip, keys, <int64_t> 0)
        else:
            load_either(x, length, step, True, flip, keys, <int64_t> 0)
    elif kind == CELL_UINT8:
        load_either(x, length, step, False, flip, keys, <uint8_t> 0)
    elif kind == CELL_UINT16:
        load_either(x, length, step, False, flip, keys, <uint16_t> 0)
    elif kind == CELL_UINT32:
        load_either(x, length, step, False, flip, keys, <uint32_t> 0)
    elif kind == CELL_INT8:
        load_either(x, length, step, False, flip, keys, <int8_t> 0)
    elif kind == CELL_INT16:
        load_either(x, length, step, False, flip, keys, <int16_t> 0)
    elif kind == CELL_INT32:
        load_either(x, length, step, False, flip, keys, <int32_t> 0)
    elif kind == CELL_HALF:
        load_either(x, length, step, True, flip, keys, <int16_t> 0)
    else:
        load_either(x, length, step, True, flip, keys, <int32_t> 0)


cdef inline forced_void load_lines(
    const char* x, int64_t columns, int kind, int32_t flip, int64_t row, int64_t* line
) noexcept nogil:
    """Write the keys of a row beside each other, with the row as their lower half."""
    if kind == CELL_UINT8:
        load_line(x, columns, False, flip, row, line, <uint8_t> 0)
    elif kind == CELL_UINT16:
        load_line(x, columns, False, flip, row, line, <uint16_t> 0)
    elif kind == CELL_UINT32:
        load_line(x, columns, False, flip, row, line, <uint32_t> 0)
    elif kind == CELL_INT8:
        load_line(x, columns, False, flip, row, line, <int8_t> 0)
    elif kind == CELL_INT16:
        load_line(x, columns, False, flip, row, line, <int16_t> 0)
    elif kind == CELL_INT32:
        load_line(x, columns, False, flip, row, line, <int32_t> 0)
    elif kind == CELL_HALF:
        load_line(x, columns, True, flip, row, line, <int16_t> 0)
    else:
        load_line(x, columns, True, flip, row, line, <int32_t> 0)


cdef inline avx512_void take_keys_avx512(
    const char* x, int64_t length, int64_t step, int kind, key flip, key* keys
) noexcept nogil:
    load_keys(x, length, step, kind, flip, keys)


cdef inline avx2_void take_keys_avx2(
    const char* x, int64_t length, int64_t step, int kind, key flip, key* keys
) noexcept nogil:
    load_keys(x, length, step, kind, flip, keys)


cdef inline plain_void take_keys_plain(
    const char* x, int64_t length, int64_t step, int kind, key flip, key* keys
) noexcept nogil:
    load_keys(x, length, step, kind, flip, keys)


cdef inline void take_keys(
    int level, const char* x, int64_t length, int64_t step, int kind, key flip, key* keys
) noexcept nogil:
    """Write the keys of a column, whose cells are `step` bytes apart."""
    if level == SIMD_AVX512:
        take_keys_avx512(x, length, step, kind, flip, keys)
    elif level == SIMD_AVX2:
        take_keys_avx2(x, length, step, kind, flip, keys)
    else:
        take_keys_plain(x, length, step, kind, flip, keys)


# -- from keys to cells ------------------------------------------------------------------------------------------------


cdef inline forced_void store_cells(
    const key* sorted_keys, int64_t count, int64_t step, const bint floating, key flip, char* to, cell one
) noexcept nogil:
    cdef key lowest, highest, infinite, value
    cdef int64_t r
    ends_of(&lowest, &highest, &infinite, one)
    for r in range(count):
        value = sorted_keys[r] ^ flip
        if floating:
            value = value ^ highest if value < 0 else value
        one = <cell> (value ^ lowest)
        memcpy(to + r * step, &one, sizeof(cell))


cdef inline void write_keys(
    const key* sorted_keys, int64_t count, int64_t step, int kind, key flip, char* to
) noexcept nogil:
    """Convert keys to cells: the inverse of `load_keys`."""
    if key is int64_t:
        if kind == CELL_UINT64:
            store_cells(sorted_keys, count, step, False, flip, to, <uint64_t> 0)
        elif kind == CELL_INT64:
            store_cells(sorted_keys, count, step, False, flip, to, <int64_t> 0)
        else:
            store_cells(sorted_keys, count, step, True, flip, to, <int64_t> 0)
    elif kind == CELL_UINT8 or kind == CELL_INT8:
        store_cells(sorted_keys, count, step, False, flip, to, <int8_t> 0)
    elif kind == CELL_UINT16 or kind == CELL_INT16:
        store_cells(sorted_keys, count, step, False, flip, to, <int16_t> 0)
    elif kind == CELL_UINT32:
        store_cells(sorted_keys, count, step, False, flip, to, <uint32_t> 0)
    elif kind == CELL_INT32:
        store_cells(sorted_keys, count, step, False, flip, to, <int32_t> 0)
    elif kind == CELL_HALF:
        store_cells(sorted_keys, count, step, True, flip, to, <int16_t> 0)
    else:
        store_cells(sorted_keys, count, step, True, flip, to, <int32_t> 0)


# -- the order of a few keys -------------------------------------------------------------------------------------------


cdef inline void rank_plain(const key* keys, int length, int64_t* order) noexcept nogil:
    """Order the rows by counting the keys that come before each."""
    cdef int own, row, before
    for own in range(length):
        before = 0
        for row in range(own):
            before += keys[row] <= keys[own]
        for row in range(own + 1, length):
            before += keys[row] < keys[own]
        order[before] = own


cdef inline forced_void insert(key one, int64_t r, int64_t k, key* found, int64_t* order) noexcept nogil:
    """Insert a key among the k that were found, after those that are equal."""
    while k > 0 and found[k - 1] > one:
        found[k] = found[k - 1]
        order[k] = order[k - 1]
        k -= 1
    found[k] = one
    order[k] = r


cdef inline plain_void pick(const key* keys, int64_t length, int64_t count, int64_t* order) noexcept nogil:
    """Select the rows of the `count` least keys, in order."""
    cdef key found[PICKED]
    cdef key last
    cdef int64_t r
    for r in range(count):
        insert(keys[r], r, r, found, order)
    last = found[count - 1]
    for r in range(count, length):
        if keys[r] < last:
            insert(keys[r], r, count - 1, found, order)
            last = found[count - 1]
