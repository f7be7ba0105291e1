"""Sums in 16 lanes, what every kernel that stores float32 and float64 does with nan, and arrays that do not overlap."""

from libc.math cimport NAN

cdef extern from "<math.h>" nogil:
    float sqrtf(float)
    double sqrt(double)

cdef extern from *:
    ctypedef float* float_alone "float *restrict"
    ctypedef double* double_alone "double *restrict"

ctypedef fused real:
    float
    double

ctypedef fused alone:  # pointers to arrays that do not overlap: parameters of functions that are forced inline
    float_alone
    double_alone


cdef inline real folded_lanes(real* lane) noexcept nogil:
    """Lane k adds lane k + 8, then lane k + 4, and so on until one is left."""
    cdef int k
    for k in range(8):
        lane[k] += lane[k + 8]
    for k in range(4):
        lane[k] += lane[k + 4]
    return (lane[0] + lane[2]) + (lane[1] + lane[3])


cdef inline real one_nan(real x) noexcept nogil:
    """Replace any nan by the positive quiet nan."""
    return x if x == x else <real> NAN


cdef inline real root_of(real x) noexcept nogil:
    if real is float:
        return sqrtf(x)
    else:
        return sqrt(x)
