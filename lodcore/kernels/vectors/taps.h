/* Rows weighted by a filter: each column has one weight per tap, and tap j applies to the row j positions later (step
 * > 0) or earlier (step < 0) in the same sequence. A sum starts with the product of tap 0 and adds the others in
 * order; every path follows this order. Included once per type, with REAL and NAME(base, part) defined. */

/* Sum `taps` weighted rows, the first of which is `x`. */
LODCORE_BODY NAME(weigh_row, )(const REAL *restrict x, int64_t step, int64_t width, const REAL *restrict filter,
                             int64_t taps, REAL *restrict out)
{
    int64_t c = 0;
    for (; c + LANES <= width; c += LANES) {
        REAL sum[LANES];
        for (int64_t k = 0; k < LANES; k++)
            sum[k] = x[c + k] * filter[c + k];
        for (int64_t j = 1; j < taps; j++)
            for (int64_t k = 0; k < LANES; k++)
                sum[k] += x[j * step + c + k] * filter[j * width + c + k];
        for (int64_t k = 0; k < LANES; k++)
            out[c + k] = sum[k];
    }
    for (; c < width; c++) {
        REAL sum = x[c] * filter[c];
        for (int64_t j = 1; j < taps; j++)
            sum += x[j * step + c] * filter[j * width + c];
        out[c] = sum;
    }
}

/* Filter rows `from` to `stop` of the sequence from `begin` to `end`. */
LODCORE_BODY NAME(weigh_rows, )(const REAL *restrict x, int64_t ahead, int64_t width, int64_t begin, int64_t end,
                              int64_t from, int64_t stop, const REAL *restrict filter, int64_t taps,
                              REAL *restrict out)
{
    for (int64_t t = from; t < stop; t++) {
        int64_t reach = ahead ? end - t : t - begin + 1;
        NAME(weigh_row, )(x + t * width, ahead ? width : -width, width, filter, reach < taps ? reach : taps,
                        out + t * width);
    }
}

/* Filter groups of LANES narrow rows as if each were one wide row, whatever sequences they belong to; the weights are
 * repeated once per row. All taps of rows `from` to `stop` are within the batch. */
LODCORE_BODY NAME(weigh_groups, )(const REAL *restrict x, int64_t step, int64_t width, int64_t from, int64_t groups,
                                const REAL *restrict filter, int64_t taps, REAL *restrict out)
{
    REAL tile[TAPS * LANES * (LANES - 1)];
    const int64_t cells = LANES * width;
    for (int64_t first = 0; first < taps; first += TAPS) {
        int64_t some = taps - first < TAPS ? taps - first : TAPS;
        for (int64_t j = 0; j < some; j++)
            for (int64_t k = 0; k < cells; k += width)
                memcpy(tile + j * cells + k, filter + (first + j) * width, (size_t)width * sizeof(REAL));
        for (int64_t g = 0; g < groups; g++) {
            const REAL *source = x + (from + g * LANES) * width + first * step;
            REAL *to = out + (from + g * LANES) * width;
            for (int64_t c = 0; c < cells; c += LANES) {
                REAL sum[LANES];
                for (int64_t k = 0; k < LANES; k++)
                    sum[k] = source[c + k] * tile[c + k];
                if (first)
                    for (int64_t k = 0; k < LANES; k++)
                        sum[k] += to[c + k];
                for (int64_t j = 1; j < some; j++)
                    for (int64_t k = 0; k < LANES; k++)
                        sum[k] += source[j * step + c + k] * tile[j * cells + c + k];
                for (int64_t k = 0; k < LANES; k++)
                    to[c + k] = sum[k];
            }
        }
    }
}

LODCORE_BODY NAME(weigh, _body)(const REAL *restrict x, int64_t width, const int64_t *restrict offsets, int64_t n_seqs,
                              const REAL *restrict filter, int64_t taps, int64_t ahead, REAL *restrict out)
{
    const int64_t n_rows = offsets[n_seqs];
    if (width >= LANES) {
        for (int64_t s = 0; s < n_seqs; s++)
            NAME(weigh_rows, )(x, ahead, width, offsets[s], offsets[s + 1], offsets[s], offsets[s + 1], filter, taps, out);
        return;
    }
    int64_t from = ahead ? 0 : taps - 1, groups = n_rows < taps ? 0 : (n_rows - taps + 1) / LANES;
    int64_t stop = from + groups * LANES;
    NAME(weigh_groups, )(x, ahead ? width : -width, width, from, groups, filter, taps, out);
    for (int64_t s = 0; s < n_seqs; s++) { /* repeat where taps reach over the end of a sequence, and do the rest */
        int64_t begin = offsets[s], end = offsets[s + 1];
        if (ahead) {
            int64_t edge = end - taps + 1 < stop ? end - taps + 1 : stop;
            NAME(weigh_rows, )(x, 1, width, begin, end, edge > begin ? edge : begin, end, filter, taps, out);
        } else {
            int64_t edge = begin + taps - 1 < end ? begin + taps - 1 : end, rest = edge > stop ? edge : stop;
            NAME(weigh_rows, )(x, 0, width, begin, end, begin, edge, filter, taps, out);
            NAME(weigh_rows, )(x, 0, width, begin, end, rest > begin ? rest : begin, end, filter, taps, out);
        }
    }
}
LODCORE_THRICE(NAME(weigh, ),
               (const REAL *x, int64_t width, const int64_t *offsets, int64_t n_seqs, const REAL *filter, int64_t taps,
                int64_t ahead, REAL *out),
               (x, width, offsets, n_seqs, filter, taps, ahead, out))

/* Compute out[j] = sum of x[t + j] * y[t], column by column, in double, over the rows t of all sequences in order. */
LODCORE_BODY NAME(lagged, _body)(const REAL *restrict x, const REAL *restrict y, int64_t width,
                               const int64_t *restrict offsets, int64_t n_seqs, int64_t taps, double *restrict out)
{
    memset(out, 0, (size_t)(taps * width) * sizeof(double));
    if (width == 1) { /* several sums at a time, kept in registers */
        for (int64_t j = 0; j < taps; j += 4) {
            double a = 0, b = 0, c = 0, d = 0;
            int64_t some = taps - j;
            for (int64_t s = 0; s < n_seqs; s++) {
                int64_t end = offsets[s + 1], t = offsets[s];
                for (; t + j + 3 < end; t++) {
                    a += (double)x[t + j] * (double)y[t];
                    b += (double)x[t + j + 1] * (double)y[t];
                    c += (double)x[t + j + 2] * (double)y[t];
                    d += (double)x[t + j + 3] * (double)y[t];
                }
                for (; t + j < end; t++) {
                    a += (double)x[t + j] * (double)y[t];
                    if (t + j + 1 < end)
                        b += (double)x[t + j + 1] * (double)y[t];
                    if (t + j + 2 < end)
                        c += (double)x[t + j + 2] * (double)y[t];
                }
            }
            const double sums[4] = {a, b, c, d};
            memcpy(out + j, sums, (size_t)(some < 4 ? some : 4) * sizeof(double));
        }
        return;
    }
    for (int64_t s = 0; s < n_seqs; s++) {
        for (int64_t t = offsets[s]; t < offsets[s + 1]; t++) {
            int64_t reach = offsets[s + 1] - t < taps ? offsets[s + 1] - t : taps;
            for (int64_t j = 0; j < reach; j++)
                for (int64_t c = 0; c < width; c++)
                    out[j * width + c] += (double)x[(t + j) * width + c] * (double)y[t * width + c];
        }
    }
}
LODCORE_THRICE(NAME(lagged, ),
               (const REAL *x, const REAL *y, int64_t width, const int64_t *offsets, int64_t n_seqs, int64_t taps,
                double *out),
               (x, y, width, offsets, n_seqs, taps, out))

/* Sum the first `before` rows of all sequences, position by position, then the last `after` rows, in double. */
static LODCORE_UNUSED void NAME(edges, )(const REAL *restrict x, int64_t width, const int64_t *restrict offsets,
                                       int64_t n_seqs, int64_t before, int64_t after, double *restrict out)
{
    memset(out, 0, (size_t)((before + after) * width) * sizeof(double));
    for (int64_t s = 0; s < n_seqs; s++) {
        int64_t length = offsets[s + 1] - offsets[s];
        int64_t head = (before < length ? before : length) * width, tail = (after < length ? after : length) * width;
        const REAL *source = x + offsets[s + 1] * width - tail;
        double *to = out + (before + after) * width - tail;
        for (int64_t k = 0; k < head; k++)
            out[k] += (double)x[offsets[s] * width + k];
        for (int64_t k = 0; k < tail; k++)
            to[k] += (double)source[k];
    }
}

#undef REAL
#undef NAME
