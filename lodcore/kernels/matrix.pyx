"""Products of matrices that are multiplied often, or with few rows: the right operand is packed once.

A packed matrix is an array of cells: panels of 128 bytes of columns (32 for float32, 16 for float64), one after
another, each with all rows, and with 0 where the last panel has more columns than the matrix. Each cell of a result is
one chain of fused multiply-adds in the order of the rows, if the processor has them, so its bits depend neither on the
number of rows nor on the instruction set. The twin adds products; results agree to the bit where nothing is rounded.
"""

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from lodcore.kernels.simd cimport plain_void

cdef extern from "matrix.h" nogil:
    enum: PANEL_BYTES
    int has_product()
    int64_t transpose_fours(const float* b, int64_t line, int64_t depth, float* out)
    # of float or of double, if there is has_product: all arrays of cells have the type of the result
    void block_of(const void* a, int64_t row, int64_t step, int64_t rows, int64_t depth, const void* panel,
                  int64_t panel_line, int64_t columns, int adding, void* out, int64_t line)

cdef enum:
    BLOCK_ROWS = 48  # rows of the left operand that are multiplied by a panel while it is in the cache
    BLOCK_DEPTH = 256  # rows of a panel that are multiplied at a time
    EDGE = 32 * BLOCK_ROWS  # cells of a block of floats; of doubles, half as many
    SQUARE = 16
    MOST_COLUMNS = 32  # of a panel
    PAGE = 4096


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
        pack(source, line, depth, columns, transposed, result)


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
        sum_pairs(
            first, line, first_index, second, right_line, second_index, pairs, rows, columns, adding, result, out_line,
            block, block + blocks * BLOCK_ROWS * BLOCK_DEPTH,
        )
        free(block)


cdef bint within(const int64_t[::1] index, Py_ssize_t count) noexcept nogil:
    """Return whether all numbers are row numbers."""
    cdef Py_ssize_t k
    if index is None:
        return True
    for k in range(index.shape[0]):
        if not 0 <= index[k] < count:
            return False
    return True


# -- packing -----------------------------------------------------------------------------------------------------------


cdef inline void pack_panel(
    const real* b, int64_t line, const int64_t* index, int64_t first, int64_t depth, int64_t column, int64_t columns,
    real* out
) noexcept nogil:
    """Pack rows first .. first + depth of a matrix, selected by `index`, and its columns from `column` on."""
    cdef int64_t panel = PANEL_BYTES // sizeof(real), k, c
    cdef const real* source
    for k in range(first, first + depth):
        source = b + (k if index == NULL else index[k]) * line + column
        if columns >= panel:
            memcpy(out, source, PANEL_BYTES)
        else:
            for c in range(columns):
                out[c] = source[c]
            for c in range(columns, panel):
                out[c] = 0
        out += panel


cdef inline void pack_transposed(
    const real* b, int64_t line, int64_t depth, int64_t column, int64_t columns, real* out
) noexcept nogil:
    """Pack the transposed matrix likewise: its rows are the columns of the panel."""
    cdef int64_t panel = PANEL_BYTES // sizeof(real), first = 0, k, c
    columns = min(columns, panel)
    for c in range(columns, panel):
        for k in range(depth):
            out[k * panel + c] = 0
    if real is float:
        if columns == panel:
            first = transpose_fours(b + column * line, line, depth, out)
    while first < depth:
        for c in range(columns):
            for k in range(first, min(first + SQUARE, depth)):
                out[k * panel + c] = b[(column + c) * line + k]
        first += SQUARE


cdef void pack(
    const real* b, int64_t line, int64_t depth, int64_t columns, bint transposed, real* out
) noexcept nogil:
    cdef int64_t panel = PANEL_BYTES // sizeof(real), c = 0
    while c < columns:
        if transposed:
            pack_transposed(b, line, depth, c, columns - c, out + c * depth)
        else:
            pack_panel(b, line, NULL, 0, depth, c, columns - c, out + c * depth)
        c += panel


# -- products in blocks. Leading dimensions are in cells ---------------------------------------------------------------


cdef inline plain_void multiply_plain(
    const real* a, int64_t row, int64_t step, int64_t rows, int64_t depth, const real* panel, int64_t panel_line,
    bint adding, real* out, int64_t line
) noexcept nogil:
    """Multiply without fused multiply-adds.

    A function of its own: where the compiler knew that `step` is 1, products of float64 took 1.9 times as long.
    """
    cdef real sums[MOST_COLUMNS]
    cdef int64_t columns = PANEL_BYTES // sizeof(real), _i, k, c
    for _i in range(rows):
        for c in range(columns):
            sums[c] = out[c] if adding else 0
        for k in range(depth):
            for c in range(columns):
                sums[c] += a[k * step] * panel[k * panel_line + c]
        for c in range(columns):
            out[c] = sums[c]
        a += row
        out += line


cdef inline void multiply_panel(
    const real* a, int64_t row, int64_t step, int64_t rows, int64_t depth, const real* panel, int64_t panel_line,
    int64_t columns, bint adding, real* out, int64_t line
) noexcept nogil:
    if has_product():
        block_of(a, row, step, rows, depth, panel, panel_line, columns, adding, out, line)
    else:
        multiply_plain(a, row, step, rows, depth, panel, panel_line, adding, out, line)


cdef void multiply_block(
    const real* a, int64_t row, int64_t step, int64_t rows, int64_t depth, const real* panel, int64_t panel_line,
    int64_t columns, bint adding, real* out, int64_t line
) noexcept nogil:
    """Multiply at most BLOCK_ROWS rows by a panel; only the part that is in the matrix is read and written."""
    cdef real edge[EDGE]
    cdef int64_t width = PANEL_BYTES // sizeof(real), i
    if columns >= width:
        multiply_panel(a, row, step, rows, depth, panel, panel_line, width, adding, out, line)
        return
    if adding:
        for i in range(rows):
            memcpy(edge + i * width, out + i * line, columns * sizeof(real))
    multiply_panel(a, row, step, rows, depth, panel, panel_line, columns, adding, edge, width)
    for i in range(rows):
        memcpy(out + i * line, edge + i * width, columns * sizeof(real))


cdef inline void clear(int64_t rows, int64_t columns, real* out, int64_t line) noexcept nogil:
    cdef int64_t i
    for i in range(rows):
        memset(out + i * line, 0, columns * sizeof(real))


cdef void times_packed(
    const real* left, int64_t left_line, int64_t rows, int64_t depth, const real* packed, int64_t columns, bint adding,
    real* out, int64_t out_line,
) noexcept nogil:
    """Multiply rows by a packed matrix, without checks: for kernels that run many steps."""
    cdef int64_t panel = PANEL_BYTES // sizeof(real), i = 0, k, c
    if depth == 0 and not adding:
        clear(rows, columns, out, out_line)
    while i < rows:
        k = 0
        while k < depth:
            c = 0
            while c < columns:
                multiply_block(
                    left + i * left_line + k, left_line, 1, min(BLOCK_ROWS, rows - i), min(BLOCK_DEPTH, depth - k),
                    packed + c * depth + k * panel, panel, columns - c, adding or k > 0, out + i * out_line + c,
                    out_line,
                )
                c += panel
            k += BLOCK_DEPTH
        i += BLOCK_ROWS


cdef void sum_pairs(
    const real* a, int64_t a_line, const int64_t* a_index, const real* b, int64_t b_line, const int64_t* b_index,
    int64_t pairs, int64_t rows, int64_t columns, bint adding, real* out, int64_t line, real* blocks, real* packed
) noexcept nogil:
    """Sum the outer products of pairs of rows.

    `blocks` has BLOCK_DEPTH cells for each row of out, rounded up to BLOCK_ROWS, and `packed` has room for a panel of
    BLOCK_DEPTH rows. An index is NULL for all rows in their order.
    """
    cdef int64_t panel = PANEL_BYTES // sizeof(real), i, k = 0, c, r, deep
    cdef real* place
    # lines at the same offset of different pages share the sets of the cache
    cdef bint b_copied = b_index != NULL or b_line * <int64_t> sizeof(real) % PAGE == 0, copied
    if pairs == 0 and not adding:
        clear(rows, columns, out, line)
    while k < pairs:
        deep = min(BLOCK_DEPTH, pairs - k)
        i = 0
        while i < rows and a_index != NULL:
            for r in range(deep):
                memcpy(blocks + i * BLOCK_DEPTH + r * BLOCK_ROWS, a + a_index[k + r] * a_line + i,
                       min(BLOCK_ROWS, rows - i) * sizeof(real))
            i += BLOCK_ROWS
        c = 0
        while c < columns:
            copied = b_copied or columns - c < panel
            place = packed if copied else <real*> b + k * b_line + c
            if copied:
                pack_panel(b, b_line, b_index, k, deep, c, columns - c, packed)
            i = 0
            while i < rows:
                multiply_block(
                    a + k * a_line + i if a_index == NULL else blocks + i * BLOCK_DEPTH, 1,
                    a_line if a_index == NULL else BLOCK_ROWS, min(BLOCK_ROWS, rows - i), deep,
                    place, panel if copied else b_line, columns - c,
                    adding or k > 0, out + i * line + c, line,
                )
                i += BLOCK_ROWS
            c += panel
        k += BLOCK_DEPTH
