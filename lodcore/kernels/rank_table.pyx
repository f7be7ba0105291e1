"""Sequences ordered by length, and the time-major order of their elements: step t has element t of each sequence."""

cimport lodcore.kernels.arrays as cnp
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from lodcore.kernels.offsets cimport add_steps, longest
from lodcore.kernels.sizes cimport agree, ends_at
from lodcore.kernels.steps cimport move_by_size

cnp.import_array()


def step_offsets(const int64_t[::1] offsets not None, int64_t[::1] out not None):
    """Compute the offsets of the steps: how many sequences reach each of them.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    out : int64, shape (n_steps + 1,), in elements
        n_steps is the greatest length. Step t has one element per sequence that is longer than t.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, n_steps = out.shape[0] - 1
    agree(n_seqs >= 0 and n_steps >= 0 and longest(&offsets[0], n_seqs) <= n_steps)
    cdef const int64_t* source = &offsets[0]
    cdef int64_t* result = &out[0]
    with nogil:
        add_steps(source, n_seqs, n_steps, result)


def rank_by_length(const int64_t[::1] offsets not None, const int64_t[::1] steps not None, int64_t[::1] out not None):
    """Order the sequences by length, the longest first; equal lengths keep their order.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,)
    steps : int64, shape (n_steps + 1,)
        The result of `step_offsets`.
    out : int64, shape (n_seqs,)
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, n_steps = steps.shape[0] - 1, s, t
    agree(n_seqs >= 0 and n_steps >= 0 and out.shape[0] == n_seqs and longest(&offsets[0], n_seqs) <= n_steps
          and steps[n_steps] == offsets[n_seqs])
    if n_seqs == 0:
        return
    cdef const int64_t* source = &offsets[0]
    cdef const int64_t* reached = &steps[0]
    cdef int64_t* result = &out[0]
    cdef int64_t* place = <int64_t*> malloc((n_steps + 1) * sizeof(int64_t))
    cdef int64_t length
    if place == NULL:
        raise MemoryError
    with nogil:
        if n_steps == 0 or reached[n_steps] == n_seqs * n_steps:  # all lengths are equal
            for s in range(n_seqs):
                result[s] = s
            n_seqs = 0
        place[n_steps] = 0
        for t in range(n_steps):  # after the sequences that are longer than t
            place[t] = reached[t + 1] - reached[t]
        for s in range(n_seqs):
            length = source[s + 1] - source[s]
            result[place[length]] = s
            place[length] += 1
        free(place)


def count_longer(const int64_t[::1] lengths not None, int64_t step):
    """Count the lengths that are greater than `step`.

    Parameters
    ----------
    lengths : int64, shape (n_seqs,)
        The longest first.
    step : int

    Returns
    -------
    int
    """
    cdef Py_ssize_t low = 0, high = lengths.shape[0], middle
    while low < high:
        middle = (low + high) // 2
        if lengths[middle] > step:
            low = middle + 1
        else:
            high = middle
    return low


def unpack_rows(
    const unsigned char[:, ::1] rows not None, const int64_t[::1] offsets not None, const int64_t[::1] order not None,
    const int64_t[::1] steps not None, unsigned char[:, ::1] out not None,
):
    """Reorder rows from sequence order to step order.

    Parameters
    ----------
    rows : uint8, shape (n_rows, row_bytes)
    offsets : int64, shape (n_seqs + 1,), in rows
    order : int64, shape (n_seqs,)
        The order of the sequences within each step.
    steps : int64, shape (n_steps + 1,), in rows
        The result of `step_offsets`.
    out : uint8, shape (n_rows, row_bytes)
    """
    cdef Py_ssize_t n_steps = steps.shape[0] - 1, row_bytes = rows.shape[1], t
    if out.shape[0] != rows.shape[0] or out.shape[1] != row_bytes:
        raise ValueError("rows and out have different shapes")
    agree(n_steps >= 0 and ends_at(offsets, order.shape[0], rows.shape[0]) and steps[n_steps] == rows.shape[0])
    if out.shape[0] == 0 or row_bytes == 0:
        return
    cdef char** places = <char**> malloc(n_steps * sizeof(char*))
    if places == NULL:
        raise MemoryError
    cdef const char* source = <const char*> &rows[0, 0]
    cdef char* result = <char*> &out[0, 0]
    cdef const int64_t* from_offsets = &offsets[0]
    cdef const int64_t* in_order = &order[0]
    cdef Py_ssize_t n_seqs = order.shape[0]
    with nogil:
        for t in range(n_steps):
            places[t] = result + steps[t] * row_bytes
        if n_steps == 1 and rises(in_order, out.shape[0]):  # every row is already at its position
            memcpy(result, source, out.shape[0] * row_bytes)
        else:
            move_by_size(<char*> source, row_bytes, from_offsets, in_order, n_seqs, places, False)
        free(places)


def pack_rows(
    const unsigned char[:, ::1] rows not None, const int64_t[::1] offsets not None, const int64_t[::1] order not None,
    const int64_t[::1] steps not None, unsigned char[:, ::1] out not None,
):
    """Reorder rows from step order to sequence order: the inverse of `unpack_rows`.

    Parameters
    ----------
    rows : uint8, shape (n_rows, row_bytes)
        In step order.
    offsets, order, steps : int64
        As in `unpack_rows`.
    out : uint8, shape (n_rows, row_bytes)
    """
    cdef Py_ssize_t n_steps = steps.shape[0] - 1, row_bytes = rows.shape[1], t
    if out.shape[0] != rows.shape[0] or out.shape[1] != row_bytes:
        raise ValueError("rows and out have different shapes")
    agree(n_steps >= 0 and ends_at(offsets, order.shape[0], rows.shape[0]) and steps[n_steps] == rows.shape[0])
    if out.shape[0] == 0 or row_bytes == 0:
        return
    cdef const char** places = <const char**> malloc(n_steps * sizeof(char*))
    if places == NULL:
        raise MemoryError
    for t in range(n_steps):
        places[t] = <const char*> &rows[0, 0] + steps[t] * row_bytes
    from_places(places, n_steps, row_bytes, offsets, order, out)


def pack_steps(
    arrays, const int64_t[::1] offsets not None, const int64_t[::1] order not None,
    const int64_t[::1] steps not None, unsigned char[:, ::1] out not None,
):
    """Reorder the rows of one array per step to sequence order.

    Parameters
    ----------
    arrays : list of n_steps C-contiguous ndarrays
        Each has as many rows as `steps` specifies, of `row_bytes` bytes.
    offsets, order, steps : int64
        As in `unpack_rows`.
    out : uint8, shape (n_rows, row_bytes)

    Returns
    -------
    int
        The first step whose array has another size or is not contiguous, -1 if there is none.
    """
    cdef Py_ssize_t n_steps = steps.shape[0] - 1, row_bytes = out.shape[1], t
    agree(n_steps >= 0 and ends_at(offsets, order.shape[0], out.shape[0]) and steps[n_steps] == out.shape[0])
    if out.shape[0] == 0 or row_bytes == 0:
        return -1
    cdef cnp.ndarray array
    cdef list held = list(arrays)  # keeps them alive in the loop without the GIL
    if len(held) != n_steps:
        return min(len(held), n_steps)
    cdef const char** places = <const char**> malloc(n_steps * sizeof(char*))
    if places == NULL:
        raise MemoryError
    for t in range(n_steps):
        if not cnp.PyArray_CheckExact(held[t]):
            free(places)
            return t
        array = held[t]
        if (cnp.PyArray_NBYTES(array) != (steps[t + 1] - steps[t]) * row_bytes
                or not cnp.PyArray_IS_C_CONTIGUOUS(array)):
            free(places)
            return t
        places[t] = <const char*> cnp.PyArray_DATA(array)
    from_places(places, n_steps, row_bytes, offsets, order, out)
    return -1


cdef bint rises(const int64_t* order, Py_ssize_t count) noexcept nogil:
    """Return whether the first `count` numbers increase."""
    cdef Py_ssize_t k
    cdef bint falls = False
    for k in range(1, count):
        falls |= order[k] < order[k - 1]
    return not falls


cdef int from_places(const char** places, Py_ssize_t n_steps, Py_ssize_t row_bytes, const int64_t[::1] offsets,
                     const int64_t[::1] order, unsigned char[:, ::1] out) except -1:
    """Run the loop of `pack_rows` and `pack_steps`, and free the array of places."""
    cdef char* result = <char*> &out[0, 0]
    cdef const int64_t* to_offsets = &offsets[0]
    cdef const int64_t* in_order = &order[0]
    cdef Py_ssize_t n_seqs = order.shape[0]
    with nogil:
        if n_steps == 1 and rises(in_order, out.shape[0]):
            memcpy(result, places[0], out.shape[0] * row_bytes)
        else:
            move_by_size(result, row_bytes, to_offsets, in_order, n_seqs, <char**> places, True)
        free(places)
    return 0
