/* Steps of optimizers, number by number; results may overwrite the arguments. The same loops are compiled for each
 * instruction set; every nan that is stored is the positive quiet nan. */
#ifndef LODCORE_OPTIMIZERS_H
#define LODCORE_OPTIMIZERS_H

#include "simd.h"
#include <math.h>
#include <stdint.h>

#if defined(__clang__)
#define LODCORE_EACH _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define LODCORE_EACH _Pragma("GCC ivdep")
#else
#define LODCORE_EACH
#endif

enum { SQUARE_LANES = 16 };

#define CELLS "optimizers_cells.h"
#include "both_cells.h"

#endif
