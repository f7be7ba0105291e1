"""Sums, maxima and minima of cells, one after another or in lanes, and the divisors of sums.

Of equal maxima or minima the first one counts; nan propagates, the first of several. Integers wrap around.
"""

from libc.math cimport sqrt
from libc.stdint cimport int64_t, uint64_t

from lodcore.kernels.lanes cimport double_alone, float_alone, real
from lodcore.kernels.simd cimport forced_void

cdef enum:
    SUM  # as in pool.h
    GREATEST
    LEAST

cdef enum:
    BY_ONE
    BY_LENGTH
    BY_ROOT

ctypedef fused number:
    float
    double
    int64_t
    uint64_t

cdef extern from *:
    ctypedef int64_t* int_alone "int64_t *restrict"
    ctypedef uint64_t* uint_alone "uint64_t *restrict"

ctypedef fused number_alone:  # as `alone`
    float_alone
    double_alone
    int_alone
    uint_alone


cdef inline forced_void fold(number* so_far, number cell, const int verb) noexcept nogil:
    """Combine the result of a column with one more cell."""
    cdef number first = so_far[0]
    cdef bint stays
    if verb == SUM:
        if number is int64_t:
            so_far[0] = <int64_t> (<uint64_t> first + <uint64_t> cell)
        else:
            so_far[0] = first + cell
        return
    if verb == GREATEST:
        stays = first >= cell
    else:
        stays = first <= cell
    if number is float or number is double:
        stays = stays | (first != first)  # the first nan; one condition is one blend
    so_far[0] = first if stays else cell


cdef inline forced_void fold_four(
    number* so_far, number first, number second, number third, number fourth, const int verb
) noexcept nogil:
    """Combine the result of a column with four more cells, and store it once."""
    cdef number best = so_far[0]
    fold(&best, first, verb)
    fold(&best, second, verb)
    fold(&best, third, verb)
    fold(&best, fourth, verb)
    so_far[0] = best


cdef inline forced_void find_best(const number* x, int64_t length, const int verb, number* best) noexcept nogil:
    cdef number so_far = x[0] if length else 0
    cdef int64_t r
    for r in range(1, length):
        fold(&so_far, x[r], verb)
    best[0] = so_far


cdef inline forced_void halve(real* lane, const int64_t lanes) noexcept nogil:
    """Lane k adds lane k + half of them, and so on until one is left."""
    cdef int64_t half = lanes // 2, k
    while half > 0:
        for k in range(half):
            lane[k] += lane[k + half]
        half //= 2


cdef inline forced_void divide_cells(number* cells, int64_t count, int64_t length, const int divide) noexcept nogil:
    """Divide the sums of a sequence; those of an empty one stay 0, and those of integers are not divided."""
    cdef number by
    cdef int64_t c
    if number is float or number is double:
        if divide != BY_ONE and length > 0:
            by = <number> sqrt(<double> length) if divide == BY_ROOT else <number> length
            for c in range(count):
                cells[c] /= by
