cimport cython
cimport numpy as cnp

from libc.stdint cimport int64_t

from lodcore.base.buffers cimport Memory
from lodcore.tensors.core cimport LoDBody


@cython.no_gc
cdef class LoDTensorBody:
    cdef cnp.ndarray _values  # C-contiguous, as many rows as the structure has
    cdef Memory _memory  # what views of the values have as their base
    cdef object _shown, _second  # views that were handed out
    cdef cnp.ndarray _given  # `out`, where the caller gave one
    cdef LoDBody _lod
    cdef Py_ssize_t _row_bytes
    cdef object _bytes
    cdef cnp.ndarray _field  # the field of records that this shows: `_values` is a copy of it, for kernels
    cdef int refresh(self) except -1
    cdef Memory memory(self)
    cdef cnp.ndarray shown(self)
    cdef cnp.ndarray rows(self, Py_ssize_t start, Py_ssize_t stop)
    cpdef LoDTensorBody _take(self, str where, Py_ssize_t level, cnp.ndarray ranges, int64_t size, out=*,
                              list upper=*)
    cpdef LoDTensorBody _gather(self, str where, level, index, out=*, list upper=*)
    cdef cut_out(self, Py_ssize_t level, Py_ssize_t start, Py_ssize_t stop)


cpdef LoDTensorBody owned_tensor(cnp.ndarray values, LoDBody lod)
