"""Softmax within sequences, logarithms of sums of exponentials, and running sums; each column of a row separately.

The exponential is that of exponential.h, within 1.1 units in the last place. Sums of rows of several cells run row by
row; rows of one cell are added in lanes, as in softmax.h. Every nan in a result is the positive quiet nan.
"""

from libc.float cimport DBL_MIN, FLT_MIN
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t, uint64_t

from lodcore.kernels.folds cimport BY_ONE, GREATEST
from lodcore.kernels.lanes cimport alone, real
from lodcore.kernels.pool cimport pool_double, pool_float
from lodcore.kernels.simd cimport forced_void, plain_void

cdef extern from "softmax.h" nogil:  # of float or of double: all arrays of cells have the type of the result
    # Compute with vectors, and return whether there are any.
    bint softmax_vectors(
        const void* x, const int64_t* offsets, int64_t n_seqs, int64_t width, const void* weights, void* out)
    bint log_sum_vectors(const void* x, const int64_t* offsets, int64_t n_seqs, int64_t width, void* out)
    bint pull_vectors(
        const void* y, const void* d, const int64_t* offsets, int64_t n_seqs, int64_t width, void* out)
    # The logarithm of a sum of exp(x - most), plus most.
    float log_of_sum_float(float most, float sum, const float* x, int64_t length, int64_t width)
    double log_of_sum_double(double most, double sum, const double* x, int64_t length, int64_t width)
    float exp_float(float x)
    double exp_double(double x)

cdef enum:
    TOGETHER = 64  # the number of rows whose offsets and maxima are kept at a time
    MOST_LANES = 64

ctypedef fused number:
    float
    double
    int64_t
    uint64_t


def softmax_rows(const real[:, ::1] x not None, const int64_t[::1] offsets not None, real[:, ::1] out not None):
    """Compute exp(x - max) / sum(exp(x - max)) within each sequence.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    out : as x
        The quotient is a product with 1 / sum, and 0 where it would be subnormal. A sequence with nan or inf, or with
        -inf only, becomes nan.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = x.shape[1]
    if n_seqs < 0 or offsets[n_seqs] != x.shape[0] or out.shape[0] != x.shape[0] or out.shape[1] != width:
        raise ValueError("x, offsets and out do not belong together")
    if x.shape[0] == 0 or width == 0:
        return
    cdef const real* source = &x[0, 0]
    cdef const int64_t* bounds = &offsets[0]
    cdef real* result = &out[0, 0]
    cdef const real* none = NULL
    with nogil:
        softmax(source, bounds, n_seqs, width, none, result)


def spread_softmax(const real[:, ::1] rows not None, const real[:, ::1] x not None,
                   const int64_t[::1] offsets not None, real[:, ::1] out not None):
    """Distribute one row per sequence over its rows in proportion to their softmax: the gradient of `log_sum_exp`.

    Parameters
    ----------
    rows : float32 or float64, shape (n_seqs, width)
    x : as rows, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    out : as x
        exp(x - max) * (row / sum(exp(x - max))).
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = x.shape[1]
    if (n_seqs < 0 or offsets[n_seqs] != x.shape[0] or out.shape[0] != x.shape[0] or out.shape[1] != width
            or rows.shape[0] != n_seqs or rows.shape[1] != width):
        raise ValueError("rows, x, offsets and out do not belong together")
    if x.shape[0] == 0 or width == 0:
        return
    cdef const real* weights = &rows[0, 0]
    cdef const real* source = &x[0, 0]
    cdef const int64_t* bounds = &offsets[0]
    cdef real* result = &out[0, 0]
    with nogil:
        softmax(source, bounds, n_seqs, width, weights, result)


def pull_softmax(const real[:, ::1] y not None, const real[:, ::1] d not None, const int64_t[::1] offsets not None,
                 real[:, ::1] out not None):
    """Compute y * (d - sum(y * d)) within each sequence: the gradient of `softmax_rows`, which returned y.

    Parameters
    ----------
    y, d : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    out : as y
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = y.shape[1]
    if (n_seqs < 0 or offsets[n_seqs] != y.shape[0] or out.shape[0] != y.shape[0] or out.shape[1] != width
            or d.shape[0] != y.shape[0] or d.shape[1] != width):
        raise ValueError("y, d, offsets and out do not belong together")
    if y.shape[0] == 0 or width == 0:
        return
    cdef const real* result_of = &y[0, 0]
    cdef const real* cotangent = &d[0, 0]
    cdef const int64_t* bounds = &offsets[0]
    cdef real* result = &out[0, 0]
    with nogil:
        pull(result_of, cotangent, bounds, n_seqs, width, result)


def log_sum_exp(const real[:, ::1] x not None, const int64_t[::1] offsets not None, real[:, ::1] out not None):
    """Compute max + log(sum(exp(x - max))) of each sequence.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    out : as x, shape (n_seqs, width)
        The logarithm, and its sum with the maximum, are computed in double. -inf for an empty sequence and for one of
        -inf only, inf for one with inf, nan for one with nan.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = x.shape[1]
    if n_seqs < 0 or offsets[n_seqs] != x.shape[0] or out.shape[0] != n_seqs or out.shape[1] != width:
        raise ValueError("x, offsets and out do not belong together")
    if n_seqs == 0 or width == 0:
        return
    cdef const real* source = &x[0, 0] if x.shape[0] else NULL
    cdef const int64_t* bounds = &offsets[0]
    cdef real* result = &out[0, 0]
    with nogil:
        log_sum(source, bounds, n_seqs, width, result)


def label_losses(const real[:, ::1] x not None, const int64_t[::1] labels not None, real[:, ::1] shifted not None,
                 real[::1] out not None):
    """Compute log(sum(exp(x))) - x[label] of each row.

    Parameters
    ----------
    x : float32 or float64, shape (n, classes)
    labels : int64, shape (n,)
        0 .. classes - 1; no other thread may change them during the call.
    shifted : as x
        x minus the maximum of its row; nan if a cell of the row is nan.
    out : as x, shape (n,)
        Exponentials are summed in the order in which `log_sum_exp` sums those of a sequence.

    Returns
    -------
    int
        The first row whose label is not a class, checked before anything is written; -1 if there is none.
    """
    cdef Py_ssize_t n = x.shape[0], classes = x.shape[1], first = 0, count, r, c, bad = -1
    cdef int64_t bounds[TOGETHER + 1]
    cdef real best[TOGETHER]
    if labels.shape[0] != n or out.shape[0] != n or shifted.shape[0] != n or shifted.shape[1] != classes:
        raise ValueError("x, labels, shifted and out do not belong together")
    if n == 0:
        return -1
    cdef const int64_t* numbers = &labels[0]
    cdef const real* source = &x[0, 0] if classes else NULL
    cdef real* moved = &shifted[0, 0] if classes else NULL
    cdef real* result = &out[0]
    with nogil:
        for r in range(n):
            if numbers[r] < 0 or numbers[r] >= classes:
                bad = r
                break
        while bad < 0 and first < n:
            count = min(n - first, <Py_ssize_t> TOGETHER)
            for r in range(count + 1):
                bounds[r] = r * classes
            if real is float:
                pool_float(source + first * classes, bounds, count, 1, GREATEST, BY_ONE, best)
            else:
                pool_double(source + first * classes, bounds, count, 1, GREATEST, BY_ONE, best)
            for r in range(count):
                for c in range((first + r) * classes, (first + r + 1) * classes):
                    moved[c] = source[c] - best[r]
            log_sum(moved + first * classes, bounds, count, 1, result + first)
            for r in range(first, first + count):
                result[r] = result[r] - moved[r * classes + numbers[r]]
            first += count
    return bad


def add_up_rows(const number[:, ::1] x not None, const int64_t[::1] offsets not None, bint backwards,
                number[:, ::1] out not None):
    """Compute the running sums of each sequence. Those from the last row are the adjoint of those from the first.

    Parameters
    ----------
    x : float32, float64, int64 or uint64, shape (n_rows, width)
        Integers wrap around.
    offsets : int64, shape (n_seqs + 1,), in rows
    backwards : bool
        Whether the sums start at the last row.
    out : as x
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = x.shape[1], s
    if n_seqs < 0 or offsets[n_seqs] != x.shape[0] or out.shape[0] != x.shape[0] or out.shape[1] != width:
        raise ValueError("x, offsets and out do not belong together")
    if x.shape[0] == 0 or width == 0:
        return
    cdef const number* source = &x[0, 0]
    cdef const int64_t* bounds = &offsets[0]
    cdef number* result = &out[0, 0]
    with nogil:
        for s in range(n_seqs):
            if bounds[s] == bounds[s + 1]:
                continue
            if width == 1 and backwards:
                running_sum(source + bounds[s + 1] - 1, bounds[s + 1] - bounds[s], -1, result + bounds[s + 1] - 1)
            elif width == 1:
                running_sum(source + bounds[s], bounds[s + 1] - bounds[s], 1, result + bounds[s])
            elif backwards:
                running_rows(source + (bounds[s + 1] - 1) * width, bounds[s + 1] - bounds[s], width, -width,
                             result + (bounds[s + 1] - 1) * width)
            else:
                running_rows(source + bounds[s] * width, bounds[s + 1] - bounds[s], width, width,
                             result + bounds[s] * width)


cdef inline number one_nan(number x) noexcept nogil:
    """Return a cell, with the same bits for every nan."""
    if number is float or number is double:
        return x if x == x else <number> NAN
    else:
        return x


cdef inline number plus(number x, number y) noexcept nogil:
    """Add; integers wrap around."""
    if number is int64_t:
        return <int64_t> (<uint64_t> x + <uint64_t> y)
    else:
        return x + y


cdef void running_sum(const number* x, Py_ssize_t length, Py_ssize_t step, number* out) noexcept nogil:
    """Compute the running sums of a single column."""
    cdef Py_ssize_t r
    cdef number total = x[0]
    out[0] = one_nan(total)
    for r in range(1, length):
        total = plus(total, x[r * step])
        out[r * step] = one_nan(total)


cdef void running_rows(const number* x, Py_ssize_t length, Py_ssize_t width, Py_ssize_t step,
                       number* out) noexcept nogil:
    """Compute the running sums of rows; `step` leads to the next row."""
    cdef Py_ssize_t r, c
    for c in range(width):
        out[c] = one_nan(x[c])
    for r in range(1, length):
        for c in range(width):
            out[r * step + c] = one_nan(plus(out[(r - 1) * step + c], x[r * step + c]))


# -- without vectors: blocks of cells that are added side by side ------------------------------------------------------
#
# Of rows of one cell, a block is a sequence in lines of 256 bytes, of which the last may be shorter; its lanes are then
# reduced to one. A short sequence is one line, with the least power of two of lanes that holds it: further lanes would
# be 0. Of wider rows, a block is some columns of a sequence.


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


cdef plain_void softmax_plain(
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


cdef plain_void log_sum_plain(
    real* x, const int64_t* offsets, int64_t n_seqs, int64_t width, real* out
) noexcept nogil:
    cdef real most[MOST_LANES]
    cdef real sums[MOST_LANES]
    cdef real* nothing = NULL
    cdef int64_t lanes = 256 // sizeof(real), s, c, k, length, some, first
    for s in range(n_seqs):
        length, first, c = offsets[s + 1] - offsets[s], offsets[s] * width, 0
        while c < width:
            some = lanes_of(length, lanes) if width == 1 else width - c if width - c < lanes else lanes
            exp_block(
                x + first + c, length * width - c, some if width == 1 else width, some, width == 1, nothing, most, sums)
            some = some if width > 1 else 1
            for k in range(some):
                if real is float:
                    out[s * width + c + k] = log_of_sum_float(most[k], sums[k], x + first + c + k, length, width)
                else:
                    out[s * width + c + k] = log_of_sum_double(most[k], sums[k], x + first + c + k, length, width)
            c += lanes


cdef plain_void pull_plain(
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


cdef inline void softmax(
    const real* x, const int64_t* offsets, int64_t n_seqs, int64_t width, const real* weights, real* out
) noexcept nogil:
    """Compute exp(x - max) / sum(exp(x - max)), times a weight if there are any, within each sequence."""
    if not softmax_vectors(x, offsets, n_seqs, width, weights, out):
        softmax_plain(<real*> x, offsets, n_seqs, width, weights, out)


cdef inline void log_sum(
    const real* x, const int64_t* offsets, int64_t n_seqs, int64_t width, real* out
) noexcept nogil:
    """Compute max + log(sum(exp(x - max))) of each sequence."""
    if not log_sum_vectors(x, offsets, n_seqs, width, out):
        log_sum_plain(<real*> x, offsets, n_seqs, width, out)


cdef inline void pull(
    const real* y, const real* d, const int64_t* offsets, int64_t n_seqs, int64_t width, real* out
) noexcept nogil:
    """Compute y * (d - sum(y * d)) within each sequence."""
    if not pull_vectors(y, d, offsets, n_seqs, width, out):
        pull_plain(<real*> y, <real*> d, offsets, n_seqs, width, out)
