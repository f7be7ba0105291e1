"""How recorded calls run, forth and back; a frame is a list, and what is computed stands in its slots."""

cimport numpy as cnp
from cpython.object cimport PyObject_Call, PyObject_GenericGetAttr
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM

import numpy as np

from lodcore.errors import GraphError
from lodcore.sparse_tensor import SparseTensor
from lodcore.symbol import Symbol
from lodcore.tensor import DenseTensor, LoDTensor

cnp.import_array()

cdef object TRUE = np.True_, FALSE = np.False_
cdef dict NOTHING = {}


# -- forth -----------------------------------------------------------------------------------------------------------


cdef class Call:
    """A call of an operator whose arguments and results stand in slots.

    Parameters
    ----------
    operator : Operator or None
        What was recorded.
    function : callable
        What computes it.
    names : tuple of str
        Of the arguments.
    slots : tuple
        One entry an argument: a slot, or a tuple of them for a list.
    outs : tuple of int
        The slots of the results.
    single : bool
        Whether the result is one, no tuple.
    hidden : int
        The slot of what is saved for the gradient besides, which the function gives as well; -1 for none.
    by_name : bool
        Whether the arguments are given by name.
    """

    cdef readonly object operator
    cdef object function
    cdef tuple names, slots, outs
    cdef Py_ssize_t out, hidden
    cdef bint single, by_name

    def __init__(self, operator, function, tuple names, tuple slots, tuple outs, single, hidden, by_name):
        self.operator, self.function = operator, function
        self.names, self.slots, self.outs = names, slots, outs
        self.out = outs[0] if single else -1
        self.single, self.hidden, self.by_name = single, hidden, by_name

    cdef tuple arguments(self, list frame):
        """Give the values of the arguments."""
        cdef Py_ssize_t j, count = len(self.slots)
        cdef tuple given = PyTuple_New(count)
        for j in range(count):
            value = fetched(frame, self.slots[j])
            Py_INCREF(value)
            PyTuple_SET_ITEM(given, j, value)
        return given

    cdef int run(self, list frame) except -1:
        """Compute, and put the results into their slots."""
        cdef tuple given = self.arguments(frame)
        if self.by_name:
            result = PyObject_Call(self.function, (), dict(zip(self.names, given)))
        else:
            result = PyObject_Call(self.function, given, <dict> NULL)
        if self.hidden >= 0:
            result, frame[self.hidden] = result
        if self.single:
            frame[self.out] = result
        else:
            for slot, one in zip(self.outs, result, strict=True):
                frame[slot] = one
        return 0

    cdef dict saved(self, list frame):
        """Give what a rule of gradients sees: the values of all arguments, `out` and `hidden`."""
        cdef Py_ssize_t j
        cdef dict saved = {}
        for j in range(len(self.slots)):
            saved[self.names[j]] = fetched(frame, self.slots[j])
        saved["out"] = frame[self.out] if self.single else tuple([frame[slot] for slot in self.outs])
        saved["hidden"] = frame[self.hidden] if self.hidden >= 0 else None
        return saved


cdef class Leave:
    """The end of a run, if a condition holds.

    Parameters
    ----------
    slot : int
        Where the condition stands.
    """

    cdef Py_ssize_t slot

    def __init__(self, slot):
        self.slot = slot


cdef inline object fetched(list frame, slot):
    """Give what stands in a slot, or a list of what stands in several."""
    if type(slot) is tuple:
        return [frame[one] for one in <tuple> slot]
    return frame[<Py_ssize_t> slot]


def run(list instructions, list frame, Py_ssize_t count):
    """Run the first instructions on a frame.

    Parameters
    ----------
    instructions : list
        Of Call, Leave, or None for nothing.
    frame : list
        After an error slot 0 holds the place of the instruction that failed.
    count : int
        How many.

    Returns
    -------
    int
        The place of the Leave that ended the run, -1 if none did.
    """
    cdef Py_ssize_t at = 0
    try:
        for at in range(count):
            instruction = instructions[at]
            if type(instruction) is Call:
                (<Call> instruction).run(frame)
            elif instruction is not None and holds(frame[(<Leave> instruction).slot]):
                return at
    except BaseException:
        frame[0] = at
        raise
    return -1


cpdef bint holds(condition) except -1:
    """Tell whether a condition of one element holds."""
    if condition is TRUE or condition is FALSE:
        return condition is TRUE
    found = np.asarray(condition)
    if found.size != 1:
        raise GraphError(f"cond: has shape {found.shape}; one element is needed")
    return bool(found.reshape(())[()])


# -- back ------------------------------------------------------------------------------------------------------------


cdef class Context:
    """What a backward rule sees of a call: the value of every argument by its name, `out`, and `hidden`.

    Parameters
    ----------
    saved : dict
        These values.
    operator : Operator
    gradients : Gradients
        What is wanted, and where to write it.
    """

    cdef dict _saved
    cdef object _operator
    cdef Gradients _gradients

    def __init__(self, dict saved, operator, Gradients gradients):
        self._saved = saved
        self._operator = operator
        self._gradients = gradients

    def __getattribute__(self, name):
        if name in self._saved:
            return self._saved[name]
        try:
            return PyObject_GenericGetAttr(self, name)
        except AttributeError:
            raise AttributeError(f"{self._operator.name}: has no argument {name}") from None

    def needs(self, name):
        """Tell whether the gradient of an argument is wanted."""
        given = self._operator.arguments[name]
        if type(given) is list:
            return any([self.wants(x) for x in given])
        return self.wants(given)

    @property
    def arguments(self):
        """The arguments as they were recorded: Variables and constants."""
        return self._operator.arguments

    cpdef bint wants(self, x) except -1:
        """Tell whether the gradient of a Variable is wanted."""
        return isinstance(x, Symbol) and x in self._gradients.needed

    def input_lod(self, name):
        """Give the LoD of an argument by its name, None if it has none (the InputSeq of the design documents)."""
        return getattr(self._saved[name], "lod", None)

    def new(self, name):
        """Make an uninitialised array for the gradient of an argument: with the shape and dtype of its values."""
        if self._gradients.places:
            given = self._operator.arguments[name]
            place = self._gradients.places.pop(given, None) if isinstance(given, Symbol) else None
            if place is not None:
                return place
        value = values_of(self._saved[name])
        return np.empty(value.shape, value.dtype)

    def product(self, name, left, right):
        """Give the gradient of an argument that is the matrix product of left, transposed, and right.

        Where a loop multiplies with the same argument at every step, the products of several steps are one, made
        later; then this gives None.
        """
        collected = self._gradients.products.get(self._operator.arguments[name])
        if collected is None:
            return np.matmul(left.T, right)
        collected.add(left, right)
        return None


cdef class Gradients:
    """Gradients of Variables while a way back is gone.

    Parameters
    ----------
    needed : set of Variable
        Those whose gradient leads somewhere.
    products : dict, optional
        For a Variable that is the same at every step of a loop, where products are collected.
    """

    cdef readonly set needed
    cdef readonly dict places, products
    cdef public dict found
    cdef set _own

    def __init__(self, set needed, dict products=None):
        self.needed = needed
        self.products = NOTHING if products is None else products
        self.places = {}  # arrays in which the gradient of a Variable is to be written
        self.found = {}  # ndarrays, SparseTensors, or dicts for the elements of arrays
        self._own = set()  # those whose sum nobody else holds

    cpdef add(self, variable, gradient):
        """Add to the gradient of a Variable; the dict of an array's gradient is given away."""
        known = self.found.get(variable)
        if known is None:
            self.found[variable] = gradient
        elif type(known) is dict:
            for index, one in (<dict> gradient).items():
                known[index] = known[index] + one if index in <dict> known else one
        elif type(gradient) is cnp.ndarray and variable in self._own:
            known += gradient
        else:
            total = known + gradient
            self.found[variable] = total
            if type(total) is cnp.ndarray:
                self._own.add(variable)

    cpdef take(self, variable):
        """Give the gradient of a Variable, and forget it."""
        self._own.discard(variable)
        return self.found.pop(variable, None)

    def step_back(self, operator, dict saved):
        """Go back through one operator: from the gradients of its results to those of its inputs.

        Parameters
        ----------
        operator : Operator
        saved : dict
            The values of its arguments, `out` and `hidden`.
        """
        cdef tuple cotangents = self.cotangents(operator.outputs)
        if cotangents is not None:
            self.through(operator, saved, cotangents)

    def back(self, list calls, list frame):
        """Go back through calls, the last of which comes first, with the values of a frame."""
        cdef Call call
        cdef tuple cotangents
        for call in calls:
            cotangents = self.cotangents(call.operator.outputs)
            if cotangents is not None:
                self.through(call.operator, call.saved(frame), cotangents)

    cdef tuple cotangents(self, list outputs):
        """Take the gradients of results; None, if no result has one."""
        cdef list taken = [self.take(out) for out in outputs]
        for one in taken:
            if one is not None:
                return tuple(taken)
        return None

    cdef through(self, operator, dict saved, tuple cotangents):
        """Add the gradients of the inputs of an operator."""
        op = operator.op
        rule = op._backward
        if rule is None:
            raise GraphError(f"{op.__name__}: has no gradient")
        found = rule(Context(saved, operator, self), *cotangents)
        cdef dict arguments = operator.arguments
        for name, gradient in zip(op.roles, found, strict=True):
            if gradient is None:
                continue
            given = arguments[name]
            if type(given) is list:
                for x, one, value in zip(given, gradient, saved[name], strict=True):
                    if one is not None and isinstance(x, Symbol) and x in self.needed:
                        self.add(x, fitting(one, value))
            elif isinstance(given, Symbol) and given in self.needed:
                self.add(given, fitting(gradient, saved[name]))


cdef fitting(gradient, value):
    """Give a gradient the dtype of the value that it belongs to, in contiguous memory."""
    if type(gradient) is dict or isinstance(gradient, SparseTensor):
        return gradient
    dtype = value.dtype
    if type(gradient) is cnp.ndarray and cnp.PyArray_IS_C_CONTIGUOUS(gradient) and gradient.dtype == dtype:
        return gradient
    return np.require(gradient, dtype, ["C"])


def values_of(value):
    """Give the array in which the numbers of a tensor are."""
    return value.values if isinstance(value, (LoDTensor, DenseTensor)) else np.asarray(value)
