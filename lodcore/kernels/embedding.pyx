"""Rows of a table by their numbers: gathered, scattered with addition, and pooled sequence by sequence.

Numbers come from outside: each function returns the first position whose number is out of range, or -1 if there is
none. It checks a number when it uses it, so that the content of `out` is undefined after such an error; a caller whose
array must stay as it is asks `check_index` first. Bags are pooled to the same bits as `lodcore.kernels.pool` pools the
gathered rows.
"""

from libc.stdint cimport int64_t

from lodcore.kernels.sizes cimport agree, ends_at

cdef extern from "embedding.h" nogil:
    int SUM, GREATEST, LEAST, BY_ONE
    int64_t first_outside(const int64_t* index, int64_t count, int64_t n_rows)
    int64_t take_rows_of(
        const char* rows, int64_t n_rows, int64_t row_bytes, const int64_t* index, int64_t count, int64_t skip,
        char* out)
    int64_t number_rows_of(
        const int64_t* index, int64_t count, int64_t height, int64_t* numbers, int64_t* places, int64_t* rows)
    int64_t add_rows_float(
        const float* rows, const int64_t* index, int64_t count, int64_t height, int64_t width, float* out)
    int64_t add_rows_double(
        const double* rows, const int64_t* index, int64_t count, int64_t height, int64_t width, double* out)
    int64_t pool_bags_float(
        const float* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets,
        int64_t n_seqs, int verb, int divide, float* out)
    int64_t pool_bags_double(
        const double* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets,
        int64_t n_seqs, int verb, int divide, double* out)
    int64_t find_in_bags_float(
        const float* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets,
        int64_t n_seqs, const float* best, int64_t* places)
    int64_t find_in_bags_double(
        const double* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets,
        int64_t n_seqs, const double* best, int64_t* places)
    int64_t weigh_bags_float(
        const float* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets,
        int64_t n_seqs, const float* weights, float* out)
    int64_t product_with_bags_float(
        const float* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets,
        int64_t n_seqs, const float* rows, float* out)
    int64_t weigh_bags_double(
        const double* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets,
        int64_t n_seqs, const double* weights, double* out)
    int64_t product_with_bags_double(
        const double* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets,
        int64_t n_seqs, const double* rows, double* out)

ctypedef fused real:
    float
    double


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
    cdef Py_ssize_t count = index.shape[0], n_rows = rows.shape[0], row_bytes = rows.shape[1], bad
    agree(out.shape[0] == count and out.shape[1] == row_bytes)
    cdef const int64_t* numbers = &index[0] if count else NULL
    cdef bint cells = n_rows > 0 and row_bytes > 0 and count > 0
    cdef const char* source = <const char*> &rows[0, 0] if cells else NULL
    cdef char* result = <char*> &out[0, 0] if cells else NULL
    with nogil:
        bad = take_rows_of(source, n_rows, row_bytes, numbers, count if cells else 0, skip, result)
        if not cells:
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
    cdef Py_ssize_t count = index.shape[0], height = out.shape[0], width = out.shape[1], bad
    agree(rows.shape[0] == count and rows.shape[1] == width)
    cdef const int64_t* numbers = &index[0] if count else NULL
    cdef const real* source = &rows[0, 0] if count and width else NULL
    cdef real* result = &out[0, 0] if height and width else NULL
    with nogil:
        if result == NULL:
            bad = first_outside(numbers, count, height)
        elif real is float:
            bad = add_rows_float(source, numbers, count, height, width, result)
        else:
            bad = add_rows_double(source, numbers, count, height, width, result)
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
    cdef Py_ssize_t count = index.shape[0], height = numbers.shape[0], bad
    agree(places.shape[0] == count and out.shape[0] == count + 1)
    cdef const int64_t* source = &index[0] if count else NULL
    cdef int64_t* marks = &numbers[0] if height else NULL
    cdef int64_t* result = &places[0] if count else NULL
    cdef int64_t* rows = &out[0]
    with nogil:
        bad = number_rows_of(source, count, height, marks, result, rows)
    return bad


cdef int64_t pool(const real* table, int64_t n_rows, int64_t width, const int64_t* index, const int64_t* offsets,
                  int64_t n_seqs, int verb, int divide, real* out) noexcept nogil:
    if out == NULL:
        return first_outside(index, offsets[n_seqs], n_rows)
    if real is float:
        return pool_bags_float(table, n_rows, width, index, offsets, n_seqs, verb, divide, out)
    else:
        return pool_bags_double(table, n_rows, width, index, offsets, n_seqs, verb, divide, out)


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
        elif real is float:
            bad = weigh_bags_float(source, n_rows, width, numbers, ends, n_seqs, factors, result)
        else:
            bad = weigh_bags_double(source, n_rows, width, numbers, ends, n_seqs, factors, result)
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
    cdef Py_ssize_t count = index.shape[0], n_rows = table.shape[0], n_seqs = rows.shape[0], width = rows.shape[1], bad
    agree(table.shape[1] == width and ends_at(offsets, n_seqs, count) and out.shape[0] == count)
    if count == 0:
        return -1
    cdef const real* source = &table[0, 0] if n_rows and width else NULL
    cdef const int64_t* numbers = &index[0]
    cdef const int64_t* ends = &offsets[0]
    cdef const real* factors = &rows[0, 0] if width else NULL
    cdef real* result = &out[0]
    with nogil:
        if real is float:
            bad = product_with_bags_float(source, n_rows, width, numbers, ends, n_seqs, factors, result)
        else:
            bad = product_with_bags_double(source, n_rows, width, numbers, ends, n_seqs, factors, result)
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
    cdef Py_ssize_t n_rows = table.shape[0], n_seqs = out.shape[0], width = out.shape[1], bad
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
        if real is float:
            bad = find_in_bags_float(source, n_rows, width, numbers, ends, n_seqs, cells, result)
        else:
            bad = find_in_bags_double(source, n_rows, width, numbers, ends, n_seqs, cells, result)
    return bad
