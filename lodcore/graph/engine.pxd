cimport lodcore.kernels.arrays as cnp
from cpython.object cimport PyObject

from lodcore.base.dispatch cimport OpBody


cdef extern from "Python.h":
    object PyObject_Vectorcall(object function, PyObject** given, size_t count, PyObject* names)

cdef dict watched  # by thread, what is told of the calls that begin and end in it

cdef enum:
    FEW = 6  # arguments that are passed on without a tuple


cdef class Call:
    cdef readonly object operator
    cdef object function, on_arrays, op
    cdef tuple names, slots, outs, saves
    cdef readonly dict places  # the slots of the arguments, `out` and what is saved by name, for vjp rules
    cdef public Py_ssize_t prepared  # the slot of the prepared second operand, or 0
    cdef public tuple ending  # slots of arguments that are not read later; their gradients need only their shapes
    cdef Py_ssize_t out, count
    cdef Py_ssize_t[FEW] numbers  # the slots, if `few`
    cdef bint few
    cdef bint writes  # whether the first argument is an array that is written to
    cdef bint single, by_name
    cdef int run(self, list frame) except -1
    cdef int put(self, list frame, result, dict saved) except -1


cdef inline bint is_matrix(x):
    """Return whether an object is an array with two axes."""
    return type(x) is cnp.ndarray and cnp.PyArray_NDIM(x) == 2


cdef bint are_arrays(PyObject** given, Py_ssize_t count)
cpdef object function_of(OpBody op, bint keep)
cdef object watcher()
cdef object began_back(op, outputs)
cdef object fetched(list frame, slot)
