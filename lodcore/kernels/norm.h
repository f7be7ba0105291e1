/* Layer norm, which subtracts the mean of each row and divides by the root of its variance, and the backward pass.
 *
 * The order of a sum is part of its meaning. Within a row, lane k of 16 starts at 0 and adds columns k, k + 16, ...;
 * then lane k adds lane k + 8, then lane k + 4, and so on until one is left. Over rows, those of a block of
 * NORM_BLOCK are added one after another. The same loops are compiled for each instruction set; every nan that is
 * stored is the positive quiet nan. */
#ifndef LODCORE_NORM_H
#define LODCORE_NORM_H

#include "simd.h"
#include <math.h>
#include <stdint.h>

enum { NORM_LANES = 16, NORM_BLOCK = 256 };

#define CELL float
#define OF_CELL(NAME) NAME##_float
#define BODY(NAME) NAME##_float_body
#define ROOT sqrtf
#include "norm_cells.h"
#undef CELL
#undef OF_CELL
#undef BODY
#undef ROOT

#define CELL double
#define OF_CELL(NAME) NAME##_double
#define BODY(NAME) NAME##_double_body
#define ROOT sqrt
#include "norm_cells.h"
#undef CELL
#undef OF_CELL
#undef BODY
#undef ROOT

#endif
