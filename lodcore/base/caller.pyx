"""NumPy's warnings of what is computed here name the line of the caller, so that each place is warned of once.

NumPy warns where the innermost frame of Python is, which would be a line of this package for all callers. While it
computes for an operator it writes what it would warn of into an object instead (`numpy.errstate` has that as "log"),
which warns of the first frame outside. What a caller has set with `numpy.errstate` holds as before.
"""

from cpython.contextvars cimport PyContextVar_Reset, PyContextVar_Set, get_value

import sys
import warnings

import numpy as np

cdef object SETTING
try:  # what `numpy.errstate` sets, which takes four times as long
    from numpy._core.umath import _extobj_contextvar as SETTING
except ImportError:
    SETTING = None  # then warnings name our lines

#: Packages whose frames are passed over: ours, and what stands between them.
cdef frozenset INSIDE = frozenset(("lodcore", "numpy", "contextlib", "functools"))


def warn(text, category=RuntimeWarning):
    """Warn in the name of the first frame outside.

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
    """Takes what NumPy would warn of, and warns of it where the caller is."""

    def write(self, message):
        """Warn of one message."""
        warn(message.removeprefix("Warning: ").rstrip())


cdef object WRITER = Writer()


cdef tuple prepared(given):
    """Return a setting of NumPy, and what stands in its place: None where nothing would be warned of."""
    asked = [name for name, mode in np.geterr().items() if mode == "warn"]
    if not asked or np.geterrcall() is not None:  # ours, or that of a caller, who has a reason for it
        return given, None
    with np.errstate(**dict.fromkeys(asked, "log"), call=WRITER):
        return given, get_value(SETTING)


cdef tuple USUAL = (None, None)  # the setting that nobody has changed
cdef tuple LAST = (None, None)
if SETTING is not None:
    USUAL = prepared(get_value(SETTING))


cdef object begin():
    """Make NumPy's warnings in this thread name the caller; return the argument of `end`."""
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


cdef class named_caller:
    """A context in which NumPy's warnings name the caller."""

    cdef object token

    def __enter__(self):
        self.token = begin()

    def __exit__(self, *error):
        end(self.token)
