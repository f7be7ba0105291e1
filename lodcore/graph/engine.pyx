# cython: boundscheck=True, nonecheck=True
"""How recorded calls run, forth and back; a frame is a list, and what is computed stands in its slots."""

cimport numpy as cnp
from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject, PyObject_Call, PyObject_GenericGetAttr
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM

import numpy as np

from lodcore.errors import GraphError
from lodcore.ops.common import unbroadcast
from lodcore.sparse_tensor import SparseTensor
from lodcore.symbol import Symbol
from lodcore.tensor import DenseTensor, LoDTensor

cnp.import_array()

cdef object TRUE = np.True_, FALSE = np.False_
cdef frozenset NUMBERS = frozenset((np.int64, np.float32, np.float64))


# -- forth -----------------------------------------------------------------------------------------------------------


cdef class Call:
    """A call of an operator whose arguments and results stand in slots.

    Parameters
    ----------
    operator : Operator or None
        What was recorded.
    function : callable
        What computes it.
    on_arrays : callable or None
        What computes the same on arrays and numbers, of which one is NumPy's.
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
    cdef object function, on_arrays
    cdef tuple names, slots, outs
    cdef dict places  # the slots by name, for rules of gradients: of the arguments, `out` and `hidden`
    cdef Py_ssize_t out, hidden
    cdef bint single, by_name

    def __init__(self, operator, function, on_arrays, tuple names, tuple slots, tuple outs, single, hidden, by_name):
        self.operator, self.function, self.on_arrays = operator, function, on_arrays
        self.names, self.slots, self.outs = names, slots, outs
        self.out = outs[0] if single else -1
        self.single, self.hidden, self.by_name = single, hidden, by_name
        self.places = dict(zip(names, slots))
        self.places["out"] = outs[0] if single else list(outs)
        self.places["hidden"] = max(hidden, 0)  # slot 0 holds None

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
        if self.on_arrays is not None and are_arrays(given):
            try:
                frame[self.out] = PyObject_Call(self.on_arrays, given, <dict> NULL)
                return 0
            except Exception:
                pass  # the function says what is wrong
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


cdef bint are_arrays(tuple given):
    """Tell whether arguments are arrays and numbers, and one of them is NumPy's."""
    cdef bint found = False
    for x in given:
        if type(x) is cnp.ndarray or type(x) in NUMBERS:
            found = True
        elif type(x) is not int and type(x) is not float:
            return False
    return found


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
    """Give what stands in a slot; of several, which are a tuple, a list, and of a list of slots a tuple."""
    if type(slot) is int:
        return frame[<Py_ssize_t> slot]
    values = [frame[one] for one in slot]
    return values if type(slot) is tuple else tuple(values)


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
            elif instruction is not None and holds(frame[(<Leave?> instruction).slot]):
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


cdef class Return:
    """The way back through one operator, prepared.

    Parameters
    ----------
    operator : Operator
    needed : set of Variable
        Those whose gradient leads somewhere.
    call : Call, optional
        What tells the values of the operator in a frame.
    """

    cdef object operator, rule, slopes
    cdef tuple wanted
    cdef list outputs
    cdef Call call
    cdef dict needs  # by the name of an argument, whether its gradient is wanted
    cdef list targets  # for each tensor argument the Variable, or a list of them; None where nothing is wanted
    cdef tuple names  # of these arguments

    def __init__(self, operator, set needed, Call call=None):
        cdef dict arguments = operator.arguments
        self.operator, self.call = operator, call
        self.rule, self.slopes, self.outputs = operator.op._backward, operator.op.slopes, operator.outputs
        self.names = tuple(operator.op.roles)
        self.targets = [wanted_of(arguments[name], needed) for name in self.names]
        self.wanted = tuple([target is not None for target in self.targets])
        self.needs = dict.fromkeys(arguments, False)
        for name, target in zip(self.names, self.targets):
            self.needs[name] = target is not None


cdef inline object held(dict saved, list frame, name):
    """Give a value by its name: what was saved, or with a frame what stands in its slot."""
    found = saved[name]
    return found if frame is None else fetched(frame, found)


cdef wanted_of(given, set needed):
    """Give a Variable if its gradient is wanted, of a list the Variables, and None elsewhere."""
    if isinstance(given, Symbol):
        return given if given in needed else None
    if type(given) is list:
        wanted = [wanted_of(x, needed) for x in <list> given]
        return wanted if any([x is not None for x in wanted]) else None
    return None


cdef class Context:
    """What a backward rule sees of a call: the value of every argument by its name, `out`, and `hidden`.

    Parameters
    ----------
    saved : dict
        These values; or, with a frame, their slots.
    frame : list or None
    way : Return
        The way back through the operator.
    gradients : Gradients
        What is wanted, and where to write it.
    """

    cdef dict _saved
    cdef list _frame
    cdef Return _way
    cdef Gradients _gradients

    def __init__(self, dict saved, list frame, Return way, Gradients gradients):
        self._saved, self._frame, self._way, self._gradients = saved, frame, way, gradients

    def __getattribute__(self, name):
        cdef PyObject* found = PyDict_GetItem(self._saved, name)
        if found is not NULL:
            return <object> found if self._frame is None else fetched(self._frame, <object> found)
        try:
            return PyObject_GenericGetAttr(self, name)
        except AttributeError:
            raise AttributeError(f"{self._way.operator.name}: has no argument {name}") from None

    cdef object value(self, name):
        """Give the value of an argument."""
        return held(self._saved, self._frame, name)

    def needs(self, name):
        """Tell whether the gradient of an argument is wanted."""
        return self._way.needs[name]

    @property
    def arguments(self):
        """The arguments as they were recorded: Variables and constants."""
        return self._way.operator.arguments

    def wants(self, x):
        """Tell whether the gradient of a Variable is wanted."""
        return isinstance(x, Symbol) and x in self._gradients.needed

    def input_lod(self, name):
        """Give the LoD of an argument by its name, None if it has none (the InputSeq of the design documents)."""
        return getattr(self.value(name), "lod", None)

    def new(self, name):
        """Make an uninitialised array for the gradient of an argument: with the shape and dtype of its values."""
        if self._gradients.places:
            given = self.arguments[name]
            place = self._gradients.places.pop(given, None) if isinstance(given, Symbol) else None
            if place is not None:
                return place
        value = values_of(self.value(name))
        return np.empty(value.shape, value.dtype)


cdef class Gradients:
    """Gradients of Variables while a way back is gone.

    Parameters
    ----------
    needed : set of Variable
        Those whose gradient leads somewhere.
    """

    cdef readonly set needed
    cdef readonly dict places
    cdef public dict found
    cdef set _own

    def __init__(self, set needed):
        self.needed = needed
        self.places = {}  # arrays in which the gradient of a Variable is to be written
        self.found = {}  # ndarrays, SparseTensors, or dicts for the elements of arrays
        self._own = set()  # those whose sum nobody else holds

    cpdef add(self, variable, gradient):
        """Add to the gradient of a Variable; the dict of an array's gradient is given away."""
        known = self.found.get(variable)
        if known is None:
            self.found[variable] = gradient
        elif type(known) is dict:
            for index, one in (<dict?> gradient).items():
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
        found = self.found.pop(variable, None)
        if found is not None:
            self._own.discard(variable)
        return found

    def hand_on(self, list carried, list sources):
        """Make the gradients of what a step began with those of what the step before it ended with."""
        cdef list taken = [self.take(v) for v in carried]
        for source, gradient in zip(sources, taken):
            if gradient is not None and source in self.needed:
                self.add(source, gradient)

    def step_back(self, operator, dict saved):
        """Go back through one operator: from the gradients of its results to those of its inputs.

        Parameters
        ----------
        operator : Operator
        saved : dict
            The values of its arguments, `out` and `hidden`.
        """
        for out in operator.outputs:
            if out in self.found:
                self.go(Return(operator, self.needed), saved, None)
                break

    def back(self, list ways, list frame):
        """Go back through calls, the last of which comes first, with the values of a frame.

        Parameters
        ----------
        ways : list of Return
        frame : list
        """
        cdef Return way
        for way in ways:
            self.go(way, way.call.places, frame)

    cdef go(self, Return way, dict saved, list frame):
        """Go back through one operator, if one of its results has a gradient."""
        cdef list cotangents
        if len(way.outputs) == 1:
            d = self.take(way.outputs[0])
            if d is not None and not (way.slopes is not None and self.through_arrays(way, saved, frame, d)):
                self.through(way, Context(saved, frame, way, self), [d])
        else:
            cotangents = [self.take(out) for out in way.outputs]
            if any([d is not None for d in cotangents]):
                self.through(way, Context(saved, frame, way, self), cotangents)

    cdef through(self, Return way, Context context, list cotangents):
        """Add the gradients of the inputs of an operator."""
        cdef Py_ssize_t j
        if way.rule is None:
            raise GraphError(f"{way.operator.name}: has no gradient")
        cdef tuple found = tuple(way.rule(context, *cotangents))
        if len(found) != len(way.targets):
            raise ValueError(f"{way.operator.name}: gave {len(found)} gradients for {len(way.targets)} tensors")
        for j in range(len(found)):
            gradient, target = found[j], way.targets[j]
            if target is None or gradient is None:
                continue
            if type(target) is list:
                for x, one, value in zip(target, gradient, context.value(way.names[j]), strict=True):
                    if x is not None and one is not None:
                        self.add(x, fitting(one, value))
            else:
                self.add(target, fitting(gradient, context.value(way.names[j])))

    cdef bint through_arrays(self, Return way, dict saved, list frame, d) except -1:
        """Add the gradients of inputs that are arrays and numbers; tell whether that was possible."""
        cdef Py_ssize_t j
        cdef tuple given = tuple([held(saved, frame, name) for name in way.names])
        if not are_arrays(given):
            return False
        found = way.slopes(d, *given, held(saved, frame, "out"), *way.wanted)
        if found is None:
            return False
        for j in range(len(given)):
            if way.wanted[j]:
                gradient, value = found[j], given[j]
                if not alike(gradient, value):
                    rows = gradient.shape[1:] == value.shape
                    gradient = gradient.sum(0) if rows else unbroadcast(gradient, value.shape)
                self.add(way.targets[j], fitting(gradient, value))
        return True


cdef inline bint alike(gradient, value) except -1:
    """Tell whether a gradient has the shape of the value that it belongs to."""
    if type(gradient) is cnp.ndarray and type(value) is cnp.ndarray:
        return cnp.PyArray_SAMESHAPE(gradient, value)
    return gradient.shape == value.shape


cdef fitting(gradient, value):
    """Give a gradient the dtype of the value that it belongs to, in contiguous memory."""
    if type(gradient) is cnp.ndarray:
        if cnp.PyArray_IS_C_CONTIGUOUS(gradient) and (
            type(value) is cnp.ndarray and cnp.PyArray_DESCR(gradient) is cnp.PyArray_DESCR(value)
            or gradient.dtype == value.dtype
        ):
            return gradient
    elif type(gradient) is dict or isinstance(gradient, SparseTensor):
        return gradient
    return np.require(gradient, value.dtype, ["C"])


def values_of(value):
    """Give the array in which the numbers of a tensor are."""
    if type(value) is cnp.ndarray:
        return value
    return value.values if isinstance(value, (LoDTensor, DenseTensor)) else np.asarray(value)
