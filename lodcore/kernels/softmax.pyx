"""Softmax within sequences, logarithms of sums of exponentials, and running sums; each column of a row separately.

The exponential is that of exponential.h, within 1.1 units in the last place. Sums of rows of several cells run row by
row; rows of one cell are added in lanes, as in softmax.h. Every nan in a result is the positive quiet nan.
"""

from libc.math cimport NAN
from libc.stdint cimport int64_t, uint64_t

from lodcore.kernels.folds cimport BY_ONE, GREATEST
from lodcore.kernels.lanes cimport real
from lodcore.kernels.pool cimport pool_reals
from lodcore.kernels.shares cimport log_sum_plain, pull_plain, softmax_plain

cdef extern from "softmax.h" nogil:  # of float or of double: all arrays of cells have the type of the result
    # Compute with vectors, and return whether there are any.
    bint softmax_vectors(
        const void* x, const int64_t* offsets, int64_t n_seqs, int64_t width, const void* weights, void* out)
    bint log_sum_vectors(const void* x, const int64_t* offsets, int64_t n_seqs, int64_t width, void* out)
    bint pull_vectors(
        const void* y, const void* d, const int64_t* offsets, int64_t n_seqs, int64_t width, void* out)

cdef enum:
    TOGETHER = 64  # the number of rows whose offsets and maxima are kept at a time

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
            pool_reals(source + first * classes, bounds, count, 1, GREATEST, BY_ONE, best)
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
