/* Attention for one type of cells; attention.h includes this once per type. */

#include "lane_sums.h"

/* Return the product of two rows. */
LODCORE_INLINE CELL OF_CELL(dot)(const CELL *restrict x, const CELL *restrict y, int64_t width)
{
    CELL lane[DOT_LANES] = {0};
    int64_t c = 0;
    for (; c + DOT_LANES <= width; c += DOT_LANES)
        for (int k = 0; k < DOT_LANES; k++)
            lane[k] += x[c + k] * y[c + k];
    for (int k = 0; c + k < width; k++)
        lane[k] += x[c + k] * y[c + k];
    return OF_CELL(folded)(lane);
}

LODCORE_BODY BODY_OF_CELL(attend)(const CELL *restrict query, const CELL *restrict memory, const CELL *restrict values,
                                  const int64_t *restrict offsets, int64_t n_seqs, int64_t width, int64_t value_width,
                                  CELL scale, CELL *restrict weights, CELL *restrict context)
{
    for (int64_t s = 0; s < n_seqs; s++) {
        CELL top = (CELL)-INFINITY, sum = 0, *restrict result = context + s * value_width;
        for (int64_t r = offsets[s]; r < offsets[s + 1]; r++) {
            weights[r] = OF_CELL(dot)(query + s * width, memory + r * width, width) * scale;
            top = weights[r] > top ? weights[r] : top;
        }
        for (int64_t r = offsets[s]; r < offsets[s + 1]; r++) {
            weights[r] = OF_CELL(exp)(weights[r] - top);
            sum += weights[r];
        }
        for (int64_t c = 0; c < value_width; c++)
            result[c] = 0;
        for (int64_t r = offsets[s]; r < offsets[s + 1]; r++) {
            const CELL *restrict row = values + r * value_width;
            CELL weight = weights[r] = OF_CELL(one_nan)(weights[r] * (1 / sum));
            for (int64_t c = 0; c < value_width; c++)
                result[c] += weight * row[c];
        }
        for (int64_t c = 0; c < value_width; c++)
            result[c] = OF_CELL(one_nan)(result[c]);
    }
}
LODCORE_THRICE(OF_CELL(attend),
               (const CELL *query, const CELL *memory, const CELL *values, const int64_t *offsets, int64_t n_seqs,
                int64_t width, int64_t value_width, CELL scale, CELL *weights, CELL *context),
               (query, memory, values, offsets, n_seqs, width, value_width, scale, weights, context))

/* `d_values` is NULL if the memory is also the values; their gradient is then part of `d_memory`. */
LODCORE_BODY BODY_OF_CELL(attend_back)(const CELL *restrict d_context, const CELL *restrict d_weights,
                                       const CELL *restrict query, const CELL *restrict memory,
                                       const CELL *restrict values, const int64_t *restrict offsets, int64_t n_seqs,
                                       int64_t width, int64_t value_width, CELL scale, const CELL *restrict weights,
                                       CELL *restrict scores, CELL *restrict d_query, CELL *restrict d_memory,
                                       CELL *restrict d_values)
{
    for (int64_t s = 0; s < n_seqs; s++) {
        const CELL *restrict asked = query + s * width, *restrict given = d_context + s * value_width;
        CELL sum = 0, *restrict result = d_query + s * width;
        for (int64_t r = offsets[s]; r < offsets[s + 1]; r++) {
            scores[r] = d_weights[r] + OF_CELL(dot)(given, values + r * value_width, value_width);
            sum += weights[r] * scores[r];
        }
        for (int64_t c = 0; c < width; c++)
            result[c] = 0;
        for (int64_t r = offsets[s]; r < offsets[s + 1]; r++) {
            const CELL *restrict row = memory + r * width;
            CELL *restrict of_row = d_memory + r * width;
            CELL weight = weights[r], derivative = weight * (scores[r] - sum) * scale;
            scores[r] = OF_CELL(one_nan)(derivative);
            for (int64_t c = 0; c < width; c++)
                result[c] += derivative * row[c];
            if (d_values == NULL) {
                for (int64_t c = 0; c < width; c++)
                    of_row[c] = OF_CELL(one_nan)(derivative * asked[c] + weight * given[c]);
                continue;
            }
            CELL *restrict of_values = d_values + r * value_width;
            for (int64_t c = 0; c < width; c++)
                of_row[c] = OF_CELL(one_nan)(derivative * asked[c]);
            for (int64_t c = 0; c < value_width; c++)
                of_values[c] = OF_CELL(one_nan)(weight * given[c]);
        }
        for (int64_t c = 0; c < width; c++)
            result[c] = OF_CELL(one_nan)(result[c]);
    }
}
LODCORE_THRICE(OF_CELL(attend_back),
               (const CELL *d_context, const CELL *d_weights, const CELL *query, const CELL *memory, const CELL *values,
                const int64_t *offsets, int64_t n_seqs, int64_t width, int64_t value_width, CELL scale,
                const CELL *weights, CELL *scores, CELL *d_query, CELL *d_memory, CELL *d_values),
               (d_context, d_weights, query, memory, values, offsets, n_seqs, width, value_width, scale, weights, scores,
                d_query, d_memory, d_values))
