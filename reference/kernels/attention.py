"""Twin of lodcore/kernels/attention.pyx: products of rows in 16 lanes, other sums in the order of their rows."""

from numpy import errstate

from reference.arithmetic import exp, one_nan, sum_in_lanes

LANES = 16


@errstate(all="ignore")
def attend_rows(query, memory, values, offsets, scale, weights, context):
    """Compute the weights of the rows of each sequence for a query, and the weighted sum of the values."""
    _check(query, memory, values, offsets, weights, context)
    real = memory.dtype.type
    for s in range(len(offsets) - 1):
        rows = range(offsets[s], offsets[s + 1])
        scores = [_dot(query, s, memory, r, real) * real(scale) for r in rows]
        top = real(-float("inf"))
        for score in scores:
            top = score if score > top else top
        powers, total = [exp(score - top) for score in scores], real(0)
        for power in powers:
            total = total + power
        sums = [real(0) for _ in range(values.shape[1])]
        for r in rows:
            weights[r] = one_nan(powers[r - offsets[s]] * (real(1) / total))
            for c in range(values.shape[1]):
                sums[c] = sums[c] + weights[r] * values[r, c]
        for c in range(values.shape[1]):
            context[s, c] = one_nan(sums[c])


@errstate(all="ignore")
def attend_rows_back(
    d_context, d_weights, query, memory, values, offsets, scale, weights, scores, d_query, d_memory, d_values, shared
):
    """Compute the gradients of `attend_rows`, which returned the weights."""
    _check(query, memory, values, offsets, weights, d_context)
    if not (d_weights.shape == scores.shape == weights.shape and d_query.shape == query.shape):
        raise ValueError("the arrays do not belong together")
    if d_memory.shape != memory.shape or (values.shape != memory.shape if shared else d_values.shape != values.shape):
        raise ValueError("the arrays do not belong together")
    real = memory.dtype.type
    for s in range(len(offsets) - 1):
        rows, total = range(offsets[s], offsets[s + 1]), real(0)
        given = [d_weights[r] + _dot(d_context, s, values, r, real) for r in rows]
        for r in rows:
            total = total + weights[r] * given[r - offsets[s]]
        sums = [real(0) for _ in range(memory.shape[1])]
        for r in rows:
            derivative = weights[r] * (given[r - offsets[s]] - total) * real(scale)
            scores[r] = one_nan(derivative)
            for c in range(memory.shape[1]):
                sums[c] = sums[c] + derivative * memory[r, c]
                of_score = derivative * query[s, c]
                d_memory[r, c] = one_nan(of_score + weights[r] * d_context[s, c] if shared else of_score)
            for c in range(0 if shared else values.shape[1]):
                d_values[r, c] = one_nan(weights[r] * d_context[s, c])
        for c in range(memory.shape[1]):
            d_query[s, c] = one_nan(sums[c])


def _dot(x, row, y, other, real):
    """Compute the dot product of two rows."""
    return sum_in_lanes([x[row, c] * y[other, c] for c in range(x.shape[1])], LANES, real(0))


def _check(query, memory, values, offsets, weights, context):
    n_seqs, n_rows = len(offsets) - 1, len(memory)
    if not (offsets[n_seqs] == n_rows == len(values) == len(weights) and len(query) == len(context) == n_seqs):
        raise ValueError("the arrays do not belong together")
    if query.shape[1] != memory.shape[1] or context.shape[1] != values.shape[1]:
        raise ValueError("the arrays do not belong together")
