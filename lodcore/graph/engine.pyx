# cython: boundscheck=True, nonecheck=True
"""Execution of recorded calls: a frame is a list whose slots hold values. The backward pass is in `back`."""

cimport lodcore.kernels.arrays as cnp
from cpython.object cimport PyObject

from lodcore.base cimport dispatch
from lodcore.base.dispatch cimport OpBody, called, saved_values

import functools
from threading import get_ident

import numpy as np

from lodcore.base.dispatch import Symbol
from lodcore.base.naming import rename_for_caller
from lodcore.errors import GraphError
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor_array import ArrayVersion

cnp.import_array()

watched = {}

#: The values of Variables, and what operators save for their vjp rules, in one run of a Block.
Frame = list

cdef object TRUE = np.True_, FALSE = np.False_
cdef frozenset NUMBERS = frozenset((np.int64, np.float32, np.float64))


cdef class Layout:
    """The slots of a frame: one per Variable, one per constant, and one per value saved for a vjp rule.

    Attributes
    ----------
    base : list
        The initial frame: the constants, None elsewhere. After an error, slot 0 has the position of the failed
        instruction.
    """

    cdef dict _slots
    cdef readonly list base

    def __cinit__(self):
        self._slots, self.base = {}, [None]

    cpdef Py_ssize_t slot(self, key):
        """Return the slot of a Variable, or of any other key."""
        found = self._slots.get(key)
        if found is None:
            found = self._slots[key] = len(self.base)
            self.base.append(None)
        return found

    cpdef tuple slots(self, keys):
        """Return the slots of several keys."""
        return tuple([self.slot(key) for key in keys])

    cpdef object argument(self, given):
        """Return the slot of an argument, a Variable or a constant; for a list with Variables, those of all entries."""
        if isinstance(given, Symbol):
            return self.slot(given)
        if type(given) is list and any([isinstance(x, Symbol) for x in given]):
            return self.arguments(given)
        self.base.append(given)
        return len(self.base) - 1

    cpdef tuple arguments(self, given):
        """Return the slots of several arguments."""
        return tuple([self.argument(x) for x in given])

    def values(self, list frame):
        """Return the Variables that have values in a frame."""
        found = {key: frame[slot] for key, slot in self._slots.items() if isinstance(key, Symbol)}
        return {v: value for v, value in found.items() if value is not None}


cdef class Call:
    """A call of an operator whose arguments and results are in slots.

    Parameters
    ----------
    operator : Operator or None
        The recorded operator.
    function : callable
        The function that computes it.
    on_arrays : callable or None
        The function that computes the same on arrays and numbers, at least one of which is from NumPy.
    names : tuple of str
        The names of the arguments.
    slots : tuple
        One entry per argument: a slot, or a tuple of them for a list.
    outs : tuple of int
        The slots of the results.
    single : bool
        Whether there is a single result instead of a tuple.
    saves : dict
        The slots, by name, of what the function saves for the vjp rule.
    by_name : bool
        Whether arguments are passed by name.

    Attributes
    ----------
    ending : tuple of int
        Slots of arguments that are not read later, not even by gradients; arrays like the result are released.
    prepared : int
        The slot of the result of `Op.prepare` for the second operand, used if the first is a matrix; 0 if there is
        none.
    """

    def __init__(
        self, operator, function, on_arrays, tuple names, tuple slots, tuple outs, single, dict saves, by_name
    ):
        self.operator, self.function, self.on_arrays = operator, function, on_arrays
        self.names, self.slots, self.outs = names, slots, outs
        self.out = outs[0] if single else -1
        self.single, self.saves, self.by_name = single, tuple(saves.values()), by_name
        op = getattr(operator, "op", None)
        self.writes = op is not None and op.writes is not None
        self.op = op if op is not None and op.converts else None
        self.ending, self.prepared = (), 0
        self.count = len(slots)
        self.few = not by_name and self.count <= FEW and all([type(slot) is int for slot in slots])
        for j in range(self.count if self.few else 0):
            self.numbers[j] = slots[j]
        self.places = dict(zip(names, slots))
        self.places["out"] = outs[0] if single else list(outs)
        self.places.update(saves)

    cdef int run(self, list frame) except -1:
        """Compute, and store the results in their slots."""
        cdef PyObject* given[FEW + 1]  # referenced by the frame
        cdef Py_ssize_t j
        cdef list values
        cdef dict saved = {} if self.saves else None
        if not self.few:
            values = [fetched(frame, slot) for slot in self.slots]
            if self.writes:
                values[0] = ArrayVersion.of(values[0])
            if self.op is not None:
                return self.put(frame, (<OpBody> self.op).of_values(self.function, values, saved), saved)
            by_name = {} if saved is None else {"saved": saved}
            if self.by_name:
                by_name.update(zip(self.names, values))
                values = []
            return self.put(frame, self.function(*values, **by_name), saved)
        for j in range(self.count):
            given[j] = <PyObject*> frame[self.numbers[j]]
        if self.writes and type(<object> given[0]) is not ArrayVersion:  # writes to a private copy
            version = ArrayVersion.of(<object> given[0])
            given[0] = <PyObject*> version
        if self.prepared and is_matrix(<object> given[0]) and frame[self.prepared] is not None:
            result = frame[self.prepared].forward(<object> given[0])
            if result is not None:
                frame[self.out] = result
                return 0
        if self.on_arrays is not None and are_arrays(given, self.count):
            try:
                result = PyObject_Vectorcall(self.on_arrays, given, self.count, NULL)
            except (FloatingPointError, Warning):
                raise  # the function would say the same, and once more what was told before
            except (ArithmeticError, TypeError, ValueError):
                pass  # the function raises the error
            else:
                frame[self.out] = result
                for slot in self.ending:
                    if same_kind(frame[slot], result):
                        frame[slot] = None  # its shape is that of the result
                return 0
        if self.op is None:
            return self.put(frame, called(self.function, given, self.count, saved), saved)
        return self.put(frame, (<OpBody> self.op).of_few(self.function, given, self.count, saved), saved)

    cdef int put(self, list frame, result, dict saved) except -1:
        """Store the results, and what was saved, in their slots."""
        if saved is not None:
            for slot, one in zip(self.saves, saved_values(self.operator.op, saved)):
                frame[slot] = one
        if self.single:
            frame[self.out] = result
        else:
            for slot, one in zip(self.outs, result, strict=True):
                frame[slot] = one
        return 0


cdef inline bint same_kind(one, other):
    """Return whether two objects are arrays with one shape and dtype."""
    if type(one) is not cnp.ndarray or type(other) is not cnp.ndarray:
        return False
    return cnp.PyArray_SAMESHAPE(one, other) and cnp.is_same_dtype(one, other)


cdef bint are_arrays(PyObject** given, Py_ssize_t count):
    """Return whether arguments are arrays and numbers, at least one of which is from NumPy."""
    cdef bint found = False
    cdef Py_ssize_t j
    for j in range(count):
        x = <object> given[j]
        if type(x) is cnp.ndarray or type(x) in NUMBERS:
            found = True
        elif type(x) is not int and type(x) is not float:
            return False
    return found


cpdef object function_of(OpBody op, bint keep):
    """Return what computes where an operator is recorded, and saves what its vjp rule needs if it is wanted."""
    if keep and op.saving is not None:
        return op.saving
    function = (<object> op).__wrapped__
    return function if op.writes is None else functools.partial(_of_version, function)


def _of_version(function, ta, *args, **kwargs):
    """Call a function that writes to an array with the version that the array is now."""
    return function(ta if type(ta) is ArrayVersion else ArrayVersion.of(ta), *args, **kwargs)


cdef class Chain:
    """Calls that run together where the first of their rows are many, and one after another elsewhere.

    Parameters
    ----------
    calls : list of Call
    slot : int
        The slot of rows that they read.
    least : int
        How many numbers these must have.
    together : callable
        Runs all of them on a frame; returns False if it cannot, and has done nothing.
    name : str
        The name of the whole, for what watches.
    """

    cdef list _calls
    cdef Py_ssize_t _slot, _least
    cdef object _together
    cdef str _name

    def __init__(self, list calls not None, Py_ssize_t slot, Py_ssize_t least, together, str name):
        self._calls, self._slot, self._least, self._together, self._name = calls, slot, least, together, name

    cdef int run(self, list frame, seen) except -1:
        cdef bint many
        rows = frame[self._slot]
        if type(rows) is LoDTensor:
            rows = rows.values
        many = type(rows) is cnp.ndarray and cnp.PyArray_SIZE(rows) >= self._least
        if many and seen is not None:
            seen.begin(self._name, (<Call> self._calls[len(self._calls) - 1]).operator.outputs[0].name)
        if not many or not self._together(frame):
            try:
                for call in self._calls:
                    run_call(<Call> call, frame, seen)
            except Exception as error:
                rename_for_caller(call.operator, error)
                raise
        if many and seen is not None:
            seen.end()
        return 0


def has_many(list values not None, Py_ssize_t least):
    """Return whether one of some values has at least so many numbers."""
    for x in values:
        if type(x) is LoDTensor:
            x = x.values
        if type(x) is cnp.ndarray and cnp.PyArray_SIZE(x) >= least:
            return True
    return False


cdef inline int run_call(Call call, list frame, seen) except -1:
    """Run a call, and tell what watches."""
    if seen is None:
        return call.run(frame)
    seen.begin_call(call.operator)
    call.run(frame)
    seen.end()
    return 0


cdef class BreakIf:
    """The instruction that ends a run if a condition holds.

    Parameters
    ----------
    slot : int
        The slot of the condition.
    """

    cdef Py_ssize_t slot

    def __init__(self, slot):
        self.slot = slot


cdef object fetched(list frame, slot):
    """Return the value of a slot; for a tuple of slots a list, for a list of slots a tuple."""
    if type(slot) is int:
        return frame[<Py_ssize_t> slot]
    values = [frame[one] for one in slot]
    return values if type(slot) is tuple else tuple(values)


def run(list instructions, list frame, Py_ssize_t count):
    """Run the first instructions on a frame.

    Parameters
    ----------
    instructions : list
        Call, Chain, BreakIf, or None for no operation.
    frame : list
        After an error, slot 0 holds the position of the failed instruction.
    count : int
        The number of instructions to run.

    Returns
    -------
    int
        The position of the BreakIf that ended the run, or -1 if none did.
    """
    cdef Py_ssize_t at = 0
    cdef object seen = watcher() if watched else None
    dispatch.running += 1
    try:
        for at in range(count):
            instruction = instructions[at]
            if type(instruction) is Call:
                run_call(<Call> instruction, frame, seen)
            elif type(instruction) is Chain:
                (<Chain> instruction).run(frame, seen)
            elif instruction is not None and holds(frame[(<BreakIf?> instruction).slot]):
                return at
    except BaseException as error:
        frame[0] = at
        if type(instruction) is Call:
            rename_for_caller((<Call> instruction).operator, error)
        raise
    finally:
        dispatch.running -= 1
    return -1


cdef object watcher():
    """Return what watches this thread, or None."""
    return watched.get(get_ident())


cdef object began_back(op, outputs):
    """Tell what watches this thread that the backward pass of an operator begins; return it, or None."""
    seen = watcher() if watched else None
    if seen is not None:
        seen.begin(f"{op.__name__}_grad", outputs[0].name)
    return seen


def watch(seen):
    """Let an object be told of the calls of this thread, None for nobody; return who was told before."""
    cdef object thread = get_ident()
    before = watched.pop(thread, None)
    if seen is not None:
        watched[thread] = seen
    return before


def part(str name not None, function, *args):
    """Call a function that is a part of an operator, of which a watcher is told."""
    cdef object seen = watcher() if watched else None
    if seen is None:
        return function(*args)
    seen.begin(name, "")
    found = function(*args)
    seen.end()
    return found


cpdef bint holds(condition) except -1:
    """Return whether a condition of one element holds."""
    if condition is TRUE or condition is FALSE:
        return condition is TRUE
    found = np.asarray(condition)
    if found.size != 1:
        raise GraphError(f"cond: has shape {found.shape}; one element is needed")
    return bool(found.reshape(())[()])
