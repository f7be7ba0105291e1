"""Rows of a table by their numbers: gathered, scattered with addition, and pooled sequence by sequence.

Numbers come from outside: each function returns the first position whose number is out of range, or -1 if there is
none. It checks a number when it uses it, so that the content of `out` is undefined after such an error; a caller whose
array must stay as it is asks `check_index` first. Bags are pooled to the same bits as `lodcore.kernels.pool` pools the
gathered rows.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from lodcore.kernels.bags cimport AHEAD, find_cells, multiply_bags, prefetch_cells, run_pool_bags, run_weigh_bags
from lodcore.kernels.folds cimport BY_ONE, GREATEST, LEAST, SUM
from lodcore.kernels.lanes cimport alone, real
from lodcore.kernels.simd cimport SIMD_AVX2, SIMD_AVX512, avx2_void, avx512_void, forced_void
from lodcore.kernels.simd cimport plain_void, read_once, simd_level
from lodcore.kernels.sizes cimport agree, ends_at

ctypedef fused cell:
    uint8_t
    uint32_t
    uint64_t


def check_index(const int64_t[::1] index not None, int64_t n_rows):
    """Find the first number that is not a row of a table.

    Parameters
    ----------
    index : int64, shape (n,)
        Any values.
    n_rows : int

    Returns
    -------
    int
        The first position whose number is outside 0 .. n_rows - 1, -1 if there is none.
    """
    cdef Py_ssize_t count = index.shape[0], bad
    cdef const int64_t* numbers = &index[0] if count else NULL
    with nogil:
        bad = first_outside(numbers, count, n_rows)
    return bad


def take_rows(const unsigned char[:, ::1] rows not None, const int64_t[::1] index not None, int64_t skip,
              unsigned char[:, ::1] out not None):
    """Gather rows by their numbers.

    Parameters
    ----------
    rows : uint8, shape (n_rows, row_bytes)
    index : int64, shape (n,)
        Any values; valid numbers are 0 .. n_rows - 1.
    skip : int
        The number whose row counts as zeros; -1 if there is none.
    out : uint8, shape (n, row_bytes)

    Returns
    -------
    int
        The first position whose number is out of range, -1 if there is none.
    """
    cdef Py_ssize_t count = index.shape[0], n_rows = rows.shape[0], row_bytes = rows.shape[1]
    cdef int64_t bad = -1
    agree(out.shape[0] == count and out.shape[1] == row_bytes)
    cdef const int64_t* numbers = &index[0] if count else NULL
    cdef bint cells = n_rows > 0 and row_bytes > 0 and count > 0
    cdef const char* source = <const char*> &rows[0, 0] if cells else NULL
    cdef char* result = <char*> &out[0, 0] if cells else NULL
    with nogil:
        if cells:
            take_each(source, n_rows, row_bytes, numbers, count, skip, result, &bad)
        else:
            bad = first_outside(numbers, count, n_rows)
    return bad


def add_rows(const real[:, ::1] rows not None, const int64_t[::1] index not None, real[:, ::1] out not None):
    """Add each row to the row of `out` with its number: the adjoint of `take_rows`.

    Parameters
    ----------
    rows : float32 or float64, shape (n, width)
    index : int64, shape (n,)
        Any values; valid numbers are 0 .. height - 1.
    out : as rows, shape (height, width)
        Overwritten: sums start at 0 and run in the order of the rows.

    Returns
    -------
    int
        The first position whose number is out of range, -1 if there is none.
    """
    cdef Py_ssize_t count = index.shape[0], height = out.shape[0], width = out.shape[1]
    cdef int64_t bad = -1
    agree(rows.shape[0] == count and rows.shape[1] == width)
    cdef const int64_t* numbers = &index[0] if count else NULL
    cdef const real* source = &rows[0, 0] if count and width else NULL
    cdef real* result = &out[0, 0] if height and width else NULL
    with nogil:
        if result == NULL:
            bad = first_outside(numbers, count, height)
        else:
            add_each(source, numbers, count, height, width, result, &bad)
    return bad


def number_rows(const int64_t[::1] index not None, int64_t[::1] numbers not None, int64_t[::1] places not None,
                int64_t[::1] out not None):
    """Number the rows that occur in an index, in ascending order.

    Parameters
    ----------
    index : int64, shape (n,)
        Any values; valid numbers are 0 .. height - 1.
    numbers : int64, shape (height,)
        Written: the number of each row, -1 for rows that do not occur.
    places : int64, shape (n,)
        Written: the number of the row of each entry of `index`.
    out : int64, shape (n + 1,)
        Written: the count of the rows that occur, then these rows; the entries after them are not written. The content
        of all three is undefined if a number is out of range.

    Returns
    -------
    int
        The first position whose number is out of range, -1 if there is none.
    """
    cdef Py_ssize_t count = index.shape[0], height = numbers.shape[0]
    cdef int64_t bad = -1
    agree(places.shape[0] == count and out.shape[0] == count + 1)
    cdef const int64_t* source = &index[0] if count else NULL
    cdef int64_t* marks = &numbers[0] if height else NULL
    cdef int64_t* result = &places[0] if count else NULL
    cdef int64_t* rows = &out[0]
    with nogil:
        number_each(source, count, height, marks, result, rows, &bad)
    return bad


cdef int64_t pool(const real* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets,
                  int64_t n_seqs, int verb, int divide, real* out) noexcept nogil:
    if out == NULL:
        return first_outside(index, offsets[n_seqs], n_rows)
    return run_pool_bags(table, n_rows, width, index, offsets, n_seqs, verb, divide, out)


def sum_bags(const real[:, ::1] table not None, const int64_t[::1] index not None, const int64_t[::1] offsets not None,
             int divide, real[:, ::1] out not None):
    """Sum the rows of a table whose numbers are in each bag.

    Parameters
    ----------
    table : float32 or float64, shape (n_rows, width)
    index : int64, shape (n,)
        Any values; valid numbers are 0 .. n_rows - 1.
    offsets : int64, shape (n_seqs + 1,), in entries of `index`
    divide : int
        The divisor of each sum: 0 for none, 1 for the length of the bag, 2 for its square root.
    out : as table, shape (n_seqs, width)
        Zeros for an empty bag.

    Returns
    -------
    int
        The first position whose number is out of range, -1 if there is none.
    """
    cdef Py_ssize_t count = index.shape[0], n_rows = table.shape[0], n_seqs = out.shape[0], width = out.shape[1], bad
    agree(table.shape[1] == width and ends_at(offsets, n_seqs, count))
    cdef const real* source = &table[0, 0] if n_rows and width else NULL
    cdef const int64_t* numbers = &index[0] if count else NULL
    cdef const int64_t* ends = &offsets[0]
    cdef real* result = &out[0, 0] if n_seqs and width else NULL
    with nogil:
        bad = pool(source, n_rows, width, numbers, ends, n_seqs, SUM, divide, result)
    return bad


def weigh_bags(const real[:, ::1] table not None, const int64_t[::1] index not None,
               const int64_t[::1] offsets not None, const real[::1] weights not None, real[:, ::1] out not None):
    """Sum the rows of a table whose numbers are in each bag, each multiplied by its own weight.

    Parameters
    ----------
    table : float32 or float64, shape (n_rows, width)
    index : int64, shape (n,)
        Any values; valid numbers are 0 .. n_rows - 1.
    offsets : int64, shape (n_seqs + 1,), in entries of `index`
    weights : as table, shape (n,)
    out : as table, shape (n_seqs, width)
        Each cell is one sum, in the order of the bag; zeros for an empty bag.

    Returns
    -------
    int
        The first position whose number is out of range, -1 if there is none.
    """
    cdef Py_ssize_t count = index.shape[0], n_rows = table.shape[0], n_seqs = out.shape[0], width = out.shape[1], bad
    agree(table.shape[1] == width and ends_at(offsets, n_seqs, count) and weights.shape[0] == count)
    cdef const real* source = &table[0, 0] if n_rows and width else NULL
    cdef const int64_t* numbers = &index[0] if count else NULL
    cdef const int64_t* ends = &offsets[0]
    cdef const real* factors = &weights[0] if count else NULL
    cdef real* result = &out[0, 0] if n_seqs and width else NULL
    with nogil:
        if result == NULL:
            bad = first_outside(numbers, count, n_rows)
        else:
            bad = run_weigh_bags(source, n_rows, width, numbers, ends, n_seqs, factors, result)
    return bad


def product_with_bags(const real[:, ::1] table not None, const int64_t[::1] index not None,
                      const int64_t[::1] offsets not None, const real[:, ::1] rows not None, real[::1] out not None):
    """Compute the dot product of each row in a bag with the row of the bag: the gradient of the weights.

    Parameters
    ----------
    table : float32 or float64, shape (n_rows, width)
    index : int64, shape (n,)
        Any values; valid numbers are 0 .. n_rows - 1.
    offsets : int64, shape (n_seqs + 1,), in entries of `index`
    rows : as table, shape (n_seqs, width)
    out : as table, shape (n,)
        Products are added in 16 lanes (8 for float64), column c in lane c modulo the number of lanes, and then the
        lanes in order.

    Returns
    -------
    int
        The first position whose number is out of range, -1 if there is none.
    """
    cdef Py_ssize_t count = index.shape[0], n_rows = table.shape[0], n_seqs = rows.shape[0], width = rows.shape[1]
    cdef int64_t bad = -1
    agree(table.shape[1] == width and ends_at(offsets, n_seqs, count) and out.shape[0] == count)
    if count == 0:
        return -1
    cdef const real* source = &table[0, 0] if n_rows and width else NULL
    cdef const int64_t* numbers = &index[0]
    cdef const int64_t* ends = &offsets[0]
    cdef const real* factors = &rows[0, 0] if width else NULL
    cdef real* result = &out[0]
    with nogil:
        multiply_bags(source, n_rows, width, numbers, ends, n_seqs, factors, result, &bad)
    return bad


def best_bags(const real[:, ::1] table not None, const int64_t[::1] index not None, const int64_t[::1] offsets not None,
              bint least, real[:, ::1] out not None):
    """Find the maximum (or minimum) of each column over the rows of a table whose numbers are in each bag.

    Parameters
    ----------
    table : float32 or float64, shape (n_rows, width)
    index : int64, shape (n,)
        Any values; valid numbers are 0 .. n_rows - 1.
    offsets : int64, shape (n_seqs + 1,), in entries of `index`
    least : bool
    out : as table, shape (n_seqs, width)
        Zeros for an empty bag.

    Returns
    -------
    int
        The first position whose number is out of range, -1 if there is none.
    """
    cdef Py_ssize_t count = index.shape[0], n_rows = table.shape[0], n_seqs = out.shape[0], width = out.shape[1], bad
    agree(table.shape[1] == width and ends_at(offsets, n_seqs, count))
    cdef const real* source = &table[0, 0] if n_rows and width else NULL
    cdef const int64_t* numbers = &index[0] if count else NULL
    cdef const int64_t* ends = &offsets[0]
    cdef real* result = &out[0, 0] if n_seqs and width else NULL
    with nogil:
        bad = pool(source, n_rows, width, numbers, ends, n_seqs, LEAST if least else GREATEST, BY_ONE, result)
    return bad


def find_in_bags(const real[:, ::1] table not None, const int64_t[::1] index not None,
                 const int64_t[::1] offsets not None, const real[:, ::1] best not None, int64_t[:, ::1] out not None):
    """Find the position in its bag of each cell that `best_bags` returned.

    Parameters
    ----------
    table : float32 or float64, shape (n_rows, width)
    index : int64, shape (n,)
        Any values; valid numbers are 0 .. n_rows - 1.
    offsets : int64, shape (n_seqs + 1,), in entries of `index`
    best : as table, shape (n_seqs, width)
    out : int64, shape (n_seqs, width)
        The first position in the bag whose row has the cell; -1 for an empty bag.

    Returns
    -------
    int
        A position whose number is out of range, -1 if there is none.
    """
    cdef Py_ssize_t n_rows = table.shape[0], n_seqs = out.shape[0], width = out.shape[1]
    cdef int64_t bad = -1
    agree(table.shape[1] == width and ends_at(offsets, n_seqs, index.shape[0]) and best.shape[0] == n_seqs
          and best.shape[1] == width)
    if n_seqs == 0 or width == 0:
        return -1
    cdef const real* source = &table[0, 0] if n_rows else NULL
    cdef const int64_t* numbers = &index[0] if index.shape[0] else NULL
    cdef const int64_t* ends = &offsets[0]
    cdef const real* cells = &best[0, 0]
    cdef int64_t* result = &out[0, 0]
    with nogil:
        find_cells(source, n_rows, width, numbers, ends, n_seqs, cells, result, &bad)
    return bad


# -- numbers -----------------------------------------------------------------------------------------------------------


cdef inline forced_void any_outside(const int64_t* index, int64_t count, int64_t n_rows, int64_t* any) noexcept nogil:
    cdef uint64_t found = 0
    cdef int64_t j
    for j in range(count):
        found |= <uint64_t> (<uint64_t> index[j] >= <uint64_t> n_rows)
    any[0] = <int64_t> found


cdef avx512_void any_outside_avx512(const int64_t* index, int64_t count, int64_t n_rows, int64_t* any) noexcept nogil:
    any_outside(index, count, n_rows, any)


cdef avx2_void any_outside_avx2(const int64_t* index, int64_t count, int64_t n_rows, int64_t* any) noexcept nogil:
    any_outside(index, count, n_rows, any)


cdef int64_t first_outside(const int64_t* index, int64_t count, int64_t n_rows) noexcept nogil:
    cdef int level = simd_level()
    cdef int64_t any = 0, j
    if level == SIMD_AVX512:
        any_outside_avx512(index, count, n_rows, &any)
    elif level == SIMD_AVX2:
        any_outside_avx2(index, count, n_rows, &any)
    else:
        any_outside(index, count, n_rows, &any)
    if any:
        for j in range(count):
            if <uint64_t> read_once(index + j) >= <uint64_t> n_rows:
                return j
    return -1


cdef plain_void number_each(
    const int64_t* index, int64_t count, int64_t height, int64_t* numbers, int64_t* places, int64_t* rows, int64_t* bad
) noexcept nogil:
    """Write the count of the rows that occur, and the rows themselves, to `rows`."""
    cdef int64_t found = 0, r, j
    for r in range(height):
        numbers[r] = -1
    for j in range(count):
        places[j] = read_once(index + j)
        if <uint64_t> places[j] >= <uint64_t> height:
            bad[0] = j
            return
        numbers[places[j]] = 0
    for r in range(height):
        if numbers[r] == 0:
            numbers[r] = found
            found += 1
            rows[found] = r
    for j in range(count):
        places[j] = numbers[places[j]]
    rows[0] = found


# -- rows, gathered and added ------------------------------------------------------------------------------------------


cdef plain_void take_cells(
    const char* rows, int64_t n_rows, const int64_t* index, int64_t count, int64_t skip, char* out, cell* unused,
    int64_t* bad
) noexcept nogil:
    """Gather rows of a few bytes: out[j] = rows[index[j]], zeros where the number is `skip`."""
    cdef int64_t j, row
    cdef cell one
    for j in range(count):
        row = read_once(index + j)
        if <uint64_t> row >= <uint64_t> n_rows:
            bad[0] = j
            return
        if row == skip:
            one = 0
        else:
            memcpy(&one, rows + row * sizeof(cell), sizeof(cell))
        memcpy(out + j * sizeof(cell), &one, sizeof(cell))


cdef inline forced_void take_any(
    const char* rows, int64_t n_rows, int64_t row_bytes, const int64_t* index, int64_t count, int64_t skip, char* out,
    const int64_t half, int64_t* bad
) noexcept nogil:
    """Gather rows of any size (half is 0), or of `half` to 2 * `half` bytes, as two halves that may overlap."""
    cdef const char* source
    cdef int64_t j, row
    for j in range(count):
        row = read_once(index + j)
        if j + AHEAD < count:
            prefetch_cells(rows, index[j + AHEAD], row_bytes, row_bytes)
        if <uint64_t> row >= <uint64_t> n_rows:
            bad[0] = j
            return
        if row == skip:
            memset(out, 0, row_bytes)
        elif half:
            source = rows + row * row_bytes
            memcpy(out, source, half)
            memcpy(out + row_bytes - half, source + row_bytes - half, half)
        else:
            memcpy(out, rows + row * row_bytes, row_bytes)
        out += row_bytes


cdef plain_void take_each(
    const char* rows, int64_t n_rows, int64_t row_bytes, const int64_t* index, int64_t count, int64_t skip, char* out,
    int64_t* bad
) noexcept nogil:
    if row_bytes == 1:
        take_cells(rows, n_rows, index, count, skip, out, <uint8_t*> NULL, bad)
    elif row_bytes == 4:
        take_cells(rows, n_rows, index, count, skip, out, <uint32_t*> NULL, bad)
    elif row_bytes == 8:
        take_cells(rows, n_rows, index, count, skip, out, <uint64_t*> NULL, bad)
    elif row_bytes < 4:
        take_any(rows, n_rows, row_bytes, index, count, skip, out, 2, bad)
    elif row_bytes < 8:
        take_any(rows, n_rows, row_bytes, index, count, skip, out, 4, bad)
    elif row_bytes <= 16:
        take_any(rows, n_rows, row_bytes, index, count, skip, out, 8, bad)
    elif row_bytes <= 32:
        take_any(rows, n_rows, row_bytes, index, count, skip, out, 16, bad)
    elif row_bytes <= 64:
        take_any(rows, n_rows, row_bytes, index, count, skip, out, 32, bad)
    else:
        take_any(rows, n_rows, row_bytes, index, count, skip, out, 0, bad)


cdef inline forced_void add_row(alone row, int64_t width, alone out) noexcept nogil:
    cdef int64_t c
    for c in range(width):
        out[c] += row[c]


cdef plain_void add_each(
    const real* rows, const int64_t* index, int64_t count, int64_t height, int64_t width, real* out, int64_t* bad
) noexcept nogil:
    """Compute out[index[j]] += rows[j] in this order, starting from zeros."""
    cdef int64_t j, row
    memset(out, 0, height * width * sizeof(real))
    for j in range(count):
        row = read_once(index + j)
        if j + AHEAD < count:
            prefetch_cells(out, index[j + AHEAD], width * sizeof(real), width * sizeof(real))
        if <uint64_t> row >= <uint64_t> height:
            bad[0] = j
            return
        if width == 1:
            out[row] += rows[0]
        else:
            add_row(<real*> rows, width, out + row * width)
        rows += width
