"""Results as the caller receives them: `out` itself, and no way to write to his arrays through a view of them."""

cimport lodcore.kernels.arrays as cnp

from array import array as Numbers

import numpy as np

from lodcore.base.buffers cimport seal

cnp.import_array()

cdef frozenset BUFFERS = frozenset([memoryview, bytearray, Numbers])  # whose memory arrays may share, too

cdef object NESTED = None  # the type of tensors with a LoD
cdef object HAND_OUT = None
cdef object LEND = None


def register_results(nested, hand_out, lend):
    """Set the type of tensors with a LoD, and how they become results.

    Parameters
    ----------
    nested : type
    hand_out : callable
        Makes `out` itself the values of a result that was written to it.
    lend : callable
        Returns a tensor; one that shares the memory of a list of arrays, as a tensor whose values cannot be written.
    """
    global NESTED, HAND_OUT, LEND
    NESTED, HAND_OUT, LEND = nested, hand_out, lend


cdef object handed_out(result, out):
    """Return a result that was written to `out`."""
    return HAND_OUT(result, out)


cdef object handed_over(result, tuple args, dict kwargs):
    """Return the result of a call; what shares the memory of arrays among its arguments cannot be written."""
    owners = arrays_among(args, kwargs)
    return result if owners is None else lent_by(owners, result)


cdef object lent_by(list owners, result):
    if isinstance(result, cnp.ndarray):
        return lent(result, owners)
    if type(result) is tuple:
        return tuple([lent_by(owners, one) for one in result])
    return LEND(result, owners) if isinstance(result, NESTED) else result


cdef list arrays_among(given, dict named):
    """List the arrays among arguments, and in lists of them; None if there is none, as usual."""
    cdef list found = None
    for one in given:
        kind = type(one)
        if isinstance(one, cnp.ndarray):
            found = [] if found is None else found
            found.append(one)
        elif kind is list or kind is tuple:
            for x in one:
                if isinstance(x, cnp.ndarray):
                    found = [] if found is None else found
                    found.append(x)
        elif kind in BUFFERS:
            found = [] if found is None else found
            found.append(np.asarray(one))
    if named:
        others = arrays_among(named.values(), None)
        return others if found is None else found if others is None else found + others
    return found


cdef void bounds_of(cnp.ndarray array, char** first, char** stop) noexcept:
    """Find the lowest byte of an array, and the one behind its highest."""
    cdef int axis
    cdef Py_ssize_t way
    first[0] = stop[0] = cnp.PyArray_BYTES(array)
    for axis in range(cnp.PyArray_NDIM(array)):
        if cnp.PyArray_DIM(array, axis) == 0:
            return
    for axis in range(cnp.PyArray_NDIM(array)):
        way = (cnp.PyArray_DIM(array, axis) - 1) * cnp.PyArray_STRIDE(array, axis)
        if way < 0:
            first[0] += way
        else:
            stop[0] += way
    stop[0] += cnp.PyArray_ITEMSIZE(array)


cpdef bint overlaps(cnp.ndarray array, list others) except -1:
    """Return whether the memory of an array overlaps that of one of others, as far as their bounds show."""
    cdef char* first
    cdef char* stop
    cdef char* other_first
    cdef char* other_stop
    bounds_of(array, &first, &stop)
    for other in others:
        bounds_of(<cnp.ndarray?> other, &other_first, &other_stop)
        if first < other_stop and other_first < stop:
            return True
    return False


cpdef cnp.ndarray lent(cnp.ndarray array, list owners):
    """Return an array; one that shares the memory of another one, as a view that cannot be written."""
    if not cnp.PyArray_ISWRITEABLE(array) or not overlaps(array, owners):
        return array
    view = (<object> array).view(cnp.ndarray)
    seal(view)
    return view
