cimport lodcore.kernels.arrays as cnp
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

cdef extern from "buffers.h":
    object array_over(object base, cnp.PyArray_Descr* dtype, int ndim, cnp.npy_intp* shape, cnp.npy_intp* strides,
                      const void* data, bint writable)
    bint is_untouched(PyObject* handed, PyObject* own)  # as pointers, since a further reference would count


cdef class Memory:
    cdef PyObject* _owner  # a reference that `drop` releases
    cdef char* _data
    cdef Py_ssize_t _size
    cdef bint _writable


cdef Memory memory_of(cnp.ndarray array)
cdef object held_by(cnp.ndarray array)
cdef cnp.ndarray rows_over(object base, cnp.ndarray array, Py_ssize_t start, Py_ssize_t stop)
cpdef cnp.ndarray new_offsets(Py_ssize_t count)
cpdef cnp.ndarray new_int64(Py_ssize_t count, Py_ssize_t width=*)
cdef Py_ssize_t row_size(cnp.ndarray array, int first=*) noexcept
cpdef cnp.ndarray as_bytes(cnp.ndarray array)
cpdef cnp.ndarray as_cells(cnp.ndarray array, cnp.dtype dtype=*)
cpdef cnp.ndarray as_lines(cnp.ndarray array)
cpdef bint is_plain(array)
cpdef cnp.ndarray private(cnp.ndarray array)
cpdef cnp.ndarray guarded(cnp.ndarray array)
cpdef cnp.ndarray view_rows(cnp.ndarray array, Py_ssize_t start, Py_ssize_t stop)
cpdef cnp.ndarray new_rows(str where, cnp.ndarray values, int64_t n_rows, out=*, int first=*)
cpdef cnp.ndarray new_lines(str where, cnp.ndarray values, int64_t count, padded, out=*)
cdef cnp.ndarray new_like(cnp.ndarray values, int first, cnp.npy_intp* shape, int ndim)
cpdef cnp.ndarray extended(cnp.ndarray rows, Py_ssize_t count)
cpdef seal(cnp.ndarray array)
cpdef cnp.ndarray sealed(cnp.ndarray array)
cpdef cnp.ndarray as_int64(given, str where, type error=*, entry=*)
cpdef cnp.ndarray private_offsets(given, str where, entry=*)
