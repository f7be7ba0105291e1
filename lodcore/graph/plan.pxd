from lodcore.graph.engine cimport Call

cdef enum:
    MOST = 16  # the maximum number of arguments of a vjp rule

cdef enum Kind:  # the kinds of arguments of a vjp rule
    OPERAND, VALUE, RESULT, NEEDS, CONTEXT


cdef class Plan:
    cdef object function
    cdef bint elementwise, reads_out, reads_frame
    cdef bint of_arrays  # whether the rule reads only operands, attributes and the result
    cdef Py_ssize_t count, cotangents
    cdef Kind[MOST] kinds
    cdef Py_ssize_t[MOST] slots


cdef class Return:
    cdef object operator
    cdef Plan plan
    cdef dict places
    cdef list outputs
    cdef object listed  # the slot of the list of all operands; None if they are arguments
    cdef list operands  # the slots of operands that are arguments
    cdef bint flat  # whether each operand is one slot, stored in `slots`
    cdef Py_ssize_t[MOST] slots
    cdef list targets  # the Variable of each operand, or a list of them; None if no gradient is needed
    cdef tuple needs  # whether each gradient is needed
    cdef tuple names  # the names of the arguments that may be tensors
    cdef Py_ssize_t row  # the operand that differs between calls if all others are shared, or -1
    cdef tuple needs_of_row, needs_of_shared
    cdef Py_ssize_t prepared  # the slot of the prepared second operand, or 0
    cdef look_for_shared(self, op, dict arguments, set shared)
