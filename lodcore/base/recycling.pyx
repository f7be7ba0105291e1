"""Recycling of freed memory for later results, since fresh pages cost more time than most kernels."""

cimport cython
cimport lodcore.kernels.arrays as cnp
from cpython.object cimport PyObject

from lodcore.base cimport caller

from numpy import datetime64 as DATE, timedelta64 as DURATION

from lodcore.base.dtypes import refuse_far
from lodcore.base.memory import LIMIT, integer

cdef extern from "recycling.h":
    size_t lodcore_kept_bytes
    size_t lodcore_most_bytes
    size_t lodcore_on_call_bytes
    void lodcore_set_most(size_t most, size_t on_call)
    object lodcore_make_handler()

cdef extern from "numpy/arrayobject.h":
    PyObject* PyDataMem_DefaultHandler
    object PyDataMem_GetHandler()  # NumPy's own declarations have these since 2.2
    object PyDataMem_SetHandler(object handler)

cnp.import_array()

cdef Py_ssize_t WIDE = 2**18  # bytes of an array that is large
cdef object HANDLER = lodcore_make_handler(), NUMPYS = <object> PyDataMem_DefaultHandler


cdef set_most(count):
    """Set the limit, and eight times as much, at most a sixteenth of the memory, for what is kept on call."""
    lodcore_set_most(<size_t> count, <size_t> min(8 * count, LIMIT // 16))


set_most(min(2**27, LIMIT // 64))


cdef object begin():
    """Let new arrays of this thread use recycled memory; return the argument of `end`."""
    before = PyDataMem_GetHandler()
    if before is NUMPYS:  # any other is ours already, or set by the user on purpose
        PyDataMem_SetHandler(HANDLER)
    return before


cdef int end(before) except -1:
    """Restore the previous memory handler."""
    if before is NUMPYS:
        PyDataMem_SetHandler(NUMPYS)
    return 0


cpdef object computed(function, values):
    """Call a function of arrays; if an array is large, its result may have recycled memory.

    NumPy's warnings name the caller.
    """
    cdef bint is_time, several = False
    before = first = None
    for x in values:
        if type(x) is cnp.ndarray:
            if before is None and cnp.PyArray_NBYTES(x) > WIDE:
                before = begin()
            is_time = cnp.PyArray_TYPE(x) in (cnp.NPY_DATETIME, cnp.NPY_TIMEDELTA)
        else:
            is_time = type(x) is DATE or type(x) is DURATION
        if is_time:
            first = x.dtype if first is None else first
            several = several or x.dtype != first
    setting = caller.begin()
    try:
        if several:
            refuse_far(values)
        return function(*values)
    finally:
        caller.end(setting)
        if before is not None:
            end(before)


@cython.no_gc_clear
cdef class Recycled:
    """A context in which new arrays may have recycled memory."""

    cdef object _before

    def __enter__(self):
        self._before = begin()

    def __exit__(self, *error):
        before, self._before = self._before, None
        end(before)

    def __dealloc__(self):  # an exception that was raised where nobody leaves the context
        if self._before is not None:
            end(self._before)


def kept_bytes():
    """Return the number of bytes of freed blocks that are stored now, without those on call."""
    return lodcore_kept_bytes


def on_call_bytes():
    """Return the number of bytes of freed blocks that are kept until the system needs their memory."""
    return lodcore_on_call_bytes


def get_recycled_bytes():
    """Return the maximum number of bytes of freed results that are kept for later ones.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.get_recycled_bytes() <= 2**27
    True
    """
    return lodcore_most_bytes


def set_recycled_bytes(n):
    """Set the maximum number of bytes of freed results that are kept for later ones, which then need no fresh pages.

    Only blocks of more than 1 KiB and at most 1 GiB are kept. On Linux, blocks of 4 MiB and more are kept beyond the
    limit, too, up to eight times as much, and at most a sixteenth of the memory: the system takes their pages back when
    anything else needs memory, and until then counts them as memory of this process. If you have set your own memory
    handler (NEP 49), it allocates results instead.

    Parameters
    ----------
    n : int
        0 keeps nothing. The default is 128 MiB, or a 64th of the machine's memory if that is less.

    Raises
    ------
    DTypeError, ValueError
        If n is not an integer, or is negative.

    Examples
    --------
    >>> import lodcore
    >>> before = lodcore.get_recycled_bytes()
    >>> lodcore.set_recycled_bytes(0)
    >>> lodcore.get_recycled_bytes()
    0
    >>> lodcore.set_recycled_bytes(before)
    """
    count = integer("set_recycled_bytes: n", n)
    if not 0 <= count < 2**63:
        raise ValueError(f"set_recycled_bytes: n: is {count}; 0 .. 2**63 - 1 is valid")
    set_most(count)
