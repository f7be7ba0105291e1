cimport cython
from cpython.object cimport PyObject


cdef extern from "Python.h":
    object PyObject_Vectorcall(object function, PyObject** given, size_t count, PyObject* names)

cdef enum:
    MANY = 16  # parameters whose usual type is compared before any other is looked up


cdef Py_ssize_t running  # operators that compute now, in any thread

cpdef object recorder(given)
cpdef object open_block()


cdef class Symbol:
    pass


cdef class VariableBody(Symbol):
    cdef public object name, held, home, later, _spec  # see Variable


cpdef variable_of(kind, name, value, spec, block)


cdef class OpBody:
    cdef object function
    cdef Py_ssize_t batches
    cdef object batches_name
    cdef tuple expected  # for each parameter the types that need no conversion, None: all; None if the function looks
    cdef PyObject* usual[MANY]  # the one of these types that is mostly given
    cdef tuple takes, wheres  # what converts others, and the operator and parameter for its message
    cdef bint first
    cdef bint by_name
    cdef public dict other_names  # of parameters that methods call otherwise; None mostly
    cdef public bint changes  # whether it writes to its first argument
    cdef public bint takes_out
    cdef public Py_ssize_t positional  # how many parameters before `out` may be given without their names
    cdef dict places  # of the parameters, by name
    cdef list unsaid  # what stands for arguments that are not given
    cdef tuple of_tensors  # for each parameter whether it has a role
    cdef public object writes, with_residuals
    cdef public bint gradient
    cdef readonly object nested  # the type of arguments whose structure plain rows get; None if they get none
    cpdef list bound(self, tuple args, dict kwargs)
    cpdef of_values(self, function, list values, bint residuals)
    cdef object recorder_among(self, tuple args, dict kwargs)
    cdef object of_few(self, function, PyObject** given, Py_ssize_t count, bint residuals)

    @cython.final
    cdef bint is_expected(self, Py_ssize_t j, given) except -1
    cdef bint are_expected(self, list arguments) except -1
    cdef list converted(self, arguments)
    cdef object taken(self, Py_ssize_t j, given)
    cdef object finished(self, result, given, arguments, kwargs)
    cdef object compute(self, tuple args, dict kwargs)
