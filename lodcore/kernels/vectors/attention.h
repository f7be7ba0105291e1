/* Attention of one query per sequence, and the backward pass. The rows of a sequence stay in the cache between
 * products.
 *
 * The order of a sum is part of its meaning. In a product of two rows, lane k of 16 starts at 0 and adds columns k, k
 * + 16, ...; then lane k adds lane k + 8, and so on. Over the rows of a sequence, numbers are added one after
 * another. The exponential is that of exponential.h. The same loops are compiled for each instruction set; every nan
 * that is stored is the positive quiet nan. */
#ifndef LODCORE_ATTENTION_H
#define LODCORE_ATTENTION_H

#include "exponential.h"
#include "simd.h"
#include <math.h>
#include <stdint.h>

enum { DOT_LANES = 16 };

#define CELLS "attention_cells.h"
#include "both_cells.h"

#endif
