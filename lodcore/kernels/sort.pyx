"""Sorting of the cells of each column of sequences, selection of the first ones, and the backward pass.

nan comes after all other cells, -0 and 0 are equal, and a descending order is the reverse; equal cells keep the order
of their rows.

A cell becomes a key (keys.pxd). A few keys are ranked, each against all others, without branches, with the vectors of
sort_ranks.h; for many cells, either the best few are selected, or the keys are sorted by NumPy, which uses the widest
registers available (whole_sorts.pxd). The columns of wide rows are sorted side by side (networks.pxd).

C took 0.9 to 0.95 of the time for many sequences of two rows of one to four cells, and 1.04 on average.
"""

cimport lodcore.kernels.arrays as cnp
from libc.stdint cimport SIZE_MAX, UINT32_MAX, int8_t, int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from lodcore.kernels.keys cimport CELL_DOUBLE, CELL_FLOAT, CELL_HALF, CELL_INT8, CELL_INT16, CELL_INT32, CELL_INT64
from lodcore.kernels.keys cimport CELL_UINT8, CELL_UINT16, CELL_UINT32, CELL_UINT64, LINE, PICKED
from lodcore.kernels.keys cimport key, pick, rank_plain, size_of_cell, take_keys
from lodcore.kernels.networks cimport sort_columns
from lodcore.kernels.offsets cimport longest
from lodcore.kernels.simd cimport SIMD_AVX2, SIMD_AVX512, forced_void, plain_void, read_once, simd_level
from lodcore.kernels.whole_sorts cimport numpy_sort, order_rows, sort_alone, sorts

cdef extern from *:
    """
    static numpy_sort sort_of(PyArrayObject *array)
    {
        return PyDataType_GetArrFuncs(PyArray_DESCR(array))->sort[NPY_QUICKSORT];
    }
    """
    numpy_sort sort_of(cnp.ndarray array)

cdef extern from "sort_ranks.h" nogil:
    # Order the rows of keys of 32 or 64 bits; vectors read beyond the last key.
    void rank_avx2(const void* keys, int length, int64_t* order)
    void rank_avx512(const void* keys, int length, int64_t* order)

cdef enum:
    RANKED = 64  # the most rows that are ranked
    SPARE = 16  # keys that vectors read beyond the last one
    ALONE = 40
    LINES_SORTED = 512
    LEAST_COLUMNS = 4

ctypedef fused cell:
    uint16_t
    uint32_t
    uint64_t

ctypedef fused bits:
    int8_t
    int16_t
    int32_t
    int64_t

cnp.import_array()


cdef list of_each_kind = []  # an empty array of every dtype that NumPy sorts here


cdef int look_up(int kind, int number) except -1:
    """Return the sort function of NumPy for cells of one kind."""
    cdef cnp.npy_intp nothing = 0
    cdef cnp.ndarray array = cnp.PyArray_EMPTY(1, &nothing, number, 0)
    of_each_kind.append(array)
    sorts[kind].sort, sorts[kind].array = sort_of(array), <void*> array
    if sorts[kind].sort == NULL:
        raise ImportError("lodcore.kernels.sort: this NumPy does not tell how it sorts numbers")
    return 0


look_up(CELL_INT32, cnp.NPY_INT32)
look_up(CELL_UINT32, cnp.NPY_UINT32)
look_up(CELL_FLOAT, cnp.NPY_FLOAT)
look_up(CELL_INT64, cnp.NPY_INT64)
look_up(CELL_UINT64, cnp.NPY_UINT64)
look_up(CELL_DOUBLE, cnp.NPY_DOUBLE)


def keep_first(const int64_t[::1] offsets not None, int64_t k, int64_t[::1] out not None):
    """Compute the offsets of the rows that remain if each sequence keeps at most k.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,), in rows
    k : int
        0 or more.
    out : int64, shape (n_seqs + 1,)
        Offsets of the rows that are kept.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1
    if n_seqs < 0 or out.shape[0] != offsets.shape[0]:
        raise ValueError("offsets and out have different shapes")
    cdef const int64_t* source = &offsets[0]
    cdef int64_t* result = &out[0]
    cdef int64_t total = 0, length, s
    with nogil:
        result[0] = 0
        for s in range(n_seqs):
            length = source[s + 1] - source[s]
            total += length if length < k else k
            result[s + 1] = total


def sort_rows(cnp.ndarray x not None, const int64_t[::1] offsets not None, const int64_t[::1] kept not None,
              bint descending, cnp.ndarray out not None, int64_t[:, ::1] positions):
    """Sort each column of each sequence, and keep the first cells.

    Parameters
    ----------
    x : bool, integers, float16, float32 or float64, shape (n_rows, width)
        C-contiguous, in native byte order.
    offsets : int64, shape (n_seqs + 1,), in rows
    kept : int64, shape (n_seqs + 1,)
        Offsets of the rows that are kept, at most as many as there are; `offsets` itself keeps all.
    descending : bool
    out : as x, shape (n_kept, width)
    positions : int64, shape (n_kept, width), or None
        The rows, within their sequences, of the sorted cells; None if they are not needed.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1
    if n_seqs < 0 or kept.shape[0] != offsets.shape[0]:
        raise ValueError("offsets and kept do not belong together")
    check_cells(x, offsets[n_seqs])
    check_cells(out, kept[n_seqs])
    cdef int64_t width = cnp.PyArray_DIM(x, 1)
    cdef int kind = kind_of(x), failed
    if (cnp.PyArray_DIM(out, 1) != width or kind_of(out) != kind
            or (positions is not None and (positions.shape[0] != kept[n_seqs] or positions.shape[1] != width))):
        raise ValueError("x, offsets, kept, out and positions do not belong together")
    if kept[n_seqs] == 0 or width == 0:
        return
    cdef const char* source = cnp.PyArray_BYTES(x)
    cdef const int64_t* bounds = &offsets[0]
    cdef const int64_t* left = &kept[0]
    cdef char* result = cnp.PyArray_BYTES(out)
    cdef int64_t* places = NULL if positions is None else &positions[0, 0]
    with nogil:
        failed = sort_each(source, kind, bounds, left, n_seqs, width, descending, result, places)
    if failed:
        raise MemoryError


def place_cells(cnp.ndarray cells not None, const int64_t[::1] offsets not None, const int64_t[::1] kept not None,
                const int64_t[:, ::1] positions not None, cnp.ndarray out not None):
    """Scatter cells to the rows from which `sort_rows` took them, and write zeros elsewhere: its adjoint.

    Parameters
    ----------
    cells : float16, float32 or float64, shape (n_kept, width)
        C-contiguous.
    offsets, kept : int64, shape (n_seqs + 1,)
        As in `sort_rows`.
    positions : int64, shape (n_kept, width)
        Any values; each is read once. If a position occurs twice, the last cell is kept.
    out : as cells, shape (n_rows, width)
        Undefined if a position is invalid.

    Returns
    -------
    int
        The first kept row with a position outside of its sequence, -1 if there is none.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1
    if n_seqs < 0 or kept.shape[0] != offsets.shape[0]:
        raise ValueError("offsets and kept do not belong together")
    check_cells(out, offsets[n_seqs])
    check_cells(cells, kept[n_seqs])
    cdef int64_t width = cnp.PyArray_DIM(out, 1), size = cnp.PyArray_ITEMSIZE(out), bad
    if (cnp.PyArray_DIM(cells, 1) != width or kind_of(cells) != kind_of(out) or kept.shape[0] != offsets.shape[0]
            or positions.shape[0] != kept[n_seqs] or positions.shape[1] != width):
        raise ValueError("cells, offsets, kept, positions and out do not belong together")
    if offsets[n_seqs] == 0 or width == 0:
        return -1
    cdef const char* source = cnp.PyArray_BYTES(cells)
    cdef const int64_t* bounds = &offsets[0]
    cdef const int64_t* left = &kept[0]
    cdef const int64_t* places = &positions[0, 0] if kept[n_seqs] else NULL
    cdef char* result = cnp.PyArray_BYTES(out)
    with nogil:
        memset(result, 0, bounds[n_seqs] * width * size)
        if size == 2:
            bad = put_back(source, bounds, left, n_seqs, width, places, result, <uint16_t*> NULL)
        elif size == 4:
            bad = put_back(source, bounds, left, n_seqs, width, places, result, <uint32_t*> NULL)
        else:
            bad = put_back(source, bounds, left, n_seqs, width, places, result, <uint64_t*> NULL)
    return bad


cdef int check_cells(cnp.ndarray array, int64_t n_rows) except -1:
    """Check that an array can be read as cells."""
    if cnp.PyArray_NDIM(array) != 2 or cnp.PyArray_DIM(array, 0) != n_rows or not cnp.PyArray_IS_C_CONTIGUOUS(array):
        raise ValueError("cells are needed as C-contiguous rows, as many as the offsets say")
    return 0


cdef int kind_of(cnp.ndarray array) except -1:
    """Return the interpretation of the bits of a cell."""
    cdef int size = cnp.PyArray_ITEMSIZE(array)
    cdef char kind = (<cnp.dtype> cnp.PyArray_DESCR(array)).kind
    if cnp.PyArray_ISNOTSWAPPED(array):
        if kind == c"b" or (kind == c"u" and size == 1):
            return CELL_UINT8
        if kind == c"u":
            return CELL_UINT16 if size == 2 else CELL_UINT32 if size == 4 else CELL_UINT64
        if kind == c"i":
            return CELL_INT8 if size == 1 else CELL_INT16 if size == 2 else CELL_INT32 if size == 4 else CELL_INT64
        if kind == c"f" and size <= 8:
            return CELL_HALF if size == 2 else CELL_FLOAT if size == 4 else CELL_DOUBLE
    raise TypeError("cells are bool, integers, float16, float32 or float64, of native byte order")


cdef int sort_each(
    const char* x, int kind, const int64_t* offsets, const int64_t* kept, int64_t n_seqs, int64_t width,
    bint descending, char* out, int64_t* positions
) noexcept nogil:
    """Sort every column of every sequence, and keep the first cells; return -1 if there is no memory."""
    cdef int64_t most = longest(offsets, n_seqs)
    cdef bint wide = kind >= CELL_UINT64
    cdef size_t each = 2 * sizeof(int64_t) + (sizeof(int64_t) if wide else sizeof(int32_t))
    cdef void* space = NULL
    cdef int64_t* lines = NULL
    if most > UINT32_MAX:  # a row number must fit beside a key
        return -1
    if most > (LINES_SORTED if width >= LEAST_COLUMNS else ALONE):
        space = NULL if <uint64_t> most > SIZE_MAX // each else malloc(most * each)
        if space == NULL:
            return -1
    if width >= LEAST_COLUMNS:
        lines = <int64_t*> malloc((most if most < LINES_SORTED else LINES_SORTED) * 2 * LINE * sizeof(int64_t))
        if lines == NULL:
            free(space)
            return -1
    if wide:
        sort_cells(x, kind, offsets, kept, n_seqs, width, descending, out, positions, space, most, lines, <int64_t> 0)
    else:
        sort_cells(x, kind, offsets, kept, n_seqs, width, descending, out, positions, space, most, lines, <int32_t> 0)
    free(space)
    free(lines)
    return 0


# -- all sequences -----------------------------------------------------------------------------------------------------


cdef inline forced_void take_cells(
    const char* x, const int64_t* order, int64_t count, int64_t width, char* to, int64_t* rows, bits one
) noexcept nogil:
    cdef int64_t step = width * <int64_t> sizeof(bits), r
    if rows == NULL:
        for r in range(count):
            memcpy(to + r * step, x + order[r] * step, sizeof(bits))
    else:
        for r in range(count):
            memcpy(to + r * step, x + order[r] * step, sizeof(bits))
            rows[r * width] = order[r]


cdef inline plain_void take_column(
    const char* x, const int64_t* order, int64_t count, int64_t size, int64_t width, char* to, int64_t* rows
) noexcept nogil:
    """Write the cells of a column in their order, and their rows unless `rows` is NULL."""
    if size == 1:
        take_cells(x, order, count, width, to, rows, <int8_t> 0)
    elif size == 2:
        take_cells(x, order, count, width, to, rows, <int16_t> 0)
    elif size == 4:
        take_cells(x, order, count, width, to, rows, <int32_t> 0)
    else:
        take_cells(x, order, count, width, to, rows, <int64_t> 0)


cdef void sort_cells(
    const char* x, int kind, const int64_t* offsets, const int64_t* kept, int64_t n_seqs, int64_t width,
    bint descending, char* out, int64_t* positions, void* space, int64_t most, int64_t* lines, key zero
) noexcept nogil:
    """Sort every column of every sequence.

    `space` has room for two integers and a key per row of the longest sequence, of `most` rows.
    """
    cdef key few[RANKED + SPARE]
    cdef int64_t order[RANKED]
    cdef int64_t* packed = <int64_t*> space
    cdef int64_t* places = NULL if space == NULL else packed + most
    cdef key flip = -1 if descending else 0
    cdef key* keys
    cdef const char* source
    cdef char* to
    cdef int64_t* rows
    cdef int64_t* chosen
    cdef int64_t size = size_of_cell(kind), step = size * width, s = -1, length, count, first, c, columns
    cdef int level = simd_level()
    for c in range(RANKED + SPARE):
        few[c] = zero
    while s + 1 < n_seqs:
        s += 1
        length, count = offsets[s + 1] - offsets[s], kept[s + 1] - kept[s]
        if length == 1 and count == 1:  # copy a run of sequences of one row
            first = s
            while s + 1 < n_seqs and offsets[s + 2] - offsets[s + 1] == 1 and kept[s + 2] - kept[s + 1] == 1:
                s += 1
            memcpy(out + kept[first] * step, x + offsets[first] * step, (s + 1 - first) * step)
            if positions != NULL:
                memset(positions + kept[first] * width, 0, (s + 1 - first) * width * sizeof(int64_t))
            continue
        if count == 0:
            continue
        if length <= LINES_SORTED and width >= LEAST_COLUMNS:
            c = 0
            while c < width:
                columns = width - c if width - c < LINE else LINE
                source, to = x + offsets[s] * step + c * size, out + kept[s] * step + c * size
                rows = NULL if positions == NULL else positions + kept[s] * width + c
                sort_columns(level, source, kind, length, count, width, columns, flip, to, rows, lines)
                c += LINE
            continue
        keys = <key*> (places + most)
        if length <= RANKED:
            keys = few
        for c in range(width):
            source, to = x + offsets[s] * step + c * size, out + kept[s] * step + c * size
            rows = NULL if positions == NULL else positions + kept[s] * width + c
            if rows == NULL and length > ALONE and count > PICKED:
                sort_alone(source, length, count, step, kind, descending, <key*> (places + most), to)
                continue
            take_keys(level, source, length, step, kind, flip, keys)
            chosen = order
            if length <= RANKED:
                if level == SIMD_AVX512:
                    rank_avx512(keys, <int> length, order)
                elif level == SIMD_AVX2:
                    rank_avx2(keys, <int> length, order)
                else:
                    rank_plain(keys, <int> length, order)
            elif count <= PICKED:
                pick(keys, length, count, order)
            else:
                order_rows(keys, length, packed, places)
                chosen = places
            take_column(source, chosen, count, size, width, to, rows)


# -- back to the rows --------------------------------------------------------------------------------------------------


cdef int64_t put_back(
    const char* cells, const int64_t* offsets, const int64_t* kept, int64_t n_seqs, int64_t width,
    const int64_t* positions, char* out, cell* unused
) noexcept nogil:
    """Scatter cells to their rows; return the first kept row with a position that is not in its sequence, or -1."""
    cdef int64_t s, r, c, row, length
    cdef char* to
    for s in range(n_seqs):
        length = offsets[s + 1] - offsets[s]
        to = out + offsets[s] * width * sizeof(cell)
        for r in range(kept[s], kept[s + 1]):
            for c in range(width):
                row = read_once(positions + r * width + c)
                if row < 0 or row >= length:
                    return r
                memcpy(to + (row * width + c) * sizeof(cell), cells + (r * width + c) * sizeof(cell), sizeof(cell))
    return -1
