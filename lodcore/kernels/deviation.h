/* Squared distances from the mean of each sequence, column by column, in float64. Rows of one cell are added in lanes
 * and block by block, so that a block is in a cache when it is read the second time; the blocks are combined as by
 * Chan, Golub and LeVeque. Every path returns the same bits: cell k of a block is added in lane k modulo LANES. */
#ifndef LODCORE_DEVIATION_H
#define LODCORE_DEVIATION_H

#include "simd.h"
#include <math.h>
#include <stdint.h>

enum { LANES = 32, FEW = 8, BLOCK = 4096 };

LODCORE_INLINE double halve(double *lanes)
{
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++)
            lanes[j] += lanes[j + half];
    return lanes[0];
}

/* The same sum of at most 8 lanes: all others are 0, which adds nothing. */
LODCORE_INLINE double halve_few(const double *lanes)
{
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

#define LODCORE_DEVIATE(REAL)                                                                             \
    LODCORE_INLINE void add_few_##REAL(const REAL *x, int n, double *mean, double *squares)               \
    {                                                                                                     \
        double lanes[FEW] = {0}, rests[FEW] = {0}, middle;                                                \
        for (int j = 0; j < n; j++)                                                                       \
            lanes[j] += (double)x[j];                                                                     \
        middle = halve_few(lanes) / (double)n;                                                            \
        for (int j = 0; j < FEW; j++)                                                                     \
            lanes[j] = 0;                                                                                 \
        for (int j = 0; j < n; j++) {                                                                     \
            double distance = (double)x[j] - middle;                                                      \
            lanes[j] += distance * distance;                                                              \
            rests[j] += distance;                                                                         \
        }                                                                                                 \
        double remainder = halve_few(rests);                                                              \
        *mean = middle;                                                                                   \
        *squares = halve_few(lanes) - remainder * remainder / (double)n;                                  \
    }                                                                                                     \
    /* The rest of a block is read in one piece if that stays among the rows: what does not count adds 0. */\
    LODCORE_INLINE void add_block_##REAL(const REAL *x, int64_t n, int64_t room, double *mean, double *squares)\
    {                                                                                                     \
        double lanes[LANES] = {0}, rests[LANES] = {0}, middle;                                            \
        int64_t k = 0, whole = n / LANES * LANES;                                                         \
        int rest = (int)(n - whole);                                                                      \
        const REAL *last = x + whole;                                                                     \
        for (; k < whole; k += LANES)                                                                     \
            for (int j = 0; j < LANES; j++)                                                               \
                lanes[j] += (double)x[k + j];                                                             \
        if (rest && whole + LANES <= room)                                                                \
            for (int j = 0; j < LANES; j++)                                                               \
                lanes[j] += j < rest ? (double)last[j] : 0;                                               \
        else                                                                                              \
            for (int j = 0; j < rest; j++)                                                                \
                lanes[j] += (double)last[j];                                                              \
        middle = halve(lanes) / (double)n;                                                                \
        for (int j = 0; j < LANES; j++)                                                                   \
            lanes[j] = 0;                                                                                 \
        for (k = 0; k < whole; k += LANES)                                                                \
            for (int j = 0; j < LANES; j++) {                                                             \
                double distance = (double)x[k + j] - middle;                                              \
                lanes[j] += distance * distance;                                                          \
                rests[j] += distance;                                                                     \
            }                                                                                             \
        if (rest && whole + LANES <= room)                                                                \
            for (int j = 0; j < LANES; j++) {                                                             \
                double distance = j < rest ? (double)last[j] - middle : 0;                                \
                lanes[j] += distance * distance;                                                          \
                rests[j] += distance;                                                                     \
            }                                                                                             \
        else                                                                                              \
            for (int j = 0; j < rest; j++) {                                                              \
                double distance = (double)last[j] - middle;                                               \
                lanes[j] += distance * distance;                                                          \
                rests[j] += distance;                                                                     \
            }                                                                                             \
        double remainder = halve(rests);                                                                  \
        *mean = middle;                                                                                   \
        *squares = halve(lanes) - remainder * remainder / (double)n;                                      \
    }                                                                                                     \
    LODCORE_BODY deviate_##REAL##_body(const REAL *x, const int64_t *offsets, int64_t n_seqs,             \
                                       double *means, double *squares)                                    \
    {                                                                                                     \
        for (int64_t s = 0; s < n_seqs; s++) {                                                            \
            double mean = 0, total = 0, part_mean, part;                                                  \
            for (int64_t first = offsets[s]; first < offsets[s + 1]; first += BLOCK) {                    \
                int64_t before = first - offsets[s];                                                      \
                int64_t n = offsets[s + 1] - first < BLOCK ? offsets[s + 1] - first : BLOCK;              \
                if (n <= FEW)                                                                             \
                    add_few_##REAL(x + first, (int)n, &part_mean, &part);                                 \
                else                                                                                      \
                    add_block_##REAL(x + first, n, offsets[n_seqs] - first, &part_mean, &part);           \
                double apart = part_mean - mean, share = (double)n / (double)(before + n);                \
                if (before == 0) {                                                                        \
                    mean = part_mean;                                                                     \
                    total = part;                                                                         \
                } else {                                                                                  \
                    mean += apart * share;                                                                \
                    total += part + apart * apart * ((double)before * share);                             \
                }                                                                                         \
            }                                                                                             \
            means[s] = mean;                                                                              \
            squares[s] = total < 0 ? 0 : total;                                                           \
        }                                                                                                 \
    }                                                                                                     \
    LODCORE_THRICE(deviate_##REAL,                                                                        \
                   (const REAL *x, const int64_t *offsets, int64_t n_seqs, double *means, double *squares),\
                   (x, offsets, n_seqs, means, squares))                                                  \
    LODCORE_BODY deviate_wide_##REAL##_body(const REAL *x, const int64_t *offsets, int64_t n_seqs,        \
                                            int64_t width, double *means, double *squares)                \
    {                                                                                                     \
        for (int64_t s = 0; s < n_seqs; s++, means += width, squares += width) {                          \
            double n = (double)(offsets[s + 1] - offsets[s]);                                             \
            for (int64_t c = 0; c < width; c++)                                                           \
                means[c] = squares[c] = 0;                                                                \
            for (int64_t r = offsets[s]; r < offsets[s + 1]; r++)                                         \
                for (int64_t c = 0; c < width; c++)                                                       \
                    means[c] += (double)x[r * width + c];                                                 \
            for (int64_t c = 0; c < width && n > 0; c++)                                                  \
                means[c] /= n;                                                                            \
            for (int64_t r = offsets[s]; r < offsets[s + 1]; r++)                                         \
                for (int64_t c = 0; c < width; c++) {                                                     \
                    double distance = (double)x[r * width + c] - means[c];                                \
                    squares[c] += distance * distance;                                                    \
                }                                                                                         \
        }                                                                                                 \
    }                                                                                                     \
    LODCORE_THRICE(deviate_wide_##REAL,                                                                   \
                   (const REAL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, double *means,  \
                    double *squares),                                                                     \
                   (x, offsets, n_seqs, width, means, squares))

LODCORE_DEVIATE(float)
LODCORE_DEVIATE(double)

#endif
