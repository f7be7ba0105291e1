/* Sums of the rows of a bag, in blocks of columns that stay in registers. Rows are added in their order.
 *
 * A part is a vector: of arrays of 8 or 16 cells, compilers make single cells, and larger ones they clear by "rep
 * stos", which takes 20 ns. In Cython, with arrays, sums took three times as long up to 32 columns. */
#ifndef LODCORE_BAGS_H
#define LODCORE_BAGS_H

#include "simd.h"

enum { LONG_PART = 32, PARTS = 16, CACHE_LINE = 64 }; /* at most PARTS vectors of LONG_PART bytes at a time */

/* Sum `count` parts of the rows of one bag, each times its weight if there are any; if it is `twice`, also as many from
 * the column `second` on, which may be among the first ones. Prefetch the row `ahead` of each. Return the first position
 * whose number is out of range, -1 if there is none. */
#define SUM_PARTS(NAME, CELL, PART)                                                                                    \
    LODCORE_INLINE int64_t NAME(const CELL *table, int64_t n_rows, int64_t width, const int64_t *index,                \
                                const CELL *weights, int64_t start, int64_t end, int64_t total, int64_t ahead,         \
                                int64_t lines, int64_t second, int count, int twice, CELL *out)                        \
    {                                                                                                                  \
        PART sums[PARTS];                                                                                              \
        for (int k = 0; k < (twice ? 2 * count : count); k++)                                                          \
            sums[k] = (PART){0};                                                                                       \
        for (int64_t j = start; j < end; j++) {                                                                        \
            int64_t row = *(const volatile int64_t *)(index + j); /* another thread may change it: read once */        \
            if (j + ahead < total) {                                                                                   \
                uintptr_t place = (uintptr_t)table + (uintptr_t)index[j + ahead] * (uintptr_t)width * sizeof(CELL);    \
                LODCORE_PREFETCH((const void *)place);                                                                 \
                for (int64_t line = 1; line < lines; line++)                                                           \
                    LODCORE_PREFETCH((const void *)(place + (uintptr_t)(line * CACHE_LINE)));                          \
            }                                                                                                          \
            if ((uint64_t)row >= (uint64_t)n_rows)                                                                     \
                return j;                                                                                              \
            const PART *from = (const PART *)(table + row * width);                                                    \
            const PART *more = (const PART *)(table + row * width + second);                                           \
            for (int k = 0; k < count; k++)                                                                            \
                if (weights != NULL)                                                                                   \
                    sums[k] += weights[j] * from[k];                                                                   \
                else                                                                                                   \
                    sums[k] += from[k];                                                                                \
            for (int k = 0; k < (twice ? count : 0); k++)                                                              \
                if (weights != NULL)                                                                                   \
                    sums[count + k] += weights[j] * more[k];                                                           \
                else                                                                                                   \
                    sums[count + k] += more[k];                                                                        \
        }                                                                                                              \
        for (int k = 0; k < count; k++)                                                                                \
            ((PART *)out)[k] = sums[k];                                                                                \
        for (int k = 0; k < (twice ? count : 0); k++)                                                                  \
            ((PART *)(out + second))[k] = sums[count + k];                                                             \
        return -1;                                                                                                     \
    }

/* The number of parts is known to the compiler. */
#define BY_PARTS(NAME, lines, count)                                                                                   \
    return second ? NAME(ARGUMENTS, lines, second, count, 1, out) : NAME(ARGUMENTS, lines, 0, count, 0, out);

#if defined(__GNUC__)
#define MOST_BYTES (PARTS * LONG_PART) /* of a block: all with 32 registers, half with 16, a quarter if they are short */
#define VECTORS(CELL)                                                                                                  \
    typedef CELL long_##CELL __attribute__((vector_size(LONG_PART), aligned(sizeof(CELL)), may_alias));                \
    typedef CELL short_##CELL __attribute__((vector_size(LONG_PART / 2), aligned(sizeof(CELL)), may_alias));           \
    SUM_PARTS(sum_long_##CELL, CELL, long_##CELL)                                                                      \
    SUM_PARTS(sum_short_##CELL, CELL, short_##CELL)
#define BY_VECTORS(CELL)                                                                                               \
    if (wide > 1 && block == 16 * (int)(LONG_PART / sizeof(CELL)))                                                     \
        return sum_long_##CELL(ARGUMENTS, lines, 0, 16, 0, out);                                                       \
    if (wide > 1 && block == 8 * (int)(LONG_PART / sizeof(CELL)))                                                      \
        BY_PARTS(sum_long_##CELL, lines, 8)                                                                            \
    if (block == 8 * (int)(LONG_PART / sizeof(CELL)))                                                                  \
        return sum_long_##CELL(ARGUMENTS, lines, 0, 8, 0, out);                                                        \
    if (block == 4 * (int)(LONG_PART / sizeof(CELL)))                                                                  \
        BY_PARTS(sum_long_##CELL, lines, 4)                                                                            \
    if (block == 2 * (int)(LONG_PART / sizeof(CELL)))                                                                  \
        BY_PARTS(sum_long_##CELL, lines, 2)                                                                            \
    if (block == (int)(LONG_PART / sizeof(CELL)))                                                                      \
        BY_PARTS(sum_long_##CELL, 1, 1)                                                                                \
    if (block == (int)(LONG_PART / sizeof(CELL) / 2))                                                                  \
        BY_PARTS(sum_short_##CELL, 1, 1)
#define BY_SHORT_VECTORS(CELL)                                                                                         \
    if (block == 8 * (int)(LONG_PART / 2 / sizeof(CELL)))                                                              \
        return sum_short_##CELL(ARGUMENTS, lines, 0, 8, 0, out);                                                       \
    if (block == 4 * (int)(LONG_PART / 2 / sizeof(CELL)))                                                              \
        BY_PARTS(sum_short_##CELL, lines, 4)                                                                           \
    if (block == 2 * (int)(LONG_PART / 2 / sizeof(CELL)))                                                              \
        BY_PARTS(sum_short_##CELL, 1, 2)                                                                               \
    if (block == (int)(LONG_PART / 2 / sizeof(CELL)))                                                                  \
        BY_PARTS(sum_short_##CELL, 1, 1)
#else
#define MOST_BYTES 32
#define VECTORS(CELL)
#define BY_VECTORS(CELL)                                                                                               \
    if (block > 2)                                                                                                     \
        BY_PARTS(sum_cells_##CELL, lines, (int)block)
#define BY_SHORT_VECTORS BY_VECTORS
#endif

/* Sum a block of columns of one bag, and if `second` is not 0, as many columns from there on: together at most
 * MOST_BYTES; the block is a power of two. `wide` is 2 with 32 registers, 1 with 16, and 0 with short ones. Vectors that
 * do not fit registers stay in memory, which took 1.5 times as long. */
#define ARGUMENTS table, n_rows, width, index, weights, start, end, total, ahead
#define SUM_BLOCK(CELL)                                                                                                \
    VECTORS(CELL)                                                                                                      \
    SUM_PARTS(sum_cells_##CELL, CELL, CELL)                                                                            \
    LODCORE_INLINE int64_t sum_block_##CELL(const CELL *table, int64_t n_rows, int64_t width, const int64_t *index,    \
                                            const CELL *weights, int64_t start, int64_t end, int64_t total,            \
                                            int64_t ahead, int64_t lines, int64_t block, int64_t second, int wide,     \
                                            CELL *out)                                                                 \
    {                                                                                                                  \
        if (wide) {                                                                                                    \
            BY_VECTORS(CELL)                                                                                           \
        } else {                                                                                                       \
            BY_SHORT_VECTORS(CELL)                                                                                     \
        }                                                                                                              \
        if (block == 2)                                                                                                \
            BY_PARTS(sum_cells_##CELL, 1, 2)                                                                           \
        return sum_cells_##CELL(ARGUMENTS, 1, 0, 1, 0, out);                                                           \
    }
SUM_BLOCK(float)
SUM_BLOCK(double)
#undef ARGUMENTS

/* For both types of cells: that of the result. */
#define sum_block(table, n_rows, width, index, weights, start, end, total, ahead, lines, block, second, wide, out)    \
    _Generic((out), float *: sum_block_float, double *: sum_block_double)(table, n_rows, width, index, weights, start, \
                                                                          end, total, ahead, lines, block, second,     \
                                                                          wide, out)

#endif
