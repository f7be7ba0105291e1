"""The contents of arrays (TensorArray): who holds them, replacing several in one step, restoring them after errors.

Nothing here calls Python code between the first change and the last, so no signal comes between.
"""

cimport cython
from cpython.contextvars cimport PyContextVar_Reset, PyContextVar_Set, get_value

from contextvars import ContextVar


cdef class ArrayBody:
    """The base of TensorArray: a value that a Block may hold while it records.

    Attributes
    ----------
    block : Block or None
        Records calls on the array; None while calls compute.
    variable : Variable or None
        The Variable of the array in that Block, if it was made there.
    wanted_name : str or None
        The requested name of this Variable.
    """

    def __cinit__(self):
        self._size = 0


def release_arrays(*lists):
    """Release the arrays that a Block held, and clear their lists, without interruption."""
    cdef list arrays
    for arrays in lists:
        for array in arrays:
            (<ArrayBody?> array).block = (<ArrayBody> array).variable = None
        arrays.clear()


cdef int take_content(ArrayBody array, ArrayBody other) except -1:
    """Replace the content of an array by that of another, private one."""
    array._items, array._source, array._size = other._items, other._source, other._size
    array._limit, array._element, array._rank = other._limit, other._element, other._rank
    return 0


def take_contents(list arrays not None, list others not None):
    """Replace the content of each array by that of another, private one; on an error, change none."""
    cdef list before = []
    cdef ArrayBody array, other
    for array, other in zip(arrays, others):
        note(array)
        before.append((array, other, copy_of(array)))  # the copy is freed at the end, which may run anything
    for array, other, _ in before:
        take_content(array, other)


cdef ArrayBody copy_of(ArrayBody array):
    """Return an object that keeps the content of an array alive."""
    cdef ArrayBody kept = ArrayBody.__new__(ArrayBody)
    take_content(kept, array)
    return kept


cdef object JOURNALS = ContextVar("lodcore.journals", default=())
cdef Py_ssize_t kept = 0  # the number of open Journals in all threads


@cython.final
cdef class Noted:
    """What an open Journal has noted: by identity, arrays and their contents before; None when it is closed."""


@cython.no_gc_clear  # the context is closed when it is freed, which needs its fields
cdef class Journal:
    """A context that stores the contents of arrays before writes, and restores them after an error.

    The context variable does not refer to it; so an exception that is raised where nobody leaves it ends it, too.
    """

    def __enter__(self):
        self.open()

    def __exit__(self, kind, error, traceback):
        self.close(kind is not None)

    def __dealloc__(self):
        if self.page is not None:
            self.close(True)

    cdef int open(self) except -1:
        global kept
        cdef Noted page = Noted.__new__(Noted)
        page.noted = {}
        self.token = PyContextVar_Set(JOURNALS, (*open_pages(), page))
        self.page = page
        kept += 1
        return 0

    cdef int close(self, bint restore) except -1:
        global kept
        cdef Noted page = self.page
        token, self.token, self.page = self.token, None, None
        if page is None:
            return 0
        kept -= 1
        noted, page.noted = page.noted, None
        if restore:
            for array, before in noted.values():
                take_content(array, before)
        try:
            pages = get_value(JOURNALS)
            if pages and pages[len(pages) - 1] is page:
                PyContextVar_Reset(JOURNALS, token)
        except (MemoryError, ValueError, RuntimeError):  # closed in another thread or context
            pass
        return 0


cdef list open_pages():
    return [page for page in get_value(JOURNALS) if (<Noted> page).noted is not None]


cpdef note(array):
    """Store the content of an array before the first write while a Journal is open."""
    if kept:
        for page in get_value(JOURNALS):
            noted = (<Noted> page).noted
            if noted is not None and id(array) not in noted:
                noted[id(array)] = array, array.snapshot()
