"""What compiled files use of NumPy's C interface, declared as in NumPy's own `__init__.pxd`; add what you need.

`cimport numpy` has every file translate all of it, in twice the time.
"""

from cpython.object cimport PyObject

cdef extern from "numpy/arrayobject.h":
    ctypedef Py_ssize_t npy_intp

    enum:
        NPY_BOOL, NPY_DATETIME, NPY_DOUBLE, NPY_FLOAT, NPY_INT32, NPY_INT64, NPY_TIMEDELTA, NPY_UINT32, NPY_UINT64
        NPY_VOID
        NPY_ARRAY_WRITEABLE

    ctypedef enum NPY_ORDER:
        NPY_CORDER

    ctypedef struct PyArray_Descr:
        pass

    ctypedef class numpy.dtype [object PyArray_Descr, check_size ignore]:
        cdef char kind

        @property
        cdef inline npy_intp itemsize(self) noexcept nogil:
            return PyDataType_ELSIZE(self)

    ctypedef class numpy.ndarray [object PyArrayObject, check_size ignore]:
        @property
        cdef inline npy_intp size(self) noexcept nogil:
            return PyArray_SIZE(self)

    int import_array "_import_array"() except -1

    npy_intp PyDataType_ELSIZE(dtype) nogil

    void* PyArray_DATA(ndarray) nogil
    char* PyArray_BYTES(ndarray) nogil
    int PyArray_NDIM(ndarray) nogil
    npy_intp* PyArray_DIMS(ndarray) nogil
    npy_intp* PyArray_STRIDES(ndarray) nogil
    npy_intp PyArray_DIM(ndarray, size_t) nogil
    npy_intp PyArray_STRIDE(ndarray, size_t) nogil
    npy_intp PyArray_ITEMSIZE(ndarray) nogil
    npy_intp PyArray_NBYTES(ndarray) nogil
    npy_intp PyArray_SIZE(ndarray) nogil
    int PyArray_TYPE(ndarray) nogil
    PyObject* PyArray_BASE(ndarray) nogil  # borrowed
    PyArray_Descr* PyArray_DESCR(ndarray) nogil  # borrowed

    bint PyArray_CheckExact(object)
    bint PyArray_ISALIGNED(ndarray) nogil
    bint PyArray_ISCARRAY(ndarray) nogil
    bint PyArray_ISCARRAY_RO(ndarray) nogil
    bint PyArray_ISCOMPLEX(ndarray) nogil
    bint PyArray_ISFLOAT(ndarray) nogil
    bint PyArray_ISINTEGER(ndarray) nogil
    bint PyArray_ISNOTSWAPPED(ndarray) nogil
    bint PyArray_ISWRITEABLE(ndarray) nogil
    bint PyArray_IS_C_CONTIGUOUS(ndarray) nogil
    bint PyArray_SAMESHAPE(ndarray, ndarray) nogil
    unsigned char PyArray_EquivTypes(dtype, dtype)

    int PyArray_CopyInto(ndarray, ndarray) except -1
    object PyArray_EMPTY(int ndim, npy_intp* shape, int type, int fortran)
    object PyArray_NewCopy(ndarray, NPY_ORDER)
    object PyArray_Ravel(ndarray, NPY_ORDER)


cdef inline bint is_same_dtype(ndarray one, ndarray other) noexcept:
    """Return whether two arrays have equal dtypes: those of files, say, are other objects than those of NumPy."""
    return (PyArray_DESCR(one) == PyArray_DESCR(other)
            or PyArray_EquivTypes(<dtype> PyArray_DESCR(one), <dtype> PyArray_DESCR(other)))
