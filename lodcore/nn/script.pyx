# cython: boundscheck=True, nonecheck=True
"""The calls that a cell made when it was recorded, against which those of a later time are held."""

from cpython.object cimport PyObject

cimport lodcore.kernels.arrays as cnp

from lodcore.base.dispatch cimport OpBody, Symbol, VariableBody

import numpy as np
from numpy.random import Generator

from lodcore.graph.loops import traced
from lodcore.graph.variable import Variable, resolved
from lodcore.operators.roles import spec_of
from lodcore.tensors.tensor import Tensor

#: Types of constants that are equal if they compare equal.
cdef frozenset PLAIN = frozenset((int, str, bool, type(None), type(Ellipsis), bytes))

#: Dtypes of rows whose constants may be arrays, and the largest one: it is a float32, and so are integers up to it.
cdef frozenset FLOATS = frozenset((np.dtype(np.float32), np.dtype(np.float64)))
cdef int MOST = 1 << 24
cdef frozenset NUMBERS = frozenset((int, float, bool))
cdef tuple SCALARS = (np.number, np.bool_)
cdef tuple REALS = (int, float, np.integer, np.floating)


cdef class Expected:
    """A call that is expected: the operator, its arguments in the order of its parameters, and the result."""

    cdef OpBody op
    cdef readonly list arguments
    cdef readonly object result
    cdef bint takes_numbers, draws

    def __init__(self, OpBody op not None, list arguments not None, result):
        self.op, self.arguments, self.result = op, arguments, result
        self.takes_numbers = takes_numbers(op, arguments)
        self.draws = any([isinstance(x, Generator) for x in arguments])


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
    numbers : dict
        Of this time: the Variable of each number that was an array in the record, by function and bits, and its bits.
    sources : dict
        The Generators of this time, by those of the record.
    """

    cdef readonly list calls
    cdef readonly Py_ssize_t at
    cdef readonly dict found, sources
    cdef set outer, constants
    cdef readonly dict numbers
    cdef list met, usual
    cdef dict holders  # the Variable of each outer object of this time, by its number

    def __init__(self, ops, outer, given):
        self.outer, self.constants = set(outer), set()
        self.calls, self.met, self.usual = [], list(given), None
        for op in ops:
            result = op.outputs[0] if op.single else tuple(op.outputs)
            arguments = list(op.arguments.values())
            self.calls.append(Expected(op.op, arguments, result))
            add_constants(self.constants, op.op, arguments)
            self.met += op.outputs
        self.begin()

    cpdef begin(self):
        """Start from the first call."""
        self.at, self.found, self.sources, self.numbers, self.holders = 0, {}, {}, {}, {}

    @property
    def is_whole(self):
        """Whether all calls were made again."""
        return self.at == len(self.calls)

    cdef as_constant(self, function, known, number):
        """Return a number as the array that a Variable represents now; the number itself if it cannot be one.

        Equal numbers with one function are one value of a body, whose gradients are added first; so they have one
        Variable, and numbers that are not equal have several.
        """
        if not isinstance(known, Variable) or known.spec.shape or not abs(number) <= MOST:
            return number
        made = np.array(number, known.spec.dtype)
        key = made.tobytes()
        if (function, key) in self.constants or (None, key) in self.constants:
            return number
        if self.numbers.get(known, key) != key or self.numbers.get((function, key), known) is not known:
            return number
        self.numbers[known], self.numbers[function, key] = key, known
        return self.found.get(known, made)

    def expected(self, op):
        """Return the arguments of the call that is expected, None if it is of another operator."""
        cdef Expected known = self.calls[self.at] if self.at < len(self.calls) else None
        return known.arguments if known is not None and known.op is op else None

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
        cdef dict bound = {}, drawing = {}
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
            if known.draws and isinstance(known.arguments[j], Generator):
                if not self.draws_from(known.arguments[j], given[j], drawing):
                    return None
                continue
            if known.takes_numbers and type(given[j]) in NUMBERS:
                given[j] = self.as_constant(op.array_function, known.arguments[j], given[j])
            if known.arguments[j] is not given[j] and not self.agree(known.arguments[j], given[j], bound):
                return None
        if bound:
            self.found.update(bound)
            for variable, outer in bound.items():
                self.holders[id(outer)] = variable
        if drawing:
            self.sources.update(drawing)
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
        if isinstance(one, SCALARS):
            return one.dtype == other.dtype and one.tobytes() == other.tobytes()
        return kind in PLAIN and one == other

    cdef bint draws_from(self, one, other, dict drawing) except -1:
        """Let another Generator stand for that of the record; return whether it can."""
        if not isinstance(other, Generator):
            return False
        known = drawing.setdefault(one, self.sources.get(one, other))
        return known is other

    cdef bint binds(self, variable, given, dict bound) except -1:
        """Let a Variable represent an outer object; return whether it can."""
        if type(given) is not Variable or (<VariableBody> given).later is not None:
            given = resolved(given) if isinstance(given, Variable) else given  # the last value of a variable of a loop
        known = bound.get(variable)
        if known is None:
            known = self.found.get(variable)
        if known is not None:
            return known is given
        if self.holders.get(id(given), variable) is not variable:  # the record has two objects where there is one now
            return False
        for outer in bound.values():
            if outer is given:
                return False
        if isinstance(given, Variable):
            if given.home is variable.home:  # of this body
                return False
            held = (<VariableBody> given).held
            if type(held) is cnp.ndarray and (<VariableBody> given).known_spec is None:
                spec = variable.spec
                if spec.kind is not cnp.ndarray or held.shape != spec.shape or held.dtype != spec.dtype:
                    return False
                bound[variable] = given
                return True
            spec = given.spec
        elif isinstance(given, Tensor):
            spec = spec_of(given)
        else:
            return False
        if spec != variable.spec:
            return False
        bound[variable] = given
        return True


def takes_numbers(op, list arguments not None):
    """Return whether operands may be numbers of Python or arrays of one number: both give the same bits."""
    cdef set dtypes = {x.spec.dtype for x in arguments if isinstance(x, Variable)}
    if not op.elementwise or getattr(op, "array_function", None) not in traced.NATIVE or len(dtypes) != 1:
        return False
    return dtypes <= FLOATS


def with_arrays(op, tuple args not None, list before, set constants not None, dict known not None):
    """Return operands with arrays in place of numbers that are others each time.

    Parameters
    ----------
    op : Op
    args : tuple
    before : list or None
        The arguments of an earlier time: numbers that were others, and those that equal one that was replaced, are
        replaced. None for all numbers.
    constants : set
        Those of the operators that were recorded, from `add_constants`: a number that is equal to one stays a number.
    known : dict
        The arrays of numbers so far, by function and bits.
    """
    cdef list given = [resolved(x) if isinstance(x, Symbol) else x for x in args]
    if not takes_numbers(op, given):
        return args
    if before is not None and len(before) != len(given):
        before = list(given)  # nothing that was another number
    function, dtype = op.array_function, next(x.spec.dtype for x in given if isinstance(x, Variable))
    for j, x in enumerate(given):
        given[j] = args[j]
        if type(x) not in NUMBERS or not abs(x) <= MOST:
            continue
        key = function, bits_of(x, dtype)
        if key not in known:
            if before is not None and (type(before[j]) not in NUMBERS or bits_of(before[j], dtype) == key[1]):
                continue
            if key in constants or (None, key[1]) in constants:
                continue
            known[key] = np.array(x, dtype)
        given[j] = known[key]
    return tuple(given)


def add_constants(set constants not None, op, list arguments not None):
    """Add the numbers that an operator may compute with: the function of an elementwise one, and bits in each dtype."""
    cdef list found = [(None, x) for given in arguments if type(given) is list for x in given]
    if op.elementwise:
        found += [(getattr(op, "array_function", None), x) for x in arguments]
    for function, x in found:
        if isinstance(x, REALS) and abs(x) <= MOST:
            constants.update([(function, bits_of(x, dtype)) for dtype in FLOATS])


cdef bytes bits_of(number, dtype):
    """Return the bits of a number in a dtype."""
    return np.array(number, dtype).tobytes()


cdef bint plain(one, other) except -1:
    """Return whether two parts of slices are the same integers, or both missing."""
    return one is other or (type(one) is int and type(other) is int and one == other)
