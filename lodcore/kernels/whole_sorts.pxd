"""Columns of many cells: sorted by NumPy, as cells, as keys, or as keys that are combined with their rows."""

from libc.stdint cimport INT16_MAX, INT32_MAX, INT64_MAX, INT64_MIN, UINT32_MAX, int32_t, int64_t, uint32_t, uint64_t
from libc.stdint cimport uintptr_t
from libc.string cimport memcpy

from lodcore.kernels.keys cimport CELL_DOUBLE, CELL_FLOAT, CELL_HALF, CELL_INT32, CELL_INT64
from lodcore.kernels.keys cimport key, size_of_cell, take_keys, write_keys
from lodcore.kernels.simd cimport SIMD_AVX2, SIMD_AVX512, avx2_void, avx512_void, forced_void, simd_level

cdef extern from *:
    """
    typedef int (*numpy_sort)(void *start, Py_ssize_t count, void *array);
    typedef struct {
        numpy_sort sort;
        void *array;
    } whole_sort;
    static whole_sort sorts[11]; /* of each kind; sort.pyx looks them up */
    """
    ctypedef int (*numpy_sort)(void* start, Py_ssize_t count, void* array) noexcept nogil
    ctypedef struct whole_sort:
        numpy_sort sort  # NULL for short cells: sorting them as keys is faster
        void* array  # an array of the dtype to sort
    whole_sort[11] sorts

cdef enum:
    ALIKE = 64

ctypedef fused word:
    uint32_t
    uint64_t


cdef inline void sort_whole(int kind, void* cells, int64_t count) noexcept nogil:
    sorts[kind].sort(cells, <Py_ssize_t> count, sorts[kind].array)


cdef inline void sort_column(
    const char* x, int64_t length, int64_t count, int64_t step, int kind, bint descending, char* spare, char* to,
    word one
) noexcept nogil:
    """Sort a column and write its first cells; zeros and nans are in any order. `spare` has room for the column."""
    cdef int64_t size = sizeof(word), r, low = 0, high = length - 1
    cdef bint in_place = step == size and count == length and <uintptr_t> to % sizeof(word) == 0
    cdef word* cells = <word*> (to if in_place else spare)
    if step == size:
        memcpy(cells, x, length * size)
    else:
        for r in range(length):
            memcpy(cells + r, x + r * step, sizeof(word))
    sort_whole(kind, cells, length)
    if descending:
        while low < high:
            one = cells[low]
            cells[low] = cells[high]
            cells[high] = one
            low += 1
            high -= 1
    if <char*> cells != to:
        for r in range(count):
            memcpy(to + r * step, cells + r, sizeof(word))


cdef inline void put_alike(
    const char* x, int64_t length, int64_t step, int kind, key flip, key alike, int64_t count, char* to
) noexcept nogil:
    """Write cells with equal keys, zeros or nans, which may differ, to their sorted places in the order of the rows."""
    cdef key some[ALIKE]
    cdef int64_t at = 0, end = count, middle, r = 0, here, k, size = size_of_cell(kind)
    cdef int level = simd_level()
    while at < end:
        middle = at + (end - at) // 2
        take_keys(level, to + middle * step, 1, step, kind, flip, some)
        if some[0] < (alike ^ flip):
            at = middle + 1
        else:
            end = middle
    if at < count:
        take_keys(level, to + at * step, 1, step, kind, flip, some)
    if at == count or some[0] != (alike ^ flip):
        return
    while r < length:
        here = length - r if length - r < ALIKE else ALIKE
        take_keys(level, x + r * step, here, step, kind, flip, some)
        for k in range(here):
            if some[k] == (alike ^ flip) and at < count:
                memcpy(to + at * step, x + (r + k) * step, size)
                at += 1
        r += ALIKE


cdef inline void sort_alone(
    const char* x, int64_t length, int64_t count, int64_t step, int kind, bint descending, key* keys, char* to
) noexcept nogil:
    """Sort a column, and keep its first cells, without their rows."""
    cdef key flip = -1 if descending else 0, highest = INT16_MAX
    cdef int level = simd_level()
    if kind == CELL_FLOAT:
        highest = INT32_MAX
    if key is int64_t:
        highest = INT64_MAX
    if sorts[kind].sort != NULL:
        if key is int32_t:
            sort_column(x, length, count, step, kind, descending, <char*> keys, to, <uint32_t> 0)
        else:
            sort_column(x, length, count, step, kind, descending, <char*> keys, to, <uint64_t> 0)
    else:
        take_keys(level, x, length, step, kind, flip, keys)
        if key is int32_t:
            sort_whole(CELL_INT32, keys, length)
        else:
            sort_whole(CELL_INT64, keys, length)
        write_keys(keys, count, step, kind, flip, to)
    if kind == CELL_HALF or kind == CELL_FLOAT or kind == CELL_DOUBLE:
        put_alike(x, length, step, kind, flip, <key> 0, count, to)
        put_alike(x, length, step, kind, flip, highest, count, to)


# -- rows of many cells in the order of their keys ---------------------------------------------------------------------


cdef inline forced_void pack_with_rows(const int32_t* keys, int64_t length, int64_t* packed) noexcept nogil:
    """Combine each key with its row, so that one integer is sorted."""
    cdef int64_t r
    for r in range(length):
        packed[r] = <int64_t> (<uint64_t> <uint32_t> keys[r] << 32 | <uint64_t> r)


cdef inline avx512_void pack_with_rows_avx512(const int32_t* keys, int64_t length, int64_t* packed) noexcept nogil:
    pack_with_rows(keys, length, packed)


cdef inline avx2_void pack_with_rows_avx2(const int32_t* keys, int64_t length, int64_t* packed) noexcept nogil:
    pack_with_rows(keys, length, packed)


cdef inline int bits_of(uint64_t number) noexcept nogil:
    cdef int count = 0
    while number:
        number >>= 1
        count += 1
    return count


cdef inline forced_void find_ends(const int64_t* keys, int64_t count, int64_t* low, int64_t* high) noexcept nogil:
    """Find the least and the greatest key."""
    cdef int64_t least = INT64_MAX, greatest = INT64_MIN, k
    for k in range(count):
        least = keys[k] if keys[k] < least else least
        greatest = keys[k] if keys[k] > greatest else greatest
    low[0] = least
    high[0] = greatest


cdef inline avx512_void find_ends_avx512(
    const int64_t* keys, int64_t count, int64_t* low, int64_t* high
) noexcept nogil:
    find_ends(keys, count, low, high)


cdef inline avx2_void find_ends_avx2(const int64_t* keys, int64_t count, int64_t* low, int64_t* high) noexcept nogil:
    find_ends(keys, count, low, high)


cdef inline forced_void pack(
    const int64_t* keys, int64_t count, int64_t low, int lost, int wide, int64_t* packed
) noexcept nogil:
    """Combine each key, counted from the least key and without its last bits, with its position of `wide` bits."""
    cdef uint64_t one
    cdef int64_t k
    for k in range(count):
        one = <uint64_t> keys[k] - <uint64_t> low
        packed[k] = <int64_t> ((one >> lost << wide | <uint64_t> k) ^ <uint64_t> 1 << 63)


cdef inline avx512_void pack_avx512(
    const int64_t* keys, int64_t count, int64_t low, int lost, int wide, int64_t* packed
) noexcept nogil:
    pack(keys, count, low, lost, wide, packed)


cdef inline avx2_void pack_avx2(
    const int64_t* keys, int64_t count, int64_t low, int lost, int wide, int64_t* packed
) noexcept nogil:
    pack(keys, count, low, lost, wide, packed)


cdef inline int sort_packed(const int64_t* keys, int64_t count, int64_t* packed, int* lost) noexcept nogil:
    """Sort keys with their positions.

    Return the number of bits of a position; `lost` is that of the bits of a key that were omitted.
    """
    cdef int64_t low = 0, high = 0
    cdef int level = simd_level(), wide = bits_of(<uint64_t> count - 1), over
    if level == SIMD_AVX512:
        find_ends_avx512(keys, count, &low, &high)
    elif level == SIMD_AVX2:
        find_ends_avx2(keys, count, &low, &high)
    else:
        find_ends(keys, count, &low, &high)
    over = bits_of(<uint64_t> high - <uint64_t> low) + wide - 64
    lost[0] = over if over > 0 else 0
    if level == SIMD_AVX512:
        pack_avx512(keys, count, low, lost[0], wide, packed)
    elif level == SIMD_AVX2:
        pack_avx2(keys, count, low, lost[0], wide, packed)
    else:
        pack(keys, count, low, lost[0], wide, packed)
    sort_whole(CELL_INT64, packed, count)
    return wide


cdef inline void order_rows(const key* keys, int64_t length, int64_t* packed, int64_t* order) noexcept nogil:
    """Sort the rows by their keys.

    Keys of 64 bits that differ only in the omitted bits differ in so few bits that these fit beside the position of a
    row.
    """
    cdef int lost = 0, wide, some, level = simd_level()
    cdef int64_t places, r, first = 0, stop, k
    cdef bint in_order
    if key is int32_t:
        if level == SIMD_AVX512:
            pack_with_rows_avx512(keys, length, order)
        elif level == SIMD_AVX2:
            pack_with_rows_avx2(keys, length, order)
        else:
            pack_with_rows(keys, length, order)
        sort_whole(CELL_INT64, order, length)
        for r in range(length):
            order[r] &= UINT32_MAX
    else:
        wide = sort_packed(keys, length, packed, &lost)
        places = (<int64_t> 1 << wide) - 1
        for r in range(length):
            order[r] = packed[r] & places
        if lost == 0:
            return
        while first < length:
            in_order, stop = True, first + 1
            while stop < length and packed[stop] >> wide == packed[first] >> wide:
                in_order &= keys[order[stop - 1]] <= keys[order[stop]]
                stop += 1
            if not in_order:
                for k in range(first, stop):
                    packed[k] = keys[order[k]]
                some = sort_packed(packed + first, stop - first, packed + first, &lost)
                for k in range(first, stop):
                    packed[k] = order[first + (packed[k] & ((<int64_t> 1 << some) - 1))]
                memcpy(order + first, packed + first, (stop - first) * sizeof(int64_t))
            first = stop
