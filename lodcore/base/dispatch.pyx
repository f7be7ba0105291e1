"""Dispatch: only this module decides whether the call of an operator computes or is recorded."""

cimport cython
cimport lodcore.kernels.arrays as cnp
from cpython.contextvars cimport PyContextVar_Reset, PyContextVar_Set
from cpython.object cimport PyObject

from contextvars import ContextVar
from inspect import signature

from lodcore.base.journal cimport ArrayBody
from lodcore.base.handing_over cimport handed_out, handed_over

from lodcore.base.keywords import refuse_unknown
from lodcore.errors import GraphError, ShapeError

cdef object BLOCK = ContextVar("lodcore.block", default=None)
cdef object NESTED = None  # the type of tensors with a LoD
cdef list opened = [0]  # the number of open Blocks in all threads: without any, the context variable is not read

OPENED = opened


cdef class Symbol:
    """An operand for which an operator is recorded instead of computed: a Variable, or a placeholder for one."""

    def recorder(self):
        """Return the Block that records calls on it, or `AT_ONCE` if it represents a value."""
        standing = self.current()
        return AT_ONCE if standing is self else recorder_of(standing) or AT_ONCE

    def current(self):
        """Return the object that it represents now: a Variable, or a value."""
        return self

    def get(self):
        """Return the value; raise GraphError if there is none yet."""
        raise NotImplementedError


cdef class VariableBody(Symbol):
    """The base of Variable: where compiled code finds what it holds."""

    def recorder(self):
        """Return the Block that records calls on it, `AT_ONCE` if it belongs to none."""
        return self.block or AT_ONCE

    @property
    def block(self):
        """The Block of the Variable, or None.

        Raises
        ------
        GraphError
            If the Block has been deleted, so that nothing can be recorded on its Variables.
        """
        found = None if self.home is None else self.home()
        if found is None and self.home is not None:
            raise GraphError(f"Variable {self.name}: its Block is gone; it cannot be used outside that Block")
        return found

    @property
    def spec(self):
        """The Spec of the value."""
        if self.known_spec is None:
            self.known_spec = self.spec_of_held()
        return self.known_spec

    cpdef begin(self, name, value, spec, block):
        """Set what the Variable has when it is made."""
        self.name, self.held, self.known_spec, self.later = name, value, spec, None
        self.home = None if block is None else block.reference

    def put(self, value):
        """Replace the value, and what is known of it, in one step."""
        _before = self.held  # freed at the end, which may run anything
        self.take(value)

    cdef int take(self, value) except -1:
        self.held, self.known_spec = value, None
        return 0


cpdef variable_of(kind, name, value, spec, block):
    """Make a Variable of what is known to be right, in less time than its class."""
    cdef VariableBody made = kind.__new__(kind)
    made.begin(name or "variable", value, spec, block)
    return made


class AtOnce:
    """The substitute for the Block of Symbols without one: it computes calls on their values."""

    def record(self, op, args, kwargs):
        """Call an operator on the values."""
        values = [value_of(given, op) for given in args]
        return op(*values, **{name: value_of(given, op) for name, given in kwargs.items()})


AT_ONCE = AtOnce()


cpdef object value_of(given, op=None, Py_ssize_t depth=0):
    """Return the value of a Symbol, also in a list; return anything else unchanged.

    Raises
    ------
    ShapeError
        If a list is nested more than 64 deep, as one that contains itself is; the message names the operator.
    """
    if type(given) is list:
        if depth == DEEPEST:
            where = "lodcore" if op is None else op.__name__
            raise ShapeError(f"{where}: an argument is a list nested more than {DEEPEST} deep; does it contain itself?")
        return [value_of(x, op, depth + 1) for x in given]
    return given.get() if isinstance(given, Symbol) else given


cdef Py_ssize_t running = 0
cdef Py_ssize_t kinds = 0  # of tensors from outside that are registered


def count_kinds():
    """Note that a kind of tensors from outside is registered: until then, no call looks for one."""
    global kinds
    kinds += 1


cpdef object recorder_of(given):
    """Return the recorder of a call on an argument: that of a Symbol, the Block that holds an array, None otherwise."""
    kind = type(given)
    if kind is cnp.ndarray or kind is list or kind is int or kind is NESTED:  # the usual case
        return None
    if isinstance(given, Symbol):
        return given.recorder()
    if isinstance(given, ArrayBody):
        return (<ArrayBody> given).block
    return None


cpdef object recorder(given):
    """Return the Block that records a call on arguments: the open one, or that of the first argument with one.

    Functions that behave differently when recorded use it like the operators. None means that the call computes.
    """
    found = open_block()
    if found is None:
        found = first_recorder(given, AT_ONCE)
    return None if found is AT_ONCE else found


cdef object first_recorder(given, found):
    """Return the first Block of arguments; if there is none, `AT_ONCE` if a Symbol is among them, or `found`."""
    for argument in given:
        recorder = recorder_of(argument)
        if recorder is not None:
            if recorder is not AT_ONCE:
                return recorder
            found = recorder
    return found


cdef object MISSING = object()  # stands for an argument that must be given


cdef list listed(PyObject** given, Py_ssize_t count):
    """Return values given by pointers as a list."""
    return [<object> given[j] for j in range(count)]


cdef tuple SAVED = ("saved",)


cdef object called(function, PyObject** given, Py_ssize_t count, dict saved):
    """Call a function, which saves in a dict unless it is None; there is place for one more pointer."""
    if saved is None:
        return PyObject_Vectorcall(function, given, count, NULL)
    given[count] = <PyObject*> saved
    return PyObject_Vectorcall(function, given, count, <PyObject*> SAVED)


cdef list saved_values(OpBody op, dict saved):
    """List what a function has saved for the vjp rule, in the order of `saves`; None for what it has not saved."""
    return [saved.get(name) for name in op.saves]


#: The operators of the package by name, registered by `lodcore.ops`.
OPS = {}
#: What an operator must not return; a tuple of tensors are several results.
NO_RESULTS = frozenset((type(None), list, dict, str, bytes))


cdef class OpBody:
    """The call of an operator, which computes on tensors, and is recorded for a Symbol or an open Block.

    Parameters
    ----------
    function : callable
        The function that computes on tensors.
    batches : int
        The position of the argument that is a list of tensors, or -1.
    name : str
        The name of the operator.
    by_name : bool
        Whether some parameters are keyword-only.
    """

    def __init__(self, function, batches, name, by_name):
        self.function, self.batches, self.batches_name, self.by_name = function, batches, name, by_name
        self.places = {one: j for j, one in enumerate(self.parameters)}
        self.unsaid = [self.defaults.get(one, MISSING) for one in self.parameters]
        self.of_tensors = tuple([one in self.roles for one in self.parameters])

    def __call__(self, *args, **kwargs):
        if kinds:
            found = self.with_kinds(args, kwargs)
            if found is not None:
                return found
        recorder = open_block()
        if kwargs and self.other_names is not None:
            renamed = {self.other_names.get(name, name): given for name, given in kwargs.items()}
            kwargs = renamed if len(renamed) == len(kwargs) else kwargs
        if recorder is None:
            recorder = self.recorder_among(args, kwargs)
        if recorder is not None:
            return recorder.record(self, args, kwargs)
        if kwargs:
            if "name" in kwargs and "name" not in (<object> self).parameters:
                del kwargs["name"]  # of the result, where it is recorded
            if "saved" in kwargs and "saved" not in (<object> self).parameters:
                refuse_unknown(self.__name__, self, kwargs)
        global running
        running += 1
        try:
            result = self.function(*args, **kwargs) if self.expected is None else self.compute(args, kwargs)
        except TypeError:
            if kwargs:
                refuse_unknown(self.__name__, self, kwargs)
            raise
        finally:
            running -= 1
        out = kwargs.get("out") if kwargs else None
        if out is None and self.takes_out and self.positional < len(args):
            out = args[self.positional]
        return handed_over(result, args, kwargs) if out is None else handed_out(result, out)

    cpdef list bound(self, tuple args, dict kwargs):
        """List the arguments of a call in the order of the parameters, defaults included; None if there is a doubt."""
        cdef Py_ssize_t j, count = len(args)
        cdef list made = self.unsaid.copy()
        if count > self.positional:
            return None
        for j in range(count):
            made[j] = args[j]
        for name, given in kwargs.items():
            place = self.places.get(name)
            if place is None and name == "out" and given is None and self.takes_out:
                continue
            if place is None or <Py_ssize_t> place < count:
                return None
            made[<Py_ssize_t> place] = given
        for given in made:
            if given is MISSING:
                return None
        return made

    def bind(self, tuple args, dict kwargs):
        """Return the arguments of a call by name, defaults included; raise TypeError as the plain function would."""
        made = self.bound(args, kwargs)
        return self.bind_slowly(args, kwargs) if made is None else dict(zip(self.parameters, made))

    cdef object recorder_among(self, tuple args, dict kwargs):
        """Return the recorder of a call: that of the first argument, or entry of a list of tensors, that has one."""
        found = first_recorder(args, None)
        if kwargs and (found is None or found is AT_ONCE):
            found = first_recorder(kwargs.values(), found)
        if self.batches >= 0 and (found is None or found is AT_ONCE):
            batches = args[self.batches] if self.batches < len(args) else kwargs.get(self.batches_name)
            if isinstance(batches, (list, tuple)):
                found = first_recorder(batches, found)
        return found

    cpdef of_values(self, function, list values, dict saved):
        """Compute on recorded values, in the order of the parameters.

        Parameters
        ----------
        function : callable
            The function of the operator.
        values : list
        saved : dict or None
            Where the function saves what the vjp rule needs.
        """
        if self.expected is not None and not self.are_expected(values):
            values = self.converted(values)
        if self.by_name:
            named = dict(zip(self.parameters, values))
            if saved is not None:
                named["saved"] = saved
            result = function(**named)
        else:
            result = function(*values) if saved is None else function(*values, saved=saved)
        if self.nested is not None and (type(result) is cnp.ndarray or type(result) is tuple):
            for given in values:
                if type(given) is self.nested:
                    return self.finished(result, given, values, None)
        return self.finish(result, values) if type(result) in NO_RESULTS else result

    cdef object of_few(self, function, PyObject** given, Py_ssize_t count, dict saved):
        """Compute on recorded values as `of_values` does, without a list of them; they have place for one more."""
        cdef Py_ssize_t j
        if self.expected is not None:
            for j in range(min(count, len(self.expected))):
                if not self.is_expected(j, <object> given[j]):
                    return self.of_values(function, listed(given, count), saved)
        result = called(function, given, count, saved)
        if self.nested is not None and (type(result) is cnp.ndarray or type(result) is tuple):
            for j in range(count):
                if type(<object> given[j]) is self.nested:
                    return self.finished(result, <object> given[j], listed(given, count), None)
        return self.finish(result, listed(given, count)) if type(result) in NO_RESULTS else result

    def look_at(self, expected, takes, nested, same_object, first):
        """Set the conversion of arguments before the call, and of plain rows that the function returns to a LoDTensor.

        Parameters
        ----------
        expected : list
            The types of each parameter that need no conversion; None for all types.
        takes : list
            The function for each parameter that converts other types, given the name for the message and the argument.
        nested : type
            The type of arguments with a LoD.
        same_object : bool
            Whether plain rows receive that LoD.
        first : bool
            Whether it is the LoD of the first argument that has one; lists are handled by `finish`.
        """
        cdef Py_ssize_t j
        global NESTED
        NESTED = nested
        self.expected, self.takes, self.nested = tuple(expected), tuple(takes), nested if same_object else None
        self.wheres = tuple([f"{self.__name__}: {name}" for name in self.parameters])
        self.first = first and self.batches < 0
        for j in range(min(len(self.expected), MANY)):
            types = self.expected[j]
            usual = nested if types is not None and nested in types else cnp.ndarray
            self.usual[j] = <PyObject*> usual if types is None or usual in types else NULL

    @cython.final
    cdef inline bint is_expected(self, Py_ssize_t j, given) except -1:
        """Return whether the argument for parameter j needs no conversion."""
        kind = type(given)
        if j < MANY and <PyObject*> kind == self.usual[j]:
            return True
        return self.expected[j] is None or kind in <frozenset> self.expected[j]

    cdef bint are_expected(self, list arguments) except -1:
        """Return whether no argument needs a conversion."""
        cdef Py_ssize_t j
        for j in range(min(len(arguments), len(self.expected))):
            if not self.is_expected(j, arguments[j]):
                return False
        return True

    cdef list converted(self, arguments):
        """Convert the arguments that need it."""
        cdef Py_ssize_t j
        cdef list made = list(arguments)
        for j in range(min(len(made), len(self.expected))):
            made[j] = self.taken(j, made[j])
        return made

    cdef object taken(self, Py_ssize_t j, given):
        """Convert the argument for parameter j if necessary."""
        if self.is_expected(j, given):
            return given
        return self.takes[j](self.wheres[j], given)

    cdef object finished(self, result, given, arguments, kwargs):
        """Return plain rows with the LoD that the rule determines; `given` is the first argument that has one."""
        if self.first and type(result) is cnp.ndarray and given.num_levels:
            return self.with_lod(result, given)
        return self.finish(result, arguments, kwargs)

    cdef object compute(self, tuple args, dict kwargs):
        """Call the function with converted arguments."""
        cdef Py_ssize_t j
        for j in range(min(len(args), len(self.expected))):
            if not self.is_expected(j, args[j]):
                args = tuple(self.converted(args))
                break
        if kwargs:
            for j, name in enumerate(self.parameters):
                if name in kwargs:
                    kwargs[name] = self.taken(j, kwargs[name])
        result = self.function(*args, **kwargs) if kwargs else self.function(*args)
        cdef bint is_plain = self.nested is not None and (type(result) is cnp.ndarray or type(result) is tuple)
        for given in args if is_plain else ():
            if type(given) is self.nested:
                return self.finished(result, given, args, kwargs)
        return self.finish(result, args, kwargs) if (kwargs and is_plain) or type(result) in NO_RESULTS else result

    @property
    def converts(self):
        """Whether arguments and results are converted here, not by the function itself."""
        return self.expected is not None

    def __get__(self, instance, owner):
        return self if instance is None else BoundOp(self, instance)


cdef class BoundOp:
    """An operator as the method of a tensor, which is its first argument."""

    cdef readonly OpBody __func__
    cdef readonly object __self__

    def __cinit__(self, OpBody function not None, instance):
        self.__func__, self.__self__ = function, instance

    def __call__(self, *args, **kwargs):
        result = self.__func__(self.__self__, *args, **kwargs)
        return None if self.__func__.changes else result

    @property
    def __doc__(self):
        return self.__func__.__doc__

    @property
    def __signature__(self):
        """What `inspect.signature` returns."""
        whole = signature(self.__func__)
        return whole.replace(parameters=[*whole.parameters.values()][1:])

    def __repr__(self):
        return f"<bound operator {self.__func__.__name__}>"


cpdef object open_block():
    """Return the Block that records in this thread, or None."""
    if not opened[0]:
        return None
    found = open_standing()
    return None if found is None else (<OpenContext> found).block


def open_operators():
    """Return the list of operators that the Block which records in this thread has so far, or None."""
    block = open_block()
    return None if block is None else block.ops


cdef object open_standing():
    """Return what the innermost open context has put into the context variable, or None."""
    found = BLOCK.get()
    while found is not None and not (<OpenContext> found).is_open:  # one that could not be taken out
        found = (<OpenContext> found).outer
    return found


@cython.final
@cython.freelist(8)
cdef class OpenContext:
    """What the context variable has of an open context: the Block, or None, and what was there before."""


@cython.no_gc_clear  # the context is closed when it is freed, which needs its fields
cdef class recording:
    """A context in which all operators record into a Block; with None they compute.

    The context variable does not refer to it, but to an OpenContext. So an exception that is raised where nobody leaves
    the context, such as that of a signal, closes it, too: nothing refers to it then.

    Parameters
    ----------
    block : Block or None
    """

    def __init__(self, block):
        self.block = block

    def __enter__(self):
        self.open()
        return self.block

    def __exit__(self, kind=None, error=None, trace=None):  # no tuple of them, for which there may be no memory
        self.close()

    def __dealloc__(self):
        if self.standing is not None:
            self.close()

    cdef int open(self) except -1:
        cdef OpenContext made = OpenContext.__new__(OpenContext)
        made.block, made.outer = self.block, open_standing()
        self.token = PyContextVar_Set(BLOCK, made)
        made.is_open, self.standing = True, made
        opened[0] += 1
        return 0

    cdef int close(self) except -1:
        """End the recording; without an error in another thread or context, where the variable cannot be reset."""
        cdef OpenContext made = self.standing
        token, self.token, self.standing = self.token, None, None
        if made is None or not made.is_open:
            return 0
        made.is_open = False
        opened[0] -= 1
        try:
            if BLOCK.get() is made:
                PyContextVar_Reset(BLOCK, token)
        except (MemoryError, ValueError, RuntimeError):
            pass
        return 0
