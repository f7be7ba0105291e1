/* Rows for which a mask is true: counted sequence by sequence, copied, and scattered back. */
#ifndef LODCORE_MASKS_H
#define LODCORE_MASKS_H

#include "rows.h"

/* Count how many of 8 bytes are not 0. */
LODCORE_INLINE int64_t count_bytes(uint64_t bytes)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7fu, ones = 0x0101010101010101u;
    uint64_t set = (((bytes & low) + low) | bytes) >> 7 & ones;
    return (int64_t)((set * ones) >> 56);
}

/* Compute the offsets of the elements of each sequence that a mask selects. */
static LODCORE_UNUSED void count_true(const int64_t *offsets, int64_t n_seqs, const unsigned char *mask, int64_t *out)
{
    int64_t total = 0;
    out[0] = 0;
    for (int64_t s = 0; s < n_seqs; s++) {
        int64_t j = offsets[s], end = offsets[s + 1];
        for (; j + 8 <= end; j += 8) {
            uint64_t bytes;
            memcpy(&bytes, mask + j, 8);
            total += count_bytes(bytes);
        }
        for (; j < end; j++)
            total += mask[j] != 0;
        out[s + 1] = total;
    }
}

/* Copy small rows: each is written, and overwritten by the next one if its mask is false. */
#define MASK_CELLS(NAME, TYPE)                                                                                  \
    static LODCORE_UNUSED void take_true_##NAME(const char *rows, int64_t n_rows, const unsigned char *mask,    \
                                                char *out, int64_t size)                                        \
    {                                                                                                           \
        for (int64_t r = 0, k = 0; k < size && r < n_rows; r++) {                                               \
            TYPE cell;                                                                                          \
            memcpy(&cell, rows + (size_t)r * sizeof cell, sizeof cell);                                         \
            memcpy(out + (size_t)k * sizeof cell, &cell, sizeof cell);                                          \
            k += mask[r] != 0;                                                                                  \
        }                                                                                                       \
    }                                                                                                           \
    static LODCORE_UNUSED void put_true_##NAME(const char *rows, int64_t size, const unsigned char *mask,       \
                                               char *out, int64_t n_rows)                                       \
    {                                                                                                           \
        for (int64_t r = 0, k = 0; r < n_rows; r++) {                                                           \
            TYPE cell;                                                                                          \
            memcpy(&cell, rows + (size_t)(k < size ? k : size - 1) * sizeof cell, sizeof cell);                 \
            cell = (TYPE)(cell & (TYPE)(0 - (TYPE)(mask[r] != 0)));                                             \
            memcpy(out + (size_t)r * sizeof cell, &cell, sizeof cell);                                          \
            k += mask[r] != 0;                                                                                  \
        }                                                                                                       \
    }
MASK_CELLS(1, uint8_t)
MASK_CELLS(2, uint16_t)
MASK_CELLS(4, uint32_t)
MASK_CELLS(8, uint64_t)

/* Return the first position from r on whose mask is true (or false). */
LODCORE_INLINE int64_t next_in_mask(const unsigned char *mask, int64_t r, int64_t n_rows, int wanted)
{
    while (r < n_rows && (mask[r] != 0) != wanted)
        r++;
    return r;
}

/* Copy the `size` rows for which the mask is true to out. */
static LODCORE_UNUSED void take_true_rows(const char *rows, int64_t n_rows, int64_t row_bytes,
                                          const unsigned char *mask, char *out, int64_t size)
{
    if (row_bytes == 1)
        take_true_1(rows, n_rows, mask, out, size);
    else if (row_bytes == 2)
        take_true_2(rows, n_rows, mask, out, size);
    else if (row_bytes == 4)
        take_true_4(rows, n_rows, mask, out, size);
    else if (row_bytes == 8)
        take_true_8(rows, n_rows, mask, out, size);
    else
        for (int64_t k = 0, end = 0; k < size;) { /* run by run */
            int64_t r = next_in_mask(mask, end, n_rows, 1), count;
            end = next_in_mask(mask, r, n_rows, 0);
            count = end - r < size - k ? end - r : size - k;
            if (count == 0)
                return;
            memcpy(out + k * row_bytes, rows + r * row_bytes, (size_t)(count * row_bytes));
            k += count;
        }
}

/* Scatter rows to the positions where the mask is true, and write zero bytes elsewhere. */
static LODCORE_UNUSED void put_true_rows(const char *rows, int64_t size, int64_t row_bytes, const unsigned char *mask,
                                         char *out, int64_t n_rows)
{
    if (size == 0)
        memset(out, 0, (size_t)(n_rows * row_bytes));
    else if (row_bytes == 1)
        put_true_1(rows, size, mask, out, n_rows);
    else if (row_bytes == 2)
        put_true_2(rows, size, mask, out, n_rows);
    else if (row_bytes == 4)
        put_true_4(rows, size, mask, out, n_rows);
    else if (row_bytes == 8)
        put_true_8(rows, size, mask, out, n_rows);
    else
        for (int64_t r = 0, k = 0; r < n_rows; r++) {
            if (mask[r] != 0 && k < size)
                memcpy(out + r * row_bytes, rows + k++ * row_bytes, (size_t)row_bytes);
            else
                memset(out + r * row_bytes, 0, (size_t)row_bytes);
        }
}
#endif
