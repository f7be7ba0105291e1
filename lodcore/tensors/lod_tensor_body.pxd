cimport cython
cimport lodcore.kernels.arrays as cnp

from libc.stdint cimport int64_t

from lodcore.base.buffers cimport Memory
from lodcore.tensors.lod_body cimport LoDBody


@cython.no_gc
cdef class LoDTensorBody:
    cdef object __weakref__
    cdef cnp.ndarray array  # C-contiguous, as many rows as the structure has
    cdef Memory _memory  # the base of views of the values
    cdef object _shown, _second  # views that were returned
    cdef cnp.ndarray _given  # `out`, if the caller gave one
    cdef LoDBody structure
    cdef Py_ssize_t row_bytes
    cdef object _bytes
    cdef cnp.ndarray field  # the field of records that this tensor shows: `array` is a copy of it, for kernels
    cdef int refresh(self) except -1
    cdef Memory memory(self)
    cdef cnp.ndarray shown(self)
    cdef cnp.ndarray rows(self, Py_ssize_t start, Py_ssize_t stop)
    cdef bytes_view(self)
    cdef cut_out(self, Py_ssize_t level, Py_ssize_t start, Py_ssize_t stop)


cpdef LoDTensorBody owned_tensor(cnp.ndarray values, LoDBody lod)
