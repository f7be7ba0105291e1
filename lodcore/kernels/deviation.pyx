"""Variances of the rows of each sequence, column by column, and the backward pass."""

from libc.math cimport NAN
from libc.stdint cimport int64_t

cdef extern from "deviation.h" nogil:
    void deviate_float(const float* x, const int64_t* offsets, int64_t n_seqs, double* means, double* squares)
    void deviate_double(const double* x, const int64_t* offsets, int64_t n_seqs, double* means, double* squares)
    void deviate_wide_float(const float* x, const int64_t* offsets, int64_t n_seqs, int64_t width, double* means,
                            double* squares)
    void deviate_wide_double(const double* x, const int64_t* offsets, int64_t n_seqs, int64_t width, double* means,
                             double* squares)

ctypedef fused real:
    float
    double


def vary_rows(const real[:, ::1] x not None, const int64_t[::1] offsets not None, double ddof,
              double[:, ::1] means not None, double[:, ::1] out not None):
    """Compute the mean squared distance of the rows of each sequence from their mean.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    ddof : float
        Subtracted from the number of rows, by which the sum is divided; if the difference is not positive, the result
        is nan.
    means : float64, shape (n_seqs, width)
        0 for an empty sequence.
    out : as means
        Rows of one cell are added in 32 lanes within blocks of 4096, as `deviation.h` describes; other rows one by one.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = x.shape[1], s, c
    cdef double left
    if (x.shape[0] != offsets[n_seqs] or means.shape[0] != n_seqs or out.shape[0] != n_seqs
            or means.shape[1] != width or out.shape[1] != width):
        raise ValueError("x, offsets, means and out do not belong together")
    if n_seqs == 0 or width == 0:
        return
    cdef const real* rows = &x[0, 0] if x.shape[0] else NULL
    with nogil:
        if width == 1:
            if real is float:
                deviate_float(rows, &offsets[0], n_seqs, &means[0, 0], &out[0, 0])
            else:
                deviate_double(rows, &offsets[0], n_seqs, &means[0, 0], &out[0, 0])
        elif real is float:
            deviate_wide_float(rows, &offsets[0], n_seqs, width, &means[0, 0], &out[0, 0])
        else:
            deviate_wide_double(rows, &offsets[0], n_seqs, width, &means[0, 0], &out[0, 0])
        for s in range(n_seqs):
            left = <double> (offsets[s + 1] - offsets[s]) - ddof
            for c in range(width):
                out[s, c] = out[s, c] / left if left > 0 and offsets[s] < offsets[s + 1] else NAN


def spread_distances(const real[:, ::1] x not None, const int64_t[::1] offsets not None,
                     const double[:, ::1] means not None, const double[:, ::1] scales not None,
                     real[:, ::1] out not None):
    """Multiply the distance of each row from the mean of its sequence by a scale: the gradient of `vary_rows`.

    Parameters
    ----------
    x : float32 or float64, shape (n_rows, width)
    offsets : int64, shape (n_seqs + 1,), in rows
    means : float64, shape (n_seqs, width)
    scales : float64, shape (n_seqs, width)
        The factors; a factor of 0 gives 0, also for a distance of nan.
    out : as x
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, width = x.shape[1], s, r, c
    if (x.shape[0] != offsets[n_seqs] or out.shape[0] != x.shape[0] or out.shape[1] != width
            or means.shape[0] != n_seqs or scales.shape[0] != n_seqs or means.shape[1] != width
            or scales.shape[1] != width):
        raise ValueError("x, offsets, means, scales and out do not belong together")
    with nogil:
        for s in range(n_seqs):
            for r in range(offsets[s], offsets[s + 1]):
                for c in range(width):
                    out[r, c] = <real> ((<double> x[r, c] - means[s, c]) * scales[s, c]) if scales[s, c] != 0 else 0
