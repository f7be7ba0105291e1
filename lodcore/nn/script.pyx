# cython: boundscheck=True, nonecheck=True
"""The calls that a cell made when it was recorded, against which those of a later time are held."""

from cpython.object cimport PyObject

from lodcore.base.dispatch cimport OpBody, Symbol

import numpy as np

from lodcore.graph.variable import Variable, resolved
from lodcore.operators.roles import spec_of
from lodcore.tensors.tensor import Tensor

#: Types of constants that are equal if they compare equal.
cdef frozenset PLAIN = frozenset((int, str, bool, type(None), type(Ellipsis), bytes))


cdef class Expected:
    """A call that is expected: the operator, its arguments in the order of its parameters, and the result."""

    cdef OpBody op
    cdef list arguments
    cdef readonly object result

    def __init__(self, OpBody op not None, list arguments not None, result):
        self.op, self.arguments, self.result = op, arguments, result


cdef class Script:
    """The calls that a cell made, and the outer objects that it read.

    Parameters
    ----------
    ops : list of Operator
    outer : list of Variable
        Those of the body that represent outer objects.
    given : list of Variable
        The inputs and states that the cell is given.

    Attributes
    ----------
    calls : list of Expected
    at : int
        The number of calls that were made again.
    found : dict
        The outer objects of this time, by Variable.
    """

    cdef readonly list calls
    cdef readonly Py_ssize_t at
    cdef readonly dict found
    cdef set outer
    cdef list met, usual

    def __init__(self, ops, outer, given):
        self.outer = set(outer)
        self.calls, self.met, self.usual = [], list(given), None
        for op in ops:
            result = op.outputs[0] if op.single else tuple(op.outputs)
            self.calls.append(Expected(op.op, list(op.arguments.values()), result))
            self.met += op.outputs
        self.begin()

    cpdef begin(self):
        """Start from the first call."""
        self.at, self.found = 0, {}

    @property
    def is_whole(self):
        """Whether all calls were made again."""
        return self.at == len(self.calls)

    def is_alone(self):
        """Return whether the Variables that the cell meets are referenced as often as at the first call of this."""
        cdef list counts = self.counts()
        if self.usual is None:
            self.usual = counts
        return counts == self.usual

    cpdef list counts(self):
        """Return how often each Variable that the cell meets is referenced."""
        return [(<PyObject*> v).ob_refcnt for v in self.met]

    def grow(self, list before not None):
        """Take into account what refers to the Variables for good since they were counted."""
        cdef list now = self.counts()
        if self.usual is not None:
            self.usual = [usual + later - earlier for usual, earlier, later in zip(self.usual, before, now)]

    cpdef object next(self, OpBody op, tuple args, dict kwargs):
        """Return the result of a call if it is the next one, None otherwise."""
        cdef Py_ssize_t j
        cdef Expected known
        cdef list given
        cdef dict bound = {}
        if self.at == len(self.calls):
            return None
        known = self.calls[self.at]
        if known.op is not op:
            return None
        if kwargs or len(args) != len(known.arguments) or len(args) > op.positional:
            given = op.bound(args, kwargs)
            if given is None:
                return None
        else:
            given = list(args)
        for j in range(len(given)):
            if known.arguments[j] is not given[j] and not self.agree(known.arguments[j], given[j], bound):
                return None
        if bound:
            self.found.update(bound)
        self.at += 1
        return known.result

    cdef bint agree(self, one, other, dict bound) except -1:
        """Return whether an argument is what it was; note in `bound` which outer objects it has."""
        kind = type(one)
        if isinstance(one, Variable):
            if one not in self.outer:
                return isinstance(other, Symbol) and resolved(other) is one
            return self.binds(one, other, bound)
        if kind is list:
            if (type(other) is not list and type(other) is not tuple) or len(one) != len(other):
                return False
            for a, b in zip(one, other):
                if a is not b and not self.agree(a, b, bound):
                    return False
            return True
        if kind is not type(other):
            return False
        if kind is dict:
            if one.keys() != other.keys():
                return False
            for name in one:
                if one[name] is not other[name] and not self.agree(one[name], other[name], bound):
                    return False
            return True
        if kind is tuple:
            if len(one) != len(other):
                return False
            for a, b in zip(one, other):
                if a is not b and not self.agree(a, b, bound):
                    return False
            return True
        if kind is slice:
            return plain(one.start, other.start) and plain(one.stop, other.stop) and plain(one.step, other.step)
        if kind is float:
            return one == other and str(one) == str(other)  # zeros of both signs differ, and nan is like nothing
        if isinstance(one, (np.number, np.bool_)):
            return one.dtype == other.dtype and one.tobytes() == other.tobytes()
        return kind in PLAIN and one == other

    cdef bint binds(self, variable, given, dict bound) except -1:
        """Let a Variable represent an outer object; return whether it can."""
        given = resolved(given) if isinstance(given, Variable) else given  # the last value of a variable of a loop
        known = bound.get(variable)
        if known is None:
            known = self.found.get(variable)
        if known is not None:
            return known is given
        if isinstance(given, Variable):
            if given.home is variable.home:  # of this body
                return False
            spec = given.spec
        elif isinstance(given, Tensor):
            spec = spec_of(given)
        else:
            return False
        if spec != variable.spec:
            return False
        bound[variable] = given
        return True


cdef bint plain(one, other) except -1:
    """Return whether two parts of slices are the same integers, or both missing."""
    return one is other or (type(one) is int and type(other) is int and one == other)
