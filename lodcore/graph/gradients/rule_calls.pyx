# cython: boundscheck=True, nonecheck=True
"""Calls of vjp rules: the slots that a rule reads in the frame of a recorded call, and the needed gradients.

Also the calls that make such frames while they compute, on a tape; and gradients in memory of their own.
"""

cimport lodcore.kernels.arrays as cnp

from lodcore.base cimport recycling
from lodcore.base.dispatch cimport OpBody, VariableBody, open_block, recording, saved_values, variable_of
from lodcore.base.journal cimport Journal
from lodcore.graph.engine cimport Call, function_of

import numpy as np

from lodcore.base.dispatch import Symbol
from lodcore.base.journal import release_arrays
from lodcore.graph.loops.array_versions import ArrayVariable
from lodcore.graph.variable import Variable
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.sparse_tensor import SparseTensor
from lodcore.tensors.tensor import Tensor
from lodcore.tensors.tensor_array import TensorArray

cnp.import_array()

cdef tuple SYMBOLS = (Symbol, list)
cdef tuple TENSORS = (np.generic, Tensor)


cdef class RuleCall:
    """How a vjp rule is called: the slots, in the frame of a call, of the values that the rule reads.

    Parameters
    ----------
    rule : VJPRule
    places : dict
        The slots of a frame, by name.
    cotangents : int
        The number of cotangents of the rule; 0 for all of them as a tuple.
    """

    def __init__(self, rule, dict places, Py_ssize_t cotangents, tuple saves):
        cdef Py_ssize_t j
        names = rule.names
        self.function, self.elementwise, self.cotangents = rule.function, rule.elementwise, cotangents
        self.own, self.needs = None, {}
        self.count, self.reads_out, self.reads_frame = len(names), "out" in names, False
        self.of_arrays = "context" not in names and not set(saves).intersection(names)
        if self.count + max(cotangents, 1) > MOST:
            raise TypeError(f"define_vjp: names {self.count} arguments; {MOST - cotangents} is the most")
        for j, name in enumerate(names):
            if name in rule.operands:
                self.kinds[j], self.slots[j] = OPERAND, rule.operands.index(name)
            elif name == "out":
                self.kinds[j] = RESULT
            elif name == "needs":
                self.kinds[j] = NEEDS
            elif name == "context":
                self.kinds[j] = CONTEXT
            else:
                self.kinds[j], self.slots[j], self.reads_frame = VALUE, places[name], True


cdef class Operands:
    """Where a frame has the operands of a call.

    Parameters
    ----------
    op : Op
    rule : VJPRule
    by_name : dict
        The slots of a frame.
    """

    def __init__(self, op, rule, dict by_name):
        names = op.tensors
        self.by_name = by_name
        self.listed = by_name[names[0]] if rule.operands is not names else None
        self.places = [by_name[name] for name in names]
        self.flat = len(self.places) <= MOST and all([type(place) is int for place in self.places])
        for j, place in enumerate(self.places if self.flat else []):
            self.slots[j] = place


cdef class BackwardCall:
    """The prepared backward pass through one call of an operator.

    Parameters
    ----------
    operator : Operator
    needed : set of Variable
        The Variables whose gradients are needed.
    call : Call
        The slots of the operator in a frame shared with others.
    shared : set of Variable, optional
        The Variables with one value in all calls of this operator, whose gradients are not read between them.

    Attributes
    ----------
    op : Op
    outputs : list of Variable
    frame : list or None
        The values that a vjp rule may read, if the call has a separate frame: all arguments, the result, and the
        saved values, in the order of `op.slots`.
    """

    def __init__(self, operator, set needed, Call call, set shared=None):
        cdef dict arguments = operator.arguments
        self.op, self.outputs, self.prepared = operator.op, operator.outputs, call.prepared
        self.targets = [wanted_of(arguments[name], needed) for name in self.op.tensors]
        self.row = -1
        self.set_rule(self.op.rule_of([*arguments.values()]), call.places)
        one = self.rule_call is not None and self.rule_call.of_arrays
        one = one and self.operands.listed is None and self.operands.flat
        if shared and one and len(self.outputs) == 1:
            self.look_for_shared(arguments, shared, type(self.needs))

    cdef set_rule(self, rule, dict places):
        """Prepare the calls of a vjp rule, if there is one; what all calls have in common is kept."""
        cdef RuleCall rule_call
        if rule is None or self.rule_call is not None:  # another thread may have prepared them meanwhile
            return
        if rule.calls is None:
            rule.calls = {}
        own = places is self.op.slots
        rule_call = rule.calls.get(self.op)
        if rule_call is None or not own and rule_call.reads_frame:
            rule_call = RuleCall(rule, places, 0 if self.op.results is None else self.op.results, self.op.saves)
            if own or not rule_call.reads_frame:
                rule.calls[self.op] = rule_call
        if own and rule_call.own is None:
            rule_call.own = Operands(self.op, rule, places)
        self.operands = rule_call.own if own else Operands(self.op, rule, places)
        if self.operands.listed is not None:
            self.targets = self.targets[0] or [None] * len(rule.operands)
        self.needs = needs_in(rule, rule_call, self.targets)
        self.rule_call = rule_call

    cdef target_of(self, name):
        """Return the Variable of an argument if its gradient is needed."""
        return self.targets[self.op.tensors.index(name)] if name in self.op.tensors else None

    cdef look_for_shared(self, dict arguments, set shared, kind):
        """Determine whether calls differ only in one operand in which the operator is row-wise."""
        cdef list differ = []
        for j, name in enumerate(self.op.tensors):
            given = arguments[name]
            if isinstance(given, Symbol) and given not in shared or type(given) is list:
                differ.append(j)
        if len(differ) != 1 or self.op.tensors[differ[0]] not in self.op.rowwise:
            return
        needs_of_shared = kind([wanted and j != differ[0] for j, wanted in enumerate(self.needs)])
        if any(needs_of_shared):
            self.row, self.needs_of_shared = differ[0], needs_of_shared
            self.needs_of_row = kind([wanted and j == differ[0] for j, wanted in enumerate(self.needs)])


cdef wanted_of(given, set needed):
    """Return a Variable if its gradient is needed, for a list its Variables, and None otherwise."""
    if isinstance(given, Symbol):
        return given if given in needed else None
    if type(given) is list:
        wanted = [x if isinstance(x, Symbol) and x in needed else None for x in <list> given]
        return wanted if any([x is not None for x in wanted]) else None
    return None


cdef needs_in(rule, RuleCall rule_call, list targets):
    """Return which gradients a rule is asked for; it is made once for each choice among targets that are no lists."""
    cdef Py_ssize_t j, chosen = 0
    for j in range(len(targets)):
        target = targets[j]
        if type(target) is list or j == MOST:
            return rule.needs([needs_of(target) for target in targets])
        if target is not None:
            chosen |= <Py_ssize_t> 1 << j
    found = rule_call.needs.get(chosen)
    if found is None:
        found = rule_call.needs[chosen] = rule.needs([needs_of(target) for target in targets])
    return found


cdef needs_of(target):
    """Return whether a gradient is needed; for a list, for each entry."""
    if type(target) is list:
        return tuple([one is not None for one in <list> target])
    return target is not None


cdef bint are_known(list given, here) except -1:
    """Return whether all entries of a list are Variables of a tape, or constant arrays."""
    for x in given:
        if type(x) is Variable:
            if (<VariableBody> x).home is not here or (<VariableBody> x).later is not None:
                return False
        elif type(x) is not cnp.ndarray or not (cnp.PyArray_ISFLOAT(x) or cnp.PyArray_ISINTEGER(x)):
            return False
    return True


cpdef taped(tape, OpBody op, tuple args, dict kwargs):
    """Compute, and keep what the backward pass needs, if there is one through this call.

    Parameters
    ----------
    tape : Tape
    op : Op
    args : tuple
    kwargs : dict

    Returns
    -------
    Variable, or a tuple of them
    """
    if open_block() is not None:
        return computing(taped, tape, op, args, kwargs)
    cdef set needed = tape.needed
    cdef list given = op.bound(args, kwargs), frame = [], targets = [], outputs
    cdef dict saved
    cdef Py_ssize_t j
    cdef bint keep = False, of_tensor, several, lost
    cdef BackwardCall made
    here = tape.reference
    if given is None:
        given = [*op.bind(args, kwargs).values()]
    for j in range(len(given)):
        x, of_tensor = given[j], op.of_tensors[j]
        if type(x) is Variable and of_tensor and (<VariableBody> x).home is here and (<VariableBody> x).later is None:
            frame.append((<VariableBody> x).held)  # mostly
        elif type(x) is int or type(x) is float or type(x) is str or type(x) is bool:
            frame.append(x)
        elif not of_tensor and not isinstance(x, SYMBOLS):
            frame.append(x)
        elif type(x) is cnp.ndarray and (cnp.PyArray_ISFLOAT(x) or cnp.PyArray_ISINTEGER(x)):
            frame.append(x)  # a constant
        elif of_tensor and type(x) is list and op.keeps_versions and are_known(<list> x, here):
            frame.append([v.held if type(v) is Variable else v for v in <list> x])  # of loops
        else:
            x = tape.argument(op, op.parameters[j], x)
            frame.append(held_by(x))
        if of_tensor:
            target = wanted_of(x, needed)
            targets.append(target)
            keep = keep or target is not None
    lost = keep and not op.gradient
    keep = keep and op.gradient
    saved = {} if keep and op.saving is not None else None
    result = on_arrays(op, frame) if saved is None else None
    if result is None:
        result = op.of_values(function_of(op, keep), frame, saved)
    frame.append(result)
    if saved is not None:
        frame += saved_values(op, saved)
    several = type(result) is tuple
    outputs = [
        variable_of(ArrayVariable if isinstance(one, TensorArray) else Variable, op.__name__, one, None, tape)
        for one in (result if several else (result,))
    ]
    if lost and not op.cuts and any([differentiable(out.held) for out in outputs]):
        keep = True  # the way back says that there is no gradient, if one arrives
    if keep:
        needed.update([out for out in outputs if differentiable(out.held)])
        made = BackwardCall.__new__(BackwardCall)
        made.op, made.outputs, made.targets, made.frame, made.row = op, outputs, targets, frame, -1
        tape.ops.append(made)
    return tuple(outputs) if several or op.writes is not None else outputs[0]


cdef object on_arrays(OpBody op, list frame):
    """Compute by the function that only takes arrays and numbers; return None for anything else, and for an error."""
    cdef Py_ssize_t j
    cdef bint any_array = False
    function = op.on_arrays
    if function is None:
        return None
    for j in range(len(frame)):
        x = frame[j]
        if type(x) is cnp.ndarray:
            if not cnp.PyArray_ISFLOAT(x) or not cnp.PyArray_ISCARRAY_RO(x):
                return None
            any_array = any_array or cnp.PyArray_NDIM(x) > 0
        elif type(x) is not float and type(x) is not int:
            return None
    if not any_array:
        return None
    try:
        return recycling.computed(function, frame)
    except (ArithmeticError, TypeError, ValueError, Warning):
        return None  # the function of the operator raises the error


def record(tape, op not None, tuple args not None, dict kwargs not None):
    """Compute, store the call on a tape if a gradient passes through it, and return the Variables of the results."""
    if tape.closed:
        return tape.record_late(op, args, kwargs)
    if kwargs and "name" in kwargs and "name" not in op.parameters:
        del kwargs["name"]  # names on a tape are not used
    made = taped(tape, op, args, kwargs)
    if op.writes is not None:
        written = args[0] if args else kwargs[op.writes]
        tape.write_back(written, made[0])
        return written
    return made


cdef held_by(given):
    """Return the value of an argument that a tape has taken in."""
    if type(given) is list:
        return [v.held if isinstance(v, Variable) else v for v in <list> given]
    return given.get() if isinstance(given, Variable) else given


def drawing_again(list generators not None, list states not None, function, *args):
    """Call a function while Generators draw from earlier states, and restore their present ones, whatever happens."""
    cdef list now = [generator.bit_generator.state for generator in generators]
    try:
        for generator, state in zip(generators, states):
            generator.bit_generator.state = state
        return function(*args)
    finally:
        for generator, state in zip(generators, now):
            generator.bit_generator.state = state


def taping(tape, function, *args):
    """Call a function with a tape, on which it records, and end the recording, whatever happens.

    An error leaves arrays and Variables from outside as they were before the call.
    """
    cdef Journal journal = Journal.__new__(Journal)
    cdef bint done = False
    cdef VariableBody variable
    journal.open()
    try:
        made = function(tape, *args)
        done = True
    finally:  # nothing here runs Python code
        journal.close(not done)
        tape.closed = True
        for variable, before, _ in reversed(tape.given_to_loops):
            variable.home = variable.later = None
            if not done:
                variable.put(before)
        if done:
            for variable, _, last in tape.given_to_loops:
                variable.put(last[0])
        release_arrays(tape.captured_arrays, tape.made_arrays)
    return made


def give_to_loop(tape, VariableBody variable not None, value, VariableBody result not None):
    """Set a Variable to the result of a loop, which it represents until the function of the tape has ended."""
    tape.given_to_loops.append((variable, variable.held, [value]))
    variable.put(value)
    variable.home, variable.later = tape.reference, result


def computing(function, *args):
    """Call a function so that it computes, even if a Block is open."""
    if open_block() is None:
        return function(*args)
    cdef recording within = recording(None)
    within.open()
    try:
        return function(*args)
    finally:
        within.close()


cpdef bint differentiable(value) except -1:
    """Return whether there are gradients with respect to a value."""
    if type(value) is cnp.ndarray and cnp.PyArray_ISFLOAT(value) or isinstance(value, TensorArray):
        return True
    if type(value) is cnp.ndarray or type(value) is LoDTensor or isinstance(value, TENSORS):
        return value.dtype.kind in "fc"
    return isinstance(value, (float, complex))


def conjugated(gradient):
    """Return a gradient as it is given to the user: rules multiply complex numbers, they conjugate none.

    The gradient of a complex number is the derivative by its real part plus i times that by its imaginary part.
    """
    if type(gradient) is cnp.ndarray:
        return np.conjugate(gradient) if cnp.PyArray_ISCOMPLEX(gradient) else gradient
    if type(gradient) is dict:
        return {at: conjugated(one) for at, one in gradient.items()}
    if isinstance(gradient, SparseTensor) and gradient.dtype.kind == "c":
        return SparseTensor(gradient.indices, np.conjugate(gradient.values), gradient.height)
    return np.conjugate(gradient) if isinstance(gradient, np.complexfloating) else gradient


cdef class GradientOwner:
    """Copies gradients that share memory with another gradient, or with anything else.

    Rules of gradients may hand on what they got; who gets two gradients may change one in place.

    Parameters
    ----------
    placed : iterable of ndarray
        Arrays that lie where the caller wants them.
    conjugates : bool
        Whether gradients are still those of the rules, see `conjugated`.
    """

    cdef set _seen, _placed  # by identity
    cdef bint _conjugates

    def __init__(self, placed=(), conjugates=False):
        self._seen, self._placed, self._conjugates = set(), {id(array) for array in placed}, conjugates

    def own(self, gradient, place=None):
        """Return a gradient that shares no memory with what was seen before, which lives on meanwhile.

        It may be the array that is given as its place, and no other one that was placed.
        """
        if self._conjugates and not (type(gradient) is cnp.ndarray and cnp.PyArray_ISFLOAT(gradient)):
            gradient = conjugated(gradient)
        values = gradient
        if type(gradient) is not cnp.ndarray and isinstance(gradient, SparseTensor):
            values = gradient.values
        if type(values) is not cnp.ndarray:
            return gradient
        key = id(values)
        if values is not place and (key in self._placed or key in self._seen
                                    or cnp.PyArray_BASE(values) is not NULL or not cnp.PyArray_ISWRITEABLE(values)):
            gradient = gradient.copy() if gradient is values else gradient.clone()
        self._seen.add(key)
        return gradient
