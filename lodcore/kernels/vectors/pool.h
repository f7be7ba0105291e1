/* Sums, maxima and minima of the rows of sequences, with vectors; what they leave is in kernels/pooling.pxd.
 *
 * The order of a sum is part of its meaning. Of rows of one cell, 256 bytes form a line: lane k of 64 (float) or 32
 * (double) starts at 0 and adds rows k, k + 64, ...; then lane k adds lane k + 32, then lane k + 16, and so on until
 * one is left. Lanes without a row are 0. Every path follows this order. Since no sum that started at 0 is -0, a path
 * may omit additions of 0 if it adds 0 to the final result. */
#ifndef LODCORE_POOL_H
#define LODCORE_POOL_H

#include "intrinsics.h"
#include "pool_places.h"

#if LODCORE_HAS_SIMD
#include <math.h>

enum { SUM, GREATEST, LEAST };        /* as in kernels/folds.pxd */
enum { BY_ONE, BY_LENGTH, BY_ROOT };
enum { COUNTED = 1 << 24 };           /* rows that are counted exactly in cells */

#define CELL float
#define LANES 64
#define TARGET LODCORE_AVX2
#define VECTOR_BYTES 32
#define PATH(NAME) NAME##_float_avx2
#include "pool_lanes.h"
#undef TARGET
#undef VECTOR_BYTES
#undef PATH
#define TARGET LODCORE_AVX512
#define VECTOR_BYTES 64
#define PATH(NAME) NAME##_float_avx512
#include "pool_lanes.h"
#undef CELL
#undef LANES
#undef TARGET
#undef VECTOR_BYTES
#undef PATH

#define CELL double
#define LANES 32
#define TARGET LODCORE_AVX2
#define VECTOR_BYTES 32
#define PATH(NAME) NAME##_double_avx2
#include "pool_lanes.h"
#undef TARGET
#undef VECTOR_BYTES
#undef PATH
#define TARGET LODCORE_AVX512
#define VECTOR_BYTES 64
#define PATH(NAME) NAME##_double_avx512
#include "pool_lanes.h"
#undef CELL
#undef LANES
#undef TARGET
#undef VECTOR_BYTES
#undef PATH

#define LODCORE_POOL(CELL)                                                                                            \
    /* Pool with vectors where they pay, and return whether they do. */                                               \
    static int pool_vectors_##CELL(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, int verb,    \
                                   int divide, CELL *out)                                                             \
    {                                                                                                                 \
        if (simd_level() == SIMD_AVX512 && pool_##CELL##_avx512(x, offsets, n_seqs, width, verb, divide, out))        \
            return 1;                                                                                                 \
        return has_wide() && pool_##CELL##_avx2(x, offsets, n_seqs, width, verb, divide, out);                        \
    }                                                                                                                 \
                                                                                                                      \
    /* Find the places of maxima or minima with vectors where they pay, and return whether they do. */                 \
    static int find_vectors_##CELL(const CELL *x, const int64_t *offsets, int64_t n_seqs, int64_t width, int verb,    \
                                   CELL *out, int64_t *index)                                                         \
    {                                                                                                                 \
        if (simd_level() == SIMD_AVX512 && find_##CELL##_avx512(x, offsets, n_seqs, width, verb, out, index))         \
            return 1;                                                                                                 \
        return has_wide() && find_##CELL##_avx2(x, offsets, n_seqs, width, verb, out, index);                         \
    }

LODCORE_POOL(float)
LODCORE_POOL(double)

/* For both types of cells: that of the result. */
#define pool_vectors(x, offsets, n_seqs, width, verb, divide, out) \
    _Generic((out), float *: pool_vectors_float, double *: pool_vectors_double)(x, offsets, n_seqs, width, verb, divide, out)
#define find_vectors(x, offsets, n_seqs, width, verb, out, index) \
    _Generic((out), float *: find_vectors_float, double *: find_vectors_double)(x, offsets, n_seqs, width, verb, out, index)
#else
#define pool_vectors(...) 0
#define find_vectors(...) 0
#endif
#endif
