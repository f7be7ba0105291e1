/* Positions of the maxima and minima of columns, which compilers turn into vectors. In Cython, these loops took 1.1 to 1.6
 * times as long. */
#ifndef LODCORE_POOL_PLACES_H
#define LODCORE_POOL_PLACES_H

#include "simd.h"

enum { COLUMNS = 256, PIECE = 1 << 30 };

/* Find the best cells of up to COLUMNS columns of one nonempty sequence, and their rows in it: the first of equal cells
 * stays, and the first nan. PLACE is an integer of the size of CELL; the number of a row of a piece fits it. */
#define FIND_COLUMNS(NAME, CELL, PLACE)                                                                                \
    LODCORE_BODY NAME(const CELL *restrict x, int64_t length, int64_t width, int64_t count, int greatest,              \
                      CELL *restrict out, int64_t *restrict index)                                                     \
    {                                                                                                                  \
        PLACE place[COLUMNS];                                                                                          \
        for (int c = 0; c < (int)count; c++) {                                                                         \
            out[c] = x[c];                                                                                             \
            index[c] = 0;                                                                                              \
        }                                                                                                              \
        for (int64_t done = 1; done < length; done += PIECE) {                                                         \
            const CELL *row = x + done * width;                                                                        \
            PLACE rows = (PLACE)(length - done < PIECE ? length - done : PIECE);                                       \
            for (int c = 0; c < (int)count; c++)                                                                       \
                place[c] = -1;                                                                                         \
            for (PLACE r = 0; r < rows; r++, row += width)                                                             \
                for (int c = 0; c < (int)count; c++) {                                                                 \
                    int stays = (greatest ? out[c] >= row[c] : out[c] <= row[c]) | (out[c] != out[c]);                \
                    out[c] = stays ? out[c] : row[c];                                                                  \
                    place[c] = stays ? place[c] : r;                                                                   \
                }                                                                                                      \
            for (int c = 0; c < (int)count; c++)                                                                       \
                index[c] = place[c] < 0 ? index[c] : done + place[c];                                                  \
        }                                                                                                              \
    }
FIND_COLUMNS(find_columns_float, float, int32_t)
FIND_COLUMNS(find_columns_double, double, int64_t)
FIND_COLUMNS(find_columns_int, int64_t, int64_t)
FIND_COLUMNS(find_columns_uint, uint64_t, int64_t)

/* For all types of cells: that of the result. */
#define find_columns(x, length, width, count, greatest, out, index)                                                   \
    _Generic((out), float *: find_columns_float, double *: find_columns_double, int64_t *: find_columns_int,           \
             uint64_t *: find_columns_uint)(x, length, width, count, greatest, out, index)

#endif
