"""Symbol: what records itself instead of computing; and the call that looks for one."""

cimport numpy as cnp

from contextvars import ContextVar

cdef object BLOCK = ContextVar("lodcore.block", default=None)
cdef Py_ssize_t opened = 0  # Blocks that are open in any thread: while there are none, no context is asked


cdef class Symbol:
    """What records itself instead of computing: `record(op, args, kwargs)` appends the call of an operator."""


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
    steps : bool
        Whether the first argument is a TensorArray, to which a Block may have written.
    by_name : bool
        Whether some parameters are given by name only.
    """

    cdef object function
    cdef Py_ssize_t batches
    cdef object batches_name
    cdef bint steps
    cdef tuple expected  # for each parameter the types that need no conversion, None: all; None if the function looks
    cdef bint by_name
    cdef readonly object nested  # the type of arguments whose structure plain rows get; None if they get none

    def __init__(self, function, batches, name, steps, by_name):
        self.function, self.batches, self.batches_name, self.steps = function, batches, name, steps
        self.by_name = by_name

    def __call__(self, *args, **kwargs):
        if opened:
            block = BLOCK.get()
            if block is not None:
                return block.record(self, args, kwargs)
        for argument in args:
            if isinstance(argument, Symbol):
                return argument.record(self, args, kwargs)
        for argument in kwargs.values():
            if isinstance(argument, Symbol):
                return argument.record(self, args, kwargs)
        if self.batches >= 0:
            batches = args[self.batches] if self.batches < len(args) else kwargs.get(self.batches_name)
            if isinstance(batches, (list, tuple)):
                for argument in batches:
                    if isinstance(argument, Symbol):
                        return argument.record(self, args, kwargs)
        if self.steps and args:
            block = getattr(args[0], "_block", None)
            if block is not None:
                return block.record(self, args, kwargs)
        return self.function(*args, **kwargs) if self.expected is None else self.compute(args, kwargs)

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
        made = result[0] if residuals else result
        if self.nested is not None and (type(made) is cnp.ndarray or type(made) is tuple):
            for given in values:
                if type(given) is self.nested:
                    if not residuals:
                        return self.finish(made, values)
                    return self.finish(made, values), *result[1:]
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

    cdef object compute(self, tuple args, dict kwargs):
        """Call the function with what it expects."""
        cdef Py_ssize_t j
        cdef bint odd = False
        for name in kwargs:
            if name in self.roles:
                odd = True
        if not odd:
            for j in range(min(len(args), len(self.expected))):
                if self.expected[j] is not None and type(args[j]) not in <frozenset> self.expected[j]:
                    odd = True
                    break
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
