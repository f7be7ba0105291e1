/* Rows of a table by their numbers: gathered, scattered with addition, and pooled sequence by sequence. Numbers come
 * from outside: each is checked when it is used, since another thread may change it meanwhile, and the first one that is
 * out of range ends the call, with the result half written.
 *
 * Cython would take 1.1 of the time for rows that are added, up to 1.4 for rows of 64 bytes that are gathered, and 1.2 to
 * 1.9 for products and for cells that are found in bags. */
#ifndef LODCORE_EMBEDDING_H
#define LODCORE_EMBEDDING_H

#include "pool.h"

enum { GATHERED = 4096, LINES = 4, MOST_LINES = 16, ROWS_AHEAD = 32 };
enum { LONG_PART = 32, PARTS = 8 }; /* bytes of a vector, and the number of those that are summed at a time */
#if defined(__GNUC__)
#define PARTS_ARE_VECTORS 1
#else
#define PARTS_ARE_VECTORS 0
#endif

/* Return the first position whose number is out of range, -1 if there is none. */
LODCORE_BODY any_outside_body(const int64_t *index, int64_t count, int64_t n_rows, int64_t *any)
{
    uint64_t found = 0;
    for (int64_t j = 0; j < count; j++)
        found |= (uint64_t)((uint64_t)index[j] >= (uint64_t)n_rows);
    *any = (int64_t)found;
}
LODCORE_THRICE(any_outside, (const int64_t *index, int64_t count, int64_t n_rows, int64_t *any),
               (index, count, n_rows, any))

static LODCORE_UNUSED int64_t first_outside(const int64_t *index, int64_t count, int64_t n_rows)
{
    int64_t any = 0;
    any_outside(index, count, n_rows, &any);
    for (int64_t j = 0; any && j < count; j++)
        if ((uint64_t)read_once(index + j) >= (uint64_t)n_rows)
            return j;
    return -1;
}

/* Prefetch the first bytes of a row; a number out of range does no harm. */
LODCORE_INLINE void prefetch_cells(const void *rows, int64_t row, int64_t row_bytes, int64_t size)
{
    uintptr_t place = (uintptr_t)rows + (uintptr_t)row * (uintptr_t)row_bytes;
    for (int64_t line = 0; line < LINES && line * LINE < size; line++)
        LODCORE_PREFETCH((const void *)(place + (uintptr_t)(line * LINE)));
    if (size > LINE) /* a row that does not start at a cache line touches one line more */
        LODCORE_PREFETCH((const void *)(place + (uintptr_t)(size < LINES * LINE ? size : LINES * LINE) - 1));
}

/* Return the number of cache lines of a row that are prefetched. */
LODCORE_INLINE int64_t lines_of(const void *rows, int64_t row_bytes)
{
    int64_t before = row_bytes % LINE ? LINE - 1 : (int64_t)((uintptr_t)rows % LINE);
    int64_t lines = row_bytes <= LINE ? 1 : (row_bytes + before + LINE - 1) / LINE;
    return lines < MOST_LINES ? lines : MOST_LINES;
}

/* Prefetch one line of a row, or more. */
LODCORE_INLINE void prefetch_lines(const void *rows, int64_t row, int64_t row_bytes, int64_t lines)
{
    uintptr_t place = (uintptr_t)rows + (uintptr_t)row * (uintptr_t)row_bytes;
    LODCORE_PREFETCH((const void *)place);
    for (int64_t line = 1; line < lines; line++)
        LODCORE_PREFETCH((const void *)(place + (uintptr_t)(line * LINE)));
}

/* Gather rows of a few bytes: out[j] = rows[index[j]], zeros where the number is `skip`. */
#define TAKE_CELLS(NAME, TYPE)                                                                                    \
    static int64_t NAME(const char *rows, int64_t n_rows, const int64_t *index, int64_t count, int64_t skip,      \
                        char *out)                                                                                \
    {                                                                                                             \
        for (int64_t j = 0; j < count; j++) {                                                                     \
            int64_t row = read_once(index + j);                                                                   \
            TYPE cell;                                                                                            \
            if ((uint64_t)row >= (uint64_t)n_rows)                                                                \
                return j;                                                                                         \
            memcpy(&cell, rows + (size_t)row * sizeof cell, sizeof cell);                                         \
            cell = row == skip ? 0 : cell;                                                                        \
            memcpy(out + (size_t)j * sizeof cell, &cell, sizeof cell);                                            \
        }                                                                                                         \
        return -1;                                                                                                \
    }
TAKE_CELLS(take_4, uint32_t)
TAKE_CELLS(take_8, uint64_t)

/* Gather rows of any size. */
static LODCORE_UNUSED int64_t take_rows_of(const char *rows, int64_t n_rows, int64_t row_bytes, const int64_t *index,
                                           int64_t count, int64_t skip, char *out)
{
    int64_t bad = -1;
    if (row_bytes <= 0) /* none are negative, which the compiler does not know */
        return first_outside(index, count, n_rows);
    if (row_bytes == 4)
        return take_4(rows, n_rows, index, count, skip, out);
    if (row_bytes == 8)
        return take_8(rows, n_rows, index, count, skip, out);
    for (int64_t j = 0; bad < 0 && j < count; j++, out += row_bytes) {
        int64_t row = read_once(index + j);
        if (j + AHEAD < count)
            prefetch_cells(rows, index[j + AHEAD], row_bytes, row_bytes);
        if ((uint64_t)row >= (uint64_t)n_rows)
            bad = j;
        else if (row == skip)
            memset(out, 0, (size_t)row_bytes);
        else
            memcpy(out, rows + (size_t)row * (size_t)row_bytes, (size_t)row_bytes);
    }
    return bad;
}

/* Number the rows that occur, in ascending order; write their count, and the rows themselves, to `rows`. */
static LODCORE_UNUSED int64_t number_rows_of(const int64_t *index, int64_t count, int64_t height, int64_t *numbers,
                                             int64_t *places, int64_t *rows)
{
    int64_t found = 0;
    for (int64_t r = 0; r < height; r++)
        numbers[r] = -1;
    for (int64_t j = 0; j < count; j++) {
        places[j] = read_once(index + j);
        if ((uint64_t)places[j] >= (uint64_t)height)
            return j;
        numbers[places[j]] = 0;
    }
    for (int64_t r = 0; r < height; r++)
        if (numbers[r] == 0) {
            numbers[r] = found++;
            rows[found] = r;
        }
    for (int64_t j = 0; j < count; j++)
        places[j] = numbers[places[j]];
    rows[0] = found;
    return -1;
}

#define CELLS "embedding_cells.h"
#include "both_cells.h"

#endif
