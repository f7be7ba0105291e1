# cython: boundscheck=True, nonecheck=True
"""The backward pass through recorded calls: from the gradients of results to those of inputs."""

cimport lodcore.kernels.arrays as cnp
from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject, PyObject_GenericGetAttr

from lodcore.base cimport caller, dispatch, recycling
from lodcore.graph.engine cimport PyObject_Vectorcall, began_back, fetched, is_matrix
from lodcore.graph.gradients.rule_calls cimport MOST, NEEDS, OPERAND, RESULT, VALUE, BackwardCall
from lodcore.graph.gradients.rule_calls cimport Kind, Operands, RuleCall

import numpy as np

from lodcore.operators.arguments import WEAK
from lodcore.errors import ShapeError
from lodcore.operators import operands as common
from lodcore.operators.alignment import aligned, returned
from lodcore.operators.operands import is_holder, joined, no_gradient, rows_of, unbroadcast
from lodcore.tensors.sparse_tensor import SparseTensor
from lodcore.base.dispatch import Symbol
from lodcore.base.dtypes import native_dtype
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.kinds import is_foreign, plain_of

cnp.import_array()

cdef object NUMBER_TYPES = common.NUMBER_TYPES
cdef object SUM = np.add.reduce  # what the method calls
cdef Py_ssize_t MANY = 128  # rows of calls for which the gradient of shared operands is computed at once


cdef class SharedCalls:
    """Calls with shared operands whose gradients have not been added yet.

    Parameters
    ----------
    frame : list
        The frame of one of the calls.
    values : list
        The operands of this call.
    possible : bool
        Whether the operands are suitable: plain arrays and numbers, for elementwise operators narrow ones.
    prepared : object or None
        The result of `Op.prepare` for the second operand.
    """

    cdef bint possible
    cdef object prepared, total  # the prepared operand or None, and the gradient that it accumulates
    cdef list frame, values
    cdef list by_columns  # the operands, with matrices in column-major order, since rules multiply by their transposes
    cdef list cotangents, others, results  # one entry per call
    cdef Py_ssize_t rows

    def __init__(self, list frame, list values, bint possible, prepared):
        self.frame, self.values, self.possible = frame, values, possible
        self.prepared, self.total, self.by_columns = prepared, None, None
        self.cotangents, self.others, self.results, self.rows = [], [], [], 0


cdef class Context:
    """The information about a call that a vjp rule may use.

    Parameters
    ----------
    frame : list
    way : BackwardCall
        The backward pass through the operator.
    gradients : Gradients
        The gradients that are needed, and where they are written.
    """

    cdef list _frame
    cdef BackwardCall _way
    cdef Gradients _gradients

    def __init__(self, list frame, BackwardCall way, Gradients gradients):
        self._frame, self._way, self._gradients = frame, way, gradients

    def __getattribute__(self, name):
        cdef PyObject* found = PyDict_GetItem(self._way.operands.by_name, name)
        if found is not NULL:
            return fetched(self._frame, <object> found)
        try:
            return PyObject_GenericGetAttr(self, name)
        except AttributeError:
            raise AttributeError(f"{self._way.op.__name__}: has no argument {name}") from None

    cdef object value(self, name):
        """Return the value of an argument."""
        return fetched(self._frame, self._way.operands.by_name[name])

    def input_lod(self, name):
        """Return the LoD of an argument by name, or None if it has none (the InputSeq of the design documents)."""
        return getattr(self.value(common.input_of(self._way.op, name)), "lod", None)

    def new(self, name):
        """Return an uninitialised array for the gradient of an argument, with the shape and dtype of its values.

        In the backward pass, numbers have the byte order of the machine; the pullback converts what it returns.
        """
        if self._gradients.places:
            given = self._way.target_of(name)
            place = self._gradients.places.pop(given, None) if isinstance(given, Symbol) else None
            if place is not None:
                return place
        value = values_of(self.value(name))
        dtype = value.dtype if cnp.PyArray_ISNOTSWAPPED(value) else native_dtype(value.dtype)
        self._gradients._made = np.empty(value.shape, dtype)
        return self._gradients._made

    def sum_of(self, name):
        """Return the gradient of an argument accumulated so far, for adding in place, if nothing else refers to it."""
        given = self._way.target_of(name)
        return self._gradients.found[given] if isinstance(given, Symbol) and given in self._gradients._own else None


cdef class Gradients:
    """Gradients of Variables during a backward pass.

    Parameters
    ----------
    needed : set of Variable
        The Variables whose gradients are needed.
    """

    cdef readonly set needed
    cdef readonly dict places
    cdef public dict found
    cdef set _own
    cdef object _made  # the last array that a rule received for a gradient
    cdef dict _together  # calls with shared operands, by the backward pass of the operator

    def __init__(self, set needed):
        self.needed = needed
        self.places = {}  # arrays to which gradients of Variables must be written
        self.found = {}  # ndarrays, SparseTensors, or dicts for the elements of arrays
        self._own, self._made = set(), None  # those whose sum nothing else refers to
        self._together = {}

    cpdef add(self, variable, gradient):
        """Add to the gradient of a Variable; ownership of the dict of an array's gradient is taken."""
        known = self.found.get(variable)
        if known is None:
            self.found[variable] = gradient
            if gradient is self._made and gradient is not None:
                self._own.add(variable)
                self._made = None  # a rule that hands it on to several operands makes them share it
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
        """Remove and return the gradient of a Variable."""
        found = self.found.pop(variable, None)
        if found is not None:
            self._own.discard(variable)
        return found

    cdef cotangent(self, variable):
        """Remove and return the gradient of a result for a rule, dense even if rows of it were looked up."""
        found = self.take(variable)
        return found.to_dense() if type(found) is SparseTensor else found

    def hand_on(self, list carried, list sources):
        """Convert the gradients of the values at the beginning of a step to those at the end of the previous step."""
        cdef list taken = [self.take(v) for v in carried]
        for source, gradient in zip(sources, taken):
            if gradient is not None and source in self.needed:
                self.add(source, gradient)

    def back_alone(self, list ways):
        """Run the backward pass through calls with separate frames, from the last to the first, outside of any loop.

        Parameters
        ----------
        ways : list of BackwardCall
        """
        cdef BackwardCall way
        cdef Py_ssize_t j
        before, setting = recycling.begin(), caller.begin()
        dispatch.running += 1
        try:
            for j in range(len(ways) - 1, -1, -1):
                way = ways[j]
                self.go(way, way.frame)
        finally:
            dispatch.running -= 1
            caller.end(setting)
            recycling.end(before)

    def back(self, list ways, list frame):
        """Run the backward pass through calls, given last first, with the values of a frame.

        Parameters
        ----------
        ways : list of BackwardCall
        frame : list
        """
        cdef BackwardCall way
        dispatch.running += 1
        try:
            for way in ways:
                self.go(way, frame)
        finally:
            dispatch.running -= 1

    cdef go(self, BackwardCall way, list frame):
        """Run the backward pass through one operator if one of its results has a gradient."""
        cdef tuple cotangents
        if len(way.outputs) == 1:
            d = self.cotangent(way.outputs[0])
            if d is None or way.row >= 0 and self.through_rows(way, frame, d):
                return
            cotangents = (d,)
        else:
            cotangents = tuple([self.cotangent(out) for out in way.outputs])
            if not any([d is not None for d in cotangents]):
                return
        if way.rule_call is None and way.frame is not None:  # which begins with the arguments
            way.set_rule(way.op.only_rule or way.op.rule_of(way.frame), way.op.slots)
        if way.rule_call is None:
            raise no_gradient(way.op)
        seen = began_back(way.op, way.outputs)
        self.through(way, frame, cotangents)
        if seen is not None:
            seen.end()

    cdef through(self, BackwardCall way, list frame, tuple cotangents):
        """Add the gradients of the inputs of an operator."""
        cdef Py_ssize_t j
        cdef bint elementwise = way.rule_call.elementwise
        cdef list operands = operands_of(way, frame, cotangents[0])
        cdef list values = operands
        if elementwise and not all([is_array(x) for x in operands]):
            values = aligned(operands) if len(operands) > 1 else [values_of(operands[0])]
        found = self.called(way, frame, cotangents, values, result_of(way, frame), way.needs)
        if len(way.targets) == 1:
            found = (found,)
        elif type(found) is not tuple or len(found) != len(way.targets):
            raise ValueError(f"{way.op.__name__}: its vjp rule returned no tuple of {len(way.targets)} gradients")
        for j in range(len(way.targets)):
            target, gradient = way.targets[j], found[j]
            if target is None or gradient is None:
                continue
            if elementwise:
                self.add_broadcast(target, gradient, values[j], operands[j], operands)
            elif type(target) is list:
                for x, one, value in zip(target, gradient, operands[j], strict=True):
                    if x is not None and one is not None:
                        self.add(x, fitting(way, one, value))
            else:
                self.add(target, fitting(way, gradient, operands[j]))

    cdef object called(self, BackwardCall way, list frame, tuple cotangents, list values, out, needs):
        """Call a vjp rule."""
        cdef PyObject* given[MOST]  # the objects are referenced by the arguments, the frame, and here
        cdef RuleCall rule_call = way.rule_call
        cdef Kind kind
        cdef Py_ssize_t j, first = rule_call.cotangents
        cdef Context context = None
        if first == 0:
            given[0], first = <PyObject*> cotangents, 1
        else:
            for j in range(first):
                given[j] = <PyObject*> cotangents[j]
        for j in range(rule_call.count):
            kind = rule_call.kinds[j]
            if kind == OPERAND:
                given[first + j] = <PyObject*> values[rule_call.slots[j]]
            elif kind == VALUE:
                given[first + j] = <PyObject*> frame[rule_call.slots[j]]
            elif kind == RESULT:
                given[first + j] = <PyObject*> out
            elif kind == NEEDS:
                given[first + j] = <PyObject*> needs
            else:
                context = Context(frame, way, self)
                given[first + j] = <PyObject*> context
        return PyObject_Vectorcall(rule_call.function, given, first + rule_call.count, NULL)

    cpdef add_broadcast(self, variable, gradient, value, operand, list operands):
        """Add to a Variable's gradient one that may have the shape of the result; `value` is the aligned operand."""
        if not has_shape_of(gradient, value):
            shape = value.shape if type(value) is cnp.ndarray else np.shape(value)
            gradient = SUM(gradient, 0) if gradient.shape[1:] == shape else unbroadcast(gradient, shape)
        if value is not operand and not has_shape_of(gradient, values_of(operand)):
            gradient = returned(gradient, operand, operands)
        self.add(variable, fitting(None, gradient, operand))

    # -- calls that share operands -------------------------------------------------------------------------------------

    cdef bint through_rows(self, BackwardCall way, list frame, d) except -1:
        """Add the gradient of the rows, and store what that of shared operands needs; return whether it was possible.

        One product of all rows takes less time than one product per step and their sum.
        """
        cdef SharedCalls calls
        x = frame[way.operands.slots[way.row]]
        if x is None and way.targets[way.row] is not None:
            x = d  # as in `operands_of`
        if not is_matrix(d) or not is_matrix(x) or cnp.PyArray_DIM(d, 0) != cnp.PyArray_DIM(x, 0):
            return False
        if way.rule_call.elementwise and not cnp.PyArray_SAMESHAPE(d, x):
            return False
        calls = self._together.get(way)
        if calls is None:
            calls = self._together[way] = self.begin(way, frame, d)
        if not calls.possible:
            return False
        out = result_of(way, frame)
        if way.needs[way.row]:
            d_x = None if calls.prepared is None else calls.prepared.backward(d)
            self.add(way.targets[way.row], self.of_rows(way, frame, calls, d, x, out) if d_x is None else d_x)
        calls.cotangents.append(d)
        calls.others.append(x)
        if way.rule_call.reads_out:
            calls.results.append(out)
        calls.rows += cnp.PyArray_DIM(d, 0)
        if calls.rows >= MANY:
            self.add_shared(way, calls)
        return True

    cdef object of_rows(self, BackwardCall way, list frame, SharedCalls calls, d, x, out):
        """Compute the gradient of the rows by the vjp rule."""
        if calls.by_columns is None:
            calls.by_columns = [np.asfortranarray(y) if is_matrix(y) else y for y in calls.values]
        calls.by_columns[way.row] = x
        found = self.called(way, frame, (d,), calls.by_columns, out, way.needs_of_row)
        calls.by_columns[way.row] = None
        return fitting(way, found[way.row], x)

    cdef SharedCalls begin(self, BackwardCall way, list frame, d):
        """Return the record of calls with shared operands."""
        cdef list values = operands_of(way, frame, d)
        others = [x for j, x in enumerate(values) if j != way.row]
        possible = all([is_narrow(x) if way.rule_call.elementwise else is_array(x) for x in others])
        values[way.row] = None
        prepared = frame[way.prepared] if way.prepared and way.row == 0 else None
        return SharedCalls(frame if way.rule_call.reads_frame else None, values, possible, prepared)

    cdef add_shared(self, BackwardCall way, SharedCalls calls):
        """Add the gradients of the shared operands of calls, by the vjp rule for all their rows."""
        cdef Py_ssize_t j
        cdef list values = calls.values.copy()
        x, d = joined(calls.others), joined(calls.cotangents)
        total = None if calls.prepared is None else calls.prepared.accumulate(x, d, calls.total)
        if total is not None:
            calls.total, calls.cotangents, calls.others, calls.rows = total, [], [], 0
            return
        values[way.row] = x
        out = joined(calls.results) if calls.results else None
        found = self.called(way, calls.frame, (d,), values, out, way.needs_of_shared)
        for j in range(len(values)):
            if way.needs_of_shared[j] and found[j] is not None:
                if way.rule_call.elementwise:
                    self.add_broadcast(way.targets[j], found[j], values[j], values[j], values)
                else:
                    self.add(way.targets[j], fitting(way, found[j], values[j]))
        calls.cotangents, calls.others, calls.results, calls.rows = [], [], [], 0

    def finish(self):
        """Add all pending gradients."""
        for way, calls in self._together.items():
            if (<SharedCalls> calls).rows:
                self.add_shared(way, calls)
            if (<SharedCalls> calls).total is not None:
                self.add((<BackwardCall> way).targets[1], (<SharedCalls> calls).total)


cdef list operands_of(BackwardCall way, list frame, d):
    """Return the operands of a call; a released array is replaced by one with its shape and dtype."""
    cdef Py_ssize_t j
    cdef list found
    cdef Operands operands = way.operands
    if operands.listed is not None:
        return list(fetched(frame, operands.listed))
    if not operands.flat:
        found = [fetched(frame, place) for place in operands.places]
    else:
        found = [frame[operands.slots[j]] for j in range(len(operands.places))]
    for j in range(len(found)):
        if found[j] is None and way.targets[j] is not None:
            found[j] = d
    return found


cdef inline object result_of(BackwardCall way, list frame):
    """Return the result of a call if the vjp rule reads it, for an elementwise operator its values."""
    if not way.rule_call.reads_out:
        return None
    out = fetched(frame, way.operands.by_name["out"])
    return rows_of(out) if way.rule_call.elementwise and type(out) is not cnp.ndarray else out


cdef inline bint is_array(x) except -1:
    """Return whether this is a plain array or a number."""
    return type(x) is cnp.ndarray or type(x) in NUMBER_TYPES or not (isinstance(x, LoDTensor) or is_holder(x))


cdef inline bint is_narrow(x) except -1:
    """Return whether this is a number, or an array of at most one axis."""
    return cnp.PyArray_NDIM(x) < 2 if type(x) is cnp.ndarray else is_array(x)


cdef inline bint has_shape_of(gradient, value) except -1:
    """Return whether a gradient has the shape of the value that it belongs to."""
    if type(gradient) is cnp.ndarray and type(value) is cnp.ndarray:
        return cnp.PyArray_SAMESHAPE(gradient, value)
    return np.shape(gradient) == np.shape(value)


cdef fitting(BackwardCall way, gradient, value):
    """Convert a gradient to the dtype of its value in the machine's order, contiguous, aligned; check its shape."""
    if type(gradient) is cnp.ndarray:
        values = value if type(value) is cnp.ndarray else values_of(value)
        if cnp.PyArray_ISCARRAY_RO(gradient) and cnp.PyArray_SAMESHAPE(gradient, values):
            if type(value) in WEAK or cnp.is_same_dtype(gradient, values):
                return gradient
    elif type(gradient) is dict or isinstance(gradient, SparseTensor):
        return gradient
    else:
        values = values_of(value)
    gradient = gradient.real if cnp.PyArray_ISFLOAT(values) and np.iscomplexobj(gradient) else gradient
    made = np.require(gradient, native_dtype(gradient.dtype if type(value) in WEAK else values.dtype), ["C", "A"])
    if made.shape != values.shape:
        raise ShapeError(
            f"{way.op.__name__}: its vjp rule returned a gradient of shape {made.shape}; {values.shape} is needed"
        )
    return made


cpdef values_of(value):
    """Return the array of the values of a tensor."""
    if type(value) is cnp.ndarray:
        return value
    if type(value) is LoDTensor:
        return value.values
    return rows_of(plain_of("gradient", value)) if is_foreign(type(value)) else np.asarray(rows_of(value))
