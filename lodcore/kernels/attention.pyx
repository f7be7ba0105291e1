"""Attention of one query per sequence over the rows of that sequence, and the backward pass.

Scores are products of query and row, weights are their softmax, and the context is the weighted sum of the values. In
a product of two rows, lane k of 16 starts at 0 and adds columns k, k + 16, ...; then lane k adds lane k + 8, then lane
k + 4, and so on until one is left. Over the rows of a sequence, numbers are added one after another. The exponential is
that of exponential.h. The rows of a sequence stay in the cache between products.

Every nan in a result is the positive quiet nan; a sequence with a score of nan or inf, or with scores of -inf only, has
weights of nan.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from lodcore.kernels.lanes cimport alone, folded_lanes, one_nan, real
from lodcore.kernels.simd cimport SIMD_AVX2, SIMD_AVX512, avx2_void, avx512_void, forced_void, simd_level

cdef extern from "exponential.h" nogil:
    float exp_float(float x)
    double exp_double(double x)

cdef enum:
    LANES = 16


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
        run_attend(asked, rows, summed, bounds, n_seqs, width, value_width, <real> scale, shares, result)


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
        run_back(
            given, given_weights, asked, rows, summed, bounds, n_seqs, width, value_width, <real> scale, shares,
            derivatives, of_query, of_memory, of_values
        )


cdef inline const real* start(const real[:, ::1] x) noexcept nogil:
    """Return a pointer to the first cell, or NULL if there are no cells."""
    return &x[0, 0] if x.shape[0] and x.shape[1] else NULL


# -- forward -----------------------------------------------------------------------------------------------------------


cdef inline forced_void dot(alone x, alone y, int64_t width, real* product) noexcept nogil:
    cdef real lane[LANES]
    cdef int64_t c = 0, k
    for k in range(LANES):
        lane[k] = 0
    while c + LANES <= width:
        for k in range(LANES):
            lane[k] += x[c + k] * y[c + k]
        c += LANES
    for k in range(width - c):
        lane[k] += x[c + k] * y[c + k]
    product[0] = folded_lanes(lane)


cdef inline forced_void exponentials(real* x, int64_t count, real top, real* total) noexcept nogil:
    """Replace each number by exp(x - top), and add them up."""
    cdef real so_far = 0
    cdef int64_t k
    for k in range(count):
        if real is float:
            x[k] = exp_float(x[k] - top)
        else:
            x[k] = exp_double(x[k] - top)
        so_far += x[k]
    total[0] = so_far


cdef inline forced_void add_times(alone row, real by, int64_t width, alone out) noexcept nogil:
    cdef int64_t c
    for c in range(width):
        out[c] += by * row[c]


cdef inline forced_void clear(real* row, int64_t width) noexcept nogil:
    cdef int64_t c
    for c in range(width):
        row[c] = 0


cdef inline forced_void unify_nans(real* row, int64_t width) noexcept nogil:
    cdef int64_t c
    for c in range(width):
        row[c] = one_nan(row[c])


cdef inline forced_void attend(
    const real* query, const real* memory, const real* values, const int64_t* offsets, int64_t n_seqs, int64_t width,
    int64_t value_width, real scale, real* weights, real* context
) noexcept nogil:
    cdef real score = 0, top, total = 0, by, one = 1
    cdef real* asked = <real*> query
    cdef real* row = <real*> memory
    cdef real* value = <real*> values
    cdef int64_t s, r
    for s in range(n_seqs):
        top = -INFINITY
        for r in range(offsets[s], offsets[s + 1]):
            dot(asked, row, width, &score)
            score = score * scale
            weights[r] = score
            top = score if score > top else top
            row += width
        exponentials(weights + offsets[s], offsets[s + 1] - offsets[s], top, &total)
        clear(context, value_width)
        for r in range(offsets[s], offsets[s + 1]):
            by = one_nan(weights[r] * (one / total))
            weights[r] = by
            add_times(value, by, value_width, context)
            value += value_width
        unify_nans(context, value_width)
        asked += width
        context += value_width


cdef avx512_void attend_avx512(
    const real* query, const real* memory, const real* values, const int64_t* offsets, int64_t n_seqs, int64_t width,
    int64_t value_width, real scale, real* weights, real* context
) noexcept nogil:
    attend(query, memory, values, offsets, n_seqs, width, value_width, scale, weights, context)


cdef avx2_void attend_avx2(
    const real* query, const real* memory, const real* values, const int64_t* offsets, int64_t n_seqs, int64_t width,
    int64_t value_width, real scale, real* weights, real* context
) noexcept nogil:
    attend(query, memory, values, offsets, n_seqs, width, value_width, scale, weights, context)


cdef void run_attend(
    const real* query, const real* memory, const real* values, const int64_t* offsets, int64_t n_seqs, int64_t width,
    int64_t value_width, real scale, real* weights, real* context
) noexcept nogil:
    cdef int level = simd_level()
    if level == SIMD_AVX512:
        attend_avx512(query, memory, values, offsets, n_seqs, width, value_width, scale, weights, context)
    elif level == SIMD_AVX2:
        attend_avx2(query, memory, values, offsets, n_seqs, width, value_width, scale, weights, context)
    else:
        attend(query, memory, values, offsets, n_seqs, width, value_width, scale, weights, context)


# -- backward ----------------------------------------------------------------------------------------------------------


cdef inline forced_void write_times(alone row, real by, int64_t width, alone out) noexcept nogil:
    cdef int64_t c
    for c in range(width):
        out[c] = one_nan(by * row[c])


cdef inline forced_void write_both(
    alone row, real by, alone other, real other_by, int64_t width, alone out
) noexcept nogil:
    cdef int64_t c
    for c in range(width):
        out[c] = one_nan(by * row[c] + other_by * other[c])


cdef inline forced_void back(
    const real* d_context, const real* d_weights, const real* query, const real* memory, const real* values,
    const int64_t* offsets, int64_t n_seqs, int64_t width, int64_t value_width, real scale, const real* weights,
    real* scores, real* d_query, real* d_memory, real* d_values
) noexcept nogil:
    """Without `d_values`, the memory is also the values; their gradient is then part of `d_memory`."""
    cdef real product = 0, total, weight, derivative
    cdef real* asked = <real*> query
    cdef real* given = <real*> d_context
    cdef real* row = <real*> memory
    cdef real* value = <real*> values
    cdef int64_t s, r
    for s in range(n_seqs):
        total = 0
        for r in range(offsets[s], offsets[s + 1]):
            dot(given, value, value_width, &product)
            scores[r] = d_weights[r] + product
            total += weights[r] * scores[r]
            value += value_width
        clear(d_query, width)
        for r in range(offsets[s], offsets[s + 1]):
            weight = weights[r]
            derivative = weight * (scores[r] - total) * scale
            scores[r] = one_nan(derivative)
            add_times(row, derivative, width, d_query)
            if d_values == NULL:
                write_both(asked, derivative, given, weight, width, d_memory)
            else:
                write_times(asked, derivative, width, d_memory)
                write_times(given, weight, value_width, d_values)
                d_values += value_width
            row += width
            d_memory += width
        unify_nans(d_query, width)
        asked += width
        given += value_width
        d_query += width


cdef avx512_void back_avx512(
    const real* d_context, const real* d_weights, const real* query, const real* memory, const real* values,
    const int64_t* offsets, int64_t n_seqs, int64_t width, int64_t value_width, real scale, const real* weights,
    real* scores, real* d_query, real* d_memory, real* d_values
) noexcept nogil:
    back(
        d_context, d_weights, query, memory, values, offsets, n_seqs, width, value_width, scale, weights, scores,
        d_query, d_memory, d_values
    )


cdef avx2_void back_avx2(
    const real* d_context, const real* d_weights, const real* query, const real* memory, const real* values,
    const int64_t* offsets, int64_t n_seqs, int64_t width, int64_t value_width, real scale, const real* weights,
    real* scores, real* d_query, real* d_memory, real* d_values
) noexcept nogil:
    back(
        d_context, d_weights, query, memory, values, offsets, n_seqs, width, value_width, scale, weights, scores,
        d_query, d_memory, d_values
    )


cdef void run_back(
    const real* d_context, const real* d_weights, const real* query, const real* memory, const real* values,
    const int64_t* offsets, int64_t n_seqs, int64_t width, int64_t value_width, real scale, const real* weights,
    real* scores, real* d_query, real* d_memory, real* d_values
) noexcept nogil:
    cdef int level = simd_level()
    if level == SIMD_AVX512:
        back_avx512(
            d_context, d_weights, query, memory, values, offsets, n_seqs, width, value_width, scale, weights, scores,
            d_query, d_memory, d_values
        )
    elif level == SIMD_AVX2:
        back_avx2(
            d_context, d_weights, query, memory, values, offsets, n_seqs, width, value_width, scale, weights, scores,
            d_query, d_memory, d_values
        )
    else:
        back(
            d_context, d_weights, query, memory, values, offsets, n_seqs, width, value_width, scale, weights, scores,
            d_query, d_memory, d_values
        )
