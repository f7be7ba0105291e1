# cython: boundscheck=True, nonecheck=True
"""The way back through recorded calls: from the gradients of results to those of inputs."""

cimport numpy as cnp
from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject, PyObject_GenericGetAttr

from lodcore.graph.engine cimport FEW, Call, PyObject_Vectorcall, are_arrays, fetched

import numpy as np

from lodcore.errors import GraphError
from lodcore.ops.common import unbroadcast
from lodcore.sparse_tensor import SparseTensor
from lodcore.symbol import Symbol
from lodcore.tensor import DenseTensor, LoDTensor

cnp.import_array()

cdef Py_ssize_t MANY = 128  # rows of calls whose gradient of what they share is computed at once


cdef class Return:
    """The way back through one operator, prepared.

    Parameters
    ----------
    operator : Operator
    needed : set of Variable
        Those whose gradient leads somewhere.
    call : Call, optional
        What tells the values of the operator in a frame.
    shared : set of Variable, optional
        Those that are the same in all calls of this operator, and whose gradient is not asked for between them.
    """

    cdef object operator, rule, slopes
    cdef bint broadcasts  # whether slopes are of arrays and numbers alone, and may be as wide as the result
    cdef object steady  # what the operator does with an operand that all calls share; None if there is no such
    cdef Py_ssize_t place  # of that operand
    cdef int ndim  # the number of its axes
    cdef bint elementwise
    cdef object slope
    cdef tuple wanted
    cdef list outputs
    cdef Call call
    cdef list targets  # for each tensor argument the Variable, or a list of them; None where nothing is wanted
    cdef tuple names  # of these arguments

    def __init__(self, operator, set needed, Call call=None, set shared=None):
        cdef dict arguments = operator.arguments
        self.operator, self.call = operator, call
        self.rule, self.slopes, self.outputs = operator.op._backward, operator.op.slopes, operator.outputs
        self.names = tuple(operator.op.roles)
        self.targets = [wanted_of(arguments[name], needed) for name in self.names]
        self.wanted = tuple([target is not None for target in self.targets])
        self.broadcasts = operator.op.on_arrays is not None
        self.steady, self.place = None, -1
        if operator.op.steady is not None and shared:
            for place in operator.op.steady.places:
                if isinstance(arguments[self.names[place]], Symbol) and arguments[self.names[place]] in shared:
                    self.steady, self.place = operator.op.steady, place
                    self.ndim, self.elementwise = self.steady.ndim, self.steady.elementwise
                    self.slope = self.steady.slope


cdef class Together:
    """Calls that share an operand, gone back through, whose gradients of it are still to be added.

    Parameters
    ----------
    operand : ndarray
        What they share.
    prepared : object
        What the slope of the other operand needs of it.
    """

    cdef object operand, prepared
    cdef list cotangents, others  # one entry a call
    cdef Py_ssize_t rows

    def __init__(self, operand, prepared):
        self.operand, self.prepared = operand, prepared
        self.cotangents, self.others, self.rows = [], [], 0


cdef inline object held(dict saved, list frame, name):
    """Give a value by its name: what was saved, or with a frame what stands in its slot."""
    found = saved[name]
    return found if frame is None else fetched(frame, found)


cdef inline object held_or(dict saved, list frame, name, like):
    """Give a value by its name; in place of one that was let go, what has its shape and dtype."""
    found = held(saved, frame, name)
    return like if found is None else found


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
        return name in self._way.names and self._way.wanted[self._way.names.index(name)]

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
    cdef dict _together  # by the way back through an operator

    def __init__(self, set needed):
        self.needed = needed
        self.places = {}  # arrays in which the gradient of a Variable is to be written
        self.found = {}  # ndarrays, SparseTensors, or dicts for the elements of arrays
        self._own = set()  # those whose sum nobody else holds
        self._together = {}

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

    cdef cotangent(self, variable):
        """Take the gradient of a result, for a rule: dense, where rows of it were looked up."""
        found = self.take(variable)
        return found.to_dense() if type(found) is SparseTensor else found

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
        cdef tuple cotangents
        if len(way.outputs) == 1:
            d = self.cotangent(way.outputs[0])
            if d is None or way.steady is not None and self.through_steady(way, saved, frame, d):
                return
            if way.slopes is None or not self.through_slopes(way, saved, frame, d):
                self.through(way, saved, frame, (d,))
        else:
            cotangents = tuple([self.cotangent(out) for out in way.outputs])
            if any([d is not None for d in cotangents]):
                self.through(way, saved, frame, cotangents)

    cdef through(self, Return way, dict saved, list frame, tuple cotangents):
        """Add the gradients of the inputs of an operator."""
        cdef Py_ssize_t j
        if way.rule is None:
            raise GraphError(f"{way.operator.name}: has no gradient")
        cdef tuple found = tuple(way.rule(Context(saved, frame, way, self), *cotangents))
        if len(found) != len(way.targets):
            raise ValueError(f"{way.operator.name}: gave {len(found)} gradients for {len(way.targets)} tensors")
        for j in range(len(found)):
            gradient, target = found[j], way.targets[j]
            if target is None or gradient is None:
                continue
            if type(target) is list:
                for x, one, value in zip(target, gradient, held(saved, frame, way.names[j]), strict=True):
                    if x is not None and one is not None:
                        self.add(x, fitting(one, value))
            else:
                self.add(target, fitting(gradient, held(saved, frame, way.names[j])))

    cdef bint through_slopes(self, Return way, dict saved, list frame, d) except -1:
        """Add the gradients of inputs by the short rule, `slopes`; tell whether that was possible."""
        cdef PyObject* passed[2 * FEW + 2]
        cdef Py_ssize_t j, count = len(way.names)
        cdef list given = [held_or(saved, frame, name, d) for name in way.names]
        out = held(saved, frame, "out")
        if count > FEW:
            return False
        passed[0], passed[count + 1] = <PyObject*> d, <PyObject*> out
        for j in range(count):
            passed[j + 1], passed[count + j + 2] = <PyObject*> given[j], <PyObject*> way.wanted[j]
        if way.broadcasts and not are_arrays(passed + 1, count):
            return False
        found = PyObject_Vectorcall(way.slopes, passed, 2 * count + 2, NULL)
        if found is None:
            return False
        for j in range(count):
            if not way.wanted[j] or found[j] is None:
                continue
            if way.broadcasts:
                self.add_of_array(way.targets[j], found[j], given[j])
            else:
                self.add(way.targets[j], fitting(found[j], given[j]))
        return True

    cdef add_of_array(self, variable, gradient, value):
        """Add to the gradient of a Variable what may be as wide as a result."""
        if not alike(gradient, value):
            shape = np.shape(value)
            gradient = gradient.sum(0) if gradient.shape[1:] == shape else unbroadcast(gradient, shape)
        self.add(variable, fitting(gradient, value))

    cdef bint through_steady(self, Return way, dict saved, list frame, d) except -1:
        """Add the gradient of the rows, and keep what that of the shared operand needs; tell whether it was possible.

        One product of all rows takes less time than one of each step's, and less than the sum of such.
        """
        cdef Together calls = self._together.get(way)
        x, operand = held_or(saved, frame, way.names[1 - way.place], d), held(saved, frame, way.names[way.place])
        if type(d) is not cnp.ndarray or type(x) is not cnp.ndarray or type(operand) is not cnp.ndarray:
            return False
        if cnp.PyArray_NDIM(d) != 2 or cnp.PyArray_NDIM(operand) != way.ndim:
            return False
        if way.elementwise and not cnp.PyArray_SAMESHAPE(d, x):
            return False
        wanted = way.targets[1 - way.place]
        if calls is None:
            prepared = None if wanted is None else way.steady.prepared(operand)
            calls = self._together[way] = Together(operand, prepared)
        if wanted is not None:
            self.add(wanted, fitting(way.slope(d, calls.prepared), x))
        if way.wanted[way.place]:
            calls.cotangents.append(d)
            calls.others.append(x)
            calls.rows += cnp.PyArray_DIM(d, 0)
            if calls.rows >= MANY:
                self.settle(way, calls)
        return True

    cdef settle(self, Return way, Together calls):
        """Add the gradient of the operand that calls have shared."""
        gradient = way.steady.total(calls.cotangents, calls.others)
        self.add_of_array(way.targets[way.place], gradient, calls.operand)
        calls.cotangents, calls.others, calls.rows = [], [], 0

    def finish(self):
        """Add what is still to be added."""
        for way, calls in self._together.items():
            if (<Together> calls).rows:
                self.settle(way, calls)


cdef inline bint alike(gradient, value) except -1:
    """Tell whether a gradient has the shape of the value that it belongs to."""
    if type(gradient) is cnp.ndarray and type(value) is cnp.ndarray:
        return cnp.PyArray_SAMESHAPE(gradient, value)
    return np.shape(gradient) == np.shape(value)


cdef fitting(gradient, value):
    """Give a gradient the dtype of the value that it belongs to, in contiguous memory."""
    if type(gradient) is cnp.ndarray:
        if cnp.PyArray_IS_C_CONTIGUOUS(gradient) and (
            type(value) is cnp.ndarray and cnp.PyArray_DESCR(gradient) is cnp.PyArray_DESCR(value)
            or type(value) is float or gradient.dtype == value.dtype
        ):
            return gradient
    elif type(gradient) is dict or isinstance(gradient, SparseTensor):
        return gradient
    if type(value) is float or type(value) is complex:
        return gradient
    return np.require(gradient, value.dtype, ["C"])


def values_of(value):
    """Give the array in which the numbers of a tensor are."""
    if type(value) is cnp.ndarray:
        return value
    return value.values if isinstance(value, (LoDTensor, DenseTensor)) else np.asarray(value)
