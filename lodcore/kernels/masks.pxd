"""Masks, eight entries at a time, and rows for which they are true, copied and scattered mostly without branches."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

ctypedef fused cell:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef inline uint64_t true_bytes(const unsigned char* mask) noexcept nogil:
    """Return a word with bytes 1 and 0 for 8 entries of a mask."""
    cdef uint64_t low = 0x7f7f7f7f7f7f7f7f, ones = 0x0101010101010101, bytes
    memcpy(&bytes, mask, 8)
    return ((((bytes & low) + low) | bytes) >> 7) & ones


cdef inline int64_t sum_bytes(uint64_t bytes) noexcept nogil:
    """Return the sum of 8 bytes that are 0 or 1."""
    cdef uint64_t ones = 0x0101010101010101
    return <int64_t> ((bytes * ones) >> 56)


cdef inline int64_t count_runs(const unsigned char* mask, int64_t size) noexcept nogil:
    """Count the runs of consecutive true entries of a mask."""
    cdef int64_t runs, j = 1
    if size == 0:
        return 0
    runs = mask[0] != 0
    while j + 8 <= size:
        runs += sum_bytes(true_bytes(mask + j) & ~true_bytes(mask + j - 1))
        j += 8
    while j < size:
        runs += (mask[j] != 0) & (mask[j - 1] == 0)
        j += 1
    return runs


cdef inline void take_cells(
    const char* rows, int64_t n_rows, const unsigned char* mask, char* out, int64_t size, cell* unused
) noexcept nogil:
    """Copy small rows: each is written, and overwritten by the next one if its mask is false."""
    cdef int64_t r = 0, k = 0, j
    while r + 8 <= n_rows and k + 8 <= size:
        for j in range(r, r + 8):
            memcpy(out + k * sizeof(cell), rows + j * sizeof(cell), sizeof(cell))
            k += mask[j] != 0
        r += 8
    while r < n_rows and k < size:
        memcpy(out + k * sizeof(cell), rows + r * sizeof(cell), sizeof(cell))
        k += mask[r] != 0
        r += 1


cdef inline void put_cells(
    const char* rows, int64_t size, const unsigned char* mask, char* out, int64_t n_rows, cell* unused
) noexcept nogil:
    """Scatter small rows, without branches on the mask."""
    cdef int64_t r, k = 0
    cdef cell one
    for r in range(n_rows):
        memcpy(&one, rows + (k if k < size else size - 1) * sizeof(cell), sizeof(cell))
        one &= <cell> (0 - <cell> (mask[r] != 0))
        memcpy(out + r * sizeof(cell), &one, sizeof(cell))
        k += mask[r] != 0


cdef inline void choose_cells(
    const unsigned char* mask, int64_t n, const char* x, bint repeat_x, const char* y, bint repeat_y, char* out,
    cell* kind
) noexcept nogil:
    """Copy cells of x where a mask is true, of y elsewhere, without branches; a single one may be repeated."""
    cdef int64_t r
    cdef cell kept, one, other
    if n == 0:
        return
    memcpy(&one, x, sizeof(cell))
    memcpy(&other, y, sizeof(cell))
    if repeat_x and repeat_y:
        for r in range(n):
            kept = other ^ ((one ^ other) & <cell> (0 - <cell> (mask[r] != 0)))
            memcpy(out + r * sizeof(cell), &kept, sizeof(cell))
    elif repeat_y:
        for r in range(n):
            kept = <cell> (0 - <cell> (mask[r] != 0))
            memcpy(&one, x + r * sizeof(cell), sizeof(cell))
            one = other ^ ((one ^ other) & kept)
            memcpy(out + r * sizeof(cell), &one, sizeof(cell))
    elif repeat_x:
        for r in range(n):
            kept = <cell> (0 - <cell> (mask[r] != 0))
            memcpy(&other, y + r * sizeof(cell), sizeof(cell))
            other = other ^ ((one ^ other) & kept)
            memcpy(out + r * sizeof(cell), &other, sizeof(cell))
    else:
        for r in range(n):
            kept = <cell> (0 - <cell> (mask[r] != 0))
            memcpy(&one, x + r * sizeof(cell), sizeof(cell))
            memcpy(&other, y + r * sizeof(cell), sizeof(cell))
            other = other ^ ((one ^ other) & kept)
            memcpy(out + r * sizeof(cell), &other, sizeof(cell))


cdef inline void choose_pairs(
    const unsigned char* mask, int64_t n, const char* x, bint repeat_x, const char* y, bint repeat_y, char* out
) noexcept nogil:
    """Copy cells of 16 bytes as `choose_cells` does."""
    cdef int64_t r, half
    cdef uint64_t kept, one, other
    for r in range(n):
        kept = 0 - <uint64_t> (mask[r] != 0)
        for half in range(2):
            memcpy(&one, x + (0 if repeat_x else 16 * r) + 8 * half, 8)
            memcpy(&other, y + (0 if repeat_y else 16 * r) + 8 * half, 8)
            other = other ^ ((one ^ other) & kept)
            memcpy(out + 16 * r + 8 * half, &other, 8)


cdef inline void copy_pair(const char* row, int64_t row_bytes, char* out) noexcept nogil:
    """Copy a row of 9 to 16 bytes: its first and its last 8 bytes."""
    memcpy(out, row, 8)
    memcpy(out + row_bytes - 8, row + row_bytes - 8, 8)


cdef inline void take_pairs(
    const char* rows, int64_t n_rows, int64_t row_bytes, const unsigned char* mask, char* out, int64_t size
) noexcept nogil:
    """Copy rows of 9 to 16 bytes as `take_cells` does, eight at a time, or none of them, or all."""
    cdef int64_t r = 0, k = 0, j, start
    cdef uint64_t taken, all_true = 0x0101010101010101
    while r + 8 <= n_rows and k + 8 <= size:
        taken = true_bytes(mask + r)
        start = r
        r += 8
        if taken == all_true:
            while r + 8 <= n_rows and k + r - start + 8 <= size and true_bytes(mask + r) == all_true:
                r += 8
            memcpy(out + k * row_bytes, rows + start * row_bytes, (r - start) * row_bytes)
            k += r - start
        elif taken:
            for j in range(start, start + 8):
                copy_pair(rows + j * row_bytes, row_bytes, out + k * row_bytes)
                k += mask[j] != 0
    while r < n_rows and k < size:
        copy_pair(rows + r * row_bytes, row_bytes, out + k * row_bytes)
        k += mask[r] != 0
        r += 1


cdef inline void put_pairs(
    const char* rows, int64_t size, int64_t row_bytes, const unsigned char* mask, char* out, int64_t n_rows
) noexcept nogil:
    """Scatter rows of 9 to 16 bytes as `put_cells` does."""
    cdef int64_t r, k = 0, last = row_bytes - 8
    cdef uint64_t head, tail, kept
    cdef const char* row
    for r in range(n_rows):
        row = rows + (k if k < size else size - 1) * row_bytes
        memcpy(&head, row, 8)
        memcpy(&tail, row + last, 8)
        kept = 0 - <uint64_t> (mask[r] != 0)
        head &= kept
        tail &= kept
        memcpy(out + r * row_bytes, &head, 8)
        memcpy(out + r * row_bytes + last, &tail, 8)
        k += mask[r] != 0


cdef inline void take_runs(
    const char* rows, int64_t n_rows, int64_t row_bytes, const unsigned char* mask, char* out, int64_t size
) noexcept nogil:
    """Copy wide rows, consecutive ones together."""
    cdef int64_t k = 0, end = 0, r, count
    while k < size:
        r = end
        while r + 8 <= n_rows and true_bytes(mask + r) == 0:
            r += 8
        while r < n_rows and mask[r] == 0:
            r += 1
        end = r
        while end < n_rows and mask[end] != 0:
            end += 1
        count = end - r if end - r < size - k else size - k
        if count == 0:
            return
        memcpy(out + k * row_bytes, rows + r * row_bytes, count * row_bytes)
        k += count
