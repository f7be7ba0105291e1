"""NumPy's warnings about computations of this package name the line of the caller, so that each line is warned of once.

NumPy attributes a warning to the innermost Python frame, which would be a line of this package for all callers. While
NumPy computes for an operator, it therefore writes warnings to an object (the "log" mode of `numpy.errstate`), which
attributes them to the first frame outside. Settings of the caller by `numpy.errstate` are kept.
"""

cimport cython
from cpython.contextvars cimport PyContextVar_Reset, PyContextVar_Set, get_value

import sys
import warnings

import numpy as np

cdef object SETTING
try:  # set directly, since `numpy.errstate` takes four times as long
    from numpy._core.umath import _extobj_contextvar as SETTING
except ImportError:
    SETTING = None  # warnings then name lines of this package

#: Packages whose frames are skipped: this one, and those called in between.
cdef frozenset INSIDE = frozenset(("lodcore", "numpy", "contextlib", "functools"))


def warn(text, category=RuntimeWarning):
    """Issue a warning attributed to the first frame outside.

    Parameters
    ----------
    text : str
    category : type
    """
    frame = innermost = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in INSIDE:
        frame = frame.f_back
    if frame is None:
        frame = innermost
    names = frame.f_globals
    warnings.warn_explicit(
        text, category, frame.f_code.co_filename, frame.f_lineno, names.get("__name__"),
        names.setdefault("__warningregistry__", {}),
    )


cdef class Writer:
    """The receiver of NumPy's warnings, which attributes them to the caller."""

    def write(self, message):
        """Issue a warning with one message."""
        warn(message.removeprefix("Warning: ").rstrip())


cdef object WRITER = Writer()


cdef tuple prepared(given):
    """Return NumPy's setting and its replacement, or None if nothing would be warned of."""
    asked = [name for name, mode in np.geterr().items() if mode == "warn"]
    if not asked or np.geterrcall() is not None:  # ours already, or set by the caller on purpose
        return given, None
    logged = np.errstate(**dict.fromkeys(asked, "log"), call=WRITER)
    logged.__enter__()
    try:
        return given, get_value(SETTING)
    finally:
        logged.__exit__(None, None, None)


cdef tuple USUAL = (None, None)  # the setting that nobody has changed
cdef tuple LAST = (None, None)
if SETTING is not None:
    USUAL = prepared(get_value(SETTING))


cdef object begin():
    """Let NumPy's warnings in this thread name the caller; return the argument of `end`."""
    global LAST
    if SETTING is None:
        return None
    given = get_value(SETTING)
    if given is USUAL[1] or given is LAST[1]:
        return None
    cdef tuple pair = USUAL if given is USUAL[0] else LAST
    if pair[0] is not given:
        pair = LAST = prepared(given)
    return None if pair[1] is None else PyContextVar_Set(SETTING, pair[1])


cdef int end(token) except -1:
    """Restore NumPy's warnings."""
    if token is not None:
        PyContextVar_Reset(SETTING, token)
    return 0


@cython.no_gc_clear
cdef class named_caller:
    """A context in which NumPy's warnings name the caller."""

    cdef object token

    def __enter__(self):
        self.token = begin()

    def __exit__(self, *error):
        token, self.token = self.token, None
        end(token)

    def __dealloc__(self):  # an exception that was raised where nobody leaves the context
        if self.token is not None:
            end(self.token)
