"""Products of matrices that are multiplied often, or with few rows: the right operand is packed once.

A packed matrix is an array of cells: panels of 128 bytes of columns (32 for float32, 16 for float64), one after
another, each with all rows, and with 0 where the last panel has more columns than the matrix. Each cell of a result is
one chain of fused multiply-adds in the order of the rows, if the processor has them, so its bits depend neither on the
number of rows nor on the instruction set. The twin adds products; results agree to the bit where nothing is rounded.
"""

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

cdef extern from "matrix.h" nogil:
    enum: BLOCK_ROWS, BLOCK_DEPTH, PANEL_BYTES
    int has_product()
    void pack_float(const float* b, int64_t line, int64_t depth, int64_t columns, int transposed, float* out)
    void pack_double(const double* b, int64_t line, int64_t depth, int64_t columns, int transposed, double* out)
    void multiply_float(const float* a, int64_t a_line, int64_t rows, int64_t depth, const float* packed,
                        int64_t columns, int adding, float* out, int64_t line)
    void multiply_double(const double* a, int64_t a_line, int64_t rows, int64_t depth, const double* packed,
                         int64_t columns, int adding, double* out, int64_t line)
    void multiply_pairs_float(const float* a, int64_t a_line, const int64_t* a_index, const float* b, int64_t b_line,
                              const int64_t* b_index, int64_t pairs, int64_t rows, int64_t columns, int adding,
                              float* out, int64_t line, float* blocks, float* panel)
    void multiply_pairs_double(const double* a, int64_t a_line, const int64_t* a_index, const double* b,
                               int64_t b_line, const int64_t* b_index, int64_t pairs, int64_t rows, int64_t columns,
                               int adding, double* out, int64_t line, double* blocks, double* panel)


def is_fast():
    """Return whether these products are compiled for the processor in use; if not, those of NumPy are faster.

    Returns
    -------
    bool
    """
    return bool(has_product())


def is_zero(const real[:, ::1] matrix not None):
    """Return whether all cells of a matrix are zero.

    Parameters
    ----------
    matrix : float32 or float64, shape (rows, columns)
        C-contiguous.

    Returns
    -------
    bool
    """
    cdef Py_ssize_t r, c, columns = matrix.shape[1]
    cdef bint found
    for r in range(matrix.shape[0]):
        found = False
        for c in range(columns):
            found |= matrix[r, c] != 0
        if found:
            return False
    return True


def pack_columns(const real[:, :] matrix not None, bint transposed, real[::1] out not None):
    """Pack a matrix.

    Parameters
    ----------
    matrix : float32 or float64, shape (depth, columns), or (columns, depth) if it is transposed
        The cells of a row are contiguous.
    transposed : bool
        Whether to pack the transposed matrix.
    out : as matrix, shape (depth * panels * cells of a panel,)
        There are as many panels as the columns need.
    """
    cdef Py_ssize_t depth = matrix.shape[1 if transposed else 0], columns = matrix.shape[0 if transposed else 1]
    cdef Py_ssize_t cells = PANEL_BYTES // sizeof(real)
    if out.shape[0] != (columns + cells - 1) // cells * cells * depth or not in_lines(matrix):
        raise ValueError("matrix and out do not belong together")
    if depth == 0 or columns == 0:
        return
    cdef const real* source = &matrix[0, 0]
    cdef real* result = &out[0]
    cdef Py_ssize_t line = matrix.strides[0] // <Py_ssize_t> sizeof(real)
    with nogil:
        if real is float:
            pack_float(source, line, depth, columns, transposed, result)
        else:
            pack_double(source, line, depth, columns, transposed, result)


cdef void times_packed(
    const real* left, int64_t left_line, int64_t rows, int64_t depth, const real* packed, int64_t columns, bint adding,
    real* out, int64_t out_line,
) noexcept nogil:
    """Multiply rows by a packed matrix, without checks: for kernels that run many steps."""
    if real is float:
        multiply_float(left, left_line, rows, depth, packed, columns, adding, out, out_line)
    else:
        multiply_double(left, left_line, rows, depth, packed, columns, adding, out, out_line)


def multiply_packed(const real[:, :] left not None, const real[::1] packed not None, bint adding,
                    real[:, :] out not None):
    """Multiply rows by a packed matrix.

    Parameters
    ----------
    left : float32 or float64, shape (n_rows, depth)
        The cells of a row are contiguous, as in out.
    packed : as left
        The result of `pack_columns` for a matrix of shape (depth, columns).
    adding : bool
        Whether to add to the previous content of out.
    out : as left, shape (n_rows, columns)
    """
    cdef Py_ssize_t rows = left.shape[0], depth = left.shape[1], columns = out.shape[1]
    cdef Py_ssize_t cells = PANEL_BYTES // sizeof(real)
    if (packed.shape[0] != (columns + cells - 1) // cells * cells * depth or out.shape[0] != rows
            or not in_lines(left) or not in_lines(out)):
        raise ValueError("left, packed and out do not belong together")
    if rows == 0 or columns == 0:
        return
    cdef const real* source = &left[0, 0] if depth else NULL
    cdef const real* matrix = &packed[0] if depth else NULL
    cdef real* result = &out[0, 0]
    cdef Py_ssize_t size = sizeof(real), line = left.strides[0] // size, out_line = out.strides[0] // size
    with nogil:
        times_packed(source, line, rows, depth, matrix, columns, adding, result, out_line)


def multiply_pairs(const real[:, :] left not None, const int64_t[::1] left_index, const real[:, :] right not None,
                   const int64_t[::1] right_index, bint adding, real[:, :] out not None):
    """Multiply the columns of two matrices over pairs of rows: the sum of left[i, :, None] * right[j] over pairs i, j.

    Parameters
    ----------
    left : float32 or float64, shape (n, rows)
        The cells of a row are contiguous, as in right and out.
    left_index : int64, shape (n_pairs,), or None
        Rows of left; None for all rows in their order.
    right : as left, shape (m, columns)
    right_index : int64, shape (n_pairs,), or None
        Rows of right.
    adding : bool
        Whether to add to the previous content of out.
    out : as left, shape (rows, columns)
    """
    cdef Py_ssize_t rows = left.shape[1], columns = right.shape[1]
    cdef Py_ssize_t pairs = left.shape[0] if left_index is None else left_index.shape[0]
    if (pairs != (right.shape[0] if right_index is None else right_index.shape[0]) or out.shape[0] != rows
            or out.shape[1] != columns or not in_lines(left) or not in_lines(right) or not in_lines(out)):
        raise ValueError("left, right and out do not belong together")
    if not (within(left_index, left.shape[0]) and within(right_index, right.shape[0])):
        raise ValueError("an index leaves the rows")
    if rows == 0 or columns == 0:
        return
    cdef const real* first = &left[0, 0] if pairs else NULL
    cdef const real* second = &right[0, 0] if pairs else NULL
    cdef const int64_t* first_index = &left_index[0] if left_index is not None and pairs else NULL
    cdef const int64_t* second_index = &right_index[0] if right_index is not None and pairs else NULL
    cdef real* result = &out[0, 0]
    cdef Py_ssize_t size = sizeof(real), line = left.strides[0] // size, right_line = right.strides[0] // size
    cdef Py_ssize_t out_line = out.strides[0] // size, blocks = (rows + BLOCK_ROWS - 1) // BLOCK_ROWS
    cdef Py_ssize_t panel = PANEL_BYTES // size
    cdef real* block = <real*> malloc((blocks * BLOCK_ROWS + panel) * BLOCK_DEPTH * sizeof(real))
    if block == NULL:
        raise MemoryError
    with nogil:
        if real is float:
            multiply_pairs_float(first, line, first_index, second, right_line, second_index, pairs, rows, columns,
                                 adding, result, out_line, block, block + blocks * BLOCK_ROWS * BLOCK_DEPTH)
        else:
            multiply_pairs_double(first, line, first_index, second, right_line, second_index, pairs, rows, columns,
                                  adding, result, out_line, block, block + blocks * BLOCK_ROWS * BLOCK_DEPTH)
        free(block)


cdef inline bint in_lines(const real[:, :] matrix) noexcept:
    """Return whether the cells of each row are contiguous."""
    cdef Py_ssize_t size = sizeof(real)
    return matrix.shape[1] <= 1 or matrix.shape[0] == 0 or (matrix.strides[1] == size and matrix.strides[0] % size == 0)


cdef bint within(const int64_t[::1] index, Py_ssize_t count) noexcept:
    """Return whether all numbers are row numbers."""
    cdef Py_ssize_t k
    if index is None:
        return True
    for k in range(index.shape[0]):
        if not 0 <= index[k] < count:
            return False
    return True
