"""Rows that are numbers: removal of some of them; and numbers of columns to which rows are added."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memcpy

from lodcore.kernels.simd cimport SIMD_AVX2, SIMD_AVX512, avx2_void, avx512_void, forced_void, read_once, simd_level

ctypedef fused number:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused cell:
    float
    double
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused bits:  # numbers of one size, without their sign
    uint8_t
    uint16_t
    uint32_t
    uint64_t

cdef enum:
    FEW = 4
    SOME_ROWS = 1024

ctypedef struct token_set:
    int64_t count
    uint64_t few[FEW]  # each is compared with each number
    uint64_t* sorted  # if there are more
    uint64_t range  # from the least to the greatest one
    uint8_t* table  # a bit for each number of the range; NULL if they are far apart


def drop_tokens(const number[::1] x not None, const int64_t[::1] offsets not None, const int64_t[::1] tokens not None,
                number[::1] out not None, int64_t[::1] out_offsets not None):
    """Copy the rows that are not tokens.

    Parameters
    ----------
    x : any integers, shape (n_rows,)
    offsets : int64, shape (n_seqs + 1,), in rows
    tokens : int64, shape (n_tokens,)
        Any values, in any order; rows equal to one of them are left out.
    out : as x
        The first out_offsets[n_seqs] rows are those that remain; the rows after them are undefined.
    out_offsets : int64, shape (n_seqs + 1,)
    """
    cdef int64_t n_seqs = offsets.shape[0] - 1, n_tokens = tokens.shape[0]
    cdef bint done, is_signed = (<number> -1) < 0
    if (n_seqs < 0 or x.shape[0] != offsets[n_seqs] or out.shape[0] != x.shape[0]
            or out_offsets.shape[0] != offsets.shape[0]):
        raise ValueError("x, offsets and out have different numbers of rows or sequences")
    cdef const number* source = &x[0] if x.shape[0] else NULL
    cdef const int64_t* left_out = &tokens[0] if n_tokens else NULL
    cdef number* result = &out[0] if x.shape[0] else NULL
    cdef const int64_t* ends = &offsets[0]
    cdef int64_t* out_ends = &out_offsets[0]
    with nogil:
        if sizeof(number) == 1:
            done = drop_rows(<const uint8_t*> source, is_signed, ends, n_seqs, left_out, n_tokens, <uint8_t*> result,
                             out_ends)
        elif sizeof(number) == 2:
            done = drop_rows(<const uint16_t*> source, is_signed, ends, n_seqs, left_out, n_tokens,
                             <uint16_t*> result, out_ends)
        elif sizeof(number) == 4:
            done = drop_rows(<const uint32_t*> source, is_signed, ends, n_seqs, left_out, n_tokens,
                             <uint32_t*> result, out_ends)
        else:
            done = drop_rows(<const uint64_t*> source, is_signed, ends, n_seqs, left_out, n_tokens,
                             <uint64_t*> result, out_ends)
    if not done:
        raise MemoryError("a table of tokens finds no memory")


def add_at(const cell[::1] updates not None, const int64_t[::1] ids not None, const int64_t[::1] offsets not None,
           int64_t n_columns, cell[:, ::1] out not None):
    """Add each row to the column given by its id, in the line of its sequence.

    Parameters
    ----------
    updates : float32, float64 or unsigned integers, shape (n_rows * width,)
        Added in order; integers wrap around.
    ids : int64, shape (n_rows,)
        Any values; each is read once. Valid ids are 0 .. n_columns - 1.
    offsets : int64, shape (n_seqs + 1,), in rows
    n_columns : int
    out : as updates, shape (n_seqs, n_columns * width)
        Added to. Its content is undefined if an id is invalid.

    Returns
    -------
    int
        The first row whose id is out of range, -1 if there is none.
    """
    cdef Py_ssize_t n_seqs = out.shape[0], width = out.shape[1] // max(n_columns, 1), s, t, c, bad = -1
    if n_seqs != offsets.shape[0] - 1 or ids.shape[0] != offsets[n_seqs]:
        raise ValueError("ids, offsets and out have different numbers of rows or sequences")
    if out.shape[1] != n_columns * width or (n_columns and updates.shape[0] != ids.shape[0] * width):
        raise ValueError("updates and out have columns of different sizes")
    if ids.shape[0] == 0:
        return -1
    cdef const cell* source = &updates[0] if width else NULL
    cdef const int64_t* numbers = &ids[0]
    cdef const int64_t* ends = &offsets[0]
    cdef cell* result = &out[0, 0] if n_seqs and width else NULL
    cdef cell* to
    cdef int64_t column
    with nogil:
        for s in range(n_seqs):
            for t in range(ends[s], ends[s + 1]):
                column = read_once(numbers + t)
                if <uint64_t> column >= <uint64_t> n_columns:
                    bad = t
                    break
                to = result + (s * n_columns + column) * width
                for c in range(width):
                    to[c] += source[t * width + c]
            if bad >= 0:
                break
    return bad


def take_at(const unsigned char[:, ::1] rows not None, const int64_t[::1] ids not None,
            const int64_t[::1] offsets not None, int64_t n_columns, unsigned char[:, ::1] out not None):
    """Copy the column given by each id from the line of its sequence: the adjoint of `add_at`.

    Parameters
    ----------
    rows : uint8, shape (n_seqs, n_columns * row_bytes)
    ids : int64, shape (n_rows,)
        Any values; each is read once. Valid ids are 0 .. n_columns - 1.
    offsets : int64, shape (n_seqs + 1,), in rows of `out`
    n_columns : int
    out : uint8, shape (n_rows, row_bytes)
        Undefined if an id is invalid.

    Returns
    -------
    int
        The first row whose id is out of range, -1 if there is none.
    """
    cdef Py_ssize_t n_seqs = rows.shape[0], row_bytes = out.shape[1], s, t, bad = -1
    if n_seqs != offsets.shape[0] - 1 or ids.shape[0] != offsets[n_seqs] or out.shape[0] != ids.shape[0]:
        raise ValueError("ids, offsets, rows and out have different numbers of rows or sequences")
    if rows.shape[1] != n_columns * row_bytes:
        raise ValueError("rows and out have columns of different sizes")
    if ids.shape[0] == 0:
        return -1
    cdef const unsigned char* source = &rows[0, 0] if n_seqs and rows.shape[1] else NULL
    cdef const int64_t* numbers = &ids[0]
    cdef const int64_t* ends = &offsets[0]
    cdef unsigned char* result = &out[0, 0] if row_bytes else NULL
    cdef const unsigned char* column_at
    cdef int64_t column
    with nogil:
        for s in range(n_seqs):
            for t in range(ends[s], ends[s + 1]):
                column = read_once(numbers + t)
                if <uint64_t> column >= <uint64_t> n_columns:
                    bad = t
                    break
                column_at = source + (s * n_columns + column) * row_bytes
                if row_bytes == 4:
                    memcpy(result + t * 4, column_at, 4)
                elif row_bytes == 8:
                    memcpy(result + t * 8, column_at, 8)
                elif row_bytes:
                    memcpy(result + t * row_bytes, column_at, row_bytes)
            if bad >= 0:
                break
    return bad


# -- a set of numbers --------------------------------------------------------------------------------------------------


cdef inline bint bits_of(int64_t number, int64_t size, bint is_signed, uint64_t* found) noexcept nogil:
    """Write a number as an unsigned number of some size; return whether that size can represent it."""
    cdef int64_t half = (<int64_t> 1) << (8 * size - 1 if size < 8 else 62)
    found[0] = <uint64_t> number
    if size < 8:
        found[0] &= 2 * <uint64_t> half - 1
    if not is_signed:
        return number >= 0 and (size == 8 or number < 2 * half)
    return size == 8 or (number >= -half and number < half)


cdef int by_number(const void* one, const void* other) noexcept nogil:
    cdef uint64_t a = (<const uint64_t*> one)[0], b = (<const uint64_t*> other)[0]
    return (a > b) - (a < b)


cdef bint make_set(
    token_set* made, const int64_t* tokens, int64_t count, int64_t size, bint is_signed, int64_t rows
) noexcept nogil:
    """Build the set of the tokens that a number of some size can represent; `rows` numbers will be looked up.

    Return whether there is memory for it.
    """
    cdef uint64_t* found = made.few
    cdef uint64_t place
    cdef int64_t k
    made.count, made.range, made.sorted, made.table = 0, 0, NULL, NULL
    if count > FEW:
        found = made.sorted = <uint64_t*> malloc(count * sizeof(uint64_t))
        if found == NULL:
            return False
    for k in range(count):
        if bits_of(read_once(tokens + k), size, is_signed, &place):
            found[made.count] = place
            made.count += 1
    if made.count == 0:
        return True
    for k in range(made.count, FEW):
        found[k] = found[0]
    if made.count <= FEW:
        memcpy(made.few, found, sizeof(made.few))
        return True
    qsort(found, made.count, sizeof(uint64_t), by_number)
    made.range = found[made.count - 1] - found[0]
    if made.range // 16 <= <uint64_t> rows + 4096:  # no more bits than it pays to clear
        made.table = <uint8_t*> calloc(made.range // 8 + 2, 1)
    if made.table != NULL:
        for k in range(made.count):
            place = found[k] - found[0]
            made.table[place >> 3] |= <uint8_t> (1 << (place & 7))
    return True


# -- rows that are not in the set --------------------------------------------------------------------------------------


cdef inline forced_void mark(const bits* x, int64_t count, const token_set* tokens, uint8_t* keep) noexcept nogil:
    """Set keep[i] to whether x[i] is not a token."""
    cdef bits a = <bits> tokens.few[0], b = <bits> tokens.few[1], c = <bits> tokens.few[2], d = <bits> tokens.few[3]
    cdef uint64_t low, reach = tokens.range, place
    cdef const uint8_t* table = tokens.table
    cdef const uint64_t* at
    cdef int64_t i, rest
    if tokens.count <= FEW:
        for i in range(count):
            keep[i] = (x[i] != a) & (x[i] != b) & (x[i] != c) & (x[i] != d)
    elif table != NULL:
        low = tokens.sorted[0]
        for i in range(count):
            place = <uint64_t> x[i] - low
            place = place if place <= reach else reach + 1  # the bit after the last one is 0
            keep[i] = not ((table[place >> 3] >> (place & 7)) & 1)
    else:
        for i in range(count):
            at = tokens.sorted
            rest = tokens.count
            while rest > 1:
                at = at + rest // 2 if at[rest // 2] <= x[i] else at
                rest -= rest // 2
            keep[i] = at[0] != x[i]


cdef avx512_void mark_avx512(const bits* x, int64_t count, const token_set* tokens, uint8_t* keep) noexcept nogil:
    mark(x, count, tokens, keep)


cdef avx2_void mark_avx2(const bits* x, int64_t count, const token_set* tokens, uint8_t* keep) noexcept nogil:
    mark(x, count, tokens, keep)


cdef void mark_plain(const bits* x, int64_t count, const token_set* tokens, uint8_t* keep) noexcept nogil:
    mark(x, count, tokens, keep)


cdef int64_t keep_rows(const bits* x, int64_t count, const uint8_t* keep, bits* out, int32_t* place) noexcept nogil:
    """Copy the rows that are kept, and write the number of kept rows before each, without branches on the data."""
    cdef int32_t kept = 0
    cdef int64_t i
    for i in range(count):
        place[i] = kept
        out[kept] = x[i]
        kept += keep[i]
    return kept


cdef void drop_marked(
    const bits* x, const int64_t* offsets, int64_t n_seqs, const token_set* tokens, bits* out, int64_t* out_offsets
) noexcept nogil:
    cdef uint8_t keep[SOME_ROWS]
    cdef int32_t place[SOME_ROWS]
    cdef int64_t n_rows = offsets[n_seqs], kept = 0, s = 0, first = 0, count, more
    cdef int level = simd_level()
    while first < n_rows:
        count = n_rows - first if n_rows - first < SOME_ROWS else SOME_ROWS
        if level == SIMD_AVX512:
            mark_avx512(x + first, count, tokens, keep)
        elif level == SIMD_AVX2:
            mark_avx2(x + first, count, tokens, keep)
        else:
            mark_plain(x + first, count, tokens, keep)
        more = keep_rows(x + first, count, keep, out + kept, place)
        while offsets[s] < first + count:
            out_offsets[s] = kept + place[offsets[s] - first]
            s += 1
        kept += more
        first += SOME_ROWS
    for s in range(s, n_seqs + 1):
        out_offsets[s] = kept


cdef bint drop_rows(
    const bits* x, bint is_signed, const int64_t* offsets, int64_t n_seqs, const int64_t* tokens, int64_t n_tokens,
    bits* out, int64_t* out_offsets
) noexcept nogil:
    """Copy the rows that are not tokens, and write their offsets; `out` has room for all rows.

    Return whether there is memory for the set of tokens.
    """
    cdef token_set found
    cdef int64_t n_rows = offsets[n_seqs]
    if not make_set(&found, tokens, n_tokens, sizeof(bits), is_signed, n_rows):
        free(found.sorted)
        return False
    if found.count == 0 or n_rows == 0:
        if n_rows:
            memcpy(out, x, n_rows * sizeof(bits))
        memcpy(out_offsets, offsets, (n_seqs + 1) * sizeof(int64_t))
    else:
        drop_marked(x, offsets, n_seqs, &found, out, out_offsets)
    free(found.sorted)
    free(found.table)
    return True
