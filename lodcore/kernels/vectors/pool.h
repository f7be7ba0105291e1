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
enum { NARROW = 8, COLUMNS = 256, PIECE = 1 << 30, SPAN = 32, NEAR = 1 << 15 };

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

/* -- first and last rows, as opaque bytes -------------------------------------------------------------------------- */

/* Rows that fit a register: for an empty sequence, an adjacent row is read and cleared, without a branch. */
#define POOL_PICK(NAME, TYPE)                                                                                         \
    LODCORE_BODY NAME(const char *rows, const int64_t *offsets, int64_t n_seqs, int last, char *out)                  \
    {                                                                                                                 \
        int64_t final = offsets[n_seqs] - 1;                                                                          \
        for (int64_t s = 0; s < n_seqs; s++) {                                                                        \
            int64_t from = last ? offsets[s + 1] - (offsets[s + 1] > 0) : offsets[s] < final ? offsets[s] : final;    \
            TYPE cell;                                                                                                \
            memcpy(&cell, rows + (size_t)from * sizeof cell, sizeof cell);                                            \
            cell = offsets[s + 1] > offsets[s] ? cell : 0;                                                            \
            memcpy(out + (size_t)s * sizeof cell, &cell, sizeof cell);                                                \
        }                                                                                                             \
    }
POOL_PICK(pick_4, uint32_t)
POOL_PICK(pick_8, uint64_t)

/* Copy the first or last row of each sequence; write zeros for an empty one. */
static LODCORE_UNUSED void pick_rows_of(const char *rows, const int64_t *offsets, int64_t n_seqs, size_t row_bytes,
                                        int last, char *out)
{
    int64_t n_rows = offsets[n_seqs];
    if (n_rows > 0 && row_bytes == 4 && last)
        pick_4(rows, offsets, n_seqs, 1, out);
    else if (n_rows > 0 && row_bytes == 4)
        pick_4(rows, offsets, n_seqs, 0, out);
    else if (n_rows > 0 && row_bytes == 8)
        pick_8(rows, offsets, n_seqs, last, out);
    else
        for (int64_t s = 0; s < n_seqs; s++, out += row_bytes) {
            if (offsets[s + 1] > offsets[s])
                memcpy(out, rows + (size_t)(last ? offsets[s + 1] - 1 : offsets[s]) * row_bytes, row_bytes);
            else
                memset(out, 0, row_bytes);
        }
}

/* Copy each row to the first or last position of its sequence, and write zeros to the others. */
static LODCORE_UNUSED void place_rows_of(const char *rows, const int64_t *offsets, int64_t n_seqs, size_t row_bytes,
                                         int last, char *out)
{
    for (int64_t s = 0, end; s < n_seqs; s = end) { /* cleared just before it is used */
        end = s + 1;
        while (end < n_seqs && (uint64_t)(offsets[end + 1] - offsets[s]) * row_bytes <= NEAR)
            end++;
        memset(out + (size_t)offsets[s] * row_bytes, 0, (size_t)(offsets[end] - offsets[s]) * row_bytes);
        for (int64_t k = s; k < end; k++)
            if (offsets[k + 1] > offsets[k])
                memcpy(out + (size_t)(last ? offsets[k + 1] - 1 : offsets[k]) * row_bytes, rows + (size_t)k * row_bytes,
                       row_bytes);
    }
}

#endif
