"""Attention of one query per sequence over the rows of that sequence, and the backward pass.

Scores are products of query and row, weights are their softmax, and the context is the weighted sum of the values. Sums
run in the order of attention.h. Every nan in a result is the positive quiet nan; a sequence with a score of nan or inf,
or with scores of -inf only, has weights of nan.
"""

from libc.stdint cimport int64_t

cdef extern from "attention.h" nogil:
    void attend_float(const float* query, const float* memory, const float* values, const int64_t* offsets,
                      int64_t n_seqs, int64_t width, int64_t value_width, float scale, float* weights, float* context)
    void attend_double(const double* query, const double* memory, const double* values, const int64_t* offsets,
                       int64_t n_seqs, int64_t width, int64_t value_width, double scale, double* weights,
                       double* context)
    void attend_back_float(const float* d_context, const float* d_weights, const float* query, const float* memory,
                           const float* values, const int64_t* offsets, int64_t n_seqs, int64_t width,
                           int64_t value_width, float scale, const float* weights, float* scores, float* d_query,
                           float* d_memory, float* d_values)
    void attend_back_double(const double* d_context, const double* d_weights, const double* query,
                            const double* memory, const double* values, const int64_t* offsets, int64_t n_seqs,
                            int64_t width, int64_t value_width, double scale, const double* weights, double* scores,
                            double* d_query, double* d_memory, double* d_values)

ctypedef fused real:
    float
    double


def attend_rows(
    const real[:, ::1] query not None, const real[:, ::1] memory not None, const real[:, ::1] values not None,
    const int64_t[::1] offsets not None, double scale, real[::1] weights not None, real[:, ::1] context not None,
):
    """Compute the weights of the rows of each sequence for a query, and the weighted sum of the values.

    Parameters
    ----------
    query : float32 or float64, shape (n_seqs, width)
    memory : as query, shape (n_rows, width)
    values : as query, shape (n_rows, value_width)
    offsets : int64, shape (n_seqs + 1,), in rows
    scale : float
        Factor of the products of query and memory.
    weights : as query, shape (n_rows,)
        The softmax of the scores of each sequence.
    context : as query, shape (n_seqs, value_width)
        Zeros for an empty sequence.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, n_rows = memory.shape[0], width = memory.shape[1]
    cdef Py_ssize_t value_width = values.shape[1]
    if (offsets[n_seqs] != n_rows or query.shape[0] != n_seqs or query.shape[1] != width or values.shape[0] != n_rows
            or weights.shape[0] != n_rows or context.shape[0] != n_seqs or context.shape[1] != value_width):
        raise ValueError("the arrays do not belong together")
    if n_seqs == 0:
        return
    cdef const real* asked = start(query)
    cdef const real* rows = start(memory)
    cdef const real* summed = start(values)
    cdef const int64_t* bounds = &offsets[0]
    cdef real* shares = &weights[0] if n_rows else NULL
    cdef real* result = &context[0, 0] if value_width else NULL
    with nogil:
        if real is float:
            attend_float(asked, rows, summed, bounds, n_seqs, width, value_width, <float> scale, shares, result)
        else:
            attend_double(asked, rows, summed, bounds, n_seqs, width, value_width, scale, shares, result)


def attend_rows_back(
    const real[:, ::1] d_context not None, const real[::1] d_weights not None, const real[:, ::1] query not None,
    const real[:, ::1] memory not None, const real[:, ::1] values not None, const int64_t[::1] offsets not None,
    double scale, const real[::1] weights not None, real[::1] scores not None, real[:, ::1] d_query not None,
    real[:, ::1] d_memory not None, real[:, ::1] d_values not None, bint shared,
):
    """Compute the gradients of `attend_rows`, which returned the weights.

    Parameters
    ----------
    d_context : float32 or float64, shape (n_seqs, value_width)
    d_weights : as d_context, shape (n_rows,)
    query, memory, values, offsets, scale, weights : as in `attend_rows`
    scores : as d_context, shape (n_rows,)
        The gradient of the products of query and memory.
    d_query : as query
    d_memory : as memory
    d_values : as values
        Not written if `shared` is true.
    shared : bool
        Whether the values are the memory. If so, d_memory is the gradient of both.
    """
    cdef Py_ssize_t n_seqs = offsets.shape[0] - 1, n_rows = memory.shape[0], width = memory.shape[1]
    cdef Py_ssize_t value_width = values.shape[1]
    if (offsets[n_seqs] != n_rows or query.shape[0] != n_seqs or query.shape[1] != width or values.shape[0] != n_rows
            or weights.shape[0] != n_rows or d_weights.shape[0] != n_rows or scores.shape[0] != n_rows
            or d_context.shape[0] != n_seqs or d_context.shape[1] != value_width or d_query.shape[0] != n_seqs
            or d_query.shape[1] != width or d_memory.shape[0] != n_rows or d_memory.shape[1] != width
            or (shared and value_width != width)
            or (not shared and (d_values.shape[0] != n_rows or d_values.shape[1] != value_width))):
        raise ValueError("the arrays do not belong together")
    if n_seqs == 0:
        return
    cdef const real* given = start(d_context)
    cdef const real* given_weights = &d_weights[0] if n_rows else NULL
    cdef const real* asked = start(query)
    cdef const real* rows = start(memory)
    cdef const real* summed = start(values)
    cdef const int64_t* bounds = &offsets[0]
    cdef const real* shares = &weights[0] if n_rows else NULL
    cdef real* derivatives = &scores[0] if n_rows else NULL
    cdef real* of_query = &d_query[0, 0] if width else NULL
    cdef real* of_memory = &d_memory[0, 0] if n_rows and width else NULL
    cdef real nothing
    cdef real* of_values = NULL if shared else &d_values[0, 0] if n_rows and value_width else &nothing
    with nogil:
        if real is float:
            attend_back_float(given, given_weights, asked, rows, summed, bounds, n_seqs, width, value_width,
                              <float> scale, shares, derivatives, of_query, of_memory, of_values)
        else:
            attend_back_double(given, given_weights, asked, rows, summed, bounds, n_seqs, width, value_width, scale,
                               shares, derivatives, of_query, of_memory, of_values)


cdef inline const real* start(const real[:, ::1] x) noexcept nogil:
    """Return a pointer to the first cell, or NULL if there are no cells."""
    return &x[0, 0] if x.shape[0] and x.shape[1] else NULL
