"""Dispatch: whether the call of an operator computes or is recorded is decided here, and nowhere else."""

cimport numpy as cnp

from contextvars import ContextVar

cdef object BLOCK = ContextVar("lodcore.block", default=None)
cdef Py_ssize_t opened = 0  # Blocks that are open in any thread: while there are none, no context is asked


cdef class Symbol:
    """What records itself instead of computing: `record(op, args, kwargs)` appends the call of an operator."""


cdef class ArrayBody:
    """What a Block may hold as a value while it records: the base of TensorArray.

    Attributes
    ----------
    block : Block or None
        Records what is called on the array; None while it stands for itself.
    variable : Variable or None
        What the array is in that Block, if it was made there.
    """

    cdef public object block, variable

    def __cinit__(self, *args, **kwargs):
        self.block, self.variable = None, None


cpdef object recorder_of(given):
    """Return what records a call on an argument: a Symbol itself, the Block that holds an array, None otherwise."""
    if isinstance(given, Symbol):
        return given
    if isinstance(given, ArrayBody):
        return (<ArrayBody> given).block
    return None


cdef object JOURNALS = ContextVar("lodcore.journals", default=())
cdef Py_ssize_t kept = 0  # Journals that are open in any thread


cdef class Journal:
    """A context in which arrays that are written to are noted: after an error they are as they were."""

    cdef dict noted
    cdef object token

    def __enter__(self):
        global kept
        self.noted = {}
        self.token = JOURNALS.set((*JOURNALS.get(), self))
        kept += 1

    def __exit__(self, kind, error, traceback):
        global kept
        kept -= 1
        JOURNALS.reset(self.token)
        if kind is not None:
            for array, before in self.noted.values():
                array.become(before)


cpdef note(array):
    """Keep what an array is, before it is first written to while a Journal is open."""
    if kept:
        for journal in JOURNALS.get():
            if id(array) not in (<Journal> journal).noted:
                (<Journal> journal).noted[id(array)] = array, array.snapshot()


class Operators:
    """The operators by their names, for methods of classes that stand below them: looked up when first used."""

    def __getattr__(self, name):
        import lodcore.ops  # which enters them
        from lodcore.registry import OPS

        if name not in OPS:
            raise AttributeError(f"there is no operator {name}")
        setattr(self, name, OPS[name])
        return OPS[name]


operators = Operators()


cdef class OpBody:
    """The call of an operator: on tensors it computes; a Symbol, or an open Block, records it.

    Parameters
    ----------
    function : callable
        Computes on tensors.
    batches : int
        The place of the argument that is a list of tensors, -1 if none is.
    name : str
        Its name.
    by_name : bool
        Whether some parameters are given by name only.
    """

    cdef object function
    cdef Py_ssize_t batches
    cdef object batches_name
    cdef tuple expected  # for each parameter the types that need no conversion, None: all; None if the function looks
    cdef frozenset named  # the parameters among these
    cdef bint by_name
    cdef readonly object nested  # the type of arguments whose structure plain rows get; None if they get none

    def __init__(self, function, batches, name, by_name):
        self.function, self.batches, self.batches_name, self.by_name = function, batches, name, by_name

    def __call__(self, *args, **kwargs):
        recorder = None
        if opened:
            recorder = BLOCK.get()
        if recorder is None:
            recorder = self.recorder_among(args, kwargs)
        if recorder is not None:
            return recorder.record(self, args, kwargs)
        if kwargs and "name" in kwargs and "name" not in (<object> self).parameters:
            del kwargs["name"]  # of the result, where it is recorded
        return self.function(*args, **kwargs) if self.expected is None else self.compute(args, kwargs)

    cdef object recorder_among(self, tuple args, dict kwargs):
        """Find what records the call: the first argument, or entry of a list of tensors, that is recorded itself."""
        for argument in args:
            recorder = recorder_of(argument)
            if recorder is not None:
                return recorder
        for argument in kwargs.values():
            recorder = recorder_of(argument)
            if recorder is not None:
                return recorder
        if self.batches >= 0:
            batches = args[self.batches] if self.batches < len(args) else kwargs.get(self.batches_name)
            if isinstance(batches, (list, tuple)):
                for argument in batches:
                    recorder = recorder_of(argument)
                    if recorder is not None:
                        return recorder
        return None

    def of_values(self, function, list values, bint residuals):
        """Compute of values that were recorded, in the order of the parameters.

        Parameters
        ----------
        function : callable
            That of the operator, or the one that returns residuals as well.
        values : list
        residuals : bool
            Whether it is the latter.
        """
        cdef Py_ssize_t j
        if self.expected is not None:
            for j in range(len(values)):
                if self.expected[j] is not None and type(values[j]) not in <frozenset> self.expected[j]:
                    values = self.take_values(values)
                    break
        result = function(**dict(zip(self.parameters, values))) if self.by_name else function(*values)
        if self.nested is not None and (type(result) is cnp.ndarray or type(result) is tuple):
            for given in values:
                if type(given) is self.nested:
                    if not residuals:
                        return self.finish(result, values)
                    return self.finish(result[0], values), *result[1:]
        return result

    def look_at(self, expected, nested):
        """Convert arguments before the function gets them, and give plain rows that it returns their LoD.

        Parameters
        ----------
        expected : list
            For each parameter the types that need no conversion; None: all of them.
        nested : type or None
            That of arguments whose LoD plain rows get.
        """
        self.expected, self.nested = tuple(expected), nested
        self.named = frozenset([
            name for name, types in zip((<object> self).parameters, expected) if types is not None
        ])

    cdef object compute(self, tuple args, dict kwargs):
        """Call the function with what it expects."""
        cdef Py_ssize_t j
        cdef bint odd = False
        for j in range(min(len(args), len(self.expected))):
            if self.expected[j] is not None and type(args[j]) not in <frozenset> self.expected[j]:
                odd = True
                break
        for name in kwargs:
            odd = odd or name in self.named
        if odd:
            args, kwargs = self.take(args, kwargs)
        result = self.function(*args, **kwargs)
        if self.nested is not None and (type(result) is cnp.ndarray or type(result) is tuple):
            for given in args:
                if type(given) is self.nested:
                    return self.finish(result, args, kwargs)
            if kwargs:
                return self.finish(result, args, kwargs)
        return result

    @property
    def converts(self):
        """Whether arguments and results are looked at, and not by the function itself."""
        return self.expected is not None

    def __get__(self, instance, owner):
        return self if instance is None else BoundOp(self, instance)


cdef class BoundOp:
    """An operator as the method of a tensor, which is its first argument."""

    cdef readonly OpBody __func__
    cdef readonly object __self__

    def __init__(self, function, instance):
        self.__func__, self.__self__ = function, instance

    def __call__(self, *args, **kwargs):
        return self.__func__(self.__self__, *args, **kwargs)

    @property
    def __doc__(self):
        return self.__func__.__doc__

    @property
    def __wrapped__(self):
        """What `inspect.signature` looks at."""
        return self.__func__.function.__get__(self.__self__, type(self.__self__))

    def __repr__(self):
        return f"<bound operator {self.__func__.__name__}>"


def open_block():
    """Give the Block that records in this thread, None if there is none."""
    return BLOCK.get() if opened else None


class recording:
    """A context in which all operators record into a Block; with None they compute.

    Parameters
    ----------
    block : Block or None
    """

    __slots__ = ("block", "token")

    def __init__(self, block):
        self.block = block

    def __enter__(self):
        global opened
        self.token = BLOCK.set(self.block)
        opened += 1
        return self.block

    def __exit__(self, *error):
        global opened
        opened -= 1
        BLOCK.reset(self.token)
