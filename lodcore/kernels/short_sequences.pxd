"""Loops for integers in short sequences that do not branch on lengths, which a processor would predict wrongly.

Sums are differences of running sums, which are exact modulo 2^64. Maxima and minima take the last row of a sequence
again where it has too few. As in `small_numbers`, some bits of each cell are turned over when it is read.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from lodcore.kernels.simd cimport forced_void, lowest_bit, plain_void

cdef enum:
    GROUP = 32  # sequences whose running sums are computed together
    STRIDE = 16  # columns at most
    SEEN = 9  # of them, whose lengths are compared
    AT_ONCE = 8  # cells that are compared
    SHORT_SUMS = 48  # cells on average
    SHORT_BYTES = 192
    SHORT_EXTREMES = 16

ctypedef fused summed:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused ordered:  # what registers of 16 bytes compare in one instruction
    uint8_t
    int16_t
    int32_t
    int64_t


# -- sums --------------------------------------------------------------------------------------------------------------


cdef inline forced_void run_on(
    const summed* x, int64_t cells, const int64_t width, summed turned, uint64_t* so_far
) noexcept nogil:
    """Write, `width` places behind each cell, the sum of the cells of its column up to this one."""
    cdef uint64_t[STRIDE] total
    cdef int64_t k = 0, c
    for c in range(width):
        total[c] = 0
        so_far[c] = 0
    while k < cells:
        for c in range(width):
            total[c] += <summed> (x[k + c] ^ turned)
            so_far[k + c + width] = total[c]
        k += width


cdef inline plain_void sum_short(
    const summed* x, const int64_t* offsets, int64_t n_seqs, int64_t width, summed turned, uint64_t* out
) noexcept nogil:
    """Sum the rows of up to GROUP sequences that have up to SHORT_SUMS cells on average, in up to STRIDE columns."""
    cdef uint64_t[GROUP * SHORT_SUMS + STRIDE] so_far  # which stays in the first cache
    cdef int64_t cells = (offsets[n_seqs] - offsets[0]) * width, s, c
    cdef uint64_t added
    cdef const uint64_t* first = &so_far[0]
    cdef const uint64_t* last
    x += offsets[0] * width
    if width == 1:
        run_on(x, cells, 1, turned, &so_far[0])
    elif width == 2:
        run_on(x, cells, 2, turned, &so_far[0])
    elif width == 3:
        run_on(x, cells, 3, turned, &so_far[0])
    elif width == 4:
        run_on(x, cells, 4, turned, &so_far[0])
    else:
        run_on(x, cells, width, turned, &so_far[0])
    for s in range(n_seqs):
        last = &so_far[(offsets[s + 1] - offsets[0]) * width]
        added = <uint64_t> (offsets[s + 1] - offsets[s]) * turned  # by bits that are turned over
        for c in range(width):
            out[c] = last[c] - first[c] - added
        first = last
        out += width


cdef inline uint64_t sum_of_word(uint64_t word) noexcept nogil:
    """Return the sum of 8 bytes: of four pairs, which are added by a product."""
    cdef uint64_t half = 0x00ff00ff00ff00ff, ones = 0x0001000100010001
    return (((word & half) + (word >> 8 & half)) * ones) >> 48


cdef inline plain_void sum_short_bytes(
    const uint8_t* x, const int64_t* offsets, int64_t n_seqs, int64_t n_rows, uint8_t turned, uint64_t* out
) noexcept nogil:
    """Sum rows of one byte, eight at a time."""
    cdef uint64_t total, word, flip = <uint64_t> 0x0101010101010101 * turned
    cdef int64_t s, row, left
    for s in range(n_seqs):
        row, left, total = offsets[s], offsets[s + 1] - offsets[s], 0
        while left >= 8:
            memcpy(&word, x + row, 8)
            total += sum_of_word(word ^ flip)
            row += 8
            left -= 8
        if row + 8 <= n_rows:  # no branch on the number of bytes
            memcpy(&word, x + row, 8)
            total += sum_of_word((word ^ flip) & ((<uint64_t> 1 << 8 * left) - 1))
        else:
            while left > 0:
                total += x[row] ^ turned
                row += 1
                left -= 1
        out[s] = total - <uint64_t> (offsets[s + 1] - offsets[s]) * turned


cdef inline int64_t short_ones(const int64_t* offsets, int64_t n_seqs, int64_t most) noexcept nogil:
    """Return the size of the next group if its sequences have up to `most` rows on average, otherwise 0."""
    cdef int64_t count = GROUP if GROUP < n_seqs else n_seqs
    return count if offsets[count] - offsets[0] <= count * most else 0


cdef inline int64_t uneven_ones(const int64_t* offsets, int64_t n_seqs, int64_t most) noexcept nogil:
    """Return what `short_ones` does, but 0 if few of some lengths differ from the next: processors predict those."""
    cdef int64_t count = short_ones(offsets, n_seqs, most), changes = 0, s, seen = SEEN if SEEN < count else count
    for s in range(1, seen):
        changes += offsets[s + 1] - offsets[s] != offsets[s] - offsets[s - 1]
    return count if 2 * changes > seen else 0


# -- maxima and minima -------------------------------------------------------------------------------------------------


cdef inline forced_void better(ordered* so_far, ordered cell) noexcept nogil:
    so_far[0] = cell if cell > so_far[0] else so_far[0]


cdef inline plain_void best_short(
    const ordered* x, const int64_t* offsets, int64_t n_seqs, ordered turned, ordered* out
) noexcept nogil:
    """Compute the maxima of rows of one cell, of which there is one at least; zeros for an empty sequence."""
    cdef int64_t[AT_ONCE * AT_ONCE] places  # of AT_ONCE cells in a sequence of each length; gcc branches on a minimum
    cdef const int64_t* place
    cdef const ordered* cells
    cdef ordered best
    cdef int64_t s, rows, first, k, j
    for k in range(AT_ONCE):
        for j in range(AT_ONCE):
            places[k * AT_ONCE + j] = j if j < k else k
    for s in range(n_seqs):
        rows = offsets[s + 1] - offsets[s]
        cells = x + (offsets[s] if offsets[s] < offsets[n_seqs] else offsets[n_seqs] - 1)  # which can be read
        place = &places[(rows - 1 if rows < AT_ONCE else AT_ONCE - 1) * AT_ONCE if rows > 0 else 0]
        best = cells[0] ^ turned
        for j in range(1, AT_ONCE):
            better(&best, cells[place[j]] ^ turned)
        first = AT_ONCE
        while first < rows:
            k = first if first + AT_ONCE <= rows else rows - AT_ONCE  # some of them again
            for j in range(k, k + AT_ONCE):
                better(&best, cells[j] ^ turned)
            first += AT_ONCE
        out[s] = best ^ turned if rows > 0 else 0


cdef inline int64_t first_equal(const ordered* x, int64_t length, ordered cell) noexcept nogil:
    """Return the position of a cell in a sequence that contains it; 0 if another thread has changed it.

    -1 for an empty sequence.
    """
    cdef int64_t r = 0, k, row
    cdef uint64_t bits
    while r < length:
        bits = 0
        for k in range(AT_ONCE):
            row = r + k if r + k < length else length - 1
            bits |= <uint64_t> (x[row] == cell) << k
        if bits:
            return r + lowest_bit(bits)
        r += AT_ONCE
    return 0 if length > 0 else -1
