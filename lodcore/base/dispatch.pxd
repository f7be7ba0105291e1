cimport cython
from cpython.object cimport PyObject


cdef extern from "Python.h":
    object PyObject_Vectorcall(object function, PyObject** given, size_t count, PyObject* names)

cdef enum:
    MANY = 16  # the number of parameters whose usual type is compared first
    DEEPEST = 64  # lists in lists: no array has more axes


cdef Py_ssize_t running  # the number of operators that are computing now, in any thread

cpdef object recorder(given)
cpdef object open_block()


cdef class Symbol:
    pass


cdef class VariableBody(Symbol):
    cdef public object name, held, home, later, known_spec  # see Variable
    cpdef begin(self, name, value, spec, block)
    cdef int take(self, value) except -1


cpdef variable_of(kind, name, value, spec, block)
cdef object called(function, PyObject** given, Py_ssize_t count, dict saved)


cdef class OpBody:
    cdef object function
    cdef Py_ssize_t batches
    cdef object batches_name
    cdef tuple expected  # the types of each parameter that need no conversion; None for all, or for no conversion
    cdef PyObject* usual[MANY]  # the most frequent of these types
    cdef tuple takes, wheres  # conversions of other types, and the names for their messages
    cdef bint first
    cdef bint by_name
    cdef public dict other_names  # parameters with other names in methods; usually None
    cdef public bint changes  # whether it writes to its first argument
    cdef public bint takes_out
    cdef public Py_ssize_t positional  # the number of positional parameters before `out`
    cdef dict places  # positions of the parameters, by name
    cdef list unsaid  # the defaults of all parameters
    cdef tuple of_tensors  # whether each parameter has a role
    cdef public object writes
    cdef public object saving  # what runs if the vjp rule needs what the function saves; None if it saves nothing
    cdef public tuple saves  # the names of these values
    cdef public bint gradient
    cdef readonly object nested  # the type of arguments whose structure plain rows receive, or None
    cpdef list bound(self, tuple args, dict kwargs)
    cpdef of_values(self, function, list values, dict saved)
    cdef object recorder_among(self, tuple args, dict kwargs)
    cdef object of_few(self, function, PyObject** given, Py_ssize_t count, dict saved)

    @cython.final
    cdef bint is_expected(self, Py_ssize_t j, given) except -1
    cdef bint are_expected(self, list arguments) except -1
    cdef list converted(self, arguments)
    cdef object taken(self, Py_ssize_t j, given)
    cdef object finished(self, result, given, arguments, kwargs)
    cdef object compute(self, tuple args, dict kwargs)


cdef list saved_values(OpBody op, dict saved)


cdef class OpenContext:
    cdef object block, outer
    cdef bint is_open


cdef class recording:
    cdef object block, token
    cdef OpenContext standing
    cdef int open(self) except -1
    cdef int close(self) except -1
