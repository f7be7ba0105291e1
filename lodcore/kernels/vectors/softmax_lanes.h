/* Softmax with vectors; softmax.h includes this once per type of cells and instruction set. CELL is the type, a vector
 * has LANES cells, and SUM_LANES is the number of lanes of a sum; OF(NAME) names functions of the set, including those
 * of lanes.h. */

#define GROUP (SUM_LANES / LANES)

/* Reduce the vectors of a sum: add lane k and lane k + half of them until one vector is left, and reduce that. */
TARGET LODCORE_INLINE CELL OF(total_of)(OF(vector) *v, int count)
{
    for (int half = GROUP / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++)
            if (k + half < count)
                v[k] += v[k + half];
    return OF(add_lanes)(v[0]);
}

/* Return x * y, or 0 * y where x is below the least. */
TARGET LODCORE_INLINE OF(vector) OF(times)(OF(vector) x, OF(vector) least, OF(vector) y)
{
    return OF(one_nan)(OF(not_below)(x, least) * y);
}

/* -- rows of one cell: a mask selects the rest of a sequence after whole vectors
 * -------------------------------------- */

/* Compute exp(x - most) of a sequence of 1 to 4 vectors, which stay in registers, and their sum. */
TARGET LODCORE_INLINE CELL OF(few_vectors)(const CELL *x, int64_t length, int count, OF(vector) *v, OF(vector) *most)
{
    for (int j = 0; j < count - 1; j++)
        v[j] = OF(load)(x + j * LANES);
    v[count - 1] = OF(load_or)(OF(all)(-INFINITY), OF(first)(length - (count - 1) * LANES), x + (count - 1) * LANES);
    OF(vector) top = v[0], sums[FEW];
    for (int j = 1; j < count; j++)
        top = OF(max)(top, v[j]);
    *most = top = OF(greatest_lane)(top);
    for (int j = 0; j < count; j++)
        sums[j] = v[j] = OF(exp)(v[j] - top);
    return OF(total_of)(sums, count);
}

TARGET LODCORE_INLINE void OF(softmax_few)(const CELL *x, int64_t length, int count, CELL weight, CELL *out)
{
    OF(vector) v[FEW], most;
    CELL sum = OF(few_vectors)(x, length, count, v, &most);
    OF(vector) by = OF(all)(weight / sum), least = OF(all)(sum * LEAST_NORMAL);
    for (int j = 0; j < count - 1; j++)
        OF(store)(out + j * LANES, OF(times)(v[j], least, by));
    OF(store_some)(out + (count - 1) * LANES, OF(first)(length - (count - 1) * LANES), OF(times)(v[count - 1], least, by));
}

/* Compute exp(x - most) of a longer sequence, write it to `out` unless that is NULL, and sum it. */
TARGET LODCORE_INLINE CELL OF(many_vectors)(const CELL *x, int64_t length, CELL *out, OF(vector) *most)
{
    int64_t whole = length - length % SUM_LANES, r = 0;
    OF(vector) v[GROUP], sums[GROUP], least = OF(all)(-INFINITY);
    for (int j = 0; j < GROUP; j++)
        v[j] = least;
    for (; r < whole; r += SUM_LANES)
        for (int j = 0; j < GROUP; j++)
            v[j] = OF(max)(v[j], OF(load)(x + r + j * LANES));
    for (; r < length; r += LANES)
        v[0] = OF(max)(v[0], OF(load_or)(least, OF(first)(length - r), x + r));
    for (int j = 1; j < GROUP; j++)
        v[0] = OF(max)(v[0], v[j]);
    OF(vector) top = *most = OF(greatest_lane)(v[0]);
    for (int j = 0; j < GROUP; j++)
        sums[j] = OF(all)(0);
    for (r = 0; r < whole; r += SUM_LANES)
        for (int j = 0; j < GROUP; j++) {
            OF(vector) e = OF(exp)(OF(load)(x + r + j * LANES) - top);
            sums[j] += e;
            if (out != NULL)
                OF(store)(out + r + j * LANES, e);
        }
    for (int j = 0; j < GROUP && r < length; j++, r += LANES) {
        OF(mask) some = OF(first)(length - r);
        OF(vector) e = OF(exp)(OF(load_or)(least, some, x + r) - top);
        sums[j] += e;
        if (out != NULL)
            OF(store_some)(out + r, some, e);
    }
    return OF(total_of)(sums, GROUP);
}

TARGET LODCORE_INLINE void OF(softmax_many)(const CELL *x, int64_t length, CELL weight, CELL *out)
{
    OF(vector) most;
    CELL sum = OF(many_vectors)(x, length, out, &most);
    OF(vector) by = OF(all)(weight / sum), least = OF(all)(sum * LEAST_NORMAL);
    int64_t r;
    for (r = 0; r + LANES <= length; r += LANES)
        OF(store)(out + r, OF(times)(OF(load)(out + r), least, by));
    if (r < length) {
        OF(mask) some = OF(first)(length - r);
        OF(store_some)(out + r, some, OF(times)(OF(load_some)(some, out + r), least, by));
    }
}

/* A function of its own, so that it has all registers: inside of the next one it took 1.17 times as long. */
TARGET LODCORE_APART void OF(softmax_cells)(const CELL *x, const int64_t *offsets, int64_t n_seqs, const CELL *weights,
                                             CELL *out)
{
    for (int64_t s = 0; s < n_seqs; s++) {
        const CELL *from = x + offsets[s];
        CELL *to = out + offsets[s], weight = weights == NULL ? 1 : weights[s];
        int64_t length = offsets[s + 1] - offsets[s];
        if (length == 1) {
            *to = *from - *from == 0 && weight == weight ? weight : (CELL)NAN;
            continue;
        }
        switch ((length + LANES - 1) / LANES) { /* constants let the compiler unroll loops over vectors */
        case 0: break;
        case 1: OF(softmax_few)(from, length, 1, weight, to); break;
        case 2: OF(softmax_few)(from, length, 2, weight, to); break;
        case 3: OF(softmax_few)(from, length, 3, weight, to); break;
        case 4: OF(softmax_few)(from, length, 4, weight, to); break;
        default: OF(softmax_many)(from, length, weight, to);
        }
    }
}

TARGET LODCORE_INLINE void OF(log_sum_cells)(const CELL *x, const int64_t *offsets, int64_t n_seqs, CELL *out)
{
    for (int64_t s = 0; s < n_seqs; s++) {
        const CELL *from = x + offsets[s];
        int64_t length = offsets[s + 1] - offsets[s];
        OF(vector) v[FEW], most = OF(all)(-INFINITY);
        CELL sum;
        if (length == 1 && *from - *from == 0) {
            out[s] = *from + (CELL)0; /* not -0 */
            continue;
        }
        switch ((length + LANES - 1) / LANES) {
        case 0: sum = 0; break;
        case 1: sum = OF(few_vectors)(from, length, 1, v, &most); break;
        case 2: sum = OF(few_vectors)(from, length, 2, v, &most); break;
        case 3: sum = OF(few_vectors)(from, length, 3, v, &most); break;
        case 4: sum = OF(few_vectors)(from, length, 4, v, &most); break;
        default: sum = OF(many_vectors)(from, length, NULL, &most);
        }
        out[s] = OF_CELL(log_of_sum)(OF(first_lane)(most), sum, from, length, 1);
    }
}

/* Compute y * (d - sum of y * d). */
TARGET LODCORE_INLINE void OF(pull_cells)(const CELL *y, const CELL *d, const int64_t *offsets, int64_t n_seqs, CELL *out)
{
    for (int64_t s = 0; s < n_seqs; s++) {
        int64_t start = offsets[s], stop = offsets[s + 1], whole = stop - (stop - start) % SUM_LANES, r;
        if (stop - start == 1) {
            CELL sum = 0;
            sum += y[start] * d[start];
            sum = y[start] * (d[start] - sum);
            out[start] = sum == sum ? sum : (CELL)NAN;
            continue;
        }
        OF(vector) sums[GROUP];
        for (int j = 0; j < GROUP; j++)
            sums[j] = OF(all)(0);
        for (r = start; r < whole; r += SUM_LANES)
            for (int j = 0; j < GROUP; j++)
                sums[j] += OF(load)(y + r + j * LANES) * OF(load)(d + r + j * LANES);
        for (int j = 0; j < GROUP && r < stop; j++, r += LANES) {
            OF(mask) some = OF(first)(stop - r);
            sums[j] += OF(load_some)(some, y + r) * OF(load_some)(some, d + r);
        }
        OF(vector) total = OF(all)(OF(total_of)(sums, GROUP));
        for (r = start; r + LANES <= stop; r += LANES)
            OF(store)(out + r, OF(one_nan)(OF(load)(y + r) * (OF(load)(d + r) - total)));
        if (r < stop) {
            OF(mask) some = OF(first)(stop - r);
            OF(store_some)(out + r, some, OF(one_nan)(OF(load_some)(some, y + r) * (OF(load_some)(some, d + r) - total)));
        }
    }
}

/* -- rows of several cells: `count` vectors of columns side by side; the last has `some` lanes unless it is `full`
 * ------- */

#define COLUMNS(j, place) (j < count - !full ? OF(load)((place) + j * LANES) : OF(load_some)(some, (place) + j * LANES))
#define SET_COLUMNS(j, place, vector)                                                                    \
    if (j < count - !full)                                                                               \
        OF(store)((place) + j * LANES, vector);                                                         \
    else                                                                                                 \
        OF(store_some)((place) + j * LANES, some, vector)

/* Compute exp(x - most) of the columns of a sequence, write it to `out` unless that is NULL, and sum it. */
TARGET LODCORE_INLINE void OF(exp_columns)(const CELL *x, int64_t length, int64_t width, int count, int full, OF(mask) some,
                                           CELL *out, OF(vector) *most, OF(vector) *sums)
{
    for (int j = 0; j < count; j++) {
        most[j] = OF(all)(-INFINITY);
        sums[j] = OF(all)(0);
    }
    for (int64_t r = 0; r < length; r++)
        for (int j = 0; j < count; j++)
            most[j] = OF(max)(most[j], COLUMNS(j, x + r * width));
    for (int64_t r = 0; r < length; r++)
        for (int j = 0; j < count; j++) {
            OF(vector) e = OF(exp)(COLUMNS(j, x + r * width) - most[j]);
            sums[j] += e;
            if (out != NULL) {
                SET_COLUMNS(j, out + r * width, e);
            }
        }
}

TARGET LODCORE_INLINE void OF(softmax_columns)(const CELL *x, int64_t length, int64_t width, int count, int full,
                                               OF(mask) some, const CELL *weights, CELL *out)
{
    OF(vector) least[FEW], by[FEW];
    OF(exp_columns)(x, length, width, count, full, some, out, least, by);
    for (int j = 0; j < count; j++) {
        least[j] = by[j] * OF(all)(LEAST_NORMAL);
        by[j] = (weights == NULL ? OF(all)(1) : COLUMNS(j, weights)) / by[j];
    }
    for (int64_t r = 0; r < length; r++)
        for (int j = 0; j < count; j++)
            SET_COLUMNS(j, out + r * width, OF(times)(COLUMNS(j, out + r * width), least[j], by[j]));
}

TARGET LODCORE_INLINE void OF(log_sum_columns)(const CELL *x, int64_t length, int64_t width, int count, int full,
                                               OF(mask) some, int64_t columns, CELL *out)
{
    OF(vector) most[FEW], sums[FEW];
    CELL tops[FEW * LANES], totals[FEW * LANES];
    OF(exp_columns)(x, length, width, count, full, some, NULL, most, sums);
    for (int j = 0; j < count; j++) {
        OF(store)(tops + j * LANES, most[j]);
        OF(store)(totals + j * LANES, sums[j]);
    }
    for (int64_t c = 0; c < columns; c++)
        out[c] = OF_CELL(log_of_sum)(tops[c], totals[c], x + c, length, width);
}

TARGET LODCORE_INLINE void OF(pull_columns)(const CELL *y, const CELL *d, int64_t length, int64_t width, int count,
                                            int full, OF(mask) some, CELL *out)
{
    OF(vector) sums[FEW];
    for (int j = 0; j < count; j++)
        sums[j] = OF(all)(0);
    for (int64_t r = 0; r < length; r++)
        for (int j = 0; j < count; j++)
            sums[j] += COLUMNS(j, y + r * width) * COLUMNS(j, d + r * width);
    for (int64_t r = 0; r < length; r++)
        for (int j = 0; j < count; j++) {
            OF(vector) derivative = COLUMNS(j, y + r * width) * (COLUMNS(j, d + r * width) - sums[j]);
            SET_COLUMNS(j, out + r * width, OF(one_nan)(derivative));
        }
}

#include "softmax_narrow.h"

/* Loop over all sequences and all columns of each, as many side by side as there are. */
#define EACH_BLOCK(BLOCK)                                                                                \
    for (int64_t s = 0; s < n_seqs; s++) {                                                               \
        int64_t first = offsets[s] * width, length = offsets[s + 1] - offsets[s];                        \
        int64_t c = 0;                                                                                   \
        for (; c + FEW * LANES <= width; c += FEW * LANES)                                       \
            BLOCK(FEW, 1, OF(first)(LANES), FEW * LANES);                                            \
        if (c + 2 * LANES <= width) {                                                                    \
            BLOCK(2, 1, OF(first)(LANES), 2 * LANES);                                                \
            c += 2 * LANES;                                                                              \
        }                                                                                                \
        if (c + LANES <= width) { /* stores of some lanes take ten times as long */                  \
            BLOCK(1, 1, OF(first)(LANES), LANES);                                                    \
            c += LANES;                                                                                  \
        }                                                                                                \
        if (c < width)                                                                                   \
            BLOCK(1, 0, OF(first)(width - c), width - c);                                                \
    }

static TARGET void OF(softmax_rows)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width,
                                    const CELL *weights, CELL *out)
{
    if (width == 1) {
        OF(softmax_cells)(x, offsets, n_seqs, weights, out);
        return;
    }
    if (width < LANES) {
        OF(orders) orders;
        OF(orders_of)(width, &orders);
        for (int64_t s = 0; s < n_seqs; s++) {
            int64_t first = offsets[s] * width, length = offsets[s + 1] - offsets[s];
            if (length > 0)
                OF(softmax_narrow)(x + first, length, width, &orders, weights == NULL ? NULL : weights + s * width, out + first);
        }
        return;
    }
#define BLOCK(count, full, some, columns)                                                                \
    OF(softmax_columns)(x + first + c, length, width, count, full, some,                                 \
                        weights == NULL ? NULL : weights + s * width + c, out + first + c)
    EACH_BLOCK(BLOCK)
#undef BLOCK
}

static TARGET void OF(log_sum_rows)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, CELL *out)
{
    if (width == 1) {
        OF(log_sum_cells)(x, offsets, n_seqs, out);
        return;
    }
    if (width < LANES) {
        OF(orders) orders;
        OF(orders_of)(width, &orders);
        for (int64_t s = 0; s < n_seqs; s++)
            OF(log_sum_narrow)(x + offsets[s] * width, offsets[s + 1] - offsets[s], width, &orders, out + s * width);
        return;
    }
#define BLOCK(count, full, some, columns) \
    OF(log_sum_columns)(x + first + c, length, width, count, full, some, columns, out + s * width + c)
    EACH_BLOCK(BLOCK)
#undef BLOCK
}

static TARGET void OF(pull_rows)(const CELL *y, const CELL *d, const int64_t *offsets, int64_t n_seqs, int64_t width,
                                 CELL *out)
{
    if (width == 1) {
        OF(pull_cells)(y, d, offsets, n_seqs, out);
        return;
    }
    if (2 * width <= LANES) {
        OF(orders) orders;
        OF(orders_of)(width, &orders);
        for (int64_t s = 0; s < n_seqs; s++) {
            int64_t first = offsets[s] * width, length = offsets[s + 1] - offsets[s];
            if (length > 0)
                OF(pull_narrow)(y + first, d + first, length, width, &orders, out + first);
        }
        return;
    }
#define BLOCK(count, full, some, columns) \
    OF(pull_columns)(y + first + c, d + first + c, length, width, count, full, some, out + first + c)
    EACH_BLOCK(BLOCK)
#undef BLOCK
}

#undef COLUMNS
#undef SET_COLUMNS
#undef EACH_BLOCK
#undef GROUP
