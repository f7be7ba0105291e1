"""Arrays for kernels and results, and conversion of callers' integers."""

cimport cython
cimport lodcore.kernels.arrays as cnp
from cpython.buffer cimport PyBuffer_FillInfo
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport INT64_MAX, int64_t
from libc.string cimport memcpy, memset

from lodcore.base cimport recycling

import numpy as np

from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.base.articles import with_article
from lodcore.base.dtypes import is_native
from lodcore.base.memory import LIMIT, check_out, check_size
from lodcore.base.missing import complete

cdef extern from "buffers.h":
    void want_huge_pages(void* memory, size_t size)
    void drop(PyObject* held)
    object empty_array(cnp.PyArray_Descr* dtype, int ndim, cnp.npy_intp* shape)

cdef extern from "numpy/arrayobject.h":
    void PyArray_CLEARFLAGS(cnp.ndarray array, int flags)
    bint PyDataType_REFCHK(cnp.PyArray_Descr* dtype)

cnp.import_array()

cdef object INT64_DTYPE = np.dtype(np.int64)
cdef object UINT8_DTYPE = np.dtype(np.uint8)
cdef cnp.PyArray_Descr* INT64 = <cnp.PyArray_Descr*> INT64_DTYPE
cdef cnp.PyArray_Descr* UINT8 = <cnp.PyArray_Descr*> UINT8_DTYPE
cdef int64_t SIZE_LIMIT = min(LIMIT, INT64_MAX)
cdef int64_t LARGE = 1 << 14  # bytes above which recycled memory is faster than new memory
cdef cnp.ndarray NO_ROWS = np.empty(0)
cdef int MOST_AXES = 32 if np.__version__.startswith("1.") else 64


# -- ownership of memory -----------------------------------------------------------------------------------------------


@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class Memory:
    """The base of arrays that are returned to callers; it holds what owns the memory, and nothing between.

    So none of them owns its memory for NumPy: `resize` raises an error, and other changes of one of them do not affect
    the others. A view of a view has the same Memory. Views that another library made in between cannot be left out;
    `drop` therefore frees a chain of them one by one.
    """

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        if self._owner == NULL:
            raise BufferError("lodcore: this memory has no owner")
        PyBuffer_FillInfo(buffer, self, self._data, self._size, not self._writable, flags)

    def __dealloc__(self):
        if self._owner != NULL:
            drop(self._owner)


cdef Memory memory_of(cnp.ndarray array):
    """Return a Memory that holds what owns the memory of a private, C-contiguous array."""
    base = <object> cnp.PyArray_BASE(array) if cnp.PyArray_BASE(array) != NULL else array
    cdef bint writable = cnp.PyArray_ISWRITEABLE(array)
    cdef Memory memory
    if type(base) is Memory:
        if (<Memory> base)._writable == writable:
            return base
        base = <object> (<Memory> base)._owner
    memory = Memory.__new__(Memory)
    Py_INCREF(base)
    memory._owner, memory._data = <PyObject*> base, cnp.PyArray_BYTES(array)
    memory._size, memory._writable = cnp.PyArray_NBYTES(array), writable
    return memory


def owner_of(cnp.ndarray array not None):
    """Return the array of which an array is a view, even if hidden by a Memory, for libraries that write to it."""
    base = <object> cnp.PyArray_BASE(array) if cnp.PyArray_BASE(array) != NULL else None
    return <object> (<Memory> base)._owner if type(base) is Memory else base


cdef object held_by(cnp.ndarray array):
    """Return the base for a further view of an array: the Memory that it is a view of, whatever views are between."""
    base = <object> cnp.PyArray_BASE(array) if cnp.PyArray_BASE(array) != NULL else array
    found = base
    while True:
        if isinstance(found, cnp.ndarray) and cnp.PyArray_BASE(<cnp.ndarray> found) != NULL:
            found = <object> cnp.PyArray_BASE(<cnp.ndarray> found)
        elif type(found) is memoryview:
            found = found.obj
        else:
            break
    if type(found) is Memory:
        return found
    return array if isinstance(base, cnp.ndarray) else base


cdef cnp.ndarray viewed(cnp.ndarray array, bint writable):
    """Return a private view of an array, whose shape cannot be changed by others, and which keeps the memory alive."""
    return array_over(held_by(array), cnp.PyArray_DESCR(array), cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array),
                      cnp.PyArray_STRIDES(array), cnp.PyArray_DATA(array), writable)


cpdef cnp.ndarray private(cnp.ndarray array):
    """Return a private view of an array, through which it can be written to if it can."""
    return viewed(array, cnp.PyArray_ISWRITEABLE(array))


cpdef cnp.ndarray guarded(cnp.ndarray array):
    """Return a private view of an array of the caller, who is not written to through it."""
    return viewed(array, False)


def for_reading(cnp.ndarray array not None):
    """Return a view for functions of NumPy that only read, and yet copy what is read-only: `argmax` and `repeat`."""
    return viewed(array, True)


# -- arrays for kernels and results ------------------------------------------------------------------------------------


cpdef cnp.ndarray new_offsets(Py_ssize_t count):
    """Return an array of `count` int64 for a kernel to write and `make_lod` to store."""
    cdef cnp.npy_intp shape[1]
    if count > SIZE_LIMIT // 8:
        check_size("LoD", count, 8)
    shape[0] = count
    memory = PyBytes_FromStringAndSize(NULL, 8 * count)
    want_huge_pages(PyBytes_AS_STRING(memory), 8 * count)
    return array_over(memory, INT64, 1, shape, NULL, PyBytes_AS_STRING(memory), True)


cpdef cnp.ndarray new_int64(Py_ssize_t count, Py_ssize_t width=0):
    """Return an int64 array of shape (count,) or (count, width)."""
    cdef cnp.npy_intp shape[2]
    if count > SIZE_LIMIT // 8 // max(width, 1):
        check_size("lodcore", count, max(width, 1), 8)
    shape[0], shape[1] = count, width
    return new_empty(INT64, 2 if width else 1, shape)


cdef cnp.ndarray new_empty(cnp.PyArray_Descr* dtype, int ndim, cnp.npy_intp* shape):
    """Return an uninitialised array; a large one may have recycled memory."""
    cdef int64_t size = (<cnp.dtype> dtype).itemsize
    cdef int axis
    for axis in range(ndim):
        size *= shape[axis]
    if size < LARGE:
        return empty_array(dtype, ndim, shape)
    before = recycling.begin()
    try:
        return empty_array(dtype, ndim, shape)
    finally:
        recycling.end(before)


cdef Py_ssize_t row_size(cnp.ndarray array, int first=1) noexcept:
    """Return the number of bytes of a row, with the axes from `first` on."""
    cdef Py_ssize_t size = cnp.PyArray_ITEMSIZE(array)
    cdef int axis
    for axis in range(first, cnp.PyArray_NDIM(array)):
        size *= cnp.PyArray_DIM(array, axis)
    return size


cdef int check_axes(cnp.ndarray array, int least) except -1:
    """Raise if an array has too few axes for rows, since another thread may have changed its shape."""
    if cnp.PyArray_NDIM(array) < least or not cnp.PyArray_IS_C_CONTIGUOUS(array):
        raise ShapeError(f"lodcore: an array was given the shape {(<object> array).shape} in place while it was used")
    return 0


cpdef cnp.ndarray as_bytes(cnp.ndarray array):
    """Return a view of a C-contiguous array with at least one axis as uint8 of shape (n_rows, row_bytes)."""
    cdef cnp.npy_intp shape[2]
    check_axes(array, 1)
    shape[0], shape[1] = cnp.PyArray_DIM(array, 0), row_size(array)
    return array_over(array, UINT8, 2, shape, NULL, cnp.PyArray_DATA(array), cnp.PyArray_ISWRITEABLE(array))


cpdef cnp.ndarray as_cells(cnp.ndarray array, cnp.dtype dtype=None):
    """Return a view of a C-contiguous array with at least one axis as shape (n_rows, width), with its dtype, or that of
    the parts of its numbers if they are complex."""
    cdef cnp.npy_intp shape[2]
    check_axes(array, 1)
    cdef cnp.PyArray_Descr* kind = cnp.PyArray_DESCR(array) if dtype is None else <cnp.PyArray_Descr*> dtype
    cdef Py_ssize_t size = cnp.PyArray_ITEMSIZE(array) if dtype is None else <Py_ssize_t> dtype.itemsize
    shape[0], shape[1] = cnp.PyArray_DIM(array, 0), row_size(array) // size
    return array_over(array, kind, 2, shape, NULL, cnp.PyArray_DATA(array), cnp.PyArray_ISWRITEABLE(array))


cpdef cnp.ndarray as_lines(cnp.ndarray array):
    """Return a view of a C-contiguous array of shape (n, padded_length, ...) as uint8 (n, padded_length, row_bytes)."""
    cdef cnp.npy_intp shape[3]
    check_axes(array, 2)
    shape[0], shape[1], shape[2] = cnp.PyArray_DIM(array, 0), cnp.PyArray_DIM(array, 1), row_size(array, 2)
    return array_over(array, UINT8, 3, shape, NULL, cnp.PyArray_DATA(array), cnp.PyArray_ISWRITEABLE(array))


cpdef bint is_plain(array):
    """Return whether an array can be used as rows directly: C-contiguous, aligned, native, with at least one axis."""
    if not cnp.PyArray_CheckExact(array):
        return False
    cdef cnp.ndarray given = array
    return (cnp.PyArray_NDIM(given) > 0 and cnp.PyArray_ISCARRAY_RO(given)
            and not PyDataType_REFCHK(cnp.PyArray_DESCR(given))
            and (cnp.PyArray_TYPE(given) != cnp.NPY_VOID or is_native(given.dtype)))


cpdef cnp.ndarray view_rows(cnp.ndarray array, Py_ssize_t start, Py_ssize_t stop):
    """Return the rows from `start` to `stop` as a view."""
    if cnp.PyArray_NDIM(array) < 1 or not 0 <= start <= stop <= cnp.PyArray_DIM(array, 0):
        raise ShapeError(f"lodcore: an array of shape {(<object> array).shape} has no rows {start} to {stop}")
    return rows_over(array, array, start, stop)


def bytes_between(cnp.ndarray first not None, cnp.ndarray second not None):
    """Return the distance in bytes from the memory of one array to that of another.

    `__array_interface__` has it as well, but crashes if the interpreter runs out of memory.
    """
    return <Py_ssize_t> (cnp.PyArray_BYTES(second) - cnp.PyArray_BYTES(first))


cdef cnp.ndarray rows_over(object base, cnp.ndarray array, Py_ssize_t start, Py_ssize_t stop):
    """Return the rows from `start` to `stop`, which must be in range, as a view with the given base."""
    cdef cnp.npy_intp shape[64]
    cdef int axis, ndim = cnp.PyArray_NDIM(array)
    for axis in range(1, ndim):
        shape[axis] = cnp.PyArray_DIM(array, axis)
    shape[0] = stop - start
    return array_over(base, cnp.PyArray_DESCR(array), ndim, shape, cnp.PyArray_STRIDES(array),
                      cnp.PyArray_BYTES(array) + start * cnp.PyArray_STRIDE(array, 0), cnp.PyArray_ISWRITEABLE(array))


cpdef cnp.ndarray new_rows(str where, cnp.ndarray values, int64_t n_rows, out=None, int first=1):
    """Make, or check, the array for a result of `n_rows` rows like those of `values`, whose axes begin at `first`."""
    cdef cnp.npy_intp shape[64]
    cdef int64_t row_bytes = row_size(values, first)
    if out is not None:
        return check_out(where, out, (n_rows, *(<object> values).shape[first:]), values.dtype, values)
    if n_rows > SIZE_LIMIT // max(row_bytes, 1):
        check_size(where, n_rows, *(<object> values).shape[first:], cnp.PyArray_ITEMSIZE(values))
    shape[0] = n_rows
    return new_like(values, first, shape, 1)


cpdef cnp.ndarray new_lines(str where, cnp.ndarray values, int64_t count, padded, out=None):
    """Make, or check, the array for a result of `count` lines of `padded` rows like those of `values`."""
    cdef cnp.npy_intp shape[65]
    cdef int64_t row_bytes = row_size(values)
    if out is not None:
        return check_out(where, out, (count, padded, *(<object> values).shape[1:]), values.dtype, values)
    if padded > SIZE_LIMIT // max(row_bytes, 1) // max(count, 1):
        check_size(where, count, padded, *(<object> values).shape[1:], cnp.PyArray_ITEMSIZE(values))
    shape[0], shape[1] = count, padded
    return new_like(values, 1, shape, 2)


cdef cnp.ndarray new_like(cnp.ndarray values, int first, cnp.npy_intp* shape, int ndim):
    """Return an array with the dtype of `values`; its shape ends with the axes of `values` from `first` on."""
    cdef int axis
    for axis in range(first, cnp.PyArray_NDIM(values)):
        shape[ndim] = cnp.PyArray_DIM(values, axis)
        ndim += 1
    if ndim > MOST_AXES:
        raise ShapeError(f"lodcore: the result has {ndim} axes; {MOST_AXES} is the most")
    if cnp.PyArray_ITEMSIZE(values) == 0:  # NumPy would replace S0 by S1
        return array_over(NO_ROWS, cnp.PyArray_DESCR(values), ndim, shape, NULL, cnp.PyArray_DATA(NO_ROWS), True)
    return new_empty(cnp.PyArray_DESCR(values), ndim, shape)


cpdef cnp.ndarray extended(cnp.ndarray rows, Py_ssize_t count):
    """Return C-contiguous rows followed by rows of zeros, `count` in total."""
    cdef cnp.npy_intp shape[64]
    cdef Py_ssize_t known = cnp.PyArray_NBYTES(rows)
    cdef bint fit = cnp.PyArray_NDIM(rows) > 0 and cnp.PyArray_IS_C_CONTIGUOUS(rows)
    if not fit or PyDataType_REFCHK(cnp.PyArray_DESCR(rows)) or cnp.PyArray_DIM(rows, 0) > count:
        raise ValueError(f"extended: rows: have shape {(<object> rows).shape}; {count} are to be given")
    shape[0] = count
    made = new_like(rows, 1, shape, 1)
    memcpy(cnp.PyArray_BYTES(made), cnp.PyArray_BYTES(rows), known)
    memset(cnp.PyArray_BYTES(made) + known, 0, cnp.PyArray_NBYTES(made) - known)
    return made


cpdef seal(cnp.ndarray array):
    """Make an array read-only."""
    PyArray_CLEARFLAGS(array, cnp.NPY_ARRAY_WRITEABLE)


cpdef cnp.ndarray sealed(cnp.ndarray array):
    """Copy numbers to memory that NumPy cannot make writable; return an array in such memory itself."""
    cdef cnp.ndarray source = array
    if cnp.PyArray_BASE(array) != NULL and type(<object> cnp.PyArray_BASE(array)) is bytes:
        seal(array)
        return array
    if not cnp.PyArray_IS_C_CONTIGUOUS(array) or PyDataType_REFCHK(cnp.PyArray_DESCR(array)):
        source = np.ascontiguousarray(array, np.int64)
    cdef Py_ssize_t size = cnp.PyArray_NBYTES(source)
    memory = PyBytes_FromStringAndSize(NULL, size)
    memcpy(PyBytes_AS_STRING(memory), cnp.PyArray_DATA(source), size)
    return array_over(memory, cnp.PyArray_DESCR(source), cnp.PyArray_NDIM(source), cnp.PyArray_DIMS(source), NULL,
                      PyBytes_AS_STRING(memory), False)


# -- callers' integers -------------------------------------------------------------------------------------------------


cpdef cnp.ndarray as_int64(given, str where, type error=ValueError, entry=None):
    """Convert a caller's vector of integers to a C-contiguous int64 array of shape (n,).

    An array that is one already is returned itself; copy it if later changes would matter.

    Parameters
    ----------
    given : array_like of integers, shape (n,) or (n, 1)
    where : str
        The names of function and argument, for the message.
    error : type
        The error to raise for a number that int64 cannot hold.
    entry : int, optional
        The number of one of several arguments, for the message.
    """
    cdef cnp.ndarray array
    cdef Py_ssize_t j
    cdef int overflow = 0
    cdef int64_t* place
    if cnp.PyArray_CheckExact(given):
        array = given
        if (cnp.PyArray_NDIM(array) == 1 and cnp.PyArray_TYPE(array) == cnp.NPY_INT64
                and cnp.PyArray_ISCARRAY_RO(array)):
            return array
    elif type(given) is list:
        array = new_int64(len(<list> given))
        place = <int64_t*> cnp.PyArray_DATA(array)
        for j in range(cnp.PyArray_DIM(array, 0)):
            if j >= len(<list> given):  # a finalizer, or another thread, may have shortened it
                raise error(f"{where}: got another length while it was read")
            number = (<list> given)[j]
            if not PyLong_CheckExact(number):
                break
            place[j] = PyLong_AsLongLongAndOverflow(number, &overflow)
            if overflow:
                break
        else:
            return array
    return any_int64(given, where if entry is None else f"{where}[{entry}]", error)


def any_int64(given, where, error):
    """Convert any argument of `as_int64` that is neither an int64 array nor a list of int."""
    given = complete(where, given)
    if isinstance(given, (list, tuple)) or getattr(given, "dtype", None) == object:
        for j, number in enumerate(given):  # NumPy would convert them to floats or objects
            if type(number) is int and not -(2**63) <= number < 2**63:
                raise error(f"{where}: is {number} at position {j}; int64 cannot hold that")
    try:
        array = np.asarray(given)
    except ValueError:
        kind = "is a LoDTensor, whose .values are flat" if hasattr(given, "lod") else "is nested unevenly"
        raise ShapeError(f"{where}: {kind}; a flat sequence of integers is needed") from None
    if array.ndim == 0 and array.dtype.kind not in "biufc":
        kind = "None" if given is None else with_article(type(given).__name__)
        raise DTypeError(f"{where}: is {kind}; a flat sequence of integers is needed")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ShapeError(f"{where}: has shape {array.shape}; (n,) or (n, 1) is needed")
    if array.size == 0 and not hasattr(given, "dtype"):
        return new_int64(0)
    if array.dtype.kind not in "iu":
        raise DTypeError(f"{where}: has dtype {array.dtype}; integers are needed")
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and array.size and array.max() > INT64_MAX:
        j = int(np.argmax(array > INT64_MAX))
        raise error(f"{where}: is {array[j]} at position {j}; int64 cannot hold that")
    check_size(where, array.size, 8)
    return np.require(array, np.int64, ["C", "A"])


cdef bint is_number(given):
    """Return whether an argument is one number for all instead of a vector."""
    if cnp.PyArray_CheckExact(given):
        return cnp.PyArray_NDIM(given) == 0
    return PyLong_CheckExact(given) or not isinstance(given, tuple) and np.ndim(given) == 0


def for_each(given, str where, Py_ssize_t count):
    """Convert a caller's vector, or one number for all, to int64 of shape (count,)."""
    cdef cnp.ndarray vector
    cdef int overflow = 0
    cdef int64_t size
    cdef int64_t* place
    cdef Py_ssize_t j
    if PyLong_CheckExact(given):
        size = PyLong_AsLongLongAndOverflow(given, &overflow)
        if not overflow:
            vector = new_int64(count)
            place = <int64_t*> cnp.PyArray_DATA(vector)
            for j in range(count):
                place[j] = size
            return vector
    if type(given) is not list and is_number(given):
        vector = new_int64(count)
        number = given.item() if hasattr(given, "item") else given
        vector.fill(as_int64([number], where, IndexError)[0])
        return vector
    vector = as_int64(given, where, IndexError)
    if cnp.PyArray_DIM(vector, 0) != count:
        raise ShapeError(f"{where}: has {cnp.PyArray_DIM(vector, 0)} entries; there are {count} sequences")
    return vector


cpdef cnp.ndarray private_offsets(given, str where, entry=None):
    """Copy a caller's offsets of one level to memory that cannot be written by others."""
    cdef cnp.ndarray source = as_int64(given, where, LoDError, entry)
    cdef cnp.ndarray copy = new_offsets(cnp.PyArray_DIM(source, 0))
    memcpy(cnp.PyArray_DATA(copy), cnp.PyArray_DATA(source), cnp.PyArray_NBYTES(copy))
    return copy
