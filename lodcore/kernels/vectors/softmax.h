/* Softmax within sequences, logarithms of sums of exponentials, and the gradient of softmax.
 *
 * The order of a sum is part of its meaning, see pool.pyx: rows of several cells are added one after another to 0. Of
 * rows of one cell, 256 bytes form a line: lane k of 64 (float) or 32 (double) starts at 0 and adds rows k, k + 64,
 * ...; then lane k adds lane k + 32, then lane k + 16, and so on until one is left. Every path follows this order,
 * and produces the same nan.
 *
 * Results that would be subnormal, of exp(x - max) or of its quotient by the sum, are 0, since subnormal numbers are
 * slow. */
#ifndef LODCORE_SOFTMAX_H
#define LODCORE_SOFTMAX_H

#include "exponential.h"
#include "lanes.h"
#include <float.h>

enum { FEW = 4 };   /* vectors that stay in registers */
enum { KEPT = 32 }; /* vectors that stay beside the results */

/* Return the logarithm of a sum of exp(x - most) plus most. Only infinities and nan make the sum nan. */
#define LODCORE_LOG_OF_SUM(CELL)                                                                                     \
    LODCORE_INLINE CELL log_of_sum_##CELL(CELL most, CELL sum, const CELL *x, int64_t length, int64_t width)         \
    {                                                                                                                \
        if (length == 0)                                                                                             \
            return -INFINITY;                                                                                        \
        if (sum == sum)                                                                                              \
            return (CELL)((double)most + log((double)sum));                                                          \
        for (most = -INFINITY; length > 0; length--, x += width) {                                                   \
            if (*x != *x)                                                                                            \
                return (CELL)NAN;                                                                                    \
            most = *x > most ? *x : most;                                                                            \
        }                                                                                                            \
        return most;                                                                                                 \
    }
LODCORE_LOG_OF_SUM(float)
LODCORE_LOG_OF_SUM(double)

#if LODCORE_HAS_SIMD
#define CELL float
#define LEAST_NORMAL FLT_MIN
#define OF_CELL(NAME) NAME##_float
#define SUM_LANES 64
#define TARGET LODCORE_AVX2
#define OF FLOAT_256
#define LANES 8
#include "softmax_lanes.h"
#undef TARGET
#undef OF
#undef LANES
#define TARGET LODCORE_AVX512
#define OF FLOAT_512
#define LANES 16
#include "softmax_lanes.h"
#undef TARGET
#undef OF
#undef LANES
#undef CELL
#undef LEAST_NORMAL
#undef OF_CELL
#undef SUM_LANES

#define CELL double
#define LEAST_NORMAL DBL_MIN
#define OF_CELL(NAME) NAME##_double
#define SUM_LANES 32
#define TARGET LODCORE_AVX2
#define OF DOUBLE_256
#define LANES 4
#include "softmax_lanes.h"
#undef TARGET
#undef OF
#undef LANES
#define TARGET LODCORE_AVX512
#define OF DOUBLE_512
#define LANES 8
#include "softmax_lanes.h"
#undef TARGET
#undef OF
#undef LANES
#undef CELL
#undef LEAST_NORMAL
#undef OF_CELL
#undef SUM_LANES

/* Compute with the widest vectors, and return whether there are any. */
#define LODCORE_BEST_PATH(NAME, CELL, PARAMETERS, ARGUMENTS)      \
    static int NAME##_vectors_##CELL PARAMETERS                   \
    {                                                             \
        if (simd_level() == SIMD_AVX512)                          \
            NAME##_rows_##CELL##_avx512 ARGUMENTS;                \
        else if (simd_level() == SIMD_AVX2)                       \
            NAME##_rows_##CELL##_avx2 ARGUMENTS;                  \
        return simd_level() != SIMD_NONE;                         \
    }

#define LODCORE_SOFTMAX(CELL)                                                                                       \
    LODCORE_BEST_PATH(softmax, CELL,                                                                                \
                      (const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, const CELL *weights,   \
                       CELL *out),                                                                                  \
                      (x, offsets, n_seqs, width, weights, out))                                                    \
    LODCORE_BEST_PATH(log_sum, CELL,                                                                                \
                      (const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, CELL *out),            \
                      (x, offsets, n_seqs, width, out))                                                             \
    LODCORE_BEST_PATH(pull, CELL,                                                                                   \
                      (const CELL *y, const CELL *d, const int64_t *offsets, int64_t n_seqs, int64_t width,         \
                       CELL *out),                                                                                  \
                      (y, d, offsets, n_seqs, width, out))

LODCORE_SOFTMAX(float)
LODCORE_SOFTMAX(double)

/* For both types of cells: that of the result. */
#define softmax_vectors(x, offsets, n_seqs, width, weights, out)                                                   \
    _Generic((out), float *: softmax_vectors_float, double *: softmax_vectors_double)(x, offsets, n_seqs, width, weights, out)
#define log_sum_vectors(x, offsets, n_seqs, width, out) \
    _Generic((out), float *: log_sum_vectors_float, double *: log_sum_vectors_double)(x, offsets, n_seqs, width, out)
#define pull_vectors(y, d, offsets, n_seqs, width, out) \
    _Generic((out), float *: pull_vectors_float, double *: pull_vectors_double)(y, d, offsets, n_seqs, width, out)
#else
#define softmax_vectors(...) 0
#define log_sum_vectors(...) 0
#define pull_vectors(...) 0
#endif

#endif
