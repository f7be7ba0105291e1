"""Rows repeated and in reverse order; sequences of several batches, one behind the other. Rows are opaque bytes."""

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

cdef extern from "expand.h" nogil:
    void repeat_by_size(const char* rows, int64_t row_bytes, const int64_t* offsets, int64_t n_seqs, char* out)
    void reverse_by_size(const char* rows, int64_t row_bytes, const int64_t* offsets, int64_t n_seqs, char* out)

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
    if out.shape[0] == 0 or row_bytes == 0:
        return
    cdef const char* source = <const char*> &rows[0, 0]
    cdef const int64_t* bounds = &offsets[0]
    cdef char* result = <char*> &out[0, 0]
    with nogil:
        repeat_by_size(source, row_bytes, bounds, n_seqs, result)


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
    if out.shape[0] == 0 or row_bytes == 0:
        return
    cdef const char* source = <const char*> &rows[0, 0]
    cdef const int64_t* bounds = &offsets[0]
    cdef char* result = <char*> &out[0, 0]
    with nogil:
        reverse_by_size(source, row_bytes, bounds, n_seqs, result)


def interleave(levels, int64_t[:, :, ::1] ranges not None, int64_t[::1] out not None):
    """Put the sequences s of all batches behind each other, to one sequence s.

    Parameters
    ----------
    levels : list of int64, shape (n_seqs + 1,) each
        The offsets of each batch. Their ends together fit in int64.
    ranges : int64, shape (n_batches, n_seqs, 2)
        Written: where the sequences of each batch come to stand.
    out : int64, shape (n_seqs + 1,)
        The offsets of the result.
    """
    cdef Py_ssize_t n_seqs = out.shape[0] - 1, j = 0, s
    cdef int64_t* result = &out[0]
    cdef int64_t* pairs = &ranges[0, 0, 0] if n_seqs and ranges.shape[0] else NULL
    cdef const int64_t* offsets
    cdef const int64_t[::1] view
    memset(result, 0, (n_seqs + 1) * sizeof(int64_t))
    for level in levels:
        view = level
        offsets = &view[0]
        with nogil:
            for s in range(n_seqs + 1):
                result[s] += offsets[s]
    for level in levels:
        view = level
        offsets = &view[0]
        with nogil:
            for s in range(n_seqs):  # behind that of the batch before
                pairs[2 * s] = (pairs - 2 * n_seqs)[2 * s + 1] if j else result[s]
                pairs[2 * s + 1] = pairs[2 * s] + offsets[s + 1] - offsets[s]
            if n_seqs:
                pairs += 2 * n_seqs
        j += 1


def split_mask(const unsigned char[::1] mask not None, int64_t[::1] out not None):
    """List the places where a mask is true, and behind them those where it is false.

    Parameters
    ----------
    mask : uint8, shape (n,)
    out : int64, shape (n,)

    Returns
    -------
    int
        How many are true.
    """
    cdef Py_ssize_t n = mask.shape[0], s, true = 0, false
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


def merge_offsets(
    const int64_t[::1] when_true not None, const int64_t[::1] when_false not None,
    const unsigned char[::1] mask not None, int64_t[:, ::1] true_ranges not None,
    int64_t[:, ::1] false_ranges not None, int64_t[::1] out not None,
):
    """Put the sequences of two batches in the order that a mask tells.

    Parameters
    ----------
    when_true, when_false : int64, shape (n_true + 1,) and (n_false + 1,)
        Their offsets, whose ends together fit in int64.
    mask : uint8, shape (n_true + n_false,)
        From which batch the next sequence is.
    true_ranges, false_ranges : int64, shape (n_true, 2) and (n_false, 2)
        Written: where the sequences of each batch come to stand.
    out : int64, shape (n_true + n_false + 1,)
        The offsets of the result. The content of all three after a bad mask is of no use.

    Returns
    -------
    int
        The first place where the mask asks for a sequence that its batch does not have, -1 if there is none.
    """
    cdef Py_ssize_t n = mask.shape[0], s, at[2], ends[2]
    cdef int64_t total = 0
    cdef const int64_t* offsets[2]
    cdef int64_t* pairs[2]
    cdef int side
    at[0] = at[1] = 0
    ends[0], ends[1] = when_false.shape[0] - 1, when_true.shape[0] - 1
    offsets[0], offsets[1] = &when_false[0], &when_true[0]
    pairs[0] = &false_ranges[0, 0] if ends[0] else NULL
    pairs[1] = &true_ranges[0, 0] if ends[1] else NULL
    cdef const unsigned char* chosen = &mask[0] if n else NULL
    cdef int64_t* result = &out[0]
    with nogil:
        result[0] = 0
        for s in range(n):
            side = chosen[s] != 0
            if at[side] == ends[side]:
                break
            pairs[side][2 * at[side]] = total
            total += offsets[side][at[side] + 1] - offsets[side][at[side]]
            pairs[side][2 * at[side] + 1] = result[s + 1] = total
            at[side] += 1
        else:
            s = -1
    return s


def join_ranges(arrays, ranges, unsigned char[:, ::1] out not None):
    """Copy the rows of several arrays to the ranges where they belong; `gather.copy_ranges` brings them back.

    Parameters
    ----------
    arrays : list of C-contiguous ndarrays
        The rows of each fill its ranges one after the other.
    ranges : list of int64, shape (n_ranges, 2) each, in rows of `out`
        All together cover each row of `out` once.
    out : uint8, shape (n_rows, row_bytes)
    """
    cdef Py_ssize_t row_bytes = out.shape[1], size, count, j, k
    if out.shape[0] == 0 or row_bytes == 0:
        return
    cdef char* result = <char*> &out[0, 0]
    cdef const char* source
    cdef const int64_t* pairs
    cdef const int64_t[:, ::1] view
    cdef cnp.ndarray array
    for j in range(len(arrays)):
        array, view = arrays[j], ranges[j]
        source, count = <const char*> cnp.PyArray_DATA(array), view.shape[0]
        pairs = &view[0, 0] if count else NULL
        with nogil:
            for k in range(count):
                size = (pairs[2 * k + 1] - pairs[2 * k]) * row_bytes
                memcpy(result + pairs[2 * k] * row_bytes, source, size)
                source += size


def scale_offsets(const int64_t[::1] offsets not None, int64_t width, int64_t new_width, int64_t[::1] out not None):
    """Count rows of another width, where the cells stay in their sequences.

    Parameters
    ----------
    offsets : int64, shape (n_seqs + 1,), in rows
    width : int
        Cells of a row; all rows together have no more cells than int64 holds.
    new_width : int
        1 or more.
    out : int64, shape (n_seqs + 1,), in new rows
        Its content after a sequence that cannot be cut is of no use.

    Returns
    -------
    int
        The first sequence whose cells make no whole number of new rows, -1 if there is none.
    """
    cdef Py_ssize_t count = offsets.shape[0], s, bad = -1
    cdef const int64_t* source = &offsets[0]
    cdef int64_t* result = &out[0]
    with nogil:
        for s in range(count):
            result[s] = source[s] * width // new_width
            if result[s] * new_width != source[s] * width:
                bad = s - 1
                break
    return bad
