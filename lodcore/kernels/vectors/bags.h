/* Sums of the rows of a bag, in blocks of columns that stay in registers. Rows are added in their order.
 *
 * A part is a vector: of arrays of 8 or 16 cells, compilers make single cells, and larger ones they clear by "rep
 * stos", which takes 20 ns. In Cython, with arrays, sums took three times as long up to 32 columns. */
#ifndef LODCORE_BAGS_H
#define LODCORE_BAGS_H

#include "simd.h"

enum { LONG_PART = 32, PARTS = 8, ROWS_AHEAD = 32, CACHE_LINE = 64 }; /* PARTS vectors of LONG_PART bytes at a time */

/* Sum `count` parts of the rows of one bag, each times its weight if there are any, and prefetch rows that follow.
 * Return the first position whose number is out of range, -1 if there is none. */
#define SUM_PARTS(NAME, CELL, PART)                                                                                    \
    LODCORE_INLINE int64_t NAME(const CELL *table, int64_t n_rows, int64_t width, const int64_t *index,                \
                                const CELL *weights, int64_t start, int64_t end, int64_t total, int64_t lines,         \
                                int count, CELL *out)                                                                  \
    {                                                                                                                  \
        PART sums[PARTS];                                                                                              \
        for (int k = 0; k < count; k++)                                                                                \
            sums[k] = (PART){0};                                                                                       \
        for (int64_t j = start; j < end; j++) {                                                                        \
            int64_t row = *(const volatile int64_t *)(index + j); /* another thread may change it: read once */        \
            if (j + ROWS_AHEAD < total) {                                                                              \
                uintptr_t place = (uintptr_t)table + (uintptr_t)index[j + ROWS_AHEAD] * (uintptr_t)width * sizeof(CELL); \
                LODCORE_PREFETCH((const void *)place);                                                                 \
                for (int64_t line = 1; line < lines; line++)                                                           \
                    LODCORE_PREFETCH((const void *)(place + (uintptr_t)(line * CACHE_LINE)));                          \
            }                                                                                                          \
            if ((uint64_t)row >= (uint64_t)n_rows)                                                                     \
                return j;                                                                                              \
            const PART *from = (const PART *)(table + row * width);                                                    \
            for (int k = 0; k < count; k++)                                                                            \
                if (weights != NULL)                                                                                   \
                    sums[k] += weights[j] * from[k];                                                                   \
                else                                                                                                   \
                    sums[k] += from[k];                                                                                \
        }                                                                                                              \
        for (int k = 0; k < count; k++)                                                                                \
            ((PART *)out)[k] = sums[k];                                                                                \
        return -1;                                                                                                     \
    }

#if defined(__GNUC__)
#define MOST_BYTES (PARTS * LONG_PART) /* of a block; half of it without wider registers, where vectors are shorter */
#define VECTORS(CELL)                                                                                                  \
    typedef CELL long_##CELL __attribute__((vector_size(LONG_PART), aligned(sizeof(CELL)), may_alias));                \
    typedef CELL short_##CELL __attribute__((vector_size(LONG_PART / 2), aligned(sizeof(CELL)), may_alias));           \
    SUM_PARTS(sum_long_##CELL, CELL, long_##CELL)                                                                      \
    SUM_PARTS(sum_short_##CELL, CELL, short_##CELL)
#define BY_VECTORS(CELL)                                                                                               \
    if (block == 8 * (int)(LONG_PART / sizeof(CELL)))                                                                  \
        return sum_long_##CELL(ARGUMENTS, lines, 8, out);                                                              \
    if (block == 4 * (int)(LONG_PART / sizeof(CELL)))                                                                  \
        return sum_long_##CELL(ARGUMENTS, lines, 4, out);                                                              \
    if (block == 2 * (int)(LONG_PART / sizeof(CELL)))                                                                  \
        return sum_long_##CELL(ARGUMENTS, 1, 2, out);                                                                  \
    if (block == (int)(LONG_PART / sizeof(CELL)))                                                                      \
        return sum_long_##CELL(ARGUMENTS, 1, 1, out);                                                                  \
    if (block == (int)(LONG_PART / sizeof(CELL) / 2))                                                                  \
        return sum_short_##CELL(ARGUMENTS, 1, 1, out);
#define BY_SHORT_VECTORS(CELL)                                                                                         \
    if (block == 8 * (int)(LONG_PART / 2 / sizeof(CELL)))                                                              \
        return sum_short_##CELL(ARGUMENTS, lines, 8, out);                                                             \
    if (block == 4 * (int)(LONG_PART / 2 / sizeof(CELL)))                                                              \
        return sum_short_##CELL(ARGUMENTS, 1, 4, out);                                                                 \
    if (block == 2 * (int)(LONG_PART / 2 / sizeof(CELL)))                                                              \
        return sum_short_##CELL(ARGUMENTS, 1, 2, out);                                                                 \
    if (block == (int)(LONG_PART / 2 / sizeof(CELL)))                                                                  \
        return sum_short_##CELL(ARGUMENTS, 1, 1, out);
#else
#define MOST_BYTES 16
#define VECTORS(CELL)
#define BY_VECTORS(CELL)                                                                                               \
    if (block > 2)                                                                                                     \
        return sum_cells_##CELL(ARGUMENTS, lines, (int)block, out);
#define BY_SHORT_VECTORS BY_VECTORS
#endif

/* Sum a block of columns of one bag: at most MOST_BYTES, half of it without `wide` registers, and a power of two.
 * Vectors that do not fit registers stay in memory, which took 1.5 times as long. */
#define ARGUMENTS table, n_rows, width, index, weights, start, end, total
#define SUM_BLOCK(CELL)                                                                                                \
    VECTORS(CELL)                                                                                                      \
    SUM_PARTS(sum_cells_##CELL, CELL, CELL)                                                                            \
    LODCORE_INLINE int64_t sum_block_##CELL(const CELL *table, int64_t n_rows, int64_t width, const int64_t *index,    \
                                            const CELL *weights, int64_t start, int64_t end, int64_t total,            \
                                            int64_t lines, int64_t block, int wide, CELL *out)                         \
    {                                                                                                                  \
        if (wide) {                                                                                                    \
            BY_VECTORS(CELL)                                                                                           \
        } else {                                                                                                       \
            BY_SHORT_VECTORS(CELL)                                                                                     \
        }                                                                                                              \
        if (block == 2)                                                                                                \
            return sum_cells_##CELL(ARGUMENTS, 1, 2, out);                                                             \
        return sum_cells_##CELL(ARGUMENTS, 1, 1, out);                                                                 \
    }
SUM_BLOCK(float)
SUM_BLOCK(double)
#undef ARGUMENTS

/* For both types of cells: that of the result. */
#define sum_block(table, n_rows, width, index, weights, start, end, total, lines, block, wide, out)                   \
    _Generic((out), float *: sum_block_float, double *: sum_block_double)(table, n_rows, width, index, weights, start, \
                                                                          end, total, lines, block, wide, out)

#endif
