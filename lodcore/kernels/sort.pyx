"""Sorting of the cells of each column of sequences, selection of the first ones, and the backward pass.

nan comes after all other cells, -0 and 0 are equal, and a descending order is the reverse; equal cells keep the order
of their rows.
"""

cimport lodcore.kernels.arrays as cnp
from libc.stdint cimport SIZE_MAX, UINT32_MAX, int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from lodcore.kernels.offsets cimport longest
from lodcore.kernels.simd cimport read_once

cdef extern from *:
    """
    #include "sort.h"
    static numpy_sort sort_of(PyArrayObject *array)
    {
        return PyDataType_GetArrFuncs(PyArray_DESCR(array))->sort[NPY_QUICKSORT];
    }
    """
    ctypedef int (*numpy_sort)(void* start, Py_ssize_t count, void* array) noexcept nogil
    ctypedef struct numpy_sorts:
        numpy_sort sort
        void* array
    numpy_sorts sorts[]
    numpy_sort sort_of(cnp.ndarray array)

cdef extern from "sort.h" nogil:
    int CELL_UINT8, CELL_UINT16, CELL_UINT32, CELL_UINT64, CELL_INT8, CELL_INT16, CELL_INT32, CELL_INT64
    int CELL_HALF, CELL_FLOAT, CELL_DOUBLE
    enum: ALONE, LINE, LINES_SORTED, LEAST_COLUMNS
    void sort_cells_by_32(const char* x, int kind, const int64_t* offsets, const int64_t* kept, int64_t n_seqs,
                          int64_t width, int descending, char* out, int64_t* positions, void* space, int64_t longest,
                          int64_t* lines)
    void sort_cells_by_64(const char* x, int kind, const int64_t* offsets, const int64_t* kept, int64_t n_seqs,
                          int64_t width, int descending, char* out, int64_t* positions, void* space, int64_t longest,
                          int64_t* lines)

ctypedef fused cell:
    uint16_t
    uint32_t
    uint64_t

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
    if (cnp.PyArray_DIM(out, 1) != width or kind_of(out) != kind or kept.shape[0] != offsets.shape[0]
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
        sort_cells_by_64(x, kind, offsets, kept, n_seqs, width, descending, out, positions, space, most, lines)
    else:
        sort_cells_by_32(x, kind, offsets, kept, n_seqs, width, descending, out, positions, space, most, lines)
    free(space)
    free(lines)
    return 0


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
