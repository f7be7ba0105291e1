"""Ranges of sequences and rows in any order; batches one after another; conversion from and to nested lists.

Rows that are only moved are opaque bytes: uint8, shape (n_rows, row_bytes). A range is a pair (start, stop).
"""

cimport lodcore.kernels.arrays as cnp
from libc.stdint cimport INT64_MAX, int64_t, uint64_t, uintptr_t

from lodcore.kernels.offsets cimport take_by_index, take_range_offsets
from lodcore.kernels.rows cimport copy_bytes, copy_row_ranges, stream_copy, stream_end, stream_pays
from lodcore.kernels.simd cimport read_once
from lodcore.kernels.sizes cimport agree, size_of_ranges

cdef extern from "Python.h":
    int PyGC_Disable()
    int PyGC_Enable()

cdef enum:
    LONG = 1 << 18  # bytes that are copied without the lock of the interpreter

ctypedef fused real:
    float
    double

cnp.import_array()


def take_sequences(const int64_t[::1] offsets not None, const int64_t[::1] index not None,
                   int64_t[:, ::1] ranges not None, int64_t[::1] out not None):
    """Select sequences of one level by their numbers, and compute their ranges in the next level.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    index : int64, shape (n,)
        Any values; each is read once. Valid numbers are -n_seqs .. n_seqs - 1; negative ones count from the end.
    ranges : int64, shape (n, 2)
        The range of each selected sequence, in the units of `offsets`.
    out : int64, shape (n + 1,)
        The offsets of the selected sequences. The content of `ranges` and `out` is undefined if an index is invalid.

    Returns
    -------
    int
        The first position whose index is out of range or whose offset overflows, -1 if there is none.
    """
    cdef Py_ssize_t count = index.shape[0], n_seqs = offsets.shape[0] - 1, bad
    agree(n_seqs >= 0 and ranges.shape[0] == count and ranges.shape[1] == 2 and out.shape[0] == count + 1)
    cdef const int64_t* source = &offsets[0]
    cdef const int64_t* numbers = &index[0] if count else NULL
    cdef int64_t* pairs = &ranges[0, 0] if count else NULL
    cdef int64_t* result = &out[0]
    with nogil:
        bad = take_by_index(source, n_seqs, numbers, count, pairs, result)
    return bad


def slice_ranges(
    const int64_t[::1] offsets not None, const int64_t[::1] start not None, const int64_t[::1] length not None,
    int64_t[:, ::1] ranges not None, int64_t[::1] out not None,
):
    """Slice each sequence.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    start, length : int64, shape (n_seqs,)
        Any values; each is read once. Valid if 0 <= start, 0 <= length and start + length <= the length of the
        sequence.
    ranges : int64, shape (n_seqs, 2)
        The range of each slice.
    out : int64, shape (n_seqs + 1,)
        The offsets of the slices. The content of `ranges` and `out` is undefined if a slice is invalid.

    Returns
    -------
    int
        The first sequence whose slice exceeds it, -1 if there is none.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, s, bad = -1
    agree(n_seqs >= 0 and start.shape[0] == n_seqs and length.shape[0] == n_seqs and ranges.shape[0] == n_seqs
          and ranges.shape[1] == 2 and out.shape[0] == n_seqs + 1)
    cdef const int64_t* source = &offsets[0]
    cdef const int64_t* starts = &start[0] if n_seqs else NULL
    cdef const int64_t* lengths = &length[0] if n_seqs else NULL
    cdef int64_t* pairs = &ranges[0, 0] if n_seqs else NULL
    cdef int64_t* result = &out[0]
    cdef int64_t here, first, size, total = 0
    with nogil:
        result[0] = 0
        for s in range(n_seqs):
            here = source[s + 1] - source[s]
            first = read_once(starts + s)
            size = read_once(lengths + s)
            # negative numbers are too large as unsigned numbers
            if <uint64_t> first > <uint64_t> here or <uint64_t> size > <uint64_t> (here - first):
                bad = s
                break
            first += source[s]
            pairs[2 * s] = first
            pairs[2 * s + 1] = first + size
            total += size
            result[s + 1] = total
    return bad


def check_ranges(const int64_t[::1] start not None, const int64_t[::1] stop not None, int64_t size,
                 int64_t[:, ::1] out not None):
    """Combine starts and stops into ranges.

    Parameters
    ----------
    start, stop : int64, shape (n,)
        Any values; each is read once. Valid if 0 <= start <= stop <= size.
    size : int
    out : int64, shape (n, 2)
        Undefined if a range is invalid.

    Returns
    -------
    int
        The first range that is reversed or exceeds 0 .. size, -1 if there is none.
    """
    cdef Py_ssize_t count = start.shape[0], j, bad = -1
    agree(stop.shape[0] == count and out.shape[0] == count and out.shape[1] == 2)
    if count == 0:
        return -1
    cdef const int64_t* starts = &start[0]
    cdef const int64_t* stops = &stop[0]
    cdef int64_t* result = &out[0, 0]
    cdef int64_t first, last
    with nogil:
        for j in range(count):
            first = read_once(starts + j)
            last = read_once(stops + j)
            if first < 0 or last < first or last > size:
                bad = j
                break
            result[2 * j] = first
            result[2 * j + 1] = last
    return bad


def count_ranges(const int64_t[:, ::1] ranges not None, int64_t[::1] out not None):
    """Compute offsets from the sizes of ranges.

    Parameters
    ----------
    ranges : int64, shape (n, 2)
    out : int64, shape (n + 1,)

    Returns
    -------
    int
        The first range whose offset overflows, -1 if there is none.
    """
    cdef Py_ssize_t count = ranges.shape[0], j, bad = -1
    agree(ranges.shape[1] == 2 and out.shape[0] == count + 1)
    cdef const int64_t* source = &ranges[0, 0] if count else NULL
    cdef int64_t* result = &out[0]
    cdef int64_t size
    with nogil:
        result[0] = 0
        for j in range(count):
            size = source[2 * j + 1] - source[2 * j]
            if size > INT64_MAX - result[j]:
                bad = j
                break
            result[j + 1] = result[j] + size
    return bad


def take_offsets(const int64_t[::1] offsets not None, int64_t[:, ::1] ranges not None, int64_t[::1] out not None):
    """Select ranges of sequences of one level, and compute their ranges in the next level.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    ranges : int64, shape (n, 2), in sequences
        Read and rewritten: afterwards in the units of `offsets`.
    out : int64, shape (sum of the sizes of the ranges + 1,)
        The offsets of the selected sequences.

    Returns
    -------
    int
        The first range whose offset overflows, -1 if there is none.
    """
    cdef Py_ssize_t count = ranges.shape[0], bad
    agree(offsets.shape[0] > 0 and out.shape[0] > 0
          and size_of_ranges(ranges, offsets.shape[0] - 1) == out.shape[0] - 1)
    cdef const int64_t* source = &offsets[0]
    cdef int64_t* place = &ranges[0, 0] if count else NULL
    cdef int64_t* result = &out[0]
    with nogil:
        bad = take_range_offsets(source, place, count, result)
    return bad


def copy_ranges(const unsigned char[:, ::1] rows not None, const int64_t[:, ::1] ranges not None,
                unsigned char[:, ::1] out not None):
    """Copy ranges of rows consecutively.

    Parameters
    ----------
    rows : uint8, shape (n_rows, row_bytes)
    ranges : int64, shape (n, 2), in rows
    out : uint8, shape (sum of the sizes of the ranges, row_bytes)
    """
    cdef Py_ssize_t count = ranges.shape[0], n_rows = rows.shape[0], row_bytes = rows.shape[1], size = out.shape[0]
    if out.shape[1] != row_bytes:
        raise ValueError("rows and out have rows of different sizes")
    agree(size_of_ranges(ranges, n_rows) == size)
    if size == 0 or row_bytes == 0:
        return
    cdef const char* source = <const char*> &rows[0, 0]
    cdef const int64_t* pairs = &ranges[0, 0]
    cdef char* result = <char*> &out[0, 0]
    with nogil:
        copy_row_ranges(source, n_rows, row_bytes, pairs, count, result, size)


def add_ranges(const real[:, ::1] rows not None, const int64_t[:, ::1] ranges not None, real[:, ::1] out not None):
    """Add rows to the ranges from which they were copied: the adjoint of `copy_ranges`.

    Parameters
    ----------
    rows : float32 or float64, shape (sum of the sizes of the ranges, width)
    ranges : int64, shape (n, 2), in rows of `out`
    out : as rows, shape (n_rows, width)
        Overwritten: rows in no range become 0. Sums run in the order of the ranges.
    """
    cdef Py_ssize_t count = ranges.shape[0], width = out.shape[1], size = out.shape[0] * width, j, k, cells
    agree(rows.shape[1] == width and size_of_ranges(ranges, out.shape[0]) == rows.shape[0])
    if size == 0:
        return
    cdef real* result = &out[0, 0]
    cdef const real* source = &rows[0, 0] if rows.shape[0] else NULL
    cdef const int64_t* pairs = &ranges[0, 0] if count else NULL
    cdef real* to
    with nogil:
        for k in range(size):
            result[k] = 0
        for j in range(count):
            to = result + pairs[2 * j] * width
            cells = (pairs[2 * j + 1] - pairs[2 * j]) * width
            for k in range(cells):
                to[k] += source[k]
            source += cells


def count_rows(arrays, int64_t[::1] out not None):
    """Compute offsets from the numbers of rows of arrays, and check that their bytes can be concatenated.

    Parameters
    ----------
    arrays : list of n ndarrays
    out : int64, shape (n + 1,)
        Undefined if an array is invalid.

    Returns
    -------
    int
        The first entry that is not a C-contiguous ndarray with the dtype and row shape of the first, or whose offset
        overflows; n if the length of the list has changed; -1 if there is none.
    """
    cdef Py_ssize_t count = out.shape[0] - 1, j = 0
    cdef int64_t total = 0, rows
    cdef cnp.ndarray like = None
    agree(count >= 0)
    cdef list items = arrays if type(arrays) is list else list(arrays)
    out[0] = 0
    if len(items) != count:
        return count
    for entry in items:
        if j == count:
            return count
        if not cnp.PyArray_CheckExact(entry):
            return j
        if j == 0:
            like = <cnp.ndarray> entry
        if not joins(<cnp.ndarray> entry, like):
            return j
        rows = cnp.PyArray_DIM(<cnp.ndarray> entry, 0)
        if rows > INT64_MAX - total:
            return j
        total += rows
        j += 1
        out[j] = total
    return -1 if j == count else count


cdef bint joins(cnp.ndarray array, cnp.ndarray like):
    """Return whether two arrays have equal dtypes and row shapes, and `array` is contiguous."""
    cdef int axis
    if cnp.PyArray_NDIM(array) != cnp.PyArray_NDIM(like) or cnp.PyArray_NDIM(array) == 0:
        return False
    if not cnp.PyArray_IS_C_CONTIGUOUS(array):
        return False
    for axis in range(1, cnp.PyArray_NDIM(array)):
        if cnp.PyArray_DIM(array, axis) != cnp.PyArray_DIM(like, axis):
            return False
    return cnp.is_same_dtype(array, like)


def first_overlap(arrays, const unsigned char[:, ::1] out not None):
    """Find the first array that shares memory with `out`.

    Parameters
    ----------
    arrays : list of C-contiguous ndarrays
    out : uint8, shape (n_rows, row_bytes)

    Returns
    -------
    int
        The first such array, -1 if there is none.
    """
    cdef Py_ssize_t j = 0, size = out.shape[0] * out.shape[1]
    cdef const char* low = <const char*> &out[0, 0] if size else NULL
    cdef const char* data
    cdef Py_ssize_t n_bytes
    cdef list items = arrays if type(arrays) is list else list(arrays)
    for entry in items:
        agree(cnp.PyArray_CheckExact(entry))
        data = <const char*> cnp.PyArray_DATA(<cnp.ndarray> entry)
        n_bytes = cnp.PyArray_NBYTES(<cnp.ndarray> entry)
        if size and n_bytes and data < low + size and low < data + n_bytes:
            return j
        j += 1
    return -1


def join_rows(arrays, unsigned char[:, ::1] out not None):
    """Copy the rows of arrays consecutively.

    Parameters
    ----------
    arrays : list of C-contiguous ndarrays
    out : uint8, shape (n_rows, row_bytes)

    Returns
    -------
    int
        The first array that is not contiguous or extends past the end of `out`, the number of arrays if they do not
        fill it, -1 if all is well. The list may have changed since its rows were counted.
    """
    cdef Py_ssize_t left = out.shape[0] * out.shape[1], size, j = 0
    cdef char* place = <char*> &out[0, 0] if left else NULL
    cdef const char* data
    cdef list items = arrays if type(arrays) is list else list(arrays)
    cdef bint stream = left > 0 and stream_pays(place, left, out.shape[1]), streamed = False
    for entry in items:  # each is held while it is copied
        if not cnp.PyArray_CheckExact(entry):
            return j
        size, data = cnp.PyArray_NBYTES(<cnp.ndarray> entry), cnp.PyArray_BYTES(<cnp.ndarray> entry)
        if size > left or not cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray> entry):
            return j
        if size >= LONG and stream and size % 16 == 0 and <uintptr_t> place % 16 == 0:
            streamed = True
            with nogil:
                stream_copy(place, data, size)
        elif size >= LONG:
            with nogil:
                copy_bytes(place, data, size)
        elif size:
            copy_bytes(place, data, size)
        if size:
            place += size
        left -= size
        j += 1
    if streamed:
        stream_end()
    return j if left else -1


def kinds(nodes):
    """Find the kinds of objects that a list contains.

    Parameters
    ----------
    nodes : list

    Returns
    -------
    (int, int, int)
        The positions of the first list or tuple, the first ndarray with at least one axis, and the first other object;
        -1 if there is none.
    """
    cdef Py_ssize_t at = 0, a_list = -1, an_array = -1, other = -1
    for node in nodes:
        if isinstance(node, (list, tuple)):
            a_list = at if a_list < 0 else a_list
        elif isinstance(node, cnp.ndarray) and cnp.PyArray_NDIM(node) > 0:
            an_array = at if an_array < 0 else an_array
        elif other < 0:
            other = at
        at += 1
    return a_list, an_array, other


def chain(lists, int64_t[::1] out not None):
    """Concatenate lists, and compute offsets from their lengths.

    Parameters
    ----------
    lists : list of n lists or tuples
    out : int64, shape (n + 1,)

    Returns
    -------
    list
    """
    cdef Py_ssize_t j = 0
    cdef list flat = []
    agree(out.shape[0] == len(lists) + 1)
    out[0] = 0
    for entry in list(lists):
        flat += entry
        j += 1
        agree(j < out.shape[0])
        out[j] = len(flat)
    return flat


def nest(flat, const int64_t[::1] offsets not None):
    """Split a list into one list per sequence.

    Parameters
    ----------
    flat : list
    offsets : int64, shape (n_seqs + 1,)

    Returns
    -------
    list of lists
    """
    cdef Py_ssize_t s, n_seqs = offsets.shape[0] - 1
    agree(n_seqs >= 0 and flat is not None)
    cdef list items = flat, nested = [None] * n_seqs
    cdef bint collecting = PyGC_Disable()  # the collector would traverse the growing lists again and again
    try:
        for s in range(n_seqs):
            nested[s] = items[offsets[s]:offsets[s + 1]]
    finally:
        if collecting:
            PyGC_Enable()
    return nested
