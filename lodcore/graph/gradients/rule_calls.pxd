from lodcore.graph.engine cimport Call

cdef enum:
    MOST = 16  # the maximum number of arguments of a vjp rule

cdef enum Kind:  # the kinds of arguments of a vjp rule
    OPERAND, VALUE, RESULT, NEEDS, CONTEXT


cdef class RuleCall:
    cdef object function
    cdef bint elementwise, reads_out, reads_frame
    cdef bint of_arrays  # whether the rule reads only operands, attributes and the result
    cdef Py_ssize_t count, cotangents
    cdef Kind[MOST] kinds
    cdef Py_ssize_t[MOST] slots
    cdef dict needs  # the needs by the operands whose gradients are needed, as bits
    cdef Operands own  # in a frame that an operator has for itself


cdef class Operands:
    cdef dict by_name
    cdef object listed  # the place of the list in which all operands are; None: they are arguments
    cdef list places  # of those that are arguments
    cdef bint flat  # whether each place is one slot; `slots` has them then
    cdef Py_ssize_t[MOST] slots


cdef class BackwardCall:
    cdef object op
    cdef readonly list outputs
    cdef readonly list frame
    cdef RuleCall rule_call
    cdef Operands operands
    cdef list targets  # the Variable of each operand, or a list of them; None if no gradient is needed
    cdef object needs  # whether each gradient is needed: a tuple whose entries have names, too
    cdef Py_ssize_t row  # the operand that differs between calls if all others are shared, or -1
    cdef object needs_of_row, needs_of_shared
    cdef Py_ssize_t prepared  # the slot of the prepared second operand, or 0
    cdef set_rule(self, rule, dict places)
    cdef target_of(self, name)
    cdef look_for_shared(self, dict arguments, set shared, kind)
