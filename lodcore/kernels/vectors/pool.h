/* Sums, maxima and minima of the rows of sequences, and rows spread over sequences.
 *
 * The order of a sum is part of its meaning. Rows of several cells are added one after another to 0. Of rows of one
 * cell, 256 bytes form a line: lane k of 64 (float) or 32 (double) starts at 0 and adds rows k, k + 64, ...; then
 * lane k adds lane k + 32, then lane k + 16, and so on until one is left. Lanes without a row are 0. Every path
 * follows this order. Since no sum that started at 0 is -0, a path may omit additions of 0 if it adds 0 to the final
 * result. */
#ifndef LODCORE_POOL_H
#define LODCORE_POOL_H

#include "intrinsics.h"
#include "rows.h"
#include <math.h>

enum { SUM, GREATEST, LEAST };
enum { BY_ONE, BY_LENGTH, BY_ROOT };
enum { NARROW = 8, COLUMNS = 256, PIECE = 1 << 30, SPAN = 32 };

#define CELL float
#define OF_CELL(NAME) NAME##_float
#define BODY_OF_CELL(NAME) NAME##_float_body
#define PLACE int32_t
#define LANES 64
#include "pool_cells.h"
#undef CELL
#undef OF_CELL
#undef BODY_OF_CELL
#undef PLACE
#undef LANES

#define CELL double
#define OF_CELL(NAME) NAME##_double
#define BODY_OF_CELL(NAME) NAME##_double_body
#define PLACE int64_t
#define LANES 32
#include "pool_cells.h"
#undef CELL
#undef OF_CELL
#undef BODY_OF_CELL
#undef LANES

#define CELL int64_t
#define OF_CELL(NAME) NAME##_int
#define BODY_OF_CELL(NAME) NAME##_int_body
#include "pool_cells.h"
#undef CELL
#undef OF_CELL
#undef BODY_OF_CELL

#define CELL uint64_t
#define OF_CELL(NAME) NAME##_uint
#define BODY_OF_CELL(NAME) NAME##_uint_body
#include "pool_cells.h"
#undef CELL
#undef OF_CELL
#undef BODY_OF_CELL
#undef PLACE

#endif
