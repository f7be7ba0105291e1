"""The kernels that tensors call with the memory of their structures; each function has the name of its kernel.

A view of an argument costs as much as a whole small call. If the kernels are the compiled ones, their loops are
therefore run directly on the memory; any other kernels, such as those of the reference, are given arrays over it. The
callers have checked what a kernel checks.
"""

cimport lodcore.kernels.arrays as cnp
from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memcpy

import numpy as np

from lodcore import kernels
from lodcore.base.buffers cimport array_over, as_bytes, new_offsets
from lodcore.kernels.offsets cimport add_lengths, add_steps, copy_offsets, longest, shift_offsets
from lodcore.kernels.offsets cimport take_by_index, take_range_offsets
from lodcore.kernels.rows cimport copy_row_ranges

cnp.import_array()

cdef dict LOADED = vars(kernels)
cdef object GATHER = kernels.gather
cdef object INT64_DTYPE = np.dtype(np.int64)
cdef cnp.PyArray_Descr* INT64 = <cnp.PyArray_Descr*> INT64_DTYPE


cdef bint own_kernels() noexcept:
    """Return whether the kernels of this package are loaded, whose loops can be called directly."""
    return PyDict_GetItem(LOADED, "gather") == <PyObject*> GATHER


cdef cnp.ndarray over(const int64_t* numbers, Py_ssize_t count, bint writable=False):
    """Return an array over memory that exists until the kernel returns."""
    cdef cnp.npy_intp shape[1]
    shape[0] = count
    return array_over(None, INT64, 1, shape, NULL, numbers, writable)


cdef int64_t* data(cnp.ndarray array) noexcept:
    return <int64_t*> cnp.PyArray_DATA(array)


# -- levels of a structure ---------------------------------------------------------------------------------------------


cdef int compose(const int64_t* outer, Py_ssize_t n_outer, const int64_t* inner, Py_ssize_t n_inner,
                 int64_t* out) except -1:
    """Express the offsets of the outer level in the units of the inner level."""
    cdef Py_ssize_t s
    if own_kernels():
        for s in range(n_outer + 1):
            out[s] = inner[outer[s]]
    else:
        kernels.lod.compose(over(outer, n_outer + 1), over(inner, n_inner + 1), over(out, n_outer + 1, True))
    return 0


cdef int rebase(const int64_t* offsets, Py_ssize_t start, Py_ssize_t stop, int64_t* out) except -1:
    """Extract the sequences from `start` to `stop` of a level, shifted so that they start at 0."""
    if own_kernels():
        shift_offsets(offsets + start, stop - start + 1, -offsets[start], out)
    else:
        kernels.lod.rebase(over(offsets, stop + 1), start, stop, over(out, stop - start + 1, True))
    return 0


cdef int append(const int64_t* offsets, Py_ssize_t n_seqs, int64_t* out) except -1:
    """Append the sequences of a level to others, of which out[0] is the last offset."""
    cdef int64_t[2] before = [0, out[0]]
    cdef cnp.ndarray joined
    if own_kernels():
        shift_offsets(offsets, n_seqs + 1, out[0], out)
    else:
        joined = new_offsets(n_seqs + 2)
        kernels.lod.join([over(before, 2), over(offsets, n_seqs + 1)], joined)
        memcpy(out, data(joined) + 1, 8 * (n_seqs + 1))
    return 0


cdef Py_ssize_t max_length(const int64_t* offsets, Py_ssize_t n_seqs) except -1:
    """Return the greatest length, 0 if there are no sequences."""
    cdef Py_ssize_t most
    if not own_kernels():
        return kernels.lod.max_length(over(offsets, n_seqs + 1))
    with nogil:
        most = longest(offsets, n_seqs)
    return most


cdef int step_offsets(const int64_t* offsets, Py_ssize_t n_seqs, cnp.ndarray out) except -1:
    """Compute the offsets of the steps of a level; there are as many as its greatest length."""
    cdef int64_t* result = data(out)
    cdef Py_ssize_t n_steps = cnp.PyArray_DIM(out, 0) - 1
    if own_kernels():
        with nogil:
            add_steps(offsets, n_seqs, n_steps, result)
    else:
        kernels.rank_table.step_offsets(over(offsets, n_seqs + 1), out)
    return 0


# -- sequences and rows that are selected ------------------------------------------------------------------------------


cdef Py_ssize_t take_sequences(const int64_t* offsets, Py_ssize_t n_seqs, cnp.ndarray index, cnp.ndarray ranges,
                               cnp.ndarray out) except -2:
    """Compute the offsets and ranges of sequences from their numbers; return the first invalid position, or -1."""
    cdef const int64_t* numbers = data(index)
    cdef int64_t* pairs = data(ranges)
    cdef int64_t* result = data(out)
    cdef Py_ssize_t count = cnp.PyArray_DIM(ranges, 0), bad
    if not own_kernels():
        return kernels.gather.take_sequences(over(offsets, n_seqs + 1), index, ranges, out)
    with nogil:
        bad = take_by_index(offsets, n_seqs, numbers, count, pairs, result)
    return bad


cdef Py_ssize_t take_offsets(const int64_t* offsets, Py_ssize_t n_seqs, cnp.ndarray ranges, cnp.ndarray out) except -2:
    """Compute the offsets of ranges of sequences, and replace the ranges by those of the next level.

    Return the first range whose offsets overflow, or -1.
    """
    cdef int64_t* pairs = data(ranges)
    cdef int64_t* result = data(out)
    cdef Py_ssize_t count = cnp.PyArray_DIM(ranges, 0), bad
    if not own_kernels():
        return kernels.gather.take_offsets(over(offsets, n_seqs + 1), ranges, out)
    with nogil:
        bad = take_range_offsets(offsets, pairs, count, result)
    return bad


cdef int copy_ranges(cnp.ndarray rows, Py_ssize_t n_rows, Py_ssize_t row_bytes, cnp.ndarray ranges, cnp.ndarray out,
                     Py_ssize_t size) except -1:
    """Copy ranges of rows consecutively; `size` is the number of rows of `out`."""
    cdef const char* source = cnp.PyArray_BYTES(rows)
    cdef const int64_t* pairs = data(ranges)
    cdef char* target = cnp.PyArray_BYTES(out)
    cdef Py_ssize_t count = cnp.PyArray_DIM(ranges, 0)
    if not own_kernels():
        kernels.gather.copy_ranges(as_bytes(rows), ranges, as_bytes(out))
    elif size and row_bytes:
        with nogil:
            copy_row_ranges(source, n_rows, row_bytes, pairs, count, target, size)
    return 0


# -- numbers from outside ----------------------------------------------------------------------------------------------


cdef Py_ssize_t offsets_from_lengths(cnp.ndarray lengths, cnp.ndarray out) except -2:
    """Compute offsets from lengths; return the first invalid position, or -1."""
    if own_kernels() and add_lengths(data(lengths), cnp.PyArray_DIM(lengths, 0), data(out)) >= 0:
        return -1
    return kernels.lod.offsets_from_lengths(lengths, out)


cdef Py_ssize_t copy_checked(const int64_t* given, cnp.ndarray copy) except -2:
    """Copy a caller's offsets, and return the position of the first invalid one, or -1 if there is none."""
    cdef Py_ssize_t count = cnp.PyArray_DIM(copy, 0)
    if count == 0:
        return 0
    if not own_kernels():
        memcpy(data(copy), given, 8 * count)
    elif copy_offsets(given, count - 1, data(copy)) >= 0 and data(copy)[0] == 0:
        return -1
    return kernels.lod.first_bad_offset(copy, -1)
