/* Sums, maxima and minima of the rows of sequences, with vectors; what they leave is in kernels/pooling.pxd.
 *
 * The order of a sum is part of its meaning. Of rows of one cell, 256 bytes form a line: lane k of 64 (float) or 32
 * (double) starts at 0 and adds rows k, k + 64, ...; then lane k adds lane k + 32, then lane k + 16, and so on until
 * one is left. Lanes without a row are 0. Every path follows this order. Since no sum that started at 0 is -0, a path
 * may omit additions of 0 if it adds 0 to the final result. */
#ifndef LODCORE_POOL_H
#define LODCORE_POOL_H

#include "intrinsics.h"

#if LODCORE_HAS_SIMD
#include <math.h>

enum { SUM, GREATEST, LEAST };        /* as in kernels/folds.pxd */
enum { BY_ONE, BY_LENGTH, BY_ROOT };
enum { NARROW = 8 };

#define CELL float
#define OF_CELL(NAME) NAME##_float
#define LANES 64
#include "pool_cells.h"
#undef CELL
#undef OF_CELL
#undef LANES

#define CELL double
#define OF_CELL(NAME) NAME##_double
#define LANES 32
#include "pool_cells.h"
#undef CELL
#undef OF_CELL
#undef LANES

/* For both types of cells: that of the result. */
#define pool_vectors(x, offsets, n_seqs, width, verb, divide, out) \
    _Generic((out), float *: pool_vectors_float, double *: pool_vectors_double)(x, offsets, n_seqs, width, verb, divide, out)
#define find_places(x, offsets, n_seqs, best, index) \
    _Generic((best), float *: find_places_float, double *: find_places_double)(x, offsets, n_seqs, best, index)
#else
#define pool_vectors(...) 0
#define find_places(...) 0
#endif
#endif
