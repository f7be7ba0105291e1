/* Softmax in plain C; softmax.h includes this once per type of cells. CELL is the type, OF_CELL(NAME) names functions,
 * including exp, and SUM_LANES is the number of lanes of a sum.
 *
 * A block is a set of cells that are added side by side. For rows of one cell, it is a sequence in lines of SUM_LANES
 * rows, of which the last may be shorter; finally all lanes are reduced to one. A short sequence is one line, with
 * the least power of two of lanes that holds it: further lanes would be 0. For wider rows, a block is some columns of
 * a sequence. */

typedef struct {
    int64_t stop, stride, columns; /* lines start at 0, stride, 2 * stride, ... below stop, and have `columns` cells */
    int one_cell;
} OF_CELL(Block);

#define LEFT(at) (block.stop - (at) < block.columns ? block.stop - (at) : block.columns)
#define EACH_CELL                                                                                        \
    for (int64_t at = 0, left = LEFT(0); at < block.stop; at += block.stride, left = LEFT(at))           \
        for (int64_t k = 0; k < left; k++)

/* Return a cell, with the same bits for every nan, whichever operation produced it. */
LODCORE_INLINE CELL OF_CELL(one_nan)(CELL x)
{
    return x == x ? x : (CELL)NAN;
}

/* Reduce the lanes of one sum: add lane k and lane k + half until one is left, and broadcast it. */
LODCORE_INLINE void OF_CELL(add_lanes)(CELL *lane, int64_t lanes)
{
    for (int64_t half = lanes / 2; half > 0; half /= 2)
        for (int64_t k = 0; k < half; k++)
            lane[k] += lane[k + half];
    for (int64_t k = 1; k < lanes; k++)
        lane[k] = lane[0];
}

LODCORE_INLINE void OF_CELL(greatest_of_lanes)(CELL *lane, int64_t lanes)
{
    for (int64_t k = 1; k < lanes; k++)
        lane[0] = lane[k] > lane[0] ? lane[k] : lane[0];
    for (int64_t k = 1; k < lanes; k++)
        lane[k] = lane[0];
}

/* Compute exp(x - most), write it to `out` unless that is NULL, and sum it. */
LODCORE_INLINE void OF_CELL(exp_block)(const CELL *restrict x, OF_CELL(Block) block, CELL *restrict out, CELL *restrict most,
                                     CELL *restrict sum)
{
    for (int64_t k = 0; k < block.columns; k++) {
        most[k] = -INFINITY;
        sum[k] = 0;
    }
    EACH_CELL
        most[k] = x[at + k] > most[k] ? x[at + k] : most[k];
    if (block.one_cell)
        OF_CELL(greatest_of_lanes)(most, block.columns);
    if (out != NULL) {
        EACH_CELL
            sum[k] += out[at + k] = OF_CELL(exp)(x[at + k] - most[k]);
    } else {
        EACH_CELL
            sum[k] += OF_CELL(exp)(x[at + k] - most[k]);
    }
    if (block.one_cell)
        OF_CELL(add_lanes)(sum, block.columns);
}

LODCORE_INLINE void OF_CELL(softmax_block)(const CELL *restrict x, OF_CELL(Block) block, const CELL *weights,
                                         CELL *restrict out)
{
    CELL least[SUM_LANES], by[SUM_LANES];
    OF_CELL(exp_block)(x, block, out, least, by);
    for (int64_t k = 0; k < block.columns; k++) {
        least[k] = by[k] * LEAST_NORMAL;
        by[k] = (weights == NULL ? 1 : weights[block.one_cell ? 0 : k]) / by[k];
    }
    EACH_CELL
        out[at + k] = OF_CELL(one_nan)((out[at + k] < least[k] ? 0 : out[at + k]) * by[k]);
}

/* Return the logarithm of a sum of exp(x - most) plus most. Only infinities and nan make the sum nan. */
LODCORE_INLINE CELL OF_CELL(log_of_sum)(CELL most, CELL sum, const CELL *x, int64_t length, int64_t width)
{
    if (length == 0)
        return -INFINITY;
    if (sum == sum)
        return (CELL)((double)most + log((double)sum));
    for (most = -INFINITY; length > 0; length--, x += width) {
        if (*x != *x)
            return (CELL)NAN;
        most = *x > most ? *x : most;
    }
    return most;
}

LODCORE_INLINE void OF_CELL(log_sum_block)(const CELL *restrict x, OF_CELL(Block) block, int64_t length, CELL *restrict out)
{
    CELL most[SUM_LANES], sum[SUM_LANES];
    OF_CELL(exp_block)(x, block, NULL, most, sum);
    for (int64_t k = 0; k < (block.one_cell ? 1 : block.columns); k++)
        out[k] = OF_CELL(log_of_sum)(most[k], sum[k], x + k, length, block.one_cell ? 1 : block.stride);
}

/* Compute y * (d - sum of y * d). */
LODCORE_INLINE void OF_CELL(pull_block)(const CELL *restrict y, const CELL *restrict d, OF_CELL(Block) block,
                                      CELL *restrict out)
{
    CELL sum[SUM_LANES];
    for (int64_t k = 0; k < block.columns; k++)
        sum[k] = 0;
    EACH_CELL
        sum[k] += y[at + k] * d[at + k];
    if (block.one_cell)
        OF_CELL(add_lanes)(sum, block.columns);
    EACH_CELL
        out[at + k] = OF_CELL(one_nan)(y[at + k] * (d[at + k] - sum[k]));
}

#undef LEFT
#undef EACH_CELL

/* -- all sequences, and all columns of each
 * ----------------------------------------------------------------------------- */

#define EACH_BLOCK                                                                                       \
    for (int64_t s = 0; s < n_seqs; s++)                                                                 \
        for (int64_t c = 0, first = offsets[s] * width, length = offsets[s + 1] - offsets[s]; c < width; c += SUM_LANES)
#define BLOCK OF_CELL(block_of)(length, width, c)

LODCORE_INLINE OF_CELL(Block) OF_CELL(block_of)(int64_t length, int64_t width, int64_t column)
{
    int64_t left = width - column, lanes = 1;
    if (width > 1)
        return (OF_CELL(Block)){length * width - column, width, left < SUM_LANES ? left : SUM_LANES, 0};
    while (lanes < length && lanes < SUM_LANES)
        lanes *= 2;
    return (OF_CELL(Block)){length, lanes, lanes, 1};
}

static void OF_CELL(softmax_plain)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width,
                                 const CELL *weights, CELL *out)
{
    EACH_BLOCK
        OF_CELL(softmax_block)(x + first + c, BLOCK, weights == NULL ? NULL : weights + s * width + c, out + first + c);
}

static void OF_CELL(log_sum_plain)(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, CELL *out)
{
    EACH_BLOCK
        OF_CELL(log_sum_block)(x + first + c, BLOCK, length, out + s * width + c);
}

static void OF_CELL(pull_plain)(const CELL *y, const CELL *d, const int64_t *offsets, int64_t n_seqs, int64_t width,
                              CELL *out)
{
    EACH_BLOCK
        OF_CELL(pull_block)(y + first + c, d + first + c, BLOCK, out + first + c);
}

#undef EACH_BLOCK
#undef BLOCK
