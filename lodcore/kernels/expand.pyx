"""Rows repeated and in reverse order; sequences of several batches joined one after another. Rows are opaque bytes."""

cimport lodcore.kernels.arrays as cnp
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from lodcore.kernels.row_groups cimport repeat_by_size, reverse_by_size
from lodcore.kernels.rows cimport copy_piece
from lodcore.kernels.simd cimport avx2_void, has_wide, plain_void
from lodcore.kernels.sizes cimport agree, ends_at

ctypedef struct batch:  # its rows, and how many of them have been used
    char* rows
    const char* end
    const int64_t* offsets  # of the next sequence
    int64_t left  # sequences that are left

cnp.import_array()


def repeat_rows(const unsigned char[:, ::1] rows not None, const int64_t[::1] offsets not None,
                unsigned char[:, ::1] out not None):
    """Write row s to all rows of sequence s: the adjoint of `pool.sum_rows`.

    Parameters
    ----------
    rows : uint8, shape (n_seqs, row_bytes)
    offsets : int64, shape (n_seqs + 1,), in rows of `out`
    out : uint8, shape (n_rows, row_bytes)
    """
    cdef Py_ssize_t n_seqs = rows.shape[0], row_bytes = rows.shape[1]
    if row_bytes != out.shape[1]:
        raise ValueError("rows and out have rows of different sizes")
    agree(ends_at(offsets, n_seqs, out.shape[0]))
    if out.shape[0] == 0 or row_bytes == 0:
        return
    cdef const char* source = <const char*> &rows[0, 0]
    cdef const int64_t* bounds = &offsets[0]
    cdef char* result = <char*> &out[0, 0]
    with nogil:
        if has_wide():
            repeat_avx2(source, row_bytes, bounds, n_seqs, result)
        else:
            repeat_plain(source, row_bytes, bounds, n_seqs, result)


def reverse_rows(const unsigned char[:, ::1] rows not None, const int64_t[::1] offsets not None,
                 unsigned char[:, ::1] out not None):
    """Write the rows of each sequence in reverse order: its own inverse and adjoint.

    Parameters
    ----------
    rows : uint8, shape (n_rows, row_bytes)
    offsets : int64, shape (n_seqs + 1,), in rows
    out : uint8, shape (n_rows, row_bytes)
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, row_bytes = rows.shape[1]
    if row_bytes != out.shape[1]:
        raise ValueError("rows and out have rows of different sizes")
    agree(ends_at(offsets, n_seqs, rows.shape[0]) and out.shape[0] == rows.shape[0])
    if out.shape[0] == 0 or row_bytes == 0:
        return
    cdef const char* source = <const char*> &rows[0, 0]
    cdef const int64_t* bounds = &offsets[0]
    cdef char* result = <char*> &out[0, 0]
    with nogil:
        if has_wide():
            reverse_avx2(source, row_bytes, bounds, n_seqs, result)
        else:
            reverse_plain(source, row_bytes, bounds, n_seqs, result)


cdef avx2_void repeat_avx2(
    const char* rows, int64_t row_bytes, const int64_t* offsets, int64_t n_seqs, char* out
) noexcept nogil:
    repeat_by_size(rows, row_bytes, offsets, n_seqs, out)


cdef plain_void repeat_plain(
    const char* rows, int64_t row_bytes, const int64_t* offsets, int64_t n_seqs, char* out
) noexcept nogil:
    repeat_by_size(rows, row_bytes, offsets, n_seqs, out)


cdef avx2_void reverse_avx2(
    const char* rows, int64_t row_bytes, const int64_t* offsets, int64_t n_seqs, char* out
) noexcept nogil:
    reverse_by_size(rows, row_bytes, offsets, n_seqs, out)


cdef plain_void reverse_plain(
    const char* rows, int64_t row_bytes, const int64_t* offsets, int64_t n_seqs, char* out
) noexcept nogil:
    reverse_by_size(rows, row_bytes, offsets, n_seqs, out)


def join_sequences(arrays, levels, int64_t[::1] offsets not None, unsigned char[:, ::1] out not None):
    """Concatenate the sequences s of all batches to one sequence s.

    Parameters
    ----------
    arrays : list of C-contiguous ndarrays, shape (rows of the batch, ...), of row_bytes per row
    levels : list of int64, shape (n_seqs + 1,) each, in rows
        The offsets of each batch. The sum of their last offsets fits in int64.
    offsets : int64, shape (n_seqs + 1,)
        Written: the offsets of the result.
    out : uint8, shape (n_rows, row_bytes)
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, n_batches = len(levels), row_bytes = out.shape[1], j, s
    agree(n_seqs >= 0)
    cdef int64_t* result = &offsets[0]
    cdef char* place = <char*> &out[0, 0] if out.shape[0] * row_bytes else NULL
    cdef Py_ssize_t size = out.shape[0] * row_bytes
    cdef list held = list(arrays), bounds = list(levels)  # keeps them alive in the loops without the GIL
    cdef batch* batches = batches_of(held, bounds, n_batches, n_seqs, row_bytes, out.shape[0])
    with nogil:
        memset(result, 0, (n_seqs + 1) * sizeof(int64_t))
        for j in range(n_batches):
            for s in range(n_seqs + 1):
                result[s] += batches[j].offsets[s]
        if size:
            join_batches(batches, n_batches, row_bytes, place, place + size, False)
        free(batches)


def split_sequences(const unsigned char[:, ::1] rows not None, levels, arrays):
    """Split the sequences s into the batches from which they were joined: inverse and adjoint of `join_sequences`.

    Parameters
    ----------
    rows : uint8, shape (n_rows, row_bytes)
    levels : list of int64, shape (n_seqs + 1,) each, in rows
        The offsets of each batch.
    arrays : list of uint8 ndarrays, shape (rows of the batch, row_bytes)
        Written.
    """
    cdef Py_ssize_t n_batches = len(levels), row_bytes = rows.shape[1], size = rows.shape[0] * row_bytes
    cdef list held = list(arrays), bounds = list(levels)
    cdef batch* batches = batches_of(held, bounds, n_batches, -1, row_bytes, rows.shape[0])
    if size == 0:
        free(batches)
        return
    cdef char* place = <char*> &rows[0, 0]
    with nogil:
        join_batches(batches, n_batches, row_bytes, place, place + size, True)
        free(batches)


cdef inline int64_t move_next(
    batch* side, int64_t row_bytes, char* out, const char* out_end, const bint back
) noexcept nogil:
    """Copy the next sequence of a batch to `out`, or from `out`; return its size in bytes."""
    cdef int64_t size = (side.offsets[1] - side.offsets[0]) * row_bytes
    if back:
        copy_piece(side.rows, side.end, out, out_end, size)
    else:
        copy_piece(out, out_end, side.rows, side.end, size)
    side.rows += size
    side.offsets += 1
    side.left -= 1
    return size


cdef void join_batches(
    batch* batches, int64_t n_batches, int64_t row_bytes, char* out, const char* out_end, bint back
) noexcept nogil:
    """Copy the sequences s of all batches, for every s, one after another; or copy them back to their batches."""
    cdef int64_t _s, j
    for _s in range(batches[0].left):
        for j in range(n_batches):
            out += move_next(batches + j, row_bytes, out, out_end, back)


cdef batch* batches_of(list arrays, list levels, Py_ssize_t n_batches, Py_ssize_t n_seqs, Py_ssize_t row_bytes,
                       Py_ssize_t n_rows) except NULL:
    """Collect pointers to rows and offsets, which their lists keep alive.

    Check that each batch has `n_seqs` sequences (-1: as many as the first batch), and that they have `n_rows` rows in
    total.
    """
    cdef Py_ssize_t j, total = 0
    cdef const int64_t[::1] view
    cdef cnp.ndarray array
    cdef batch* batches = <batch*> malloc(max(n_batches, 1) * sizeof(batch))
    if batches == NULL:
        raise MemoryError
    try:
        agree(len(arrays) == n_batches and len(levels) == n_batches)
        for j in range(n_batches):
            agree(cnp.PyArray_CheckExact(arrays[j]) and levels[j] is not None)
            array, view = arrays[j], levels[j]
            agree(view.shape[0] > 0 and (n_seqs < 0 or view.shape[0] == n_seqs + 1))
            n_seqs = view.shape[0] - 1 if n_seqs == -1 else n_seqs
            agree(cnp.PyArray_IS_C_CONTIGUOUS(array)
                  and cnp.PyArray_NBYTES(array) == view[view.shape[0] - 1] * row_bytes)
            total += view[view.shape[0] - 1]
            batches[j].rows = cnp.PyArray_BYTES(array)
            batches[j].end = batches[j].rows + cnp.PyArray_NBYTES(array)
            batches[j].offsets, batches[j].left = &view[0], view.shape[0] - 1
        agree(total == n_rows)
    except BaseException:
        free(batches)
        raise
    return batches


def split_mask(const unsigned char[::1] mask not None, int64_t[::1] out not None):
    """List the positions where a mask is true, and then those where it is false.

    Parameters
    ----------
    mask : uint8, shape (n,)
    out : int64, shape (n,)

    Returns
    -------
    int
        The number of positions where it is true.
    """
    cdef Py_ssize_t n = mask.shape[0], s, true = 0, false
    agree(out.shape[0] == n)
    if n == 0:
        return 0
    cdef const unsigned char* chosen = &mask[0]
    cdef int64_t* result = &out[0]
    with nogil:
        for s in range(n):
            true += chosen[s] != 0
        false = true
        true = 0
        for s in range(n):
            if chosen[s]:
                result[true] = s
                true += 1
            else:
                result[false] = s
                false += 1
    return true


def merge_sequences(arrays, levels, const unsigned char[::1] mask not None, int64_t[::1] offsets not None,
                    unsigned char[:, ::1] out not None):
    """Merge the sequences of two batches in the order that a mask specifies.

    Parameters
    ----------
    arrays : list of two C-contiguous ndarrays, shape (rows of the batch, ...), of row_bytes per row
        The first has the sequences where the mask is true.
    levels : list of two int64, shape (n_true + 1,) and (n_false + 1,), in rows
        Their offsets. The sum of their last offsets fits in int64.
    mask : uint8, shape (n_true + n_false,)
        Which batch the next sequence comes from.
    offsets : int64, shape (n_true + n_false + 1,)
        Written: the offsets of the result.
    out : uint8, shape (n_rows, row_bytes)

    Returns
    -------
    int
        The first position where the mask selects a sequence that its batch does not have, -1 if there is none. What is
        written is then undefined.
    """
    cdef Py_ssize_t row_bytes = out.shape[1], n_rows = out.shape[0], n = mask.shape[0], s = -1
    agree(offsets.shape[0] == n + 1)
    cdef const unsigned char* chosen = &mask[0] if n else NULL
    cdef int64_t* result = &offsets[0]
    cdef char* place = <char*> &out[0, 0] if n_rows * row_bytes else NULL
    cdef list held = list(arrays), bounds = list(levels)  # alive while the loop runs without the interpreter's lock
    cdef const char* end = place + n_rows * row_bytes if place != NULL else NULL
    cdef batch* sides = batches_of(held, bounds, 2, -2, row_bytes, n_rows)
    cdef batch* side
    with nogil:
        result[0] = 0
        for s in range(n):
            side = &sides[chosen[s] == 0]
            if side.left == 0:
                break
            result[s + 1] = result[s] + side.offsets[1] - side.offsets[0]
            if place != NULL:
                place += move_next(side, row_bytes, place, end, 0)
            else:
                side.offsets += 1
                side.left -= 1
        else:
            s = -1
        free(sides)
    return s


def scale_offsets(const int64_t[::1] offsets not None, int64_t width, int64_t new_width, int64_t[::1] out not None):
    """Compute the offsets of rows of another width, where the cells stay in their sequences.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,), in rows
    width : int
        Cells per row; int64 can count the cells of all rows.
    new_width : int
        1 or more.
    out : int64, shape (n_seqs + 1,), in new rows
        Undefined if a sequence cannot be divided into new rows.

    Returns
    -------
    int
        The first sequence whose cells do not fill a whole number of new rows, -1 if there is none.
    """
    cdef Py_ssize_t count = offsets.shape[0], s, bad = -1
    agree(count > 0 and out.shape[0] == count and new_width > 0)
    cdef const int64_t* source = &offsets[0]
    cdef int64_t* result = &out[0]
    with nogil:
        for s in range(count):
            result[s] = source[s] * width // new_width
            if result[s] * new_width != source[s] * width:
                bad = s - 1
                break
    return bad
