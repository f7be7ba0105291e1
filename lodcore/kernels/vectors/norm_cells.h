/* Layer norm for one type of cells; norm.h includes this once per type. */

#include "lane_sums.h"

/* Loop over the columns of a row, 16 at a time and then the rest; loops of known length become one vector, or a few.
 * */
#define EACH_PART(PART, ...)                             \
    do {                                                 \
        int64_t c = 0;                                   \
        for (; c + NORM_LANES <= width; c += NORM_LANES) \
            PART(c, NORM_LANES, __VA_ARGS__);            \
        if (c < width)                                   \
            PART(c, (int)(width - c), __VA_ARGS__);      \
    } while (0)

LODCORE_BODY OF_CELL(add_part)(int64_t c, const int count, const CELL *restrict row, CELL *restrict lane)
{
    for (int k = 0; k < count; k++)
        lane[k] += row[c + k];
}

LODCORE_BODY OF_CELL(square_part)(int64_t c, const int count, const CELL *restrict row, CELL mean, CELL *restrict lane)
{
    for (int k = 0; k < count; k++)
        lane[k] += (row[c + k] - mean) * (row[c + k] - mean);
}

LODCORE_BODY OF_CELL(write_part)(int64_t c, const int count, const CELL *restrict row, CELL mean, CELL factor,
                               const CELL *restrict scale, const CELL *restrict shift, CELL *restrict out)
{
    for (int k = 0; k < count; k++)
        out[c + k] = OF_CELL(one_nan)((row[c + k] - mean) * factor * scale[c + k] + shift[c + k]);
}

LODCORE_BODY BODY_OF_CELL(normalize)(const CELL *x, int64_t n_rows, int64_t width, const CELL *scale, const CELL *shift,
                                     CELL eps, CELL *out, CELL *means, CELL *factors)
{
    for (int64_t r = 0; r < n_rows; r++) {
        const CELL *row = x + r * width;
        CELL lane[NORM_LANES] = {0}, square[NORM_LANES] = {0};
        EACH_PART(OF_CELL(add_part), row, lane);
        CELL mean = OF_CELL(folded)(lane) / (CELL)width;
        EACH_PART(OF_CELL(square_part), row, mean, square);
        CELL factor = 1 / ROOT(OF_CELL(folded)(square) / (CELL)width + eps);
        EACH_PART(OF_CELL(write_part), row, mean, factor, scale, shift, out + r * width);
        means[r] = OF_CELL(one_nan)(mean);
        factors[r] = OF_CELL(one_nan)(factor);
    }
}
LODCORE_THRICE(OF_CELL(normalize),
               (const CELL *x, int64_t n_rows, int64_t width, const CELL *scale, const CELL *shift, CELL eps, CELL *out,
                CELL *means, CELL *factors),
               (x, n_rows, width, scale, shift, eps, out, means, factors))

/* Compute two sums of a row: of the cotangent of the normalized row, and of its products with the normalized row. */
LODCORE_BODY OF_CELL(derivative_part)(int64_t c, const int count, const CELL *restrict row, const CELL *restrict d,
                               const CELL *restrict scale, CELL mean, CELL factor, CELL *restrict sum,
                               CELL *restrict along)
{
    for (int k = 0; k < count; k++) {
        CELL g = d[c + k] * scale[c + k];
        sum[k] += g;
        along[k] += g * ((row[c + k] - mean) * factor);
    }
}

LODCORE_BODY OF_CELL(back_part)(int64_t c, const int count, const CELL *restrict row, const CELL *restrict d,
                              const CELL *restrict scale, CELL mean, CELL factor, CELL least, CELL derivative,
                              CELL *restrict d_x, CELL *restrict d_scale, CELL *restrict d_shift)
{
    for (int k = 0; k < count; k++) {
        CELL y = (row[c + k] - mean) * factor;
        d_x[c + k] = OF_CELL(one_nan)(factor * (d[c + k] * scale[c + k] - least - y * derivative));
        d_scale[c + k] = OF_CELL(one_nan)(d_scale[c + k] + d[c + k] * y);
        d_shift[c + k] = OF_CELL(one_nan)(d_shift[c + k] + d[c + k]);
    }
}

/* Compute the sums for scale and shift, one row of them per block of rows. */
LODCORE_BODY BODY_OF_CELL(normalize_back)(const CELL *d, const CELL *x, int64_t n_rows, int64_t width,
                                          const CELL *scale, const CELL *means, const CELL *factors, CELL *d_x,
                                          CELL *d_scale, CELL *d_shift)
{
    for (int64_t r = 0; r < n_rows; r++) {
        const CELL *row = x + r * width, *given = d + r * width;
        CELL *of_scale = d_scale + r / NORM_BLOCK * width, *of_shift = d_shift + r / NORM_BLOCK * width;
        CELL mean = means[r], factor = factors[r], sum[NORM_LANES] = {0}, along[NORM_LANES] = {0};
        if (r % NORM_BLOCK == 0)
            for (int64_t c = 0; c < width; c++)
                of_scale[c] = of_shift[c] = 0;
        EACH_PART(OF_CELL(derivative_part), row, given, scale, mean, factor, sum, along);
        CELL least = OF_CELL(folded)(sum) / (CELL)width, derivative = OF_CELL(folded)(along) / (CELL)width;
        EACH_PART(OF_CELL(back_part), row, given, scale, mean, factor, least, derivative, d_x + r * width, of_scale, of_shift);
    }
}
LODCORE_THRICE(OF_CELL(normalize_back),
               (const CELL *d, const CELL *x, int64_t n_rows, int64_t width, const CELL *scale, const CELL *means,
                const CELL *factors, CELL *d_x, CELL *d_scale, CELL *d_shift),
               (d, x, n_rows, width, scale, means, factors, d_x, d_scale, d_shift))

#undef EACH_PART
