"""Bags of rows of a table, by their numbers: pooled, weighed, multiplied, and searched.

Each function returns or writes the first position whose number is out of range, -1 if there is none, with the result
half written. Numbers are read once, since another thread may change them.

Without wider registers, C took 0.9 of the time for some sums, and 0.8 to 0.9 for the places of cells of 7 or 8 columns
of float64.
"""

from libc.stdint cimport int64_t, uint64_t, uintptr_t

from lodcore.kernels.folds cimport BY_ONE, GREATEST, LEAST, SUM, divide_cells, find_best, fold, halve
from lodcore.kernels.lanes cimport alone, real
from lodcore.kernels.pool cimport pool_reals
from lodcore.kernels.simd cimport SIMD_AVX2, SIMD_AVX512, avx2_void, avx512_void, forced_void
from lodcore.kernels.simd cimport plain_void, prefetch, read_once, simd_level

cdef extern from "bags.h" nogil:
    int MOST_BYTES
    # of float or of double: all arrays of cells have the type of the result
    int64_t sum_block(
        const void* table, int64_t n_rows, int64_t width, const int64_t* index, const void* weights, int64_t start,
        int64_t end, int64_t total, int64_t ahead, int64_t lines, int64_t block, int64_t second, int wide, void* out)

cdef enum:
    MOST_LANES = 64
    SOME_LANES = 16
    GATHERED = 4096  # cells of rows of one cell that are gathered before they are pooled: a multiple of all lanes
    TOGETHER = 64  # bags of rows of one cell that are pooled at a time
    AHEAD = 8
    ROWS_AHEAD = 24
    LINES_AHEAD = 96  # of the cache: more would leave it before they are read
    LINE = 64
    LINES = 4
    MOST_LINES = 16


cdef inline forced_void prefetch_cells(const void* rows, int64_t row, int64_t row_bytes, int64_t size) noexcept nogil:
    """Prefetch the first bytes of a row; a number out of range does no harm."""
    cdef uintptr_t place = <uintptr_t> rows + <uintptr_t> row * <uintptr_t> row_bytes
    cdef int64_t line = LINE
    prefetch(<const void*> place)
    if size > LINE:  # a row that does not start at a cache line touches one line more
        while line < size and line < LINES * LINE:
            prefetch(<const void*> (place + <uintptr_t> line))
            line += LINE
        prefetch(<const void*> (place + <uintptr_t> (size if size < LINES * LINE else LINES * LINE) - 1))


# -- rows of one cell --------------------------------------------------------------------------------------------------


cdef inline forced_void gather_cells(
    const real* table, int64_t n_rows, const int64_t* index, int64_t count, real* cells, int64_t* bad
) noexcept nogil:
    """Gather cells, four at a time: a branch for each would take 1.3 times as long."""
    cdef int64_t j = 0, row, second, third, fourth
    cdef uint64_t height = n_rows
    while j + 4 <= count:
        row, second = read_once(index + j), read_once(index + j + 1)
        third, fourth = read_once(index + j + 2), read_once(index + j + 3)
        if ((<uint64_t> row >= height) | (<uint64_t> second >= height) | (<uint64_t> third >= height)
                | (<uint64_t> fourth >= height)):
            break
        cells[j] = table[row]
        cells[j + 1] = table[second]
        cells[j + 2] = table[third]
        cells[j + 3] = table[fourth]
        j += 4
    while j < count:
        row = read_once(index + j)
        if <uint64_t> row >= height:
            bad[0] = j
            return
        cells[j] = table[row]
        j += 1


cdef inline forced_void add_in_lanes(
    const real* cells, int64_t count, real* lane, const int64_t lanes
) noexcept nogil:
    cdef int64_t whole = count - count % lanes, done = 0, k
    while done < whole:
        for k in range(lanes):
            lane[k] += cells[done + k]
        done += lanes
    for k in range(count - whole):
        lane[k] += cells[whole + k]


cdef inline int64_t pool_long_bag(
    const real* table, int64_t n_rows, const int64_t* index, int64_t count, int verb, real* out
) noexcept nogil:
    """Pool a bag that is longer than the number of cells gathered at a time."""
    cdef real cells[GATHERED]
    cdef real lane[MOST_LANES]
    cdef real best = 0, one = 0
    cdef int64_t lanes = 256 // sizeof(real), done = 0, bad = -1, size, k
    for k in range(lanes):
        lane[k] = 0
    while done < count:
        size = count - done if count - done < GATHERED else GATHERED
        gather_cells(table, n_rows, index + done, size, cells, &bad)
        if bad >= 0:
            return done + bad
        if verb == SUM:
            add_in_lanes(cells, size, lane, lanes)
        elif done == 0:
            find_best(cells, size, verb, &best)
        else:
            find_best(cells, size, verb, &one)
            fold(&best, one, verb)
        done += size
    if verb == SUM:
        halve(lane, lanes)
        best = lane[0] + 0
    out[0] = best
    return -1


cdef inline plain_void pool_cell_bags(
    const real* table, int64_t n_rows, const int64_t* index, const int64_t* offsets, int64_t n_seqs, int verb,
    int divide, real* out, int64_t* bad_place
) noexcept nogil:
    """Gather the cells of some bags, then pool them as rows."""
    cdef real cells[GATHERED]
    cdef int64_t ends[TOGETHER + 1]
    cdef int64_t s = 0, bad = -1, end, start, length, k
    while s < n_seqs:
        start = offsets[s]
        length = offsets[s + 1] - start
        end = s + 1
        if length > GATHERED:
            bad = pool_long_bag(table, n_rows, index + start, length, verb, out + s)
            divide_cells(out + s, 1, length, divide)
        else:
            while end < n_seqs and end - s < TOGETHER and offsets[end + 1] - start <= GATHERED:
                end += 1
            for k in range(s, end + 1):
                ends[k - s] = offsets[k] - start
            gather_cells(table, n_rows, index + start, ends[end - s], cells, &bad)
            if bad < 0:
                pool_reals(cells, ends, end - s, 1, verb, divide, out + s)
        if bad >= 0:
            bad_place[0] = start + bad
            return
        s = end


# -- rows of several cells ---------------------------------------------------------------------------------------------


cdef inline int64_t lines_of(const void* rows, int64_t row_bytes) noexcept nogil:
    """Return the number of cache lines of a row that are prefetched."""
    cdef int64_t before = LINE - 1 if row_bytes % LINE else <int64_t> (<uintptr_t> rows % LINE)
    cdef int64_t lines = 1 if row_bytes <= LINE else (row_bytes + before + LINE - 1) // LINE
    return lines if lines < MOST_LINES else MOST_LINES


cdef inline forced_void sum_bags(
    const real* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets, int64_t n_seqs,
    const real* weights, const int divide, const int wide, real* out, int64_t* bad
) noexcept nogil:
    """Sum bags in blocks of columns: each cell is one sum, in the order of the bag.

    Columns that are no power of two are two blocks side by side, of which the second one begins within the first one.
    The first block of a bag prefetches for all.
    """
    cdef int64_t most = (MOST_BYTES >> (2 - wide)) // <int64_t> sizeof(real)
    cdef int64_t lines = lines_of(table, width * <int64_t> sizeof(real))
    cdef int64_t ahead = min(ROWS_AHEAD, LINES_AHEAD // lines)
    cdef int64_t total = offsets[n_seqs], s, c, block
    for s in range(n_seqs):
        c = 0
        while c < width:
            block = most
            while block > width - c:
                block //= 2
            bad[0] = sum_block(
                table + c, n_rows, width, index, weights, offsets[s], offsets[s + 1], total, ahead, 0 if c else lines,
                block, 0 if block == most else width - c - block, wide, out + c
            )
            if bad[0] >= 0:
                return
            c = c + block if block == most else width
        divide_cells(out, width, offsets[s + 1] - offsets[s], divide)
        out += width


cdef inline forced_void best_of_bag(
    alone table, int64_t n_rows, int64_t width, const int64_t* index, int64_t start, int64_t end, int64_t total,
    const int64_t count, const int verb, alone cells, int64_t* bad
) noexcept nogil:
    """Find the best cells of some columns, row by row; a count that the compiler knows keeps them in registers."""
    cdef int64_t j, c, row
    for c in range(count):
        cells[c] = 0
    for j in range(start, end):
        row = read_once(index + j)
        if j + ROWS_AHEAD < total:
            prefetch_cells(table, index[j + ROWS_AHEAD], width * sizeof(table[0]), count * sizeof(table[0]))
        if <uint64_t> row >= <uint64_t> n_rows:
            bad[0] = j
            return
        for c in range(count):
            if j == start:
                cells[c] = table[row * width + c]
            else:
                fold(cells + c, table[row * width + c], verb)


cdef inline forced_void best_of_bags(
    real* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets, int64_t n_seqs,
    const int verb, real* out, int64_t* bad
) noexcept nogil:
    """Find the best cells of as many columns at a time as there are lanes."""
    cdef real cells[MOST_LANES]
    cdef int64_t lanes = 256 // sizeof(real), total = offsets[n_seqs], place = -1, s, c, k
    for s in range(n_seqs):
        c = 0
        while c + lanes <= width:
            best_of_bag(
                table + c, n_rows, width, index, offsets[s], offsets[s + 1], total, lanes, verb, cells, &place
            )
            for k in range(lanes):
                out[c + k] = cells[k]
            c += lanes
        if c < width:
            best_of_bag(
                table + c, n_rows, width, index, offsets[s], offsets[s + 1], total, width - c, verb, out + c, &place
            )
        if place >= 0:
            bad[0] = place
            return
        out += width


cdef inline forced_void pool_bags(
    const real* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets, int64_t n_seqs,
    int verb, int divide, const int wide, real* out, int64_t* bad
) noexcept nogil:
    if verb == SUM:
        sum_bags(table, n_rows, width, index, offsets, n_seqs, <const real*> NULL, divide, wide, out, bad)
    elif verb == GREATEST:
        best_of_bags(<real*> table, n_rows, width, index, offsets, n_seqs, GREATEST, out, bad)
    else:
        best_of_bags(<real*> table, n_rows, width, index, offsets, n_seqs, LEAST, out, bad)


cdef inline avx512_void pool_bags_avx512(
    const real* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets, int64_t n_seqs,
    int verb, int divide, real* out, int64_t* bad
) noexcept nogil:
    pool_bags(table, n_rows, width, index, offsets, n_seqs, verb, divide, 2, out, bad)


cdef inline avx2_void pool_bags_avx2(
    const real* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets, int64_t n_seqs,
    int verb, int divide, real* out, int64_t* bad
) noexcept nogil:
    pool_bags(table, n_rows, width, index, offsets, n_seqs, verb, divide, 1, out, bad)


cdef inline plain_void pool_bags_plain(
    const real* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets, int64_t n_seqs,
    int verb, int divide, real* out, int64_t* bad
) noexcept nogil:
    pool_bags(table, n_rows, width, index, offsets, n_seqs, verb, divide, 0, out, bad)


cdef inline int64_t run_pool_bags(
    const real* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets, int64_t n_seqs,
    int verb, int divide, real* out
) noexcept nogil:
    cdef int level = simd_level()
    cdef int64_t bad = -1
    if width == 1:
        pool_cell_bags(table, n_rows, index, offsets, n_seqs, verb, divide, out, &bad)
    elif level == SIMD_AVX512:
        pool_bags_avx512(table, n_rows, width, index, offsets, n_seqs, verb, divide, out, &bad)
    elif level == SIMD_AVX2:
        pool_bags_avx2(table, n_rows, width, index, offsets, n_seqs, verb, divide, out, &bad)
    else:
        pool_bags_plain(table, n_rows, width, index, offsets, n_seqs, verb, divide, out, &bad)
    return bad


# -- rows times weights ------------------------------------------------------------------------------------------------


cdef inline avx512_void weigh_bags_avx512(
    const real* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets, int64_t n_seqs,
    const real* weights, real* out, int64_t* bad
) noexcept nogil:
    sum_bags(table, n_rows, width, index, offsets, n_seqs, weights, BY_ONE, 2, out, bad)


cdef inline avx2_void weigh_bags_avx2(
    const real* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets, int64_t n_seqs,
    const real* weights, real* out, int64_t* bad
) noexcept nogil:
    sum_bags(table, n_rows, width, index, offsets, n_seqs, weights, BY_ONE, 1, out, bad)


cdef inline plain_void weigh_bags_plain(
    const real* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets, int64_t n_seqs,
    const real* weights, real* out, int64_t* bad
) noexcept nogil:
    sum_bags(table, n_rows, width, index, offsets, n_seqs, weights, BY_ONE, 0, out, bad)


cdef inline int64_t run_weigh_bags(
    const real* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets, int64_t n_seqs,
    const real* weights, real* out
) noexcept nogil:
    cdef int level = simd_level()
    cdef int64_t bad = -1
    if level == SIMD_AVX512:
        weigh_bags_avx512(table, n_rows, width, index, offsets, n_seqs, weights, out, &bad)
    elif level == SIMD_AVX2:
        weigh_bags_avx2(table, n_rows, width, index, offsets, n_seqs, weights, out, &bad)
    else:
        weigh_bags_plain(table, n_rows, width, index, offsets, n_seqs, weights, out, &bad)
    return bad


cdef inline plain_void multiply_bags(
    const real* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets, int64_t n_seqs,
    const real* rows, real* out, int64_t* bad
) noexcept nogil:
    """Compute out[j] = sum of table[index[j]] * rows[s], for each position j of bag s.

    Products are added in 16 lanes (8 for float64), and then the lanes in order.
    """
    cdef const real* cells
    cdef real lane[SOME_LANES]
    cdef real total
    cdef int64_t lanes = 64 // sizeof(real), s, j, row, c, k
    for s in range(n_seqs):
        for j in range(offsets[s], offsets[s + 1]):
            row = read_once(index + j)
            if j + AHEAD < offsets[n_seqs]:
                prefetch_cells(table, index[j + AHEAD], width * sizeof(real), width * sizeof(real))
            if <uint64_t> row >= <uint64_t> n_rows:
                bad[0] = j
                return
            cells = table + row * width
            c, total = 0, 0
            for k in range(lanes):
                lane[k] = 0
            while c + lanes <= width:
                for k in range(lanes):
                    lane[k] += cells[c + k] * rows[c + k]
                c += lanes
            while c < width:
                lane[c % lanes] += cells[c] * rows[c]
                c += 1
            for k in range(lanes):
                total += lane[k]
            out[j] = total
        rows += width


# -- places of cells ---------------------------------------------------------------------------------------------------


cdef inline plain_void find_cells(
    const real* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets, int64_t n_seqs,
    const real* best, int64_t* places, int64_t* bad
) noexcept nogil:
    """Find for each cell of `best` the first position in its bag whose row has it; -1 for an empty bag."""
    cdef int64_t s, j, c, row, start, empty
    cdef real cell
    for s in range(n_seqs):
        start = offsets[s]
        j = offsets[s + 1] - 1
        empty = 0 if j >= start else -1
        for c in range(width):
            places[c] = empty
        while j >= start:
            row = read_once(index + j)
            if <uint64_t> row >= <uint64_t> n_rows:
                bad[0] = j
                return
            for c in range(width):
                cell = table[row * width + c]
                places[c] = j - start if (cell == best[c]) | ((cell != cell) & (best[c] != best[c])) else places[c]
            j -= 1
        best += width
        places += width
