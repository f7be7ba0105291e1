cdef class Call:
    cdef readonly object operator
    cdef object function, on_arrays
    cdef tuple names, slots, outs
    cdef dict places  # the slots by name, for rules of gradients: of the arguments, `out` and `hidden`
    cdef public tuple ending  # slots of arguments that nobody reads later; their gradient asks for their shape alone
    cdef Py_ssize_t out, hidden
    cdef bint single, by_name
    cdef tuple arguments(self, list frame)
    cdef int run(self, list frame) except -1


cdef bint are_arrays(tuple given)
cdef object fetched(list frame, slot)
