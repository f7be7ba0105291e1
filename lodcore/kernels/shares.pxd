"""Softmax without vectors, logarithms of sums, and the gradient: blocks of cells that are added side by side.

Of rows of one cell, a block is a sequence in lines of 256 bytes, of which the last may be shorter; its lanes are then
reduced to one. A short sequence is one line, with the least power of two of lanes that holds it: further lanes would be
0. Of wider rows, a block is some columns of a sequence. softmax.h has the same with vectors.
"""

from libc.float cimport DBL_MIN, FLT_MIN
from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from lodcore.kernels.lanes cimport alone, one_nan, real
from lodcore.kernels.simd cimport forced_void, plain_void

cdef extern from "softmax.h" nogil:
    # The logarithm of a sum of exp(x - most), plus most.
    float log_of_sum_float(float most, float sum, const float* x, int64_t length, int64_t width)
    double log_of_sum_double(double most, double sum, const double* x, int64_t length, int64_t width)
    float exp_float(float x)
    double exp_double(double x)

cdef enum:
    MOST_LANES = 64


cdef inline forced_void exp_block(
    alone x, int64_t stop, int64_t stride, int64_t columns, bint one_cell, alone out, real* most, real* sums
) noexcept nogil:
    """Compute exp(x - most) of lines of `columns` cells from 0, stride ... to stop; write it unless `out` is NULL."""
    cdef int64_t at = 0, k, left
    cdef real e
    for k in range(columns):
        most[k] = -INFINITY
    for k in range(columns):
        sums[k] = 0
    while at < stop:
        left = stop - at if stop - at < columns else columns
        for k in range(left):
            most[k] = x[at + k] if x[at + k] > most[k] else most[k]
        at += stride
    if one_cell:
        for k in range(1, columns):
            most[0] = most[k] if most[k] > most[0] else most[0]
        for k in range(1, columns):
            most[k] = most[0]
    at = 0
    while at < stop:
        left = stop - at if stop - at < columns else columns
        if out != NULL:
            for k in range(left):
                if real is float:
                    out[at + k] = exp_float(x[at + k] - most[k])
                else:
                    out[at + k] = exp_double(x[at + k] - most[k])
                sums[k] += out[at + k]
        else:
            for k in range(left):
                if real is float:
                    e = exp_float(x[at + k] - most[k])
                else:
                    e = exp_double(x[at + k] - most[k])
                sums[k] += e
        at += stride
    if one_cell:
        add_lanes(sums, columns)


cdef inline forced_void add_lanes(real* lane, int64_t lanes) noexcept nogil:
    """Add lane k and lane k + half until one is left, and copy it to all."""
    cdef int64_t half = lanes // 2, k
    while half > 0:
        for k in range(half):
            lane[k] += lane[k + half]
        half = half // 2
    for k in range(1, lanes):
        lane[k] = lane[0]


cdef inline forced_void softmax_block(
    alone x, int64_t stop, int64_t stride, int64_t columns, bint one_cell, const real* weights, alone out, real* least
) noexcept nogil:
    cdef real by[MOST_LANES]
    cdef real smallest, one = 1
    cdef int64_t at = 0, k, left
    if real is float:
        smallest = FLT_MIN
    else:
        smallest = DBL_MIN
    exp_block(x, stop, stride, columns, one_cell, out, least, by)
    for k in range(columns):
        least[k] = by[k] * smallest
    for k in range(columns):
        by[k] = (one if weights == NULL else weights[0 if one_cell else k]) / by[k]
    while at < stop:
        left = stop - at if stop - at < columns else columns
        for k in range(left):
            out[at + k] = one_nan((0 if out[at + k] < least[k] else out[at + k]) * by[k])
        at += stride


cdef inline forced_void pull_lines(
    alone y, alone d, int64_t length, int64_t lanes_used, alone out, real zero
) noexcept nogil:
    """Compute y * (d - sum of y * d) of a sequence of rows of one cell."""
    cdef real sums[MOST_LANES]
    cdef int64_t lanes = 256 // sizeof(real), at = 0, k, left
    lanes_used = lanes_used if lanes_used < lanes else lanes
    for k in range(lanes_used):
        sums[k] = zero
    while at < length:
        left = length - at if length - at < lanes_used else lanes_used
        for k in range(left):
            sums[k] += y[at + k] * d[at + k]
        at += lanes_used
    add_lanes(sums, lanes_used)
    for k in range(length):
        out[k] = one_nan(y[k] * (d[k] - sums[0]))


cdef inline forced_void pull_columns(
    alone y, alone d, int64_t length, int64_t width, int64_t columns, alone out, real zero
) noexcept nogil:
    """Compute y * (d - sum of y * d) of some columns of a sequence."""
    cdef real sums[MOST_LANES]
    cdef int64_t lanes = 256 // sizeof(real), at = 0, k
    columns = columns if columns < lanes else lanes
    for k in range(columns):
        sums[k] = zero
    while at < length * width:
        for k in range(columns):
            sums[k] += y[at + k] * d[at + k]
        at += width
    at = 0
    while at < length * width:
        for k in range(columns):
            out[at + k] = one_nan(y[at + k] * (d[at + k] - sums[k]))
        at += width


cdef inline int64_t lanes_of(int64_t length, int64_t most) noexcept nogil:
    """The least power of two of lanes that holds a sequence of rows of one cell."""
    cdef int64_t lanes = 1
    while lanes < length and lanes < most:
        lanes *= 2
    return lanes


cdef inline plain_void softmax_plain(
    real* x, const int64_t* offsets, int64_t n_seqs, int64_t width, const real* weights, real* out
) noexcept nogil:
    cdef real least[MOST_LANES]
    cdef int64_t lanes = 256 // sizeof(real), s, c, length, some, first
    for s in range(n_seqs):
        length, first, c = offsets[s + 1] - offsets[s], offsets[s] * width, 0
        while c < width:
            some = lanes_of(length, lanes) if width == 1 else width - c if width - c < lanes else lanes
            softmax_block(
                x + first + c, length * width - c, some if width == 1 else width, some, width == 1, weights,
                out + first + c, least)
            if weights != NULL:
                weights += 1 if width == 1 else some
            c += lanes


cdef inline plain_void log_sum_plain(
    real* x, const int64_t* offsets, int64_t n_seqs, int64_t width, real* out
) noexcept nogil:
    cdef real most[MOST_LANES]
    cdef real sums[MOST_LANES]
    cdef real* nothing = NULL
    cdef int64_t lanes = 256 // sizeof(real), s, c, k, length, some, first
    for s in range(n_seqs):
        length, first, c = offsets[s + 1] - offsets[s], offsets[s] * width, 0
        if width == 1:
            some = lanes_of(length, lanes)
            exp_block(x + first, length, some, some, True, nothing, most, sums)
            if real is float:
                out[s] = log_of_sum_float(most[0], sums[0], x + first, length, 1)
            else:
                out[s] = log_of_sum_double(most[0], sums[0], x + first, length, 1)
            continue
        while c < width:
            some = width - c if width - c < lanes else lanes
            exp_block(x + first + c, length * width - c, width, some, False, nothing, most, sums)
            for k in range(some):
                if real is float:
                    out[s * width + c + k] = log_of_sum_float(most[k], sums[k], x + first + c + k, length, width)
                else:
                    out[s * width + c + k] = log_of_sum_double(most[k], sums[k], x + first + c + k, length, width)
            c += lanes


cdef inline plain_void pull_plain(
    real* y, real* d, const int64_t* offsets, int64_t n_seqs, int64_t width, real* out
) noexcept nogil:
    cdef int64_t lanes = 256 // sizeof(real), s, c, length, first
    for s in range(n_seqs):
        length, first, c = offsets[s + 1] - offsets[s], offsets[s] * width, 0
        if width == 1:
            pull_lines(y + first, d + first, length, lanes_of(length, lanes), out + first, <real> 0)
            continue
        while c < width:
            pull_columns(y + first + c, d + first + c, length, width, width - c, out + first + c, <real> 0)
            c += lanes
