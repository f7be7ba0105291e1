"""Contexts in which users record, and the end of loops: whatever happens, a context is closed, and results are in place
all together or not at all.

A signal is handled between two instructions of Python code. So nothing here calls Python code between the first change
and the last one.
"""

cimport cython

from lodcore.base.dispatch cimport VariableBody, recording

import os
from threading import get_ident

from lodcore.base.journal import release_arrays, take_contents
from lodcore.errors import GraphError


class Opening:
    """The base of a Block that `with` opens and closes atomically, even if interrupted.

    Attributes
    ----------
    opened : recording or None
        The context while it is open.
    closed : bool
        Whether it was left by an error.
    captured_arrays : list
        The outer arrays that it holds while it is open.
    """

    opened = None

    def __enter__(self):
        self.check_open()
        opened = recording(self)
        opened.__enter__()
        self.opened = opened
        return self

    def __exit__(self, kind, *rest):
        opened, self.opened = self.opened, None
        if opened is not None:  # left once already
            opened.__exit__()
            self.closed = kind is not None
            release_arrays(self.captured_arrays)


@cython.no_gc_clear
cdef class RecordedBody:
    """A context in which operators are recorded as the body of a loop or a branch.

    However it is left, the recording ends first, and no signal comes between. (A context manager made of a generator
    stays open after an exception that is raised outside of its `try`, as long as the traceback lives.)

    Parameters
    ----------
    owner : object
        What `with` returns: the loop, or the IfElse. Its attribute `recorded` is the Block while this context is open.
    variables : list of LoopVariable
        The Variables that end with it.
    make : callable
        Checks the owner, without changing it, and returns the Block.
    prepare, finish : callable
        Called before and after what is recorded; `finish` only if there was no error.
    after, failed : callable, optional
        Called at the end: `after` if there was no error, else `failed`.
    """

    cdef object owner, variables, make, prepare, finish, after, failed, block
    cdef recording within

    def __init__(self, owner, list variables not None, make, prepare, finish, after=None, failed=None):
        self.owner, self.variables, self.make = owner, variables, make
        self.prepare, self.finish, self.after, self.failed = prepare, finish, after, failed

    def __enter__(self):
        block = self.make()
        self.owner.recorded, self.block = block, block
        try:
            self.prepare()
            self.within = recording(block)
            self.within.open()
        except BaseException:
            self.leave()
            raise
        return self.owner

    def __exit__(self, kind=None, error=None, trace=None):
        cdef recording within = self.within
        if within is None:
            return
        self.within = None
        try:
            within.close()
            if kind is None:
                self.finish()
        finally:
            self.leave()
        last = self.after if kind is None else self.failed
        if last is not None:
            last()

    def __dealloc__(self):
        if self.within is not None:
            self.within.close()
        if self.block is not None:
            self.leave()

    cdef int leave(self) except -1:
        """Close the Block; its Variables represent nothing until it has run."""
        block, self.block = self.block, None
        self.owner.recorded = None
        block.closed, block.parent = True, None
        for v in self.variables:
            v.ended, v.final = True, None
        return 0


def end_variables(list variables not None, list finals not None):
    """Let loop variables represent values from now on, all of them in one step."""
    cdef Py_ssize_t j
    for j in range(min(len(variables), len(finals))):
        variables[j].ended, variables[j].final = True, finals[j]


def put_in_place(list variables not None, list finals not None, list arrays not None, list contents not None,
                 list holders not None, list values not None):
    """Let loop variables represent values, replace the contents of arrays, and set Variables, in one step.

    Parameters
    ----------
    variables : list of LoopVariable
    finals : list
    arrays, contents : list of TensorArray
    holders : list of Variable
        Variables that hold values of their own.
    values : list
    """
    cdef Py_ssize_t j
    before = [(<VariableBody?> holder).held for holder in holders]  # freed at the end, which may run anything
    before += [v.final for v in variables]
    take_contents(arrays, contents)
    for j in range(min(len(holders), len(values))):
        (<VariableBody> holders[j]).take(values[j])
    end_variables(variables, finals)


cdef class Opener:
    """The opener of a file, for `open`, with more flags than those of its mode.

    No signal comes between the call of the system and the file that has the number.

    Parameters
    ----------
    flags : int
    """

    cdef int flags

    def __init__(self, int flags):
        self.flags = flags

    def __call__(self, path, int flags):
        return os.open(path, flags | self.flags, 0o666)


cdef class Folder:
    """An open folder, which is closed also when nobody closes it.

    Parameters
    ----------
    path : str
    """

    cdef object __weakref__
    cdef int number

    def __cinit__(self, path):
        self.number = -1
        self.number = os.open(path, os.O_RDONLY | os.O_DIRECTORY)

    def fileno(self):
        """Return its descriptor; -1 if it is closed."""
        return self.number

    def close(self):
        """Close it, unless it is closed."""
        cdef int number = self.number
        self.number = -1
        if number >= 0:
            os.close(number)

    def __dealloc__(self):
        self.close()


@cython.no_gc_clear
cdef class held:
    """A context that holds a lock, and releases it also when nobody leaves the context."""

    cdef object lock
    cdef bint is_held

    def __init__(self, lock):
        self.lock = lock

    def __enter__(self):
        self.lock.acquire()
        self.is_held = True

    def __exit__(self, *error):
        self.release()

    def __dealloc__(self):
        self.release()

    cdef int release(self) except -1:
        if self.is_held:
            self.is_held = False
            self.lock.release()
        return 0


AWAITED: dict = {}  # for each thread that waits in `alone`, the lock that it waits for


@cython.no_gc_clear
cdef class alone(held):
    """A context that holds a lock, cannot be entered within itself, and waits for no thread that waits for this one.

    Parameters
    ----------
    lock : object
        Its attribute `owner` is the number of the thread meanwhile, and otherwise None.
    within, crossed : str
        The messages of the GraphErrors that are raised within itself, and where threads would wait for each other.
    """

    cdef object within, crossed
    cdef bint is_alone

    def __init__(self, lock, within, crossed):
        self.lock, self.within, self.crossed = lock, within, crossed

    def __enter__(self):
        thread = get_ident()
        if self.lock.owner == thread:
            raise GraphError(self.within)
        if self.lock.acquire(False):
            self.is_held = True
        else:
            self.wait(thread)
        self.lock.owner, self.is_alone = thread, True

    cdef wait(self, thread):
        """Wait for the lock, unless who holds it waits, over any number of threads, for this one."""
        before = AWAITED.get(thread)  # of a run that waits, if this one is in a handler of a signal
        AWAITED[thread] = self.lock
        try:
            awaited = self.lock
            while awaited is not None:  # whoever closes a circle finds it, so that there is none that is closed
                if awaited.owner == thread:
                    raise GraphError(self.crossed)
                awaited = AWAITED.get(awaited.owner)
            held.__enter__(self)
        finally:
            if before is None:
                del AWAITED[thread]
            else:
                AWAITED[thread] = before

    def __exit__(self, *error):
        self.leave()

    def __dealloc__(self):
        self.leave()

    cdef int leave(self) except -1:
        if self.is_alone:
            self.is_alone, self.lock.owner = False, None
        return self.release()
