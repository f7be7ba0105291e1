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

#else
#define pool_vectors_float(...) 0
#define pool_vectors_double(...) 0
#define find_places_float(...) 0
#define find_places_double(...) 0
#endif
#endif
