"""Symbol: what records itself instead of computing; and the call that looks for one."""

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
    """

    cdef object function
    cdef Py_ssize_t batches
    cdef object batches_name
    cdef bint steps

    def __init__(self, function, batches, name, steps):
        self.function, self.batches, self.batches_name, self.steps = function, batches, name, steps

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
        return self.function(*args, **kwargs)

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
